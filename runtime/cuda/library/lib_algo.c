/* SPDX-License-Identifier: Apache-2.0 */
/* lib_algo.c - algorithms to make library calls: what they are put together from, and which there are. */
#include "runtime/cuda/library/lib_algo_priv.h"

#include "ir/core/type.h"
#include "kernels/lib_algo.cu.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

const char *pm_algo_name(PmAlgoKind kind)
{
	static const char *const names[PM_N_ALGOS] = {
		[PM_ALGO_PLAIN] = "plain",
		[PM_ALGO_PRODUCT] = "product",
		[PM_ALGO_GATHERED] = "gathered",
		[PM_ALGO_LAST] = "channels-last",
		[PM_ALGO_LAST_PRODUCT] = "last-product",
		[PM_ALGO_INTERLEAVED] = "interleaved",
		[PM_ALGO_FOLDED] = "folded",
		[PM_ALGO_DOT] = "dot",
		[PM_ALGO_PHASES_16] = "phases-16",
		[PM_ALGO_PHASES_8] = "phases-8",
		[PM_ALGO_PHASES_4] = "phases-4",
	};

	return kind < PM_N_ALGOS ? names[kind] : "?";
}

const char *pm_algo_source(void)
{
	return lib_algo_cu;
}

uint32_t pm_algo_mark(void)
{
	uint32_t mark = 2166136261u;

	for (const char *s = lib_algo_cu; *s; s++)
		mark = (mark ^ (unsigned char)*s) * 16777619u;
	return mark;
}

/* --- describing --------------------------------------------------------------------------------------------
 */

/* What cuDNN adds to a convolution it adds to sums that it has rounded. */
static int plain(PmAlgo *algo, const PmLibCall *c)
{
	int first = c->kind == PM_LIB_CONV && c->conv.has_bias && pm_dtype_is_half(c->dtype);
	PmAlgoStage *s;

	if (first) {
		PmAlgoSize z = pm__algo_size_of(c);

		if (pm__algo_of_three(z.n, z.co, z.py) > INT_MAX)
			return 0;
		pm__algo_fill(algo, pm__algo_arg(0), z.py, z.co, z.n * z.co * z.py);
	}
	s = pm__algo_stage(algo, NULL);
	s->call = *c;
	if (first) {
		s->call.conv.has_bias = 0;
		s->call.conv.onto = 1;
	}
	for (int i = 0; i < 4; i++)
		pm__algo_pointer(s, pm__algo_arg(i));
	return 1;
}

/* 1 when every size and every count that kernels are told fits in 31 bits. Products of two that do fit in 64.
 */
static int fits(const PmAlgoSize *z)
{
	const int64_t columns[] = { z->n, z->k, z->px }, results[] = { z->n, z->co, z->py, z->taps },
		      weights[] = { z->co, z->k },
		      size[] = { z->n, z->ci, z->co, z->taps, z->px, z->py, z->k };

	for (size_t i = 0; i < sizeof size / sizeof *size; i++)
		if (size[i] > INT_MAX)
			return 0;
	return pm__algo_product(columns, 3) <= INT_MAX && pm__algo_product(results, 4) <= INT_MAX &&
	       pm__algo_product(weights, 2) <= INT_MAX;
}

/* Channels of y that a thread of phases has; 0 for other algorithms. */
static int phase_rows(PmAlgoKind kind)
{
	return kind == PM_ALGO_PHASES_16  ? 16
	       : kind == PM_ALGO_PHASES_8 ? 8
	       : kind == PM_ALGO_PHASES_4 ? 4
					  : 0;
}

/* Pads at the end that are others than in front: kernels of ours look at the extents alone, cuDNN does not.
 */
static int takes_pads(const PmLibCall *c, PmAlgoKind kind)
{
	return c->kind != PM_LIB_CONV || !c->conv.uneven || kind == PM_ALGO_GATHERED ||
	       kind == PM_ALGO_FOLDED || phase_rows(kind);
}

int pm_algo_describe(const PmLibCall *c, PmAlgoKind kind, PmAlgo *out)
{
	PmAlgoSize z;
	int ok;

	memset(out, 0, sizeof *out);
	out->kind = kind;
	out->dtype = c->dtype;
	if (!takes_pads(c, kind))
		return 0;
	if (kind == PM_ALGO_PLAIN)
		return plain(out, c);
	if (kind == PM_ALGO_DOT && c->kind == PM_LIB_GEMM)
		return pm__algo_as_dot(out, c);
	if (c->kind != PM_LIB_CONV)
		return 0;
	z = pm__algo_size_of(c);
	if (phase_rows(kind))
		return pm__algo_as_phases(out, c, &z, phase_rows(kind)) && pm__algo_has_room(out);
	/* That one has no kernel of ours. */
	if (!fits(&z) && !(kind == PM_ALGO_PRODUCT && !c->conv.has_bias))
		return 0;
	ok = kind == PM_ALGO_PRODUCT        ? pm__algo_as_product(out, c, &z)
	     : kind == PM_ALGO_GATHERED     ? pm__algo_as_gathered(out, c, &z)
	     : kind == PM_ALGO_LAST         ? pm__algo_as_last(out, c, &z)
	     : kind == PM_ALGO_LAST_PRODUCT ? pm__algo_as_last_product(out, c, &z)
	     : kind == PM_ALGO_INTERLEAVED  ? pm__algo_as_interleaved(out, c, &z)
	     : kind == PM_ALGO_FOLDED       ? pm__algo_as_folded(out, c, &z)
	     : kind == PM_ALGO_DOT          ? pm__algo_as_dot_of_pixels(out, c, &z)
					    : 0;
	return ok && pm__algo_has_room(out);
}
