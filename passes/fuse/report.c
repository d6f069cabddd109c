/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - what the plugin says about a kernel to whoever asks (passmith explain): the operations that
 * nodes became, and what they are estimated to take. The nests are added where they are chosen (source.c). */
#include "fuse.h"

#include "./loop/print.h"

static const char *kind_name(const Op *o)
{
	static const char *const names[] = {
		[OP_IN] = "in",
		[OP_NUM] = "number",
		[OP_EW] = "ew",
		[OP_FOLD] = "fold",
		[OP_CAST] = "cast",
		[OP_SAME] = "same",
		[OP_TRANSPOSE] = "transpose",
		[OP_RESHAPE] = "reshape",
		[OP_EXPAND] = "expand",
		[OP_SLICE] = "slice",
		[OP_CONCAT] = "concat",
		[OP_PAD] = "pad",
		[OP_GATHER] = "gather",
		[OP_GATHER_ELEMENTS] = "gather_elements",
		[OP_GATHER_ND] = "gather_nd",
		[OP_TILE] = "tile",
		[OP_TRILU] = "trilu",
		[OP_RESIZE] = "resize",
		[OP_LINEAR] = "resize_linear",
		[OP_SPREAD] = "spread",
		[OP_WINDOW] = "window",
		[OP_REDUCE] = "reduce",
		[OP_POOL] = "pool",
		[OP_SCATTER] = "scatter",
		[OP_DOT] = "product",
	};

	return o->kind < sizeof names / sizeof *names && names[o->kind] ? names[o->kind] : "none";
}

static void number(PmText *t, const char *before, int64_t x)
{
	pm_text_add(t, before);
	pm_text_int(t, x);
}

/* "%7 float16[2,64] = reduce sum axes 1 of %4 for LayerNormalization" */
static void operation(const Ctx *c, int op, PmText *t)
{
	const Op *o = &c->g->op[op];
	int k;

	number(t, "  %", op);
	pm_text_add(t, " ");
	pm_text_add(t, nest_dtype(o->dtype));
	for (k = 0; k < o->rank; k++)
		number(t, k ? "," : "[", o->dim[k]);
	pm_text_add(t, o->rank ? "] = " : " = ");
	pm_text_add(t, kind_name(o));
	if (o->kind == OP_EW || o->kind == OP_FOLD) {
		pm_text_add(t, " \"");
		pm_text_add(t, o->expr);
		pm_text_add(t, "\"");
	}
	if (o->kind == OP_NUM) {
		pm_text_add(t, " ");
		pm_text_float(t, o->num[0]);
	}
	if (o->kind == OP_REDUCE || o->kind == OP_POOL) {
		pm_text_add(t, " ");
		pm_text_add(t, nest_how(ST_FOLD, o->red));
	}
	for (k = 0; k < o->rank && o->kind == OP_REDUCE; k++)
		if (o->axis >> k & 1)
			number(t, " axis ", k);
	for (k = 0; k < o->n_in; k++)
		if (o->in[k] >= 0)
			number(t, k ? ", %" : " of %", o->in[k]);
	if (o->val.id && f_computed(c, o)) {
		pm_text_add(t, " for ");
		pm_text_add(t, pm_op(o->val));
	}
	pm_text_add(t, "\n");
}

/* Marks what op is computed from. */
static void mark(const Ctx *c, int op, uint8_t *seen)
{
	const Op *o = &c->g->op[op];
	int k;

	if (seen[op])
		return;
	seen[op] = 1;
	for (k = 0; k < o->n_in && f_computed(c, o); k++)
		if (o->in[k] >= 0)
			mark(c, o->in[k], seen);
}

void f_report_operations(const Ctx *c, PmText *t)
{
	uint8_t seen[F_OPS] = { 0 };
	int i;

	for (i = 0; i < c->n_arg_out; i++)
		mark(c, c->arg_out[i], seen);
	pm_text_add(t, "operations\n");
	for (i = 0; i < c->g->n_ops; i++)
		if (seen[i])
			operation(c, i, t);
}

void f_report_estimate(const Ctx *c, PmText *t)
{
	double before = 0;
	int i;

	for (i = 0; i < c->g->n_nodes; i++)
		before += c->g->node[i].in_set ? f_library_time(c, &c->g->node[i]) : 0;
	number(t, "estimate ", (int64_t)(f_kernel_time(c) * 1000));
	number(t, " ns, of library calls ", (int64_t)(before * 1000));
	pm_text_add(t, " ns\n");
	for (i = 0; i < c->n_sections; i++) {
		const Section *s = &c->section[i];

		number(t, "section ", i);
		number(t, ": bytes ", (int64_t)s->bytes);
		number(t, ", bytes out of order ", (int64_t)s->spread);
		number(t, ", operations ", (int64_t)s->work);
		number(t, ", joins of a row's threads ", s->syncs);
		number(t, ", ns ", (int64_t)(f_section_time(s) * 1000));
		pm_text_add(t, "\n");
	}
}
