/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.c - fused nodes: their attributes as a description and back. */
#include "ir/core/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of one scratch buffer: more than any device this program knows has. */
static const int64_t max_scratch_bytes = (int64_t)1 << 40;

typedef struct Decoder {
	const PmGraph *g;
	PmNode n;
	PmArena *arena;
	PmErr *err;
} Decoder;

static PmStatus fail(const Decoder *d, PmStatus code, const char *attr, const char *why)
{
	PmStr who = PM_STR_INIT;

	pm_node_describe(d->g, d->n, &who);
	pm_err(d->err, code, "The attribute '%s' of %.300s %s.", attr, who.s, why);
	pm_str_release(&who);
	return code;
}

static const PmAttr *attr_of(const Decoder *d, const char *name, PmAttrKind kind)
{
	const PmAttr *a = pm_node_attr(d->g, d->n, name);

	return a && a->kind == kind ? a : NULL;
}

static PmStatus over_budget(const Decoder *d, const char *attr)
{
	return fail(d, PM_E_LIMIT, attr, "does not fit in the memory budget for decoding it");
}

/* ---- decoding ---- */

static PmStatus decode_scratch(const Decoder *d, const char *name, PmKAlt *out)
{
	const PmAttr *a = attr_of(d, name, PM_ATTR_INTS);

	if (!a)
		return pm_node_attr(d->g, d->n, name) ? fail(d, PM_E_INVALID, name, "must be a list of ints")
						      : PM_OK;
	if (a->n > PM_MAX_SCRATCH)
		return fail(d, PM_E_LIMIT, name, "lists more than 16 scratch buffers; merge some");
	out->scratch = pm_arena_alloc(d->arena, a->n * sizeof *out->scratch);
	if (!out->scratch)
		return over_budget(d, name);
	for (size_t i = 0; i < a->n; i++) {
		if (a->ints[i] < 1 || a->ints[i] > max_scratch_bytes)
			return fail(d, PM_E_LIMIT, name,
				    "has a scratch buffer of less than 1 byte or more than 2^40 bytes");
		out->scratch[i] = a->ints[i];
	}
	out->n_scratch = (int)a->n;
	return PM_OK;
}

static PmStatus check_args(const Decoder *d, const char *name, const PmKLaunch *l, int n_scratch)
{
	for (int i = 0; i < l->n_args; i++) {
		const PmKArg *a = &l->args[i];

		if (a->kind == PM_KARG_IN &&
		    (a->index >= pm_node_n_in(d->g, d->n) || !pm_node_in(d->g, d->n, a->index).id))
			return fail(d, PM_E_INVALID, name, "passes an operand that the node does not have");
		if (a->kind == PM_KARG_OUT && a->index >= pm_node_n_out(d->g, d->n))
			return fail(d, PM_E_INVALID, name, "passes a result that the node does not have");
		if (a->kind == PM_KARG_SCRATCH && a->index >= (uint32_t)n_scratch)
			return fail(d, PM_E_INVALID, name,
				    "passes a scratch buffer that it does not ask for");
	}
	return PM_OK;
}

static PmStatus decode_launches(const Decoder *d, const char *name, PmKAlt *out)
{
	const PmAttr *a = attr_of(d, name, PM_ATTR_STRINGS);
	PmStatus st = PM_OK;

	if (!a || !a->n)
		return fail(d, PM_E_INVALID, name, "must be a list of at least one launch");
	if (a->n > PM_MAX_LAUNCHES)
		return fail(d, PM_E_LIMIT, name, "lists more than 16 launches; merge some");
	out->launches = pm_arena_alloc(d->arena, a->n * sizeof *out->launches);
	if (!out->launches)
		return over_budget(d, name);
	for (size_t i = 0; i < a->n && st == PM_OK; i++) {
		st = pm_klaunch_parse(a->strings[i], d->arena, &out->launches[i], d->err);
		if (st == PM_OK)
			st = check_args(d, name, &out->launches[i], out->n_scratch);
	}
	out->n_launches = (int)a->n;
	return st;
}

static PmStatus decode_alt(const Decoder *d, int k, PmKAlt *out)
{
	char name[32];
	const PmAttr *a;
	PmStatus st;
	int dtype;

	snprintf(name, sizeof name, "source_%d", k);
	a = attr_of(d, name, PM_ATTR_STRING);
	if (!a || !a->n || strlen(a->s) != a->n)
		return fail(d, PM_E_INVALID, name, "must be CUDA C++ source without zero bytes");
	if (a->n > PM_MAX_SOURCE)
		return fail(d, PM_E_LIMIT, name, "is longer than 1 MiB; generate less code");
	out->source = a->s;
	snprintf(name, sizeof name, "type_%d", k);
	a = attr_of(d, name, PM_ATTR_STRING);
	dtype = a ? pm_dtype_from_name(a->s) : -1;
	if (dtype < 0 || strlen(a->s) != a->n)
		return fail(d, PM_E_INVALID, name, "must name the element type that T stands for");
	out->type = (PmDType)dtype;
	snprintf(name, sizeof name, "scratch_%d", k);
	st = decode_scratch(d, name, out);
	snprintf(name, sizeof name, "launch_%d", k);
	return st == PM_OK ? decode_launches(d, name, out) : st;
}

/* Every attribute must be one that a kernel with n_alts alternatives has. */
static PmStatus check_names(const Decoder *d, int n_alts)
{
	static const char *const stems[] = { "source_", "type_", "scratch_", "launch_" };

	for (size_t i = 0; i < pm_node_n_attrs(d->g, d->n); i++) {
		const char *name = pm_node_attr_at(d->g, d->n, i)->name;
		int known = !strcmp(name, "name") || !strcmp(name, "body") || !strcmp(name, "alts");

		for (size_t s = 0; s < sizeof stems / sizeof *stems && !known; s++) {
			size_t len = strlen(stems[s]);

			known = !strncmp(name, stems[s], len) && name[len] >= '0' &&
				name[len] < '0' + n_alts && !name[len + 1];
		}
		if (!known)
			return fail(d, PM_E_INVALID, name, "is not one that a kernel has");
	}
	return PM_OK;
}

/* Names go into reports, messages and #line. */
static const char name_chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

PmStatus pm_kernel_decode(const PmGraph *g, PmNode n, PmArena *arena, PmKernelDesc *out, PmErr *err)
{
	Decoder d = { g, n, arena, err };
	const PmAttr *name, *body, *alts;
	PmStatus st = PM_OK;

	memset(out, 0, sizeof *out);
	if (pm_node_op(g, n) != PM_OP_Kernel)
		return pm_err(err, PM_E_INVALID, "Node %u is not a Kernel node.", n.id);
	name = attr_of(&d, "name", PM_ATTR_STRING);
	if (!name || !name->n || strlen(name->s) != name->n)
		return fail(&d, PM_E_INVALID, "name", "must name the rule that made the kernel");
	if (name->n > PM_MAX_KERNEL_NAME || strspn(name->s, name_chars) != name->n)
		return fail(&d, PM_E_INVALID, "name", "must be at most 63 letters, digits, '_', '.' or '-'");
	body = attr_of(&d, "body", PM_ATTR_GRAPH);
	if (!body || !body->graph)
		return fail(&d, PM_E_INVALID, "body", "must be a graph");
	if (pm_graph_n_inputs(body->graph) != pm_node_n_in(g, n))
		return fail(&d, PM_E_INVALID, "body", "must have as many inputs as the node has operands");
	if (pm_graph_n_outputs(body->graph) != pm_node_n_out(g, n))
		return fail(&d, PM_E_INVALID, "body", "must have as many outputs as the node has results");
	alts = attr_of(&d, "alts", PM_ATTR_INT);
	if (!alts || alts->i < 1 || alts->i > PM_MAX_ALTS)
		return fail(&d, PM_E_INVALID, "alts", "must be a number of alternatives from 1 to 8");
	out->name = name->s;
	out->body = body->graph;
	out->n_alts = (int)alts->i;
	st = check_names(&d, out->n_alts);
	for (int k = 0; k < out->n_alts && st == PM_OK; k++)
		st = decode_alt(&d, k, &out->alts[k]);
	return st;
}

/* ---- adding ---- */

static PmStatus set_alt(PmGraph *g, PmNode n, int k, const PmKAlt *alt, PmErr *err)
{
	const char *text[PM_MAX_LAUNCHES];
	PmStr lines[PM_MAX_LAUNCHES];
	const char *type = pm_dtype_name(alt->type);
	char name[32];
	PmStatus st;

	if (alt->n_launches < 1 || alt->n_launches > PM_MAX_LAUNCHES || alt->n_scratch < 0 ||
	    alt->n_scratch > PM_MAX_SCRATCH || !alt->source)
		return pm_err(
			err, PM_E_LIMIT,
			"Alternative %d of a kernel needs a source, 1 to %d launches and at most %d scratch "
			"buffers.",
			k, (int)PM_MAX_LAUNCHES, (int)PM_MAX_SCRATCH);
	snprintf(name, sizeof name, "source_%d", k);
	st = pm_node_set_s(g, n, name, alt->source, strlen(alt->source), err);
	snprintf(name, sizeof name, "type_%d", k);
	if (st == PM_OK)
		st = pm_node_set_s(g, n, name, type, strlen(type), err);
	snprintf(name, sizeof name, "scratch_%d", k);
	if (st == PM_OK && alt->n_scratch)
		st = pm_node_set_ints(g, n, name, alt->scratch, (size_t)alt->n_scratch, err);
	for (int i = 0; i < alt->n_launches; i++) {
		pm_str_init(&lines[i]);
		pm_klaunch_print(&alt->launches[i], &lines[i]);
		text[i] = lines[i].s;
	}
	snprintf(name, sizeof name, "launch_%d", k);
	if (st == PM_OK)
		st = pm_node_set_strings(g, n, name, text, (size_t)alt->n_launches, err);
	for (int i = 0; i < alt->n_launches; i++)
		pm_str_release(&lines[i]);
	return st;
}

/* The dimension of the outer graph that a body's dimension stands for: that of the operand whose type has
 * the symbol, else the symbol of the same name. */
static PmDim outer_dim(PmGraph *g, PmNode n, const PmGraph *body, PmDim d)
{
	if (d >= 0)
		return d;
	for (size_t k = 0; k < pm_node_n_in(g, n); k++) {
		const PmType *in = pm_value_type(body, pm_graph_input(body, k));
		const PmType *have = pm_value_type(g, pm_node_in(g, n, k));

		for (int i = 0; i < in->rank && i < have->rank; i++)
			if (in->dim[i] == d)
				return have->dim[i];
	}
	return pm_graph_symbol_name(body, d) ? pm_graph_symbol(g, pm_graph_symbol_name(body, d))
					     : pm_graph_fresh_symbol(g);
}

PmStatus pm_kernel_add(PmGraph *g, const PmKernelDesc *d, const PmValue *in, size_t n_in, PmNode *out,
		       PmErr *err)
{
	size_t n_out = pm_graph_n_outputs(d->body);
	PmGraph *body = NULL;
	PmNode n;
	PmStatus st;

	if (d->n_alts < 1 || d->n_alts > PM_MAX_ALTS)
		return pm_err(err, PM_E_LIMIT, "A kernel has %d alternatives; 1 to %d are supported.",
			      d->n_alts, (int)PM_MAX_ALTS);
	if (pm_graph_n_inputs(d->body) != n_in)
		return pm_err(err, PM_E_INVALID, "A kernel has %zu operands but its body has %zu inputs.",
			      n_in, pm_graph_n_inputs(d->body));
	st = pm_graph_clone(d->body, &body, err);
	if (st == PM_OK)
		st = pm_graph_add_node(g, PM_OP_Kernel, in, n_in, n_out, &n, err);
	if (st != PM_OK) {
		pm_graph_free(body);
		return st;
	}
	for (size_t k = 0; k < n_out; k++) {
		PmType t = *pm_value_type(body, pm_graph_output(body, k));

		for (int i = 0; i < t.rank; i++)
			t.dim[i] = outer_dim(g, n, body, t.dim[i]);
		pm_value_set_type(g, pm_node_out(g, n, k), &t);
	}
	st = pm_node_set_s(g, n, "name", d->name, strlen(d->name), err);
	if (st == PM_OK) {
		st = pm_node_set_graph(g, n, "body", body, err);
		body = NULL;
	}
	if (st == PM_OK)
		st = pm_node_set_i(g, n, "alts", d->n_alts, err);
	for (int k = 0; k < d->n_alts && st == PM_OK; k++)
		st = set_alt(g, n, k, &d->alts[k], err);
	pm_graph_free(body);
	if (st != PM_OK)
		pm_graph_kill_node(g, n, NULL);
	else
		*out = n;
	return st;
}
