/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_cfg.c - the blocks of a PTX function and which dominates which. */
#include "integrity/ptx/ptx_cfg.h"

#include <string.h>

enum { MAX_ROUNDS = 64 };

static int is_branch(const PmPtxStatement *s)
{
	return s->op->cls == PM__PTX_BRANCH;
}

static int ends_path(const PmPtxStatement *s)
{
	return !strcmp(s->op->name, "ret") || !strcmp(s->op->name, "exit");
}

/* 1 at each statement that begins a block; 0 when a label stands twice. */
static int mark(const PmPtxFunction *f, char *begins)
{
	size_t n = f->statements.n;

	begins[0] = 1;
	for (size_t i = 0; i < n; i++) {
		const PmPtxStatement *s = &f->statements.v[i];

		if (i + 1 < n && (is_branch(s) || ends_path(s)))
			begins[i + 1] = 1;
		if (is_branch(s)) {
			int64_t to = s->n == 1 ? pm__ptx_label(f, f->operands.v[s->first].name) : -1;

			if (to < 0)
				return 0;
			if ((size_t)to < n)
				begins[to] = 1;
		}
	}
	return 1;
}

static void link_blocks(const PmPtxFunction *f, PmPtxCfg *c)
{
	for (size_t i = 0; i < c->blocks.n; i++) {
		PmPtxBlock *b = &c->blocks.v[i];
		const PmPtxStatement *s = &f->statements.v[b->last];
		int always = s->guard < 0;

		b->falls = b->branches = PM__PTX_NONE;
		if (i + 1 < c->blocks.n && !(always && (is_branch(s) || ends_path(s))))
			b->falls = (int32_t)i + 1;
		if (is_branch(s)) {
			int64_t to = pm__ptx_label(f, f->operands.v[s->first].name);

			b->branches = (size_t)to < f->statements.n ? c->of[to] : PM__PTX_NONE;
		}
	}
	for (size_t i = 0; i < c->blocks.n; i++) {
		int32_t falls = c->blocks.v[i].falls, branches = c->blocks.v[i].branches;

		if (falls >= 0)
			PM_VEC_PUSH(&c->blocks.v[falls].before, (int32_t)i);
		if (branches >= 0 && branches != falls)
			PM_VEC_PUSH(&c->blocks.v[branches].before, (int32_t)i);
	}
}

/* Reverse postorder, without recursion. Returns the blocks in it; how many in *n. */
static int32_t *order_blocks(PmPtxCfg *c, size_t *n)
{
	size_t all = c->blocks.n, depth = 0, at = all;
	int32_t *out = pm_xcalloc(all + 1, sizeof *out), *stack = pm_xcalloc(all + 1, sizeof *stack);
	char *seen = pm_xcalloc(all + 1, 1); /* 1: met, 2: its first way taken, 3: both */

	stack[depth++] = 0;
	seen[0] = 1;
	while (depth) {
		int32_t b = stack[depth - 1], to;

		if (seen[b] == 3) {
			out[--at] = b;
			depth--;
			continue;
		}
		to = seen[b] == 1 ? c->blocks.v[b].falls : c->blocks.v[b].branches;
		seen[b]++;
		if (to >= 0 && !seen[to]) {
			seen[to] = 1;
			stack[depth++] = to;
		}
	}
	*n = all - at;
	memmove(out, out + at, *n * sizeof *out);
	for (size_t i = 0; i < *n; i++)
		c->blocks.v[out[i]].order = (int32_t)i;
	free(stack);
	free(seen);
	return out;
}

static int32_t meet(const PmPtxCfg *c, int32_t a, int32_t b)
{
	while (a != b) {
		while (c->blocks.v[a].order > c->blocks.v[b].order)
			a = c->blocks.v[a].idom;
		while (c->blocks.v[b].order > c->blocks.v[a].order)
			b = c->blocks.v[b].idom;
	}
	return a;
}

static int dominators(PmPtxCfg *c)
{
	size_t n;
	int32_t *order = order_blocks(c, &n);
	int changed = 1;

	c->blocks.v[0].idom = 0;
	for (int round = 0; changed && round < MAX_ROUNDS; round++) {
		changed = 0;
		for (size_t i = 1; i < n; i++) {
			PmPtxBlock *b = &c->blocks.v[order[i]];
			int32_t idom = PM__PTX_NONE;

			for (size_t k = 0; k < b->before.n; k++) {
				int32_t p = b->before.v[k];

				if (c->blocks.v[p].idom >= 0)
					idom = idom < 0 ? p : meet(c, p, idom);
			}
			changed |= b->idom != idom;
			b->idom = idom;
		}
	}
	free(order);
	return !changed;
}

int pm__ptx_cfg(const PmPtxFunction *f, PmPtxCfg *out)
{
	size_t n = f->statements.n;
	char *begins = pm_xcalloc(n + 1, 1);
	int ok;

	memset(out, 0, sizeof *out);
	ok = n && n < INT32_MAX && mark(f, begins);
	if (ok) {
		out->of = pm_xcalloc(n, sizeof *out->of);
		for (size_t i = 0; i < n; i++) {
			PmPtxBlock b = { .first = i, .last = i, .idom = PM__PTX_NONE };

			if (begins[i])
				PM_VEC_PUSH(&out->blocks, b);
			out->blocks.v[out->blocks.n - 1].last = i;
			out->of[i] = (int32_t)out->blocks.n - 1;
		}
		link_blocks(f, out);
		ok = dominators(out);
	}
	free(begins);
	return ok;
}

void pm__ptx_cfg_release(PmPtxCfg *cfg)
{
	for (size_t i = 0; i < cfg->blocks.n; i++)
		PM_VEC_RELEASE(&cfg->blocks.v[i].before);
	PM_VEC_RELEASE(&cfg->blocks);
	free(cfg->of);
	cfg->of = NULL;
}

int pm__ptx_dominates(const PmPtxCfg *c, int32_t a, int32_t b)
{
	if (c->blocks.v[a].idom < 0 || c->blocks.v[b].idom < 0)
		return 0;
	while (c->blocks.v[b].order > c->blocks.v[a].order)
		b = c->blocks.v[b].idom;
	return a == b;
}
