/* SPDX-License-Identifier: Apache-2.0 */
/* eval.c - one operator at a time on the reference device. */
#include "tests/lib/graphs/eval.h"

#include "ir/infer/infer.h"
#include "runtime/ref/ref.h"
#include "tests/lib/graphs/one_node.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

PmTensor eval_tensor(int dtype, int rank, const int64_t *dim)
{
	PmType type = pm_type((PmDType)dtype, rank, dim);
	PmTensor t;

	assert_int_equal(pm_tensor_init(&t, &type, NULL), PM_OK);
	return t;
}

PmTensor eval_normal(PmRng *r, int rank, const int64_t *dim)
{
	PmTensor t = eval_tensor(PM_F64, rank, dim);
	int64_t i;

	for (i = 0; i < pm_tensor_numel(&t); i++)
		pm_tensor_set(&t, i, pm_rng_normal(r));
	return t;
}

PmTensor eval_ints(PmRng *r, int64_t lo, int64_t hi, int rank, const int64_t *dim)
{
	PmTensor t = eval_tensor(PM_I64, rank, dim);
	int64_t i;

	for (i = 0; i < pm_tensor_numel(&t); i++)
		pm_tensor_set_i(&t, i, pm_rng_range(r, lo, hi));
	return t;
}

PmTensor eval_vector(int dtype, const double *v, int64_t n)
{
	PmTensor t = eval_tensor(dtype, 1, &n);
	int64_t i;

	for (i = 0; i < n; i++)
		pm_tensor_set(&t, i, v[i]);
	return t;
}

PmStatus eval_try(const char *op, const char *attrs, const PmTensor *in, size_t n_in, const char *extra,
		  PmTensor *out, size_t n_out, PmErr *err)
{
	PmTensor given[EVAL_MAX_OPERANDS];
	PmStr operands = PM_STR_INIT;
	size_t k, n = 0;
	PmGraph *g;
	PmNode node;
	PmStatus st;

	assert_true(n_in <= EVAL_MAX_OPERANDS);
	for (k = 0; k < n_in; k++) {
		if (in[k].type.dtype < 0) {
			pm_str_add(&operands, "- ");
			continue;
		}
		one_node_print_type(NULL, &in[k].type, &operands);
		pm_str_addc(&operands, ' ');
		given[n++] = in[k];
	}
	pm_str_add(&operands, extra ? extra : "");
	g = one_node(op, operands.s, attrs, n_out, &node);
	st = pm_infer_node(g, node, err);
	if (!st)
		st = pm_ref_run(g, given, n, out, n_out, err);
	pm_graph_free(g);
	pm_str_release(&operands);
	return st;
}

void eval_all(const char *op, const char *attrs, const PmTensor *in, size_t n_in, const char *extra,
	      PmTensor *out, size_t n_out)
{
	PmErr err;

	pm_err_init(&err);
	if (eval_try(op, attrs, in, n_in, extra, out, n_out, &err))
		fail_msg("%s {%s}: %s", op, attrs, err.text);
}

PmTensor eval1(const char *op, const char *attrs, PmTensor a)
{
	PmTensor out;

	eval_all(op, attrs, &a, 1, NULL, &out, 1);
	return out;
}

PmTensor eval2(const char *op, const char *attrs, PmTensor a, PmTensor b)
{
	PmTensor in[2] = { a, b }, out;

	eval_all(op, attrs, in, 2, NULL, &out, 1);
	return out;
}

PmTensor eval3(const char *op, const char *attrs, PmTensor a, PmTensor b, PmTensor c)
{
	PmTensor in[3] = { a, b, c }, out;

	eval_all(op, attrs, in, 3, NULL, &out, 1);
	return out;
}

PmTensor eval_with(const char *op, const char *attrs, PmTensor a, const char *extra)
{
	PmTensor out;

	eval_all(op, attrs, &a, 1, extra, &out, 1);
	return out;
}

static int near(double a, double b, double rel)
{
	double scale = fmax(1, fmax(fabs(a), fabs(b)));

	if (a == b || (a != a && b != b))
		return 1;
	if (isinf(a) || isinf(b)) /* or the scale would let everything through */
		return 0;
	return fabs(a - b) <= rel * scale;
}

void eval_same(PmTensor got, PmTensor want, double rel, const char *what)
{
	PmStr a = PM_STR_INIT, b = PM_STR_INIT;
	int64_t i;

	pm_type_describe(&got.type, &a);
	pm_type_describe(&want.type, &b);
	if (!pm_type_equal(&got.type, &want.type))
		fail_msg("%s: %s instead of %s", what, a.s, b.s);
	for (i = 0; i < pm_tensor_numel(&want); i++) {
		if (pm_dtype_is_float(want.type.dtype)
			    ? !near(pm_tensor_get(&got, i), pm_tensor_get(&want, i), rel)
			    : pm_tensor_get_i(&got, i) != pm_tensor_get_i(&want, i))
			fail_msg("%s %s: element %lld is %.17g instead of %.17g", what, b.s, (long long)i,
				 pm_tensor_get(&got, i), pm_tensor_get(&want, i));
	}
	pm_str_release(&a);
	pm_str_release(&b);
	pm_tensor_release(&got);
	pm_tensor_release(&want);
}

const char *eval_list(const char *name, const int64_t *v, size_t n)
{
	static char buffers[8][256];
	static unsigned turn;
	char *s = buffers[turn++ % 8];
	size_t at = (size_t)snprintf(s, sizeof buffers[0], "%s=[", name), k;

	for (k = 0; k < n; k++)
		at += (size_t)snprintf(s + at, sizeof buffers[0] - at, "%s%lld", k ? "," : "",
				       (long long)v[k]);
	snprintf(s + at, sizeof buffers[0] - at, "]");
	return s;
}

PmTensor eval_take1(const char *op, const char *attrs, PmTensor a)
{
	PmTensor y = eval1(op, attrs, a);

	pm_tensor_release(&a);
	return y;
}

PmTensor eval_take2(const char *op, const char *attrs, PmTensor a, PmTensor b)
{
	PmTensor y = eval2(op, attrs, a, b);

	pm_tensor_release(&a);
	pm_tensor_release(&b);
	return y;
}

PmTensor eval_take3(const char *op, const char *attrs, PmTensor a, PmTensor b, PmTensor c)
{
	PmTensor y = eval3(op, attrs, a, b, c);

	pm_tensor_release(&a);
	pm_tensor_release(&b);
	pm_tensor_release(&c);
	return y;
}

PmTensor eval_take_with(const char *op, const char *attrs, PmTensor a, const char *extra)
{
	PmTensor y = eval_with(op, attrs, a, extra);

	pm_tensor_release(&a);
	return y;
}
