/* SPDX-License-Identifier: Apache-2.0 */
/* task_graphs.c - the distinct graphs of a task, each with its variants: what differs is said once, and
 * variants of the same shapes share a line. */
#include "app/tools/tools_priv.h"

#include "base/core/hash.h"
#include "dataset/store/tasks.h"
#include "ir/core/onnx_dtype.h"
#include "ir/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 64, MAX_ROWS = 40 };

/* Variants of the same shapes. */
typedef struct Row {
	char *shapes; /* owned: "1x64x56x56 64", one for each input */
	PM_VEC(int64_t) numbers;
	PmStr dtypes; /* "float, float16" */
} Row;

/* What one input's element types are, by that of the variant; -1 = no such variant, -2 = several. */
typedef struct Types {
	int of[PM_N_DTYPES];
} Types;

/* One variant of a group. */
typedef struct Member {
	int64_t number;
	int dtype;
	size_t row;
} Member;

typedef struct Const {
	PmStr name, text;
	int varies;
} Const;

/* Variants with the same operators, operands and attributes. */
typedef struct Group {
	char *structure, *attrs; /* owned: they tell groups apart */
	char *text;              /* owned: of its first variant */
	PmGraph *g;              /* the same */
	int dtype;
	PM_VEC(Types) inputs;
	PM_VEC(Const) consts;
	PM_VEC(Row) rows;
	PM_VEC(int64_t) numbers;
	PM_VEC(Member) members; /* the same variants, in the same order */
} Group;

typedef struct Groups {
	PM_VEC(Group) v;
} Groups;

/* ---- what tells graphs apart ---- */

/* "T" where it is the variant's own element type, so that a Cast to it is the same in all. */
static void attr_text(const PmAttr *a, int dtype, PmStr *out)
{
	if (a->kind == PM_ATTR_INT && (!strcmp(a->name, "to") || !strcmp(a->name, "dtype")) &&
	    pm_dtype_from_onnx((int)a->i) == dtype)
		pm_str_add(out, "T");
	else
		pm_attr_describe(a, out);
}

static void add_names(const PmGraph *g, size_t n, PmValue (*at)(const PmGraph *, size_t), PmStr *out)
{
	for (size_t i = 0; i < n; i++)
		pm_str_addf(out, " %s", pm_value_name(g, at(g, i)));
	pm_str_addc(out, '\n');
}

/* Operators and what connects them; attributes in another text. An attribute that holds a tensor or a graph
 * stands there as the variant's whole text, so that two variants are the same only if all of it is. */
static void describe(const PmGraph *g, int dtype, const char *text, PmStr *structure, PmStr *attrs)
{
	add_names(g, pm_graph_n_inputs(g), pm_graph_input, structure);
	add_names(g, pm_graph_n_outputs(g), pm_graph_output, structure);
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode n = pm_graph_node_at(g, i);

		pm_str_addf(structure, "%s:", pm_node_op_name(g, n));
		for (size_t k = 0; k < pm_node_n_in(g, n); k++) {
			PmValue v = pm_node_in(g, n, k);

			pm_str_addf(structure, " %s", v.id ? pm_value_name(g, v) : "-");
		}
		pm_str_add(structure, " =>");
		for (size_t k = 0; k < pm_node_n_out(g, n); k++) {
			PmValue v = pm_node_out(g, n, k);

			pm_str_addf(structure, " %s", v.id ? pm_value_name(g, v) : "-");
		}
		pm_str_addc(structure, '\n');
		for (size_t k = 0; k < pm_node_n_attrs(g, n); k++) {
			const PmAttr *a = pm_node_attr_at(g, n, k);

			pm_str_addf(attrs, "%zu %s = ", i, a->name);
			attr_text(a, dtype, attrs);
			pm_str_add(attrs, a->kind == PM_ATTR_TENSOR || a->kind == PM_ATTR_GRAPH ? text : "");
			pm_str_addc(attrs, '\n');
		}
	}
}

static void add_dims(const PmType *t, PmStr *out)
{
	for (int i = 0; i < t->rank; i++)
		pm_str_addf(out, "%s%lld", i ? "x" : "", (long long)t->dim[i]);
	pm_str_add(out, t->rank == 0 ? "scalar" : t->rank < 0 ? "?" : "");
}

/* The elements of a constant, or a digest of many. */
static void const_text(const PmGraph *g, PmValue v, PmStr *out)
{
	double x[FEW];
	size_t n = 0;
	const PmBlob *b = pm_value_blob(g, v);
	int64_t bytes = 0;

	add_dims(pm_value_type(g, v), out);
	if (!pm_value_const_floats(g, v, x, FEW, &n)) {
		for (size_t i = 0; i < n; i++)
			pm_str_addf(out, " %.17g", x[i]);
	} else if (b && pm_blob_readable(b) && !pm_type_bytes(pm_value_type(g, v), &bytes, NULL)) {
		char *all = pm_xcalloc((size_t)bytes + 1, 1);

		pm_blob_read(b, 0, (size_t)bytes, all);
		pm_str_addf(out, " #%llx", (unsigned long long)pm_hash64(all, (size_t)bytes, 0));
		free(all);
	}
}

/* ---- gathering ---- */

static Group *group_of(Groups *all, const PmVariantRow *v, PmGraph *g)
{
	PmStr structure = PM_STR_INIT, attrs = PM_STR_INIT;
	Group x = { .g = g, .dtype = v->dtype }, *found = NULL;

	describe(g, v->dtype, v->text, &structure, &attrs);
	for (size_t i = 0; i < all->v.n && !found; i++)
		if (!strcmp(all->v.v[i].structure, structure.s) && !strcmp(all->v.v[i].attrs, attrs.s))
			found = &all->v.v[i];
	if (!found) {
		x.structure = pm_str_detach(&structure, NULL);
		x.attrs = pm_str_detach(&attrs, NULL);
		x.text = pm_xstrdup(v->text);
		PM_VEC_PUSH(&all->v, x);
		found = &all->v.v[all->v.n - 1];
	}
	pm_str_release(&structure);
	pm_str_release(&attrs);
	return found;
}

static void add_types(Group *x, const PmGraph *g, int dtype)
{
	for (size_t i = 0; i < pm_graph_n_inputs(g); i++) {
		int is = pm_value_type(g, pm_graph_input(g, i))->dtype, *of;

		if (i == x->inputs.n) {
			Types t;

			for (int k = 0; k < PM_N_DTYPES; k++)
				t.of[k] = -1;
			PM_VEC_PUSH(&x->inputs, t);
		}
		of = &x->inputs.v[i].of[dtype];
		*of = *of == -1 || *of == is ? is : -2;
	}
}

static void add_consts(Group *x, const PmGraph *g)
{
	size_t at = 0;

	for (uint32_t i = 1; i < pm_graph_value_limit(g); i++) {
		PmValue v = { i };
		PmStr text = PM_STR_INIT;

		if (!pm_value_is_const(g, v) || !pm_value_n_uses(g, v))
			continue;
		const_text(g, v, &text);
		if (at == x->consts.n) {
			Const c = { .name = PM_STR_INIT, .text = PM_STR_INIT };

			pm_str_add(&c.name, pm_value_name(g, v));
			pm_str_add(&c.text, text.s);
			PM_VEC_PUSH(&x->consts, c);
		}
		x->consts.v[at].varies |= strcmp(x->consts.v[at].text.s, text.s) != 0;
		pm_str_release(&text);
		at++;
	}
}

static void add_row(Group *x, const PmGraph *g, const PmVariantRow *v)
{
	Member m = { .number = v->ordinal, .dtype = v->dtype };
	PmStr shapes = PM_STR_INIT;
	Row *row = NULL;

	for (size_t i = 0; i < pm_graph_n_inputs(g); i++) {
		pm_str_add(&shapes, i ? " " : "");
		add_dims(pm_value_type(g, pm_graph_input(g, i)), &shapes);
	}
	for (size_t i = 0; i < x->rows.n && !row; i++)
		if (!strcmp(x->rows.v[i].shapes, shapes.s))
			row = &x->rows.v[i];
	if (!row) {
		Row one = { .shapes = pm_str_detach(&shapes, NULL), .dtypes = PM_STR_INIT };

		PM_VEC_PUSH(&x->rows, one);
		row = &x->rows.v[x->rows.n - 1];
	}
	PM_VEC_PUSH(&row->numbers, v->ordinal);
	m.row = (size_t)(row - x->rows.v);
	PM_VEC_PUSH(&x->members, m);
	pm_str_addf(&row->dtypes, "%s%s", row->dtypes.len ? ", " : "", pm_dtype_name(v->dtype));
	pm_str_release(&shapes);
}

static PmStatus add_variant(void *arg, const PmVariantRow *v, PmErr *err)
{
	Groups *all = arg;
	PmGraph *g = NULL;
	Group *x;
	PmStatus st = pm_graph_parse(v->text, strlen(v->text), &g, err);

	if (st)
		return st;
	x = group_of(all, v, g);
	if (v->dtype >= 0 && v->dtype < PM_N_DTYPES)
		add_types(x, g, v->dtype);
	add_consts(x, g);
	add_row(x, g, v);
	PM_VEC_PUSH(&x->numbers, v->ordinal);
	if (x->g != g)
		pm_graph_free(g);
	return PM_OK;
}

static void release(Groups *all)
{
	for (size_t i = 0; i < all->v.n; i++) {
		Group *x = &all->v.v[i];

		for (size_t k = 0; k < x->consts.n; k++) {
			pm_str_release(&x->consts.v[k].name);
			pm_str_release(&x->consts.v[k].text);
		}
		for (size_t k = 0; k < x->rows.n; k++) {
			free(x->rows.v[k].shapes);
			PM_VEC_RELEASE(&x->rows.v[k].numbers);
			pm_str_release(&x->rows.v[k].dtypes);
		}
		PM_VEC_RELEASE(&x->consts);
		PM_VEC_RELEASE(&x->rows);
		PM_VEC_RELEASE(&x->inputs);
		PM_VEC_RELEASE(&x->numbers);
		PM_VEC_RELEASE(&x->members);
		free(x->structure);
		free(x->attrs);
		free(x->text);
		pm_graph_free(x->g);
	}
	PM_VEC_RELEASE(&all->v);
}

/* ---- saying it ---- */

/* "0-2,7" */
static void add_numbers(const int64_t *v, size_t n, PmStr *out)
{
	for (size_t i = 0, last; i < n; i = last + 1) {
		for (last = i; last + 1 < n && v[last + 1] == v[last] + 1; last++)
			;
		pm_str_addf(out, "%s%lld", i ? "," : "", (long long)v[i]);
		if (last > i)
			pm_str_addf(out, "-%lld", (long long)v[last]);
	}
}

/* "T" where it is always that of the variant, one name where it is always the same, else one for each. */
static void add_type(const Types *t, PmStr *out)
{
	int own = 1, same = 1, first = -1;
	const char *sep = "";

	for (int k = 0; k < PM_N_DTYPES; k++) {
		if (t->of[k] == -1)
			continue;
		first = first == -1 ? t->of[k] : first;
		own &= t->of[k] == k;
		same &= t->of[k] == first && first >= 0;
	}
	if (own || same) {
		pm_str_add(out, own ? "T" : pm_dtype_name(first));
		return;
	}
	for (int k = 0; k < PM_N_DTYPES; k++)
		if (t->of[k] != -1) {
			pm_str_addf(out, "%s%s where T is %s", sep,
				    t->of[k] == -2 ? "several types" : pm_dtype_name(t->of[k]),
				    pm_dtype_name(k));
			sep = " and ";
		}
}

/* "v0: T; v1: int64" */
static void inputs_text(const Group *x, PmStr *out)
{
	for (size_t i = 0; i < x->inputs.n; i++) {
		pm_str_addf(out, "%s%s: ", i ? "; " : "", pm_value_name(x->g, pm_graph_input(x->g, i)));
		add_type(&x->inputs.v[i], out);
	}
}

static void add_inputs(const Group *x, cJSON *j)
{
	PmStr s = PM_STR_INIT;

	inputs_text(x, &s);
	cJSON_AddStringToObject(j, "inputs", s.s);
	pm_str_release(&s);
}

static void add_rows(const Group *x, const char *uri, cJSON *j)
{
	const char *common = x->rows.v[0].dtypes.s;
	cJSON *list;
	PmStr s = PM_STR_INIT;

	cJSON_AddStringToObject(j, "dtypes", common);
	list = cJSON_AddArrayToObject(j, "shapes");
	for (size_t i = 0; i < x->rows.n && i < MAX_ROWS; i++) {
		const Row *r = &x->rows.v[i];

		pm_str_clear(&s);
		add_numbers(r->numbers.v, r->numbers.n, &s);
		if (strcmp(r->dtypes.s, common) != 0)
			pm_str_addf(&s, " (%s)", r->dtypes.s);
		pm_str_addf(&s, ": %s", r->shapes);
		cJSON_AddItemToArray(list, cJSON_CreateString(s.s));
	}
	if (x->rows.n > MAX_ROWS) {
		pm_str_clear(&s);
		pm_str_addf(&s, "%zu shapes more, in %s", x->rows.n - MAX_ROWS, uri);
		cJSON_AddItemToArray(list, cJSON_CreateString(s.s));
	}
	pm_str_release(&s);
}

/* An attribute as text; what is left out has its default. */
static void text_of(const Group *x, PmNode n, const char *name, PmStr *out)
{
	const PmAttr *a = pm_node_attr(x->g, n, name);

	pm_str_clear(out);
	if (a)
		attr_text(a, x->dtype, out);
	else
		pm_str_add(out, "its default");
}

/* The attributes of node i of `from` that the two do not have in common; those that only the other has when
 * `only`. */
static void compare_node(const Group *first, const Group *x, size_t i, int only, cJSON *list)
{
	const Group *from = only ? first : x;
	PmNode n = pm_graph_node_at(from->g, i), m = pm_graph_node_at(x->g, i),
	       o = pm_graph_node_at(first->g, i);
	PmStr is = PM_STR_INIT, was = PM_STR_INIT, line = PM_STR_INIT;

	for (size_t k = 0; k < pm_node_n_attrs(from->g, n); k++) {
		const char *name = pm_node_attr_at(from->g, n, k)->name;

		if (only && pm_node_attr(x->g, m, name))
			continue;
		text_of(x, m, name, &is);
		text_of(first, o, name, &was);
		if (!strcmp(is.s, was.s))
			continue;
		pm_str_clear(&line);
		pm_str_addf(&line, "%s %s: %s = %s instead of %s",
			    pm_value_name(x->g, pm_node_out(x->g, m, 0)), pm_node_op_name(x->g, m), name,
			    is.s, was.s);
		cJSON_AddItemToArray(list, cJSON_CreateString(line.s));
	}
	pm_str_release(&is);
	pm_str_release(&was);
	pm_str_release(&line);
}

/* From the first graph: attributes, or all of it. */
static void add_difference(const Group *first, const Group *x, cJSON *j)
{
	cJSON *list;

	if (x == first)
		return;
	if (strcmp(first->structure, x->structure) != 0) {
		cJSON_AddStringToObject(j, "graph", x->text);
		return;
	}
	list = cJSON_AddArrayToObject(j, "differs");
	for (size_t i = 0; i < pm_graph_n_nodes(x->g); i++) {
		compare_node(first, x, i, 0, list);
		compare_node(first, x, i, 1, list);
	}
	if (!list->child) { /* in a tensor or a graph that an attribute holds */
		cJSON_DeleteItemFromObject(j, "differs");
		cJSON_AddStringToObject(j, "graph", x->text);
	}
}

/* "v1, v4", or nothing */
static void varying_text(const Group *x, PmStr *out)
{
	const char *sep = "";

	for (size_t i = 0; i < x->consts.n; i++)
		if (x->consts.v[i].varies) {
			pm_str_addf(out, "%s%s", sep, x->consts.v[i].name.s);
			sep = ", ";
		}
}

static void add_varying(const Group *x, cJSON *j)
{
	PmStr s = PM_STR_INIT;

	varying_text(x, &s);
	if (s.len)
		cJSON_AddStringToObject(j, "constants_vary", s.s);
	pm_str_release(&s);
}

PmStatus pm__task_graphs(const PmTools *t, int64_t task, const char *uri, cJSON **out, PmGraph **first,
			 int *dtype, PmErr *err)
{
	Groups all = { 0 };
	PmStatus st = pm_task_variants_each(t->db, task, add_variant, &all, err);

	*first = NULL;
	*out = cJSON_CreateArray();
	for (size_t i = 0; i < all.v.n && !st; i++) {
		const Group *x = &all.v.v[i];
		cJSON *j = cJSON_CreateObject();
		PmStr s = PM_STR_INIT;

		add_numbers(x->numbers.v, x->numbers.n, &s);
		cJSON_AddStringToObject(j, "variants", s.s);
		pm_str_release(&s);
		add_difference(&all.v.v[0], x, j);
		add_varying(x, j);
		add_inputs(x, j);
		add_rows(x, uri, j);
		cJSON_AddItemToArray(*out, j);
	}
	if (all.v.n && !st) {
		*first = all.v.v[0].g;
		*dtype = all.v.v[0].dtype;
		all.v.v[0].g = NULL;
	}
	release(&all);
	return st;
}

static PmStatus list_graphs(const PmTools *t, int64_t task, int64_t picked, cJSON **out, PmErr *err)
{
	Groups all = { 0 };
	PmStatus st = pm_task_variants_each(t->db, task, add_variant, &all, err);

	*out = cJSON_CreateArray();
	for (size_t i = 0; i < all.v.n && !st; i++) {
		const Group *x = &all.v.v[i];
		cJSON *j = cJSON_CreateObject();
		PmStr s = PM_STR_INIT;
		int64_t one = x->numbers.v[0];

		for (size_t k = 0; k < x->numbers.n; k++)
			one = x->numbers.v[k] == picked ? picked : one;
		add_numbers(x->numbers.v, x->numbers.n, &s);
		cJSON_AddNumberToObject(j, "graph", (double)i);
		cJSON_AddStringToObject(j, "variants", s.s);
		pm_json_add_i64(j, "number", one);
		pm_str_release(&s);
		cJSON_AddItemToArray(*out, j);
	}
	release(&all);
	return st;
}

PmStatus pm__run_graphs(const PmTools *t, PmToolRun *r, PmErr *err)
{
	if (r->whole || !r->task || pm_json_i64(r->args, "variant", -1) >= 0)
		return PM_OK;
	cJSON_Delete(r->graphs);
	return list_graphs(t, r->task, r->variant, &r->graphs, err);
}

/* ---- as text ---- */

/* The graph of the group's first variant, and a line for each variant: number, element type, shapes. */
static void add_group_text(const Group *x, size_t i, size_t n, PmStr *out)
{
	PmStr s = PM_STR_INIT;

	add_numbers(x->numbers.v, x->numbers.n, &s);
	pm_str_addf(out, "# graph %zu of %zu: variants %s; as in variant %lld\n%s\n", i + 1, n, s.s,
		    (long long)x->numbers.v[0], x->text);
	pm_str_clear(&s);
	inputs_text(x, &s);
	pm_str_addf(out, "# inputs, where T is the element type of the variant: %s\n", s.s);
	pm_str_clear(&s);
	varying_text(x, &s);
	if (s.len)
		pm_str_addf(
			out,
			"# constants that are not the same in all (show_graph with a variant shows them): "
			"%s\n",
			s.s);
	pm_str_add(out, "# variant, element type, shape of each input\n");
	for (size_t k = 0; k < x->members.n; k++) {
		const Member *m = &x->members.v[k];

		pm_str_addf(out, "%lld %s: %s\n", (long long)m->number, pm_dtype_name(m->dtype),
			    x->rows.v[m->row].shapes);
	}
	pm_str_addc(out, '\n');
	pm_str_release(&s);
}

PmStatus pm__task_text(const PmTools *t, int64_t task, PmStr *out, PmErr *err)
{
	Groups all = { 0 };
	PmStatus st = pm_task_variants_each(t->db, task, add_variant, &all, err);

	for (size_t i = 0; i < all.v.n && !st; i++)
		add_group_text(&all.v.v[i], i, all.v.n, out);
	release(&all);
	return st;
}
