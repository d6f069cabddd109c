/* SPDX-License-Identifier: Apache-2.0 */
/* ref_norm.c - LayerNormalization, RMSNormalization, BatchNormalization (inference and training), LRN. */
#include "runtime/ref/ref_priv.h"

#include "base/sys/threads.h"

#include <math.h>
#include <string.h>

/* Mean and (population) variance of n elements at a stride, in two passes. */
static void moments(const double *x, int64_t n, double *mean, double *var)
{
	double sum = 0, squares = 0;
	int64_t k;

	for (k = 0; k < n; k++)
		sum += x[k];
	*mean = sum / (double)n;
	for (k = 0; k < n; k++)
		squares += (x[k] - *mean) * (x[k] - *mean);
	*var = squares / (double)n;
}

/* The rows of a normalisation over trailing axes; ss and sb: strides of the scale and of the bias. */
typedef struct Rows {
	const PmRefCall *c;
	int64_t inner, ss[PM_MAX_RANK], sb[PM_MAX_RANK];
	double eps;
} Rows;

/* Coordinates of element i, and where it is on an operand of these strides. */
static PmRefWalk walk_from(const PmType *t, int64_t i)
{
	PmRefWalk w = { .rank = t->rank };

	for (int d = t->rank; d-- > 0; i /= t->dim[d]) {
		w.dim[d] = t->dim[d];
		w.at[d] = i % t->dim[d];
	}
	return w;
}

static int64_t offset_of(const PmRefWalk *w, const int64_t *stride)
{
	int64_t at = 0;

	for (int d = 0; d < w->rank; d++)
		at += w->at[d] * stride[d];
	return at;
}

static void layer_norm_rows(void *arg, int64_t from, int64_t to)
{
	const Rows *r = arg;
	const PmRefCall *c = r->c;
	const PmRefTensor *x = &c->in[0], *scale = &c->in[1], *bias = pm__ref_in(c, 2);
	int64_t inner = r->inner, last = x->type.dim[x->type.rank - 1];
	int64_t s = r->ss[x->type.rank - 1], b = r->sb[x->type.rank - 1];
	PmRefWalk w = walk_from(&x->type, from * inner);

	w.rank--; /* the last axis is a loop */
	for (int64_t o = from; o < to; o++) {
		double mean, var, inv;

		moments(x->f + o * inner, inner, &mean, &var);
		inv = 1 / sqrt(var + r->eps);
		for (int64_t i = o * inner; i < (o + 1) * inner; i += last) {
			int64_t as = offset_of(&w, r->ss), ab = offset_of(&w, r->sb);

			for (int64_t k = 0; k < last; k++)
				c->out[0].f[i + k] = (x->f[i + k] - mean) * inv * scale->f[as + k * s] +
						     (bias ? bias->f[ab + k * b] : 0);
			pm__ref_walk_next(&w);
		}
		if (c->n_out > 1)
			c->out[1].f[o] = mean;
		if (c->n_out > 2)
			c->out[2].f[o] = inv;
	}
}

PmStatus pm__ref_layer_norm(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->in[0], *bias = pm__ref_in(c, 2);
	int64_t axis = pm_node_i(c->g, c->node, "axis", 0), outer;
	Rows r = { .c = c, .eps = pm_node_f(c->g, c->node, "epsilon", 1e-5) };

	if (axis < 0 || axis >= x->type.rank)
		return pm__ref_fail(c, err, PM_E_INVALID, "axis %lld does not exist in rank %d.",
				    (long long)axis, x->type.rank);
	r.inner = pm__ref_extent(&x->type, (int)axis, x->type.rank);
	outer = pm__ref_extent(&x->type, 0, (int)axis);
	pm__ref_broadcast_strides(&c->in[1].type, &x->type, r.ss);
	if (bias)
		pm__ref_broadcast_strides(&bias->type, &x->type, r.sb);
	if (r.inner)
		pm_threads_run(outer, 1 + PM__REF_LEAST / 4 / r.inner, layer_norm_rows, &r);
	return PM_OK;
}

static void rms_norm_rows(void *arg, int64_t from, int64_t to)
{
	const Rows *r = arg;
	const PmRefTensor *x = &r->c->in[0], *scale = &r->c->in[1];
	int64_t inner = r->inner, last = x->type.dim[x->type.rank - 1], s = r->ss[x->type.rank - 1];
	PmRefWalk w = walk_from(&x->type, from * inner);

	w.rank--;
	for (int64_t o = from; o < to; o++) {
		const double *row = x->f + o * inner;
		double squares = 0, inv;

		for (int64_t k = 0; k < inner; k++)
			squares += row[k] * row[k];
		inv = 1 / sqrt(squares / (double)inner + r->eps);
		for (int64_t i = o * inner; i < (o + 1) * inner; i += last) {
			int64_t at = offset_of(&w, r->ss);

			for (int64_t k = 0; k < last; k++)
				r->c->out[0].f[i + k] = x->f[i + k] * inv * scale->f[at + k * s];
			pm__ref_walk_next(&w);
		}
	}
}

PmStatus pm__ref_rms_norm(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->in[0];
	int64_t axis = pm_node_i(c->g, c->node, "axis", 0);
	Rows r = { .c = c, .eps = pm_node_f(c->g, c->node, "epsilon", 1e-5) };

	if (axis < 0 || axis >= x->type.rank)
		return pm__ref_fail(c, err, PM_E_INVALID, "axis %lld does not exist in rank %d.",
				    (long long)axis, x->type.rank);
	r.inner = pm__ref_extent(&x->type, (int)axis, x->type.rank);
	pm__ref_broadcast_strides(&c->in[1].type, &x->type, r.ss);
	if (x->numel)
		pm_threads_run(x->numel / r.inner, 1 + PM__REF_LEAST / 4 / r.inner, rms_norm_rows, &r);
	return PM_OK;
}

/* Mean and population variance of channel `ch` over the batch and all positions. */
static void channel_moments(const PmRefTensor *x, int64_t ch, int64_t channels, int64_t size, double *mean,
			    double *var)
{
	int64_t batch = x->numel / (channels * size), n, k;
	double count = (double)(batch * size), sum = 0, squares = 0;

	for (n = 0; n < batch; n++)
		for (k = 0; k < size; k++)
			sum += x->f[(n * channels + ch) * size + k];
	*mean = sum / count;
	for (n = 0; n < batch; n++)
		for (k = 0; k < size; k++) {
			double off = x->f[(n * channels + ch) * size + k] - *mean;

			squares += off * off;
		}
	*var = squares / count;
}

typedef struct Batch {
	const PmRefCall *c;
	int64_t channels, size;
	double eps, momentum;
	int training;
} Batch;

static void batch_norm_channels(void *arg, int64_t from, int64_t to)
{
	const Batch *b = arg;
	const PmRefCall *c = b->c;
	const PmRefTensor *x = &c->in[0];
	const double *scale = c->in[1].f, *bias = c->in[2].f, *in_mean = c->in[3].f, *in_var = c->in[4].f;

	for (int64_t ch = from; ch < to; ch++) {
		double mean = in_mean[ch], var = in_var[ch], inv;

		if (b->training) {
			channel_moments(x, ch, b->channels, b->size, &mean, &var);
			if (c->n_out > 1)
				c->out[1].f[ch] = in_mean[ch] * b->momentum + mean * (1 - b->momentum);
			if (c->n_out > 2)
				c->out[2].f[ch] = in_var[ch] * b->momentum + var * (1 - b->momentum);
		} else {
			if (c->n_out > 1)
				c->out[1].f[ch] = mean;
			if (c->n_out > 2)
				c->out[2].f[ch] = var;
		}
		inv = 1 / sqrt(var + b->eps);
		for (int64_t n = ch; n < x->numel / b->size; n += b->channels)
			for (int64_t k = n * b->size; k < (n + 1) * b->size; k++)
				c->out[0].f[k] = (x->f[k] - mean) * inv * scale[ch] + bias[ch];
	}
}

PmStatus pm__ref_batch_norm(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->in[0];
	Batch b = { .c = c,
		    .eps = pm_node_f(c->g, c->node, "epsilon", 1e-5),
		    .momentum = pm_node_f(c->g, c->node, "momentum", 0.9),
		    .training = pm_node_i(c->g, c->node, "training_mode", 0) != 0 };

	if (x->type.rank < 1)
		return pm__ref_fail(c, err, PM_E_SHAPE, "the operand must not be a scalar.");
	b.channels = x->type.rank > 1 ? x->type.dim[1] : 1;
	b.size = pm__ref_extent(&x->type, 2, x->type.rank);
	for (int64_t k = 1; k < 5; k++)
		if (c->in[k].numel != b.channels)
			return pm__ref_fail(c, err, PM_E_SHAPE, "operand %lld must have %lld elements.",
					    (long long)k, (long long)b.channels);
	if (x->numel)
		pm_threads_run(b.channels, 1 + PM__REF_LEAST / 2 * b.channels / x->numel, batch_norm_channels,
			       &b);
	return PM_OK;
}

typedef struct Groups {
	const PmRefCall *c;
	int64_t channels, plane, len;
	double eps;
} Groups;

static void group_norm_groups(void *arg, int64_t from, int64_t to)
{
	const Groups *g = arg;
	const double *x = g->c->in[0].f, *scale = g->c->in[1].f, *bias = g->c->in[2].f;

	for (int64_t n = from; n < to; n++) {
		double mean, var, root;

		moments(x + n * g->len, g->len, &mean, &var);
		root = sqrt(var + g->eps);
		for (int64_t p = n * g->len; p < (n + 1) * g->len; p += g->plane) {
			int64_t ch = p / g->plane % g->channels;

			for (int64_t k = p; k < p + g->plane; k++)
				g->c->out[0].f[k] = (x[k] - mean) / root * scale[ch] + bias[ch];
		}
	}
}

/* InstanceNormalization is the case of one channel per group. */
PmStatus pm__ref_group_norm(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->in[0];
	int64_t channels = x->type.rank > 1 ? x->type.dim[1] : 0, groups;
	Groups g = { .c = c, .channels = channels, .eps = pm_node_f(c->g, c->node, "epsilon", 1e-5) };

	groups = pm_node_i(c->g, c->node, "num_groups", channels);
	if (!x->numel)
		return PM_OK;
	if (groups < 1 || channels % groups || c->in[1].numel != channels || c->in[2].numel != channels)
		return pm__ref_fail(c, err, PM_E_SHAPE, "%lld groups do not fit %lld channels.",
				    (long long)groups, (long long)channels);
	g.plane = pm__ref_extent(&x->type, 2, x->type.rank);
	g.len = channels / groups * g.plane;
	pm_threads_run(x->numel / g.len, 1 + PM__REF_LEAST / 4 / g.len, group_norm_groups, &g);
	return PM_OK;
}

PmStatus pm__ref_lrn(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->in[0];
	int64_t size = pm_node_i(c->g, c->node, "size", 1), channels, plane, n, ch, j, k;
	double alpha = pm_node_f(c->g, c->node, "alpha", 1e-4), beta = pm_node_f(c->g, c->node, "beta", 0.75);
	double bias = pm_node_f(c->g, c->node, "bias", 1);

	if (x->type.rank < 2 || size < 1)
		return pm__ref_fail(c, err, PM_E_INVALID, "a channel axis and a positive size are needed.");
	channels = x->type.dim[1];
	plane = pm__ref_extent(&x->type, 2, x->type.rank);
	for (n = 0; n < x->type.dim[0]; n++)
		for (ch = 0; ch < channels; ch++) {
			int64_t lo = ch - (size - 1) / 2, hi = ch + size / 2;

			lo = lo < 0 ? 0 : lo;
			hi = hi >= channels ? channels - 1 : hi;
			for (k = 0; k < plane; k++) {
				int64_t at = (n * channels + ch) * plane + k;
				double sum = 0;

				for (j = lo; j <= hi; j++) {
					double v = x->f[(n * channels + j) * plane + k];

					sum += v * v;
				}
				c->out[0].f[at] = x->f[at] / pow(bias + alpha / (double)size * sum, beta);
			}
		}
	return PM_OK;
}
