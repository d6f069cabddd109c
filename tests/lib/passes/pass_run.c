/* SPDX-License-Identifier: Apache-2.0 */
/* pass_run.c - a fused graph on a device that runs kernels against the original on the reference device. */
#include "tests/lib/passes/pass_run.h"

#include "bench/compare/allclose.h"
#include "bench/compare/bound/bound.h"
#include "bench/inputs/inputs.h"
#include "ir/core/kernel.h"
#include "runtime/ref/ref.h"
#include "runtime/worker/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_VALUES = 16, SEED = 20261121 };

/* Whether all results are within the error bound: intermediate values may have been rounded. As for the
 * referee, a bound that is open for more than one element in a hundred says nothing. */
static int within_bound(const PmGraph *g, const PmTensor *in, const PmTensor *got, size_t n)
{
	PmBound b[MAX_VALUES];
	PmBoundFit f;
	int within = 1;
	PmErr err;

	pm_err_init(&err);
	if (pm_bound_run(g, in, pm_graph_n_inputs(g), PM_TIER_STRICT, b, n, &err))
		fail_msg("%s", err.text);
	for (size_t k = 0; k < n; k++) {
		pm_bound_fit(&b[k], &got[k], &f);
		within = within && b[k].known && f.within && f.open * 100 <= b[k].y.numel;
	}
	pm_bounds_release(b, n);
	return within;
}

/* All outputs of both, at t = -5 under the rules of the sound preset, or within the bound. */
static void compare(const PmGraph *g, const PmTensor *in, const PmTensor *want, const PmTensor *got, size_t n,
		    const char *text, int alt, const char *cls)
{
	PmCloseRule rule = pm_close_rule(PM_PRESET_SOUND);

	for (size_t k = 0; k < n; k++) {
		PmTensorView e = { want[k].type.dtype, want[k].type.rank, want[k].type.dim, want[k].data };
		PmTensorView c = { got[k].type.dtype, got[k].type.rank, got[k].type.dim, got[k].data };
		PmComparison r;

		pm_compare(&e, &c, &rule, &r);
		if (r.comparable && r.close[-5 - PM_T_MIN])
			continue;
		if (!r.comparable || !within_bound(g, in, got, n))
			fail_msg("output %s, alternative %d, %s inputs: element %lld is %.9g, expected "
				 "%.9g\n%s",
				 pm_value_name(g, pm_graph_output(g, k)), alt, cls, (long long)r.worst.index,
				 r.worst.got, r.worst.expected, text);
	}
}

static int alternatives(const PmGraph *g, PmNode n)
{
	PmArena *arena = pm_arena_new(0);
	PmKernelDesc d;
	PmErr err;
	int n_alts;

	pm_err_init(&err);
	if (pm_kernel_decode(g, n, arena, &d, &err))
		fail_msg("%s", err.text);
	n_alts = d.n_alts;
	pm_arena_free(arena);
	return n_alts;
}

static int most_alternatives(const PmGraph *g)
{
	int most = 0;

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode n = pm_graph_node_at(g, i);
		int have = pm_node_op(g, n) == PM_OP_Kernel ? alternatives(g, n) : 0;

		most = have > most ? have : most;
	}
	return most;
}

/* Of each fused node, in order: this alternative, or its last. Returns their number. */
static size_t choose(const PmGraph *g, int alt, int *alts)
{
	size_t n_fused = 0;

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode n = pm_graph_node_at(g, i);
		int have = pm_node_op(g, n) == PM_OP_Kernel ? alternatives(g, n) : 0;

		if (have)
			alts[n_fused++] = alt < have ? alt : have - 1;
	}
	return n_fused;
}

static PmWorker *the_worker;

static void drop_worker(void)
{
	pm_worker_free(the_worker);
}

/* One for the whole program: starting one on a GPU takes longer than a case. */
static PmWorker *worker(void)
{
	const char *device = getenv("PASSMITH_TEST_DEVICE");

	if (!the_worker) {
		the_worker = pm_worker_new(device ? device : "emu");
		atexit(drop_worker);
	}
	return the_worker;
}

/* The graph, every fused node of it in this alternative, or in its last. */
static PmRunResult run(const PmGraph *g, const PmTensor *in, int alt, const char *text)
{
	int alts[MAX_VALUES];
	PmWorker *w = worker();
	PmRunOpts opts = { .device = pm_worker_device(w),
			   .deadline = 100,
			   .poison = 0xffc00000u,
			   .alts = alts,
			   .worker = w };
	PmRunResult res = { 0 };
	PmErr err;

	pm_err_init(&err);
	assert_true(pm_graph_n_nodes(g) <= MAX_VALUES);
	opts.n_alts = choose(g, alt, alts);
	if (pm_run_graph(g, in, pm_graph_n_inputs(g), &opts, &res, &err))
		fail_msg("alternative %d: %s\n%s", alt, err.text, text);
	return res;
}

void pass_run_all(const PmGraph *g, const PmGraph *fused, const char *text)
{
	static const PmInputClass classes[] = { PM_INPUTS_NORMAL, PM_INPUTS_WIDE };
	size_t n_in = pm_graph_n_inputs(g), n_out = pm_graph_n_outputs(g);
	int n_alts = most_alternatives(fused);
	PmTensor in[MAX_VALUES], want[MAX_VALUES];
	PmErr err;

	pm_err_init(&err);
	assert_true(n_in <= MAX_VALUES && n_out <= MAX_VALUES);
	for (size_t c = 0; c < sizeof classes / sizeof *classes; c++) {
		if (pm_inputs_make(g, SEED + c, classes[c], in, &err) ||
		    pm_ref_run(g, in, n_in, want, n_out, &err))
			fail_msg("%s\n%s", err.text, text);
		for (int a = 0; a < n_alts; a++) {
			PmRunResult got = run(fused, in, a, text);

			compare(g, in, want, got.out, n_out, text, a, pm_input_class_name(classes[c]));
			pm_run_result_release(&got);
		}
		pm_tensors_release(in, n_in);
		pm_tensors_release(want, n_out);
	}
}

static int agree(const PmTensor *want, const PmTensor *got, int t, PmComparison *r)
{
	PmCloseRule rule = pm_close_rule(PM_PRESET_SOUND);
	PmTensorView e = { want->type.dtype, want->type.rank, want->type.dim, want->data };
	PmTensorView c = { got->type.dtype, got->type.rank, got->type.dim, got->data };

	pm_compare(&e, &c, &rule, r);
	if (!r->comparable || t >= PM_T_MIN)
		return r->comparable && r->close[t - PM_T_MIN];
	return !memcmp(e.data, c.data, (size_t)r->numel * (size_t)pm_dtype_size(e.dtype));
}

void pass_run_beside(const PmGraph *g, const PmGraph *fused, int t, const char *text)
{
	size_t n_in = pm_graph_n_inputs(g);
	int n_alts = most_alternatives(fused);
	PmTensor in[MAX_VALUES];
	PmRunResult want;
	PmErr err;

	pm_err_init(&err);
	assert_true(n_in <= MAX_VALUES);
	if (pm_inputs_make(g, SEED, PM_INPUTS_NORMAL, in, &err))
		fail_msg("%s\n%s", err.text, text);
	want = run(g, in, 0, text);
	for (int a = 0; a < n_alts; a++) {
		PmRunResult got = run(fused, in, a, text);
		PmComparison r;

		for (size_t k = 0; k < want.n_out; k++)
			if (!agree(&want.out[k], &got.out[k], t, &r))
				fail_msg("output %s, alternative %d: %lld of %lld elements differ from the "
					 "eager run's, the worst at %lld: %.9g, not %.9g\n%s",
					 pm_value_name(g, pm_graph_output(g, k)), a, (long long)r.n_different,
					 (long long)r.numel, (long long)r.worst.index, r.worst.got,
					 r.worst.expected, text);
		pm_run_result_release(&got);
	}
	pm_run_result_release(&want);
	pm_tensors_release(in, n_in);
}
