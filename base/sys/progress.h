/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h - a progress bar with rate and time left on stderr: drawn in place on a terminal, a plain
 * line every few seconds elsewhere, nothing with --quiet. */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdint.h>

typedef struct PmProgress {
	const char *what; /* borrowed: "evaluating" */
	int64_t done, total;
	double started, last_drawn;
	int mode; /* 0 off, 1 terminal, 2 plain lines */
} PmProgress;

/* Begins a bar of `total` units. `what` is borrowed until pm_progress_end. */
void pm_progress_start(PmProgress *p, const char *what, int64_t total);
void pm_progress_step(PmProgress *p, const char *item); /* one more unit done; item may be NULL */
void pm_progress_end(PmProgress *p);                    /* clears the bar */

#endif
