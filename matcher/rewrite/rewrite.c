/* SPDX-License-Identifier: Apache-2.0 */
/* rewrite.c - taking down what a rewrite describes: every field of the plugin's structures is checked here.
 */
#include "matcher/rewrite/rewrite.h"

#include "matcher/pattern/abi.h"
#include "matcher/rewrite/ksig.h"

#include <ctype.h>
#include <string.h>

enum {
	MAX_ENTRY = 255, /* bytes of a kernel's name */
	MAX_DEFINES = 64,
	MAX_GRID_YZ = 65535,
	MAX_BLOCK_Z = 64
};

static const int64_t max_scratch = (int64_t)1 << 40; /* bytes of one buffer */

PmStatus pm__rewriter_slot(PmRewriter *rw, uint32_t slot)
{
	PmSession *s = rw->s;

	if (!rw->slot || slot >= rw->n_slots || !(rw->as_mask >> slot & 1))
		return pm__misuse(s, "Rule '%s' replaces slot %u, which no AS of its pattern names.",
				  rw->rule, slot);
	if (rw->described)
		return pm__misuse(
			s, "Rule '%s' calls pm_replace_slot() after it described its kernel; call it before.",
			rw->rule);
	if (rw->n_out + 1 >= PM_MAX_OPERANDS)
		return pm__misuse(s, "Rule '%s' replaces more than %d values.", rw->rule, PM_MAX_OPERANDS);
	rw->out[rw->n_out++] = rw->slot[slot];
	return PM_OK;
}

/* ---- inputs and outputs ---- */

static int has_value(const PmValue *v, size_t n, PmValue x)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].id == x.id)
			return 1;
	return 0;
}

static PmStatus take_in(PmRewriter *rw, const PmKernelSpec *k)
{
	if (k->in.n > PM_MAX_OPERANDS || (k->in.n && !k->in.v))
		return pm__misuse(rw->s, "Rule '%s' gives its kernel no input list, or more than %d inputs.",
				  rw->rule, PM_MAX_OPERANDS);
	for (uint32_t i = 0; i < k->in.n; i++) {
		if (!pm__unhandle(rw->s, k->in.v[i], &rw->in[i]))
			return pm__misuse(rw->s, "Input %u of the kernel of rule '%s' is no value.", i,
					  rw->rule);
		if (!has_value(rw->set->in.v, rw->set->in.n, rw->in[i]))
			return pm__misuse(
				rw->s,
				"Input %u of the kernel of rule '%s' ('%.100s') is not an operand that the "
				"matched nodes take from outside; inputs must be values of PmMatch.in.",
				i, rw->rule, pm_value_name(rw->s->g, rw->in[i]));
	}
	rw->n_in = k->in.n;
	return PM_OK;
}

static PmStatus take_outs(PmRewriter *rw, const PmKernelSpec *k)
{
	PmSession *s = rw->s;
	PmValue like;

	if (k->outs.n > PM_MAX_OPERANDS || (k->outs.n && !k->outs.v))
		return pm__misuse(s, "Rule '%s' gives its kernel more than %d outputs.", rw->rule,
				  PM_MAX_OPERANDS);
	if (k->outs.n) {
		for (uint32_t i = 0; i < k->outs.n; i++)
			if (!pm__unhandle(s, k->outs.v[i], &rw->out[i]))
				return pm__misuse(s, "Output %u of the kernel of rule '%s' is no value.", i,
						  rw->rule);
		rw->n_out = k->outs.n;
	} else if (!rw->slot) {
		if (rw->set->out.n > PM_MAX_OPERANDS)
			return pm__misuse(s, "The region of rule '%s' has more than %d outputs.", rw->rule,
					  PM_MAX_OPERANDS);
		rw->n_out = (uint32_t)rw->set->out.n;
		memcpy(rw->out, rw->set->out.v, rw->n_out * sizeof *rw->out);
	} else {
		memmove(rw->out + 1, rw->out, rw->n_out * sizeof *rw->out);
		rw->out[0] = rw->set->root;
		rw->n_out++;
	}
	for (uint32_t i = 0; i < rw->n_out; i++) {
		PmNode def = pm_value_def(s->g, rw->out[i], NULL);

		if (!def.id || !pm__set_has(rw->set, def))
			return pm__misuse(
				s, "Output %u of the kernel of rule '%s' is not a result of a matched node.",
				i, rw->rule);
		if (has_value(rw->out, i, rw->out[i]))
			return pm__misuse(s, "Output %u of the kernel of rule '%s' is listed twice.", i,
					  rw->rule);
	}
	if (!has_value(rw->out, rw->n_out, rw->set->root))
		return pm__misuse(
			s, "The outputs of the kernel of rule '%s' do not include the root of the match.",
			rw->rule);
	if (!k->like.id)
		return PM_OK;
	if (!pm__unhandle(s, k->like, &like))
		return pm__misuse(s, "The value in .like of rule '%s' is no value.", rw->rule);
	if (!pm_type_equal(pm_value_type(s->g, like), pm_value_type(s->g, rw->out[0])))
		return pm__misuse(
			s, "The value in .like of rule '%s' does not have the type of the first output.",
			rw->rule);
	return PM_OK;
}

/* ---- source, launches, arguments ---- */

static int is_identifier(const char *s, size_t n)
{
	if (!n || !(isalpha((unsigned char)*s) || *s == '_'))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (!(isalnum((unsigned char)s[i]) || s[i] == '_'))
			return 0;
	return 1;
}

static PmStatus take_source(PmRewriter *rw, const PmKernelSpec *k, PmKAlt *alt)
{
	PmStr text = PM_STR_INIT;
	size_t n = k->source ? strnlen(k->source, PM_MAX_SOURCE + 1) : 0;
	PmStatus st = PM_OK;

	if (!n || n > PM_MAX_SOURCE)
		return pm__misuse(rw->s,
				  "The kernel of rule '%s' has no source, or one of more than %d bytes.",
				  rw->rule, PM_MAX_SOURCE);
	if (k->define.n > MAX_DEFINES || (k->define.n && !k->define.v))
		return pm__misuse(rw->s, "The kernel of rule '%s' has more than %d defines.", rw->rule,
				  MAX_DEFINES);
	for (uint32_t i = 0; i < k->define.n && !st; i++) {
		const char *name = k->define.v[i].name;

		if (!name || !is_identifier(name, strnlen(name, MAX_ENTRY + 1)))
			st = pm__misuse(rw->s,
					"Define %u of the kernel of rule '%s' is not named by an identifier.",
					i, rw->rule);
		else
			pm_str_addf(&text, "#define %.*s (%lld)\n", MAX_ENTRY, name,
				    (long long)k->define.v[i].value);
	}
	pm_str_addn(&text, k->source, n);
	if (!st && text.len > PM_MAX_SOURCE)
		st = pm__misuse(rw->s, "The source of the kernel of rule '%s' is longer than %d bytes.",
				rw->rule, PM_MAX_SOURCE);
	if (!st)
		alt->source = pm_arena_strndup(rw->arena, text.s, text.len);
	pm_str_release(&text);
	return st;
}

static PmStatus take_type(PmRewriter *rw, const PmKernelSpec *k, PmKAlt *alt)
{
	int t = k->type ? (int)k->type - 1 : pm_value_type(rw->s->g, rw->out[0])->dtype;

	if (k->type > PM_N_DTYPES || t < 0)
		return pm__misuse(rw->s, "The kernel of rule '%s' has an unknown element type in .type.",
				  rw->rule);
	if (pm_dtype_is_narrow(t))
		return pm__misuse(rw->s,
				  "The kernel of rule '%s' has the element type %s, which no kernel has.",
				  rw->rule, pm_dtype_name(t));
	alt->type = (PmDType)t;
	return PM_OK;
}

static PmStatus take_scratch(PmRewriter *rw, const PmKernelSpec *k, PmKAlt *alt)
{
	if (k->scratch.n > PM_MAX_SCRATCH || (k->scratch.n && !k->scratch.v))
		return pm__misuse(rw->s, "The kernel of rule '%s' asks for more than %d scratch buffers.",
				  rw->rule, PM_MAX_SCRATCH);
	alt->n_scratch = (int)k->scratch.n;
	alt->scratch = pm_arena_alloc(rw->arena, k->scratch.n * sizeof *alt->scratch);
	for (uint32_t i = 0; i < k->scratch.n; i++) {
		alt->scratch[i] = k->scratch.v[i];
		if (alt->scratch[i] < 1 || alt->scratch[i] > max_scratch)
			return pm__misuse(
				rw->s,
				"Scratch buffer %u of rule '%s' has %lld bytes; 1 to 2^40 are allowed.", i,
				rw->rule, (long long)alt->scratch[i]);
	}
	return PM_OK;
}

static void fill_args(PmRewriter *rw, const PmArg *src, uint32_t n, int own, int n_scratch, PmKLaunch *l)
{
	static const PmKArgKind kinds[] = {
		[PM_ARG_IN] = PM_KARG_IN,   [PM_ARG_OUT] = PM_KARG_OUT, [PM_ARG_SCRATCH] = PM_KARG_SCRATCH,
		[PM_ARG_I64] = PM_KARG_I64, [PM_ARG_I32] = PM_KARG_I32, [PM_ARG_F32] = PM_KARG_F32,
		[PM_ARG_F64] = PM_KARG_F64
	};
	PmKArg *a = l->args;

	if (!own) {
		for (uint32_t k = 0; k < rw->n_in; k++)
			*a++ = (PmKArg){ .kind = PM_KARG_IN, .index = k };
		for (uint32_t k = 0; k < rw->n_out; k++)
			*a++ = (PmKArg){ .kind = PM_KARG_OUT, .index = k };
		for (int k = 0; k < n_scratch; k++)
			*a++ = (PmKArg){ .kind = PM_KARG_SCRATCH, .index = (uint32_t)k };
	}
	for (uint32_t k = 0; k < n; k++, a++) {
		a->kind = kinds[src[k].kind];
		a->index = src[k].kind <= PM_ARG_SCRATCH ? src[k].index : 0;
		a->i = src[k].kind == PM_ARG_I64 || src[k].kind == PM_ARG_I32 ? src[k].i : 0;
		a->f = src[k].kind == PM_ARG_F32   ? (double)(float)src[k].f
		       : src[k].kind == PM_ARG_F64 ? src[k].f
						   : 0;
	}
	l->n_args = (int)(a - l->args);
}

static PmStatus take_args(PmRewriter *rw, const PmArgs *args, const PmKAlt *alt, PmKLaunch *l)
{
	PmArg copy[PM_MAX_KERNEL_ARGS];
	uint32_t limit[] = { 0, rw->n_in, rw->n_out, (uint32_t)alt->n_scratch };
	size_t fixed = rw->n_in + rw->n_out + (size_t)alt->n_scratch;
	int own = 0;

	if (args->n > PM_MAX_KERNEL_ARGS || (args->n && !args->v))
		return pm__misuse(rw->s, "Kernel %s of rule '%s' has more than %d arguments.", l->entry,
				  rw->rule, PM_MAX_KERNEL_ARGS);
	for (uint32_t k = 0; k < args->n; k++) {
		copy[k] = args->v[k];
		if (copy[k].kind < PM_ARG_IN || copy[k].kind > PM_ARG_F64)
			return pm__misuse(rw->s,
					  "Argument %u of kernel %s of rule '%s' is of unknown kind %u.", k,
					  l->entry, rw->rule, copy[k].kind);
		if (copy[k].kind <= PM_ARG_SCRATCH) {
			own = 1;
			if (copy[k].index >= limit[copy[k].kind])
				return pm__misuse(rw->s,
						  "Argument %u of kernel %s of rule '%s' names input, output "
						  "or scratch "
						  "buffer %u, which does not exist.",
						  k, l->entry, rw->rule, copy[k].index);
		}
		if (copy[k].kind == PM_ARG_I32 && (copy[k].i < INT32_MIN || copy[k].i > UINT32_MAX))
			return pm__misuse(rw->s,
					  "Argument %u of kernel %s of rule '%s' is %lld, which does not fit "
					  "in 32 bits; use "
					  "I64.",
					  k, l->entry, rw->rule, (long long)copy[k].i);
		if (copy[k].kind == PM_ARG_I32)
			copy[k].i = (int32_t)(uint32_t)copy[k].i;
	}
	if ((own ? 0 : fixed) + args->n > PM_MAX_KERNEL_ARGS)
		return pm__misuse(rw->s, "Kernel %s of rule '%s' has more than %d arguments.", l->entry,
				  rw->rule, PM_MAX_KERNEL_ARGS);
	l->args = pm_arena_alloc(rw->arena, ((own ? 0 : fixed) + args->n) * sizeof *l->args);
	fill_args(rw, copy, args->n, own, alt->n_scratch, l);
	return PM_OK;
}

static PmStatus take_launch(PmRewriter *rw, const PmLaunch *src, const PmKAlt *alt, PmKLaunch *l)
{
	size_t n = src->entry ? strnlen(src->entry, MAX_ENTRY + 1) : 0;
	uint64_t threads = 1;
	PmErr err;
	PmStatus st;

	if (!n || n > MAX_ENTRY || !is_identifier(src->entry, n))
		return pm__misuse(rw->s, "A launch of rule '%s' has no entry, or one that is no identifier.",
				  rw->rule);
	l->entry = pm_arena_strndup(rw->arena, src->entry, n);
	for (int k = 0; k < 3; k++) {
		l->grid[k] = k && !src->grid[k] ? 1 : src->grid[k];
		l->block[k] = k && !src->block[k] ? 1 : src->block[k];
		threads *= l->block[k] > PM_MAX_BLOCK_THREADS ? PM_MAX_BLOCK_THREADS + 1 : l->block[k];
	}
	if (!l->grid[0] || l->grid[0] > INT32_MAX || l->grid[1] > MAX_GRID_YZ || l->grid[2] > MAX_GRID_YZ)
		return pm__misuse(rw->s,
				  "The grid of kernel %s of rule '%s' is %u x %u x %u; 1 to 2^31-1, 65535 "
				  "and 65535 blocks "
				  "are allowed.",
				  l->entry, rw->rule, l->grid[0], l->grid[1], l->grid[2]);
	if (!threads || threads > PM_MAX_BLOCK_THREADS || l->block[2] > MAX_BLOCK_Z)
		return pm__misuse(rw->s,
				  "The block of kernel %s of rule '%s' is %u x %u x %u; 1 to %d threads are "
				  "allowed, at most "
				  "%d in z.",
				  l->entry, rw->rule, l->block[0], l->block[1], l->block[2],
				  PM_MAX_BLOCK_THREADS, MAX_BLOCK_Z);
	if (src->smem > PM_MAX_SMEM)
		return pm__misuse(
			rw->s,
			"Kernel %s of rule '%s' asks for %u bytes of shared memory; at most %d are there.",
			l->entry, rw->rule, src->smem, PM_MAX_SMEM);
	l->smem = src->smem;
	st = take_args(rw, &src->arg, alt, l);
	if (st)
		return st;
	pm_err_init(&err);
	if (pm_ksig_check(alt->source, l, &err))
		return pm__misuse(rw->s, "Rule '%s': %s", rw->rule, err.text);
	return PM_OK;
}

static PmStatus take_launches(PmRewriter *rw, const PmKernelSpec *k, PmKAlt *alt)
{
	PmLaunch one = { .struct_size = sizeof one, .smem = k->smem, .entry = k->entry, .arg = k->arg };
	int n = 0;
	PmStatus st = PM_OK;

	if (!k->launch) {
		memcpy(one.grid, k->grid, sizeof one.grid);
		memcpy(one.block, k->block, sizeof one.block);
		alt->launches = pm_arena_alloc(rw->arena, sizeof *alt->launches);
		alt->n_launches = 1;
		return take_launch(rw, &one, alt, alt->launches);
	}
	if (k->entry || k->arg.n)
		return pm__misuse(
			rw->s, "The kernel of rule '%s' has both .launch and .entry or .arg; use one form.",
			rw->rule);
	while (n <= PM_MAX_LAUNCHES && k->launch[n])
		n++;
	if (!n || n > PM_MAX_LAUNCHES)
		return pm__misuse(rw->s, "The kernel of rule '%s' has no launch, or more than %d.", rw->rule,
				  PM_MAX_LAUNCHES);
	alt->launches = pm_arena_alloc(rw->arena, (size_t)n * sizeof *alt->launches);
	alt->n_launches = n;
	for (int i = 0; i < n && !st; i++) {
		if (!pm__abi_read(k->launch[i], &one, sizeof one))
			return pm__misuse(rw->s, "A launch of rule '%s' " PM__ABI_BAD_SIZE ".", rw->rule,
					  pm__abi_size(k->launch[i]));
		st = take_launch(rw, &one, alt, &alt->launches[i]);
	}
	return st;
}

PmStatus pm__rewriter_replace(PmRewriter *rw, const PmKernelSpec *spec)
{
	PmStatus st = PM_OK;

	if (rw->described)
		return pm__misuse(
			rw->s, "Rule '%s' describes more than one kernel; use .launch for several launches.",
			rw->rule);
	for (PmKernelSpec k; spec && !st; spec = k.alt) {
		PmKAlt *alt = &rw->desc.alts[rw->desc.n_alts];

		if (rw->desc.n_alts == PM_MAX_ALTS)
			return pm__misuse(rw->s, "The kernel of rule '%s' has more than %d alternatives.",
					  rw->rule, PM_MAX_ALTS);
		if (!pm__abi_read(spec, &k, sizeof k))
			return pm__misuse(rw->s, "The kernel of rule '%s' " PM__ABI_BAD_SIZE ".", rw->rule,
					  pm__abi_size(spec));
		if (rw->desc.n_alts == 0) {
			st = take_in(rw, &k);
			if (!st)
				st = take_outs(rw, &k);
		} else if (k.in.n || k.outs.n || k.like.id) {
			st = pm__misuse(
				rw->s,
				"Alternative %d of rule '%s' sets .in, .outs or .like; only the first may.",
				rw->desc.n_alts, rw->rule);
		}
		if (!st)
			st = take_type(rw, &k, alt);
		if (!st)
			st = take_source(rw, &k, alt);
		if (!st)
			st = take_scratch(rw, &k, alt);
		if (!st)
			st = take_launches(rw, &k, alt);
		rw->desc.n_alts++;
	}
	if (!st && !rw->desc.n_alts)
		st = pm__misuse(rw->s, "Rule '%s' passes no kernel to replace().", rw->rule);
	rw->described = 1;
	return st;
}
