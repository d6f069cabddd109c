/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_flow.c - where the values in a module's registers come from. */
#include "integrity/ptx/ptx_flow.h"

#include <string.h>

enum { MAX_ROUNDS = 64 };

const PmPtxObject *pm__ptx_object(const PmPtxFunction *f, const PmPtxObjects *module, int32_t id)
{
	return id >= PM__PTX_MODULE ? &module->v[id - PM__PTX_MODULE] : &f->objects.v[id];
}

char pm__ptx_address_space(const PmPtxFunction *f, const PmPtxStatement *s, const PmPtxOperand *o)
{
	size_t nth = 0;

	for (const PmPtxOperand *p = &f->operands.v[s->first]; p < o; p++)
		nth += p->is_address != 0;
	if (s->op->spaces[0] == '?')
		return pm__ptx_op_space(s->opcode);
	return nth < strlen(s->op->spaces) ? s->op->spaces[nth] : 'x';
}

typedef struct Round {
	PmPtxFlow *flow;
	const PmPtxFunction *f;
	const PmPtxObjects *module;
	uint8_t *of;
	int changed;
} Round;

static uint8_t of_space(char space)
{
	return space == 's'   ? PM__PTX_SHARED
	       : space == 'l' ? PM__PTX_LOCAL
	       : space == 'c' ? PM__PTX_CONST
	       : space == 'g' ? PM__PTX_TABLE
			      : 0;
}

static void add(Round *r, uint8_t *to, uint8_t what)
{
	r->changed |= (*to | what) != *to;
	*to |= what;
}

/* What a load from the address o gives. */
static uint8_t loaded(const Round *r, const PmPtxStatement *s, const PmPtxOperand *o)
{
	char kind = 0;

	switch (pm__ptx_address_space(r->f, s, o)) {
	case 'p':
		if (o->object < 0 || o->object >= PM__PTX_MODULE || !r->f->objects.v[o->object].is_entry)
			return r->flow->args;
		return pm__ptx_op_type(s->opcode, 0, &kind) == 64 && kind != 'f' ? PM__PTX_PARAM : 0;
	case 'l':
		return r->flow->local;
	case 's':
		return r->flow->shared;
	case 'c':
		return 0;
	case 'g':
		return PM__PTX_READ;
	default:
		return PM__PTX_READ | r->flow->local | r->flow->shared;
	}
}

static void store(Round *r, char space, uint8_t what)
{
	if (space == 'p')
		add(r, &r->flow->args, what);
	if (space == 'l' || space == 'x')
		add(r, &r->flow->local, what);
	if (space == 's' || space == 'x')
		add(r, &r->flow->shared, what);
}

static void statement(Round *r, const PmPtxStatement *s)
{
	const PmPtxOperand *o = &r->f->operands.v[s->first];
	PmPtxClass_ cls = s->op->cls;
	uint8_t value = 0;

	if (cls == PM__PTX_BRANCH || cls == PM__PTX_CALL || cls == PM__PTX_PLAIN)
		return;
	for (uint32_t i = 0; i < s->n; i++) {
		if (o[i].is_address)
			value |= cls == PM__PTX_STORE ? 0 : loaded(r, s, &o[i]);
		else if (o[i].place >= s->op->results && o[i].reg >= 0)
			value |= r->of[o[i].reg];
		else if (o[i].place >= s->op->results && o[i].object >= 0)
			value |= of_space(pm__ptx_object(r->f, r->module, o[i].object)->space);
	}
	for (uint32_t i = 0; i < s->n; i++) {
		if (o[i].is_address && cls != PM__PTX_LOAD)
			store(r, pm__ptx_address_space(r->f, s, &o[i]), value);
		else if (!o[i].is_address && o[i].place < s->op->results && o[i].reg >= 0 &&
			 r->f->bits.v[o[i].reg] != 1)
			add(r, &r->of[o[i].reg], value);
	}
}

int pm__ptx_flow(const PmPtxFunctions *f, const PmPtxObjects *module, PmPtxFlow *out)
{
	Round r = { .flow = out, .module = module, .changed = 1 };

	memset(out, 0, sizeof *out);
	out->n = f->n;
	out->of = pm_xcalloc(f->n + 1, sizeof *out->of);
	for (size_t i = 0; i < f->n; i++)
		out->of[i] = pm_xcalloc(f->v[i].bits.n + 1, 1);
	for (int round = 0; r.changed && round < MAX_ROUNDS; round++) {
		r.changed = 0;
		for (size_t i = 0; i < f->n; i++) {
			r.f = &f->v[i];
			r.of = out->of[i];
			for (size_t k = 0; k < f->v[i].statements.n; k++)
				statement(&r, &f->v[i].statements.v[k]);
		}
	}
	return !r.changed;
}

void pm__ptx_flow_release(PmPtxFlow *flow)
{
	for (size_t i = 0; i < flow->n; i++)
		free(flow->of[i]);
	free(flow->of);
	memset(flow, 0, sizeof *flow);
}
