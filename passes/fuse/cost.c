/* SPDX-License-Identifier: Apache-2.0 */
/* cost.c - microseconds on a large GPU, as replays of a CUDA graph count them. Only differences matter. */
#include "fuse.h"

static const double LAUNCH = 1.7, /* a small kernel and the gap after it */
	BYTES_PER_US = 3.3e6,     /* a plain copy */
	WORK_PER_US = 15e6,       /* simple operations */
	BESIDE = 0.1,             /* of what takes less, memory or operations, the part that is not hidden */
	SHARING = 0.35,           /* a row's threads join their parts */
	PARTS = 0.5,              /* and those of other blocks */
	TURN = 0.12,              /* one more turn of a loop over a row */
	SERIAL = 0.03,            /* one more turn of a loop of one thread */
	LOOKS = 0.5,              /* one more turn of looking through the indices of a scatter */
	SCATTER = 2,              /* what the library's takes beside its bytes where it joins */
	REPLACE = 0.5,            /* and where it replaces */
	SERIAL_LONG = 0.6; /* the same where the loop is too long to be unrolled: loads wait for each other */

static double bytes_of(const Op *o)
{
	return (double)f_numel(o) * pm_dtype_bytes(o->dtype);
}

/* What the library takes for a product: a fit to what an H200 took (docs/design/fusion.md). */
static double product(const Ctx *c, const Op *o)
{
	const Op *a = &c->op[o->in[0]], *b = &c->op[o->in[1]];
	double bytes = bytes_of(a) + bytes_of(b) + (double)f_numel(o) * pm_dtype_bytes(a->dtype);
	double flops = 2.0 * (double)o->par[0] * (double)o->par[1] * (double)o->par[2] * (double)o->par[3];

	double k = (double)o->par[3];

	if (a->dtype == PM_F32)
		return 6.5 + 2 * flops / (flops + 20e6) + k * 0.0015 + flops / 40e6 + bytes / BYTES_PER_US;
	if (o->mode == FORM_CONV)
		return 5 + 5 * flops / (flops + 20e6) + k * 0.001 + flops / 800e6 + bytes / BYTES_PER_US;
	if (o->mode == FORM_IMAGE)
		return 6.5 + k * 0.0015 + flops / 400e6 + bytes / BYTES_PER_US;
	/* Results of half types whose rows do not begin at 16 bytes take its slowest kernels. */
	return 4.5 + k * 0.0006 + flops / (o->par[2] & 7 ? 40e6 : 400e6) + bytes / BYTES_PER_US;
}

/* A view that the graph hands out is copied, since its readers expect elements in order. */
static int is_copied_out(const Op *o)
{
	return (o->kind == OP_TRANSPOSE || o->kind == OP_SLICE || o->kind == OP_EXPAND) &&
	       pm_is_output(o->val);
}

static double copied_out(const Ctx *c, const Node *n)
{
	double sum = 0;
	int k;

	for (k = 0; k < n->n_out; k++)
		if (is_copied_out(&c->op[n->out[k]]))
			sum += LAUNCH + 2 * bytes_of(&c->op[n->out[k]]) / BYTES_PER_US;
	return sum;
}

int f_library_launches(const Ctx *c, const Node *n)
{
	const Op *o = &c->op[n->out[0]];
	int k, sum = n->launches;

	/* One place that is known is a view. Growing takes it for a launch, or it would stop there. */
	if (o->kind == OP_GATHER && c->op[o->in[1]].kind == OP_NUM)
		return 0;
	for (k = 0; k < n->n_out && !n->launches; k++)
		sum += is_copied_out(&c->op[n->out[k]]);
	return sum;
}

/* The library's norms and softmaxes give a row to one block, or 32 columns to one: what they wait for memory
 * where that leaves the GPU idle. Its plain reductions are split. */
static double long_rows(const Ctx *c, const Node *n)
{
	enum { FULL = 132 * 1024, BLOCK = 1024 };
	double wait = 0;
	int i;

	if (c->op[n->out[0]].kind != OP_EW)
		return 0;
	for (i = 0; i < c->n_ops; i++) {
		const Op *o = &c->op[i], *x = o->kind == OP_REDUCE ? &c->op[o->in[0]] : o;
		int vec = 16 / (int)pm_dtype_bytes(o->dtype), along = o->axis >> (o->rank - 1) & 1;
		double rows = (double)f_numel(o), len = (double)f_numel(x) / rows,
		       blocks = along ? rows : rows / 32;

		if (x == o || o->node < 0 || &c->node[o->node] != n || blocks * BLOCK > FULL)
			continue;
		/* Reductions, and as many turns again for the results. */
		wait += (along ? len / (vec * BLOCK) : len / (BLOCK / 128)) * TURN * (wait > 0 ? 1 : 2);
	}
	return wait;
}

double f_library_time(const Ctx *c, const Node *n)
{
	double bytes = 0;
	int k;

	if (!n->launches)
		return copied_out(c, n);
	if (n->dot)
		return product(c, &c->op[n->dot]);
	for (k = 0; k < n->n_in; k++)
		if (n->in[k] >= 0)
			bytes += bytes_of(&c->op[n->in[k]]);
	for (k = 0; k < n->n_out; k++)
		bytes += bytes_of(&c->op[n->out[k]]);
	if (c->op[n->out[0]].kind == OP_SCATTER)
		return LAUNCH + (c->op[n->out[0]].mode & SCATTER_LAST ? REPLACE : SCATTER) +
		       bytes / BYTES_PER_US;
	if (c->op[n->out[0]].kind >= OP_GATHER && c->op[n->out[0]].kind <= OP_GATHER_ND)
		bytes = 2 * bytes_of(&c->op[n->out[0]]);
	return LAUNCH + bytes / BYTES_PER_US + long_rows(c, n);
}

/* Operands that are views of other values have to be copied for a kernel. */
double f_copies(const Ctx *c)
{
	double sum = 0;
	int i;

	for (i = 0; i < c->n_arg_in; i++) {
		const Op *o = &c->op[c->arg_in[i]];

		if (o->node >= 0 && o->kind != OP_RESHAPE && o->kind != OP_SAME && !c->node[o->node].launches)
			sum += LAUNCH + 2 * bytes_of(o) / BYTES_PER_US;
	}
	return sum;
}

/* Microseconds that memory and operations keep the GPU busy, and that a thread waits. */
static void section_time(const Section *s, double *busy, double *wait)
{
	double turns = s->rows ? (double)s->extent / (f_step(s) * s->group) : 1;
	double memory = (s->bytes + s->spread) / BYTES_PER_US, work = s->work / WORK_PER_US;

	/* Other warps compute while some wait for memory. */
	*busy = memory > work ? memory + work * BESIDE : work + memory * BESIDE;
	turns = s->split ? turns / s->split : turns;
	if (s->dot)
		*wait = s->wait + (s->rows ? s->syncs * SHARING + (turns - 1) * TURN : 0);
	else
		*wait = s->syncs * SHARING + (turns - 1) * TURN * (s->keep ? 1 : s->syncs + 1);
	*wait += s->serial * (s->serial > 16 ? SERIAL_LONG : SERIAL) * (turns > 1 ? turns : 1);
	*wait += s->looks * LOOKS * (turns > 1 ? turns : 1);
}

static double together(double busy, double wait)
{
	return busy > wait ? busy + wait / 4 : wait + busy / 4;
}

double f_section_time(const Section *s)
{
	double busy, wait;

	section_time(s, &busy, &wait);
	return together(busy, wait);
}

double f_kernel_time(const Ctx *c)
{
	double sum = 0, slowest = 0, more = 0;
	int i;

	for (i = 0; i < c->n_sections; i++) {
		const Section *s = &c->section[i];
		double busy, wait;

		section_time(s, &busy, &wait);
		sum += busy;
		more += s->split ? s->n_stages * (LAUNCH + PARTS) : 0;
		if (wait > slowest)
			slowest = wait;
	}
	more += c->apart ? LAUNCH + c->front.wait : 0;
	return LAUNCH + more + together(sum, slowest);
}
