/* SPDX-License-Identifier: Apache-2.0 */
/* bound_check.c - do a device's results lie within the error bound? */
#include "tests/lib/device/bound_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

size_t bound_check(const PmGraph *g, const PmTensor *in, const PmTensor *got, size_t n_out,
		   const char *(*name)(void *arg, size_t k), void *arg)
{
	PmBound *b = test_calloc(n_out + 1, sizeof *b);
	size_t judged = 0;
	PmBoundFit f;
	PmErr err;

	pm_err_init(&err);
	if (pm_bound_run(g, in, pm_graph_n_inputs(g), PM_TIER_STRICT, b, n_out, &err)) {
		if (err.code != PM_E_UNSUPPORTED)
			fail_msg("%s", err.text);
		test_free(b);
		return 0;
	}
	for (size_t k = 0; k < n_out; k++) {
		if (!b[k].known)
			continue;
		judged++;
		pm_bound_fit(&b[k], &got[k], &f);
		if (!f.within)
			fail_msg("%s is not within the bound: rms %.3g, max %.3g, %lld of another class; "
				 "element %lld: %.9g, got %.9g",
				 name(arg, k), f.rms, f.max, (long long)f.n_class, (long long)f.index,
				 f.expected, f.got);
	}
	pm_bounds_release(b, n_out);
	test_free(b);
	return judged;
}
