/* SPDX-License-Identifier: Apache-2.0 */
/* rewritten.c - a rewritten graph as text in which sources of kernels are named by their digests. */
#include "bench/eval/rewritten.h"

#include "base/core/hash.h"
#include "base/core/str.h"
#include "ir/core/limits.h"
#include "ir/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int has_source(const cJSON *sources, const char *text)
{
	const cJSON *s;

	cJSON_ArrayForEach(s, sources) if (!strcmp(s->valuestring, text)) return 1;
	return 0;
}

/* The alternative of a kernel that is looked at. */
static int chosen(const PmGraph *g, PmNode n, int alt)
{
	int have = (int)pm_node_i(g, n, "alts", 1);

	return alt < have ? alt : have - 1;
}

/* Takes the sources of a kernel out of the copy. */
static PmStatus take_sources(PmGraph *g, PmNode n, int alt, cJSON *sources, PmErr *err)
{
	PmStatus st = PM_OK;

	for (int k = 0; k < PM_MAX_ALTS && !st; k++) {
		char attr[24], name[PM_SHA256_HEX + 8];
		const char *text;

		snprintf(attr, sizeof attr, "source_%d", k);
		text = pm_node_s(g, n, attr, NULL);
		if (!text)
			break;
		if (k == chosen(g, n, alt) && !has_source(sources, text))
			cJSON_AddItemToArray(sources, cJSON_CreateString(text));
		strcpy(name, "sha256:");
		pm_sha256_hex(text, strlen(text), name + strlen(name));
		st = pm_node_set_s(g, n, attr, name, strlen(name), err);
	}
	return st;
}

/* ---- what does not depend on shapes ---- */

static void add_wiring(const PmGraph *g, uint32_t *number, uint32_t *next, PmNode n, PmStr *out)
{
	for (size_t k = 0; k < pm_node_n_in(g, n); k++) {
		PmValue v = pm_node_in(g, n, k);

		if (pm_value_is_const(g, v))
			pm_str_add(out, " c");
		else if (v.id && !number[v.id])
			pm_str_addf(out, " %u", number[v.id] = ++*next);
		else
			pm_str_addf(out, " %u", v.id ? number[v.id] : 0);
	}
	pm_str_add(out, " >");
	for (size_t k = 0; k < pm_node_n_out(g, n); k++) {
		PmValue v = pm_node_out(g, n, k);

		if (!number[v.id])
			number[v.id] = ++*next;
		pm_str_addf(out, " %u", number[v.id]);
	}
}

static void add_entries(const PmGraph *g, PmNode n, int alt, PmStr *out)
{
	char attr[24];
	const PmAttr *a;

	snprintf(attr, sizeof attr, "launch_%d", alt);
	a = pm_node_attr(g, n, attr);
	pm_str_addf(out, " %s %d", pm_node_s(g, n, "name", ""), alt);
	for (size_t i = 0; a && a->kind == PM_ATTR_STRINGS && i < a->n; i++)
		pm_str_addf(out, " %.*s", (int)strcspn(a->strings[i], " "), a->strings[i]);
}

static void add_code(const PmGraph *g, int alt, PmStr *out)
{
	uint32_t *number = pm_xcalloc((size_t)pm_graph_value_limit(g) + 1, sizeof *number), next = 0;

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode n = pm_graph_node_at(g, i);
		const PmAttr *body = pm_node_attr(g, n, "body");

		pm_str_add(out, pm_node_op_name(g, n));
		add_wiring(g, number, &next, n, out);
		if (pm_node_op(g, n) == PM_OP_Kernel)
			add_entries(g, n, chosen(g, n, alt), out);
		if (body && body->graph) {
			pm_str_add(out, " {\n");
			add_code(body->graph, alt, out);
			pm_str_addc(out, '}');
		}
		pm_str_addc(out, '\n');
	}
	free(number);
}

PmStatus pm_rewritten_json(const PmGraph *g, int alt, char **out, PmErr *err)
{
	static const PmPrintOpts opts = { .max_inline = PM_REWRITTEN_INLINE, .no_header = 1 };
	cJSON *j = cJSON_CreateObject(), *sources = cJSON_CreateArray();
	PmStr text = PM_STR_INIT, code = PM_STR_INIT, line = PM_STR_INIT;
	char hex[PM_SHA256_HEX];
	PmGraph *copy = NULL;
	PmStatus st = pm_graph_clone(g, &copy, err);

	*out = NULL;
	for (size_t i = 0; !st && i < pm_graph_n_nodes(copy); i++)
		if (pm_node_op(copy, pm_graph_node_at(copy, i)) == PM_OP_Kernel)
			st = take_sources(copy, pm_graph_node_at(copy, i), alt, sources, err);
	if (!st)
		st = pm_graph_print(copy, &opts, &text, err);
	if (!st) {
		add_code(copy, alt, &code);
		pm_sha256_hex(code.s, code.len, hex);
		cJSON_AddStringToObject(j, "code", hex);
		cJSON_AddStringToObject(j, "text", text.s);
	}
	cJSON_AddItemToObject(j, "sources", sources);
	if (!st) {
		pm_json_print(j, 0, &line);
		*out = pm_str_detach(&line, NULL);
	}
	cJSON_Delete(j);
	pm_graph_free(copy);
	pm_str_release(&text);
	pm_str_release(&code);
	pm_str_release(&line);
	return st;
}
