/* SPDX-License-Identifier: Apache-2.0 */
/* import_report.c - what `passmith import` says of a model. */
#include "cli/import_report.h"

#include "base/core/arena.h"
#include "base/core/clean.h"
#include "base/core/str.h"
#include "cli/cmds.h"
#include "ir/category/category.h"
#include "runtime/ref/ref.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LISTED = 12 }; /* inputs, outputs, operators, symbols: the rest is counted */

/* ---- what there is to say ---- */

typedef struct OpCount {
	PmOp op;
	size_t n;
} OpCount;

static int more_first(const void *a, const void *b)
{
	const OpCount *x = a, *y = b;

	if (x->n != y->n)
		return x->n < y->n ? 1 : -1;
	return x->op < y->op ? -1 : 1;
}

/* The operators of the table that occur, the most frequent first; returns how many. */
static size_t count_ops(const PmGraph *g, OpCount ops[PM_N_OPS])
{
	size_t n = 0;

	memset(ops, 0, PM_N_OPS * sizeof *ops);
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmOp op = pm_node_op(g, pm_graph_node_at(g, i));

		ops[op].op = op;
		ops[op].n += op != PM_OP_Opaque;
	}
	qsort(ops, PM_N_OPS, sizeof *ops, more_first);
	while (n < PM_N_OPS && ops[n].n)
		n++;
	return n;
}

typedef struct Weights {
	size_t n, n_absent;
	double bytes, absent_bytes;
	const char *file; /* where an absent one would be */
} Weights;

static Weights count_weights(const PmGraph *g)
{
	Weights w = { 0, 0, 0, 0, NULL };

	for (uint32_t id = 1; id < pm_graph_value_limit(g); id++) {
		const PmBlob *b = pm_value_blob(g, (PmValue){ id });

		if (!b)
			continue;
		w.n++;
		w.bytes += (double)b->size;
		if (b->data || !b->size)
			continue;
		w.n_absent++;
		w.absent_bytes += (double)b->size;
		w.file = b->location ? b->location : w.file;
	}
	return w;
}

/* Marks the symbols that occur in the types of the inputs; returns how many there are. */
static size_t input_symbols(const PmGraph *g, PmDim *out, size_t max)
{
	size_t n = 0, s;

	for (size_t i = 0; i < pm_graph_n_inputs(g); i++) {
		const PmType *t = pm_value_type(g, pm_graph_input(g, i));

		for (int k = 0; k < t->rank; k++) {
			for (s = 0; s < n && out[s] != t->dim[k]; s++)
				;
			if (t->dim[k] < 0 && s == n && n < max)
				out[n++] = t->dim[k];
		}
	}
	return n;
}

static void add_bytes(double bytes, PmStr *out)
{
	static const char *const unit[] = { "bytes", "kB", "MB", "GB", "TB" };
	size_t u = 0;

	while (bytes >= 1000 && u + 1 < sizeof unit / sizeof *unit) {
		bytes /= 1000;
		u++;
	}
	pm_str_addf(out, u ? "%.1f %s" : "%.0f %s", bytes, unit[u]);
}

/* ---- for people ---- */

/* One value a line: names of real models are long. */
static void print_values(const char *label, const PmGraph *g, size_t n,
			 PmValue (*at)(const PmGraph *, size_t))
{
	char name[PM_CLEAN_QUOTED];
	PmStr s = PM_STR_INIT;

	for (size_t i = 0; i < n && i < MAX_LISTED; i++) {
		pm_clean(pm_value_name(g, at(g, i)), name, sizeof name, 0);
		pm_str_clear(&s);
		pm_graph_describe_type(g, pm_value_type(g, at(g, i)), &s);
		printf("  %-10s %s %s\n", i ? "" : label, name, s.s);
	}
	if (n > MAX_LISTED)
		printf("  %-10s and %zu more\n", "", n - MAX_LISTED);
	if (!n)
		printf("  %-10s none\n", label);
	pm_str_release(&s);
}

static void print_ops(const PmGraph *g)
{
	OpCount ops[PM_N_OPS];
	size_t n = count_ops(g, ops);

	printf("  %-10s %zu of %zu kinds:", "nodes", pm_graph_n_nodes(g), n);
	for (size_t i = 0; i < n && i < MAX_LISTED; i++)
		printf("%s %s %zu", i ? "," : "", pm_op_desc(ops[i].op)->name, ops[i].n);
	if (n > MAX_LISTED)
		printf(", and %zu other kinds", n - MAX_LISTED);
	printf("\n");
}

static void print_weights(const PmGraph *g, const PmOnnxReport *r)
{
	Weights w = count_weights(g);
	PmStr s = PM_STR_INIT;

	pm_str_addf(&s, "%zu constant%s, ", w.n, pm_plural(w.n));
	add_bytes(w.bytes, &s);
	if (w.n_absent) {
		pm_str_addf(&s, "; the data of %zu (", w.n_absent);
		add_bytes(w.absent_bytes, &s);
		pm_str_addf(&s, ") is not at hand: '%.100s' is missing", w.file ? w.file : "its file");
	}
	printf("  %-10s %s\n", "weights", s.s);
	if (r->weights.n) {
		pm_str_clear(&s);
		pm_weights_describe(&r->weights, &s);
		printf("  %-10s %zu weights synthesised: %s\n", "", r->weights.n, s.s);
	}
	pm_str_release(&s);
}

static void print_symbols(const PmGraph *g, const char *path)
{
	PmDim sym[MAX_LISTED];
	size_t n = input_symbols(g, sym, MAX_LISTED);

	if (!n)
		return;
	printf("  %-10s", "open sizes");
	for (size_t i = 0; i < n; i++)
		printf("%s %s", i ? "," : "", pm_graph_symbol_name(g, sym[i]));
	printf("; to fix one: passmith bind %s --dim %s=4 -o bound.onnx\n", path,
	       pm_graph_symbol_name(g, sym[0]));
}

static void print_opaque(const PmOnnxReport *r, const char *indent)
{
	for (size_t i = 0; i < r->n_opaque; i++)
		printf("%s%4d %s: %s\n", indent, r->opaque[i].count, r->opaque[i].name, r->opaque[i].why);
}

void pm_import_print(const char *path, const PmGraph *g, const PmOnnxReport *r)
{
	char name[128];
	const char *why = "";
	PmCategory category = pm_category_of(g, &why);

	pm_clean(pm_graph_name(g), name, sizeof name, 0);
	printf("%s\n", path);
	if (r->opset)
		printf("  %-10s '%s', opset %lld\n", "graph", name, (long long)r->opset);
	else
		printf("  %-10s '%s'\n", "graph", name);
	printf("  %-10s %s: %s\n", "category", pm_category_name(category), why);
	print_values("inputs", g, pm_graph_n_inputs(g), pm_graph_input);
	print_values("outputs", g, pm_graph_n_outputs(g), pm_graph_output);
	print_ops(g);
	print_weights(g, r);
	print_symbols(g, path);
	if (r->n_inlined)
		printf("  %-10s %zu call%s of the model's own functions inlined\n", "functions", r->n_inlined,
		       pm_plural(r->n_inlined));
	if (r->n_opaque_nodes) {
		printf("  %-10s %zu node%s that cannot be run or matched, but survive export:\n", "opaque",
		       r->n_opaque_nodes, pm_plural(r->n_opaque_nodes));
		print_opaque(r, "             ");
	}
}

void pm_import_print_line(const char *path, const PmGraph *g, const PmOnnxReport *r)
{
	Weights w = count_weights(g);
	PmStr s = PM_STR_INIT;
	PmDim sym[MAX_LISTED];
	size_t n_in = pm_graph_n_inputs(g), n_out = pm_graph_n_outputs(g), n_sym;

	pm_str_addf(&s, "%s: %s, %zu node%s, %zu input%s, %zu output%s, ", path,
		    pm_category_name(pm_category_of(g, NULL)), pm_graph_n_nodes(g),
		    pm_plural(pm_graph_n_nodes(g)), n_in, pm_plural(n_in), n_out, pm_plural(n_out));
	add_bytes(w.bytes, &s);
	pm_str_add(&s, " of weights");
	if (w.n_absent)
		pm_str_addf(&s, " (%zu of %zu not at hand, %zu weights synthesised)", w.n_absent, w.n,
			    r->weights.n);
	n_sym = input_symbols(g, sym, MAX_LISTED);
	if (n_sym)
		pm_str_addf(&s, ", %zu open size%s", n_sym, pm_plural(n_sym));
	if (r->n_inlined)
		pm_str_addf(&s, ", %zu function call%s inlined", r->n_inlined, pm_plural(r->n_inlined));
	if (r->n_opaque_nodes)
		pm_str_addf(&s, ", %zu opaque node%s:", r->n_opaque_nodes, pm_plural(r->n_opaque_nodes));
	puts(s.s);
	print_opaque(r, "    ");
	pm_str_release(&s);
}

void pm_import_check_print(const PmImportCheck *c)
{
	const PmOnnxStated *s = &c->stated;

	printf("print, parse, print:     %zu of %zu models unchanged\n"
	       "export, import, export:  %zu of %zu models unchanged\n"
	       "stated types:            %zu compared, %zu equal, %zu not inferred as a whole, %zu differ",
	       c->n_text, c->n_models, c->n_onnx, c->n_models,
	       s->n_equal + s->n_renamed + s->n_less + s->n_differ, s->n_equal + s->n_renamed, s->n_less,
	       s->n_differ);
	if (s->n_renamed)
		printf("; %zu of the equal ones have a size that the data decides, under another name",
		       s->n_renamed);
	if (s->n_opaque)
		printf("; %zu of opaque nodes are taken as stated", s->n_opaque);
	printf("\n");
}

/* ---- for programs ---- */

/* Floating point operations of one run, as far as shapes are known. */
static int64_t total_flops(const PmGraph *g)
{
	int64_t sum = 0;

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++)
		sum += pm_op_flops(g, pm_graph_node_at(g, i));
	return sum;
}

static cJSON *values_json(const PmGraph *g, size_t n, PmValue (*at)(const PmGraph *, size_t))
{
	cJSON *list = cJSON_CreateArray();

	for (size_t i = 0; i < n; i++) {
		cJSON *j = cJSON_CreateObject();
		PmStr s = PM_STR_INIT;

		pm_graph_describe_type(g, pm_value_type(g, at(g, i)), &s);
		cJSON_AddStringToObject(j, "name", pm_value_name(g, at(g, i)));
		cJSON_AddStringToObject(j, "type", s.s);
		cJSON_AddItemToArray(list, j);
		pm_str_release(&s);
	}
	return list;
}

static cJSON *ops_json(const PmGraph *g)
{
	cJSON *j = cJSON_CreateObject();
	OpCount ops[PM_N_OPS];
	size_t n = count_ops(g, ops);

	for (size_t i = 0; i < n; i++)
		pm_json_add_i64(j, pm_op_desc(ops[i].op)->name, (int64_t)ops[i].n);
	return j;
}

static cJSON *opaque_json(const PmOnnxReport *r)
{
	cJSON *kinds = cJSON_CreateArray();

	for (size_t i = 0; i < r->n_opaque; i++) {
		cJSON *k = cJSON_CreateObject();

		cJSON_AddStringToObject(k, "operator", r->opaque[i].name);
		cJSON_AddStringToObject(k, "why", r->opaque[i].why);
		pm_json_add_i64(k, "count", r->opaque[i].count);
		cJSON_AddItemToArray(kinds, k);
	}
	return kinds;
}

static cJSON *symbols_json(const PmGraph *g)
{
	enum { MAX = 256 };
	cJSON *list = cJSON_CreateArray();
	PmDim sym[MAX];
	size_t n = input_symbols(g, sym, MAX);

	for (size_t i = 0; i < n; i++)
		cJSON_AddItemToArray(list, cJSON_CreateString(pm_graph_symbol_name(g, sym[i])));
	return list;
}

static cJSON *overruled_json(const PmOnnxReport *r)
{
	cJSON *list = cJSON_CreateArray();

	for (size_t i = 0; i < r->n_overruled && i < PM_ONNX_MAX_OVERRULED; i++)
		cJSON_AddItemToArray(list, cJSON_CreateString(r->overruled[i]));
	return list;
}

static cJSON *check_json(const PmImportCheck *c)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddBoolToObject(j, "text_unchanged", c->n_text == c->n_models);
	cJSON_AddBoolToObject(j, "onnx_unchanged", c->n_onnx == c->n_models);
	pm_json_add_i64(j, "stated_equal", (int64_t)c->stated.n_equal);
	pm_json_add_i64(j, "stated_equal_but_names", (int64_t)c->stated.n_renamed);
	pm_json_add_i64(j, "stated_not_inferred", (int64_t)c->stated.n_less);
	pm_json_add_i64(j, "stated_differ", (int64_t)c->stated.n_differ);
	pm_json_add_i64(j, "stated_opaque", (int64_t)c->stated.n_opaque);
	return j;
}

cJSON *pm_import_json(const char *path, const PmGraph *g, const PmOnnxReport *r, const char *hash,
		      const PmImportCheck *check)
{
	cJSON *j = cJSON_CreateObject();
	Weights w = count_weights(g);

	cJSON_AddStringToObject(j, "file", path);
	cJSON_AddStringToObject(j, "graph", pm_graph_name(g));
	cJSON_AddStringToObject(j, "hash", hash);
	pm_json_add_i64(j, "opset", r->opset);
	pm_json_add_i64(j, "nodes", (int64_t)pm_graph_n_nodes(g));
	cJSON_AddItemToObject(j, "operators", ops_json(g));
	cJSON_AddStringToObject(j, "category", pm_category_name(pm_category_of(g, NULL)));
	cJSON_AddItemToObject(j, "inputs", values_json(g, pm_graph_n_inputs(g), pm_graph_input));
	cJSON_AddItemToObject(j, "outputs", values_json(g, pm_graph_n_outputs(g), pm_graph_output));
	cJSON_AddItemToObject(j, "open_sizes", symbols_json(g));
	pm_json_add_i64(j, "flops", total_flops(g));
	pm_json_add_i64(j, "constants", (int64_t)w.n);
	cJSON_AddNumberToObject(j, "constant_bytes", w.bytes);
	cJSON_AddItemToObject(j, "weights", pm_cli_weights_json(&r->weights));
	pm_json_add_i64(j, "absent_weights", (int64_t)w.n_absent);
	cJSON_AddNumberToObject(j, "absent_bytes", w.absent_bytes);
	pm_json_add_i64(j, "functions_inlined", (int64_t)r->n_inlined);
	pm_json_add_i64(j, "opaque_nodes", (int64_t)r->n_opaque_nodes);
	cJSON_AddItemToObject(j, "opaque", opaque_json(r));
	if (r->n_overruled)
		cJSON_AddItemToObject(j, "types_inferred", overruled_json(r));
	if (check)
		cJSON_AddItemToObject(j, "check", check_json(check));
	return j;
}
