/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c - how far a long command is, on stderr. */
#include "base/sys/progress.h"

#include "base/core/str.h"
#include "base/sys/log.h"
#include "base/sys/proc.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { OFF, TERMINAL, LINES };

enum { BAR = 20 };

static const double redraw[] = { 0, 0.1, 5 }; /* seconds between drawings, by mode */

static void add_time(PmStr *b, double seconds)
{
	long s = seconds < 360000 ? (long)(seconds + 0.5) : 360000;

	if (s < 60)
		pm_str_addf(b, "%lds", s);
	else if (s < 3600)
		pm_str_addf(b, "%ldm%02lds", s / 60, s % 60);
	else
		pm_str_addf(b, "%ldh%02ldm", s / 3600, s / 60 % 60);
}

static void draw(PmProgress *p, const char *item, double now)
{
	double spent = now - p->started, rate = spent > 0 ? (double)p->done / spent : 0;
	PmStr b = PM_STR_INIT;
	int i, full;

	pm_str_addf(&b, "%s ", p->what);
	if (p->total > 0) {
		full = p->done >= p->total ? BAR : (int)((double)p->done / (double)p->total * BAR);
		if (p->mode == TERMINAL) {
			pm_str_addc(&b, '[');
			for (i = 0; i < BAR; i++)
				pm_str_addc(&b, i < full ? '#' : '.');
			pm_str_add(&b, "] ");
		}
		pm_str_addf(&b, "%lld/%lld", (long long)p->done, (long long)p->total);
	} else {
		pm_str_addf(&b, "%lld", (long long)p->done);
	}
	if (rate > 0) {
		pm_str_addf(&b, ", %.3g/s", rate);
		if (p->total > p->done) {
			pm_str_add(&b, ", ");
			add_time(&b, (double)(p->total - p->done) / rate);
			pm_str_add(&b, " left");
		}
	}
	if (item) {
		const char *end = strchr(item, '\n');

		pm_str_add(&b, "  ");
		pm_str_addn(&b, item, end ? (size_t)(end - item) : strlen(item));
	}
	if (p->mode == TERMINAL && b.len > 79) { /* one line of the narrowest usual terminal */
		b.len = 79;
		while (b.len && ((unsigned char)b.s[b.len] & 0xc0) == 0x80) /* never half a UTF-8 character */
			b.len--;
		b.s[b.len] = '\0';
	}
	fprintf(stderr, p->mode == TERMINAL ? "\r%s\033[K" : "%s\n", b.s);
	fflush(stderr);
	p->last_drawn = now;
	pm_str_release(&b);
}

void pm_progress_start(PmProgress *p, const char *what, int64_t total)
{
	p->what = what;
	p->done = 0;
	p->total = total;
	p->started = p->last_drawn = pm_now();
	p->mode = !pm_log_enabled(PM_LOG_WARN, "progress") ? OFF : isatty(2) ? TERMINAL : LINES;
}

void pm_progress_step(PmProgress *p, const char *item)
{
	double now;

	p->done++;
	if (p->mode == OFF)
		return;
	now = pm_now();
	if (now - p->last_drawn >= redraw[p->mode] || (p->mode == TERMINAL && p->done == p->total))
		draw(p, item, now);
}

void pm_progress_end(PmProgress *p)
{
	if (p->mode == TERMINAL && p->last_drawn > p->started) {
		fputs("\r\033[K", stderr);
		fflush(stderr);
	}
	p->mode = OFF;
}
