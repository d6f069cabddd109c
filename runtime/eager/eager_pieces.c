/* SPDX-License-Identifier: Apache-2.0 */
/* eager_pieces.c - results put together from pieces of operands: Concat, Gather, Pad, Tile, DepthToSpace. */
#include "runtime/exec/plan_priv.h"

#include "kernels/gather.cu.h"
#include "kernels/pad.cu.h"

#include <stdio.h>
#include <string.h>

static PmValue in0(const PmPlan *p, PmNode n)
{
	return pm_node_in(p->g, n, 0);
}

enum {
	CONCAT_MAX = 32,      /* operands of one concatenation kernel, */
	CONCAT_LARGE = 8,     /* and of one with a large result: each thread looks through them, */
	LARGE_NUMEL = 1 << 22 /* which counts for more than a launch there, by instructions */
};

/* How many vectors of v elements a thread moves: several when they are short, to have more loads under way.
 */
static int moves(int64_t vectors, int v, int dtype)
{
	return vectors > 1 << 18 && v * (int)pm_dtype_size(dtype) < 16 ? 4 : 1;
}

static PmGrid move_grid(int64_t vectors, int u)
{
	return (PmGrid){ (vectors + PM__BLOCK * u - 1) / (PM__BLOCK * u), 1, PM__BLOCK };
}

/* Operands of one launch, as [dimensions before the axis, axis, dimensions behind it]; when the rows of all
 * of them lie together, axis and what is behind it are one dimension, which vectors of V elements are moved
 * along. */
typedef struct Concat {
	PmSpace before, behind;
	int64_t extent[CONCAT_MAX], step[CONCAT_MAX], inner,
		whole; /* along the axis; `whole`: of the result */
	int v;
} Concat;

static void concat_shape(const PmPlan *p, PmNode n, size_t first, int count, int axis, int64_t at, Concat *c)
{
	const PmType *t = pm__type(p, pm_node_out(p->g, n, 0));
	const int64_t *rows[CONCAT_MAX], *tails[CONCAT_MAX];
	int flat = 1;

	for (int i = 0; i < count; i++) {
		PmValue v = pm_node_in(p->g, n, first + (size_t)i);

		rows[i] = pm__loc(p, v)->stride;
		tails[i] = rows[i] + axis + 1;
		c->extent[i] = pm__type(p, v)->dim[axis];
		c->step[i] = rows[i][axis];
	}
	pm__space(&c->before, t->dim, axis, rows, count);
	pm__space(&c->behind, t->dim + axis + 1, t->rank - axis - 1, tails, count);
	c->inner = c->behind.total;
	c->whole = t->dim[axis];
	c->v = 16 / (int)pm_dtype_size(t->dtype);
	for (int i = 0; i < count; i++)
		flat &= c->behind.rank == 1 && (c->inner == 1 || c->behind.stride[i][0] == 1) &&
			(c->extent[i] == 1 || c->step[i] == c->inner);
	if (!flat) {
		c->v = 1;
		return;
	}
	for (int i = 0; i < count; i++) {
		int64_t off = pm__loc(p, pm_node_in(p->g, n, first + (size_t)i))->off;

		c->extent[i] *= c->inner;
		c->step[i] = 1;
		while (c->extent[i] % c->v || off % c->v)
			c->v /= 2;
		for (int d = 0; d < c->before.rank; d++)
			while (c->before.stride[i][d] % c->v)
				c->v /= 2;
	}
	c->whole *= c->inner;
	while (c->whole % c->v || at * c->inner % c->v)
		c->v /= 2;
	c->inner = 1;
}

/* Describes the launch for `count` operands, written from position `at` of the axis on; the grid of it. */
static PmGrid describe_concat(KGen *k, PmStr *body, size_t first, int count, int64_t at)
{
	PmPlan *p = k->p;
	PmValue y = pm_node_out(p->g, k->node, 0);
	const PmType *t = pm__type(p, y);
	int axis = (int)pm_node_i(p->g, k->node, "axis", 0), u;
	int64_t inner = 1, extent = 0, from = 0, threads;
	char name[96];
	Concat c;

	for (int d = axis + 1; d < t->rank; d++)
		inner *= t->dim[d];
	concat_shape(p, k->node, first, count, axis, at, &c);
	for (int i = 0; i < count; i++)
		extent += c.extent[i];
	threads = c.before.total * extent / c.v * c.inner;
	pm__kg_define(k, "V", "%d", c.v);
	pm__kg_define(k, "X", "%s", pm__ctype(t->dtype));
	pm__kg_out(k, "y", pm__loc(p, y), t->dtype, threads * c.v);
	pm__kg_int(k, "total", threads);
	pm__kg_int(k, "at", at * (inner / c.inner));
	pm__kg_int(k, "ys", c.whole * c.inner);
	pm__kg_divisor(k, "inner", c.inner);
	pm__kg_divisor(k, "extent", extent / c.v);
	pm__kg_put_space(k, "o", &c.before);
	pm__kg_put_space(k, "r", &c.behind);
	u = moves(threads, c.v, t->dtype);
	pm__kg_define(k, "U", "%d", u);
	pm_str_addf(body,
		    "KERNEL\n{\n\tpm_vec<X, V> v[U];\n\tI to[U];\n\n#pragma unroll\n"
		    "\tfor (int u = 0; u < U; u++) {\n"
		    "\t\tconst I t = (I)blockIdx.x * (B * U) + u * B + (I)threadIdx.x;\n"
		    "%s\t\tconst I q = Q_extent(s), j = (s - q * extent) * V;\n"
		    "\t\tconst X *from = x0 + OFF_o_0(q) + j * step0%s;\n\n"
		    "\t\tto[u] = t < total ? q * ys + (at + j) * inner + r : -1;\n",
		    c.inner == 1 ? "\t\tconst I s = t, r = 0;\n"
				 : "\t\tconst I s = Q_inner(t), r = t - s * inner;\n",
		    c.inner == 1 ? "" : " + OFF_r_0(r)");
	for (int i = 0; i < count; i++) {
		PmValue v = pm_node_in(p->g, k->node, first + (size_t)i);

		snprintf(name, sizeof name, "x%d", i);
		pm__kg_in(k, name, pm__loc(p, v), t->dtype, pm__distinct(pm__type(p, v), pm__loc(p, v)));
		snprintf(name, sizeof name, "step%d", i);
		pm__kg_int(k, name, c.step[i]);
		snprintf(name, sizeof name, "from%d", i);
		pm__kg_int(k, name, from);
		from += c.extent[i];
		if (!i)
			continue;
		pm_str_addf(body,
			    "\t\tif (j >= from%d)\n"
			    "\t\t\tfrom = x%d + OFF_o_%d(q) + (j - from%d) * step%d",
			    i, i, i, i, i);
		if (c.inner > 1)
			pm_str_addf(body, " + OFF_r_%d(r)", i);
		pm_str_add(body, ";\n");
	}
	pm_str_add(body, "\t\tif (t < total)\n\t\t\tv[u] = pm_get<V>(from);\n\t}\n#pragma unroll\n"
			 "\tfor (int u = 0; u < U; u++)\n\t\tif (to[u] >= 0)\n"
			 "\t\t\tpm_put(y + to[u], v[u]);\n}\n");
	return move_grid(threads, u);
}

/* One launch for *count operands, or for as many of them as it has arguments for. */
static PmStatus concat_some(PmPlan *p, PmNode n, size_t first, int *count, int64_t at, PmErr *err)
{
	int dtype = pm__type(p, pm_node_out(p->g, n, 0))->dtype, args;
	PmStr body = PM_STR_INIT;
	PmStatus st;
	char name[96];
	PmGrid grid;
	KGen k;

	for (;;) {
		pm__kg_init(&k, p, n, dtype);
		grid = describe_concat(&k, &body, first, *count, at);
		args = (int)k.args.n;
		if (args <= PM_MAX_KERNEL_ARGS)
			break;
		*count = *count * PM_MAX_KERNEL_ARGS / args;
		pm__kg_release(&k);
		pm_str_clear(&body);
	}
	snprintf(name, sizeof name, "eager Concat %s", pm_dtype_name((PmDType)dtype));
	st = pm__kg_launch_grid(&k, name, body.s, grid, 0, err);
	pm_str_release(&body);
	return st;
}

/* Where an operand goes in the result that begins at `at` of the axis. */
static Loc piece(const PmPlan *p, PmNode n, int64_t at)
{
	Loc to = *pm__loc(p, pm_node_out(p->g, n, 0));

	to.off += at * to.stride[pm_node_i(p->g, n, "axis", 0)];
	return to;
}

/* Whether operand i is moved by a launch of its own. A thread for each element reads a sector for one, where
 * the operand's neighbours are not the result's: of so many elements that takes longer than a launch. */
static int goes_across(const PmPlan *p, PmNode n, size_t i)
{
	enum { MANY = 1 << 18 };
	PmValue v = pm_node_in(p->g, n, i);
	const Loc to = piece(p, n, 0);

	return pm__numel(p, v) >= MANY && pm__lies_across(pm__type(p, v), pm__loc(p, v), &to);
}

static PmStatus concat_across(PmPlan *p, PmNode n, size_t i, int64_t at, PmErr *err)
{
	PmValue v = pm_node_in(p->g, n, i);
	const PmType *t = pm__type(p, v);
	const Loc to = piece(p, n, at);
	char label[96];

	snprintf(label, sizeof label, "eager Concat %s", pm_dtype_name((PmDType)t->dtype));
	return pm__move_across(p, n, label, t, pm__loc(p, v), &to, err);
}

PmStatus eager_concat(PmPlan *p, PmNode n, PmErr *err)
{
	PmStatus st = pm__place(p, pm_node_out(p->g, n, 0), err);
	size_t n_in = pm_node_n_in(p->g, n),
	       most = pm__numel(p, pm_node_out(p->g, n, 0)) > LARGE_NUMEL ? CONCAT_LARGE : CONCAT_MAX;
	int64_t axis = pm_node_i(p->g, n, "axis", 0), at = 0;

	for (size_t i = 0; i < n_in && !st;) {
		int count = 0;

		while (i + (size_t)count < n_in && (size_t)count < most &&
		       !goes_across(p, n, i + (size_t)count))
			count++;
		if (count)
			st = concat_some(p, n, i, &count, at, err);
		else
			st = concat_across(p, n, i, at, err), count = 1;
		for (; count; count--)
			at += pm__type(p, pm_node_in(p->g, n, i++))->dim[axis];
	}
	return st;
}

/* With one index that is known the result is a view, as a slice is. */
static int picks_one(PmPlan *p, PmNode n, Loc *out)
{
	PmValue x = in0(p, n), idx = pm_node_in(p->g, n, 1);
	const PmType *t = pm__type(p, x), *it = pm__type(p, idx);
	int axis = (int)pm_node_i(p->g, n, "axis", 0);
	int64_t i, *to = out->stride;
	size_t count = 0;

	if (pm__numel(p, idx) != 1 || !pm__numel(p, x) ||
	    pm_value_const_ints(p->g, idx, &i, 1, &count) != PM_OK || count != 1)
		return 0;
	i += i < 0 ? t->dim[axis] : 0;
	if (i < 0 || i >= t->dim[axis])
		return 0;
	*out = *pm__loc(p, x);
	out->off += i * out->stride[axis];
	for (int d = 0; d < axis; d++)
		*to++ = pm__loc(p, x)->stride[d];
	for (int d = 0; d < it->rank; d++)
		*to++ = 0;
	for (int d = axis + 1; d < t->rank; d++)
		*to++ = pm__loc(p, x)->stride[d];
	return 1;
}

PmStatus eager_gather(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = in0(p, n), idx = pm_node_in(p->g, n, 1), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x), *it = pm__type(p, idx);
	const int64_t *xs = pm__loc(p, x)->stride, *is = pm__loc(p, idx)->stride, *tail;
	int axis = (int)pm_node_i(p->g, n, "axis", 0), v, u;
	int64_t distinct;
	char label[96];
	PmSpace o, r;
	PmStatus st;
	Loc one;
	KGen k;

	if (picks_one(p, n, &one)) {
		pm__place_view(p, n, y, &one);
		return PM_OK;
	}
	st = pm__place(p, y, err);
	if (st)
		return st;
	tail = xs + axis + 1;
	pm__space(&o, t->dim, axis, &xs, 1);
	pm__space(&r, t->dim + axis + 1, t->rank - axis - 1, &tail, 1);
	v = pm__space_width(&r, 0, pm__loc(p, x)->off, 16 / (int)pm_dtype_size(t->dtype));
	while (xs[axis] % v)
		v /= 2;
	for (int d = 0; d < o.rank; d++)
		while (o.stride[0][d] % v)
			v /= 2;
	distinct = pm__distinct(t, pm__loc(p, x));
	pm__kg_init(&k, p, n, t->dtype);
	u = moves(pm__numel(p, y) / v, v, t->dtype);
	pm__kg_define(&k, "V", "%d", v);
	pm__kg_define(&k, "U", "%d", u);
	pm__kg_define(&k, "X", "%s", pm__ctype(t->dtype));
	pm__kg_out(&k, "y", pm__loc(p, y), t->dtype, pm__numel(p, y));
	/* At most what the result needs is read. */
	pm__kg_in(&k, "x", pm__loc(p, x), t->dtype, pm__numel(p, y) < distinct ? pm__numel(p, y) : distinct);
	pm__kg_in(&k, "idx", pm__loc(p, idx), it->dtype, pm__numel(p, idx));
	pm__kg_put_space(&k, "o", &o);
	pm__kg_space(&k, "i", it->dim, it->rank, &is, 1);
	pm__kg_put_space(&k, "r", &r);
	pm__kg_divisor(&k, "len", r.total / v);
	pm__kg_divisor(&k, "picks", pm__numel(p, idx));
	pm__kg_int(&k, "axis_dim", t->dim[axis]);
	pm__kg_int(&k, "axis_stride", xs[axis]);
	pm__kg_int(&k, "total", pm__numel(p, y) / v);
	snprintf(label, sizeof label, "eager Gather %s", pm_dtype_name(t->dtype));
	return pm__kg_launch_grid(&k, label, gather_cu, move_grid(pm__numel(p, y) / v, u), 0, err);
}

/* Dimensions of a padding, those side by side that are not padded merged where x walks them as one. */
typedef struct Pad {
	int64_t yd[PM_MAX_RANK], xd[PM_MAX_RANK], xs[PM_MAX_RANK], lo[PM_MAX_RANK];
	int rank;
} Pad;

static void pad_dims(Pad *a, const PmType *x, const PmType *y, const int64_t *stride, const int64_t *pads)
{
	int whole = 0;

	a->rank = 0;
	for (int d = 0; d < x->rank; d++) {
		int same = pads[d] == 0 && x->dim[d] == y->dim[d], r = a->rank;

		if (same && whole && a->xs[r - 1] == stride[d] * x->dim[d]) {
			a->yd[r - 1] *= y->dim[d];
			a->xd[r - 1] *= x->dim[d];
			a->xs[r - 1] = stride[d];
			continue;
		}
		a->yd[r] = y->dim[d];
		a->xd[r] = x->dim[d];
		a->xs[r] = stride[d];
		a->lo[r] = pads[d];
		a->rank++;
		whole = same;
	}
}

PmStatus eager_pad(PmPlan *p, PmNode n, PmErr *err)
{
	enum { LARGE = 1 << 18, U = 4 };
	PmValue x = in0(p, n), value = pm_node_in(p->g, n, 1), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x);
	const char *mode = pm_node_s(p->g, n, "mode", "constant");
	int64_t total = pm__numel(p, y);
	const int64_t *pads;
	PmStatus st = pm__place(p, y, err);
	char label[96];
	int u = total > LARGE ? U : 1;
	Pad a;
	KGen k;

	if (st)
		return st;
	if (!t->rank)
		return pm__place_view(p, n, y, pm__loc(p, x)), PM_OK;
	if (strcmp(mode, "constant") && strcmp(mode, "edge") && strcmp(mode, "reflect"))
		return pm_err(err, PM_E_UNSUPPORTED, "Node %u (Pad) has mode '%.40s', which has no kernel.",
			      n.id, mode);
	pm_node_ints(p->g, n, "pads", &pads);
	pad_dims(&a, t, pm__type(p, y), pm__loc(p, x)->stride, pads);
	pm__kg_init(&k, p, n, t->dtype);
	pm__kg_define(&k, "U", "%d", u);
	pm__kg_define(&k, "MODE", "%d", !strcmp(mode, "constant") ? 0 : (!strcmp(mode, "edge") ? 1 : 2));
	pm__kg_define(&k, "X", "%s", pm__ctype(t->dtype));
	pm__kg_out(&k, "y", pm__loc(p, y), t->dtype, total);
	pm__kg_in(&k, "x", pm__loc(p, x), t->dtype, pm__distinct(t, pm__loc(p, x)));
	if (value.id) {
		pm__kg_define(&k, "HAS_VALUE", "1");
		pm__kg_in(&k, "value", pm__loc(p, value), t->dtype, 1);
	}
	for (int d = 1; d < a.rank; d++) {
		snprintf(label, sizeof label, "yd_%d", d);
		pm__kg_divisor(&k, label, a.yd[d]);
	}
	pm__kg_list(&k, "xd", a.xd, a.rank);
	pm__kg_list(&k, "xs", a.xs, a.rank);
	pm__kg_list(&k, "lo", a.lo, a.rank);
	pm__kg_int(&k, "total", total);
	pm_str_add(&k.head, "#define DIMS");
	for (int d = a.rank - 1; d > 0; d--)
		pm_str_addf(&k.head, " DIM(%d)", d);
	pm_str_addc(&k.head, '\n');
	snprintf(label, sizeof label, "eager Pad %s", pm_dtype_name(t->dtype));
	return pm__kg_launch_grid(&k, label, pad_cu,
				  (PmGrid){ (total + PM__BLOCK * u - 1) / (PM__BLOCK * u), 1, PM__BLOCK }, 0,
				  err);
}

/* Each dimension of extent d repeated r times is the pair (r, d) walked with strides (0, s). */
PmStatus eager_tile(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = in0(p, n), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x), *yt = pm__type(p, y);
	int64_t dims[2 * PM_MAX_RANK];
	PmVecOut out = { .dtype = t->dtype, .dim = dims };
	PmVecIn in = { .loc = pm__loc(p, x), .dtype = t->dtype, .numel = pm__distinct(t, pm__loc(p, x)) };
	PmStatus st = pm__place(p, y, err);
	char label[96];

	if (st)
		return st;
	out.loc = pm__loc(p, y);
	for (int d = 0; d < t->rank; d++) {
		int64_t times = t->dim[d] ? yt->dim[d] / t->dim[d] : 0;

		if (times != 1)
			dims[out.rank++] = times;
		if (t->dim[d] != 1) {
			in.stride[out.rank] = pm__loc(p, x)->stride[d];
			dims[out.rank++] = t->dim[d];
		}
	}
	if (out.rank > PM_MAX_RANK)
		return pm_err(err, PM_E_UNSUPPORTED,
			      "Node %u (Tile) repeats %d dimensions; kernels walk at most %d.", n.id,
			      out.rank, PM_MAX_RANK);
	snprintf(label, sizeof label, "eager Tile %s", pm_dtype_name(t->dtype));
	return pm__move(p, n, label, &out, &in, err);
}

/* A copy whose result is walked as (n, c, h, block row, w, block column), or (n, block, c, h, w) and back. */
PmStatus eager_depth_to_space(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = in0(p, n), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x), *yt = pm__type(p, y);
	int to_space = pm_node_op(p->g, n) == PM_OP_DepthToSpace;
	int crd = strcmp(pm_node_s(p->g, n, "mode", "DCR"), "CRD") == 0;
	int64_t b = pm_node_i(p->g, n, "blocksize", 1), ch = to_space ? yt->dim[1] : t->dim[1];
	const int64_t *xs = pm__loc(p, x)->stride;
	int64_t to[6] = { yt->dim[0], ch, t->dim[2], b, t->dim[3], b };
	int64_t to_s[6] = { xs[0], xs[1] * (crd ? b * b : 1), xs[2], xs[1] * (crd ? b : b * ch),
			    xs[3], xs[1] * (crd ? 1 : ch) };
	int64_t from[6] = { yt->dim[0], b, b, ch, yt->dim[2], yt->dim[3] };
	int64_t from_s[6] = { xs[0], xs[2], xs[3], xs[1], xs[2] * b, xs[3] * b };
	PmVecOut out = { .dtype = t->dtype, .rank = 6, .dim = to_space ? to : from };
	PmVecIn in = { .loc = pm__loc(p, x), .dtype = t->dtype, .numel = pm__distinct(t, pm__loc(p, x)) };
	PmStatus st = pm__place(p, y, err);
	char label[96];

	if (st)
		return st;
	out.loc = pm__loc(p, y);
	memcpy(in.stride, to_space ? to_s : from_s, sizeof to_s);
	snprintf(label, sizeof label, "eager %s %s", pm_node_op_name(p->g, n), pm_dtype_name(t->dtype));
	return pm__move(p, n, label, &out, &in, err);
}
