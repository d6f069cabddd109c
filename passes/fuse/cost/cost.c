/* SPDX-License-Identifier: Apache-2.0 */
/* cost.c - microseconds on the target, as replays of a CUDA graph count them. Only differences matter. */
#include "../fuse.h"

static double bytes_of(const Op *o)
{
	return (double)f_numel(o) * pm_dtype_bytes(o->dtype);
}

static PmCallKind kind_of(const Op *o, int half)
{
	const int64_t *p = o->par, *window = p + DOT_CONV;

	if (o->mode == FORM_CONV)
		return pm_call_of_conv(p[0], p[2], window[3] * window[4], 1);
	if (o->mode == FORM_IMAGE)
		return pm_call_of_conv(p[0], p[2], 1, 1);
	if (o->mode == FORM_POINT)
		return pm_call_of_conv(p[1], 1, 1, 1);
	return pm_call_of_product(p[1], p[2], p[3], half);
}

/* What the library takes for the product of n. A convolution of 1 by 1 adds it to a result that is filled
 * with the bias first. */
static double product(const Ctx *c, const Node *n)
{
	const Op *o = &c->g->op[n->dot];
	const Op *a = &c->g->op[o->in[0]], *b = &c->g->op[o->in[1]];
	double bytes = bytes_of(a) + bytes_of(b) + (double)f_numel(o) * pm_dtype_bytes(a->dtype);
	double flops = 2.0 * (double)o->par[0] * (double)o->par[1] * (double)o->par[2] * (double)o->par[3];
	int half = a->dtype != PM_F32;

	const PmCallCosts *costs = &f_target()->call[kind_of(o, half)][half];
	int filled = o->mode == FORM_IMAGE && n->n_in > 2 && n->in[2] >= 0;

	return pm_call_us(costs, (double)o->par[3], flops, bytes) + (filled ? costs->bias_us : 0);
}

/* A launch that reads and writes so many bytes. */
static double moving(double bytes)
{
	return f_target()->launch_us + bytes / f_target()->copy_bytes_per_us;
}

/* A view that the graph hands out is copied, since its readers expect elements in order; several by one
 * launch. */
static int is_copied_out(const Op *o)
{
	return (o->kind == OP_TRANSPOSE || o->kind == OP_SLICE || o->kind == OP_EXPAND) &&
	       pm_is_output(o->val);
}

static double copied_out(const Ctx *c, const Node *n)
{
	double bytes = 0;
	int k;

	for (k = 0; k < n->n_out; k++)
		if (is_copied_out(&c->g->op[n->out[k]]))
			bytes += 2 * bytes_of(&c->g->op[n->out[k]]);
	return bytes > 0 ? moving(bytes) : 0;
}

/* Whether this is a transposed view whose rows, along its last axis, lie across; a result is there in order.
 */
static int is_turned(const Op *o)
{
	int last = o->rank - 1;

	return o->kind == OP_TRANSPOSE && last > 0 && o->par[last] != last && o->dim[last] > 1 &&
	       !pm_is_output(o->val);
}

/* Bytes that the library copies before one of its norms or softmaxes: those read the elements of a row side
 * by side, small softmaxes apart. */
static double copied_in(const Ctx *c, const Node *n)
{
	enum { SMALL = 1 << 18 };
	const char *name = pm_op(n->val);
	const Op *x = n->n_in && n->in[0] >= 0 ? &c->g->op[n->in[0]] : NULL;
	int softmax = f_is(name, "Softmax") || f_is(name, "LogSoftmax");

	if (!x || !is_turned(x) || (softmax && bytes_of(x) < SMALL))
		return 0;
	return softmax || f_is(name, "LayerNormalization") || f_is(name, "RMSNormalization") ? 2 * bytes_of(x)
											     : 0;
}

int f_library_launches(const Ctx *c, const Node *n)
{
	const Op *o = &c->g->op[n->out[0]];
	int k, launches = n->launches + (copied_in(c, n) > 0);

	/* One place that is known is a view. Growing takes it for a launch, or it would stop there. */
	if (o->kind == OP_GATHER && c->g->op[o->in[1]].kind == OP_NUM)
		return 0;
	for (k = 0; k < n->n_out && !launches; k++)
		launches = is_copied_out(&c->g->op[n->out[k]]);
	return launches;
}

/* The library's norms and softmaxes give a row to one block, or 32 columns to one: what they wait for memory
 * where that leaves the GPU idle. Its plain reductions are split. */
static double long_rows(const Ctx *c, const Node *n)
{
	enum { BLOCK = 1024 };
	const Target *t = f_target();
	double wait = 0;
	int i;

	if (c->g->op[n->out[0]].kind != OP_EW)
		return 0;
	for (i = 0; i < c->g->n_ops; i++) {
		const Op *o = &c->g->op[i], *x = o->kind == OP_REDUCE ? &c->g->op[o->in[0]] : o;
		int vec = 16 / (int)pm_dtype_bytes(o->dtype), along = o->axis >> (o->rank - 1) & 1;
		double rows = (double)f_numel(o), len = (double)f_numel(x) / rows,
		       blocks = along ? rows : rows / 32;

		if (x == o || o->node < 0 || &c->g->node[o->node] != n || blocks * BLOCK > (double)t->full)
			continue;
		/* Reductions, and as many turns again for the results. */
		wait += (along ? len / (vec * BLOCK) : len / (BLOCK / 128)) * t->row_turn_us *
			(wait > 0 ? 1 : 2);
	}
	return wait;
}

double f_library_time(const Ctx *c, const Node *n)
{
	double bytes = 0, copied;
	int k;

	if (!n->launches)
		return copied_out(c, n);
	if (n->dot)
		return product(c, n);
	for (k = 0; k < n->n_in; k++)
		if (n->in[k] >= 0)
			bytes += bytes_of(&c->g->op[n->in[k]]);
	for (k = 0; k < n->n_out; k++)
		bytes += bytes_of(&c->g->op[n->out[k]]);
	if (c->g->op[n->out[0]].kind == OP_SCATTER)
		return f_scatter_time(c, &c->g->op[n->out[0]], moving(bytes));
	if (c->g->op[n->out[0]].kind >= OP_GATHER && c->g->op[n->out[0]].kind <= OP_GATHER_ND)
		bytes = 2 * bytes_of(&c->g->op[n->out[0]]);
	copied = copied_in(c, n);
	return moving(bytes) + long_rows(c, n) + (copied > 0 ? moving(copied) : 0);
}

/* Operands that are views of other values have to be copied for a kernel. */
double f_copies(const Ctx *c)
{
	double sum = 0;
	int i;

	for (i = 0; i < c->n_arg_in; i++) {
		const Op *o = &c->g->op[c->arg_in[i]];

		if (o->node >= 0 && o->kind != OP_RESHAPE && o->kind != OP_SAME &&
		    !c->g->node[o->node].launches)
			sum += moving(2 * bytes_of(o));
	}
	return sum;
}

/* Microseconds that memory and operations keep the GPU busy, and that a thread waits. */
static void section_time(const Section *s, double *busy, double *wait)
{
	const Target *t = f_target();
	double turns = s->rows ? (double)s->extent / (f_step(s) * s->group) : 1;
	double bytes = s->bytes + s->spread + s->apart, memory = bytes / t->copy_bytes_per_us,
	       work = s->work / t->work_per_us;
	/* Few blocks of columns leave multiprocessors idle, and each loads no faster for it. The turns of
	 * other rows are counted as what they wait for. */
	double few = s->column && s->blocks && s->blocks < t->is.sm_count
			     ? bytes / ((double)s->blocks * t->sm_load_bytes_per_cycle * t->sm_cycles_per_us)
			     : 0;

	if (few > memory)
		memory = few;

	/* L1 looks up one line in a cycle. */
	if (s->lines > memory * t->is.sm_count * t->sm_cycles_per_us)
		memory = s->lines / (t->is.sm_count * t->sm_cycles_per_us);
	/* Other warps compute while some wait for memory. */
	*busy = memory > work ? memory + work * t->beside_share : work + memory * t->beside_share;
	turns = s->split ? turns / s->split : turns;
	if (s->dot)
		*wait = s->wait + (s->rows ? s->syncs * t->row_join_us + (turns - 1) * t->row_turn_us : 0);
	else
		*wait = s->syncs * t->row_join_us +
			(turns - 1) * t->row_turn_us * (s->keep ? 1 : s->syncs + 1);
	*wait += s->serial * (s->serial > 16 ? t->serial_long_turn_us : t->serial_turn_us) *
		 (turns > 1 ? turns : 1);
	*wait += s->looks * t->look_us * (turns > 1 ? turns : 1);
}

static double together(double busy, double wait)
{
	double hidden = f_target()->overlap_share;

	return busy > wait ? busy + wait * hidden : wait + busy * hidden;
}

double f_section_time(const Section *s)
{
	double busy, wait;

	section_time(s, &busy, &wait);
	return together(busy, wait);
}

int f_launches(const Ctx *c)
{
	int i, n = 1 + (c->apart != 0);

	for (i = 0; i < c->n_sections; i++)
		n += c->section[i].split ? c->section[i].n_stages : 0;
	return n;
}

double f_kernel_time(const Ctx *c)
{
	const Target *t = f_target();
	double sum = 0, slowest = 0, more = 0;
	int i;

	for (i = 0; i < c->n_sections; i++) {
		const Section *s = &c->section[i];
		double busy, wait;

		section_time(s, &busy, &wait);
		sum += busy;
		more += s->split ? s->n_stages * (t->launch_us + t->part_join_us) : 0;
		if (wait > slowest)
			slowest = wait;
	}
	more += c->apart ? t->launch_us + c->front.wait : 0;
	return t->launch_us + more + together(sum, slowest);
}

double f_kernel_time_again(Ctx *c)
{
	int i;

	for (i = 0; i < c->n_sections; i++)
		if (c->section[i].dot)
			c->section[i].wait = f_tile_time(c, &c->section[i], &c->section[i].tile);
	if (c->apart)
		c->front.wait = f_front_time(c, &c->front);
	return f_kernel_time(c);
}
