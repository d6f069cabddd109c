/* SPDX-License-Identifier: Apache-2.0 */
/* stage.c - results that lie across what is read, stored through shared memory.
 *
 * Several rows of a block leave their results in shared memory, and behind the loop neighbouring threads
 * store what lies side by side. Where nothing is reduced a row is a piece of the axis along which the
 * operands lie: a transposition by pieces.
 */
#include "../fuse.h"

int64_t f_staged_bytes(const Ctx *c, const Section *s)
{
	int64_t sum = 0;
	int i;

	for (i = 0; i < s->n_out; i++) {
		int size = (int)pm_dtype_bytes(c->g->op[c->arg_out[s->out[i]]].dtype);

		sum += s->extent * s->per_block * size;
	}
	return sum;
}

/* Rows of g threads each, their results staged; 0 when that cannot be. */
static int stage_by(Ctx *c, Section *s, int64_t g)
{
	enum { THREADS = 256, SHARED_BYTES = 32 << 10 };
	int64_t fewest = s->cut ? g / 2 : g; /* vectors of a row: all of a piece are loaded at once */
	int vec = f_widest(c, s);

	s->stage = 1;
	s->group = (int)g;
	s->per_block = (int)(THREADS / g);
	s->block = THREADS;
	while (vec > 1 && (s->extent % vec || s->extent / vec < fewest))
		vec /= 2;
	while (!f_try_vec(c, s, vec) && vec > 1)
		vec /= 2;
	if (c->fail || f_staged_bytes(c, s) > SHARED_BYTES / c->n_sections)
		return 0;
	f_decide_to_keep(c, s);
	return !c->fail && f_fits(s, g);
}

/* What lies across memory is written a sector for each element: through shared memory, several rows of a
 * block fill sectors together. Fewer threads for each row make it more rows. */
void f_stage_rows(Ctx *c, Section *s)
{
	enum { MOST = 32, LEAST = 8 };
	Section best = *s;
	double time = f_section_time(s);
	int64_t g;

	if (s->column || s->hold || s->wide || c->other || s->apart <= 0)
		return;
	for (g = MOST; g >= LEAST && !c->fail; g /= 2)
		if (stage_by(c, s, g) && f_section_time(s) < time) {
			best = *s;
			time = f_section_time(s);
		}
	c->fail = NULL;
	*s = best;
	f_try_vec(c, s, s->vec);
	f_decide_to_keep(c, s);
}

/* ---- nothing is reduced ---- */

/* Elements of an axis that are a row: whole vectors, or the axis where it is short; 0: neither. */
static int64_t piece_of(int64_t extent, int vec)
{
	enum { MOST = 64, LEAST = 16, WHOLE = 256 };
	int64_t n;

	while (extent % vec)
		vec /= 2;
	for (n = MOST; n >= LEAST; n -= vec)
		if (extent % n == 0)
			return n;
	return extent <= WHOLE ? extent : 0;
}

/* The section walked by the extents of `as`, its rows pieces of this axis, when that takes less than *time.
 */
static int cut(Ctx *c, Section *s, int as, int axis, double *time)
{
	enum { MOST = 32, LEAST = 8 };
	const Op *o = &c->g->op[as];
	Section best;
	int64_t g;
	int i, found = 0;

	s->piece = piece_of(o->dim[axis], f_widest(c, s));
	if (!s->piece)
		return 0;
	s->cut = 1 + axis;
	s->rows = f_numel(o) / s->piece;
	s->extent = s->piece;
	s->max_serial = 64;
	for (i = 0; i < s->n_out; i++) {
		s->shape[i] = (int16_t)as;
		s->axes[i] = (1u << o->rank) - 1;
	}
	/* The most rows first: their results lie side by side. */
	for (g = LEAST; g <= MOST; g *= 2) {
		if (stage_by(c, s, g) && f_section_time(s) < *time) {
			best = *s;
			*time = f_section_time(s);
			found = 1;
		}
		c->fail = NULL;
	}
	if (found)
		*s = best;
	return found;
}

/* Values of as many elements as the section's results have, and of different extents: the places of results
 * are the same by all of these. */
static int shapes(const Ctx *c, const Section *s, int most, int *shape)
{
	int64_t numel = f_numel(&c->g->op[s->shape[0]]);
	int i, k, n = 0;

	for (i = -1; i < c->g->n_ops && n < most; i++) {
		const Op *o = &c->g->op[i < 0 ? s->shape[0] : i];

		if (f_numel(o) != numel || o->rank < 2 || (i >= 0 && !f_computed(c, o)))
			continue;
		for (k = 0; k < n && !f_same_shape(&c->g->op[shape[k]], o); k++)
			;
		if (k == n)
			shape[n++] = i < 0 ? s->shape[0] : i;
	}
	return n;
}

int f_lies_across(const Section *s)
{
	return s->spread >= s->bytes / 4;
}

void f_stage_elements(Ctx *c, Section *s)
{
	enum { SHAPES = 3, SHORT = 8 };
	const Section plain = *s;
	Section best = plain;
	double time = f_section_time(s);
	int shape[SHAPES], i, n, axis;

	if (c->other || s->turned)
		return;
	n = shapes(c, s, SHAPES, shape);
	for (i = 0; i < n; i++) {
		const Op *o = &c->g->op[shape[i]];

		for (axis = 0; axis < o->rank - 1 && o->dim[o->rank - 1] >= SHORT; axis++) {
			*s = plain;
			if (o->dim[axis] >= SHORT && cut(c, s, shape[i], axis, &time))
				best = *s;
		}
	}
	*s = best;
	if (!s->cut) {
		c->keep = 0;
		f_build(c, s);
		return;
	}
	f_decide_to_keep(c, s);
	s->blocks = (s->rows + s->per_block - 1) / s->per_block;
}
