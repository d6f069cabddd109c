/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c - calls what watches long work. */
#include "app/watch/watch.h"

#include <stddef.h>

void pm_watch_begin(const PmWatch *w, const char *what, int64_t total)
{
	if (w && w->begin)
		w->begin(w->arg, what, total);
}

void pm_watch_step(const PmWatch *w, const char *item)
{
	if (w && w->step)
		w->step(w->arg, item);
}

void pm_watch_end(const PmWatch *w)
{
	if (w && w->end)
		w->end(w->arg);
}

void pm_watch_complain(const PmWatch *w, const char *sentence)
{
	if (w && w->complain)
		w->complain(w->arg, sentence);
}
