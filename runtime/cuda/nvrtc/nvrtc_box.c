/* SPDX-License-Identifier: Apache-2.0 */
/* nvrtc_box.c - the child that compiles, and what it sends back. */
#include "runtime/cuda/nvrtc/nvrtc_box.h"

#include "base/sys/log.h"
#include "base/sys/proc.h"
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
} Work;

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
	static const PmSource empty = { "priming", "extern \"C\" __global__ void k() {}\n", PM_F32 };
	const Work *w = arg;
	PmStr ptx = PM_STR_INIT, cubin = PM_STR_INIT, log = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	clearenv(); /* no variable decides what comes out */
	if (pm__nvrtc_compile_only(&empty, w->o->cc, &ptx, &cubin, NULL, &err))
		return 1;
	if (w->o->enter)
		w->o->enter();
	for (size_t i = 0; i < w->n; i++) {
		PmStatus st;

		if (w->out[i].cached)
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
	if (why > left || ptx > left - why || cubin > left - why - ptx || out[i].cached || out[i].ptx.len)
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

PmStatus pm_nvrtc_boxed(const PmSource *s, size_t n, const PmBoxOpts *o, PmBoxed *out, PmErr *err)
{
	Work w = { s, n, out, o };
	PmLimits lim = { .seconds = o->seconds > 0 ? o->seconds : default_seconds,
			 .memory = o->memory > 0 ? o->memory : default_memory,
			 .file_size = 0,
			 .tries = 3,
			 .max_output = (int64_t)256 << 20 };
	const PmNvrtc *a;
	PmProcResult r;
	size_t at = 0, missing = 0;
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
	lim.cpu_seconds = (int)lim.seconds + 1;
	st = pm_fork_call(work, &w, &lim, &r, err);
	if (st)
		return st;
	if (r.end == PM_PROC_EXITED && r.code == 1)
		st = pm_err(err, PM_E_ENV, "NVRTC does not compile an empty kernel; check the CUDA toolkit.");
	while (!st && at < r.out.len && get(&r.out, &at, &w, out))
		;
	over_limit(&w, &r, out);
	pm_proc_result_release(&r);
	return st;
}

void pm_boxed_release(PmBoxed *b)
{
	pm_str_release(&b->ptx);
	pm_str_release(&b->cubin);
}
