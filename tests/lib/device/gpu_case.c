/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_case.c - test cases on a GPU, each in a process of its own. */
#include "tests/lib/device/gpu_case.h"

#include "base/sys/proc.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void gpu_bad(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fflush(stderr);
	_Exit(1);
}

static int child(void *arg, PmStr *out)
{
	GpuBody *body = arg;
	PmDevice *d = NULL;
	PmErr err;

	(void)out;
	pm_err_init(&err);
	if (pm_device_open("cuda", &d, &err))
		gpu_bad("%s", err.text);
	(*body)(d);
	d->ops->close(d);
	return 0;
}

void gpu_case(GpuBody body)
{
	PmLimits lim = { .seconds = 60, .file_size = -1 };
	PmProcResult r;
	PmErr err;

	pm_test_need_device("cuda");
	pm_err_init(&err);
	if (pm_fork_call(child, &body, &lim, &r, &err))
		fail_msg("%s", err.text);
	if (r.end != PM_PROC_EXITED || r.code)
		fail_msg("%s", r.errtext.len ? r.errtext.s : "the process died without a word");
	if (r.errtext.len)
		printf("%s", r.errtext.s);
	pm_proc_result_release(&r);
}

PmModule gpu_load(PmDevice *d, const char *source)
{
	PmSource s = { .label = "cases", .source = source, .type = PM_F32 };
	PmModule m = { 0 };
	PmErr err;

	pm_err_init(&err);
	MUST(d->ops->load(d, &s, 1, &m, &err));
	return m;
}

PmBuf gpu_alloc(PmDevice *d, int64_t bytes, PmBufUse use)
{
	PmBuf b = { 0 };
	PmErr err;

	pm_err_init(&err);
	MUST(d->ops->alloc(d, bytes, use, &b, &err));
	return b;
}

PmBuf gpu_alloc_guarded(PmDevice *d, int64_t bytes, PmBufUse use)
{
	PmBuf b = { 0 };
	PmErr err;

	pm_err_init(&err);
	CHECK(d->ops->alloc_guarded != NULL);
	MUST(d->ops->alloc_guarded(d, bytes, use, &b, &err));
	return b;
}

PmStatus gpu_launch(PmDevice *d, PmModule m, const char *entry, uint32_t blocks, uint32_t threads,
		    uint32_t smem, const PmDevArg *args, int n_args, PmErr *err)
{
	PmDevLaunch l = { .module = m,
			  .entry = entry,
			  .grid = { blocks, 1, 1 },
			  .block = { threads, 1, 1 },
			  .smem = smem,
			  .args = args,
			  .n_args = n_args };

	return d->ops->launch(d, &l, err);
}

void gpu_fails(PmDevice *d, PmModule m, const char *entry, uint32_t threads, uint32_t smem,
	       const PmDevArg *args, int n_args, PmStatus want, const char *words)
{
	PmStatus st;
	PmErr err;

	pm_err_init(&err);
	st = gpu_launch(d, m, entry, 1, threads, smem, args, n_args, &err);
	if (!st)
		st = d->ops->sync(d, &err);
	if (st != want || !strstr(err.text, words))
		gpu_bad("%s ends with %s (%s) instead of %s \"%s\"", entry, pm_status_name(st), err.text,
			pm_status_name(want), words);
	pm_err_init(&err);
	if (d->ops->sync(d, &err) != want)
		gpu_bad("the error of %s is forgotten", entry);
}
