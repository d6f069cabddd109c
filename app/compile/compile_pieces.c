/* SPDX-License-Identifier: Apache-2.0 */
/* compile_pieces.c - whether runs of other sizes may be made of runs of the shapes: what the types say, and
 * whether two halves give what the whole gives on the reference. */
#include "app/compile/compile_priv.h"

#include "app/model/model_bound.h"
#include "base/core/arena.h"
#include "bench/inputs/inputs.h"
#include "ir/data/weights.h"
#include "runtime/ref/ref.h"

#include <stdlib.h>
#include <string.h>

enum { SEED = 20 };

/* ---- types ---- */

static int mentions(PmGraph *g, PmDim d, const char *symbol)
{
	const PmDimSize probe = { symbol, 1 };

	return d < 0 && pm_dim_bind(g, d, &probe, 1) != d;
}

static int is_symbol(const PmGraph *g, PmDim d, const char *symbol)
{
	return d < 0 && pm_str_eq(pm_graph_symbol_name(g, d), symbol);
}

/* 1: the symbol is the first size and nowhere else; 0: it is nowhere; -1: it is elsewhere. */
static int place_of(PmGraph *g, PmValue v, const char *symbol)
{
	const PmType *t = pm_value_type(g, v);
	int first = t->rank > 0 && is_symbol(g, t->dim[0], symbol);

	for (int k = first; k < t->rank; k++)
		if (mentions(g, t->dim[k], symbol))
			return -1;
	return first;
}

static PmStatus check_types(const PmPackage *p, PmErr *err)
{
	const char *symbol = p->ask->pieces;
	size_t n = 0;

	for (size_t i = 0; i < pm_graph_n_inputs(p->open); i++) {
		PmValue v = pm_graph_input(p->open, i);
		int place = place_of(p->open, v, symbol);

		n += place == 1;
		if (place < 0)
			return pm_err(err, PM_E_UNSUPPORTED,
				      "%s cannot be run in pieces of '%.100s': input '%.120s' has it as "
				      "another size than "
				      "its first; leave out --pieces and give every size with --shape.",
				      p->ask->model, symbol, pm_value_name(p->open, v));
	}
	if (!n)
		return pm_err(err, PM_E_UNSUPPORTED,
			      "%s cannot be run in pieces of '%.100s': no input has that open size.",
			      p->ask->model, symbol);
	for (size_t i = 0; i < pm_graph_n_outputs(p->open); i++) {
		PmValue v = pm_graph_output(p->open, i);

		if (place_of(p->open, v, symbol) != 1)
			return pm_err(
				err, PM_E_UNSUPPORTED,
				"%s cannot be run in pieces of '%.100s': output '%.120s' does not have it as "
				"its "
				"first size alone; leave out --pieces and give every size with --shape.",
				p->ask->model, symbol, pm_value_name(p->open, v));
	}
	return PM_OK;
}

/* ---- values ---- */

/* The model with the sizes of shape k, but for the symbol. */
static PmStatus load(const PmCompileAsk *a, size_t k, int64_t size, PmGraph **out, PmErr *err)
{
	static PmOnnxReport report; /* large */
	const PmCompileShape *s = &a->shape[k];
	PmDimSize *dims = pm_xcalloc(s->n + 1, sizeof *dims);
	PmStatus st;

	for (size_t i = 0; i < s->n; i++) {
		dims[i] = s->dim[i];
		if (!strcmp(dims[i].name, a->pieces))
			dims[i].size = size;
	}
	st = pm_model_load_bound(a->model, dims, s->n, out, &report, err);
	if (!st)
		pm_weights_attach(*out, NULL);
	free(dims);
	return st;
}

/* The smallest size of the symbol above zero, and the shape that has it. */
static int64_t smallest(const PmCompileAsk *a, size_t *shape)
{
	int64_t least = 0;

	for (size_t k = 0; k < a->n_shapes; k++)
		for (size_t i = 0; i < a->shape[k].n; i++) {
			int64_t size = a->shape[k].dim[i].size;

			if (!strcmp(a->shape[k].dim[i].name, a->pieces) && size > 0 &&
			    (!least || size < least)) {
				least = size;
				*shape = k;
			}
		}
	return least;
}

/* One half of a tensor along its first size, where that is cut: shares the elements. */
static PmTensor half_of(const PmTensor *t, int cut, int which)
{
	PmTensor h = *t;

	if (!cut)
		return h;
	h.type.dim[0] /= 2;
	h.bytes /= 2;
	h.data = (char *)t->data + (which ? h.bytes : 0);
	return h;
}

static PmStatus differs(const PmPackage *p, size_t output, PmErr *err)
{
	return pm_err(
		err, PM_E_UNSUPPORTED,
		"%s cannot be run in pieces of '%.100s': two pieces give another '%.120s' than the whole, so "
		"that "
		"its elements depend on each other; leave out --pieces and give every size with --shape.",
		p->ask->model, p->ask->pieces, pm_value_name(p->open, pm_graph_output(p->open, output)));
}

/* The halves of the inputs on the graph of half the size, against halves of the results of the whole. */
static PmStatus compare_half(const PmPackage *p, const PmGraph *half, const PmTensor *in,
			     const PmTensor *whole, int which, PmErr *err)
{
	size_t n_in = pm_graph_n_inputs(half), n_out = pm_graph_n_outputs(half);
	PmTensor *cut = pm_xcalloc(n_in + 1, sizeof *cut), *out = pm_xcalloc(n_out + 1, sizeof *out);
	PmStatus st;

	for (size_t i = 0; i < n_in; i++)
		cut[i] = half_of(&in[i], place_of(p->open, pm_graph_input(p->open, i), p->ask->pieces) == 1,
				 which);
	st = pm_ref_run(half, cut, n_in, out, n_out, err);
	for (size_t i = 0; i < n_out && !st; i++) {
		PmTensor want = half_of(&whole[i], 1, which);

		if (!pm_type_equal(&want.type, &out[i].type) ||
		    (want.bytes && memcmp(want.data, out[i].data, want.bytes) != 0))
			st = differs(p, i, err);
	}
	pm_tensors_release(out, n_out);
	free(cut);
	free(out);
	return st;
}

PmStatus pm__pieces_check(const PmPackage *p, PmErr *err)
{
	const PmCompileAsk *a = p->ask;
	PmGraph *whole = NULL, *half = NULL;
	PmTensor *in = NULL, *out = NULL;
	size_t k = 0, n_in = pm_graph_n_inputs(p->open), n_out = pm_graph_n_outputs(p->open);
	PmStatus st = check_types(p, err);
	int64_t size = st ? 0 : smallest(a, &k);

	if (!st && !size)
		st = pm_err(err, PM_E_UNSUPPORTED,
			    "No shape says how large a piece of '%.100s' is; give --shape %.100s=SIZE.",
			    a->pieces, a->pieces);
	if (!st)
		st = load(a, k, 2 * size, &whole, err);
	if (!st)
		st = load(a, k, size, &half, err);
	in = pm_xcalloc(n_in + 1, sizeof *in);
	out = pm_xcalloc(n_out + 1, sizeof *out);
	if (!st)
		st = pm_inputs_make(whole, SEED, PM_INPUTS_NORMAL, in, err);
	if (!st)
		st = pm_ref_run(whole, in, n_in, out, n_out, err);
	for (int which = 0; which < 2 && !st; which++)
		st = compare_half(p, half, in, out, which, err);
	pm_tensors_release(in, n_in);
	pm_tensors_release(out, n_out);
	free(in);
	free(out);
	pm_graph_free(whole);
	pm_graph_free(half);
	return st;
}
