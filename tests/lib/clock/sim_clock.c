/* SPDX-License-Identifier: Apache-2.0 */
/* sim_clock.c - a simulated device for the clock's protocol, whose true times are known. */
#include "tests/lib/clock/sim_clock.h"

#include "base/core/rng.h"

#include <math.h>
#include <string.h>

static double quantised(const PmSim *s, double t)
{
	return s->tick > 0 ? floor(t / s->tick + 0.5) * s->tick : t;
}

static double speed(const PmSim *s)
{
	return s->clock < s->ramp ? 0.2 + 0.8 * s->clock / s->ramp : 1;
}

static int coin(uint64_t of)
{
	return (int)(pm_mix64(of ^ 0x5bd1e995) & 1);
}

/* Four in a row have inputs of their own, each `batch` after the one before: about a block. */
static uint64_t block_of(const PmSampleAsk *ask)
{
	return ask->index / (4 * (uint64_t)ask->batch);
}

static int in_mode(PmSim *s, const PmSampleAsk *ask)
{
	int place = s->mode == PM_SIM_MODE_BY_SIDE ? ask->side : 0;

	switch (s->mode) {
	case PM_SIM_MODE_BY_SAMPLE:
		return pm_rng_uniform(&s->rng) < 0.5;
	case PM_SIM_MODE_BY_TIME:
	case PM_SIM_MODE_BY_SIDE:
		s->in_mode[place] ^= pm_rng_uniform(&s->rng) < s->mode_switch;
		return s->in_mode[place];
	case PM_SIM_MODE_BY_BLOCK:
		return coin(s->seed + 8 * block_of(ask) + (uint64_t)ask->side);
	case PM_SIM_MODE_OPPOSITE:
		return coin(s->seed + block_of(ask)) ^ (ask->side & 1);
	case PM_SIM_MODE_PERIODIC:
		s->at_step += ask->side == 1 && s->mode_step ? s->mode_step : 1;
		return (s->at_step + (int)(s->seed & 255)) % s->mode_period >= s->mode_period / 2;
	case PM_SIM_NO_MODES:
	case PM_SIM_N_MODES:
		break;
	}
	return 0;
}

static double deviation(PmSim *s)
{
	double x = pm_rng_normal(&s->rng);

	/* Two degrees of freedom: half a chi-square of two is exponential. */
	return s->heavy ? x / sqrt(-log(1 - pm_rng_uniform(&s->rng))) : x;
}

static PmStatus sample(void *arg, const PmSampleAsk *ask, PmSample *out, PmErr *err)
{
	PmSim *s = arg;
	double t = (s->t[ask->side] + (ask->kind == PM_TIME_COLD ? s->cold : 0)) * ask->batch / speed(s);

	if (s->n == 0)
		s->first_sample = s->clock;
	if (s->n < PM_SIM_ASKS)
		s->ask[s->n] = *ask;
	s->n++;
	if (s->fail_after && s->n > (size_t)s->fail_after)
		return pm_err(err, PM_E_TIMEOUT, "The simulated device hangs.");
	t *= exp(s->noise * deviation(s)) * (1 + s->drift * s->clock);
	if (s->walk > 0)
		t *= exp(s->level += s->walk * pm_rng_normal(&s->rng));
	if (pm_rng_uniform(&s->rng) < s->outliers)
		t *= 5;
	if (pm_rng_uniform(&s->rng) < s->second_mode)
		t *= 1.5;
	if (s->slow_calls > 0 && ask->side == s->slow_side && pm_rng_uniform(&s->rng) < s->slow_calls)
		t *= 3;
	if (s->mode && in_mode(s, ask))
		t *= 1 + s->mode_gap;
	if (ask->kind >= PM_TIME_WALL)
		t += s->launching * ask->batch;
	else
		t = quantised(s, t + s->overhead * (1 + 0.01 * pm_rng_normal(&s->rng)));
	out->seconds = t;
	out->disturbed = pm_rng_uniform(&s->rng) < s->disturbed;
	s->clock += t + s->pause;
	return PM_OK;
}

static PmStatus empty(void *arg, double *seconds, PmErr *err)
{
	PmSim *s = arg;

	(void)err;
	*seconds = s->overhead * (1 + 0.01 * pm_rng_normal(&s->rng));
	if (s->rough_pairs > 0 && s->rough_pairs--)
		*seconds *= 1 + pm_rng_uniform(&s->rng);
	*seconds = quantised(s, *seconds);
	return PM_OK;
}

static PmStatus warm(void *arg, double *seconds, PmErr *err)
{
	PmSim *s = arg;

	(void)err;
	*seconds = 0.005 / speed(s);
	if (s->restless && s->n_warm++ % 2)
		*seconds *= 1.1;
	s->clock += *seconds;
	return PM_OK;
}

static double now(void *arg)
{
	return ((PmSim *)arg)->clock;
}

PmClock pm_sim_clock(PmSim *s)
{
	return (PmClock){ sample, empty, warm, now, s };
}

void pm_sim_init(PmSim *s, double baseline, double candidate, uint64_t seed)
{
	memset(s, 0, sizeof *s);
	s->t[0] = s->t[2] = baseline;
	s->t[1] = candidate;
	s->noise = 0.01;
	s->overhead = 1.34e-6;
	s->tick = 32e-9;
	s->pause = 300e-6;
	s->mode_gap = 0.08;
	s->mode_switch = 0.02;
	s->mode_period = 4;
	s->seed = pm_mix64(seed);
	pm_rng_init(&s->rng, seed);
	for (int i = 0; i < PM_MAX_SIDES; i++)
		s->in_mode[i] = pm_rng_uniform(&s->rng) < 0.5;
}
