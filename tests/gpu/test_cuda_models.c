/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda_models.c - the bundled models on a GPU against the reference device, in three element types, as
 * they are and after each first-party pass. */
#include "base/core/vec.h"
#include "base/sys/pool.h"
#include "bench/compare/agree.h"
#include "bench/inputs/inputs.h"
#include "runtime/cuda/nvrtc/nvrtc.h"
#include "runtime/exec/exec.h"
#include "runtime/ref/ref.h"
#include "runtime/worker/run.h"
#include "tests/lib/need.h"
#include "tests/lib/passes/pass_models.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MAX_VALUES = 64, SEED = 20261121, DEADLINE = 120 };

typedef struct Count {
	int graphs, passes; /* run */
	PmWorker *worker;
} Count;

static void agrees(void *arg, int pass, const char *model, int dtype, const PmGraph *g, const PmGraph *fused)
{
	PmRunOpts opts = { .device = "cuda",
			   .deadline = DEADLINE,
			   .poison = 0xffc5ffc5u,
			   .worker = ((Count *)arg)->worker };
	size_t n_in = pm_graph_n_inputs(g), n_out = pm_graph_n_outputs(g);
	const char *how = pass < 0 ? "no pass" : pass_models_name((size_t)pass);
	PmTensor in[MAX_VALUES], want[MAX_VALUES];
	Count *count = arg;
	PmRunResult got;
	PmAgreement a;
	PmErr err;

	pm_err_init(&err);
	assert_true(n_in <= MAX_VALUES && n_out <= MAX_VALUES);
	if (pm_inputs_make(g, SEED, PM_INPUTS_NORMAL, in, &err) ||
	    pm_ref_run(g, in, n_in, want, n_out, &err) || pm_run_graph(fused, in, n_in, &opts, &got, &err) ||
	    pm_agree(g, in, got.out, want, n_out, SEED, &a, &err))
		fail_msg("%s %s, %s: %s", model, pm_dtype_name(dtype), how, err.text);
	if (!a.agrees)
		fail_msg("%s %s, %s: nrms %.3g, element %lld is %.9g instead of %.9g", model,
			 pm_dtype_name(dtype), how, a.nrms, (long long)a.c.worst.index, a.c.worst.got,
			 a.c.worst.expected);
	print_message("# %s %s, %s: nrms %.2g%s\n", model, pm_dtype_name(dtype), how, a.nrms,
		      a.by_conditioning ? " (by conditioning)" : "");
	count->graphs++;
	count->passes += pass >= 0;
	pm_run_result_release(&got);
	pm_tensors_release(in, n_in);
	pm_tensors_release(want, n_out);
}

/* The sources of all of them. */
typedef PM_VEC(PmSource) Sources;

static void take_sources(void *arg, int pass, const char *model, int dtype, const PmGraph *g,
			 const PmGraph *fused)
{
	Sources *all = arg;
	const PmSource *src;
	PmPlan *plan;
	PmErr err;

	(void)pass, (void)dtype, (void)g;
	pm_err_init(&err);
	if (pm_plan_new(fused, NULL, 0, &plan, &err))
		fail_msg("%s: %s", model, err.text);
	for (size_t k = 0, n = pm_plan_sources(plan, &src); k < n; k++)
		PM_VEC_PUSH(all,
			    ((PmSource){ pm_xstrdup(src[k].label), pm_xstrdup(src[k].source), src[k].type }));
	pm_plan_free(plan);
}

/* Fills the cache with several processes; what fails is reported by the run. */
static void compile_ahead(PmWorker *w)
{
	Sources all = { 0 };
	PmDeviceInfo info;
	PmErr err;

	pm_err_init(&err);
	if (pm_worker_info(w, &info, &err))
		fail_msg("%s", err.text);
	pass_models(take_sources, &all);
	pm_nvrtc_ahead(all.v, all.n, info.cc, pm_cpu_count());
	for (size_t i = 0; i < all.n; i++) {
		free((void *)(uintptr_t)all.v[i].label);
		free((void *)(uintptr_t)all.v[i].source);
	}
	PM_VEC_RELEASE(&all);
}

static void models_agree_with_the_reference(void **state)
{
	Count count = { 0, 0, pm_worker_new("cuda") };

	(void)state;
	pm_test_need_device("cuda");
	compile_ahead(count.worker);
	pass_models(agrees, &count);
	/* 6 models and 12 places where a pass applies, in 3 types each. */
	assert_int_equal(count.graphs, 3 * (6 + 12));
	assert_int_equal(count.passes, 3 * 12);
	assert_int_equal(pm_worker_starts(count.worker), 1);
	pm_worker_free(count.worker);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(models_agree_with_the_reference),
	};

	return cmocka_run_group_tests_name("cuda_models", tests, NULL, NULL);
}
