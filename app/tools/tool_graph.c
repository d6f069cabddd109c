/* SPDX-License-Identifier: Apache-2.0 */
/* tool_graph.c - show_graph: a graph with the shapes of all values, node by node or as text. */
#include "app/tools/tools_priv.h"

#include "app/model/model_file.h"
#include "dataset/store/tasks.h"
#include "ir/text/text.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN = 8, MAX_INLINE = 32, COUNT = 60 };

/* ---- reading ---- */

typedef struct Wanted {
	int64_t ordinal;
	PmGraph *g;
} Wanted;

static PmStatus read_variant(void *arg, const PmVariantRow *v, PmErr *err)
{
	Wanted *w = arg;

	if (v->ordinal != w->ordinal || w->g)
		return PM_OK;
	return pm_graph_parse(v->text, strlen(v->text), &w->g, err);
}

PmStatus pm__graph_of(const PmTools *t, const cJSON *args, PmGraph **out, PmErr *err)
{
	const char *task = pm__arg(args, "task"), *model = pm__arg(args, "model");
	Wanted w = { .ordinal = pm_json_i64(args, "variant", 0) };
	PmStr path = PM_STR_INIT;
	int64_t id = 0;
	PmStatus st;

	if (!task == !model)
		return pm_err(err, PM_E_INVALID,
			      "Give either task (a number or name of list_tasks) or model (a graph in the "
			      "workspace, or a bundled one such as models/llama_block.gpt).");
	if (model) {
		st = pm__model_path(t, model, &path, err);
		st = st ? st : pm_model_load(path.s, out, NULL, err);
		pm_str_release(&path);
		return st;
	}
	st = pm__task_id(t, task, &id, err);
	st = st ? st : pm_task_variants_each(t->db, id, read_variant, &w, err);
	if (!st && !w.g)
		st = pm_err(
			err, PM_E_NOT_FOUND,
			"The task has no variant %lld; show_task lists them, and their numbers begin with "
			"0.",
			(long long)w.ordinal);
	*out = w.g;
	return st;
}

/* ---- nodes ---- */

/* "x: float[1,64,56,56]", with the names of open sizes. */
static cJSON *value_of(const PmGraph *g, PmValue v)
{
	const PmType *t = pm_value_type(g, v);
	PmStr s = PM_STR_INIT;
	cJSON *j;

	pm_str_addf(&s, "%s: %s", pm_value_name(g, v), t->dtype < 0 ? "unknown" : pm_dtype_name(t->dtype));
	for (int i = 0; i < t->rank; i++) {
		const char *name = t->dim[i] < 0 ? pm_graph_symbol_name(g, t->dim[i]) : NULL;

		pm_str_add(&s, i ? "," : "[");
		if (name)
			pm_str_add(&s, name);
		else
			pm_str_addi(&s, t->dim[i]);
	}
	pm_str_add(&s, t->rank > 0 ? "]" : t->rank < 0 ? "[?]" : "");
	j = cJSON_CreateString(s.s);
	pm_str_release(&s);
	return j;
}

static cJSON *node_of(const PmGraph *g, PmNode n)
{
	cJSON *j = cJSON_CreateObject(), *in, *out, *attrs;

	cJSON_AddNumberToObject(j, "node", n.id); /* as explain says it */
	cJSON_AddStringToObject(j, "op", pm_node_op_name(g, n));
	in = cJSON_AddArrayToObject(j, "in");
	for (size_t i = 0; i < pm_node_n_in(g, n); i++) {
		PmValue v = pm_node_in(g, n, i);

		cJSON_AddItemToArray(in, cJSON_CreateString(v.id ? pm_value_name(g, v) : ""));
	}
	out = cJSON_AddArrayToObject(j, "out");
	for (size_t i = 0; i < pm_node_n_out(g, n); i++)
		cJSON_AddItemToArray(out, value_of(g, pm_node_out(g, n, i)));
	if (pm_node_n_attrs(g, n)) {
		attrs = cJSON_AddObjectToObject(j, "attributes");
		for (size_t i = 0; i < pm_node_n_attrs(g, n); i++) {
			const PmAttr *a = pm_node_attr_at(g, n, i);
			PmStr s = PM_STR_INIT;

			pm_attr_describe(a, &s);
			cJSON_AddStringToObject(attrs, a->name, s.s);
			pm_str_release(&s);
		}
	}
	return j;
}

/* Constants by name and type, with their elements where they are few. */
static cJSON *const_of(const PmGraph *g, PmValue v)
{
	cJSON *j = value_of(g, v);
	double x[SHOWN];
	size_t n;

	if (!pm_value_const_floats(g, v, x, SHOWN, &n)) {
		PmStr s = PM_STR_INIT;

		pm_str_addf(&s, "%s = {", j->valuestring);
		for (size_t i = 0; i < n; i++)
			pm_str_addf(&s, "%s%.9g", i ? ", " : "", x[i]);
		pm_str_addc(&s, '}');
		cJSON_SetValuestring(j, s.s);
		pm_str_release(&s);
	}
	return j;
}

static void add_signature(const PmGraph *g, cJSON *j)
{
	cJSON *list = cJSON_AddArrayToObject(j, "inputs");

	for (size_t i = 0; i < pm_graph_n_inputs(g); i++)
		cJSON_AddItemToArray(list, value_of(g, pm_graph_input(g, i)));
	list = cJSON_AddArrayToObject(j, "outputs");
	for (size_t i = 0; i < pm_graph_n_outputs(g); i++)
		cJSON_AddItemToArray(list, value_of(g, pm_graph_output(g, i)));
	list = cJSON_AddArrayToObject(j, "constants");
	for (uint32_t i = 1; i < pm_graph_value_limit(g); i++) {
		PmValue v = { i };

		if (pm_value_is_const(g, v) && pm_value_n_uses(g, v))
			cJSON_AddItemToArray(list, const_of(g, v));
	}
}

/* ---- text ---- */

/* Lines [from, from + count). */
static void add_lines(const char *text, int64_t from, int64_t count, PmStr *out, int64_t *all)
{
	int64_t line = 0;

	for (; *text; line++) {
		size_t n = strcspn(text, "\n");

		n += text[n] == '\n';
		if (line >= from && line < from + count)
			pm_str_addn(out, text, n);
		text += n;
	}
	*all = line;
}

static PmStatus add_text(const PmGraph *g, int64_t from, int64_t count, cJSON *j, PmErr *err)
{
	PmPrintOpts o = { .max_inline = MAX_INLINE, .no_stats = 1 };
	PmStr text = PM_STR_INIT, part = PM_STR_INIT;
	PmStatus st = pm_graph_print(g, &o, &text, err);
	int64_t all = 0;

	if (!st) {
		add_lines(text.s, from, count, &part, &all);
		cJSON_AddStringToObject(j, "text", part.s);
		pm_json_add_i64(j, "lines", all);
		if (from + count < all)
			pm_json_add_i64(j, "next_from", from + count);
	}
	pm_str_release(&text);
	pm_str_release(&part);
	return st;
}

cJSON *pm__tool_show_graph(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error)
{
	int64_t from = pm_json_i64(args, "from", 0), count = pm_json_i64(args, "count", COUNT);
	int text = !strcmp(pm_json_str(args, "form", "nodes"), "text");
	PmGraph *g = NULL;
	cJSON *j, *nodes;
	size_t n;
	PmErr err;

	(void)run;
	pm_err_init(&err);
	if (pm__graph_of(t, args, &g, &err))
		return pm__error_of(is_error, &err);
	j = cJSON_CreateObject();
	n = pm_graph_n_nodes(g);
	cJSON_AddNumberToObject(j, "nodes_in_graph", (double)n);
	if (text && add_text(g, from, count, j, &err)) {
		cJSON_Delete(j);
		j = pm__error_of(is_error, &err);
	} else if (!text) {
		if (from == 0)
			add_signature(g, j);
		nodes = cJSON_AddArrayToObject(j, "nodes");
		for (size_t i = (size_t)from; i < n && i < (size_t)(from + count); i++)
			cJSON_AddItemToArray(nodes, node_of(g, pm_graph_node_at(g, i)));
		pm__fit(j, NULL);
		from += cJSON_GetArraySize(nodes);
		if ((size_t)from < n)
			pm_json_add_i64(j, "next_from", from);
	}
	pm_graph_free(g);
	return j;
}
