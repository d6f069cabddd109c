/* SPDX-License-Identifier: Apache-2.0 */
/* replace.c - a node's readers get another value. */
#include "simplify/simplify_priv.h"

#include <stdlib.h>

int pm__simplify_replace(PmGraph *g, PmNode n, PmValue v)
{
	PmValue out = pm_node_out(g, n, 0);
	char *name = NULL;

	if (pm_value_is_output(g, out)) {
		if (pm_value_is_input(g, v) || pm_value_is_const(g, v) || pm_value_is_output(g, v))
			return 0;
		name = pm_xstrdup(pm_value_name(g, out));
	}
	pm_graph_replace_uses(g, out, v);
	pm_graph_kill_node(g, n, NULL);
	if (name)
		pm_value_set_name(g, v, name, NULL);
	free(name);
	return 1;
}
