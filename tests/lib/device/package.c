/* SPDX-License-Identifier: Apache-2.0 */
/* package.c - packages for tests. */
#include "tests/lib/device/package.h"

#include "app/apply/apply.h"
#include "app/model/model_bound.h"
#include "base/sys/io.h"
#include "bench/inputs/inputs.h"
#include "ir/data/weights.h"
#include "runtime/worker/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void must(PmStatus st, const PmErr *err)
{
	if (st)
		fail_msg("%s: %s", pm_status_name(st), err->text);
}

static const char *temp(void)
{
	return getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
}

const char *test_model_file(const char *name, const char *text)
{
	static char path[512];
	PmErr err;

	snprintf(path, sizeof path, "%s/%s-%ld.gpt", temp(), name, (long)getpid());
	must(pm_write_file(path, text, strlen(text), &err), &err);
	return path;
}

static void run_shape(const PmCompileAsk *ask, size_t k, const char *device, uint64_t seed, TestRun *out)
{
	static PmOnnxReport report;
	const PmRunOpts opts = { .device = device, .deadline = 600, .poison = 0x7fc1d00d };
	PmRunResult r = { 0 };
	PmGraph *g = NULL;
	PmApply a = { 0 };
	PmErr err;

	pm_err_init(&err);
	must(pm_model_load_bound(ask->model, ask->n_shapes ? ask->shape[k].dim : NULL,
				 ask->n_shapes ? ask->shape[k].n : 0, &g, &report, &err),
	     &err);
	pm_weights_attach(g, NULL);
	must(pm_apply(g, ask->pass, ask->n_pass, 60, &a, &err), &err);
	out->n_in = pm_graph_n_inputs(a.after);
	out->n_out = pm_graph_n_outputs(a.after);
	assert_true(out->n_in <= TEST_VALUES && out->n_out <= TEST_VALUES);
	must(pm_inputs_of_model(a.after, seed, out->in, &err), &err);
	must(pm_run_graph(a.after, out->in, out->n_in, &opts, &r, &err), &err);
	memcpy(out->want, r.out, out->n_out * sizeof *r.out);
	free(r.out);
	pm_apply_release(&a);
}

void test_package_make(const PmCompileAsk *ask, const char *device, uint64_t seed, TestPackage *out)
{
	static int serial;
	PmErr err;

	memset(out, 0, sizeof *out);
	pm_err_init(&err);
	snprintf(out->path, sizeof out->path, "%s/test-%ld-%d.pmz", temp(), (long)getpid(), serial++);
	snprintf(out->name, sizeof out->name, "%.100s%s", ask->model, ask->tune ? ", tuned" : "");
	out->n_runs = ask->n_shapes ? ask->n_shapes : 1;
	assert_true(out->n_runs <= TEST_SHAPES);
	/* Tuning opens a GPU in this process: what forks a user of it comes before. */
	for (size_t k = 0; k < out->n_runs; k++)
		run_shape(ask, k, device, seed, &out->run[k]);
	must(pm_compile(ask, out->path, &out->compiled, &err), &err);
}

void test_package_release(TestPackage *p)
{
	for (size_t k = 0; k < p->n_runs; k++) {
		pm_tensors_release(p->run[k].in, p->run[k].n_in);
		pm_tensors_release(p->run[k].want, p->run[k].n_out);
	}
	pm_compiled_release(&p->compiled);
	unlink(p->path);
}

PmRtTensor test_rt_tensor(const PmTensor *t)
{
	static const PmRtType type[] = {
		[PM_F32] = PM_RT_FLOAT,  [PM_F16] = PM_RT_FLOAT16, [PM_BF16] = PM_RT_BFLOAT16,
		[PM_F64] = PM_RT_DOUBLE, [PM_I64] = PM_RT_INT64,   [PM_I32] = PM_RT_INT32,
		[PM_I8] = PM_RT_INT8,    [PM_U8] = PM_RT_UINT8,    [PM_BOOL] = PM_RT_BOOL,
		[PM_I16] = PM_RT_INT16,  [PM_U16] = PM_RT_UINT16,  [PM_U32] = PM_RT_UINT32,
		[PM_U64] = PM_RT_UINT64
	};
	PmRtTensor r = {
		.data = t->data, .type = type[t->type.dtype], .place = PM_RT_HOST, .rank = t->type.rank
	};

	memcpy(r.dim, t->type.dim, (size_t)t->type.rank * sizeof *r.dim);
	return r;
}

void test_bind(PmRtSession *s, const TestRun *r, PmTensor *out)
{
	PmRtError e;
	PmErr err;

	for (size_t i = 0; i < r->n_in; i++) {
		PmRtTensor t = test_rt_tensor(&r->in[i]);

		if (pm_rt_bind_input(s, i, &t, &e))
			fail_msg("%s", e.text);
	}
	for (size_t i = 0; i < r->n_out; i++) {
		PmRtTensor t;
		PmRtValue v;

		must(pm_tensor_init(&out[i], &r->want[i].type, &err), &err);
		t = test_rt_tensor(&out[i]);
		if (pm_rt_output_shape(s, i, &v, &e) || pm_rt_bind_output(s, i, &t, &e))
			fail_msg("%s", e.text);
		assert_int_equal(v.rank, t.rank);
		assert_memory_equal(v.dim, t.dim, (size_t)t.rank * sizeof *t.dim);
	}
}

void test_same(const TestRun *r, const PmTensor *out, const char *what)
{
	for (size_t i = 0; i < r->n_out; i++)
		if (out[i].bytes != r->want[i].bytes ||
		    (out[i].bytes && memcmp(out[i].data, r->want[i].data, out[i].bytes) != 0))
			fail_msg("%s: output %zu has other bits.", what, i);
}
