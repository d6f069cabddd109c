/* SPDX-License-Identifier: Apache-2.0 */
/* shape_table.c - signatures of open shapes, and looking them up. */
#include "extract/variants/shape_table.h"

#include "base/core/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_text(const void *a, const void *b)
{
	return strcmp(((const PmStr *)a)->s, ((const PmStr *)b)->s);
}

/* The number of a symbol, given on first sight; PM_TABLE_SYMBOLS when there are too many. */
static size_t number_of(const char *symbol, const char *name[PM_TABLE_SYMBOLS], size_t *n)
{
	size_t k = 0;

	while (k < *n && strcmp(name[k], symbol))
		k++;
	if (k == *n && k < PM_TABLE_SYMBOLS)
		name[(*n)++] = symbol;
	return k;
}

/* "(S0,3)", or nothing for an input without symbols; a tuple of one keeps its comma. */
static int add_tuple(const PmGraph *g, const PmType *t, PmStr *out, const char *name[PM_TABLE_SYMBOLS],
		     size_t *n)
{
	int open = 0;

	for (int k = 0; k < t->rank; k++)
		open |= t->dim[k] < 0;
	if (!open)
		return 1;
	pm_str_addc(out, '(');
	for (int k = 0; k < t->rank; k++) {
		if (k)
			pm_str_addc(out, ',');
		if (t->dim[k] < 0) {
			size_t number = number_of(pm_graph_symbol_name(g, t->dim[k]), name, n);

			if (number == PM_TABLE_SYMBOLS)
				return 0;
			pm_str_addf(out, "S%zu", number);
		} else {
			pm_str_addf(out, "%lld", (long long)t->dim[k]);
		}
	}
	pm_str_add(out, t->rank == 1 ? ",)" : ")");
	return 1;
}

PmStatus pm_shape_signature(const PmGraph *g, PmStr *out, const char *name[PM_TABLE_SYMBOLS], size_t *n,
			    PmErr *err)
{
	PM_VEC(PmStr) tuple = { NULL, 0, 0 };
	PmStatus st = PM_OK;

	*n = 0;
	for (size_t i = 0; i < pm_graph_n_inputs(g) && !st; i++) {
		PmStr one = PM_STR_INIT;

		if (!add_tuple(g, pm_value_type(g, pm_graph_input(g, i)), &one, name, n))
			st = pm_err(err, PM_E_LIMIT,
				    "Graph '%s' has more than %d open sizes; bind some of them.",
				    pm_graph_name(g), PM_TABLE_SYMBOLS);
		if (one.len)
			PM_VEC_PUSH(&tuple, one);
	}
	qsort(tuple.v, tuple.n, sizeof *tuple.v, by_text);
	pm_str_addc(out, '[');
	for (size_t i = 0; i < tuple.n; i++) {
		pm_str_addf(out, "%s%s", i ? "," : "", tuple.v[i].s);
		pm_str_release(&tuple.v[i]);
	}
	pm_str_addc(out, ']');
	PM_VEC_RELEASE(&tuple);
	return st;
}

/* The place of symbol Sk in a rule's list, -1 when the rule does not have it. */
static int place_of(const cJSON *symbols, size_t k)
{
	const cJSON *s;
	char name[24];
	int place = 0;

	snprintf(name, sizeof name, "S%zu", k);
	cJSON_ArrayForEach(s, symbols)
	{
		if (cJSON_IsString(s) && !strcmp(s->valuestring, name))
			return place;
		place++;
	}
	return -1;
}

static PmStatus take_row(const cJSON *rule, const char *label, const char *signature, size_t index,
			 int64_t size[PM_TABLE_SYMBOLS], size_t n, PmErr *err)
{
	const cJSON *values = pm_json_get(rule, "values"), *row = cJSON_GetArrayItem(values, (int)index);

	if (index > INT32_MAX || !row)
		return pm_err(err, PM_E_NOT_FOUND, "%s has %d rows for %.200s; there is no row %zu.", label,
			      cJSON_GetArraySize(values), signature, index);
	for (size_t k = 0; k < n; k++) {
		int place = place_of(pm_json_get(rule, "symbols"), k);
		const cJSON *v = place < 0 ? NULL : cJSON_GetArrayItem(row, place);

		if (!cJSON_IsNumber(v) || !(v->valuedouble >= 1 && v->valuedouble <= 1e15))
			return pm_err(err, PM_E_INVALID,
				      "%s gives no size for S%zu of %.200s; correct the table.", label, k,
				      signature);
		size[k] = (int64_t)v->valuedouble;
	}
	return PM_OK;
}

PmStatus pm_shape_table_find(const cJSON *table, const char *label, const char *signature, size_t index,
			     int64_t size[PM_TABLE_SYMBOLS], size_t n, PmErr *err)
{
	const cJSON *t;

	if (!cJSON_IsArray(pm_json_get(table, "tables")))
		return pm_err(err, PM_E_INVALID, "%s has no list called \"tables\"; give a table of shapes.",
			      label);
	cJSON_ArrayForEach(t, pm_json_get(table, "tables"))
	{
		const cJSON *name = pm_json_get(pm_json_get(t, "signatures"), signature), *rule;

		if (!name)
			continue;
		rule = cJSON_IsString(name) ? pm_json_get(pm_json_get(t, "rules"), name->valuestring) : NULL;
		if (!rule)
			return pm_err(err, PM_E_INVALID, "%s names a rule for %.200s that it does not have.",
				      label, signature);
		return take_row(rule, label, signature, index, size, n, err);
	}
	return pm_err(err, PM_E_NOT_FOUND, "%s has no signature %.300s; give the sizes with --dim.", label,
		      signature);
}
