/* SPDX-License-Identifier: Apache-2.0 */
/* nvrtc_box.c - the children that compile, and what they send back. */
#include "runtime/cuda/nvrtc/nvrtc_box.h"

#include "base/sys/log.h"
#include "base/sys/pool.h"
#include "base/sys/proc.h"
#include "base/sys/spool.h"
#include "runtime/cuda/nvrtc/nvrtc.h"
#include "runtime/cuda/nvrtc/nvrtc_priv.h"
#include "runtime/cuda/nvrtc/nvrtc_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double default_seconds = 60;
static const int64_t default_memory = (int64_t)4 << 30;
static const double look_seconds = 15; /* for telling why two compilations differ */
static const int64_t most_output = (int64_t)256 << 20;

typedef struct Work {
	const PmSource *s;
	size_t n;
	const PmBoxOpts *o;
	PmLimits lim;
	size_t *todo, n_todo; /* owned: sources that are not in the cache, each of which has a child */
} Work;

/* What one child does: source todo[k]. */
typedef struct One {
	const PmSource *s;
	const PmBoxOpts *o;
} One;

/* --- in the child ------------------------------------------------------------------------------------- */

/* Status, three lengths, then message, PTX and machine code. */
static void put(PmStr *out, PmStatus st, const char *why, const PmStr *ptx, const PmStr *cubin)
{
	pm_str_addf(out, "%d %zu %zu %zu\n", (int)st, strlen(why), ptx->len, cubin->len);
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
	const One *one = arg;
	PmStr ptx = PM_STR_INIT, cubin = PM_STR_INIT, log = PM_STR_INIT;
	PmStatus st;
	PmErr err;

	pm_err_init(&err);
	clearenv(); /* no variable decides what comes out */
	if (pm__nvrtc_prime(one->o->cc, &err))
		return 1;
	if (one->o->enter)
		one->o->enter();
	pm__time_set(0);
	st = pm__nvrtc_compile_only(one->s, one->o->cc, &ptx, &cubin, &log, &err);
	if (!st && !one->o->whole_log && may_know_the_time(one->s->source))
		st = look_for_time(one->s, one->o->cc, &ptx, &err);
	if (st) {
		pm_str_clear(&ptx);
		pm_str_clear(&cubin);
	}
	put(out, st, st ? err.text : "", st && one->o->whole_log ? &log : &ptx, &cubin);
	pm_str_release(&log);
	pm_str_release(&ptx);
	pm_str_release(&cubin);
	return 0;
}

/* --- in the parent ------------------------------------------------------------------------------------ */

/* Reads the record; 0 when there is no whole one. The child ran a compiler on a stranger's source: lengths
 * are checked like any other input. */
static int get(const PmStr *all, PmBoxed *out)
{
	const char *p = all->s, *nl = memchr(p, '\n', all->len);
	size_t why, ptx, cubin, left;
	int st;
	char line[128];

	if (!nl || nl - p >= (long)sizeof line)
		return 0;
	memcpy(line, p, (size_t)(nl - p));
	line[nl - p] = 0;
	if (sscanf(line, "%d %zu %zu %zu", &st, &why, &ptx, &cubin) != 4)
		return 0;
	left = all->len - (size_t)(nl + 1 - all->s);
	if (why > left || ptx > left - why || cubin != left - why - ptx)
		return 0;
	p = nl + 1;
	out->st = st == PM_OK ? PM_OK : st == PM_E_LIMIT ? PM_E_LIMIT : PM_E_INVALID;
	snprintf(out->why, sizeof out->why, "%.*s", (int)(why < PM_ERR_MAX ? why : PM_ERR_MAX - 1), p);
	pm_str_addn(&out->ptx, p + why, ptx);
	pm_str_addn(&out->cubin, p + why + ptx, cubin);
	return 1;
}

/* What a child sent, or how it ended without. */
static PmStatus read_answer(const PmSource *s, const PmProcResult *r, PmBoxed *out, PmErr *err)
{
	PmStr how = PM_STR_INIT;

	if (r->end == PM_PROC_EXITED && r->code == 1)
		return pm_err(err, PM_E_ENV,
			      "NVRTC does not compile an empty kernel; check the CUDA toolkit.");
	if (get(&r->out, out))
		return PM_OK;
	pm_proc_describe(r, &how);
	snprintf(out->why, sizeof out->why,
		 "Compiling kernel '%.80s' went over a limit of time, memory or size: the compiler %.200s.",
		 s->label, how.s);
	pm_str_release(&how);
	return PM_OK;
}

static PmStatus call(const Work *w, size_t k, PmProcResult *r, PmErr *err)
{
	One one = { &w->s[w->todo[k]], w->o };

	return pm_fork_call(work, &one, &w->lim, r, err);
}

/* --- several at once ---------------------------------------------------------------------------------- */

/* All children, of which as many are there at a time as processors, each watched by a process of its own. */
typedef struct Several {
	const Work *w;
	PmSpool *spool;
	PmBoxed *out;
} Several;

/* How a child ended, and where lies what it sent. */
typedef struct Ended {
	PmProcEnd end;
	int code;
	double seconds;
	PmSpoolPlace at;
} Ended;

static PmStatus watch(void *arg, size_t k, void *result, PmErr *err)
{
	const Several *several = arg;
	Ended *e = result;
	PmProcResult r;
	PmStatus st = call(several->w, k, &r, err);

	if (st)
		return st;
	*e = (Ended){ .end = r.end, .code = r.code, .seconds = r.seconds };
	st = pm_spool_put(several->spool, r.out.s, r.out.len, &e->at, err);
	pm_proc_result_release(&r);
	return st;
}

static PmStatus take(void *arg, size_t k, PmPoolEnd end, const void *result, PmErr *err)
{
	const Several *several = arg;
	size_t i = several->w->todo[k];
	PmProcResult r = { 0 };
	PmStatus st;
	Ended e;

	memcpy(&e, result, sizeof e);
	if (end == PM_POOL_DIED)
		return pm_err(err, PM_E_CRASH,
			      "A process of this command that watched the compiler ended by its own fault; "
			      "report it, please.");
	r.end = e.end;
	r.code = e.code;
	r.seconds = e.seconds;
	r.out.s = pm_xcalloc(e.at.size + 1, 1);
	r.out.len = e.at.size;
	st = pm_spool_get(several->spool, &e.at, r.out.s, err);
	if (!st)
		st = read_answer(&several->w->s[i], &r, &several->out[i], err);
	free(r.out.s);
	return st;
}

static PmStatus compile_several(const Work *w, PmBoxed *out, PmErr *err)
{
	Several several = { w, NULL, out };
	PmPool pool = { .n_items = w->n_todo,
			.result_size = sizeof(Ended),
			.jobs = pm_cpu_count() < (int)w->n_todo ? pm_cpu_count() : (int)w->n_todo,
			.work = watch,
			.done = take,
			.arg = &several,
			.again = 1 };
	PmStatus st = pm_spool_open((uint64_t)most_output * w->n_todo, &several.spool, err);

	if (!st)
		st = pm_pool_run(&pool, err);
	pm_spool_close(several.spool);
	return st;
}

static PmStatus compile_one(const Work *w, PmBoxed *out, PmErr *err)
{
	PmProcResult r;
	PmStatus st = call(w, 0, &r, err);

	if (st)
		return st;
	st = read_answer(&w->s[w->todo[0]], &r, &out[w->todo[0]], err);
	pm_proc_result_release(&r);
	return st;
}

PmStatus pm_nvrtc_boxed(const PmSource *s, size_t n, const PmBoxOpts *o, PmBoxed *out, PmErr *err)
{
	Work w = { .s = s,
		   .o = o,
		   .lim = { .seconds = o->seconds > 0 ? o->seconds : default_seconds,
			    .memory = o->memory > 0 ? o->memory : default_memory,
			    .file_size = 0,
			    .tries = 3,
			    .max_output = most_output } };
	const PmNvrtc *a;
	PmStatus st;

	memset(out, 0, n * sizeof *out);
	w.lim.cpu_seconds = (int)w.lim.seconds + 1;
	w.todo = pm_xcalloc(n + 1, sizeof *w.todo);
	for (size_t i = 0; i < n; i++) {
		pm_str_init(&out[i].ptx);
		pm_str_init(&out[i].cubin);
		out[i].cached = pm__nvrtc_cached(&s[i], o->cc, &out[i].ptx, &out[i].cubin);
		out[i].st = out[i].cached ? PM_OK : PM_E_LIMIT;
		if (!out[i].cached)
			w.todo[w.n_todo++] = i;
	}
	st = pm__nvrtc_open(&a, err);
	if (!st && w.n_todo > 1)
		st = compile_several(&w, out, err);
	else if (!st && w.n_todo)
		st = compile_one(&w, out, err);
	free(w.todo);
	return st;
}

void pm_boxed_release(PmBoxed *b)
{
	pm_str_release(&b->ptx);
	pm_str_release(&b->cubin);
}
