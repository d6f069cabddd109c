/* SPDX-License-Identifier: Apache-2.0 */
/* cast.c - a whole model in another floating-point type. */
#include "app/cast/cast_priv.h"

#include "base/core/vec.h"
#include "ir/core/element.h"
#include "ir/infer/infer.h"
#include "ir/onnx/onnx.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *why;
} reasons[PM_N_CAST_REASONS] = {
	[PM_CAST_NONE] = { "", "" },
#define REASON(name, sentence) [PM_CAST_##name] = { #name, sentence },
#include "app/cast/cast.def"
};

const char *pm_cast_reason(PmCastReason r)
{
	static char names[PM_N_CAST_REASONS][16];

	for (size_t i = 0; reasons[r].name[i] && i < sizeof names[r] - 1; i++)
		names[r][i] = (char)tolower((unsigned char)reasons[r].name[i]);
	return names[r];
}

const char *pm_cast_why(PmCastReason r)
{
	return reasons[r].why;
}

/* What the model was, and what became of it so far. */
typedef struct Work {
	PmCast c;
	uint32_t limit;       /* values of the model have ids below */
	uint32_t *other;      /* owned; by value id of the model: the same in the other type; 0 = not made */
	unsigned char *stays; /* owned; by value id: the reason for which it is not cast */
	unsigned char
		*was; /* owned; by value id: 1 + its type in the model, where that is cast; 0 = it is none */
	PmCastReport *out;
} Work;

static int is_from(const Work *w, PmValue v)
{
	return pm__cast_is_from(&w->c, pm_value_type(w->c.g, v)->dtype);
}

/* ---- what becomes of values ---- */

/* The reason for which a use of a value needs it as it is; NONE = it wants the new type. */
static PmCastReason use_keeps(const Work *w, PmUse u)
{
	PmCastReason r = w->c.kept[u.node.id];

	return r ? r : pm__cast_keeps_operand(&w->c, u.node, u.operand);
}

/* The reason of all uses; NONE when one wants the new type, or there is none. */
static PmCastReason all_uses_keep(const Work *w, PmValue v)
{
	PmCastReason last = PM_CAST_NONE;

	if (pm_value_is_output(w->c.g, v))
		return PM_CAST_NONE;
	for (PmUse u = pm_value_first_use(w->c.g, v); u.slot; u = pm_use_next(w->c.g, u)) {
		last = use_keeps(w, u);
		if (!last)
			return PM_CAST_NONE;
	}
	return last;
}

static int has_data(const Work *w, PmValue v)
{
	const PmBlob *b = pm_value_blob(w->c.g, v);

	return b && b->data;
}

static PmCastReason why_stays(const Work *w, PmValue v)
{
	const PmGraph *g = w->c.g;
	size_t k = 0;
	PmNode n = pm_value_def(g, v, &k);

	if (n.id)
		return w->c.kept[n.id] ? w->c.kept[n.id] : pm__cast_keeps_result(&w->c, n, k);
	if (all_uses_keep(w, v))
		return all_uses_keep(w, v);
	if (pm_value_is_input(g, v))
		return w->c.keep_io ? PM_CAST_KEPT_IO : PM_CAST_NONE;
	return has_data(w, v) ? PM_CAST_NONE : PM_CAST_DATA;
}

static void note_stay(Work *w, PmValue v, PmCastReason r)
{
	w->out->kept[r]++;
	if (!w->out->first[r])
		w->out->first[r] = pm_xstrdup(pm_value_name(w->c.g, v));
}

static void decide_values(Work *w)
{
	const PmGraph *g = w->c.g;

	for (uint32_t id = 1; id < w->limit; id++) {
		PmValue v = { id };
		PmNode n = pm_value_def(g, v, NULL);
		int dtype = pm_value_type(g, v)->dtype;
		int is = pm_value_is_input(g, v) || pm_value_is_const(g, v) || (n.id && pm_node_op(g, n));

		if (!is || !pm_dtype_is_float(dtype) || dtype == w->c.to)
			continue;
		w->was[id] = (unsigned char)(is_from(w, v) ? 1 + dtype : 0);
		w->stays[id] = (unsigned char)(w->was[id] ? why_stays(w, v) : PM_CAST_OTHER_TYPE);
		if (w->stays[id])
			note_stay(w, v, w->stays[id]);
		else if (pm_value_is_input(g, v))
			w->out->inputs++;
		else if (pm_value_is_const(g, v))
			w->out->weights++;
		else
			w->out->results++;
	}
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmCastReason r = w->c.kept[pm_graph_node_at(g, i).id];

		w->out->kept_nodes[r] += r != PM_CAST_NONE;
	}
}

/* ---- changing types ---- */

static void set_dtype(PmGraph *g, PmValue v, int dtype)
{
	PmType t = *pm_value_type(g, v);

	t.dtype = dtype;
	pm_value_set_type(g, v, &t);
}

/* The elements of a blob in another type; owned. */
static PmBlob *convert(const PmBlob *b, int from, int to, int64_t numel)
{
	size_t size = pm_dtype_size(to), was = pm_dtype_size(from);
	unsigned char *bytes = pm_xcalloc((size_t)numel + 1, size);

	for (int64_t i = 0; i < numel; i++)
		pm_float_store(to, bytes + (size_t)i * size,
			       pm_float_load(from, (const unsigned char *)b->data + (size_t)i * was));
	return pm_blob_take(bytes, (size_t)numel * size);
}

/* A value takes over the name of another, which gets a new one. */
static PmStatus take_name(PmGraph *g, PmValue to, PmValue from, PmErr *err)
{
	char *name = pm_xstrdup(pm_value_name(g, from));
	PmStatus st = pm_value_set_name(g, from, NULL, err);

	if (!st)
		st = pm_value_set_name(g, to, name, err);
	free(name);
	return st;
}

/* The constant in the new type. The old one stays beside it while something reads it. */
static PmStatus convert_const(Work *w, PmValue v, PmErr *err)
{
	PmGraph *g = w->c.g;
	PmType t = *pm_value_type(g, v);
	int from = t.dtype;
	int64_t numel;
	PmValue made;
	PmStatus st = pm_type_numel(&t, &numel, err);

	if (st)
		return st;
	t.dtype = w->c.to;
	st = pm_graph_add_const(g, NULL, &t, convert(pm_value_blob(g, v), from, w->c.to, numel), &made, err);
	if (!st)
		w->other[v.id] = made.id;
	return st;
}

static PmStatus add_cast(Work *w, PmValue v, PmValue *out, PmErr *err)
{
	PmGraph *g = w->c.g;
	int to = pm_value_type(g, v)->dtype == w->c.to ? w->was[v.id] - 1 : w->c.to;
	PmType t = *pm_value_type(g, v);
	PmNode n;
	PmStatus st = pm_graph_add_node(g, PM_OP_Cast, &v, 1, 1, &n, err);

	if (st)
		return st;
	t.dtype = to;
	*out = pm_node_out(g, n, 0);
	pm_value_set_type(g, *out, &t);
	w->out->casts++;
	st = pm_node_set_i(g, n, "to", pm_dtype_to_onnx(to), err);
	return st ? st : pm_node_fill_defaults(g, n, err);
}

/* The same value in the other type, made when it is first asked for. */
static PmStatus other_of(Work *w, PmValue v, PmValue *out, PmErr *err)
{
	PmStatus st = PM_OK;

	if (!w->other[v.id]) {
		st = add_cast(w, v, out, err);
		if (!st)
			w->other[v.id] = out->id;
	}
	out->id = w->other[v.id];
	return st;
}

static PmStatus retype_values(Work *w, PmErr *err)
{
	PmGraph *g = w->c.g;
	PmStatus st = PM_OK;

	for (uint32_t id = 1; id < w->limit && !st; id++) {
		PmValue v = { id };

		if (!w->was[id] || w->stays[id])
			continue;
		if (pm_value_is_const(g, v))
			st = convert_const(w, v, err);
		else
			set_dtype(g, v, w->c.to);
	}
	return st;
}

/* Attributes that name the type of a result. */
static PmStatus retype_attrs(Work *w, PmNode n, PmErr *err)
{
	PmGraph *g = w->c.g;
	PmOp op = pm_node_op(g, n);
	int by_attr = op == PM_OP_EyeLike || op == PM_OP_RandomNormalLike || op == PM_OP_RandomUniformLike;
	const char *key = op == PM_OP_Cast ? "to" : by_attr ? "dtype" : NULL;
	const PmAttr *a;
	PmType t;

	if (key && pm_value_type(g, pm_node_out(g, n, 0))->dtype == w->c.to)
		return pm_node_set_i(g, n, key, pm_dtype_to_onnx(w->c.to), err);
	a = op == PM_OP_ConstantOfShape ? pm_node_attr(g, n, "value") : NULL;
	if (!a || a->kind != PM_ATTR_TENSOR || !pm__cast_is_from(&w->c, a->type.dtype) || !a->blob ||
	    !a->blob->data)
		return PM_OK;
	t = a->type;
	t.dtype = w->c.to;
	return pm_node_set_tensor(g, n, "value", &t, convert(a->blob, a->type.dtype, w->c.to, 1), err);
}

/* An operand in the type that the node wants. */
static PmStatus fit_operand(Work *w, PmNode n, size_t k, PmErr *err)
{
	PmGraph *g = w->c.g;
	PmValue v = pm_node_in(g, n, k), to;
	int wants_old = w->c.kept[n.id] || pm__cast_keeps_operand(&w->c, n, k), is_old;
	PmStatus st;

	if (!v.id || v.id >= w->limit || !w->was[v.id])
		return PM_OK;
	is_old = w->stays[v.id] != PM_CAST_NONE || pm_value_is_const(g, v);
	if (wants_old == is_old)
		return PM_OK;
	st = other_of(w, v, &to, err);
	if (!st)
		pm_node_set_operand(g, n, k, to);
	return st;
}

/* A result of the graph becomes `to`; what else reads `v` goes on reading it. */
static void move_output(PmGraph *g, PmValue v, PmValue to)
{
	PM_VEC(PmUse) uses = { 0 };

	for (PmUse u = pm_value_first_use(g, v); u.slot; u = pm_use_next(g, u))
		PM_VEC_PUSH(&uses, u);
	pm_graph_replace_uses(g, v, to);
	for (size_t i = 0; i < uses.n; i++)
		pm_node_set_operand(g, uses.v[i].node, uses.v[i].operand, v);
	PM_VEC_RELEASE(&uses);
}

static PmStatus fit_outputs(Work *w, PmErr *err)
{
	PmGraph *g = w->c.g;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < pm_graph_n_outputs(g) && !st; i++) {
		PmValue v = pm_graph_output(g, i), to;
		int is_old, is_input = pm_value_is_input(g, v);

		if (v.id >= w->limit || !w->was[v.id])
			continue;
		is_old = w->stays[v.id] != PM_CAST_NONE || pm_value_is_const(g, v);
		if (is_old == w->c.keep_io) {
			w->out->outputs += !is_old;
			continue;
		}
		st = is_input || pm_value_is_const(g, v) ? add_cast(w, v, &to, err)
							 : other_of(w, v, &to, err);
		if (st)
			break;
		move_output(g, v, to);
		w->out->outputs += !w->c.keep_io;
		if (!is_input)
			st = take_name(g, to, v, err);
	}
	return st;
}

/* Constants that nothing reads any more go; the new ones take their names. */
static PmStatus drop_old(Work *w, PmErr *err)
{
	PmGraph *g = w->c.g;
	PmStatus st = PM_OK;

	for (uint32_t id = 1; id < w->limit && !st; id++) {
		PmValue v = { id }, made = { w->other[id] };

		if (!pm_value_is_const(g, v) || !made.id || pm_value_n_uses(g, v) || pm_value_is_output(g, v))
			continue;
		if (pm_value_is_const(g, made))
			st = take_name(g, made, v, err);
		if (!st)
			st = pm_graph_kill_const(g, v, err);
	}
	return st;
}

static PmStatus change(Work *w, PmErr *err)
{
	PmGraph *g = w->c.g;
	size_t n_nodes = pm_graph_n_nodes(g);
	PmNode *node = pm_xcalloc(n_nodes + 1, sizeof *node);
	PmStatus st;

	for (size_t i = 0; i < n_nodes; i++)
		node[i] = pm_graph_node_at(g, i);
	st = retype_values(w, err);
	for (size_t i = 0; i < n_nodes && !st; i++) {
		if (!w->c.kept[node[i].id]) {
			st = retype_attrs(w, node[i], err);
		}
		for (size_t k = 0; k < pm_node_n_in(g, node[i]) && !st; k++)
			st = fit_operand(w, node[i], k, err);
	}
	free(node);
	if (!st)
		st = fit_outputs(w, err);
	if (!st)
		st = drop_old(w, err);
	if (!st)
		st = pm_graph_sort(g, err);
	return st ? st : pm_verify(g, err);
}

static void count_nodes(Work *w)
{
	const PmGraph *g = w->c.g;

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode n = pm_graph_node_at(g, i);

		for (size_t k = 0; k < pm_node_n_out(g, n); k++) {
			PmValue v = pm_node_out(g, n, k);

			if (v.id < w->limit && w->was[v.id] && !w->stays[v.id]) {
				w->out->nodes++;
				break;
			}
		}
	}
}

PmStatus pm_cast_graph(PmGraph *g, int to, int keep_io, PmCastReport *out, PmErr *err)
{
	Work w = { .c = { .g = g, .to = to, .keep_io = keep_io != 0 },
		   .limit = pm_graph_value_limit(g),
		   .out = out };
	PmStatus st;

	*out = (PmCastReport){ 0 };
	if (to != PM_F16 && to != PM_BF16 && to != PM_F32)
		return pm_err(err, PM_E_UNSUPPORTED,
			      "A model is cast to float16, bfloat16 or float, and not to %s.",
			      pm_dtype_name(to));
	w.other = pm_xcalloc(w.limit + 1, sizeof *w.other);
	w.stays = pm_xcalloc(w.limit + 1, 1);
	w.was = pm_xcalloc(w.limit + 1, 1);
	pm__cast_decide(&w.c);
	decide_values(&w);
	st = change(&w, err);
	if (!st)
		count_nodes(&w);
	free(w.other);
	free(w.stays);
	free(w.was);
	free(w.c.kept);
	return st;
}

void pm_cast_report_release(PmCastReport *r)
{
	for (int k = 0; k < PM_N_CAST_REASONS; k++)
		free(r->first[k]);
	*r = (PmCastReport){ 0 };
}
