/* SPDX-License-Identifier: Apache-2.0 */
/* runner_sample.c - kernels over 10^8 elements on the emulated device: some blocks run, and what they wrote
 * is judged.
 *
 * Only where the candidate is one kernel of one launch, since what follows would read what nobody has
 * written, and where its results have rows (bench/rows/rows.h) of which a block may write some, so that
 * the reference computes those alone. Blocks are drawn anew for each set of inputs. Which elements were
 * written is told by what the buffers held before. An element that was not may belong to a block that did not
 * run: that a block leaves some of its own out shows by their number, and then nothing is said to be right.
 */
#include "base/core/arena.h"
#include "base/core/rng.h"
#include "bench/eval/runner_priv.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_JUDGED = 1 << 21 }; /* elements of a run */

/* ---- whether ---- */

/* Notes the grid of each alternative; 0 when one has another number of launches than one, or so many blocks
 * that each writes less than a row: hardly one row would be whole. */
static int one_launch(Eval *e)
{
	PmArena *arena = pm_arena_new(0);
	PmSampled all = { .blocks = PM_SAMPLED_MOST };
	PmKernelDesc d;
	int ok = !pm_kernel_decode(e->probe.g, e->probe.kernel[0], arena, &d, NULL);

	for (int k = 0; ok && k < d.n_alts; k++) {
		ok = d.alts[k].n_launches == 1 && pm_sampled_some(d.alts[k].launches[0].grid, &all) &&
		     pm_grid_blocks(d.alts[k].launches[0].grid) <= (uint64_t)e->sample.rows.n;
		if (ok)
			memcpy(e->sample.grid[k], d.alts[k].launches[0].grid, sizeof e->sample.grid[k]);
	}
	pm_arena_free(arena);
	return ok;
}

/* One byte of poison may well be a value. */
static int poison_tells(const PmGraph *g)
{
	for (size_t i = 0; i < pm_graph_n_outputs(g); i++)
		if (pm_dtype_size(pm_value_type(g, pm_graph_output(g, i))->dtype) < 2)
			return 0;
	return 1;
}

/* The type of a result of the kernel, and its elements. */
static const PmType *type_of(const Eval *e, size_t result)
{
	return pm_value_type(e->probe.g, pm_node_out(e->probe.g, e->probe.kernel[0], result));
}

static int64_t numel_of(const Eval *e, size_t result)
{
	int64_t n = 0;

	return pm_type_numel(type_of(e, result), &n, NULL) ? 0 : n;
}

static int64_t most_elements(const Eval *e)
{
	int64_t most = 0;

	for (size_t i = 0; i < pm_node_n_out(e->probe.g, e->probe.kernel[0]); i++)
		if (numel_of(e, i) > most)
			most = numel_of(e, i);
	return most;
}

void pm__sample_begin(Eval *e)
{
	int64_t above = e->o->sample_above > 0 ? e->o->sample_above : PM_EVAL_SAMPLE_ABOVE;
	PmSampling *s = &e->sample;
	const PmGraph *g = e->probe.g, *body;

	if (!(e->o->deadline > 0) || e->o->preset != PM_PRESET_SOUND || e->o->print ||
	    pm_device_kind(e->o->device) != PM_DEVICE_EMU || pm_graph_n_nodes(g) != 1 ||
	    e->probe.n_kernels != 1)
		return;
	body = pm_node_attr(g, e->probe.kernel[0], "body")->graph;
	if (most_elements(e) <= above || !pm_rows_find_spread(body, &s->rows))
		return;
	s->on = pm_graph_n_outputs(body) <= UCHAR_MAX && poison_tells(body) && one_launch(e);
	if (!s->on)
		return;
	e->quick = 0; /* nor is there time for the reference on all of the inputs */
	e->rec->sampled = (PmEvalSampled){ .blocks = PM_SAMPLED_MOST,
					   .of = (int64_t)pm_grid_blocks(s->grid[0]),
					   .of_elements = most_elements(e) };
}

void pm__sample_next(Eval *e)
{
	if (e->sample.on)
		e->sample.run = (PmSampled){ pm__draw(e, "sample", e->sample.n_drawn++), PM_SAMPLED_MOST };
}

void pm__sample_release(Eval *e)
{
	pm_rows_release(&e->sample.rows);
	free(e->sample.row);
	e->sample.row = NULL;
}

/* ---- what was written ---- */

/* The pattern twice: what each 8 bytes of a buffer hold that nobody has written. */
static uint64_t twice(uint32_t poison)
{
	return (uint64_t)poison << 32 | poison;
}

/* The first element from i on that is not poison; all of them when there is none. Most of a buffer is: it is
 * passed by words. */
static int64_t next_written(const PmTensor *t, int64_t i, uint64_t poison)
{
	const char *data = t->data;
	size_t size = pm_dtype_size(t->type.dtype);
	size_t at = (size_t)i * size;
	uint64_t word;

	while (at < t->bytes) {
		size_t n = t->bytes - at < size ? t->bytes - at : size;

		if (at % sizeof word == 0 && t->bytes - at >= sizeof word) {
			memcpy(&word, data + at, sizeof word);
			if (word == poison) {
				at += sizeof word;
				continue;
			}
		}
		if (memcmp(data + at, (const char *)&poison + at % sizeof word, n) != 0)
			return (int64_t)(at / size);
		at += size;
	}
	return pm_tensor_numel(t);
}

int pm__sample_same(const PmRunResult *a, const PmRunResult *b, uint32_t p, uint32_t q, size_t *output,
		    int64_t *element)
{
	for (size_t o = 0; o < a->n_out; o++) {
		const PmTensor *x = &a->out[o], *y = &b->out[o];
		size_t size = pm_dtype_size(x->type.dtype);
		int64_t n = pm_tensor_numel(x), in_x = 0, in_y = 0;

		for (int64_t i = 0; i < n; i++) {
			in_x = in_x < i || !i ? next_written(x, i, twice(p)) : in_x;
			in_y = in_y < i || !i ? next_written(y, i, twice(q)) : in_y;
			i = in_x < in_y ? in_x : in_y;
			if (i == n || !memcmp((const char *)x->data + (size_t)i * size,
					      (const char *)y->data + (size_t)i * size, size))
				continue;
			*output = o;
			*element = i;
			return 0;
		}
	}
	return 1;
}

/* Of a result: elements that were written; adds 1 to each row that was as a whole. */
static int64_t find_written(const PmRows *r, const PmTensor *t, uint32_t poison, unsigned char *whole)
{
	int64_t end = pm_tensor_numel(t), inner = end / r->n, row = -1, of_row = 0, n = 0;

	for (int64_t i = next_written(t, 0, twice(poison)); i < end;
	     i = next_written(t, i + 1, twice(poison))) {
		if (i / inner != row)
			of_row = 0;
		row = i / inner;
		n++;
		whole[row] += ++of_row == inner;
	}
	return n;
}

/* Blocks that ran and are at no end of the grid, where they may have less to do. */
static int64_t inner_blocks(const uint32_t grid[3], const PmSampled *s)
{
	uint64_t at[PM_SAMPLED_MOST];
	size_t n = pm_sampled_blocks(grid, s, at);
	int64_t inner = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t x = at[i] % grid[0], y = at[i] / grid[0] % grid[1], z = at[i] / grid[0] / grid[1];

		inner += (grid[0] == 1 || x + 1 < grid[0]) && (grid[1] == 1 || y + 1 < grid[1]) &&
			 (grid[2] == 1 || z + 1 < grid[2]);
	}
	return inner;
}

static void say_too_few(Eval *e, const char *name, int64_t written, double share)
{
	char text[PM_ERR_MAX];

	snprintf(text, sizeof text,
		 "On sampled blocks (%lld of %lld) nothing can be said of output '%.80s': they wrote %lld "
		 "elements where their share is %.0f. Blocks leave elements unwritten, or some write more "
		 "than "
		 "others; evaluate smaller shapes, or on a GPU. It scores as if no rule had applied.",
		 (long long)e->rec->sampled.blocks, (long long)e->rec->sampled.of, name, (long long)written,
		 share);
	pm__say(e, PM_VERDICT_NOT_CHECKED, text);
}

static void say_no_row(Eval *e)
{
	char text[PM_ERR_MAX];

	snprintf(text, sizeof text,
		 "On sampled blocks (%lld of %lld) nothing can be said: each row of the results (%lld "
		 "elements) "
		 "is written by several blocks, of which not all ran; evaluate smaller shapes, or on a GPU. "
		 "It "
		 "scores as if no rule had applied.",
		 (long long)e->rec->sampled.blocks, (long long)e->rec->sampled.of,
		 (long long)(most_elements(e) / e->sample.rows.n));
	pm__say(e, PM_VERDICT_NOT_CHECKED, text);
}

static int by_number(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Those rows that are whole, or as many of them as are judged, drawn. */
static void choose_rows(Eval *e, const unsigned char *whole, size_t n_out)
{
	PmSampling *s = &e->sample;
	int64_t most = s->rows.row < MOST_JUDGED ? MOST_JUDGED / s->rows.row : 1, n = 0;
	PmRng r;

	for (int64_t i = 0; i < s->rows.n; i++)
		n += whole[i] == n_out;
	free(s->row);
	s->row = pm_xcalloc((size_t)n + 1, sizeof *s->row);
	s->n_row = 0;
	for (int64_t i = 0; i < s->rows.n; i++)
		if (whole[i] == n_out)
			s->row[s->n_row++] = i;
	if (s->n_row <= most)
		return;
	pm_rng_init(&r, s->run.secret + 1);
	for (int64_t i = 0; i < most; i++) {
		int64_t k = pm_rng_range(&r, i, s->n_row - 1), t = s->row[i];

		s->row[i] = s->row[k];
		s->row[k] = t;
	}
	s->n_row = most;
	qsort(s->row, (size_t)most, sizeof *s->row, by_number);
}

void pm__sample_look(Eval *e, const PmRunResult *got, uint32_t poison, int alt)
{
	const PmSampling *s = &e->sample;
	unsigned char *whole = pm_xcalloc((size_t)s->rows.n, 1); /* by row: results in which it is */
	double part = (double)inner_blocks(s->grid[alt], &s->run) / (double)pm_grid_blocks(s->grid[alt]);
	size_t n_out = pm_node_n_out(e->probe.g, e->probe.kernel[0]);

	for (size_t i = 0; i < n_out && e->rec->verdict == PM_VERDICT_OK; i++) {
		const PmTensor *y = pm_probe_result(&e->probe, 0, i, got->out);
		int64_t written = find_written(&s->rows, y, poison, whole);
		double share = part * (double)pm_tensor_numel(y);

		if ((double)written < share || !written)
			say_too_few(e, pm_probe_name(&e->probe, 0, i), written, share);
	}
	if (e->rec->verdict == PM_VERDICT_OK) {
		choose_rows(e, whole, n_out);
		e->rec->sampled.elements += s->n_row * (most_elements(e) / s->rows.n);
		if (!s->n_row)
			say_no_row(e);
	}
	free(whole);
}

/* ---- where an element of the judged rows is ---- */

int64_t pm__sample_element(const Eval *e, size_t result, int64_t i)
{
	const PmSampling *s = &e->sample;

	return !s->on || i < 0 ? i : pm_rows_element(&s->rows, numel_of(e, result), s->row, i);
}

void pm__sample_place(const Eval *e, size_t result, PmFailure *f)
{
	const PmType *t;

	if (!e->sample.on || !*f->output)
		return;
	t = type_of(e, result);
	f->first.index = pm__sample_element(e, result, f->first.index);
	f->worst.index = pm__sample_element(e, result, f->worst.index);
	f->rank = t->rank;
	memcpy(f->dim, t->dim, sizeof f->dim);
	f->numel = numel_of(e, result);
}
