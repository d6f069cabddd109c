/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda_counters.c - hardware counters of a GPU say of plain kernels what is known of them. */
#include "bench/inputs/inputs.h"
#include "ir/text/text.h"
#include "runtime/worker/hwcount.h"
#include "tests/lib/figures.h"
#include "tests/lib/need.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* 64 MB in and out, one after the other: more than any L2 cache holds beside what was flushed into it. */
static const char GRAPH[] = "g (float[4096,4096] x) => (float[4096,4096] y)\n{ a = Tanh(x)\n y = Exp(a)\n}\n";
static const double bytes = 4096.0 * 4096 * 4;

static void count(PmHwCounters *c)
{
	PmTensor in[1] = { 0 };
	PmPlan *plan = NULL;
	PmGraph *g = NULL;
	PmErr err;
	PmStatus st;

	pm_test_need_device("cuda");
	pm_err_init(&err);
	memset(c, 0, sizeof *c);
	c->n = 2;
	c->of[0].launch = 1; /* in another order than the plan's */
	if (pm_graph_parse(GRAPH, strlen(GRAPH), &g, &err) || pm_plan_new(g, NULL, 0, &plan, &err) ||
	    pm_inputs_make(g, 3, PM_INPUTS_NORMAL, in, &err))
		fail_msg("%s", err.text);
	st = pm_hw_count_run(plan, "cuda", in, 1, 300, c, &err);
	pm_tensor_release(&in[0]);
	pm_plan_free(plan);
	pm_graph_free(g);
	if (st == PM_E_ENV)
		pm_test_skip("%s", err.text);
	if (st)
		fail_msg("%s", err.text);
}

static void between(const char *what, double v, double low, double high)
{
	pm_figure("{\"what\": \"%s\", \"value\": %g}", what, v);
	if (!(v >= low && v <= high))
		fail_msg("%s is %g, which is not in %g to %g", what, v, low, high);
}

/* Each element is read and written once, side by side. */
static void of_plain_kernels(void **state)
{
	PmHwCounters *c = calloc(1, sizeof *c);

	(void)state;
	count(c);
	between("passes", c->passes, 2, 500);
	for (size_t i = 0; i < 2; i++) {
		const double *v = c->of[i].v;
		double stalls = 0;

		assert_true(c->of[i].measured);
		between("nanoseconds", v[PM_HW_NANOSECONDS], 1e3, 1e8);
		between("share of the peak of DRAM", v[PM_HW_DRAM_BUSY], 10, 101);
		between("loaded sectors", v[PM_HW_LOAD_SECTORS] * 32 / bytes, 0.999, 1.1);
		between("stored sectors", v[PM_HW_STORE_SECTORS] * 32 / bytes, 0.999, 1.1);
		between("sectors of a load", v[PM_HW_LOAD_SECTORS] / v[PM_HW_LOAD_REQUESTS], 3.9, 16.1);
		between("bank conflicts", v[PM_HW_SHARED_LOAD_CONFLICTS], 0, 0);
		between("occupancy", v[PM_HW_OCCUPANCY], 5, 100);
		if (!c->lacks[PM_HW_DRAM_READ])
			between("read from DRAM", v[PM_HW_DRAM_READ] / bytes, i ? 0.9 : 0.01, 1.5);
		between("hit rate of L2", v[PM_HW_L2_HIT], 0, 100);
		for (int m = PM_HW_STALLS; m < PM_N_HW_METRICS; m++)
			stalls += isfinite(v[m]) ? v[m] : 0;
		between("warps by what they do", stalls, 0.5, 1e4);
	}
	free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_plain_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
