/* SPDX-License-Identifier: Apache-2.0 */
/* gate_ref.c - what each rule of the gate uses: the reference, the tolerance, how a rule is broken. */
#include "bench/gate/gate_priv.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int pm__gate_break(PmGate *x, PmGateRule rule, const char *fmt, ...)
{
	va_list ap;

	if (!x->r->ok)
		return 0;
	x->r->ok = 0;
	x->r->broken = rule;
	va_start(ap, fmt);
	vsnprintf(x->r->why, sizeof x->r->why, fmt, ap);
	va_end(ap);
	return 0;
}

const char *pm__gate_output_name(const PmGate *x, size_t o)
{
	return pm_value_name(x->g, pm_graph_output(x->g, o));
}

double pm__gate_tol(const PmGate *x, size_t o, double y)
{
	return x->pair[o].atol + x->pair[o].rtol * (isfinite(y) ? fabs(y) : 0);
}

size_t pm__gate_differ(const PmGate *x, size_t o, const double *a, const double *b, double factor)
{
	size_t first = o < x->n_out ? x->at[o] : 0, end = o < x->n_out ? x->at[o + 1] : x->total, n = 0;

	for (size_t i = first; i < end; i++) {
		if (isfinite(a[i]) && isfinite(b[i]))
			n += fabs(a[i] - b[i]) > factor * x->tol[i];
		else
			n += !(isnan(a[i]) && isnan(b[i])) && a[i] != b[i];
	}
	return n;
}

PmStatus pm__gate_run(const PmGraph *g, const PmTensor *in, size_t n_in, const size_t *at, size_t n_out,
		      double *y, PmErr *err)
{
	PmTensor *out = pm_xcalloc(n_out + 1, sizeof *out);
	PmStatus st = pm_ref_run(g, in, n_in, out, n_out, err);

	for (size_t o = 0; o < n_out && !st; o++)
		pm_tensor_gets(&out[o], 0, (int64_t)(at[o + 1] - at[o]), y + at[o]);
	pm_tensors_release(out, n_out);
	free(out);
	return st;
}

PmStatus pm__gate_ref(const PmGate *x, const PmGraph *g, const PmTensor *in, double *y, PmErr *err)
{
	return pm__gate_run(g, in, x->n_in, x->at, x->n_out, y, err);
}
