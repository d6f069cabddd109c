/* SPDX-License-Identifier: Apache-2.0 */
/* tally.c - counting what a rule does at each root. */
#include "matcher/rewrite/tally.h"

#include <stdio.h>
#include <string.h>

enum { TRIED = 1, REJECTED = 2 };

/* A node that the rule is going to meet again. */
static int is_open(const PmGraph *g, PmNode n)
{
	PmOp op = pm_node_op(g, n);

	return op != PM_OP_NONE && !(pm_op_desc(op)->flags & PM_OPF_KERNEL);
}

static int stays(const PmGraph *g, PmNode root, const uint32_t *taken, size_t n_taken, uint32_t rule)
{
	return !is_open(g, root) && (root.id >= n_taken || taken[root.id] != rule + 1);
}

/* ---- reasons to decline ---- */

static void cut(char *out, size_t size, const char *text)
{
	snprintf(out, size, "%s", text);
	for (char *p = out; *p; p++)
		if ((unsigned char)*p < 32 || *p == 127)
			*p = ' ';
}

/* The number of this reason; the last one gathers the rest. */
static uint32_t reason_of(PmRuleStats *st, const char *why, const char *where)
{
	char text[sizeof st->reason[0].text];
	size_t i;

	cut(text, sizeof text, why);
	for (i = 0; i < st->n_reasons && strcmp(st->reason[i].text, text) != 0; i++)
		;
	if (i < st->n_reasons)
		return (uint32_t)i;
	if (i == PM_MAX_REASONS) {
		i = PM_MAX_REASONS - 1;
		snprintf(st->reason[i].text, sizeof st->reason[i].text, "other reasons");
		return (uint32_t)i;
	}
	st->n_reasons++;
	memcpy(st->reason[i].text, text, sizeof text);
	cut(st->reason[i].node, sizeof st->reason[i].node, where);
	return (uint32_t)i;
}

void pm__tally_declined(PmTally *t, const PmGraph *g, PmNode root, int matched, const char *why)
{
	PmStr where = PM_STR_INIT;
	PmDecline d = { .root = root, .matched = matched };

	pm_node_describe(g, root, &where);
	d.reason = reason_of(t->st, why, where.s);
	t->st->reason[d.reason].count++;
	t->st->declined++;
	PM_VEC_PUSH(&t->decline, d);
	pm_str_release(&where);
}

/* ---- sweeps ---- */

static void keep_declines(PmTally *t, const PmGraph *g, const uint32_t *taken, size_t n_taken, uint32_t rule)
{
	PmRuleStats *st = t->st;
	PmReason old[PM_MAX_REASONS];
	size_t n = 0;

	memcpy(old, st->reason, sizeof old);
	memset(st->reason, 0, sizeof st->reason);
	st->n_reasons = 0;
	for (size_t i = 0; i < t->decline.n; i++) {
		PmDecline d = t->decline.v[i];

		if (!stays(g, d.root, taken, n_taken, rule)) {
			st->declined--;
			st->matched -= d.matched;
			continue;
		}
		d.reason = reason_of(st, old[d.reason].text, old[d.reason].node);
		st->reason[d.reason].count++;
		t->decline.v[n++] = d;
	}
	t->decline.n = n;
}

void pm__tally_sweep(PmTally *t, const PmGraph *g, const uint32_t *taken, size_t n_taken, uint32_t rule)
{
	PmRuleStats *st = t->st;
	size_t n = 0;

	keep_declines(t, g, taken, n_taken, rule);
	for (size_t i = 0; i < st->n_misses; i++)
		if (stays(g, t->miss_root[i], taken, n_taken, rule)) {
			st->miss[n] = st->miss[i];
			t->miss_root[n++] = t->miss_root[i];
		}
	st->n_misses = n;
}

void pm__tally_tried(PmTally *t, PmNode root, int rejected)
{
	uint8_t *seen;

	while (t->seen.n <= root.id)
		PM_VEC_PUSH(&t->seen, 0);
	seen = &t->seen.v[root.id];
	t->st->tried += !(*seen & TRIED);
	t->st->rejected += rejected - !!(*seen & REJECTED);
	*seen = (uint8_t)(TRIED | (rejected ? REJECTED : 0));
}

/* ---- near misses ---- */

void pm__tally_missed(PmTally *t, const PmGraph *g, const PmPattern *p, PmNode root, const PmMiss *miss)
{
	PmRuleStats *st = t->st;
	size_t at = st->n_misses;

	while (at && st->miss[at - 1].depth < miss->depth)
		at--;
	if (at == PM_MAX_MISSES)
		return;
	if (st->n_misses < PM_MAX_MISSES)
		st->n_misses++;
	for (size_t i = st->n_misses - 1; i > at; i--) {
		st->miss[i] = st->miss[i - 1];
		t->miss_root[i] = t->miss_root[i - 1];
	}
	t->miss_root[at] = root;
	pm_miss_fill(g, p, root, miss, &st->miss[at]);
}

void pm__tally_release(PmTally *t)
{
	PM_VEC_RELEASE(&t->decline);
	PM_VEC_RELEASE(&t->seen);
}
