/* SPDX-License-Identifier: Apache-2.0 */
/* graph_attr.c - attributes of nodes. */
#include "ir/core/graph.h"
#include "ir/core/graph_priv.h"

#include <stdlib.h>
#include <string.h>

void pm__attrs_drop(PmGraph *g, NodeRec *r)
{
	for (uint32_t k = 0; k < r->n_attrs; k++)
		pm__attr_release(g, g->attr_ids.v[r->attr0 + k]);
	r->n_attrs = 0;
}

/* Which attribute of the node has that name; n_attrs when none. */
static uint32_t find(const PmGraph *g, const NodeRec *r, const char *name)
{
	uint32_t k = 0;

	while (k < r->n_attrs && strcmp(pm__attr_of(g, r, k)->name, name) != 0)
		k++;
	return k;
}

/* Room for one more at the end of the node's list. */
static void push(PmGraph *g, NodeRec *r, uint32_t id)
{
	if (r->attr0 + (size_t)r->n_attrs != g->attr_ids.n) {
		size_t at = g->attr_ids.n;

		for (uint32_t k = 0; k < r->n_attrs; k++)
			PM_VEC_PUSH(&g->attr_ids, g->attr_ids.v[r->attr0 + k]);
		r->attr0 = (uint32_t)at;
	}
	PM_VEC_PUSH(&g->attr_ids, id);
	r->n_attrs++;
}

/* Gives the node this attribute, in place of the one of its name. */
static PmStatus set(PmGraph *g, PmNode n, const char *name, PmAttr *a, PmErr *err)
{
	NodeRec *r = pm__node(g, n);
	uint32_t k, id, *at;

	if (!r) {
		pm_blob_unref(a->blob);
		pm_graph_free(a->graph);
		return pm_err(err, PM_E_INVALID, "Node handle %u does not exist in the graph.", n.id);
	}
	a->name = pm__graph_text(g, name);
	id = pm__graph_attr(g, a);
	k = find(g, r, name);
	if (k == r->n_attrs) {
		push(g, r, id);
	} else {
		at = &g->attr_ids.v[r->attr0 + k];
		if (*at != id)
			pm__attr_release(g, *at);
		*at = id;
	}
	return pm__graph_check_budget(g, err);
}

PmStatus pm_node_set_i(PmGraph *g, PmNode n, const char *attr, int64_t v, PmErr *err)
{
	return set(g, n, attr, &(PmAttr){ .kind = PM_ATTR_INT, .i = v }, err);
}

PmStatus pm_node_set_f(PmGraph *g, PmNode n, const char *attr, double v, PmErr *err)
{
	/* ONNX attributes are float32 */
	return set(g, n, attr, &(PmAttr){ .kind = PM_ATTR_FLOAT, .f = (float)v }, err);
}

PmStatus pm_node_set_s(PmGraph *g, PmNode n, const char *attr, const char *s, size_t len, PmErr *err)
{
	return set(g, n, attr, &(PmAttr){ .kind = PM_ATTR_STRING, .s = s, .n = len }, err);
}

PmStatus pm_node_set_ints(PmGraph *g, PmNode n, const char *attr, const int64_t *v, size_t cnt, PmErr *err)
{
	return set(g, n, attr, &(PmAttr){ .kind = PM_ATTR_INTS, .ints = v, .n = cnt }, err);
}

PmStatus pm_node_set_floats(PmGraph *g, PmNode n, const char *attr, const double *v, size_t cnt, PmErr *err)
{
	double *rounded = pm_xcalloc(cnt + 1, sizeof *rounded);
	PmStatus st;

	for (size_t i = 0; i < cnt; i++)
		rounded[i] = (float)v[i];
	st = set(g, n, attr, &(PmAttr){ .kind = PM_ATTR_FLOATS, .floats = rounded, .n = cnt }, err);
	free(rounded);
	return st;
}

PmStatus pm_node_set_strings(PmGraph *g, PmNode n, const char *attr, const char *const *v, size_t cnt,
			     PmErr *err)
{
	return set(g, n, attr, &(PmAttr){ .kind = PM_ATTR_STRINGS, .strings = v, .n = cnt }, err);
}

PmStatus pm_node_set_tensor(PmGraph *g, PmNode n, const char *attr, const PmType *t, PmBlob *blob, PmErr *err)
{
	int64_t bytes;
	PmStatus st = pm_type_bytes(t, &bytes, err);

	if (!st && (uint64_t)bytes != blob->size)
		st = pm_err(err, PM_E_INVALID,
			    "Tensor attribute '%.100s' holds %zu bytes but its type needs %lld.", attr,
			    blob->size, (long long)bytes);
	if (st) {
		pm_blob_unref(blob);
		return st;
	}
	return set(g, n, attr, &(PmAttr){ .kind = PM_ATTR_TENSOR, .type = *t, .blob = blob }, err);
}

PmStatus pm_node_set_graph(PmGraph *g, PmNode n, const char *attr, PmGraph *takes, PmErr *err)
{
	return set(g, n, attr, &(PmAttr){ .kind = PM_ATTR_GRAPH, .graph = takes }, err);
}

static PmStatus copy_attr(PmGraph *g, PmNode to, const PmAttr *a, PmErr *err)
{
	PmGraph *sub = NULL;
	PmStatus st;

	switch (a->kind) {
	case PM_ATTR_INT:
		return pm_node_set_i(g, to, a->name, a->i, err);
	case PM_ATTR_FLOAT:
		return pm_node_set_f(g, to, a->name, a->f, err);
	case PM_ATTR_STRING:
		return pm_node_set_s(g, to, a->name, a->s, a->n, err);
	case PM_ATTR_INTS:
		return pm_node_set_ints(g, to, a->name, a->ints, a->n, err);
	case PM_ATTR_FLOATS:
		return pm_node_set_floats(g, to, a->name, a->floats, a->n, err);
	case PM_ATTR_STRINGS:
		return pm_node_set_strings(g, to, a->name, a->strings, a->n, err);
	case PM_ATTR_TENSOR:
		return pm_node_set_tensor(g, to, a->name, &a->type, pm_blob_ref(a->blob), err);
	case PM_ATTR_GRAPH:
		st = pm_graph_clone(a->graph, &sub, err);
		return st ? st : pm_node_set_graph(g, to, a->name, sub, err);
	}
	PM_BUG("attribute '%s' has kind %d", a->name, (int)a->kind);
}

PmStatus pm_node_copy_attrs(PmGraph *g, PmNode to, const PmGraph *from_g, PmNode from, PmErr *err)
{
	for (size_t i = 0; i < pm_node_n_attrs(from_g, from); i++) {
		PmStatus st = copy_attr(g, to, pm_node_attr_at(from_g, from, i), err);

		if (st)
			return st;
	}
	return PM_OK;
}

void pm_node_drop_attr(PmGraph *g, PmNode n, const char *attr)
{
	NodeRec *r = pm__node(g, n);
	uint32_t k = r ? find(g, r, attr) : 0, *at;

	if (!r || k == r->n_attrs)
		return;
	at = &g->attr_ids.v[r->attr0 + k];
	pm__attr_release(g, *at);
	r->n_attrs--;
	memmove(at, at + 1, (r->n_attrs - k) * sizeof *at);
}

PmStatus pm_node_fill_defaults(PmGraph *g, PmNode n, PmErr *err)
{
	const PmOpDesc *d = pm_op_desc(pm_node_op(g, n));

	for (int k = 0; k < d->n_attrs; k++) {
		const PmAttrDesc *a = &d->attrs[k];
		PmStatus st = PM_OK;

		if (!a->has_default || pm_node_attr(g, n, a->name))
			continue;
		if (a->kind == PM_ATTR_INT)
			st = pm_node_set_i(g, n, a->name, a->i, err);
		else if (a->kind == PM_ATTR_FLOAT)
			st = pm_node_set_f(g, n, a->name, a->f, err);
		else if (a->kind == PM_ATTR_STRING)
			st = pm_node_set_s(g, n, a->name, a->s, strlen(a->s), err);
		else if (a->kind == PM_ATTR_INTS)
			st = pm_node_set_ints(g, n, a->name, NULL, 0, err);
		if (st)
			return st;
	}
	return PM_OK;
}

/* ---- reading ---- */

size_t pm_node_n_attrs(const PmGraph *g, PmNode n)
{
	const NodeRec *r = pm__node(g, n);

	return r ? r->n_attrs : 0;
}

const PmAttr *pm_node_attr_at(const PmGraph *g, PmNode n, size_t i)
{
	const NodeRec *r = pm__node(g, n);

	return r && i < r->n_attrs ? pm__attr_of(g, r, (uint32_t)i) : NULL;
}

const PmAttr *pm_node_attr(const PmGraph *g, PmNode n, const char *name)
{
	const NodeRec *r = pm__node(g, n);
	uint32_t k = r ? find(g, r, name) : 0;

	return r && k < r->n_attrs ? pm__attr_of(g, r, k) : NULL;
}

int64_t pm_node_i(const PmGraph *g, PmNode n, const char *name, int64_t dflt)
{
	const PmAttr *a = pm_node_attr(g, n, name);

	return a && a->kind == PM_ATTR_INT ? a->i : dflt;
}

double pm_node_f(const PmGraph *g, PmNode n, const char *name, double dflt)
{
	const PmAttr *a = pm_node_attr(g, n, name);

	return a && a->kind == PM_ATTR_FLOAT ? a->f : dflt;
}

const char *pm_node_s(const PmGraph *g, PmNode n, const char *name, const char *dflt)
{
	const PmAttr *a = pm_node_attr(g, n, name);

	return a && a->kind == PM_ATTR_STRING ? a->s : dflt;
}

size_t pm_node_ints(const PmGraph *g, PmNode n, const char *name, const int64_t **v)
{
	const PmAttr *a = pm_node_attr(g, n, name);

	*v = a && a->kind == PM_ATTR_INTS ? a->ints : NULL;
	return *v ? a->n : 0;
}
