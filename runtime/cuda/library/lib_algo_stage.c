/* SPDX-License-Identifier: Apache-2.0 */
/* lib_algo_stage.c - the stages of an algorithm: scratch space, kernels, library calls. */
#include "base/core/arena.h"
#include "ir/core/type.h"
#include "runtime/cuda/library/lib_algo_priv.h"

#include <stddef.h>
#include <string.h>

enum { FRESH = 256 }; /* alignment of scratch memory and of what is written into it */

int64_t pm__algo_product(const int64_t *v, int n)
{
	int64_t p = 1;

	while (n-- > 0)
		if (!pm_mul_i64(p, v[n], &p))
			return PM_ALGO_HUGE;
	return p < PM_ALGO_HUGE ? p : PM_ALGO_HUGE;
}

int64_t pm__algo_of_three(int64_t a, int64_t b, int64_t c)
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
	s.k = pm__algo_of_three(s.ci, s.taps, 1);
	s.batch = v->groups == 1 ? s.n : (s.n == 1 ? v->groups : 0);
	s.bytes = (int64_t)pm_dtype_size(c->dtype);
	return s;
}

PmAlgoPlace pm__algo_arg(int i)
{
	return (PmAlgoPlace){ i, 0 };
}

/* Bytes of so many elements, a multiple of FRESH. */
static int64_t room(int64_t elements, int64_t bytes)
{
	int64_t size;

	if (!pm_mul_i64(elements, bytes, &size) || size > PM_ALGO_HUGE)
		size = PM_ALGO_HUGE; /* of which an algorithm may have four, and none is allowed */
	return (size + FRESH - 1) / FRESH * FRESH;
}

PmAlgoPlace pm__algo_scratch(PmAlgo *algo, int64_t elements, int64_t bytes)
{
	PmAlgoPlace p = { PM_ALGO_SCRATCH, algo->scratch };

	algo->scratch += room(elements, bytes);
	return p;
}

int pm__algo_has_room(const PmAlgo *algo)
{
	return algo->scratch + algo->kept <= PM_ALGO_MAX_SCRATCH;
}

PmAlgoPlace pm__algo_turn_weights(PmAlgo *algo, const PmLibCall *c, int64_t batch, int64_t R, int64_t C)
{
	int64_t *bytes = c->conv.constant ? &algo->kept : &algo->scratch;
	PmAlgoPlace w = { c->conv.constant ? PM_ALGO_KEPT : PM_ALGO_SCRATCH, *bytes };
	int64_t size = (int64_t)pm_dtype_size(c->dtype);

	*bytes += room(pm__algo_of_three(batch, R, C), size);
	algo->n_once += c->conv.constant;
	pm__algo_turn_stage(algo, w, pm__algo_arg(2), batch, R, C, size, c->align[2]);
	return w;
}

PmAlgoStage *pm__algo_stage(PmAlgo *algo, const char *entry)
{
	PmAlgoStage *s = &algo->stage[algo->n++];

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

void pm__algo_fill(PmAlgo *algo, PmAlgoPlace y, int64_t places, int64_t channels, int64_t total)
{
	PmAlgoStage *s = pm__algo_stage(algo, "fill");

	pm__algo_pointer(s, y);
	pm__algo_pointer(s, pm__algo_arg(3));
	pm__algo_number(s, places);
	pm__algo_number(s, channels);
	pm__algo_number(s, total);
	s->blocks = (uint32_t)pm__algo_fill_blocks(total);
}

/* A tile's rows: as many for each tile as 4096 elements allow, and even. */
static int64_t lines_of(int64_t R, int64_t C)
{
	int64_t most = 4096 / C / 2 * 2, tiles = (R + most - 1) / most;

	return ((R + tiles - 1) / tiles + 1) / 2 * 2;
}

/* How a matrix is turned, as lib_algo.cu names it. */
enum { BY_ONE, BY_PAIRS, BY_LINES, BY_SIXTEEN };

static int turned_by(int64_t R, int64_t C, int64_t bytes, int64_t align)
{
	if (bytes > 4 || align % (2 * bytes) || R % 2)
		return BY_ONE;
	if (C < 32)
		return BY_LINES;
	if (bytes == 2 && align % 16 == 0 && R % 8 == 0 && C % 8 == 0)
		return BY_SIXTEEN;
	return C % 2 == 0 ? BY_PAIRS : BY_ONE;
}

/* Rows of a tile, and `cols`. */
static int64_t turned_rows(int by, int64_t R, int64_t C, int64_t *cols)
{
	enum { FEW = 1 << 19 }; /* elements: more of them are moved faster by fewer blocks */

	*cols = C < 32 ? C : 32;
	if (by == BY_SIXTEEN)
		*cols = C <= 32 ? 32 : R <= 32 ? 128 : 64;
	if (by == BY_PAIRS)
		*cols = 64;
	switch (by) {
	case BY_SIXTEEN:
		return 4096 / *cols;
	case BY_PAIRS:
		return R * C > FEW ? 64 : 32;
	case BY_LINES:
		return lines_of(R, C);
	default:
		return 1024 / *cols;
	}
}

int64_t pm__algo_turn(PmAlgoStage *s, int64_t batch, int64_t R, int64_t C, int64_t bytes, int64_t align)
{
	int by = turned_by(R, C, bytes, align);
	int64_t cols, rows = turned_rows(by, R, C, &cols);
	int64_t tiles_r = (R + rows - 1) / rows, tiles_c = (C + cols - 1) / cols;
	const int64_t v[] = { by, R, C, rows, cols, tiles_r, tiles_c };

	for (size_t i = 0; i < sizeof v / sizeof *v; i++)
		pm__algo_number(s, v[i]);
	return batch * tiles_r * tiles_c;
}

int pm__algo_turns_wide(int64_t R, int64_t C, int64_t bytes, int64_t align)
{
	return turned_by(R, C, bytes, align) == BY_SIXTEEN;
}

void pm__algo_turn_stage(PmAlgo *algo, PmAlgoPlace to, PmAlgoPlace from, int64_t batch, int64_t R, int64_t C,
			 int64_t bytes, int64_t align)
{
	PmAlgoStage *s = pm__algo_stage(algo, pm__algo_turns_wide(R, C, bytes, align) ? "turn_wide" : "turn");

	pm__algo_pointer(s, to);
	pm__algo_pointer(s, from);
	s->blocks = (uint32_t)pm__algo_turn(s, batch, R, C, bytes, align);
}

PmLibCall *pm__algo_call_stage(PmAlgo *algo, PmLibKind kind, int dtype)
{
	PmAlgoStage *s = pm__algo_stage(algo, NULL);

	s->call.kind = kind;
	s->call.dtype = dtype;
	for (int i = 0; i < 4; i++)
		s->call.align[i] = FRESH;
	return &s->call;
}

void pm__algo_operands(PmAlgo *algo, const PmLibCall *from, PmAlgoPlace y, PmAlgoPlace a, PmAlgoPlace b)
{
	PmAlgoStage *s = &algo->stage[algo->n - 1];

	pm__algo_pointer(s, y);
	pm__algo_pointer(s, a);
	pm__algo_pointer(s, b);
	for (int i = 0; i < 3; i++)
		if (s->place[i].arg < PM_ALGO_SCRATCH)
			s->call.align[i] = from->align[s->place[i].arg];
}
