/* SPDX-License-Identifier: Apache-2.0 */
/* propose.c - writes the pattern of a graph as source text. */
#include "matcher/pattern/propose.h"

#include "base/core/str.h"
#include "base/core/vec.h"
#include "ir/onnx/onnx.h"
#include "matcher/pattern/pattern_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Propose {
	const PmGraph *g;
	PmStr text; /* the pattern */
	int *slot;  /* by value id: 1 + slot, 0 = none yet */
	int n_slots, n_nodes;
	PmStr slots; /* "X0, X1, T2" */
	PmValue root;
	PmErr *err;
} Propose;

static PmStatus no(Propose *p, const char *why)
{
	return pm_err(p->err, PM_E_UNSUPPORTED, "No pattern can say this graph: %s.", why);
}

static int new_slot(Propose *p, PmValue v, char kind)
{
	pm_str_addf(&p->slots, "%s%c%d", p->n_slots ? ", " : "", kind, p->n_slots);
	p->slot[v.id] = ++p->n_slots;
	return p->n_slots - 1;
}

static void add_break(Propose *p, int depth)
{
	pm_str_addc(&p->text, '\n');
	for (int i = 0; i < depth; i++)
		pm_str_addc(&p->text, '\t');
}

/* A number as C source; 0 when there is none for it. */
static int add_number(PmStr *out, double x)
{
	if (!isfinite(x))
		return 0;
	pm_str_addf(out, "%.17g", x);
	return 1;
}

/* ---- leaves ---- */

static const char *type_set(int dtype)
{
	if (dtype >= 0 && PM__TYPES_FLOAT >> dtype & 1)
		return "FLOATS";
	return pm_dtype_is_int(dtype) ? "INTEGERS" : "ALL_TYPES";
}

static void add_leaf(Propose *p, PmValue v)
{
	int is_new = !p->slot[v.id], s = is_new ? new_slot(p, v, 'X') : p->slot[v.id] - 1;
	int dtype = pm_value_type(p->g, v)->dtype;

	if (is_new && !pm_value_is_const(p->g, v))
		pm_str_addf(&p->text, "TYPED(V(X%d), %s, -1)", s, type_set(dtype));
	else
		pm_str_addf(&p->text, "V(X%d)", s);
}

/* ---- attributes ---- */

static int is_default(const PmAttr *a, const PmAttrDesc *d)
{
	if (!d || !d->has_default || a->kind != d->kind)
		return 0;
	switch (a->kind) {
	case PM_ATTR_INT:
		return a->i == d->i;
	case PM_ATTR_FLOAT:
		return a->f == (double)(float)d->f;
	case PM_ATTR_STRING:
		return pm_str_eq(a->s, d->s);
	case PM_ATTR_INTS:
		return a->n == 0;
	default:
		return 0;
	}
}

/* Appends ", INT(axis, 1)" for every attribute that must be mentioned; 0 when one cannot be compared. */
static int add_attrs(const PmGraph *g, PmNode n, PmStr *out)
{
	PmOp op = pm_node_op(g, n);

	for (size_t k = 0; k < pm_node_n_attrs(g, n); k++) {
		const PmAttr *a = pm_node_attr_at(g, n, k);

		if (is_default(a, pm_op_attr_desc(op, a->name)) ||
		    (op == PM_OP_Cast && !strcmp(a->name, "to")))
			continue;
		if (a->kind == PM_ATTR_INT) {
			pm_str_addf(out, ", INT(%s, %lldLL)", a->name, (long long)a->i);
		} else if (a->kind == PM_ATTR_FLOAT) {
			pm_str_addf(out, ", FLOAT(%s, ", a->name);
			if (!add_number(out, a->f))
				return 0;
			pm_str_addc(out, ')');
		} else if (a->kind == PM_ATTR_STRING && strlen(a->s) <= PM_MAX_PATTERN_STRING) {
			pm_str_addf(out, ", STR(%s, ", a->name);
			pm_str_add_quoted(out, a->s, strlen(a->s));
			pm_str_addc(out, ')');
		} else if (a->kind == PM_ATTR_INTS && a->n == 0) {
			pm_str_addf(out, ", NO_INTS(%s)", a->name);
		} else if (a->kind == PM_ATTR_INTS && a->n <= PM_MAX_PATTERN_INTS) {
			pm_str_addf(out, ", INTS(%s", a->name);
			for (size_t i = 0; i < a->n; i++)
				pm_str_addf(out, ", %lldLL", (long long)a->ints[i]);
			pm_str_addc(out, ')');
		} else {
			return 0;
		}
	}
	return 1;
}

/* ---- nodes ---- */

/* How often the value will be written: once for each result in use of each reader, and once as the root. */
static int times_written(const Propose *p, PmValue v)
{
	int n = 0;

	for (PmUse u = pm_value_first_use(p->g, v); u.slot; u = pm_use_next(p->g, u))
		for (size_t k = 0; k < pm_node_n_out(p->g, u.node); k++) {
			PmValue r = pm_node_out(p->g, u.node, k);

			n += pm_value_n_uses(p->g, r) > 0 || pm_value_is_output(p->g, r);
		}
	return n;
}

static PmStatus add_value(Propose *p, PmValue v, int depth);

static PmStatus add_op(Propose *p, PmNode n, int depth)
{
	PmStatus st = PM_OK;

	pm_str_addf(&p->text, "OP(%s", pm_node_op_name(p->g, n));
	for (size_t k = 0; k < pm_node_n_in(p->g, n) && !st; k++) {
		PmValue v = pm_node_in(p->g, n, k);

		pm_str_add(&p->text, ", ");
		if (v.id && pm_value_def(p->g, v, NULL).id && !p->slot[v.id])
			add_break(p, depth + 1);
		st = add_value(p, v, depth + 1);
	}
	pm_str_addc(&p->text, ')');
	return st;
}

static PmStatus add_result(Propose *p, PmValue v, int depth)
{
	size_t k;
	PmNode n = pm_value_def(p->g, v, &k);
	int dtype = pm_value_type(p->g, v)->dtype;
	int named = v.id != p->root.id && (times_written(p, v) > 1 || pm_value_is_output(p->g, v));
	int is_cast = pm_node_op(p->g, n) == PM_OP_Cast;
	PmStr attrs = PM_STR_INIT;
	int any = !add_attrs(p->g, n, &attrs), name = named ? new_slot(p, v, 'T') : 0;
	PmStatus st;

	if (pm_op_desc(pm_node_op(p->g, n))->flags & (PM_OPF_OPAQUE | PM_OPF_KERNEL)) {
		pm_str_release(&attrs);
		return no(p, "it holds a node that patterns do not match");
	}
	if (named)
		pm_str_addf(&p->text, "AS(T%d, ", name);
	if (is_cast)
		pm_str_add(&p->text, "TYPED(");
	if (k > 0)
		pm_str_addf(&p->text, "RESULT(%zu, ", k);
	if (any || attrs.len)
		pm_str_add(&p->text, any ? "ANYATTR(" : "WITH(");
	st = add_op(p, n, depth);
	if (any || attrs.len)
		pm_str_addf(&p->text, "%s)", any ? "" : attrs.s);
	if (k > 0)
		pm_str_addc(&p->text, ')');
	if (is_cast)
		pm_str_addf(&p->text, ", %s, -1)", type_set(dtype));
	if (named)
		pm_str_addc(&p->text, ')');
	pm_str_release(&attrs);
	return st;
}

static PmStatus add_value(Propose *p, PmValue v, int depth)
{
	double x;
	size_t n;

	if (!v.id)
		return no(p, "an operand in the middle is omitted");
	if (++p->n_nodes > PM_MAX_PATTERN_NODES || depth >= PM_MAX_PATTERN_DEPTH)
		return no(p, "it is too large");
	if (pm_value_is_const(p->g, v) && !p->slot[v.id] && !pm_value_const_floats(p->g, v, &x, 1, &n) &&
	    n == 1 && isfinite(x)) {
		pm_str_add(&p->text, "NUM(");
		add_number(&p->text, x);
		pm_str_addc(&p->text, ')');
		return PM_OK;
	}
	if (p->slot[v.id] && pm_value_def(p->g, v, NULL).id) {
		pm_str_addf(&p->text, "V(T%d)", p->slot[v.id] - 1);
		return PM_OK;
	}
	if (pm_value_def(p->g, v, NULL).id)
		return add_result(p, v, depth);
	add_leaf(p, v);
	return p->n_slots > PM_MAX_SLOTS ? no(p, "it has too many operands") : PM_OK;
}

/* The one value that everything leads to. */
static PmStatus find_root(Propose *p)
{
	size_t n = pm_graph_n_nodes(p->g), ends = 0;

	for (size_t i = 0; i < n; i++) {
		PmNode at = pm_graph_node_at(p->g, i);
		PmValue out = { 0 };
		size_t uses = 0;

		for (size_t k = pm_node_n_out(p->g, at); k-- > 0;) {
			uses += pm_value_n_uses(p->g, pm_node_out(p->g, at, k));
			if (pm_value_is_output(p->g, pm_node_out(p->g, at, k)))
				out = pm_node_out(p->g, at, k);
		}
		if (uses)
			continue;
		ends++;
		p->root = out;
	}
	return ends == 1 && p->root.id ? PM_OK
				       : no(p, "it has several results none of which depends on the others");
}

PmStatus pm_propose_pass(const PmGraph *g, const char *name, const char *doc, PmStr *out, PmErr *err)
{
	Propose p = { .g = g, .text = PM_STR_INIT, .slots = PM_STR_INIT, .err = err };
	PmStatus st;

	p.slot = pm_xcalloc((size_t)pm_graph_value_limit(g) + 1, sizeof *p.slot);
	st = find_root(&p);
	if (!st)
		st = add_value(&p, p.root, 2);
	if (!st && p.n_slots > PM_MAX_SLOTS)
		st = no(&p, "it has too many operands");
	if (!st && !p.n_slots)
		st = no(&p, "it reads nothing");
	if (!st)
		pm_str_addf(out,
			    "/* %s.c - %s */\n#include \"passmith/dsl.h\"\n\nenum { %s };\n\n"
			    "/* Decline here where the kernel would be wrong. */\n"
			    "static PmStatus check(PmMatch *m)\n{\n"
			    "\tif (pm_numel(m->root) <= 0)\n"
			    "\t\treturn pm_decline(m, \"the result is empty or its size is not known\");\n"
			    "\treturn PM_OK;\n}\n\n"
			    "static PmStatus rewrite(PmRewriter *rw, PmMatch *m)\n{\n\t(void)rw;\n"
			    "\treturn pm_decline(m, \"the kernel is not written yet\");\n}\n\n"
			    "PM_RULE(%s, .doc = \"%s\",\n\t.pattern =\n\t\t%s,\n\t.check = check, .rewrite = "
			    "rewrite);\n\n"
			    "PM_PLUGIN(\"%s\", \"1\", &%s)\n",
			    name, doc, p.slots.s, name, doc, p.text.s, name, name);
	free(p.slot);
	pm_str_release(&p.text);
	pm_str_release(&p.slots);
	return st;
}
