/* pass_run.c - a fused graph on a device that runs kernels against the original on the reference device. */
#include "tests/lib/pass_run.h"

#include "bench/allclose.h"
#include "bench/inputs.h"
#include "ir/kernel.h"
#include "runtime/ref.h"
#include "runtime/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MAX_VALUES = 16, SEED = 20261121 };

/* All outputs of both, at t = -5 under the rules of the sound preset. */
static void compare(const PmGraph *g, const PmTensor *want, const PmTensor *got, size_t n, const char *text,
		    int alt, const char *cls)
{
	PmCloseRule rule = pm_close_rule(PM_PRESET_SOUND);

	for (size_t k = 0; k < n; k++) {
		PmTensorView e = { want[k].type.dtype, want[k].type.rank, want[k].type.dim, want[k].data };
		PmTensorView c = { got[k].type.dtype, got[k].type.rank, got[k].type.dim, got[k].data };
		PmComparison r;

		pm_compare(&e, &c, &rule, &r);
		if (!r.comparable || !r.close[-5 - PM_T_MIN])
			fail_msg("output %s, alternative %d, %s inputs: element %lld is %.9g, expected "
				 "%.9g\n%s",
				 pm_value_name(g, pm_graph_output(g, k)), alt, cls, (long long)r.worst.index,
				 r.worst.got, r.worst.expected, text);
	}
}

static int most_alternatives(const PmGraph *g)
{
	PmArena *arena = pm_arena_new(0);
	int most = 0;
	PmErr err;

	pm_err_init(&err);
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmKernelDesc d;

		if (pm_kernel_decode(g, pm_graph_node_at(g, i), arena, &d, &err))
			fail_msg("%s", err.text);
		most = d.n_alts > most ? d.n_alts : most;
	}
	pm_arena_free(arena);
	return most;
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

static void run_alternative(const PmGraph *g, const PmGraph *fused, const PmTensor *in, const PmTensor *want,
			    size_t n_out, int alt, const char *text, const char *cls)
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
	opts.n_alts = pm_graph_n_nodes(fused);
	assert_true(opts.n_alts <= MAX_VALUES);
	for (size_t k = 0; k < opts.n_alts; k++)
		alts[k] = alt;
	if (pm_run_graph(fused, in, pm_graph_n_inputs(g), &opts, &res, &err))
		fail_msg("alternative %d: %s\n%s", alt, err.text, text);
	compare(g, want, res.out, n_out, text, alt, cls);
	pm_run_result_release(&res);
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
		for (int a = 0; a < n_alts; a++)
			run_alternative(g, fused, in, want, n_out, a, text, pm_input_class_name(classes[c]));
		pm_tensors_release(in, n_in);
		pm_tensors_release(want, n_out);
	}
}
