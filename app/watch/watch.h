/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h - what long work says as it goes on, to whoever shows it; the library itself prints nothing. */
#ifndef APP_WATCH_H
#define APP_WATCH_H

#include <stdint.h>

/* Any function may be NULL. All are called by the process that was asked for the work, never by a worker. */
typedef struct PmWatch {
	void (*begin)(void *arg, const char *what, int64_t total); /* "reading" of `total` items begins */
	void (*step)(void *arg, const char *item);                 /* one is done; item may be NULL */
	void (*end)(void *arg);                                    /* the last is done, or the work ended */
	void (*complain)(void *arg, const char *sentence); /* one went wrong, which does not end the work */
	void *arg;
} PmWatch;

/* These call the function of the same name, when `w` is not NULL and has it. */
void pm_watch_begin(const PmWatch *w, const char *what, int64_t total);
void pm_watch_step(const PmWatch *w, const char *item);
void pm_watch_end(const PmWatch *w);
void pm_watch_complain(const PmWatch *w, const char *sentence);

#endif
