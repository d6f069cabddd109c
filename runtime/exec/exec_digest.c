/* SPDX-License-Identifier: Apache-2.0 */
/* exec_digest.c - one digest of what the fused kernels of an executor are: the same wherever they run. */
#include "runtime/exec/exec.h"

#include "base/core/str.h"
#include "runtime/exec/plan_priv.h"

#include <stdio.h>
#include <string.h>

static void add_text(char hex[PM_CHAIN_HEX], const char *s)
{
	pm_chain_hex(hex, s, strlen(s) + 1);
}

/* The attributes that are one alternative of a Kernel node, as they are stored (ir/core/kernel.h). */
static void add_alternative(char hex[PM_CHAIN_HEX], const PmGraph *g, PmNode n, int alt)
{
	static const char *const parts[] = { "source", "type", "scratch", "launch" };
	char name[32];

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		const PmAttr *a;

		snprintf(name, sizeof name, "%s_%d", parts[i], alt);
		a = pm_node_attr(g, n, name);
		add_text(hex, a ? parts[i] : "none");
		if (a && a->kind == PM_ATTR_STRING)
			add_text(hex, a->s);
		for (size_t k = 0; a && k < a->n && a->kind == PM_ATTR_INTS; k++)
			pm_chain_hex(hex, &a->ints[k], sizeof a->ints[k]);
		for (size_t k = 0; a && k < a->n && a->kind == PM_ATTR_STRINGS; k++)
			add_text(hex, a->strings[k]);
	}
}

static void add_types(char hex[PM_CHAIN_HEX], const PmGraph *g, PmNode n)
{
	PmStr s = PM_STR_INIT;

	for (size_t i = 0; i < pm_node_n_in(g, n); i++)
		pm_type_describe(pm_value_type(g, pm_node_in(g, n, i)), &s);
	pm_str_add(&s, " -> ");
	for (size_t i = 0; i < pm_node_n_out(g, n); i++)
		pm_type_describe(pm_value_type(g, pm_node_out(g, n, i)), &s);
	add_text(hex, s.s);
	pm_str_release(&s);
}

void pm_exec_digest(const PmExec *x, const int *alts, size_t n_alts, char hex[PM_CHAIN_HEX])
{
	const PmPlan *p = pm_exec_plan(x);
	PmDevice *d = pm_exec_device(x);
	size_t k = 0;

	hex[0] = 0;
	for (size_t i = 0; i < pm_graph_n_nodes(p->g); i++) {
		PmNode n = pm_graph_node_at(p->g, i);
		int alt = k < n_alts ? alts[k] : 0;

		if (pm_node_op(p->g, n) != PM_OP_Kernel)
			continue;
		k++;
		pm_chain_hex(hex, &alt, sizeof alt);
		add_types(hex, p->g, n);
		add_alternative(hex, p->g, n, alt);
	}
	for (size_t i = 0; i < p->steps.n && d->ops->code; i++) {
		char code[PM_CHAIN_HEX] = "";

		if (!p->steps.v[i].fused)
			continue;
		d->ops->code(d, pm_exec_module(x, p->steps.v[i].source), code);
		add_text(hex, code);
	}
}
