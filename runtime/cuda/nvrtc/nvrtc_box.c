/* SPDX-License-Identifier: Apache-2.0 */
/* nvrtc_box.c - the child that compiles, and what it sends back. */
#include "runtime/cuda/nvrtc/nvrtc_box.h"

#include "base/sys/log.h"
#include "base/sys/proc.h"
#include "base/sys/serve.h"
#include "runtime/cuda/nvrtc/nvrtc.h"
#include "runtime/cuda/nvrtc/nvrtc_priv.h"
#include "runtime/cuda/nvrtc/nvrtc_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double default_seconds = 60;
static const int64_t default_memory = (int64_t)4 << 30;
static const double look_seconds = 15; /* for telling why two compilations differ */

typedef struct Work {
	const PmSource *s;
	size_t n;
	const PmBoxed *out; /* which are done already */
	const PmBoxOpts *o;
	const int *box; /* of each source; NULL = all are in one */
	int mine;
} Work;

static int is_mine(const Work *w, size_t i)
{
	return !w->out[i].cached && (!w->box || w->box[i] == w->mine);
}

/* --- in the child ------------------------------------------------------------------------------------- */

/* One record: index, status, three lengths, then message, PTX and machine code. */
static void put(PmStr *out, size_t i, PmStatus st, const char *why, const PmStr *ptx, const PmStr *cubin)
{
	pm_str_addf(out, "%zu %d %zu %zu %zu\n", i, (int)st, strlen(why), ptx->len, cubin->len);
	pm_str_add(out, why);
	pm_str_addn(out, ptx->s, ptx->len);
	pm_str_addn(out, cubin->s, cubin->len);
}

/* A source that names a macro of the time, or that could put one together (pasted tokens, spliced lines,
 * escapes), is looked at (nvrtc_time.h). */
static int may_know_the_time(const char *source)
{
	static const char *const signs[] = { "DATE__", "TIME__", "TIMESTAMP__", "##",    "%:%:", "\\\n",
					     "\\\r",   "\\u",    "\\U",         "\?\?/", NULL };

	for (int i = 0; signs[i]; i++)
		if (strstr(source, signs[i]))
			return 1;
	return 0;
}

/* One source, again and again. */
typedef struct Again {
	const PmSource *s;
	int cc;
} Again;

static PmStatus compile_again(void *arg, PmStr *ptx, PmErr *err)
{
	const Again *a = arg;
	PmStr cubin = PM_STR_INIT;
	PmStatus st = pm__nvrtc_compile_only(a->s, a->cc, ptx, &cubin, NULL, err);

	pm_str_release(&cubin);
	return st;
}

/* PM_E_INVALID for a source that knows the time. Where the compiler wavers its first answer stands: it is the
 * one that is judged, kept and run. */
static PmStatus look_for_time(const PmSource *s, int cc, const PmStr *ptx, PmErr *err)
{
	Again again = { s, cc };
	PmTimeFinding found = pm__time_look(compile_again, &again, ptx, look_seconds);

	if (found == PM_TIME_WAVERS)
		pm_log(PM_LOG_INFO, "runtime",
		       "NVRTC gives several codes for kernel '%s'; the first one counts.", s->label);
	if (found != PM_TIME_KNOWN)
		return PM_OK;
	return pm_err(
		err, PM_E_INVALID,
		"Kernel '%s' does not compile: it gives other code at another time; leave out __DATE__ and "
		"__TIME__.",
		s->label);
}

static int work(void *arg, PmStr *out)
{
	const Work *w = arg;
	PmStr ptx = PM_STR_INIT, cubin = PM_STR_INIT, log = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	clearenv(); /* no variable decides what comes out */
	if (pm__nvrtc_prime(w->o->cc, &err))
		return 1;
	if (w->o->enter)
		w->o->enter();
	for (size_t i = 0; i < w->n; i++) {
		PmStatus st;

		if (!is_mine(w, i))
			continue;
		pm_str_clear(&ptx);
		pm_str_clear(&cubin);
		pm_str_clear(&log);
		pm_err_init(&err);
		pm__time_set(0);
		st = pm__nvrtc_compile_only(&w->s[i], w->o->cc, &ptx, &cubin, &log, &err);
		if (!st && !w->o->whole_log && may_know_the_time(w->s[i].source))
			st = look_for_time(&w->s[i], w->o->cc, &ptx, &err);
		if (st) {
			pm_str_clear(&ptx);
			pm_str_clear(&cubin);
		}
		put(out, i, st, st ? err.text : "", st && w->o->whole_log ? &log : &ptx, &cubin);
	}
	pm_str_release(&log);
	pm_str_release(&ptx);
	pm_str_release(&cubin);
	return 0;
}

/* --- in the parent ------------------------------------------------------------------------------------ */

/* Reads one record; 0 when there is no whole one. The child ran a compiler on a stranger's source: lengths
 * and index are checked like any other input. */
static int get(const PmStr *all, size_t *at, const Work *w, PmBoxed *out)
{
	const char *p = all->s + *at, *nl = memchr(p, '\n', all->len - *at);
	size_t i, why, ptx, cubin, left;
	int st;
	char line[128];

	if (!nl || nl - p >= (long)sizeof line)
		return 0;
	memcpy(line, p, (size_t)(nl - p));
	line[nl - p] = 0;
	if (sscanf(line, "%zu %d %zu %zu %zu", &i, &st, &why, &ptx, &cubin) != 5 || i >= w->n)
		return 0;
	left = all->len - (size_t)(nl + 1 - all->s);
	if (why > left || ptx > left - why || cubin > left - why - ptx || !is_mine(w, i) || out[i].ptx.len)
		return 0;
	p = nl + 1;
	out[i].st = st == PM_OK ? PM_OK : st == PM_E_LIMIT ? PM_E_LIMIT : PM_E_INVALID;
	snprintf(out[i].why, sizeof out[i].why, "%.*s", (int)(why < PM_ERR_MAX ? why : PM_ERR_MAX - 1), p);
	pm_str_addn(&out[i].ptx, p + why, ptx);
	pm_str_addn(&out[i].cubin, p + why + ptx, cubin);
	*at = (size_t)(p - all->s) + why + ptx + cubin;
	return 1;
}

static void over_limit(const Work *w, const PmProcResult *r, PmBoxed *out)
{
	PmStr how = PM_STR_INIT;

	pm_proc_describe(r, &how);
	for (size_t i = 0; i < w->n; i++)
		if (!out[i].cached && out[i].st == PM_E_LIMIT && !out[i].why[0])
			snprintf(out[i].why, sizeof out[i].why,
				 "Compiling kernel '%.80s' went over a limit of time, memory or size: the "
				 "compiler %.200s.",
				 w->s[i].label, how.s);
	pm_str_release(&how);
}

static PmLimits limits(const PmBoxOpts *o)
{
	PmLimits lim = { .seconds = o->seconds > 0 ? o->seconds : default_seconds,
			 .memory = o->memory > 0 ? o->memory : default_memory,
			 .file_size = 0,
			 .tries = 3,
			 .max_output = (int64_t)256 << 20 };

	lim.cpu_seconds = (int)lim.seconds + 1;
	return lim;
}

/* Compiles what is missing in one child. */
static PmStatus one_box(Work *w, PmBoxed *out, PmErr *err)
{
	PmLimits lim = limits(w->o);
	PmProcResult r;
	size_t at = 0;
	PmStatus st = pm_fork_call(work, w, &lim, &r, err);

	if (st)
		return st;
	if (r.end == PM_PROC_EXITED && r.code == 1)
		st = pm_err(err, PM_E_ENV, "NVRTC does not compile an empty kernel; check the CUDA toolkit.");
	while (!st && at < r.out.len && get(&r.out, &at, w, out))
		;
	over_limit(w, &r, out);
	pm_proc_result_release(&r);
	return st;
}

/* --- several children at once ----------------------------------------------------------------------------
 *
 * The limits are those of one child for all sources. So what several children gave counts where all of them
 * came to their end, in no more time together than one has; in every other case one child begins anew, and
 * its answer is the one that would have been given without the others.
 */

enum { MAX_BOXES = 16 };

/* A process of ours that starts a child, and hands on what it sent. */
typedef struct Box {
	Work w;
	PmServer *server; /* NULL = the caller does it itself */
	PmProcResult r;
	int ran;
} Box;

static int serve(void *arg, const char *request, size_t n, PmStr *reply)
{
	Box *b = arg;
	PmLimits lim = limits(b->w.o);

	(void)n;
	if (!request) {
		b->ran = !pm_fork_call(work, &b->w, &lim, &b->r, NULL);
		return 0;
	}
	pm_str_addf(reply, "%d %.6f\n", b->ran && b->r.end == PM_PROC_EXITED && !b->r.code, b->r.seconds);
	if (b->ran)
		pm_str_addn(reply, b->r.out.s, b->r.out.len);
	return 1;
}

/* 1 when the child came to its end; *seconds grows by what it took. Its records are behind `at` of `sent`. */
static int collect(Box *b, PmStr *sent, size_t *at, double *seconds)
{
	const uint64_t most = (uint64_t)limits(b->w.o).max_output + 64;
	const char *nl;
	double took = 0;
	int ended = 0;

	if (!b->server) {
		serve(b, NULL, 0, NULL);
		serve(b, "", 0, sent);
	} else if (pm_server_call(b->server, "compiler", "?", 1, 0, most, sent, NULL)) {
		return 0;
	}
	if (sscanf(sent->s, "%d %lf", &ended, &took) != 2 || !(nl = strchr(sent->s, '\n')))
		return 0;
	*at = (size_t)(nl + 1 - sent->s);
	*seconds += took;
	return ended;
}

/* 1 when all children did what was asked of them. */
static int several_boxes(const Work *all, int n_boxes, PmBoxed *out)
{
	PmLimits lim = { .file_size = -1 };
	Box box[MAX_BOXES] = { 0 };
	PmStr sent[MAX_BOXES];
	double seconds = 0;
	size_t at[MAX_BOXES];
	int ok = 1;

	for (int k = n_boxes - 1; k >= 0; k--) {
		box[k].w = *all;
		box[k].w.mine = k;
		pm_str_init(&sent[k]);
		if (k && pm_server_start(serve, &box[k], &lim, &box[k].server, NULL))
			box[k].server = NULL;
	}
	for (int k = 0; k < n_boxes; k++)
		ok &= collect(&box[k], &sent[k], &at[k], &seconds);
	ok &= seconds <= limits(all->o).seconds;
	for (int k = 0; k < n_boxes; k++) {
		while (ok && at[k] < sent[k].len && get(&sent[k], &at[k], &box[k].w, out))
			;
		pm_server_kill(box[k].server);
		if (box[k].ran)
			pm_proc_result_release(&box[k].r);
		pm_str_release(&sent[k]);
	}
	for (size_t i = 0; i < all->n; i++)
		ok &= out[i].cached || out[i].st != PM_E_LIMIT;
	return ok;
}

/* Shares the sources out, and says among how many. */
static int share_out(const PmBoxed *out, size_t n, size_t missing, int jobs, int *box)
{
	int n_boxes = jobs < MAX_BOXES ? jobs : MAX_BOXES, next = 0;

	if (missing < (size_t)n_boxes)
		n_boxes = (int)missing;
	for (size_t i = 0; i < n; i++)
		if (!out[i].cached)
			box[i] = next++ % n_boxes;
	return n_boxes;
}

static void forget(PmBoxed *out, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (out[i].cached)
			continue;
		out[i].st = PM_E_LIMIT;
		out[i].why[0] = 0;
		pm_str_clear(&out[i].ptx);
		pm_str_clear(&out[i].cubin);
	}
}

PmStatus pm_nvrtc_boxed(const PmSource *s, size_t n, const PmBoxOpts *o, PmBoxed *out, PmErr *err)
{
	Work w = { .s = s, .n = n, .out = out, .o = o };
	const PmNvrtc *a;
	size_t missing = 0;
	int *box, done = 0;
	PmStatus st;

	memset(out, 0, n * sizeof *out);
	for (size_t i = 0; i < n; i++) {
		pm_str_init(&out[i].ptx);
		pm_str_init(&out[i].cubin);
		out[i].cached = pm__nvrtc_cached(&s[i], o->cc, &out[i].ptx, &out[i].cubin);
		out[i].st = out[i].cached ? PM_OK : PM_E_LIMIT;
		missing += !out[i].cached;
	}
	st = pm__nvrtc_open(&a, err);
	if (st || !missing)
		return st;
	if (missing > 1 && o->jobs > 1) {
		box = pm_xcalloc(n + 1, sizeof *box);
		w.box = box;
		done = several_boxes(&w, share_out(out, n, missing, o->jobs, box), out);
		w.box = NULL;
		free(box);
		if (!done)
			forget(out, n);
	}
	return done ? PM_OK : one_box(&w, out, err);
}

void pm_boxed_release(PmBoxed *b)
{
	pm_str_release(&b->ptx);
	pm_str_release(&b->cubin);
}
