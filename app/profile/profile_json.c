/* SPDX-License-Identifier: Apache-2.0 */
/* profile_json.c - the report as JSON, within what an agent can read at once. */
#include "app/profile/show.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_KERNELS = 8 };

static cJSON *triple(const uint32_t v[3])
{
	cJSON *j = cJSON_CreateArray();

	for (int i = 0; i < 3; i++)
		cJSON_AddItemToArray(j, cJSON_CreateNumber(v[i]));
	return j;
}

/* Three digits say all that a model or a count can. */
static void add_rounded(cJSON *j, const char *key, double v)
{
	double unit = v != 0 && isfinite(v) ? pow(10, floor(log10(fabs(v))) - 3) : 1;
	char text[32];

	snprintf(text, sizeof text, "%.4g", round(v / unit) * unit);
	cJSON_AddNumberToObject(j, key, strtod(text, NULL));
}

static void put_mix(const PmCubinMix *m, cJSON *j)
{
	static const char *const width[PM_MIX_WIDTHS] = { "1", "2", "4", "8", "16" };
	cJSON *kinds = cJSON_AddObjectToObject(j, "instructions");

	cJSON_AddNumberToObject(kinds, "total", m->total);
	for (int i = 0; i < PM_N_MIX_KINDS; i++) {
		cJSON *of;

		if (!m->of[i])
			continue;
		if (i > PM_MIX_LOCAL_STORE) {
			cJSON_AddNumberToObject(kinds, pm_mix_name((PmMixKind)i), m->of[i]);
			continue;
		}
		of = cJSON_AddObjectToObject(kinds, pm_mix_name((PmMixKind)i));
		for (int w = 0; w < PM_MIX_WIDTHS; w++)
			if (m->width[i][w])
				cJSON_AddNumberToObject(of, width[w], m->width[i][w]);
	}
}

static void put_occupancy(const PmOccupancy *o, cJSON *j)
{
	cJSON *k = cJSON_AddObjectToObject(j, "occupancy"), *of;

	add_rounded(k, "share", o->share);
	cJSON_AddStringToObject(k, "limiter", pm_occ_limit_name(o->limit));
	cJSON_AddNumberToObject(k, "warps", o->warps);
	cJSON_AddNumberToObject(k, "blocks", o->blocks);
	of = cJSON_AddObjectToObject(k, "blocks_by");
	for (int i = 0; i < PM_N_OCC_LIMITS; i++)
		cJSON_AddNumberToObject(of, pm_occ_limit_name((PmOccLimit)i), o->of[i]);
	add_rounded(k, "waves", o->waves);
	add_rounded(k, "idle", o->idle);
}

static void put_code(const PmProfileReport *r, const PmProfileKernel *k, cJSON *j)
{
	cJSON *m = cJSON_AddObjectToObject(j, "machine_code");

	if (!k->has_code) {
		cJSON_AddStringToObject(m, "missing", r->code.v[k->launch.source].why);
		return;
	}
	cJSON_AddNumberToObject(m, "registers", k->registers);
	cJSON_AddNumberToObject(m, "local_bytes", k->local);
	cJSON_AddNumberToObject(m, "static_shared_bytes", k->shared);
	if (k->has_mix) {
		pm_json_add_i64(m, "constant_bytes", (int64_t)k->mix.constant);
		pm_json_add_i64(m, "parameter_bytes", (int64_t)k->mix.parameters);
		put_mix(&k->mix, m);
	}
	if (k->has_occupancy)
		put_occupancy(&k->occupancy, j);
}

static void put_kernel(const PmProfileReport *r, const PmProfileKernel *k, cJSON *j)
{
	const PmSource *src;
	cJSON *model;

	pm_plan_sources(r->plan, &src);
	cJSON_AddStringToObject(j, "rule", src[k->launch.source].label);
	cJSON_AddStringToObject(j, "entry", k->launch.entry);
	cJSON_AddNumberToObject(j, "launches", k->times);
	cJSON_AddItemToObject(j, "grid", triple(k->launch.grid));
	cJSON_AddItemToObject(j, "block", triple(k->launch.block));
	cJSON_AddNumberToObject(j, "dynamic_shared_bytes", k->launch.smem);
	model = cJSON_AddObjectToObject(j, "modelled");
	add_rounded(model, "seconds", k->modelled);
	pm_json_add_i64(model, "bytes", k->launch.bytes);
	pm_json_add_i64(model, "flops", k->launch.flops);
	put_code(r, k, j);
}

void pm_profile_json(const PmProfileReport *r, const PmProfileOpts *o, cJSON *j)
{
	cJSON *list, *of;
	size_t shown = r->kernel.n < MAX_KERNELS ? r->kernel.n : MAX_KERNELS;

	(void)o;
	cJSON_AddStringToObject(j, "verdict", pm_verdict_name(r->verdict));
	cJSON_AddStringToObject(j, "message", r->why);
	if (r->verdict != PM_VERDICT_OK)
		return;
	of = cJSON_AddObjectToObject(j, "target");
	cJSON_AddStringToObject(of, "name", r->target->full_name);
	cJSON_AddNumberToObject(of, "compute_capability", r->cc);
	cJSON_AddNumberToObject(of, "multiprocessors", r->n_sm);
	of = cJSON_AddObjectToObject(j, "modelled");
	add_rounded(of, "seconds", r->stats.modelled_seconds);
	cJSON_AddNumberToObject(of, "launches", r->stats.n_launches);
	add_rounded(of, "seconds_before", r->base.modelled_seconds);
	cJSON_AddNumberToObject(of, "launches_before", r->base.n_launches);
	list = cJSON_AddArrayToObject(j, "kernels");
	for (size_t i = 0; i < shown; i++) {
		cJSON *k = cJSON_CreateObject();

		put_kernel(r, &r->kernel.v[i], k);
		cJSON_AddItemToArray(list, k);
	}
	cJSON_AddNumberToObject(j, "kernels_left_out", (double)(r->kernel.n - shown));
}
