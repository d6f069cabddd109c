/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_loop.c - registers that grow by a constant in a counted loop of a PTX function. */
#include "integrity/ptx/ptx_loop.h"

#include <string.h>

/* `add reg, reg, number`, without a guard. */
static int grows(const PmPtxFunction *f, const PmPtxStatement *s, int32_t reg, int64_t *step)
{
	const PmPtxOperand *o = &f->operands.v[s->first];

	if (strcmp(s->op->name, "add") != 0 || s->guard >= 0 || s->n != 3 || o[0].reg != reg ||
	    o[1].reg != reg || o[2].kind != PM__PTX_O_NUMBER || !o[2].is_known || s->opcode.n != 7)
		return 0; /* add.s32: neither .cc nor .sat */
	*step = o[2].number;
	return 1;
}

/* `cvt.s64.s32 reg, counter` or mov, without a guard. */
static int copies(const PmPtxFunction *f, const PmPtxStatement *s, int32_t reg, int32_t *of)
{
	const PmPtxOperand *o = &f->operands.v[s->first];

	if ((strcmp(s->op->name, "cvt") != 0 && strcmp(s->op->name, "mov") != 0) || s->guard >= 0 ||
	    s->n != 2 || o[0].reg != reg || o[0].is_list || o[1].is_list || o[1].reg < 0 || o[1].reg == reg ||
	    o[1].number)
		return 0;
	*of = o[1].reg;
	return 1;
}

/* The writer of a register that has two which makes it a counter: 0 or 1; -1 when neither does. */
static int growing(const PmPtxFunction *f, const PmPtxCfg *c, const PmPtxWriters *w, int32_t reg,
		   PmPtxCounter *out)
{
	const PmPtxStatement *s = f->statements.v;

	out->copies = PM__PTX_NONE;
	for (int i = 0; i < 2; i++)
		if (grows(f, &s[w->s[i]], reg, &out->step))
			return i;
	out->step = 0;
	for (int i = 0; i < 2; i++) { /* the copy is the one in the block that goes back */
		const PmPtxBlock *b = &c->blocks.v[c->of[w->s[i]]];

		if (b->branches >= 0 && pm__ptx_dominates(c, b->branches, c->of[w->s[i]]) &&
		    copies(f, &s[w->s[i]], reg, &out->copies))
			return i;
	}
	return -1;
}

/* All blocks from which the tail is reached without the head. The head dominates the tail, so that they are
 * the loop's. */
int pm__ptx_in_loop(const PmPtxCfg *c, const PmPtxCounter *k, int32_t block)
{
	size_t n = c->blocks.n, depth = 0;
	int32_t *stack = pm_xcalloc(n + 1, sizeof *stack);
	char *seen = pm_xcalloc(n + 1, 1);
	int found;

	seen[k->head] = 1;
	if (!seen[k->tail])
		stack[depth++] = k->tail;
	seen[k->tail] = 1;
	while (depth) {
		const PmPtxBlock *b = &c->blocks.v[stack[--depth]];

		for (size_t i = 0; i < b->before.n; i++)
			if (!seen[b->before.v[i]]) {
				seen[b->before.v[i]] = 1;
				stack[depth++] = b->before.v[i];
			}
	}
	found = seen[block];
	free(stack);
	free(seen);
	return found;
}

/* The comparison behind `@p bra head`: the only writer of p, in the tail, behind the growth. */
static const PmPtxStatement *closing_test(const PmPtxFunction *f, const PmPtxCfg *c, const PmPtxWriters *w,
					  const PmPtxCounter *k)
{
	const PmPtxStatement *back = &f->statements.v[c->blocks.v[k->tail].last];
	const PmPtxWriters *p;

	if (back->op->cls != PM__PTX_BRANCH || back->guard < 0 || back->guard_not)
		return NULL;
	p = &w[back->guard];
	if (p->n != 1 || c->of[p->s[0]] != k->tail)
		return NULL;
	return &f->statements.v[p->s[0]];
}

int pm__ptx_counter(const PmPtxFunction *f, const PmPtxCfg *c, const PmPtxWriters *w, int32_t reg,
		    PmPtxCounter *out)
{
	const PmPtxStatement *s = f->statements.v;
	const PmPtxBlock *head, *tail;
	int grow, other;

	if (w[reg].n != 2)
		return 0;
	grow = growing(f, c, &w[reg], reg, out);
	if (grow < 0)
		return 0;
	out->grow = w[reg].s[grow];
	out->set = w[reg].s[!grow];
	out->tail = c->of[out->grow];
	tail = &c->blocks.v[out->tail];
	out->head = tail->branches;
	if (out->head < 0 || out->head == tail->falls || !pm__ptx_dominates(c, out->head, out->tail))
		return 0;
	head = &c->blocks.v[out->head];
	if (head->before.n != 2 || s[out->set].guard >= 0)
		return 0;
	other = head->before.v[head->before.v[0] == out->tail];
	out->test = closing_test(f, c, w, out);
	return out->test && other != out->tail && c->of[out->set] == other &&
	       !pm__ptx_in_loop(c, out, other) && (tail->falls < 0 || !pm__ptx_in_loop(c, out, tail->falls));
}
