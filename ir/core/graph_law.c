/* SPDX-License-Identifier: Apache-2.0 */
/* graph_law.c - laws of inputs, which a graph keeps in its metadata. */
#include "ir/core/graph.h"

#include "base/core/str.h"

#include <string.h>

enum { LAW_KEY_LEN = sizeof PM_INPUT_LAW_KEY - 1 };

static int is_law_key(const char *key)
{
	return !strncmp(key, PM_INPUT_LAW_KEY, LAW_KEY_LEN);
}

const char *pm_graph_input_law(const PmGraph *g, PmValue input)
{
	const char *name = pm_value_name(g, input), *key, *value;

	for (size_t i = 0; i < pm_graph_n_meta(g); i++) {
		pm_graph_meta_at(g, i, &key, &value);
		if (is_law_key(key) && !strcmp(key + LAW_KEY_LEN, name))
			return value;
	}
	return NULL;
}

PmStatus pm_graph_set_input_law(PmGraph *g, PmValue input, const char *law, PmErr *err)
{
	PmStr key = PM_STR_INIT;
	PmStatus st;

	if (pm_graph_n_meta(g) >= PM_MAX_INPUT_LAWS)
		return pm_err(
			err, PM_E_LIMIT,
			"Graph '%.120s' has %zu metadata entries; with the law of input '%.120s' it would "
			"have more than %d. Make a task of a part of the model.",
			pm_graph_name(g), pm_graph_n_meta(g), pm_value_name(g, input),
			(int)PM_MAX_INPUT_LAWS);
	pm_str_addf(&key, PM_INPUT_LAW_KEY "%s", pm_value_name(g, input));
	st = pm_graph_set_meta(g, key.s, law, err);
	pm_str_release(&key);
	return st;
}

size_t pm_graph_law_input(const PmGraph *g, const char *key)
{
	size_t n = pm_graph_n_inputs(g);

	for (size_t i = 0; is_law_key(key) && i < n; i++)
		if (!strcmp(pm_value_name(g, pm_graph_input(g, i)), key + LAW_KEY_LEN))
			return i;
	return n;
}
