/* SPDX-License-Identifier: Apache-2.0 */
/* match_miss.c - why a pattern did not match: as one sentence, and as fields. */
#include "matcher/pattern/match.h"

#include "matcher/rewrite/rule_stats.h"

#include <stdio.h>
#include <string.h>

enum { SHOWN = 80 }; /* bytes of a sub-pattern that a sentence shows */

static void add_pattern(const PmPattern *p, uint32_t node, PmStr *out)
{
	PmStr s = PM_STR_INIT;

	pm_pattern_print_node(p, node, &s);
	if (s.len > SHOWN) {
		pm_str_addn(out, s.s, SHOWN - 3);
		pm_str_add(out, "...");
	} else {
		pm_str_add(out, s.s);
	}
	pm_str_release(&s);
}

static void add_value(const PmGraph *g, PmValue v, PmStr *out)
{
	PmNode n = pm_value_def(g, v, NULL);

	pm_str_addf(out, "'%.60s'", pm_value_name(g, v));
	if (n.id)
		pm_str_addf(out, ", made by %.60s", pm_node_op_name(g, n));
	else if (pm_value_is_const(g, v))
		pm_str_add(out, ", a constant");
	else
		pm_str_add(out, ", a graph input");
}

static void add_attr(const PmGraph *g, PmNode n, const char *name, PmStr *out)
{
	const PmAttr *a = pm_node_attr(g, n, name);

	if (!a) {
		pm_str_add(out, "absent");
		return;
	}
	switch (a->kind) {
	case PM_ATTR_INT:
		pm_str_addf(out, "%lld", (long long)a->i);
		break;
	case PM_ATTR_FLOAT:
		pm_str_addf(out, "%.9g", a->f);
		break;
	case PM_ATTR_STRING:
		pm_str_add_quoted(out, a->s, strnlen(a->s, SHOWN));
		break;
	case PM_ATTR_INTS:
		pm_str_addc(out, '[');
		for (size_t k = 0; k < a->n && k < 16; k++)
			pm_str_addf(out, "%s%lld", k ? "," : "", (long long)a->ints[k]);
		pm_str_add(out, a->n > 16 ? ",...]" : "]");
		break;
	default:
		pm_str_add(out, "of a kind that patterns cannot compare");
		break;
	}
}

static void add_wanted(const PmPatternAttr *a, PmStr *out)
{
	switch (a->kind) {
	case PM_PATTR_FLOAT:
		pm_str_addf(out, "%.9g", a->f);
		break;
	case PM_PATTR_STR:
		pm_str_add_quoted(out, a->s, strlen(a->s));
		break;
	default:
		pm_str_addc(out, '[');
		for (uint32_t k = 0; k < a->n_ints; k++)
			pm_str_addf(out, "%s%lld", k ? "," : "", (long long)a->ints[k]);
		pm_str_addc(out, ']');
		break;
	}
}

/* "operand 1 of node 7 (Mul)" or, at the root, "node 7 (Mul)". */
static void add_place(const PmGraph *g, const PmMiss *miss, PmStr *out)
{
	if (miss->user.id) {
		pm_str_addf(out, "operand %u of ", miss->operand);
		pm_node_describe(g, miss->user, out);
	} else if (miss->value.id) {
		pm_node_describe(g, pm_value_def(g, miss->value, NULL), out);
	} else {
		pm_str_add(out, "the root");
	}
	pm_str_add(out, ": ");
}

static void describe_op(const PmGraph *g, const PmPattern *p, const PmMiss *miss, PmStr *out)
{
	const PmPatternNode *pn = &p->node[miss->pat];
	PmNode n = pm_value_def(g, miss->value, NULL);
	const char *name;

	switch (miss->kind) {
	case PM_MISS_RESULT:
		pm_str_addf(out, "the pattern wants result %u of %s, this is another one", pn->result,
			    pn->op_name);
		break;
	case PM_MISS_COUNT:
		pm_str_addf(out, "%s has %zu operands, not as many as in ", pn->op_name, pm_node_n_in(g, n));
		add_pattern(p, miss->pat, out);
		break;
	case PM_MISS_ATTR:
		name = pn->attr[miss->attr].name;
		pm_str_addf(out, "attribute %s of %s is ", name, pn->op_name);
		add_attr(g, n, name, out);
		pm_str_add(out, ", the pattern wants ");
		add_wanted(&pn->attr[miss->attr], out);
		break;
	case PM_MISS_DEFAULT:
		name = pm_op_desc(pn->op)->attrs[miss->attr].name;
		pm_str_addf(out, "attribute %s of %s is ", name, pn->op_name);
		add_attr(g, n, name, out);
		pm_str_add(out, ", not its default, and the pattern does not mention it");
		break;
	default:
		pm_str_add(out, "the pattern wants ");
		add_pattern(p, miss->pat, out);
		pm_str_add(out, ", this is ");
		add_value(g, miss->value, out);
		break;
	}
}

static void describe_value(const PmGraph *g, const PmPattern *p, const PmMiss *miss, PmStr *out)
{
	const PmPatternNode *pn = &p->node[miss->pat];
	double x;
	size_t n;

	switch (miss->kind) {
	case PM_MISS_DTYPE:
	case PM_MISS_RANK:
		pm_str_addf(out, "'%.60s' has type ", pm_value_name(g, miss->value));
		pm_type_describe(pm_value_type(g, miss->value), out);
		pm_str_add(out, ", the pattern wants {");
		pm_pattern_print_type(pn->dtypes, pn->rank, out);
		pm_str_addc(out, '}');
		break;
	case PM_MISS_SLOT:
		pm_str_addf(out, "slot ?%d already stands for '%.60s', this is ", pn->slot,
			    pm_value_name(g, miss->other));
		add_value(g, miss->value, out);
		break;
	case PM_MISS_NUM:
		pm_str_add(out, "the pattern wants the constant ");
		add_pattern(p, miss->pat, out);
		pm_str_add(out, ", this is ");
		if (pm_value_const_floats(g, miss->value, &x, 1, &n) == PM_OK && n == 1)
			pm_str_addf(out, "%.6g", x);
		else
			add_value(g, miss->value, out);
		break;
	default:
		pm_str_add(out, "the operand is omitted, the pattern wants ");
		add_pattern(p, miss->pat, out);
		break;
	}
}

/* A pattern names one result of a node. */
static void add_way_out(const PmGraph *g, PmValue v, PmStr *out)
{
	PmNode n = pm_value_def(g, v, NULL);

	pm_str_add(out,
		   n.id && pm_node_n_out(g, n) > 1
			   ? "; its node has several results, of which a pattern names one: write a "
			     "region rule with all of them in .outs, or keep the node (KEEP) where it is "
			     "not the root"
			   : "; replace it too (AS) or keep its node (KEEP)");
}

void pm_miss_describe(const PmGraph *g, const PmPattern *p, const PmMiss *miss, PmStr *out)
{
	switch (miss->kind) {
	case PM_MISS_NONE:
		break;
	case PM_MISS_BUDGET:
		pm_str_addf(out, "matching took more than %d steps; use fewer ALT and OPT", PM_MATCH_STEPS);
		break;
	case PM_MISS_ESCAPE:
		pm_str_addf(out, "everything matched, but interior value '%.60s' ",
			    pm_value_name(g, miss->value));
		if (miss->outside.id) {
			pm_str_add(out, "is used outside the match by ");
			pm_node_describe(g, miss->outside, out);
		} else {
			pm_str_add(out, "is an output of the graph");
		}
		add_way_out(g, miss->value, out);
		break;
	case PM_MISS_OP:
	case PM_MISS_RESULT:
	case PM_MISS_COUNT:
	case PM_MISS_ATTR:
	case PM_MISS_DEFAULT:
		add_place(g, miss, out);
		describe_op(g, p, miss, out);
		break;
	default:
		add_place(g, miss, out);
		describe_value(g, p, miss, out);
		break;
	}
}

/* ---- fields ---- */

/* What a value is, in a word: the operator that makes it, or what else it is. */
static void add_kind(const PmGraph *g, PmValue v, PmStr *out)
{
	PmNode n = pm_value_def(g, v, NULL);

	pm_str_add(out, n.id                      ? pm_node_op_name(g, n)
			: pm_value_is_const(g, v) ? "a constant"
						  : "a graph input");
}

static void add_number(const PmGraph *g, PmValue v, PmStr *out)
{
	double x;
	size_t n;

	if (pm_value_const_floats(g, v, &x, 1, &n) == PM_OK && n == 1)
		pm_str_addf(out, "%.9g", x);
	else
		add_kind(g, v, out);
}

static void count_field(const PmGraph *g, const PmPattern *p, const PmMiss *miss, PmStr *want, PmStr *have)
{
	const PmPatternNode *pn = &p->node[miss->pat];
	int rest = pn->n_in && p->node[pn->in[pn->n_in - 1]].kind == PM_PK_REST;

	pm_str_addf(want, rest ? "at least %u" : "%u", pn->n_in - (uint32_t)rest);
	pm_str_addf(have, "%zu", pm_node_n_in(g, pm_value_def(g, miss->value, NULL)));
}

static void attr_field(const PmGraph *g, const PmPattern *p, const PmMiss *miss, PmStr *field, PmStr *want,
		       PmStr *have)
{
	const PmPatternNode *pn = &p->node[miss->pat];
	int named = miss->kind == PM_MISS_ATTR;
	const char *name = named ? pn->attr[miss->attr].name : pm_op_desc(pn->op)->attrs[miss->attr].name;

	pm_str_addf(field, "attribute %s", name);
	if (named)
		add_wanted(&pn->attr[miss->attr], want);
	else
		pm_str_add(want, "its default");
	add_attr(g, pm_value_def(g, miss->value, NULL), name, have);
}

static void op_fields(const PmGraph *g, const PmPattern *p, const PmMiss *miss, PmStr *field, PmStr *want,
		      PmStr *have)
{
	const PmPatternNode *pn = &p->node[miss->pat];
	size_t result = 0;

	switch (miss->kind) {
	case PM_MISS_OP:
		pm_str_add(field, "operator");
		pm_str_add(want, pn->op_name);
		add_kind(g, miss->value, have);
		break;
	case PM_MISS_RESULT:
		pm_value_def(g, miss->value, &result);
		pm_str_add(field, "result");
		pm_str_addf(want, "%u", pn->result);
		pm_str_addf(have, "%zu", result);
		break;
	case PM_MISS_COUNT:
		pm_str_add(field, "operands");
		count_field(g, p, miss, want, have);
		break;
	default:
		attr_field(g, p, miss, field, want, have);
		break;
	}
}

static void value_fields(const PmGraph *g, const PmPattern *p, const PmMiss *miss, PmStr *field, PmStr *want,
			 PmStr *have)
{
	const PmPatternNode *pn = &p->node[miss->pat];

	switch (miss->kind) {
	case PM_MISS_DTYPE:
		pm_str_add(field, "element type");
		pm_pattern_print_type(pn->dtypes, -1, want);
		pm_type_describe(pm_value_type(g, miss->value), have);
		break;
	case PM_MISS_RANK:
		pm_str_add(field, "rank");
		pm_str_addf(want, "%d", pn->rank);
		pm_str_addf(have, "%d", pm_value_type(g, miss->value)->rank);
		break;
	case PM_MISS_SLOT:
		pm_str_addf(field, "slot %d", pn->slot);
		pm_str_add(want, pm_value_name(g, miss->other));
		pm_str_add(have, pm_value_name(g, miss->value));
		break;
	case PM_MISS_NUM:
		pm_str_add(field, "constant");
		pm_str_addf(want, "%.9g", pn->num);
		add_number(g, miss->value, have);
		break;
	case PM_MISS_ESCAPE:
		pm_str_add(field, "use");
		pm_str_add(want, "inside the match only");
		if (miss->outside.id)
			pm_node_describe(g, miss->outside, have);
		else
			pm_str_add(have, "an output of the graph");
		break;
	case PM_MISS_BUDGET:
		pm_str_add(field, "steps");
		pm_str_addf(want, "at most %d", PM_MATCH_STEPS);
		pm_str_add(have, "more");
		break;
	default:
		pm_str_add(field, "operand");
		add_pattern(p, miss->pat, want);
		pm_str_add(have, "omitted");
		break;
	}
}

static void put(char *out, size_t size, PmStr *s)
{
	snprintf(out, size, "%.*s", (int)size - 1, s->s ? s->s : "");
	pm_str_release(s);
}

void pm_miss_fill(const PmGraph *g, const PmPattern *p, PmNode root, const PmMiss *miss, PmNearMiss *out)
{
	PmStr text = PM_STR_INIT, node = PM_STR_INIT, field = PM_STR_INIT, want = PM_STR_INIT,
	      have = PM_STR_INIT;
	PmNode def = miss->value.id ? pm_value_def(g, miss->value, NULL) : root;
	int is_op = miss->kind >= PM_MISS_OP && miss->kind <= PM_MISS_DEFAULT;

	out->depth = miss->depth;
	out->of = p->n_ops;
	out->operand = miss->user.id ? (int32_t)miss->operand : -1;
	pm_node_describe(g, miss->user.id ? miss->user : def.id ? def : root, &node);
	pm_miss_describe(g, p, miss, &text);
	(is_op ? op_fields : value_fields)(g, p, miss, &field, &want, &have);
	put(out->text, sizeof out->text, &text);
	put(out->node, sizeof out->node, &node);
	put(out->field, sizeof out->field, &field);
	put(out->expected, sizeof out->expected, &want);
	put(out->actual, sizeof out->actual, &have);
}
