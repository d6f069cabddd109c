/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_expand_ngram.c - TfIdfVectorizer over integers: windows are gathered, compared with the pool, and
 * counted.
 *
 * The windows of a size are the same for every row, so their places are a constant; how the counts become
 * columns of the result is a matrix of 0 and the n-grams' weights.
 */
#include "ir/onnx/normal/onnx_expand.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PLACES = 1 << 20 };

typedef struct Ngrams {
	PmExpand *x;
	PmValue rows;                   /* batch by words, int64 */
	int64_t words, width;           /* of a row; of the result */
	int64_t *first, *column, *pool; /* of each size: its start in the pool; of each n-gram: its column */
	size_t n_first, n_column, n_pool;
	const float *weight; /* of each n-gram, or NULL */
	int once;            /* an n-gram counts once */
	float *place;        /* the matrix, n_counts by width */
	int64_t n_counts;
} Ngrams;

/* Places of all windows of n words, at every distance up to the skip: *count by n. Owned. */
static int64_t *windows(const Ngrams *m, int64_t n, int64_t skip, int64_t *count)
{
	int64_t total = 0, at = 0, step, i, k, *v;

	for (step = 1; step <= (n == 1 ? 1 : skip + 1); step++)
		total += m->words > (n - 1) * step ? m->words - (n - 1) * step : 0;
	v = pm_xcalloc((size_t)(total * n) + 1, sizeof *v);
	for (step = 1; step <= (n == 1 ? 1 : skip + 1); step++)
		for (i = 0; i + (n - 1) * step < m->words; i++)
			for (k = 0; k < n; k++)
				v[at++] = i + k * step;
	*count = total;
	return v;
}

/* How often each of the `many` n-grams of n words, from `start` in the pool on, occurs: batch by many. */
static PmValue counts(Ngrams *m, int64_t n, int64_t start, int64_t many, int64_t skip)
{
	PmExpand *x = m->x;
	int64_t axis = 3, n_windows, dim[2], *at = windows(m, n, skip, &n_windows);
	PmValue v = { 0 }, grams;

	dim[0] = n_windows;
	dim[1] = n;
	if (n_windows) {
		v = pm__x_opi(x, PM_OP_Gather, m->rows, pm__x_int_tensor(x, at, 2, dim), "axis", 1);
		dim[0] = many;
		grams = pm__x_int_tensor(x, m->pool + start, 2, dim);
		v = pm__x_op2(x, PM_OP_Equal, pm__x_unsqueeze(x, v, 2), grams);
		v = pm__x_reduce(x, PM_OP_ReduceMin, pm__x_cast(x, v, PM_F32), &axis, 1, 0);
		axis = 1;
		v = pm__x_reduce(x, PM_OP_ReduceSum, v, &axis, 1, 0);
	}
	free(at);
	return v;
}

/* IDF counts an n-gram once; IDF and TFIDF multiply by its weight. */
static void read_mode(Ngrams *m)
{
	const Onnx__AttributeProto *w = pm__draft_proto(m->x->d, "weights");
	const char *mode = pm__x_s(m->x, "mode", "TF");

	if (strcmp(mode, "TF") && strcmp(mode, "IDF") && strcmp(mode, "TFIDF"))
		pm__x_decline(m->x, "its mode '%.40s' is not TF, IDF or TFIDF", mode);
	m->once = strcmp(mode, "IDF") == 0;
	if (m->x->st || !w || strcmp(mode, "TF") == 0)
		return;
	if (w->n_floats != m->n_column)
		pm__x_fail(m->x, PM_E_INVALID, "There are %zu weights at %s for %zu n-grams.", w->n_floats,
			   m->x->d->where.s, m->n_column);
	m->weight = w->floats;
}

static void read_lists(Ngrams *m)
{
	static const char *const names[] = { "ngram_counts", "ngram_indexes", "pool_int64s" };
	int64_t **v[] = { &m->first, &m->column, &m->pool };
	size_t *n[] = { &m->n_first, &m->n_column, &m->n_pool }, k;
	int present = 0;

	for (k = 0; k < 3 && !m->x->st; k++) {
		m->x->st = pm__draft_get_ints(m->x->d, names[k], v[k], n[k], &present, m->x->err);
		if (!m->x->st && !present)
			pm__x_decline(m->x, k == 2 ? "its n-grams are strings" : "its %s are missing",
				      names[k]);
	}
	for (k = 0; k < m->n_column && !m->x->st; k++) {
		if (m->column[k] < 0 || m->column[k] >= MAX_PLACES)
			pm__x_decline(m->x, "a column of its result is not from 0 to %d", MAX_PLACES);
		else if (m->column[k] >= m->width)
			m->width = m->column[k] + 1;
	}
}

/* Counts of the sizes from lo to hi, side by side; {0} when no row can hold any. */
static PmValue all_counts(Ngrams *m, int64_t lo, int64_t hi, int64_t skip)
{
	PmValue part[64];
	size_t n_parts = 0, gram = 0;
	int64_t n, k;

	for (n = 1; n <= (int64_t)m->n_first && !m->x->st; n++) {
		int64_t start = m->first[n - 1],
			end = n < (int64_t)m->n_first ? m->first[n] : (int64_t)m->n_pool,
			many = (end - start) / n;
		PmValue v = { 0 };

		if (start < 0 || end < start || end > (int64_t)m->n_pool || (end - start) % n ||
		    gram + (size_t)many > m->n_column) {
			pm__x_fail(m->x, PM_E_INVALID,
				   "The pool of %s is not made of whole n-grams; fix the model.",
				   m->x->d->where.s);
			break;
		}
		if (many && n >= lo && n <= hi)
			v = counts(m, n, start, many, skip);
		if (v.id) {
			part[n_parts++] = v;
			for (k = 0; k < many; k++, m->n_counts++)
				m->place[m->n_counts * m->width + m->column[gram + (size_t)k]] =
					m->weight ? m->weight[gram + (size_t)k] : 1;
		}
		gram += (size_t)many;
	}
	return n_parts && !m->x->st ? pm__x_concat(m->x, part, n_parts, 1) : (PmValue){ 0 };
}

static PmStatus expand_tf_idf(PmDraft *d, PmErr *err)
{
	PmExpand x = { d, err, PM_OK };
	Ngrams m = { .x = &x };
	int rank = pm__draft_type(d, 0)->rank;
	int64_t lo = pm__x_i(&x, "min_gram_length", 1), hi = pm__x_i(&x, "max_gram_length", 1),
		skip = pm__x_i(&x, "max_skip_count", 0), dim[2];
	PmValue y, place = { 0 };
	PmType t;

	pm__x_counts(&x, 1, 1, 1);
	read_lists(&m);
	read_mode(&m);
	m.words = pm__x_dim(&x, pm__x_in(&x, 0), rank - 1, "the number of words");
	if (!x.st && (rank < 1 || rank > 2 || !pm_dtype_is_int(pm__draft_type(d, 0)->dtype)))
		pm__x_fail(&x, PM_E_TYPE, "The words of %s must be a list or a matrix of integers.",
			   d->where.s);
	if (!x.st && (m.n_first > 64 || skip < 0 || skip > 1024 || m.words > 4096 || !m.width ||
		      (int64_t)m.n_column * m.width > MAX_PLACES))
		pm__x_decline(&x, "it has more n-grams, words or skips than are counted by comparing");
	if (x.st)
		return x.st;
	m.rows = pm__x_cast(&x, d->in[0], PM_I64);
	if (rank == 1)
		m.rows = pm__x_unsqueeze(&x, m.rows, 0);
	m.place = pm_xcalloc(m.n_column * (size_t)m.width + 1, sizeof *m.place);
	y = all_counts(&m, lo, hi, skip);
	if (!x.st && !y.id)
		pm__x_decline(&x, "no row is long enough for its n-grams");
	dim[0] = m.n_counts;
	dim[1] = m.width;
	t = pm_type(PM_F32, 2, dim);
	if (!x.st)
		x.st = pm_graph_add_const(d->g, NULL, &t,
					  pm_blob_copy(m.place, (size_t)(dim[0] * dim[1]) * sizeof *m.place),
					  &place, err);
	free(m.place);
	if (m.once)
		y = pm__x_op2(&x, PM_OP_Min, y, pm__x_scalar(&x, PM_F32, 1));
	y = pm__x_op2(&x, PM_OP_MatMul, y, place);
	pm__x_result(&x, 0, rank == 1 ? pm__x_squeeze(&x, y, 0) : y);
	return x.st;
}

const PmNormRow pm__expand_ngram_rows[] = {
	{ "TfIdfVectorizer", PM_OP_Identity, expand_tf_idf,
	  "max_gram_length max_skip_count min_gram_length mode ngram_counts ngram_indexes pool_int64s "
	  "pool_strings weights",
	  0 },
	{ NULL, PM_OP_NONE, NULL, NULL, 0 },
};
