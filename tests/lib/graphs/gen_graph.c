/* SPDX-License-Identifier: Apache-2.0 */
/* gen_graph.c - random well-typed graphs.
 *
 * An operator is drawn from the table, operands and attributes are drawn so that they are likely to suit it,
 * and shape inference decides: a node it refuses is dropped again.
 */
#include "tests/lib/graphs/gen_graph.h"

#include "base/core/vec.h"
#include "ir/infer/infer.h"
#include "ir/onnx/onnx.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_IN = 5, MAX_POOL_TRIES = 16 };

typedef struct Gen {
	PmGraph *g;
	PmRng rng;
	GenOpts o;
	PM_VEC(PmValue) pool;
	PmOp op;
	PmValue in[MAX_IN];
	size_t n_in, n_out;
	PmType x; /* type of operand 0 */
} Gen;

static int64_t draw(Gen *q, int64_t lo, int64_t hi)
{
	return pm_rng_range(&q->rng, lo, hi);
}

static int chance(Gen *q, int percent)
{
	return draw(q, 0, 99) < percent;
}

static int64_t draw_dim(Gen *q)
{
	if (q->o.zero_dims && chance(q, 3))
		return 0;
	return draw(q, 1, q->o.max_dim);
}

static int draw_float_dtype(Gen *q)
{
	static const int dtypes[] = { PM_F32, PM_F32, PM_F16, PM_BF16, PM_F64 };

	return q->o.float_only ? PM_F32 : dtypes[draw(q, 0, 4)];
}

static int draw_dtype(Gen *q, PmTypeClass cls)
{
	static const int ints[] = { PM_I64, PM_I32, PM_I8, PM_U8 };

	if (cls == PM_TYPES_INT)
		return ints[draw(q, 0, 3)];
	if (cls == PM_TYPES_BOOL || (cls == PM_TYPES_ANY && chance(q, 10)))
		return PM_BOOL;
	if (cls != PM_TYPES_FLT && !q->o.float_only && chance(q, 20))
		return ints[draw(q, 0, 3)];
	return draw_float_dtype(q);
}

static int suits(int dtype, PmTypeClass cls)
{
	if (cls == PM_TYPES_ANY)
		return 1;
	if (cls == PM_TYPES_BOOL)
		return dtype == PM_BOOL;
	if (cls == PM_TYPES_INT)
		return pm_dtype_is_int(dtype);
	return pm_dtype_is_float(dtype) || (cls == PM_TYPES_NUM && pm_dtype_is_int(dtype));
}

/* ---- sources ---- */

static PmValue new_input(Gen *q, int dtype, int rank, const int64_t *dim)
{
	PmType t = pm_type((PmDType)dtype, rank, dim);
	PmValue v = { 0 };

	pm_graph_add_input(q->g, NULL, &t, &v, NULL);
	PM_VEC_PUSH(&q->pool, v);
	return v;
}

static PmValue new_ints(Gen *q, const int64_t *v, int rank, int64_t n)
{
	PmType t = pm_type(PM_I64, rank, &n);
	PmValue r = { 0 };

	pm_graph_add_const(q->g, NULL, &t, pm_blob_copy(v, (size_t)n * 8), &r, NULL);
	return r;
}

/* A constant of the given type: small positive numbers. */
static PmValue new_const(Gen *q, int dtype, int rank, const int64_t *dim)
{
	PmType t = pm_type((PmDType)dtype, rank, dim);
	size_t size = pm_dtype_size(dtype), i;
	unsigned char *p;
	PmValue v = { 0 };
	int64_t n = 0;

	pm_type_numel(&t, &n, NULL);
	p = pm_xcalloc((size_t)n + 1, size);
	for (i = 0; i < (size_t)n; i++) {
		float f = (float)draw(q, 1, 8) / 4;
		double d = f;

		if (dtype == PM_F32)
			memcpy(p + 4 * i, &f, 4);
		else if (dtype == PM_F64)
			memcpy(p + 8 * i, &d, 8);
		else if (dtype == PM_F16)
			p[2 * i + 1] = (unsigned char)draw(q, 0x38, 0x40); /* 0.5 to 2 */
		else if (dtype == PM_BF16)
			p[2 * i + 1] = 0x3f;
		else
			p[size * i] = (unsigned char)draw(q, 0, 1);
	}
	pm_graph_add_const(q->g, NULL, &t, pm_blob_take(p, (size_t)n * size), &v, NULL);
	return v;
}

static PmValue new_source(Gen *q, int dtype, int rank, const int64_t *dim)
{
	return chance(q, 50) ? new_input(q, dtype, rank, dim) : new_const(q, dtype, rank, dim);
}

static PmValue fresh(Gen *q, int dtype, int rank_lo, int rank_hi)
{
	static const char *const names[] = { "N", "S", "T" };
	int64_t dim[PM_MAX_RANK];
	int i, rank = (int)draw(q, rank_lo, rank_hi);

	for (i = 0; i < rank; i++)
		dim[i] = q->o.symbols && chance(q, 15) ? pm_graph_symbol(q->g, names[draw(q, 0, 2)])
						       : draw_dim(q);
	return new_input(q, dtype, rank, dim);
}

/* A value of the class and at least that rank from the pool, or a new input. */
static PmValue pick(Gen *q, PmTypeClass cls, int rank_lo, int rank_hi)
{
	int i;

	for (i = 0; q->pool.n && i < MAX_POOL_TRIES; i++) {
		PmValue v = q->pool.v[draw(q, 0, (int64_t)q->pool.n - 1)];
		const PmType *t = pm_value_type(q->g, v);

		if (suits(t->dtype, cls) && t->rank >= rank_lo && t->rank <= rank_hi)
			return v;
	}
	return fresh(q, draw_dtype(q, cls), rank_lo, rank_hi);
}

/* An operand that broadcasts with x: from the pool when one fits, else with some dimensions 1 or left out. */
static PmValue mate(Gen *q, int dtype)
{
	int64_t dim[PM_MAX_RANK];
	int i, lead, rank = 0;

	for (i = 0; i < MAX_POOL_TRIES / 2; i++) {
		PmValue v = q->pool.v[draw(q, 0, (int64_t)q->pool.n - 1)];
		PmType t = *pm_value_type(q->g, v);

		if (t.dtype == dtype) {
			t.dtype = q->x.dtype;
			if (pm_type_equal(&t, &q->x))
				return v;
		}
	}
	lead = q->x.rank ? (int)draw(q, 0, q->x.rank) : 0;
	for (i = chance(q, 60) ? 0 : lead; i < q->x.rank; i++)
		dim[rank++] = chance(q, 25) ? 1 : q->x.dim[i];
	for (i = 0; i < rank; i++) {
		if (dim[i] < 0)
			return new_input(q, dtype, rank, dim);
	}
	return new_source(q, dtype, rank, dim);
}

/* ---- attributes ---- */

static void set_ints(Gen *q, PmNode n, const char *name, const int64_t *v, size_t cnt)
{
	pm_node_set_ints(q->g, n, name, v, cnt, NULL);
}

static int64_t positive(PmDim d)
{
	return d > 0 ? d : 1;
}

/* A random set of axes below `limit`, ascending, never empty unless limit is 0. */
static size_t draw_axes(Gen *q, int limit, int64_t *v)
{
	size_t n = 0;
	int i;

	for (i = 0; i < limit; i++) {
		if (chance(q, 40))
			v[n++] = i;
	}
	if (!n && limit)
		v[n++] = draw(q, 0, limit - 1);
	return n;
}

static void set_axes(Gen *q, PmNode n)
{
	int64_t v[PM_MAX_RANK];
	size_t cnt = 0;
	int i;

	if (q->op == PM_OP_Squeeze) {
		for (i = 0; i < q->x.rank; i++) {
			if (q->x.dim[i] == 1)
				v[cnt++] = i;
		}
	} else if (q->op == PM_OP_Unsqueeze) {
		if (q->x.rank < PM_MAX_RANK - 2)
			v[cnt++] = draw(q, 0, q->x.rank);
	} else {
		cnt = draw_axes(q, q->x.rank, v);
	}
	set_ints(q, n, "axes", v, cnt);
}

static void set_slice(Gen *q, PmNode n)
{
	int64_t axes[PM_MAX_RANK], starts[PM_MAX_RANK], ends[PM_MAX_RANK], steps[PM_MAX_RANK];
	size_t i, cnt = draw_axes(q, q->x.rank, axes);

	for (i = 0; i < cnt; i++) {
		int back = chance(q, 25);

		steps[i] = back ? -draw(q, 1, 2) : draw(q, 1, 2);
		starts[i] = back ? -1 : draw(q, 0, positive(q->x.dim[axes[i]]) - 1);
		ends[i] = back ? INT64_MIN : chance(q, 50) ? INT64_MAX : positive(q->x.dim[axes[i]]);
	}
	set_ints(q, n, "axes", axes, cnt);
	set_ints(q, n, "starts", starts, cnt);
	set_ints(q, n, "ends", ends, cnt);
	set_ints(q, n, "steps", steps, cnt);
}

static void set_split(Gen *q, PmNode n)
{
	int64_t axis = q->x.rank ? draw(q, 0, q->x.rank - 1) : 0, v[4] = { 0 };
	int64_t d = q->x.rank ? positive(q->x.dim[axis]) : 1;
	size_t i;

	for (i = 0; i + 1 < q->n_out; i++) {
		v[i] = draw(q, 0, d);
		d -= v[i];
	}
	v[i] = d;
	pm_node_set_i(q->g, n, "axis", axis, NULL);
	set_ints(q, n, "split", v, q->n_out);
}

static void set_perm(Gen *q, PmNode n)
{
	int64_t v[PM_MAX_RANK], t;
	int i, k;

	for (i = 0; i < q->x.rank; i++)
		v[i] = i;
	for (i = q->x.rank - 1; i > 0; i--) {
		k = (int)draw(q, 0, i);
		t = v[i];
		v[i] = v[k];
		v[k] = t;
	}
	set_ints(q, n, "perm", v, (size_t)q->x.rank);
}

static void set_window(Gen *q, PmNode n)
{
	int64_t strides[3], pads[6], dil[3], kernel[3];
	size_t i, sp = q->x.rank > 2 && q->x.rank < 6 ? (size_t)q->x.rank - 2 : 1;

	for (i = 0; i < sp; i++) {
		strides[i] = draw(q, 1, 2);
		dil[i] = 1;
		pads[i] = draw(q, 0, 1);
		pads[sp + i] = draw(q, 0, 1);
		kernel[i] = draw(q, 2, 3);
	}
	set_ints(q, n, "strides", strides, sp);
	set_ints(q, n, "pads", pads, sp * 2);
	set_ints(q, n, "dilations", dil, sp);
	if (q->op != PM_OP_Conv && q->op != PM_OP_ConvTranspose)
		set_ints(q, n, "kernel_shape", kernel, sp);
}

static void set_pads(Gen *q, PmNode n)
{
	static const char *const modes[] = { "constant", "reflect", "edge" };
	int64_t v[2 * PM_MAX_RANK];
	const char *mode = modes[draw(q, 0, 2)];
	int i, first = strcmp(mode, "constant") == 0;

	for (i = 0; i < q->x.rank; i++) {
		int64_t most = first ? 2 : positive(q->x.dim[i]) - 1;

		v[i] = draw(q, 0, most);
		v[q->x.rank + i] = draw(q, 0, most);
	}
	set_ints(q, n, "pads", v, (size_t)q->x.rank * 2);
	pm_node_set_s(q->g, n, "mode", mode, strlen(mode), NULL);
}

/* Attributes of rows without a rule of their own below: by name. */
static void set_plain(Gen *q, PmNode n)
{
	const PmOpDesc *d = pm_op_desc(q->op);
	int i;

	for (i = 0; i < d->n_attrs; i++) {
		const char *name = d->attrs[i].name;

		if (strcmp(name, "axes") == 0)
			set_axes(q, n);
		else if (strcmp(name, "axis") == 0 && q->x.rank)
			pm_node_set_i(q->g, n, name, draw(q, 0, q->x.rank - 1), NULL);
		else if (strcmp(name, "keepdims") == 0)
			pm_node_set_i(q->g, n, name, draw(q, 0, 1), NULL);
		else if (strcmp(name, "to") == 0)
			pm_node_set_i(q->g, n, name, pm_dtype_to_onnx(draw_dtype(q, PM_TYPES_NUM)), NULL);
		else if (strcmp(name, "dtype") == 0)
			pm_node_set_i(q->g, n, name, pm_dtype_to_onnx(draw_float_dtype(q)), NULL);
		else if (strcmp(name, "seed") == 0)
			pm_node_set_f(q->g, n, name, (double)draw(q, 0, 99), NULL);
		else if (strcmp(name, "end") == 0)
			pm_node_set_i(q->g, n, name, q->x.rank, NULL);
		else if (strcmp(name, "num_groups") == 0)
			pm_node_set_i(q->g, n, name, 1, NULL);
		else if (strcmp(name, "size") == 0)
			pm_node_set_i(q->g, n, name, 3, NULL);
	}
}

static void set_value(Gen *q, PmNode n)
{
	int dtype = draw_float_dtype(q);
	PmType t = pm_type((PmDType)dtype, 1, &(int64_t){ 1 });
	unsigned char zero[8] = { 0 };

	pm_node_set_tensor(q->g, n, "value", &t, pm_blob_copy(zero, pm_dtype_size(dtype)), NULL);
}

/* ---- operands after the first ---- */

static void add_in(Gen *q, PmValue v)
{
	if (q->n_in < MAX_IN)
		q->in[q->n_in++] = v;
}

static void ins_matmul(Gen *q)
{
	int64_t k = q->x.dim[q->x.rank - 1], dim[2];
	int64_t n = draw_dim(q);

	dim[0] = k;
	dim[1] = n;
	add_in(q, k < 0 ? new_input(q, q->x.dtype, 2, dim) : new_source(q, q->x.dtype, 2, dim));
	if (q->op == PM_OP_Gemm && chance(q, 50))
		add_in(q, new_source(q, q->x.dtype, 1, &n));
}

static void ins_conv(Gen *q)
{
	int64_t dim[5];
	int i;

	if (q->x.rank < 3 || q->x.rank > 5)
		return;
	dim[0] = draw_dim(q);
	dim[1] = positive(q->x.dim[1]);
	for (i = 2; i < q->x.rank; i++)
		dim[i] = draw(q, 1, 2);
	add_in(q, new_const(q, q->x.dtype, q->x.rank, dim));
	if (chance(q, 50))
		add_in(q, new_const(q, q->x.dtype, 1, dim));
}

static void ins_conv_transpose(Gen *q)
{
	int64_t dim[5];
	int i;

	dim[0] = positive(q->x.dim[1]);
	dim[1] = draw(q, 1, 3);
	for (i = 2; i < q->x.rank; i++)
		dim[i] = draw(q, 2, 3);
	add_in(q, new_const(q, q->x.dtype, q->x.rank, dim));
	if (chance(q, 50))
		add_in(q, new_const(q, q->x.dtype, 1, &dim[1]));
}

static void set_conv_transpose(Gen *q, PmNode n)
{
	int64_t more[3] = { 0 };

	set_window(q, n);
	set_ints(q, n, "output_padding", more, (size_t)q->x.rank - 2);
}

/* Sizes for every axis. */
static void ins_resize(Gen *q)
{
	int64_t v[PM_MAX_RANK];
	int i;

	for (i = 0; i < q->x.rank; i++)
		v[i] = i < 2 ? positive(q->x.dim[i]) : draw_dim(q);
	add_in(q, (PmValue){ 0 });
	add_in(q, (PmValue){ 0 });
	add_in(q, new_ints(q, v, 1, q->x.rank));
}

static void set_resize(Gen *q, PmNode n)
{
	static const char *const modes[] = { "nearest", "linear", "cubic" };
	static const char *const coords[] = { "half_pixel", "align_corners", "asymmetric",
					      "pytorch_half_pixel" };
	const char *mode = modes[draw(q, 0, 2)], *coord = coords[draw(q, 0, 3)];

	pm_node_set_s(q->g, n, "mode", mode, strlen(mode), NULL);
	pm_node_set_s(q->g, n, "coordinate_transformation_mode", coord, strlen(coord), NULL);
	pm_node_set_i(q->g, n, "antialias", draw(q, 0, 1), NULL);
}

/* The last dimension is that of a complex number. */
static void set_dft(Gen *q, PmNode n)
{
	pm_node_set_i(q->g, n, "axis", draw(q, 0, q->x.rank - 2), NULL);
	pm_node_set_i(q->g, n, "inverse", draw(q, 0, 1), NULL);
}

static void set_blocks(Gen *q, PmNode n)
{
	pm_node_set_i(q->g, n, "blocksize", draw(q, 1, 2), NULL);
}

static void ins_per_channel(Gen *q)
{
	int64_t c = q->x.rank > 1 ? positive(q->x.dim[1]) : 1;
	int k;

	for (k = 0; k < 4; k++)
		add_in(q, new_const(q, q->x.dtype, 1, &c));
}

static void ins_two_per_channel(Gen *q)
{
	int64_t c = q->x.rank > 1 ? positive(q->x.dim[1]) : 1;
	int k;

	for (k = 0; k < 2; k++)
		add_in(q, new_const(q, q->x.dtype, 1, &c));
}

static void ins_axis(Gen *q)
{
	int64_t v = draw(q, -q->x.rank, q->x.rank - 1);

	add_in(q, new_ints(q, &v, 0, 1));
}

/* A product of matrices, possibly of many, or the sum of each row. */
static void ins_einsum(Gen *q)
{
	if (q->x.rank == 2 && chance(q, 50))
		ins_matmul(q);
}

static void set_equation(Gen *q, PmNode n)
{
	const char *s = q->n_in == 2 ? "ij,jk->ki" : "...i->...";

	pm_node_set_s(q->g, n, "equation", s, strlen(s), NULL);
}

static void ins_layer_norm(Gen *q)
{
	int64_t d = q->x.rank ? positive(q->x.dim[q->x.rank - 1]) : 1;

	add_in(q, new_source(q, q->x.dtype, 1, &d));
	if (q->op == PM_OP_LayerNormalization && chance(q, 50))
		add_in(q, new_const(q, q->x.dtype, 1, &d));
}

static void ins_gather(Gen *q)
{
	int64_t v[4], n = draw(q, 1, 4);
	int i;

	for (i = 0; i < n; i++)
		v[i] = -(i & 1); /* 0 and -1 are within every axis that is not empty */
	add_in(q, new_ints(q, v, (int)draw(q, 0, 1), n));
}

/* Indices and, when the operator scatters, updates: of the shape of x, with one entry along the axis 0. */
static void ins_elements(Gen *q)
{
	int64_t v[64] = { 0 }, n = 1;
	int i;
	PmType t = pm_type(PM_I64, q->x.rank, q->x.dim);
	PmValue r = { 0 };

	t.dim[0] = 1;
	for (i = 0; i < t.rank; i++) {
		t.dim[i] = positive(t.dim[i]) < 3 ? positive(t.dim[i]) : 2;
		n *= t.dim[i];
	}
	for (i = 0; i < 64; i++)
		v[i] = -(i & 1);
	pm_graph_add_const(q->g, NULL, &t, pm_blob_copy(v, (size_t)n * 8), &r, NULL);
	add_in(q, r);
	if (q->op == PM_OP_ScatterElements)
		add_in(q, new_source(q, q->x.dtype, t.rank, t.dim));
}

/* Tuples of one index, which name rows of x. */
static void ins_tuples(Gen *q)
{
	int64_t v[4] = { 0, -1, 0, -1 }, dim[PM_MAX_RANK], n = draw(q, 1, 4);
	PmType t;
	PmValue r = { 0 };
	int i;

	/* What becomes of a row that is scattered to twice is open: each row is named once. */
	if (q->op == PM_OP_ScatterND) {
		n = n < positive(q->x.dim[0]) ? n : positive(q->x.dim[0]);
		v[2] = 1;
		v[3] = -2;
	}
	t = pm_type(PM_I64, 2, (int64_t[]){ n, 1 });
	pm_graph_add_const(q->g, NULL, &t, pm_blob_copy(v, (size_t)n * 8), &r, NULL);
	add_in(q, r);
	if (q->op != PM_OP_ScatterND)
		return;
	dim[0] = n;
	for (i = 1; i < q->x.rank; i++)
		dim[i] = positive(q->x.dim[i]);
	add_in(q, new_source(q, q->x.dtype, q->x.rank, dim));
}

static void ins_shape(Gen *q)
{
	int64_t v[PM_MAX_RANK + 1];
	int i, n = q->x.rank;

	for (i = 0; i < n; i++)
		v[i] = q->op == PM_OP_Tile                         ? draw(q, 1, 2)
		       : q->op == PM_OP_Expand && q->x.dim[i] == 1 ? draw_dim(q)
								   : positive(q->x.dim[i]);
	if (q->op == PM_OP_Reshape) {
		/* Merge the last two dimensions, or keep some by 0 and let one be found. */
		if (n >= 2 && chance(q, 60))
			v[--n - 1] = -1;
		else if (n)
			v[draw(q, 0, n - 1)] = chance(q, 50) ? 0 : -1;
	}
	add_in(q, new_ints(q, v, 1, n));
}

/* TopK: one entry, which every axis that is not empty has. OneHot: the depth, and the two values. */
static void ins_count(Gen *q)
{
	int64_t v = q->op == PM_OP_TopK ? 1 : 3, two = 2;

	add_in(q, new_ints(q, &v, 1, 1));
	if (q->op == PM_OP_OneHot)
		add_in(q, new_const(q, draw_float_dtype(q), 1, &two));
}

static void ins_lengths(Gen *q)
{
	int64_t v[64], n = positive(q->x.dim[1]), i;

	for (i = 0; i < n && i < 64; i++)
		v[i] = i & 1;
	add_in(q, new_ints(q, v, 1, n < 64 ? n : 64));
}

static void ins_bounds(Gen *q)
{
	add_in(q, new_const(q, q->x.dtype, 0, NULL));
	if (chance(q, 50))
		add_in(q, new_const(q, q->x.dtype, 0, NULL));
}

static void ins_default(Gen *q)
{
	const PmOpDesc *d = pm_op_desc(q->op);
	size_t want = (size_t)d->in_min;
	int dtype = q->x.dtype;

	if (d->in_max < 0)
		want = (size_t)draw(q, 1, 3);
	if (q->op == PM_OP_Where)
		dtype = draw_dtype(q, PM_TYPES_NUM);
	while (q->n_in < want)
		add_in(q, mate(q, dtype));
}

/* Concat and friends: the same type again. */
static void ins_same(Gen *q)
{
	size_t want = (size_t)draw(q, 1, 3);

	while (q->n_in < want)
		add_in(q,
		       pm_type_is_static(&q->x) ? new_source(q, q->x.dtype, q->x.rank, q->x.dim) : q->in[0]);
}

/* A scale for all elements, and half of the time a zero point. */
static void ins_quantize(Gen *q)
{
	int back = q->op == PM_OP_DequantizeLinear;

	add_in(q, new_const(q, back ? PM_F32 : q->x.dtype, 0, NULL));
	if (chance(q, 50))
		add_in(q, new_const(q, back ? q->x.dtype : PM_I8, 0, NULL));
}

/* A grid of as many coordinates as the input has spatial dimensions, one or two places in each. */
static void ins_grid(Gen *q)
{
	int64_t dim[PM_MAX_RANK];
	int k;

	for (k = 1; k < q->x.rank - 1; k++)
		dim[k] = draw(q, 1, 2);
	dim[0] = q->x.dim[0];
	dim[k] = q->x.rank - 2;
	add_in(q, new_input(q, q->x.dtype, q->x.rank, dim));
}

static void ins_regions(Gen *q)
{
	int64_t dim[2] = { 2, 4 }, batch[2] = { 0, 0 };

	add_in(q, new_input(q, q->x.dtype, 2, dim));
	add_in(q, new_ints(q, batch, 1, 2));
}

static void set_grid(Gen *q, PmNode n)
{
	static const char *const modes[] = { "linear", "nearest", "cubic" }, *const paddings[] = {
		"zeros", "border", "reflection"
	};
	const char *mode = modes[draw(q, 0, 2)], *padding = paddings[draw(q, 0, 2)];

	pm_node_set_s(q->g, n, "mode", mode, strlen(mode), NULL);
	pm_node_set_s(q->g, n, "padding_mode", padding, strlen(padding), NULL);
	pm_node_set_i(q->g, n, "align_corners", draw(q, 0, 1), NULL);
}

/* Blocks of one element: the image is the row of columns. */
static void set_col2im(Gen *q, PmNode n)
{
	int64_t one = 1, none[2] = { 0, 0 }, size = q->x.rank == 3 ? positive(q->x.dim[2]) : 1;

	set_ints(q, n, "image_shape", &size, 1);
	set_ints(q, n, "block_shape", &one, 1);
	set_ints(q, n, "dilations", &one, 1);
	set_ints(q, n, "pads", none, 2);
	set_ints(q, n, "strides", &one, 1);
}

/* ---- one node ---- */

typedef struct Recipe {
	int rank_lo, rank_hi; /* of operand 0 */
	void (*operands)(Gen *);
	void (*attrs)(Gen *, PmNode);
} Recipe;

static const Recipe recipes[PM_N_OPS] = {
	[PM_OP_MatMul] = { 1, 4, ins_matmul, set_plain },
	[PM_OP_Gemm] = { 2, 2, ins_matmul, set_plain },
	[PM_OP_Conv] = { 3, 5, ins_conv, set_window },
	[PM_OP_ConvTranspose] = { 3, 5, ins_conv_transpose, set_conv_transpose },
	[PM_OP_Resize] = { 2, 4, ins_resize, set_resize },
	[PM_OP_DFT] = { 2, 4, ins_default, set_dft },
	[PM_OP_Trilu] = { 2, 4, ins_default, set_plain },
	[PM_OP_DepthToSpace] = { 4, 4, ins_default, set_blocks },
	[PM_OP_SpaceToDepth] = { 4, 4, ins_default, set_blocks },
	[PM_OP_MaxPool] = { 3, 5, ins_default, set_window },
	[PM_OP_AveragePool] = { 3, 5, ins_default, set_window },
	[PM_OP_GlobalAveragePool] = { 3, 5, ins_default, set_plain },
	[PM_OP_GlobalMaxPool] = { 3, 5, ins_default, set_plain },
	[PM_OP_LRN] = { 3, 4, ins_default, set_plain },
	[PM_OP_BatchNormalization] = { 2, 4, ins_per_channel, set_plain },
	[PM_OP_InstanceNormalization] = { 3, 4, ins_two_per_channel, set_plain },
	[PM_OP_GroupNormalization] = { 3, 4, ins_two_per_channel, set_plain },
	[PM_OP_CumSum] = { 1, 4, ins_axis, set_plain },
	[PM_OP_Einsum] = { 1, 4, ins_einsum, set_equation },
	[PM_OP_LayerNormalization] = { 1, 4, ins_layer_norm, set_plain },
	[PM_OP_RMSNormalization] = { 1, 4, ins_layer_norm, set_plain },
	[PM_OP_QuantizeLinear] = { 0, 4, ins_quantize, set_plain },
	[PM_OP_DequantizeLinear] = { 0, 4, ins_quantize, set_plain },
	[PM_OP_GridSample] = { 3, 4, ins_grid, set_grid },
	[PM_OP_RoiAlign] = { 4, 4, ins_regions, set_plain },
	[PM_OP_Col2Im] = { 3, 3, ins_default, set_col2im },
	[PM_OP_Det] = { 2, 4, ins_default, set_plain },
	[PM_OP_Gather] = { 1, 4, ins_gather, set_plain },
	[PM_OP_GatherElements] = { 1, 4, ins_elements, set_plain },
	[PM_OP_ScatterElements] = { 1, 4, ins_elements, set_plain },
	[PM_OP_GatherND] = { 1, 4, ins_tuples, set_plain },
	[PM_OP_ScatterND] = { 1, 4, ins_tuples, set_plain },
	[PM_OP_Reshape] = { 0, 4, ins_shape, set_plain },
	[PM_OP_Expand] = { 0, 4, ins_shape, set_plain },
	[PM_OP_Tile] = { 1, 4, ins_shape, set_plain },
	[PM_OP_Clip] = { 0, 4, ins_bounds, set_plain },
	[PM_OP_Concat] = { 1, 4, ins_same, set_plain },
	[PM_OP_Transpose] = { 0, 4, ins_default, set_perm },
	[PM_OP_Slice] = { 1, 4, ins_default, set_slice },
	[PM_OP_Split] = { 1, 4, ins_default, set_split },
	[PM_OP_Pad] = { 1, 4, ins_default, set_pads },
	[PM_OP_TopK] = { 1, 4, ins_count, set_plain },
	[PM_OP_OneHot] = { 1, 3, ins_count, set_plain },
	[PM_OP_ReverseSequence] = { 2, 4, ins_lengths, set_plain },
	[PM_OP_EyeLike] = { 2, 2, ins_default, set_plain },
	[PM_OP_ConstantOfShape] = { 1, 1, ins_default, set_value },
};

static PmOp draw_op(Gen *q)
{
	for (;;) {
		/* Any but BitCast: two results that differ by a rounding have other bits. */
		int drawn = (int)draw(q, PM_OP_NONE + 1, PM_N_OPS - 2);
		PmOp op = (PmOp)(drawn + (drawn >= PM_OP_BitCast));

		/* What is as large as its data say cannot be planned. */
		if (!(pm_op_desc(op)->flags & (PM_OPF_OPAQUE | PM_OPF_KERNEL | PM_OPF_DATA)))
			return op;
	}
}

static void first_operand(Gen *q, const Recipe *r)
{
	int64_t v[2] = { 2, 3 };

	q->n_in = 0;
	if (q->op == PM_OP_ConstantOfShape)
		add_in(q, new_ints(q, v, 1, 2));
	else
		add_in(q, pick(q, pm_op_desc(q->op)->types, r->rank_lo, r->operands ? r->rank_hi : 5));
	q->x = *pm_value_type(q->g, q->in[0]);
}

static int acceptable(Gen *q, PmNode n)
{
	size_t k;
	int64_t numel;

	if (pm_infer_node(q->g, n, NULL))
		return 0;
	for (k = 0; k < pm_node_n_out(q->g, n); k++) {
		const PmType *t = pm_value_type(q->g, pm_node_out(q->g, n, k));

		if (t->rank > 5 ||
		    (pm_type_is_static(t) && (pm_type_numel(t, &numel, NULL) || numel > q->o.max_numel)))
			return 0;
	}
	return 1;
}

static int try_node(Gen *q)
{
	const Recipe *r;
	PmNode n;
	size_t k;

	q->op = draw_op(q);
	r = &recipes[q->op];
	first_operand(q, r);
	(r->operands ? r->operands : ins_default)(q);
	q->n_out = (size_t)pm_op_desc(q->op)->out_min;
	if (q->op == PM_OP_Split)
		q->n_out = (size_t)draw(q, 1, 3);
	else if (q->op == PM_OP_MaxPool || q->op == PM_OP_LayerNormalization || q->op == PM_OP_TopK)
		q->n_out = chance(q, 20) ? 2 : 1;
	if (pm_graph_add_node(q->g, q->op, q->in, q->n_in, q->n_out, &n, NULL))
		return 0;
	(r->attrs ? r->attrs : set_plain)(q, n);
	if (q->op == PM_OP_LayerNormalization || q->op == PM_OP_RMSNormalization)
		pm_node_set_i(q->g, n, "axis", q->x.rank - 1, NULL);
	pm_node_fill_defaults(q->g, n, NULL);
	if (!acceptable(q, n)) {
		pm_graph_kill_node(q->g, n, NULL);
		return 0;
	}
	for (k = 0; k < q->n_out; k++)
		PM_VEC_PUSH(&q->pool, pm_node_out(q->g, n, k));
	return 1;
}

PmGraph *gen_graph(const GenOpts *o)
{
	Gen q;
	int made = 0, tries = 0;
	size_t i, k;

	memset(&q, 0, sizeof q);
	q.o = *o;
	q.o.max_dim = o->max_dim ? o->max_dim : 5;
	q.o.max_numel = o->max_numel ? o->max_numel : 4096;
	q.g = pm_graph_new(0);
	pm_rng_init_named(&q.rng, o->seed, "gen_graph");
	fresh(&q, PM_F32, 2, 3);
	while (made < o->n_nodes && tries++ < o->n_nodes * 20)
		made += try_node(&q);
	for (i = 0; i < pm_graph_n_nodes(q.g); i++) {
		PmNode n = pm_graph_node_at(q.g, i);

		for (k = 0; k < pm_node_n_out(q.g, n); k++) {
			if (!pm_value_n_uses(q.g, pm_node_out(q.g, n, k)))
				pm_graph_add_output(q.g, pm_node_out(q.g, n, k), NULL);
		}
	}
	PM_VEC_RELEASE(&q.pool);
	return q.g;
}
