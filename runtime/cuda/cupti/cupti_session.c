/* SPDX-License-Identifier: Apache-2.0 */
/* cupti_session.c - a session of CUPTI's range profiler: metrics, passes, values.
 *
 * Each kernel between the begin and the end of a pass is a range of its own (auto ranges), so that what is
 * counted and timed is the kernel without what surrounds it. The caller runs it again for each pass (user
 * replay): nothing is saved or restored, so that what runs has to do the same each time. Kernels of a plan
 * do: they read inputs, and write what they do not read before.
 */
#include "runtime/cuda/cupti/cupti_priv.h"

#include "base/core/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANGES = 8 }; /* more than one is an error, which says how many */

struct PmCupti {
	PmCuptiApi a;
	void *ctx;
	CuptiHost *host;
	CuptiRange *range;
	const char *name[PM_N_HW_METRICS]; /* those that the chip has, */
	int metric[PM_N_HW_METRICS];       /* and which each of them is */
	size_t n_metrics;
	uint8_t *available, *config, *data; /* owned */
	size_t config_size, data_size;
	int passes, max_passes; /* of this launch */
	int launches;           /* so far */
};

/* A call of CUPTI: fills in the head of the structure `s`; PM_OK or an error that names the function. */
#define XX(member, symbol, structure, last)                                                                  \
	static PmStatus call_##member(const PmCupti *c, structure *s, PmErr *err)                            \
	{                                                                                                    \
		int rc;                                                                                      \
                                                                                                             \
		s->size = CUPTI_SIZE(structure, last);                                                       \
		rc = c->a.member(s);                                                                         \
		return rc ? pm__cupti_fail(&c->a, #symbol, rc, err) : PM_OK;                                 \
	}
PM__CUPTI_FUNCTIONS(XX)
#undef XX

/* Which counters this GPU, with its driver and in this context, has. */
static PmStatus ask_available(PmCupti *c, PmErr *err)
{
	CuptiAvailable s = { .ctx = c->ctx };
	PmStatus st = call_available(c, &s, err);

	if (st)
		return st;
	if (!s.image_size) /* it does not say */
		return PM_OK;
	c->available = pm_xcalloc(s.image_size, 1);
	s.image = c->available;
	return call_available(c, &s, err);
}

static int has_metric(const PmCupti *c, const char *name)
{
	CuptiHostProperties s = { .host = c->host, .metric = name };

	return name && !call_host_properties(c, &s, NULL);
}

/* A chip lacks metrics that others have; asked for one of those, the host object is of no more use. */
static PmStatus choose_metrics(PmCupti *c, PmErr *err)
{
	for (int m = 0; m < PM_N_HW_METRICS; m++) {
		const char *name = pm_hw_metric_name((PmHwMetric)m);

		if (!has_metric(c, name))
			name = pm_hw_metric_other((PmHwMetric)m);
		if (!has_metric(c, name))
			continue;
		c->name[c->n_metrics] = name;
		c->metric[c->n_metrics++] = m;
	}
	if (!c->n_metrics)
		return pm_err(err, PM_E_ENV,
			      "Hardware counters cannot be read: CUPTI %u knows no metric of this GPU; "
			      "install a newer cuda-cupti.",
			      c->a.version);
	return PM_OK;
}

static PmStatus make_config(PmCupti *c, PmErr *err)
{
	CuptiHostAdd add = { .host = c->host, .metrics = c->name, .n = c->n_metrics };
	CuptiHostConfigSize size = { .host = c->host };
	CuptiHostConfig config = { .host = c->host };
	CuptiHostPasses passes = { 0 };
	PmStatus st = call_host_add(c, &add, err);

	if (!st)
		st = call_host_config_size(c, &size, err);
	if (st)
		return st;
	c->config_size = config.config_size = passes.config_size = size.config_size;
	c->config = config.config = passes.config = pm_xcalloc(size.config_size + 1, 1);
	st = call_host_config(c, &config, err);
	if (!st)
		st = call_host_passes(c, &passes, err);
	c->max_passes = (int)passes.passes;
	return st;
}

static PmStatus open_host(PmCupti *c, int device, PmErr *err)
{
	CuptiChip chip = { .device = (size_t)device };
	CuptiHostInit init = { 0 };
	PmStatus st = call_chip(c, &chip, err);

	if (!st)
		st = ask_available(c, err);
	init.chip = chip.chip;
	init.available = c->available;
	if (!st)
		st = call_host_init(c, &init, err);
	c->host = init.host;
	if (!st)
		st = choose_metrics(c, err);
	return st ? st : make_config(c, err);
}

/* Room for what is counted. */
static PmStatus open_range(PmCupti *c, PmErr *err)
{
	CuptiEnable enable = { .ctx = c->ctx };
	CuptiDataSize size = {
		.metrics = c->name, .n = c->n_metrics, .max_ranges = MAX_RANGES, .max_nodes = MAX_RANGES
	};
	PmStatus st = call_enable(c, &enable, err);

	if (st)
		return st;
	c->range = size.range = enable.range;
	st = call_data_size(c, &size, err);
	if (st)
		return st;
	c->data_size = size.data_size;
	c->data = pm_xcalloc(size.data_size + 1, 1);
	return PM_OK;
}

PmStatus pm__cupti_session(const PmCuptiApi *a, void *ctx, int device, PmCupti **out, PmErr *err)
{
	PmCupti *c = pm_xcalloc(1, sizeof *c);
	PmStatus st;

	c->a = *a;
	c->ctx = ctx;
	st = call_init(c, &(CuptiInit){ 0 }, err);
	if (!st)
		st = open_host(c, device, err);
	if (!st)
		st = open_range(c, err);
	if (st)
		pm_cupti_free(c);
	else
		*out = c;
	return st;
}

PmStatus pm_cupti_open(void *ctx, int device, PmCupti **out, PmErr *err)
{
	PmCuptiApi a;
	PmStatus st = pm__cupti_api(&a, err);

	return st ? st : pm__cupti_session(&a, ctx, device, out, err);
}

void pm_cupti_free(PmCupti *c)
{
	if (!c)
		return;
	if (c->range)
		call_disable(c, &(CuptiOfRange){ .range = c->range }, NULL);
	if (c->host)
		call_host_end(c, &(CuptiHostEnd){ .host = c->host }, NULL);
	free(c->available);
	free(c->config);
	free(c->data);
	free(c);
}

static PmStatus configure(PmCupti *c, PmErr *err)
{
	CuptiDataInit init = { .range = c->range, .data_size = c->data_size, .data = c->data };
	CuptiSetConfig set = { .range = c->range,
			       .config_size = c->config_size,
			       .config = c->config,
			       .data_size = c->data_size,
			       .data = c->data,
			       .mode = CUPTI_AUTO_RANGE,
			       .replay = CUPTI_USER_REPLAY,
			       .max_ranges = MAX_RANGES,
			       .levels = 1,
			       .first_level = 1,
			       .target_level = 1 };
	PmStatus st = call_data_init(c, &init, err);

	return st ? st : call_set_config(c, &set, err);
}

PmStatus pm_cupti_launch_begin(PmCupti *c, PmErr *err)
{
	PmStatus st = configure(c, c->launches ? NULL : err);

	/* A library that takes one configuration only gets a new object for each. */
	if (st && c->launches) {
		CuptiEnable enable = { .ctx = c->ctx };

		call_disable(c, &(CuptiOfRange){ .range = c->range }, NULL);
		c->range = NULL;
		st = call_enable(c, &enable, err);
		c->range = enable.range;
		if (!st)
			st = configure(c, err);
	}
	c->passes = 0;
	c->launches++;
	return st;
}

PmStatus pm_cupti_pass_begin(PmCupti *c, PmErr *err)
{
	return call_start(c, &(CuptiOfRange){ .range = c->range }, err);
}

PmStatus pm_cupti_pass_end(PmCupti *c, int *done, PmErr *err)
{
	CuptiStop s = { .range = c->range };
	PmStatus st = call_stop(c, &s, err);

	*done = s.all != 0;
	/* A library that never says so must not keep the caller for good. */
	if (!st && ++c->passes > 4 * c->max_passes + 64)
		st = pm_err(
			err, PM_E_ENV,
			"Hardware counters cannot be read: CUPTI planned %d passes, and after %d asks for "
			"more.",
			c->max_passes, c->passes);
	return st;
}

PmStatus pm_cupti_launch_end(PmCupti *c, PmHwLaunch *out, PmErr *err)
{
	CuptiDecode decode = { .range = c->range };
	CuptiDataInfo info = { .data = c->data, .data_size = c->data_size };
	double value[PM_N_HW_METRICS];
	CuptiHostEvaluate e = { .host = c->host,
				.data = c->data,
				.data_size = c->data_size,
				.metrics = c->name,
				.n = c->n_metrics,
				.values = value };
	PmStatus st = call_decode(c, &decode, err);

	if (!st)
		st = call_data_info(c, &info, err);
	if (!st && (decode.dropped || info.ranges != 1))
		st = pm_err(
			err, PM_E_ENV,
			"Hardware counters cannot be read: of one launch CUPTI has %zu kernels and dropped "
			"%zu.",
			info.ranges, decode.dropped);
	if (!st)
		st = call_host_evaluate(c, &e, err);
	if (st)
		return st;
	for (int m = 0; m < PM_N_HW_METRICS; m++)
		out->v[m] = NAN;
	for (size_t i = 0; i < c->n_metrics; i++)
		if (isfinite(value[i]))
			out->v[c->metric[i]] = value[i];
	out->measured = 1;
	return PM_OK;
}

void pm_cupti_about(const PmCupti *c, PmHwCounters *out)
{
	out->version = c->a.version;
	out->passes = c->passes;
	memset(out->lacks, 1, sizeof out->lacks);
	for (size_t i = 0; i < c->n_metrics; i++)
		out->lacks[c->metric[i]] = 0;
}
