/* graph_attr.c - attributes of nodes. */
#include "ir/graph.h"
#include "ir/graph_priv.h"

#include <stdlib.h>
#include <string.h>

void pm__attrs_release(PmAttr *attrs, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		pm_blob_unref(attrs[i].blob);
		pm_graph_free(attrs[i].graph);
		attrs[i].blob = NULL;
		attrs[i].graph = NULL;
	}
}

static PmAttr *find(const NodeRec *r, const char *name)
{
	for (uint32_t i = 0; r && i < r->n_attrs; i++)
		if (!strcmp(r->attrs[i].name, name))
			return &r->attrs[i];
	return NULL;
}

/* The attribute of that name, made or emptied; NULL for a bad node. */
static PmAttr *fresh_attr(PmGraph *g, PmNode n, const char *name, PmAttrKind kind, PmErr *err)
{
	NodeRec *r = pm__node(g, n);
	PmAttr *a = find(r, name);

	if (!r) {
		pm_err(err, PM_E_INVALID, "Node handle %u does not exist in the graph.", n.id);
		return NULL;
	}
	if (a) {
		pm__attrs_release(a, 1);
	} else {
		if (r->n_attrs == r->cap_attrs) {
			r->cap_attrs = r->cap_attrs ? r->cap_attrs * 2 : 1;
			r->attrs = pm_xrealloc(r->attrs, r->cap_attrs, sizeof *r->attrs);
		}
		a = &r->attrs[r->n_attrs++];
	}
	memset(a, 0, sizeof *a);
	a->name = pm__graph_text(g, name);
	a->kind = kind;
	a->type = pm_type_unknown();
	return a;
}

PmStatus pm_node_set_i(PmGraph *g, PmNode n, const char *attr, int64_t v, PmErr *err)
{
	PmAttr *a = fresh_attr(g, n, attr, PM_ATTR_INT, err);

	if (!a)
		return PM_E_INVALID;
	a->i = v;
	return pm__graph_check_budget(g, err);
}

PmStatus pm_node_set_f(PmGraph *g, PmNode n, const char *attr, double v, PmErr *err)
{
	PmAttr *a = fresh_attr(g, n, attr, PM_ATTR_FLOAT, err);

	if (!a)
		return PM_E_INVALID;
	a->f = (float)v; /* ONNX attributes are float32 */
	return pm__graph_check_budget(g, err);
}

PmStatus pm_node_set_s(PmGraph *g, PmNode n, const char *attr, const char *s, size_t len, PmErr *err)
{
	PmAttr *a = fresh_attr(g, n, attr, PM_ATTR_STRING, err);

	if (!a)
		return PM_E_INVALID;
	a->s = pm_arena_strndup(g->arena, s, len);
	a->n = len;
	return pm__graph_check_budget(g, err);
}

/* A copy of n elements of `size` bytes in the graph's arena. */
static void *keep(PmGraph *g, const void *p, size_t n, size_t size)
{
	void *q = pm_arena_alloc(g->arena, n * size);

	if (n)
		memcpy(q, p, n * size);
	return q;
}

PmStatus pm_node_set_ints(PmGraph *g, PmNode n, const char *attr, const int64_t *v, size_t cnt, PmErr *err)
{
	int64_t *copy = keep(g, v, cnt,
			     sizeof *v); /* before fresh_attr: v may be this attribute's own list */
	PmAttr *a = fresh_attr(g, n, attr, PM_ATTR_INTS, err);

	if (!a)
		return PM_E_INVALID;
	a->ints = copy;
	a->n = cnt;
	return pm__graph_check_budget(g, err);
}

PmStatus pm_node_set_floats(PmGraph *g, PmNode n, const char *attr, const double *v, size_t cnt, PmErr *err)
{
	double *copy = keep(g, v, cnt, sizeof *v);
	PmAttr *a = fresh_attr(g, n, attr, PM_ATTR_FLOATS, err);

	if (!a)
		return PM_E_INVALID;
	for (size_t i = 0; i < cnt; i++)
		copy[i] = (float)copy[i];
	a->floats = copy;
	a->n = cnt;
	return pm__graph_check_budget(g, err);
}

PmStatus pm_node_set_strings(PmGraph *g, PmNode n, const char *attr, const char *const *v, size_t cnt,
			     PmErr *err)
{
	const char **copy = pm_arena_alloc(g->arena, cnt * sizeof *copy);
	PmAttr *a;

	for (size_t i = 0; i < cnt; i++)
		copy[i] = pm_arena_strdup(g->arena, v[i]);
	a = fresh_attr(g, n, attr, PM_ATTR_STRINGS, err);
	if (!a)
		return PM_E_INVALID;
	a->strings = copy;
	a->n = cnt;
	return pm__graph_check_budget(g, err);
}

PmStatus pm_node_set_tensor(PmGraph *g, PmNode n, const char *attr, const PmType *t, PmBlob *blob, PmErr *err)
{
	int64_t bytes;
	PmStatus st = pm_type_bytes(t, &bytes, err);
	PmAttr *a;

	if (!st && (uint64_t)bytes != blob->size)
		st = pm_err(err, PM_E_INVALID,
			    "Tensor attribute '%.100s' holds %zu bytes but its type needs %lld.", attr,
			    blob->size, (long long)bytes);
	a = st ? NULL : fresh_attr(g, n, attr, PM_ATTR_TENSOR, err);
	if (!a) {
		pm_blob_unref(blob);
		return st ? st : PM_E_INVALID;
	}
	a->type = *t;
	a->blob = blob;
	return pm__graph_check_budget(g, err);
}

PmStatus pm_node_set_graph(PmGraph *g, PmNode n, const char *attr, PmGraph *takes, PmErr *err)
{
	PmAttr *a = fresh_attr(g, n, attr, PM_ATTR_GRAPH, err);

	if (!a) {
		pm_graph_free(takes);
		return PM_E_INVALID;
	}
	a->graph = takes;
	return pm__graph_check_budget(g, err);
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
	PmAttr *a = find(r, attr);

	if (!a)
		return;
	pm__attrs_release(a, 1);
	memmove(a, a + 1, (size_t)(r->attrs + r->n_attrs - (a + 1)) * sizeof *a);
	r->n_attrs--;
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

	return r && i < r->n_attrs ? &r->attrs[i] : NULL;
}

const PmAttr *pm_node_attr(const PmGraph *g, PmNode n, const char *name)
{
	return find(pm__node(g, n), name);
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
