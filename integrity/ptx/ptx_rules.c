/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_rules.c - which addresses a kernel may use, and for what. */
#include "integrity/ptx/ptx_rules.h"

#include "integrity/ptx/ptx_range.h"

#include <string.h>

typedef struct Judge {
	const PmPtxFunctions *functions;
	const PmPtxObjects *module;
	const PmPtxFunction *f;
	const uint8_t *of;   /* where its registers come from */
	PmPtxRanges *ranges; /* of f; made when first needed */
	PmPtxReport *r;
} Judge;

typedef struct Names {
	char opcode[PM__PTX_SHOWN + 1], operand[PM__PTX_SHOWN + 1];
} Names;

static Names shown(const PmPtxStatement *s, const PmPtxOperand *o)
{
	Names n;

	pm__ptx_shown(s->opcode, n.opcode);
	pm__ptx_shown(o->name, n.operand);
	return n;
}

static int same(PmPtxToken a, PmPtxToken b)
{
	return a.n == b.n && !memcmp(a.p, b.p, a.n);
}

/* ---- names ---- */

static int is_function(const Judge *j, PmPtxToken t)
{
	for (size_t i = 0; i < j->functions->n; i++)
		if (same(j->functions->v[i].name, t))
			return 1;
	return 0;
}

/* A name that stands for no register and no variable. */
static void check_label(Judge *j, const PmPtxStatement *s, const PmPtxOperand *o)
{
	PmPtxClass_ cls = s->op->cls;
	Names n = shown(s, o);

	if (cls == PM__PTX_CALL && o->place == 1) {
		int kernel = 0;

		for (size_t i = 0; i < j->functions->n; i++)
			kernel |= same(j->functions->v[i].name, o->name) && j->functions->v[i].is_entry;
		if (kernel || !is_function(j, o->name))
			pm__ptx_problem(j->r, "It calls %s, which is no function of the module.", n.operand);
	} else if (cls == PM__PTX_BRANCH && !o->is_address) {
		if (pm__ptx_label(j->f, o->name) == -1 || o->number || o->place)
			pm__ptx_problem(j->r, "It branches to %s, which is no label of it; write a label.",
					n.operand);
	} else if (is_function(j, o->name)) {
		pm__ptx_problem(
			j->r,
			"%s takes the address of function %s; a function is called by its name and is not a "
			"value.",
			n.opcode, n.operand);
	} else {
		pm__ptx_problem(j->r, "%s uses %s, which is declared nowhere before it; declare it.",
				n.opcode, n.operand);
	}
}

/* A variable's name that is no address in brackets. */
static void check_object(Judge *j, const PmPtxStatement *s, const PmPtxOperand *o)
{
	const PmPtxObject *v = pm__ptx_object(j->f, j->module, o->object);
	PmPtxClass_ cls = s->op->cls;
	Names n = shown(s, o);

	if (v->space == 'p') {
		if (cls != PM__PTX_CALL || o->place == 1 || v->use != 'm' || o->number)
			pm__ptx_problem(j->r,
					"It uses %s otherwise than reading it: beside a parameter lies what "
					"is not the "
					"kernel's.",
					n.operand);
	} else if (!(cls == PM__PTX_MOVE && o->place > 0 && !o->is_list) &&
		   !(cls == PM__PTX_POINTER && strchr("sl", v->space))) {
		pm__ptx_problem(
			j->r,
			"%s uses the address of %s; take it with mov and use it in loads and stores only.",
			n.opcode, n.operand);
	}
}

/* The address of a constant or table may be moved, added to, compared and loaded from. */
static void check_value(Judge *j, const PmPtxStatement *s, const PmPtxOperand *o)
{
	static const char *const may[] = { "mov", "add", "sub", "mad", "selp", "setp", NULL };
	uint8_t from = j->of[o->reg];
	Names n;

	if (!(from & (PM__PTX_CONST | PM__PTX_TABLE)) || o->place < s->op->results)
		return;
	for (int i = 0; may[i]; i++)
		if (!strcmp(s->op->name, may[i]) && !o->is_list)
			return;
	if (s->op->cls == PM__PTX_POINTER && !(from & PM__PTX_CONST) &&
	    pm__ptx_is(s->opcode, "cvta.to.global.u64"))
		return;
	n = shown(s, o);
	pm__ptx_problem(
		j->r,
		"%s uses %s, the address of a constant or of a table of the compiler, which is read from and "
		"nothing else; index it where it is read.",
		n.opcode, n.operand);
}

/* ---- addresses ---- */

static PmPtxRange range_of(Judge *j, const PmPtxOperand *o, const PmPtxStatement *s)
{
	PmPtxRange none = { .known = 0, .object = PM__PTX_NONE };

	if (!j->ranges)
		j->ranges = pm__ptx_ranges_new(j->f);
	return j->ranges ? pm__ptx_range(j->ranges, o, (size_t)(s - j->f->statements.v)) : none;
}

/* [name+number] of a variable of any space. */
static void check_named_address(Judge *j, const PmPtxStatement *s, const PmPtxOperand *o, char space)
{
	const PmPtxObject *v = pm__ptx_object(j->f, j->module, o->object);
	int64_t bytes = pm__ptx_op_bytes(s->opcode);
	int loads = s->op->cls == PM__PTX_LOAD, inside;
	Names n = shown(s, o);

	inside = o->number >= 0 && (v->bytes < 0 || o->number + bytes <= v->bytes);
	if (v->space == 'p') {
		int may = v->use == 'm' ||
			  (loads ? v->use == 'i' : v->use == 'o' && s->op->cls == PM__PTX_STORE);

		if (space != 'p' || !may || !inside)
			pm__ptx_problem(j->r,
					"It uses %s otherwise than reading it: beside a parameter lies what "
					"is not the "
					"kernel's.",
					n.operand);
	} else if (v->space != space) {
		pm__ptx_problem(
			j->r,
			"%s reaches %s, which lies in another state space; name the space of the variable.",
			n.opcode, n.operand);
	} else if (!inside) {
		pm__ptx_problem(j->r, "%s reaches beyond %s, which has %lld bytes; stay inside.", n.opcode,
				n.operand, (long long)v->bytes);
	} else if (strchr("cg", space) && strcmp(s->op->name, "ld") != 0) {
		pm__ptx_problem(j->r, "%s writes to %s, which is read only; write to the kernel's buffers.",
				n.opcode, n.operand);
	}
}

/* [register+number] in a constant or a table of the compiler: a plain load of what is proved to lie inside.
 */
static void check_table(Judge *j, const PmPtxStatement *s, const PmPtxOperand *o, char space)
{
	PmPtxRange range = range_of(j, o, s);
	const PmPtxObject *v = range.known && range.object >= 0
				       ? pm__ptx_object(j->f, j->module, range.object)
				       : NULL;
	Names n = shown(s, o);

	if (strcmp(s->op->name, "ld") != 0) {
		pm__ptx_problem(j->r,
				"%s writes by %s to a constant or a table of the compiler, which is read "
				"only; write to "
				"the kernel's buffers.",
				n.opcode, n.operand);
	} else if (j->f->digest_known && space == 'g') {
		return; /* the compiler's own: its table is indexed by the exponent of a number */
	} else if (!v || v->space != space || range.lo + o->number < 0 ||
		   range.hi + o->number + pm__ptx_op_bytes(s->opcode) > v->bytes) {
		char name[PM__PTX_SHOWN + 1];

		pm__ptx_problem(j->r,
				"%s by %s is not proved to stay inside %s; bound the index by a constant "
				"there (i & 15, "
				"min(i, 8), i %% 9), or copy the table to shared memory.",
				n.opcode, n.operand,
				v ? pm__ptx_shown(v->name, name) : "the constant or table");
	}
}

/* [register+number] in a local frame. A frame is the thread's own, so that an index of a program's need not
 * be proved; but what is known to lie outside is refused. */
static void check_local(Judge *j, const PmPtxStatement *s, const PmPtxOperand *o)
{
	PmPtxRange range = range_of(j, o, s);
	const PmPtxObject *v = range.known && range.object >= 0
				       ? pm__ptx_object(j->f, j->module, range.object)
				       : NULL;
	Names n = shown(s, o);

	if (v && v->space == 'l' &&
	    (range.lo + o->number + pm__ptx_op_bytes(s->opcode) > v->bytes || range.hi + o->number < 0))
		pm__ptx_problem(
			j->r, "%s by %s reaches beyond its local frame of %lld bytes; stay inside the array.",
			n.opcode, n.operand, (long long)v->bytes);
}

static void check_register_address(Judge *j, const PmPtxStatement *s, const PmPtxOperand *o, char space)
{
	static const struct {
		char space;
		uint8_t needs;
		const char *what;
	} rules[] = {
		{ 's', PM__PTX_SHARED, "comes from no variable in shared memory; take the address of one" },
		{ 'l', PM__PTX_LOCAL, "comes from no local variable; take the address of one" },
		{ 'c', PM__PTX_CONST, "comes from no constant; index a __constant__ table" },
		{ 'g', PM__PTX_PARAM | PM__PTX_TABLE,
		  "comes from no argument; use the pointers that a launch passes" },
		{ 'x', PM__PTX_PARAM | PM__PTX_SHARED | PM__PTX_LOCAL,
		  "comes from no argument and no variable; use the pointers that a launch passes" },
	};
	uint8_t from = j->of[o->reg];
	Names n = shown(s, o);

	if (space == 'p') {
		pm__ptx_problem(
			j->r,
			"%s uses the register %s as an address of parameters; read a parameter by its name.",
			n.opcode, n.operand);
		return;
	}
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (rules[i].space == space && !(from & rules[i].needs))
			pm__ptx_problem(j->r, "%s uses the address %s, which %s.", n.opcode, n.operand,
					rules[i].what);
	if (from & (PM__PTX_CONST | PM__PTX_TABLE))
		check_table(j, s, o, space);
	else if (space == 'l' || from == PM__PTX_LOCAL)
		check_local(j, s, o);
}

static void check_address(Judge *j, const PmPtxStatement *s, const PmPtxOperand *o)
{
	char space = pm__ptx_address_space(j->f, s, o);
	Names n = shown(s, o);

	switch (o->kind) {
	case PM__PTX_O_REGISTER:
		check_register_address(j, s, o, space);
		break;
	case PM__PTX_O_OBJECT:
		check_named_address(j, s, o, space);
		break;
	case PM__PTX_O_LABEL:
		check_label(j, s, o);
		break;
	default:
		pm__ptx_problem(
			j->r,
			"%s uses the number %s as an address; use the address of a variable or an argument.",
			n.opcode, n.operand);
	}
}

static void check_statement(Judge *j, const PmPtxStatement *s)
{
	PmPtxClass_ cls = s->op->cls;
	int memory = cls == PM__PTX_LOAD || cls == PM__PTX_STORE || cls == PM__PTX_ATOMIC;

	for (uint32_t i = 0; i < s->n; i++) {
		const PmPtxOperand *o = &j->f->operands.v[s->first + i];
		Names n;

		if (o->is_address && memory) {
			check_address(j, s, o);
		} else if (o->is_address) {
			n = shown(s, o);
			pm__ptx_problem(j->r, "%s has an address, %s; only loads, stores and atomics have.",
					n.opcode, n.operand);
		} else if (o->kind == PM__PTX_O_LABEL) {
			check_label(j, s, o);
		} else if (o->kind == PM__PTX_O_OBJECT) {
			check_object(j, s, o);
		} else if (o->kind == PM__PTX_O_REGISTER) {
			check_value(j, s, o);
		}
		if (cls == PM__PTX_CALL && o->kind != PM__PTX_O_LABEL && o->kind != PM__PTX_O_OBJECT) {
			n = shown(s, o);
			pm__ptx_problem(j->r, "It calls %s, which is no function of the module.", n.operand);
		}
	}
}

void pm__ptx_rules(const PmPtxFunctions *f, const PmPtxObjects *module, PmPtxReport *r)
{
	Judge j = { .functions = f, .module = module, .r = r };
	PmPtxFlow flow;

	if (!pm__ptx_flow(f, module, &flow))
		pm__ptx_problem(
			r, "Its addresses cannot be followed; compute them in fewer steps through memory.");
	for (size_t i = 0; i < f->n; i++) {
		j.f = &f->v[i];
		j.of = flow.of[i];
		r->function = j.f->name;
		for (size_t k = 0; k < j.f->statements.n; k++)
			check_statement(&j, &j.f->statements.v[k]);
		pm__ptx_ranges_free(j.ranges);
		j.ranges = NULL;
	}
	r->function.n = 0;
	pm__ptx_flow_release(&flow);
}
