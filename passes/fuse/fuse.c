/* SPDX-License-Identifier: Apache-2.0 */
/* fuse.c - automatic fusion, as a pass: one region rule over whatever operators stand together. */
#include "fuse.h"

/* Every callback asks anew, since what the host hands out is valid in one alone. */
static int know_target(void)
{
	return !f_target_read();
}

Ctx *f_new(void)
{
	Ctx *c = pm_alloc(sizeof *c);

	if (!c)
		return NULL;
	c->g = pm_alloc(sizeof *c->g);
	c->ix = pm_alloc(sizeof *c->ix);
	c->b.memo = pm_alloc(F_SEEN * sizeof *c->b.memo);
	c->b.row_memo = pm_alloc(F_SEEN * sizeof *c->b.row_memo);
	c->b.seen = pm_alloc(F_SEEN * sizeof *c->b.seen);
	c->b.nest.var = pm_alloc(F_VARS * sizeof *c->b.nest.var);
	c->b.nest.ix = c->ix;
	if (!c->g || !c->ix || !c->b.memo || !c->b.row_memo || !c->b.seen || !c->b.nest.var)
		return NULL;
	return f_graph_new(c->g, &c->fail) && ix_new(c->ix, &c->fail) ? c : NULL;
}

/* What the node of v is expected to take by itself: where more is asked for than the run needs. */
static void tell_alone(PmVal v)
{
	Ctx *c;
	uint32_t i;
	int at;

	if (!pm_trial(1) || !(c = f_new()))
		return;
	at = f_node(c->g, v);
	for (i = 0; at >= 0 && c->g->node[at].ok && f_target_try(i); i++)
		pm_expect(v, 0, i, f_library_time(c, &c->g->node[at]));
	f_target_read();
}

/* What the planned kernel, which makes v, is expected to take. */
static void tell_kernel(Ctx *c, PmVal v)
{
	uint32_t i;

	for (i = 0; f_target_try(i); i++)
		pm_expect(v, 1, i, f_kernel_time_again(c));
	f_target_read();
	f_kernel_time_again(c);
}

static PmStatus region(PmRegion *r, PmVal seed)
{
	if (!know_target())
		return pm_decline(r, "the target lacks a constant of the cost model");
	tell_alone(seed);
	return f_grow(r, seed);
}

/* The set of the match, its results in the order the host wants them. */
static int load(Ctx *c, const PmMatch *m)
{
	uint32_t i;

	for (i = 0; i < m->node.n; i++) {
		int at = f_node(c->g, m->node.v[i]);

		if (at < 0 || !c->g->node[at].ok)
			return 0;
		c->g->node[at].in_set = 1;
	}
	if (m->out.n > F_ARGS)
		return 0;
	for (i = 0; i < m->out.n; i++)
		c->arg_out[i] = f_value(c->g, m->out.v[i]);
	c->n_arg_out = (int)m->out.n;
	return !c->fail;
}

typedef struct Kernel {
	PmText text;
	int block, front_block, launches; /* threads; of the launch in front, 0: none */
	int64_t blocks, front_blocks, scratch[2];
	int n_scratch;
	int32_t in[F_ARGS];
	int n_in, n_out, wide;
	Uses used[F_LAUNCHES]; /* by launch */
	double bytes;
} Kernel;

/* Plans and writes the kernel that makes `root`; 0 and c->fail when that cannot be. */
static int make(Ctx *c, PmVal root, int choice, Kernel *k)
{
	int i;

	c->choice = choice;
	k->text = pm_text(F_TEXT);
	if (k->text.full || !f_plan(c))
		return 0;
	k->block = c->section[0].block;
	k->launches = f_stages(c) + c->apart;
	k->front_block = c->apart ? c->front.block : 0;
	k->front_blocks = c->front.blocks;
	k->wide = c->section[0].wide;
	for (k->bytes = 0, i = 0; i < c->n_sections; i++)
		k->bytes += c->section[i].bytes;
	k->n_scratch = 0;
	if (c->report) {
		f_report_estimate(c, c->report);
		f_report_operations(c, c->report);
	}
	if (c->apart)
		k->scratch[k->n_scratch++] = f_front_scratch(c);
	if (f_scratch(c))
		k->scratch[k->n_scratch++] = f_scratch(c);
	if (!choice)
		tell_kernel(c, root);
	if (!f_source(c, &k->text, k->block, &k->blocks))
		return 0;
	k->n_in = c->n_arg_in;
	for (i = 0; i < k->n_in; i++)
		k->in[i] = c->arg_in[i];
	k->n_out = c->n_arg_out;
	for (i = 0; i < k->launches; i++)
		k->used[i] = c->used[i];
	return k->blocks >= 1 && k->blocks <= INT32_MAX;
}

static int same_operands(const Kernel *a, const Kernel *b)
{
	int i;

	for (i = 0; i < a->n_in && a->n_in == b->n_in && a->in[i] == b->in[i]; i++)
		;
	return a->n_in == b->n_in && i == a->n_in;
}

/* Whether trying b may say something that a did not. */
static int differs(const Ctx *c, const Kernel *a, const Kernel *b)
{
	if (f_has_product(c))
		return !f_is(a->text.s, b->text.s);
	return a->block != b->block || a->blocks != b->blocks || a->front_block != b->front_block ||
	       a->front_blocks != b->front_blocks || (a->wide && !f_is(a->text.s, b->text.s));
}

typedef struct Described {
	PmKernelSpec spec;
	PmLaunch launch[F_LAUNCHES];
	const PmLaunch *list[F_LAUNCHES + 1];
	PmArg arg[F_LAUNCHES][2 * F_ARGS + 2];
} Described;

/* The pointers that a launch of several has, in the order of its parameters. */
static PmArgs pointers(const Kernel *k, int launch, PmArg *arg)
{
	const Uses *u = &k->used[launch];
	uint32_t n = 0, i;

	for (i = 0; i < (uint32_t)k->n_in; i++)
		if (u->in >> i & 1)
			arg[n++] = (PmArg){ .kind = PM_ARG_IN, .index = i };
	for (i = 0; i < (uint32_t)k->n_out; i++)
		if (u->out >> i & 1)
			arg[n++] = (PmArg){ .kind = PM_ARG_OUT, .index = i };
	/* Tiles are the first scratch buffer of a kernel that has them. */
	if (u->tiles)
		arg[n++] = (PmArg){ .kind = PM_ARG_SCRATCH };
	if (u->parts)
		arg[n++] = (PmArg){ .kind = PM_ARG_SCRATCH, .index = k->front_block != 0 };
	return (PmArgs){ arg, n };
}

/* The launches of a kernel: fused0, fused1, ... */
static void describe(const Kernel *k, Described *d)
{
	static const char *const entries[F_LAUNCHES] = { "fused0", "fused1", "fused2", "fused3",
							 "fused4", "fused5", "fused6", "fused7" };
	int i;

	d->spec = (PmKernelSpec){ .struct_size = sizeof d->spec, .source = k->text.s, .launch = d->list };
	d->spec.scratch = (PmSizes){ k->scratch, (uint32_t)k->n_scratch };
	for (i = 0; i < k->launches; i++) {
		d->launch[i] = (PmLaunch){ .struct_size = sizeof d->launch[i], .entry = entries[i] };
		d->launch[i].grid[0] = (uint32_t)(i || !k->front_block ? k->blocks : k->front_blocks);
		d->launch[i].block[0] = (uint32_t)(i || !k->front_block ? k->block : k->front_block);
		d->launch[i].smem = (uint32_t)k->used[i].held_bytes;
		if (k->launches > 1)
			d->launch[i].arg = pointers(k, i, d->arg[i]);
		d->list[i] = &d->launch[i];
	}
	d->list[i] = NULL;
}

/* Adds the kernels that may take less than `first` after all: which does is found out where it runs. */
static void add_others(Ctx *c, PmVal root, const Kernel *k, int choices, Described *first)
{
	Described *described = pm_alloc(F_CHOICES * sizeof *described);
	Kernel *made = pm_alloc(F_CHOICES * sizeof *made); /* the host reads them when this has returned */
	PmKernelSpec *last = &first->spec;
	int n = 1, i, choice;

	if (!described || !made)
		return;
	made[0] = *k;
	for (choice = 1; choice < choices; choice++) {
		if (!make(c, root, choice, &made[n]) || !same_operands(k, &made[n]))
			continue;
		for (i = 0; i < n && differs(c, &made[i], &made[n]); i++)
			;
		if (i < n)
			continue;
		describe(&made[n], &described[n]);
		last->alt = &described[n].spec;
		last = &described[n++].spec;
	}
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	enum { LARGE = 2 << 20, REPORT = 240 << 10, NEAR = 100 /* nodes from the first */ };
	PmText report;
	Ctx *c = f_new();
	Described first;
	Kernel k;
	PmVal in[F_ARGS];
	int i;

	if (!c)
		return pm_decline(m, "there is no memory");
	if (!know_target())
		return pm_decline(m, "the target lacks a constant of the cost model");
	if (!load(c, m))
		return pm_decline(m, c->fail ? c->fail : "the set cannot be loaded");
	if (pm_report(NULL)) {
		report = pm_text(REPORT);
		c->report = &report;
	}
	if (!make(c, m->root, 0, &k))
		return pm_decline(m, c->fail ? c->fail : "the kernel is too long");
	if (c->report)
		pm_report(report.s ? report.s : "");
	c->report = NULL;
	for (i = 0; i < k.n_in; i++)
		in[i] = c->g->op[k.in[i]].val;
	describe(&k, &first);
	first.spec.in = (PmVals){ in, (uint32_t)k.n_in };
	first.spec.outs = m->out;
	c->n_known_in = k.n_in;
	/* The sources of a whole model are limited together. */
	if (f_has_product(c))
		add_others(c, m->root, &k, pm_order(m->root) < NEAR ? F_CHOICES : 2, &first);
	else if (k.bytes > LARGE)
		add_others(c, m->root, &k, 2, &first);
	return pm_host_->replace(rw, &first.spec);
}

PM_REGION_RULE(fuse, .doc = "whatever makes one kernel -> one kernel", .region = region, .rewrite = rewrite);

PM_PLUGIN("fuse", "1", &fuse)
