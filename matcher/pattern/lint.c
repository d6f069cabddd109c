/* SPDX-License-Identifier: Apache-2.0 */
/* lint.c - everything that can be wrong with a rule and is visible before any graph is. */
#include "matcher/pattern/rules.h"

#include "matcher/pattern/abi.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Lint {
	const PmPattern *p;
	const char *who;
	PmStr *out;
	size_t n;
} Lint;

static void problem(Lint *l, const char *fmt, ...) PM_PRINTF(2, 3);
static void problem(Lint *l, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	pm_str_addf(l->out, "%s: %s\n", l->who, text);
	l->n++;
}

/* ---- one node ---- */

static void lint_attrs(Lint *l, const PmPatternNode *n)
{
	const PmOpDesc *d = pm_op_desc(n->op);

	for (uint32_t k = 0; k < n->n_attr; k++) {
		const PmPatternAttr *a = &n->attr[k];
		const PmAttrDesc *want = pm_op_attr_desc(n->op, a->name);

		if (!want) {
			problem(l, "%s has no attribute '%s'", n->op_name, a->name);
			continue;
		}
		for (uint32_t j = 0; j < k; j++)
			if (!strcmp(n->attr[j].name, a->name))
				problem(l, "attribute '%s' of %s is mentioned twice", a->name, n->op_name);
		switch (want->kind) {
		case PM_ATTR_INT:
			if (a->kind != PM_PATTR_INTS || a->n_ints != 1)
				problem(l, "attribute '%s' of %s is an integer; use INT", a->name,
					n->op_name);
			break;
		case PM_ATTR_INTS:
			if (a->kind != PM_PATTR_INTS)
				problem(l, "attribute '%s' of %s is a list of integers; use INTS", a->name,
					n->op_name);
			break;
		case PM_ATTR_FLOAT:
			if (a->kind != PM_PATTR_FLOAT && !(a->kind == PM_PATTR_INTS && a->n_ints == 1))
				problem(l, "attribute '%s' of %s is a number; use FLOAT", a->name,
					n->op_name);
			break;
		case PM_ATTR_STRING:
			if (a->kind != PM_PATTR_STR)
				problem(l, "attribute '%s' of %s is a string; use STR", a->name, n->op_name);
			break;
		default:
			problem(l, "attribute '%s' of %s cannot be compared by a pattern; use ANYATTR",
				a->name, n->op_name);
			break;
		}
	}
	for (int k = 0; k < d->n_attrs && !(n->flags & PM_PF_ANYATTR); k++) {
		uint32_t j;

		if (d->attrs[k].has_default || (n->op == PM_OP_Cast && !strcmp(d->attrs[k].name, "to")))
			continue;
		for (j = 0; j < n->n_attr && strcmp(n->attr[j].name, d->attrs[k].name); j++)
			;
		if (j == n->n_attr)
			problem(l,
				"attribute '%s' of %s has no default and must be mentioned (WITH), or waived "
				"(ANYATTR)",
				d->attrs[k].name, n->op_name);
	}
}

static void lint_op(Lint *l, const PmPatternNode *n)
{
	const PmOpDesc *d;
	const char *hint;
	int want = (int)n->n_in, rest = l->p->node[n->in[n->n_in - 1]].kind == PM_PK_REST;

	if (n->op == PM_OP_NONE) {
		hint = pm_op_suggest(n->op_name);
		problem(l, hint ? "unknown operator '%s'; did you mean '%s'?" : "unknown operator '%s'",
			n->op_name, hint ? hint : "");
		return;
	}
	d = pm_op_desc(n->op);
	if (d->flags & (PM_OPF_OPAQUE | PM_OPF_KERNEL | PM_OPF_RANDOM)) {
		problem(l, "%s nodes cannot be matched", n->op_name);
		return;
	}
	if (n->kind == PM_PK_OPT) {
		if (d->in_max == 0)
			problem(l, "%s takes no operand and cannot be optional", n->op_name);
	} else {
		want -= rest;
		if (d->in_max >= 0 && want > d->in_max)
			problem(l, "%s takes at most %d operands, the pattern has %d", n->op_name, d->in_max,
				want);
		if (!rest && want < d->in_min)
			problem(l, "%s takes at least %d operands, the pattern has %d", n->op_name, d->in_min,
				want);
		if (d->out_max >= 0 && n->result >= (uint32_t)d->out_max)
			problem(l, "%s has no result %u", n->op_name, n->result);
	}
	for (uint32_t k = 0; k + 1 < n->n_in; k++)
		if (l->p->node[n->in[k]].kind == PM_PK_REST)
			problem(l, "REST must be the last operand of %s", n->op_name);
	lint_attrs(l, n);
}

/* ---- the tree ---- */

static void lint_node(Lint *l, uint32_t id)
{
	const PmPatternNode *n = &l->p->node[id];

	if (n->kind == PM_PK_OP || n->kind == PM_PK_OPT)
		lint_op(l, n);
	for (uint32_t k = 0; k < n->n_in; k++) {
		const PmPatternNode *child = &l->p->node[n->in[k]];

		if (child->kind == PM_PK_REST && n->kind != PM_PK_OP)
			problem(l, "REST stands among the operands of an OP only");
		lint_node(l, n->in[k]);
	}
}

/* Slots that every match of the part below `id` binds. */
static uint32_t always_bound(const PmPattern *p, uint32_t id)
{
	const PmPatternNode *n = &p->node[id];
	uint32_t mask = n->slot >= 0 ? 1u << n->slot : 0, all = ~0u;

	for (uint32_t k = 0; k < n->n_in; k++) {
		uint32_t m = always_bound(p, n->in[k]);

		if (n->kind == PM_PK_ALT)
			all &= m;
		else
			mask |= m;
	}
	return n->kind == PM_PK_ALT ? mask | all : mask;
}

size_t pm_pattern_lint(const PmPattern *p, uint32_t n_slots, const char *who, PmStr *problems)
{
	Lint l = { p, who, problems, 0 };
	uint32_t bound, used = 0;

	if (p->node[0].kind != PM_PK_OP)
		problem(&l, "the root of the pattern is not an OP");
	else if (p->node[0].flags & PM_PF_KEEP)
		problem(&l, "KEEP around the root: the root is what the kernel replaces");
	lint_node(&l, 0);
	bound = p->node[0].kind == PM_PK_REST ? 0 : always_bound(p, 0);
	for (uint32_t i = 0; i < p->n; i++)
		if (p->node[i].slot >= 0)
			used |= 1u << p->node[i].slot;
	if (n_slots > PM_MAX_SLOTS)
		problem(&l, ".n_slots is %u; at most %d slots are allowed", n_slots, PM_MAX_SLOTS);
	if (n_slots && p->n_slots > n_slots)
		problem(&l, "slot %u is out of range: .n_slots is %u", p->n_slots - 1, n_slots);
	for (uint32_t s = 0; s < PM_MAX_SLOTS; s++) {
		/* Without .n_slots a gap is no mistake: rules of one plugin may share an enum. */
		if (s < n_slots && !(used >> s & 1))
			problem(&l, "slot %u is never bound", s);
		else if (used >> s & 1 && !(bound >> s & 1))
			problem(&l, "slot %u is bound in one ALT only", s);
	}
	return l.n;
}

/* ---- rules ---- */

void pm_rules_init(PmRules *r)
{
	memset(r, 0, sizeof *r);
}

void pm_rules_release(PmRules *r)
{
	for (size_t i = 0; i < r->v.n; i++)
		pm_pattern_free(r->v.v[i].pattern);
	PM_VEC_RELEASE(&r->v);
}

/* Copies a name of at most 63 bytes of [A-Za-z0-9_.-]; 0 when it is none. */
static int copy_name(const char *s, char out[PM_MAX_RULE_NAME + 1])
{
	size_t n = s ? strnlen(s, PM_MAX_RULE_NAME + 1) : 0;

	if (!n || n > PM_MAX_RULE_NAME)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)s[i]) && !strchr("_.-", s[i]))
			return 0;
	memcpy(out, s, n);
	out[n] = 0;
	return 1;
}

/* Control characters become blanks: the text is shown in reports. */
static void copy_doc(const char *s, char *out, size_t size)
{
	snprintf(out, size, "%.*s", (int)size - 1, s ? s : "");
	for (; *out; out++)
		if ((unsigned char)*out < 32 || *out == 127)
			*out = ' ';
}

static void lint_rule(PmRules *r, size_t first, const PmRule *given, uint32_t index, const char *plugin,
		      Lint *l)
{
	PmRule copy, *src = &copy;
	PmRuleEntry e = { .order = r->n_plugins };
	char who[3 * PM_MAX_RULE_NAME];
	PmErr err;

	snprintf(who, sizeof who, "%s: rule %u", plugin, index);
	l->who = who;
	if (!given || !pm__abi_read(given, src, sizeof *src)) {
		problem(l, "the structure " PM__ABI_BAD_SIZE "; define rules with PM_RULE",
			given ? pm__abi_size(given) : 0);
		return;
	}
	if (!copy_name(src->name, e.name)) {
		problem(l,
			"the name is missing, longer than %d bytes, or has other characters than letters, "
			"digits, _ . "
			"-",
			PM_MAX_RULE_NAME);
		return;
	}
	if (strcmp(plugin, e.name) != 0)
		snprintf(who, sizeof who, "%s: %s", plugin, e.name);
	else /* the usual plugin of one rule */
		snprintf(who, sizeof who, "%s", plugin);
	copy_doc(src->doc, e.doc, sizeof e.doc);
	e.check = src->check;
	e.rewrite = src->rewrite;
	e.region = src->region;
	for (size_t i = first; i < r->v.n; i++)
		if (!strcmp(r->v.v[i].name, e.name))
			problem(l, "two rules have this name");
	if (!src->rewrite)
		problem(l, "there is no .rewrite");
	if (!src->pattern == !src->region)
		problem(l, "a rule has either a .pattern or a .region");
	if (src->region && src->check)
		problem(l, "a region rule has no .check; decline in .region or in .rewrite");
	pm_err_init(&err);
	if (src->pattern && pm_pattern_copy(src->pattern, &e.pattern, &err))
		problem(l, "%s", err.text);
	if (e.pattern)
		l->n += pm_pattern_lint(e.pattern, src->n_slots, who, l->out);
	e.benefit = src->benefit ? src->benefit : e.pattern ? (int32_t)e.pattern->n_ops : 1;
	PM_VEC_PUSH(&r->v, e);
}

static int by_benefit(const void *a, const void *b)
{
	const PmRuleEntry *x = a, *y = b;

	if (x->benefit != y->benefit)
		return x->benefit < y->benefit ? 1 : -1;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return strcmp(x->name, y->name);
}

PmStatus pm_rules_add(PmRules *r, const PmPlugin *p, PmStr *problems)
{
	Lint l = { NULL, "plugin", problems, 0 };
	size_t first = r->v.n;
	char name[PM_MAX_RULE_NAME + 1] = "plugin", version[PM_MAX_RULE_NAME + 1] = "";

	if (!copy_name(p->name, name))
		problem(&l,
			"the name of the plugin is missing, longer than %d bytes, or has other characters "
			"than letters, "
			"digits, _ . -",
			PM_MAX_RULE_NAME);
	l.who = name;
	if (p->version && !copy_name(p->version, version))
		problem(&l,
			"the version is longer than %d bytes or has other characters than letters, digits, _ "
			". -",
			PM_MAX_RULE_NAME);
	if (!p->n_rules || p->n_rules > PM_MAX_RULES || !p->rules)
		problem(&l, "the plugin has no rules, or more than %d", PM_MAX_RULES);
	else
		for (uint32_t k = 0; k < p->n_rules; k++)
			lint_rule(r, first, p->rules[k], k, name, &l);
	if (l.n) {
		while (r->v.n > first)
			pm_pattern_free(r->v.v[--r->v.n].pattern);
		return PM_E_INVALID;
	}
	r->n_plugins++;
	memcpy(r->plugin, name, sizeof name);
	memcpy(r->version, version, sizeof version);
	qsort(r->v.v, r->v.n, sizeof *r->v.v, by_benefit);
	return PM_OK;
}
