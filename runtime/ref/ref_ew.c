/* SPDX-License-Identifier: Apache-2.0 */
/* ref_ew.c - element-wise operators: every EW row of ops.def becomes a double and an int64 function. */
#include "ir/core/narrow.h"
#include "runtime/ref/ref_priv.h"

#include "base/sys/threads.h"

#include <math.h>
#include <string.h>

/* Integer arithmetic of ops.def: wraps in two's complement. */
static int64_t iadd(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t isub(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t imul(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a * (uint64_t)b);
}

static int64_t ineg(int64_t a)
{
	return (int64_t)(0 - (uint64_t)a);
}

static int64_t idiv(int64_t a, int64_t b)
{
	if (b == 0)
		return 0;
	return b == -1 ? ineg(a) : a / b;
}

/* The remainder with the sign of a, and with that of b; 0 when b is 0. */
static int64_t irem(int64_t a, int64_t b)
{
	return b == 0 || b == -1 ? 0 : a % b;
}

static int64_t imod(int64_t a, int64_t b)
{
	int64_t r = irem(a, b);

	return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* Negative exponents truncate the reciprocal: 1 and -1 keep their powers, 0 and the rest give 0. */
static int64_t ipow(int64_t a, int64_t b)
{
	int64_t r = 1;

	if (b < 0)
		return a == 1 ? 1 : (a == -1 ? (b % 2 ? -1 : 1) : 0);
	for (; b; b >>= 1) {
		if (b & 1)
			r = imul(r, a);
		a = imul(a, a);
	}
	return r;
}

/* The right shift keeps the sign. */
static int64_t ishl(int64_t a, int64_t b)
{
	return (uint64_t)b < 64 ? (int64_t)((uint64_t)a << b) : 0;
}

static int64_t ishr(int64_t a, int64_t b)
{
	return (uint64_t)b < 64 ? a >> b : (a < 0 ? -1 : 0);
}

/* The same on uint64, for the third function of a row. */
static uint64_t udiv(uint64_t a, uint64_t b)
{
	return b ? a / b : 0;
}

static uint64_t urem(uint64_t a, uint64_t b)
{
	return b ? a % b : 0;
}

static uint64_t ushl(uint64_t a, uint64_t b)
{
	return b < 64 ? a << b : 0;
}

static uint64_t ushr(uint64_t a, uint64_t b)
{
	return b < 64 ? a >> b : 0;
}

static uint64_t upow(uint64_t a, uint64_t b)
{
	uint64_t r = 1;

	for (; b; b >>= 1, a *= a)
		r *= b & 1 ? a : 1;
	return r;
}

/* A row's functions. A lone "-" in the table is followed by "- 0" here, which makes it 0: such a column is
 * never called, as the descriptor says that it is absent. After an expression, "- 0" changes nothing. */
#define K(x) ((double)(x))
#define p0   p[0]
#define p1   p[1]
#define OP(name, in_min, in_max, out_min, out_max, flags, types, attrs, shape, ref, expr, iexpr)             \
	static double f_##name(double a, double b, double c, const double *p)                                \
	{                                                                                                    \
		(void)a;                                                                                     \
		(void)b;                                                                                     \
		(void)c;                                                                                     \
		(void)p;                                                                                     \
		return expr - 0;                                                                             \
	}                                                                                                    \
	static void fs_##name(int64_t n, const double *a, const double *b, const double *c, const double *p, \
			      double *to)                                                                    \
	{                                                                                                    \
		for (int64_t k = 0; k < n; k++)                                                              \
			to[k] = f_##name(a[k], b[k], c[k], p);                                               \
	}                                                                                                    \
	static int64_t i_##name(int64_t a, int64_t b, int64_t c, const double *p)                            \
	{                                                                                                    \
		(void)a;                                                                                     \
		(void)b;                                                                                     \
		(void)c;                                                                                     \
		(void)p;                                                                                     \
		return iexpr - 0;                                                                            \
	}
#include "ir/core/ops.def"
#undef OP
#undef K

/* uint64 is computed by the integer expressions with other functions behind their names. Some of them ask
 * whether an operand is below zero. */
#define iadd(a, b) ((a) + (b))
#define isub(a, b) ((a) - (b))
#define imul(a, b) ((a) * (b))
#define ineg(a)    (0 - (a))
#define idiv       udiv
#define irem       urem
#define imod       urem
#define ipow       upow
#define ishl       ushl
#define ishr       ushr
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wextra"
#define OP(name, in_min, in_max, out_min, out_max, flags, types, attrs, shape, ref, expr, iexpr)             \
	static int64_t u_##name(uint64_t a, uint64_t b, uint64_t c, const double *p)                         \
	{                                                                                                    \
		(void)a;                                                                                     \
		(void)b;                                                                                     \
		(void)c;                                                                                     \
		(void)p;                                                                                     \
		return (int64_t)(iexpr - 0);                                                                 \
	}
#include "ir/core/ops.def"
#undef OP
#pragma GCC diagnostic pop
#undef iadd
#undef isub
#undef imul
#undef ineg
#undef idiv
#undef irem
#undef imod
#undef ipow
#undef ishl
#undef ishr
#undef p0
#undef p1

typedef struct EwRow {
	void (*f)(int64_t n, const double *a, const double *b, const double *c, const double *p, double *to);
	int64_t (*i)(int64_t a, int64_t b, int64_t c, const double *p);
	int64_t (*u)(uint64_t a, uint64_t b, uint64_t c, const double *p); /* uint64 */
} EwRow;

#define OP(name, ...) [PM_OP_##name] = { fs_##name, i_##name, u_##name },
static const EwRow rows[PM_N_OPS] = {
#include "ir/core/ops.def"
};
#undef OP

enum { MAX_PARAMS = 4, ROW = 256 };

/* The attributes as numbers: a STRING is 0 when it holds its default. */
static void params(const PmRefCall *c, const PmOpDesc *d, double *p)
{
	int k;

	for (k = 0; k < MAX_PARAMS; k++) {
		const PmAttrDesc *a = k < d->n_attrs ? &d->attrs[k] : NULL;

		if (!a)
			p[k] = 0;
		else if (a->kind == PM_ATTR_FLOAT)
			p[k] = pm_node_f(c->g, c->node, a->name, a->f);
		else if (a->kind == PM_ATTR_STRING)
			p[k] = strcmp(pm_node_s(c->g, c->node, a->name, a->s), a->s) != 0;
		else
			p[k] = (double)pm_node_i(c->g, c->node, a->name, a->i);
	}
}

/* One operand of the loop: NULL tensor = omitted, reads as `f` or `i`. */
typedef struct Operand {
	const PmRefTensor *t;
	int64_t stride[PM_MAX_RANK + 1];
	double f;
	int64_t i;
} Operand;

/* `n` (at most ROW) elements from offset `at` with a stride, as doubles: in the tensor itself or in `to`. */
static const double *read_f(const Operand *o, int64_t at, int64_t stride, int64_t n, double *to)
{
	int64_t k;

	if (o->t && o->t->f && stride == 1)
		return o->t->f + at;
	if (!o->t)
		for (k = 0; k < n; k++)
			to[k] = o->f;
	else if (o->t->f)
		for (k = 0; k < n; k++)
			to[k] = o->t->f[at + k * stride];
	else
		for (k = 0; k < n; k++)
			to[k] = pm_int_to_f64(o->t->type.dtype, o->t->i[at + k * stride]);
	return to;
}

/* The same as integers. */

static void read_i(const Operand *o, int64_t at, int64_t stride, int64_t n, int64_t *to)
{
	int64_t k;

	if (!o->t)
		for (k = 0; k < n; k++)
			to[k] = o->i;
	else
		for (k = 0; k < n; k++)
			to[k] = o->t->i[at + k * stride];
}

typedef struct Loop {
	const EwRow *row;
	double p[MAX_PARAMS];
	Operand op[3];
	int as_float;    /* compute in doubles */
	int as_unsigned; /* else: in uint64 */
	PmRefTensor *out;
	int rank; /* of join_axes(); strides of operands are those of its axes */
	int64_t dim[PM_MAX_RANK + 1];
} Loop;

static void operand_init(const Loop *l, Operand *o, const PmRefTensor *t, const PmType *out, int missing_sign)
{
	memset(o, 0, sizeof *o);
	o->t = t;
	o->f = missing_sign < 0 ? -HUGE_VAL : HUGE_VAL;
	o->i = pm_int_from_f64(l->as_unsigned ? PM_U64 : PM_I64, o->f);
	if (t)
		pm__ref_broadcast_strides(&t->type, out, o->stride);
}

/* Computes results [at, at + n) from operands at off[0..2]; n is at most ROW. */
static void chunk(const Loop *l, const int64_t *off, const int64_t *stride, int64_t at, int64_t n)
{
	int dtype = l->out->type.dtype;
	int64_t k;

	if (l->as_float) {
		double v[3][ROW], r[ROW], *to = l->out->f ? l->out->f + at : r;
		const double *x[3];

		for (k = 0; k < 3; k++)
			x[k] = read_f(&l->op[k], off[k], stride[k], n, v[k]);
		l->row->f(n, x[0], x[1], x[2], l->p, to);
		for (k = 0; k < n && !l->out->f; k++)
			l->out->i[at + k] = pm_int_from_f64(dtype, r[k]);
	} else {
		int64_t v[3][ROW];

		for (k = 0; k < 3; k++)
			read_i(&l->op[k], off[k], stride[k], n, v[k]);
		for (k = 0; k < n; k++) {
			int64_t r = l->as_unsigned ? l->row->u((uint64_t)v[0][k], (uint64_t)v[1][k],
							       (uint64_t)v[2][k], l->p)
						   : l->row->i(v[0][k], v[1][k], v[2][k], l->p);

			if (l->out->f)
				l->out->f[at + k] = (double)r;
			else
				l->out->i[at + k] = pm_int_wrap(dtype, r);
		}
	}
}

/* Results [from, to). */
static void run_part(void *arg, int64_t from, int64_t to)
{
	const Loop *l = arg;
	int last = l->rank - 1;
	int64_t n = l->dim[last], inner[3], at = from;

	for (int k = 0; k < 3; k++)
		inner[k] = l->op[k].stride[last];
	while (at < to) {
		int64_t off[3] = { 0, 0, 0 }, j = at % n, row = at / n;
		int64_t end = to - at < n - j ? j + to - at : n;

		for (int d = last; d-- > 0; row /= l->dim[d])
			for (int k = 0; k < 3; k++)
				off[k] += row % l->dim[d] * l->op[k].stride[d];
		for (int k = 0; k < 3; k++)
			off[k] += j * inner[k];
		while (j < end) {
			int64_t some = end - j < ROW ? end - j : ROW;

			chunk(l, off, inner, at, some);
			for (int k = 0; k < 3; k++)
				off[k] += some * inner[k];
			at += some;
			j += some;
		}
	}
}

/* The result's axes, those in one that every operand walks through as one. One of extent 1 is not walked. */
static void join_axes(Loop *l)
{
	const PmType *t = &l->out->type;

	l->rank = 0;
	for (int d = 0; d < t->rank; d++) {
		int joins = l->rank > 0;

		if (t->dim[d] == 1)
			continue;
		for (int k = 0; k < 3 && joins; k++)
			joins = l->op[k].stride[l->rank - 1] == l->op[k].stride[d] * t->dim[d];
		l->rank += !joins;
		l->dim[l->rank - 1] = joins ? l->dim[l->rank - 1] * t->dim[d] : t->dim[d];
		for (int k = 0; k < 3; k++)
			l->op[k].stride[l->rank - 1] = l->op[k].stride[d];
	}
	if (!l->rank) {
		l->rank = 1;
		l->dim[0] = 1;
	}
}

static void run_loop(Loop *l)
{
	if (!l->out->numel)
		return;
	join_axes(l);
	pm_threads_run(l->out->numel, PM__REF_LEAST / 4, run_part, l);
}

/* Copies operand 0, broadcast, into the result: the start of a fold. */
static void broadcast_copy(const PmRefTensor *from, PmRefTensor *out)
{
	PmRefCopy box;
	int d;

	memset(&box, 0, sizeof box);
	box.rank = out->type.rank;
	for (d = 0; d < box.rank; d++)
		box.dim[d] = out->type.dim[d];
	pm__ref_strides(&out->type, box.to_stride);
	pm__ref_broadcast_strides(&from->type, &out->type, box.from_stride);
	pm__ref_copy(out, from, &box);
}

typedef struct Casting {
	const PmRefTensor *from;
	PmRefTensor *out;
	PmNarrowCast how; /* to a narrow floating-point type */
} Casting;

/* To narrow floating point ONNX saturates or not, as attributes say. Where a number does not fit 4 or 2 bits,
 * its node tests keep the lowest bits, of floating point too. */
static void cast_narrow(const Casting *c, int64_t first, int64_t end)
{
	int from = c->from->type.dtype, dtype = c->out->type.dtype;

	for (int64_t k = first; k < end; k++) {
		if (c->out->f)
			c->out->f[k] = pm_narrow_round(
				dtype, c->from->f ? c->from->f[k] : pm_int_to_f64(from, c->from->i[k]),
				c->how);
		else
			c->out->i[k] = pm_int_wrap(dtype, c->from->f ? pm_int_from_f64(PM_I64, c->from->f[k])
								     : c->from->i[k]);
	}
}

static void cast_part(void *arg, int64_t first, int64_t end)
{
	const PmRefTensor *from = ((const Casting *)arg)->from;
	PmRefTensor *out = ((const Casting *)arg)->out;
	int dtype = out->type.dtype;
	int64_t k;

	if (pm_dtype_is_narrow(dtype)) {
		cast_narrow(arg, first, end);
		return;
	}
	for (k = first; k < end; k++) {
		if (out->f && from->f)
			out->f[k] = pm__ref_round(dtype, from->f[k]);
		else if (out->f)
			out->f[k] = dtype == PM_F32 ? (double)pm_int_to_f32(from->type.dtype, from->i[k])
						    : pm__ref_round(dtype, pm_int_to_f64(from->type.dtype,
											 from->i[k]));
		else if (!from->f)
			out->i[k] = pm_int_wrap(dtype, from->i[k]);
		else
			out->i[k] = pm_int_from_f64(dtype, from->f[k]);
	}
}

/* Cast: the one place where values are rounded on the way. */
static void cast(const PmRefCall *c)
{
	const char *mode = pm_node_s(c->g, c->node, "round_mode", "up");
	PmNarrowRound round = *mode == 'd' ? PM_ROUND_DOWN : *mode == 'n' ? PM_ROUND_NEAREST : PM_ROUND_UP;
	PmNarrowCast how = { pm_node_i(c->g, c->node, "saturate", 1) != 0, round };

	pm_threads_run(c->out[0].numel, PM__REF_LEAST / 4, cast_part,
		       &(Casting){ &c->in[0], &c->out[0], how });
}

PmStatus pm__ref_ew(const PmRefCall *c, PmErr *err)
{
	PmOp op = pm_node_op(c->g, c->node);
	const PmOpDesc *d = pm_op_desc(op);
	PmRefTensor *out = &c->out[0];
	size_t k, n = c->n_in;
	Loop l;

	if (op == PM_OP_Cast) {
		cast(c);
		return PM_OK;
	}
	memset(&l, 0, sizeof l);
	l.row = &rows[op];
	l.out = out;
	l.as_float = !d->iexpr;
	for (k = 0; k < n; k++)
		if (pm__ref_in(c, k) && pm_dtype_is_float(c->in[k].type.dtype))
			l.as_float = 1;
	for (k = 0; k < n; k++)
		if (pm__ref_in(c, k) && c->in[k].type.dtype == PM_U64)
			l.as_unsigned = 1;
	if (!(l.as_float ? d->expr : d->iexpr))
		return pm__ref_fail(c, err, PM_E_UNSUPPORTED,
				    "the operator is not defined for %s; cast first.",
				    pm_dtype_name(c->in[0].type.dtype));
	params(c, d, l.p);
	if (d->flags & PM_OPF_FOLD) {
		broadcast_copy(&c->in[0], out);
		for (k = 1; k < n; k++) {
			operand_init(&l, &l.op[0], out, &out->type, -1);
			operand_init(&l, &l.op[1], pm__ref_in(c, k), &out->type, -1);
			operand_init(&l, &l.op[2], NULL, &out->type, 1);
			run_loop(&l);
		}
		return PM_OK;
	}
	for (k = 0; k < 3; k++)
		operand_init(&l, &l.op[k], pm__ref_in(c, k), &out->type, k == 2 ? 1 : -1);
	run_loop(&l);
	return PM_OK;
}
