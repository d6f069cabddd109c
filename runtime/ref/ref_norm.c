/* SPDX-License-Identifier: Apache-2.0 */
/* ref_norm.c - LayerNormalization, RMSNormalization, BatchNormalization (inference and training), LRN. */
#include "runtime/ref/ref_priv.h"

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

PmStatus pm__ref_layer_norm(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->in[0], *scale = &c->in[1], *bias = pm__ref_in(c, 2);
	int64_t axis = pm_node_i(c->g, c->node, "axis", 0), inner, outer, o, k, i = 0;
	int64_t ss[PM_MAX_RANK], sb[PM_MAX_RANK] = { 0 };
	double eps = pm_node_f(c->g, c->node, "epsilon", 1e-5);
	PmRefWalk w;
	int d;

	if (axis < 0 || axis >= x->type.rank)
		return pm__ref_fail(c, err, PM_E_INVALID, "axis %lld does not exist in rank %d.",
				    (long long)axis, x->type.rank);
	inner = pm__ref_extent(&x->type, (int)axis, x->type.rank);
	outer = pm__ref_extent(&x->type, 0, (int)axis);
	pm__ref_broadcast_strides(&scale->type, &x->type, ss);
	if (bias)
		pm__ref_broadcast_strides(&bias->type, &x->type, sb);
	w.rank = x->type.rank;
	for (d = 0; d < w.rank; d++) {
		w.dim[d] = x->type.dim[d];
		w.at[d] = 0;
	}
	for (o = 0; inner && o < outer; o++) {
		double mean, var, inv;

		moments(x->f + o * inner, inner, &mean, &var);
		inv = 1 / sqrt(var + eps);
		for (k = 0; k < inner; k++, i++) {
			int64_t as = 0, ab = 0;

			for (d = 0; d < w.rank; d++) {
				as += w.at[d] * ss[d];
				ab += w.at[d] * sb[d];
			}
			c->out[0].f[i] = (x->f[i] - mean) * inv * scale->f[as] + (bias ? bias->f[ab] : 0);
			pm__ref_walk_next(&w);
		}
		if (c->n_out > 1)
			c->out[1].f[o] = mean;
		if (c->n_out > 2)
			c->out[2].f[o] = inv;
	}
	return PM_OK;
}

PmStatus pm__ref_rms_norm(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->in[0], *scale = &c->in[1];
	int64_t axis = pm_node_i(c->g, c->node, "axis", 0), inner, k, i = 0, ss[PM_MAX_RANK];
	double eps = pm_node_f(c->g, c->node, "epsilon", 1e-5);
	PmRefWalk w = { .rank = x->type.rank };
	int d;

	if (axis < 0 || axis >= x->type.rank)
		return pm__ref_fail(c, err, PM_E_INVALID, "axis %lld does not exist in rank %d.",
				    (long long)axis, x->type.rank);
	inner = pm__ref_extent(&x->type, (int)axis, x->type.rank);
	pm__ref_broadcast_strides(&scale->type, &x->type, ss);
	memcpy(w.dim, x->type.dim, (size_t)w.rank * sizeof *w.dim);
	while (i < x->numel) {
		double squares = 0, inv;

		for (k = 0; k < inner; k++)
			squares += x->f[i + k] * x->f[i + k];
		inv = 1 / sqrt(squares / (double)inner + eps);
		for (k = 0; k < inner; k++, i++) {
			int64_t at = 0;

			for (d = 0; d < w.rank; d++)
				at += w.at[d] * ss[d];
			c->out[0].f[i] = x->f[i] * inv * scale->f[at];
			pm__ref_walk_next(&w);
		}
	}
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

PmStatus pm__ref_batch_norm(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->in[0];
	const double *scale = c->in[1].f, *bias = c->in[2].f, *in_mean = c->in[3].f, *in_var = c->in[4].f;
	double eps = pm_node_f(c->g, c->node, "epsilon", 1e-5);
	double momentum = pm_node_f(c->g, c->node, "momentum", 0.9);
	int training = pm_node_i(c->g, c->node, "training_mode", 0) != 0;
	int64_t channels, size, ch, n, k;

	if (x->type.rank < 1)
		return pm__ref_fail(c, err, PM_E_SHAPE, "the operand must not be a scalar.");
	channels = x->type.rank > 1 ? x->type.dim[1] : 1;
	size = pm__ref_extent(&x->type, 2, x->type.rank);
	for (k = 1; k < 5; k++)
		if (c->in[k].numel != channels)
			return pm__ref_fail(c, err, PM_E_SHAPE, "operand %lld must have %lld elements.",
					    (long long)k, (long long)channels);
	if (!x->numel)
		return PM_OK;
	for (ch = 0; ch < channels; ch++) {
		double mean = in_mean[ch], var = in_var[ch], inv;

		if (training) {
			channel_moments(x, ch, channels, size, &mean, &var);
			if (c->n_out > 1)
				c->out[1].f[ch] = in_mean[ch] * momentum + mean * (1 - momentum);
			if (c->n_out > 2)
				c->out[2].f[ch] = in_var[ch] * momentum + var * (1 - momentum);
		} else {
			if (c->n_out > 1)
				c->out[1].f[ch] = mean;
			if (c->n_out > 2)
				c->out[2].f[ch] = var;
		}
		inv = 1 / sqrt(var + eps);
		for (n = ch; n < x->numel / size; n += channels)
			for (k = n * size; k < (n + 1) * size; k++)
				c->out[0].f[k] = (x->f[k] - mean) * inv * scale[ch] + bias[ch];
	}
	return PM_OK;
}

/* InstanceNormalization is the case of one channel per group. */
PmStatus pm__ref_group_norm(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->in[0];
	int64_t channels = x->type.rank > 1 ? x->type.dim[1] : 0, plane, groups, len, n, k;
	double eps = pm_node_f(c->g, c->node, "epsilon", 1e-5), mean, var;

	groups = pm_node_i(c->g, c->node, "num_groups", channels);
	if (!x->numel)
		return PM_OK;
	if (groups < 1 || channels % groups || c->in[1].numel != channels || c->in[2].numel != channels)
		return pm__ref_fail(c, err, PM_E_SHAPE, "%lld groups do not fit %lld channels.",
				    (long long)groups, (long long)channels);
	plane = pm__ref_extent(&x->type, 2, x->type.rank);
	len = channels / groups * plane;
	for (n = 0; n < x->numel / len; n++) {
		moments(x->f + n * len, len, &mean, &var);
		for (k = n * len; k < (n + 1) * len; k++) {
			int64_t ch = k / plane % channels;

			c->out[0].f[k] = (x->f[k] - mean) / sqrt(var + eps) * c->in[1].f[ch] + c->in[2].f[ch];
		}
	}
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
