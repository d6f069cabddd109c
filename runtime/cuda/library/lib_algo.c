/* SPDX-License-Identifier: Apache-2.0 */
/* lib_algo.c - algorithms to make library calls: what they are put together from, and which there are. */
#include "runtime/cuda/library/lib_algo_priv.h"

#include "ir/core/type.h"
#include "kernels/lib_way.cu.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

const char *pm_algo_name(PmAlgoKind kind)
{
	static const char *const names[PM_N_WAYS] = {
		[PM_ALGO_PLAIN] = "plain",
		[PM_ALGO_PRODUCT] = "product",
		[PM_ALGO_GATHERED] = "gathered",
		[PM_ALGO_LAST] = "channels-last",
		[PM_ALGO_LAST_PRODUCT] = "last-product",
		[PM_ALGO_INTERLEAVED] = "interleaved",
		[PM_ALGO_FOLDED] = "folded",
		[PM_ALGO_DOT] = "dot",
	};

	return kind < PM_N_WAYS ? names[kind] : "?";
}

const char *pm_algo_source(void)
{
	return lib_way_cu;
}

/* --- pieces ----------------------------------------------------------------------------------------------
 */

int64_t pm__algo_product(const int64_t *v, int n)
{
	int64_t p = 1;

	while (n-- > 0)
		if (!pm_mul_i64(p, v[n], &p))
			return PM_ALGO_HUGE;
	return p < PM_ALGO_HUGE ? p : PM_ALGO_HUGE;
}

static int64_t of_three(int64_t a, int64_t b, int64_t c)
{
	const int64_t v[] = { a, b, c };

	return pm__algo_product(v, 3);
}

PmAlgoSize pm__algo_size_of(const PmLibCall *c)
{
	const PmLibConv *v = &c->conv;
	PmAlgoSize s = { .n = v->x[0], .ci = v->x[1], .co = v->y[1] };

	s.taps = pm__algo_product(v->w + 2, v->spatial);
	s.px = pm__algo_product(v->x + 2, v->spatial);
	s.py = pm__algo_product(v->y + 2, v->spatial);
	s.k = of_three(s.ci, s.taps, 1);
	s.batch = v->groups == 1 ? s.n : (s.n == 1 ? v->groups : 0);
	s.bytes = (int64_t)pm_dtype_size(c->dtype);
	return s;
}

PmAlgoPlace pm__algo_arg(int i)
{
	return (PmAlgoPlace){ i, 0 };
}

PmAlgoPlace pm__algo_room(PmAlgo *w, int64_t elements, int64_t bytes)
{
	PmAlgoPlace p = { PM_ALGO_ROOM, w->room };
	int64_t size;

	if (!pm_mul_i64(elements, bytes, &size) || size > PM_ALGO_HUGE)
		size = PM_ALGO_HUGE; /* of which an algorithm may have four, and none is allowed */
	w->room += (size + FRESH - 1) / FRESH * FRESH;
	return p;
}

PmAlgoStage *pm__algo_stage(PmAlgo *w, const char *entry)
{
	PmAlgoStage *s = &w->stage[w->n++];

	memset(s, 0, sizeof *s);
	s->entry = entry;
	return s;
}

void pm__algo_pointer(PmAlgoStage *s, PmAlgoPlace p)
{
	s->place[s->n_places++] = p;
}

void pm__algo_number(PmAlgoStage *s, int64_t v)
{
	s->v[s->n_ints++] = (int32_t)v;
}

void pm__algo_three(PmAlgoStage *s, const int64_t *v, int spatial, int64_t unit)
{
	for (int d = 0; d < 3; d++)
		pm__algo_number(s, d < 3 - spatial ? unit : v[d - (3 - spatial)]);
}

int64_t pm__algo_lanes_for(int64_t places)
{
	int64_t lanes = 32;

	while (lanes < PM_ALGO_BLOCK && lanes < places)
		lanes *= 2;
	return lanes;
}

int64_t pm__algo_fill_blocks(int64_t total)
{
	return (total + 2047) / 2048;
}

void pm__algo_fill(PmAlgo *w, PmAlgoPlace y, int64_t places, int64_t channels, int64_t total)
{
	PmAlgoStage *s = pm__algo_stage(w, "fill");

	pm__algo_pointer(s, y);
	pm__algo_pointer(s, pm__algo_arg(3));
	pm__algo_number(s, places);
	pm__algo_number(s, channels);
	pm__algo_number(s, total);
	s->blocks = (uint32_t)pm__algo_fill_blocks(total);
}

PmLibCall *pm__algo_call_stage(PmAlgo *w, PmLibKind kind, int dtype)
{
	PmAlgoStage *s = pm__algo_stage(w, NULL);

	s->call.kind = kind;
	s->call.dtype = dtype;
	for (int i = 0; i < 4; i++)
		s->call.align[i] = FRESH;
	return &s->call;
}

void pm__algo_operands(PmAlgo *w, const PmLibCall *from, PmAlgoPlace y, PmAlgoPlace a, PmAlgoPlace b)
{
	PmAlgoStage *s = &w->stage[w->n - 1];

	pm__algo_pointer(s, y);
	pm__algo_pointer(s, a);
	pm__algo_pointer(s, b);
	for (int i = 0; i < 3; i++)
		if (s->place[i].arg < PM_ALGO_ROOM)
			s->call.align[i] = from->align[s->place[i].arg];
}

/* --- describing --------------------------------------------------------------------------------------------
 */

/* What cuDNN adds to a convolution it adds to sums that it has rounded. */
static int plain(PmAlgo *w, const PmLibCall *c)
{
	int first = c->kind == PM_LIB_CONV && c->conv.has_bias && pm_dtype_is_half(c->dtype);
	PmAlgoStage *s;

	if (first) {
		PmAlgoSize z = pm__algo_size_of(c);

		if (pm__algo_of_three(z.n, z.co, z.py) > INT_MAX)
			return 0;
		pm__algo_fill(w, pm__algo_arg(0), z.py, z.co, z.n * z.co * z.py);
	}
	s = pm__algo_stage(w, NULL);
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

int pm_algo_describe(const PmLibCall *c, PmAlgoKind kind, PmAlgo *out)
{
	PmAlgoSize z;
	int ok;

	memset(out, 0, sizeof *out);
	out->kind = kind;
	out->dtype = c->dtype;
	if (kind == PM_ALGO_PLAIN)
		return plain(out, c);
	if (kind == PM_ALGO_DOT && c->kind == PM_LIB_GEMM)
		return pm__algo_as_dot(out, c);
	if (c->kind != PM_LIB_CONV)
		return 0;
	z = pm__algo_size_of(c);
	if (!fits(&z))
		return 0;
	ok = kind == PM_ALGO_PRODUCT        ? pm__algo_as_product(out, c, &z)
	     : kind == PM_ALGO_GATHERED     ? pm__algo_as_gathered(out, c, &z)
	     : kind == PM_ALGO_LAST         ? pm__algo_as_last(out, c, &z)
	     : kind == PM_ALGO_LAST_PRODUCT ? pm__algo_as_last_product(out, c, &z)
	     : kind == PM_ALGO_INTERLEAVED  ? pm__algo_as_interleaved(out, c, &z)
	     : kind == PM_ALGO_FOLDED       ? pm__algo_as_folded(out, c, &z)
	     : kind == PM_ALGO_DOT          ? pm__algo_as_dot_of_pixels(out, c, &z)
					    : 0;
	return ok && out->room <= PM_ALGO_MAX_ROOM;
}
