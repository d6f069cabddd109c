/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_expand_data.c - choosing, marking, windows, dropout and random numbers: defaults filled in, and what
 * other operators can say said by them. */
#include "ir/onnx/normal/onnx_expand.h"

#include "ir/infer/infer_priv.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* ---- one node: defaults, and attributes of other opsets ---- */

/* TopK: below 10 the number of entries was an attribute. */
static PmStatus norm_top_k(PmDraft *d, PmErr *err)
{
	int64_t axis, k;
	PmStatus st = pm__draft_get_i(d, "axis", -1, &axis, err);

	if (!st)
		st = pm__draft_axis(d, &axis, pm__draft_type(d, 0)->rank, 0, err);
	if (st)
		return st;
	pm__draft_set_i(d, "axis", axis);
	if (d->opset >= 10)
		return pm__draft_proto(d, "k") ? pm__decline(d, "the attribute 'k' is not known") : PM_OK;
	if (d->n_in != 1 || !pm__draft_proto(d, "k"))
		return pm_err(
			err, PM_E_INVALID,
			"There are %zu operands at %s, which takes one and the attribute 'k'; fix the model.",
			d->n_in, d->where.s);
	st = pm__draft_get_i(d, "k", 0, &k, err);
	if (!st)
		st = pm__draft_list(d, &k, 1, &d->in[1], err);
	d->n_in = 2;
	return st;
}

/* OneHot: the axis counts in the result; a depth given as floating point becomes an integer. */
static PmStatus norm_one_hot(PmDraft *d, PmErr *err)
{
	int64_t axis;
	double depth;
	size_t n;
	PmStatus st = pm__draft_get_i(d, "axis", -1, &axis, err);

	if (!st)
		st = pm__draft_axis(d, &axis, pm__draft_type(d, 0)->rank + 1, 0, err);
	if (st)
		return st;
	pm__draft_set_i(d, "axis", axis);
	if (d->n_in < 2 || !pm_dtype_is_float(pm__draft_type(d, 1)->dtype))
		return PM_OK;
	if (pm_value_const_floats(d->g, d->in[1], &depth, 1, &n) || n != 1 || !(fabs(depth) < 0x1p53))
		return pm__decline(d, "its depth is neither an integer nor constant");
	PM_VEC_PUSH(&d->im->eaten, d->in[1]);
	return pm__draft_scalar(d, PM_I64, trunc(depth), &d->in[1], err);
}

/* The element type that an attribute names, else that of operand 0. */
static PmStatus fill_dtype(PmDraft *d, int otherwise, PmErr *err)
{
	int64_t to;
	PmStatus st = pm__draft_get_i(d, "dtype", pm_dtype_to_onnx(otherwise), &to, err);

	if (st)
		return st;
	if (to < 1 || to > INT32_MAX || pm_dtype_from_onnx((int)to) < 0)
		return pm__decline(d, "element type %s is not supported",
				   to < 1 || to > INT32_MAX ? "0" : pm__onnx_dtype_name((int)to));
	pm__draft_set_i(d, "dtype", to);
	return PM_OK;
}

static PmStatus norm_eye_like(PmDraft *d, PmErr *err)
{
	return fill_dtype(d, pm__draft_type(d, 0)->dtype, err);
}

/* Unique: without an axis over all elements as one list. */
static PmStatus norm_unique(PmDraft *d, PmErr *err)
{
	static const int64_t all = -1;
	int64_t axis = 0;
	PmValue in[2];
	PmStatus st = PM_OK;

	if (pm__draft_proto(d, "axis")) {
		st = pm__draft_get_i(d, "axis", 0, &axis, err);
		if (!st)
			st = pm__draft_axis(d, &axis, pm__draft_type(d, 0)->rank, 0, err);
	} else {
		in[0] = d->in[0];
		st = pm__draft_list(d, &all, 1, &in[1], err);
		if (!st)
			st = pm__draft_before(d, PM_OP_Reshape, in, 2, NULL, 0, &d->in[0], err);
	}
	pm__draft_set_i(d, "axis", axis);
	return st;
}

/* ---- random numbers: ones without a seed get the number of their node, so that no two are alike ---- */

static double seed_of(PmExpand *x)
{
	return pm__x_f(x, "seed", (double)x->d->index + 1);
}

/* RandomUniformLike and RandomNormalLike stay themselves. */
static PmStatus norm_random_like(PmDraft *d, PmErr *err)
{
	PmExpand x = { d, err, PM_OK };
	double seed = seed_of(&x);
	PmStatus st = x.st;

	if (!st && pm__draft_type(d, 0)->dtype >= 0)
		st = fill_dtype(d, pm__draft_type(d, 0)->dtype, err);
	if (!st)
		pm__draft_set_f(d, "seed", (float)seed);
	return st;
}

/* The numbers of an operator with the attributes of one of the two, which early defaults fill. */
static PmValue random_like(PmExpand *x, PmOp op, PmValue like, int dtype, double seed)
{
	int normal = op == PM_OP_RandomNormalLike;
	const char *names[2] = { normal ? "mean" : "low", normal ? "scale" : "high" };
	PmNode n = pm__x_open(x, op, &like, 1, 1);
	double a = pm__x_f(x, names[0], 0), b = pm__x_f(x, names[1], 1);

	if (!x->st)
		pm__x_set(x, pm_node_set_i(x->d->g, n, "dtype", pm_dtype_to_onnx(dtype), x->err));
	if (!x->st)
		pm__x_set(x, pm_node_set_f(x->d->g, n, "seed", (float)seed, x->err));
	if (!x->st)
		pm__x_set(x, pm_node_set_f(x->d->g, n, names[0], a, x->err));
	if (!x->st)
		pm__x_set(x, pm_node_set_f(x->d->g, n, names[1], b, x->err));
	return pm__x_close(x, n);
}

/* A tensor of one repeated value: of the shape in `shape`. */
static PmValue filled(PmExpand *x, PmValue shape, int dtype, double v)
{
	int64_t one = 1;
	PmType t = pm_type((PmDType)dtype, 1, &one);
	unsigned char bytes[8] = { 0 };
	PmNode n = pm__x_open(x, PM_OP_ConstantOfShape, &shape, 1, 1);

	pm__encode_element(dtype, v, bytes);
	if (!x->st)
		pm__x_set(x, pm_node_set_tensor(x->d->g, n, "value", &t,
						pm_blob_copy(bytes, pm_dtype_size(dtype)), x->err));
	return pm__x_close(x, n);
}

/* The shape of a value as a value: a constant when it is known. */
static PmValue shape_of(PmExpand *x, PmValue v)
{
	const PmType *t = pm__x_type(x, v);

	if (pm_type_is_static(t))
		return pm__x_ints(x, t->dim, (size_t)t->rank);
	return pm__x_opi(x, PM_OP_Shape, v, (PmValue){ 0 }, "end", INT64_MAX);
}

/* RandomUniform and RandomNormal: like zeros of the shape. */
static PmStatus expand_random(PmDraft *d, PmErr *err)
{
	PmExpand x = { d, err, PM_OK };
	int normal = strcmp(d->np->op_type, "RandomNormal") == 0, present;
	int64_t *shape, to = pm__x_i(&x, "dtype", pm_dtype_to_onnx(PM_F32));
	int dtype = to > 0 && to <= INT32_MAX ? pm_dtype_from_onnx((int)to) : -1;
	PmValue like;
	size_t n;

	pm__x_counts(&x, 0, 0, 1);
	if (!x.st)
		x.st = pm__draft_get_ints(d, "shape", &shape, &n, &present, err);
	if (!x.st && (!present || n > PM_MAX_RANK))
		pm__x_fail(&x, PM_E_INVALID,
			   "The attribute 'shape' of %s is missing or too long; fix the model.", d->where.s);
	if (!x.st && !pm_dtype_is_float(dtype))
		pm__x_decline(&x, "random numbers of element type %lld are not supported", (long long)to);
	if (x.st)
		return x.st;
	like = filled(&x, pm__x_ints(&x, shape, n), dtype, 0);
	pm__x_result(&x, 0,
		     random_like(&x, normal ? PM_OP_RandomNormalLike : PM_OP_RandomUniformLike, like, dtype,
				 seed_of(&x)));
	return x.st;
}

/* Bernoulli: 1 where a number of [0, 1) is below the probability. */
static PmStatus expand_bernoulli(PmDraft *d, PmErr *err)
{
	PmExpand x = { d, err, PM_OK };
	PmValue p = pm__x_in(&x, 0), hit;
	int64_t to;
	int dtype, kind;

	pm__x_counts(&x, 1, 1, 1);
	dtype = x.st ? PM_F32 : pm__x_type(&x, p)->dtype;
	to = pm__x_i(&x, "dtype", pm_dtype_to_onnx(dtype));
	kind = to > 0 && to <= INT32_MAX ? pm_dtype_from_onnx((int)to) : -1;
	if (kind < 0 || !pm_dtype_is_float(dtype))
		pm__x_decline(&x, "random numbers of element type %lld are not supported", (long long)to);
	hit = pm__x_op2(&x, PM_OP_Less, random_like(&x, PM_OP_RandomUniformLike, p, dtype, seed_of(&x)), p);
	pm__x_result(&x, 0, pm__x_cast(&x, hit, x.st ? PM_BOOL : kind));
	return x.st;
}

/* ---- Dropout ---- */

/* Operand 2, or what the attribute of early opsets says; declines when it is not known. */
static int in_training(PmExpand *x)
{
	PmElem e = { PM_ELEM_INT, 0 };
	PmValue v = pm__x_in(x, 2);
	size_t n = 1;

	if (v.id && (pm__fold_get(x->d->g, x->d->im->fold, v, &e, 1, &n) || n != 1 || e.kind != PM_ELEM_INT))
		pm__x_decline(x, "whether it is in training mode is not known");
	return e.v != 0;
}

static double drop_ratio(PmExpand *x)
{
	PmValue v = pm__x_in(x, 1);
	double r = pm__x_f(x, "ratio", 0.5);
	size_t n;

	if (v.id && (pm_value_const_floats(x->d->g, v, &r, 1, &n) || n != 1))
		pm__x_decline(x, "its ratio is not constant");
	if (!x->st && !(r >= 0 && r < 1))
		pm__x_decline(x, "its ratio is %g", r);
	return r;
}

/* Outside training it copies and keeps everything. In training it drops what a random number says and scales
 * the rest. */
static PmStatus expand_dropout(PmDraft *d, PmErr *err)
{
	PmExpand x = { d, err, PM_OK };
	PmValue in = pm__x_in(&x, 0), mask = { 0 }, y = in, zero;
	int dtype, training;
	double ratio = 0, seed = (double)pm__x_i(&x, "seed", (int64_t)d->index + 1); /* an int here */

	pm__x_counts(&x, 1, 3, 2);
	training = in_training(&x);
	if (training)
		ratio = drop_ratio(&x);
	/* A copy is one whatever it copies; a mask has a shape. */
	if (!x.st && pm__x_type(&x, in)->rank < 0 && (ratio > 0 || d->n_out > 1))
		pm__x_decline(&x, "the type of operand 0 is not known");
	if (x.st)
		return x.st;
	dtype = pm__x_type(&x, in)->dtype;
	if (ratio > 0) {
		mask = pm__x_op2(&x, PM_OP_GreaterOrEqual,
				 random_like(&x, PM_OP_RandomUniformLike, in, dtype, seed),
				 pm__x_scalar(&x, dtype, ratio));
		zero = pm__x_scalar(&x, dtype, 0);
		y = pm__x_op3(&x, PM_OP_Where, mask,
			      pm__x_op2(&x, PM_OP_Mul, in, pm__x_scalar(&x, dtype, 1 / (1 - ratio))), zero);
	}
	/* The mask of early opsets has the type of the operand. */
	if (pm__x_wants(&x, 1) && mask.id)
		mask = pm__x_cast(&x, mask, d->opset < 10 ? dtype : PM_BOOL);
	else if (pm__x_wants(&x, 1))
		mask = filled(&x, shape_of(&x, in), d->opset < 10 ? dtype : PM_BOOL, 1);
	if (y.id == in.id)
		y = pm__x_op1(&x, PM_OP_Identity, in);
	pm__x_result(&x, 0, y);
	if (pm__x_wants(&x, 1))
		pm__x_result(&x, 1, mask);
	for (size_t k = 1; k < d->n_in && !x.st; k++)
		if (d->in[k].id)
			PM_VEC_PUSH(&d->im->eaten, d->in[k]);
	return x.st;
}

/* ---- Mean, Compress, windows ---- */

static PmStatus expand_mean(PmDraft *d, PmErr *err)
{
	PmExpand x = { d, err, PM_OK };
	PmValue sum;

	pm__x_counts(&x, 1, SIZE_MAX, 1);
	sum = pm__x_close(&x, pm__x_open(&x, PM_OP_Sum, d->in, d->n_in, 1));
	if (!x.st && d->n_in > 1)
		sum = pm__x_op2(&x, PM_OP_Div, sum,
				pm__x_scalar(&x, pm__x_type(&x, sum)->dtype, (double)d->n_in));
	pm__x_result(&x, 0, sum);
	return x.st;
}

/* Compress: what the places where the condition is not 0 gather. */
static PmStatus expand_compress(PmDraft *d, PmErr *err)
{
	static const int64_t flat = -1;
	PmExpand x = { d, err, PM_OK };
	PmValue in = pm__x_in(&x, 0), places;
	int64_t axis = pm__x_i(&x, "axis", 0);

	pm__x_counts(&x, 2, 2, 1);
	if (!x.st && (pm__x_type(&x, d->in[1])->dtype != PM_BOOL || pm__x_type(&x, d->in[1])->rank != 1))
		pm__x_fail(&x, PM_E_TYPE, "The condition of %s is no list of bool; fix the model.",
			   d->where.s);
	if (!x.st && pm__draft_proto(d, "axis"))
		x.st = pm__draft_axis(d, &axis, pm__x_type(&x, in)->rank, 0, err);
	else
		in = pm__x_op2(&x, PM_OP_Reshape, in, pm__x_ints(&x, &flat, 1));
	places = pm__x_op1(&x, PM_OP_NonZero, x.st ? in : d->in[1]);
	places = pm__x_op2(&x, PM_OP_Reshape, places, pm__x_ints(&x, &flat, 1));
	pm__x_result(&x, 0, pm__x_opi(&x, PM_OP_Gather, in, places, "axis", axis));
	return x.st;
}

/* a0 - a1 cos(2 pi i / n) + a2 cos(4 pi i / n), i from 0 on, where n is the size, or size - 1. */
static PmStatus expand_window(PmDraft *d, PmErr *err)
{
	static const struct {
		const char *name;
		double a[3];
	} kinds[] = { { "HannWindow", { 0.5, 0.5, 0 } },
		      { "HammingWindow", { 25.0 / 46, 21.0 / 46, 0 } },
		      { "BlackmanWindow", { 0.42, 0.5, 0.08 } } };
	PmExpand x = { d, err, PM_OK };
	int64_t to = pm__x_i(&x, "output_datatype", pm_dtype_to_onnx(PM_F32)),
		periodic = pm__x_i(&x, "periodic", 1);
	int dtype = to > 0 && to <= INT32_MAX ? pm_dtype_from_onnx((int)to) : -1, work, k;
	PmValue size = pm__x_in(&x, 0), at, n, sum, index;

	pm__x_counts(&x, 1, 1, 1);
	if (dtype < 0)
		pm__x_decline(&x, "its element type is not supported");
	if (!x.st && !pm_dtype_is_int(pm__x_type(&x, size)->dtype))
		pm__x_fail(&x, PM_E_TYPE, "The size of %s is no integer; fix the model.", d->where.s);
	if (x.st)
		return x.st;
	work = dtype == PM_F64 ? PM_F64 : PM_F32;
	index = pm__x_cast(&x, size, PM_I64);
	at = pm__x_op3(&x, PM_OP_Range, pm__x_scalar(&x, PM_I64, 0), index, pm__x_scalar(&x, PM_I64, 1));
	if (!periodic)
		index = pm__x_op2(&x, PM_OP_Sub, index, pm__x_scalar(&x, PM_I64, 1));
	n = pm__x_cast(&x, index, work);
	at = pm__x_op2(&x, PM_OP_Div,
		       pm__x_op2(&x, PM_OP_Mul, pm__x_cast(&x, at, work), pm__x_scalar(&x, work, 2 * pi)), n);
	for (k = 0; k < 2 && strcmp(kinds[k].name, d->np->op_type) != 0; k++)
		;
	sum = pm__x_op2(&x, PM_OP_Sub, pm__x_scalar(&x, work, kinds[k].a[0]),
			pm__x_op2(&x, PM_OP_Mul, pm__x_op1(&x, PM_OP_Cos, at),
				  pm__x_scalar(&x, work, kinds[k].a[1])));
	if (kinds[k].a[2] != 0)
		sum = pm__x_op2(&x, PM_OP_Add, sum,
				pm__x_op2(&x, PM_OP_Mul,
					  pm__x_op1(&x, PM_OP_Cos, pm__x_op2(&x, PM_OP_Add, at, at)),
					  pm__x_scalar(&x, work, kinds[k].a[2])));
	pm__x_result(&x, 0, pm__x_cast(&x, sum, dtype));
	return x.st;
}

const PmNormRow pm__expand_data_rows[] = {
	{ "TopK", PM_OP_TopK, norm_top_k, "k", 1 << 1 },
	{ "OneHot", PM_OP_OneHot, norm_one_hot, NULL, 1 << 1 },
	{ "EyeLike", PM_OP_EyeLike, norm_eye_like, NULL, 0 },
	{ "Range", PM_OP_Range, NULL, NULL, 7 },
	{ "Unique", PM_OP_Unique, norm_unique, NULL, 0 },
	{ "RandomUniformLike", PM_OP_RandomUniformLike, norm_random_like, NULL, 0 },
	{ "RandomNormalLike", PM_OP_RandomNormalLike, norm_random_like, NULL, 0 },
	{ "RandomUniform", PM_OP_RandomUniformLike, expand_random, "shape", PM_NORM_NO_OPERANDS },
	{ "RandomNormal", PM_OP_RandomNormalLike, expand_random, "shape", PM_NORM_NO_OPERANDS },
	{ "Bernoulli", PM_OP_RandomUniformLike, expand_bernoulli, NULL, 0 },
	{ "Dropout", PM_OP_Identity, expand_dropout, "ratio seed", 1 << 1 | 1 << 2 },
	{ "Mean", PM_OP_Sum, expand_mean, NULL, 0 },
	{ "Compress", PM_OP_Gather, expand_compress, "axis", 1 << 1 },
	{ "HannWindow", PM_OP_Range, expand_window, "output_datatype periodic", 1 << 0 },
	{ "HammingWindow", PM_OP_Range, expand_window, "output_datatype periodic", 1 << 0 },
	{ "BlackmanWindow", PM_OP_Range, expand_window, "output_datatype periodic", 1 << 0 },
	{ NULL, PM_OP_NONE, NULL, NULL, 0 },
};
