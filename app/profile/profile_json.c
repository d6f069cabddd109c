/* SPDX-License-Identifier: Apache-2.0 */
/* profile_json.c - the report as JSON, within what an agent can read at once. */
#include "app/profile/hw_view.h"
#include "app/profile/limits.h"
#include "app/profile/show.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the report that kernels may take, as it is printed: an agent reads 16 KB at once. */
enum { ROOM = 13000, ROOM_OF_LISTINGS = 1 << 20 };

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

static void put_global(const char *name, const PmCountGlobal *g, cJSON *j)
{
	cJSON *k = cJSON_AddObjectToObject(j, name);
	double n = g->requests ? (double)g->requests : 1;

	pm_json_add_i64(k, "requests", (int64_t)g->requests);
	pm_json_add_i64(k, "sectors", (int64_t)g->sectors);
	add_rounded(k, "sectors_per_request", (double)g->sectors / n);
	add_rounded(k, "ideal", (double)g->ideal / n);
	pm_json_add_i64(k, "excess_sectors", (int64_t)(g->sectors > g->ideal ? g->sectors - g->ideal : 0));
	pm_json_add_i64(k, "bytes", (int64_t)g->bytes);
	pm_json_add_i64(k, "sector_bytes", (int64_t)g->sectors * PM_COUNT_SECTOR);
}

static void put_shared(const char *name, const PmCountShared *b, cJSON *j)
{
	cJSON *k;

	if (!b->requests)
		return;
	k = cJSON_AddObjectToObject(j, name);
	pm_json_add_i64(k, "requests", (int64_t)b->requests);
	pm_json_add_i64(k, "wavefronts", (int64_t)b->passes);
	pm_json_add_i64(k, "extra_wavefronts", (int64_t)(b->passes - b->ideal));
	add_rounded(k, "conflict_factor", (double)b->passes / (double)b->ideal);
}

static cJSON *site(const PmProfileReport *r, const PmProfileKernel *k, const PmCountSite *s)
{
	static const char *const kind[PM_N_COUNT_KINDS] = { "load", "store", "atomic" };
	double n = (double)(s->shared ? s->bank.requests : s->global.requests);
	cJSON *j = cJSON_CreateObject();
	PmStr line = PM_STR_INIT;

	pm_profile_line(r, k, s, &line);
	cJSON_AddNumberToObject(j, "line", s->line);
	cJSON_AddNumberToObject(j, "column", s->column);
	cJSON_AddStringToObject(j, "file", s->file);
	cJSON_AddStringToObject(j, "text", line.s ? line.s : "");
	cJSON_AddStringToObject(j, "space", s->shared ? "shared" : "global");
	cJSON_AddStringToObject(j, "kind", kind[s->kind]);
	cJSON_AddNumberToObject(j, "bytes", s->size);
	cJSON_AddNumberToObject(j, "requests", n);
	n = n > 0 ? n : 1;
	if (s->shared) {
		add_rounded(j, "wavefronts_per_request", (double)s->bank.passes / n);
		add_rounded(j, "ideal", (double)s->bank.ideal / n);
	} else {
		add_rounded(j, "sectors_per_request", (double)s->global.sectors / n);
		add_rounded(j, "ideal", (double)s->global.ideal / n);
	}
	pm_str_release(&line);
	return j;
}

static void put_warps(const PmLaunchCounts *c, cJSON *j)
{
	cJSON *k;

	if (c->atomic.requests) {
		k = cJSON_AddObjectToObject(j, "atomics");
		pm_json_add_i64(k, "requests", (int64_t)c->atomic.requests);
		pm_json_add_i64(k, "threads", (int64_t)c->atomic.threads);
		pm_json_add_i64(k, "same_address", (int64_t)c->atomic.same);
	}
	pm_json_add_i64(j, "barriers", (int64_t)c->barriers);
	pm_json_add_i64(j, "collectives", (int64_t)c->collectives);
	if (c->steps) {
		k = cJSON_AddObjectToObject(j, "branches");
		add_rounded(k, "efficiency", (double)c->active / (32.0 * (double)c->steps));
		pm_json_add_i64(k, "divergent", (int64_t)c->parted);
	}
	if (c->unique_sectors)
		add_rounded(j, "rereads", (double)c->read_sectors / (double)c->unique_sectors);
	pm_json_add_i64(j, "read_bytes", (int64_t)c->unique_sectors * PM_COUNT_SECTOR);
	if (c->read_sectors)
		add_rounded(j, "l1_hit_rate", (double)c->l1_hits / (double)c->read_sectors);
	pm_json_add_i64(j, "l2_sectors", (int64_t)c->l2_sectors);
	pm_json_add_i64(j, "dram_sectors", (int64_t)c->dram_sectors);
}

static void put_counts(const PmProfileReport *r, const PmProfileKernel *k, cJSON *j)
{
	const PmLaunchCounts *c = &k->counts;
	cJSON *of = cJSON_AddObjectToObject(j, "counted"), *worst;

	pm_json_add_i64(of, "blocks", (int64_t)c->blocks);
	pm_json_add_i64(of, "of_blocks", (int64_t)c->of_blocks);
	put_global("loads", &c->global[PM_COUNT_LOAD], of);
	put_global("stores", &c->global[PM_COUNT_STORE], of);
	put_shared("shared_loads", &c->shared[PM_COUNT_LOAD], of);
	put_shared("shared_stores", &c->shared[PM_COUNT_STORE], of);
	put_warps(c, of);
	worst = cJSON_AddArrayToObject(of, "worst");
	for (int i = 0; i < c->n_sites && i < PM_PROFILE_SITES; i++)
		cJSON_AddItemToArray(worst, site(r, k, &c->site[i]));
}

static void put_stalls(const PmHwView *v, cJSON *j)
{
	cJSON *list = cJSON_AddArrayToObject(j, "stalls");

	for (int i = 0; i < v->n_stalls && i < PM_PROFILE_STALLS; i++) {
		cJSON *of = cJSON_CreateObject();

		cJSON_AddStringToObject(of, "reason", pm_hw_stall_name(v->stall[i].reason));
		add_rounded(of, "share", v->stall[i].share);
		cJSON_AddStringToObject(of, "waits_for", pm_hw_stall_waits(v->stall[i].reason));
		cJSON_AddItemToArray(list, of);
	}
}

/* What is not known is left out. */
static void put_hw(const PmProfileReport *r, const PmProfileKernel *k, cJSON *j)
{
	cJSON *of = cJSON_AddObjectToObject(j, "counters"), *list = NULL;
	PmHwView v;

	pm__hw_view(r, k, &v);
	const struct {
		const char *key;
		double value;
	} member[] = {
		{ "seconds", v.seconds },
		{ "dram_read_bytes", v.dram_read },
		{ "dram_written_bytes", v.dram_written },
		{ "dram_bytes_per_second", v.dram_rate },
		{ "dram_copy_share", v.copy_share },
		{ "dram_peak_share", v.dram_share },
		{ "l2_hit_rate", v.l2_hit },
		{ "l1_hit_rate", v.l1_hit },
		{ "load_requests", v.requests[PM_COUNT_LOAD] },
		{ "load_sectors_per_request", v.sectors[PM_COUNT_LOAD] },
		{ "store_requests", v.requests[PM_COUNT_STORE] },
		{ "store_sectors_per_request", v.sectors[PM_COUNT_STORE] },
		{ "shared_load_wavefronts", v.passes[PM_COUNT_LOAD] },
		{ "shared_load_bank_conflicts", v.conflicts[PM_COUNT_LOAD] },
		{ "shared_store_wavefronts", v.passes[PM_COUNT_STORE] },
		{ "shared_store_bank_conflicts", v.conflicts[PM_COUNT_STORE] },
		{ "achieved_occupancy_share", v.occupancy },
		{ "issue_slot_share", v.issue },
		{ "multiprocessor_peak_share", v.sm_share },
		{ "flops_per_second", v.flop_rate },
		{ "flops_peak_share", v.flop_share },
	};
	for (size_t i = 0; i < sizeof member / sizeof *member; i++)
		if (isfinite(member[i].value))
			add_rounded(of, member[i].key, member[i].value);
	put_stalls(&v, of);
	for (int m = 0; m < PM_N_HW_METRICS; m++) {
		if (!v.unreliable[m])
			continue;
		if (!list)
			list = cJSON_AddArrayToObject(of, "unreliable");
		cJSON_AddItemToArray(list, cJSON_CreateString(pm_hw_metric_name((PmHwMetric)m)));
	}
}

static void put_limits(const PmProfileReport *r, const PmProfileKernel *k, cJSON *j)
{
	cJSON *list = cJSON_AddArrayToObject(j, "limits");
	PmStr text = PM_STR_INIT;
	PmFacts f;

	pm_profile_facts(r, k, &f);
	pm_profile_say(&f, PM_PROFILE_SAYS, &text);
	for (char *p = text.s, *end; p && (end = strchr(p, '\n')) != NULL; p = end + 1) {
		*end = 0;
		cJSON_AddItemToArray(list, cJSON_CreateString(p));
	}
	pm_str_release(&text);
}

static void put_bounds(const PmAccessTime *t, cJSON *j)
{
	cJSON *k = cJSON_AddObjectToObject(j, "bounds");

	add_rounded(k, "launch", t->launch);
	add_rounded(k, "waits", t->waits);
	for (int i = 0; i < PM_N_BOUNDS; i++)
		add_rounded(k, pm_access_bound_name((PmAccessBound)i), t->bound[i]);
}

static void put_listing(const PmProfileCode *c, cJSON *j)
{
	if (c->ptx.len)
		cJSON_AddStringToObject(j, "ptx", c->ptx.s);
	if (c->sass.len)
		cJSON_AddStringToObject(j, "sass", c->sass.s);
	else if (*c->why_sass)
		cJSON_AddStringToObject(j, "sass_missing", c->why_sass);
}

static void put_kernel(const PmProfileReport *r, const PmProfileKernel *k, const PmProfileOpts *o, cJSON *j)
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
	add_rounded(model, "seconds", k->time.seconds);
	pm_json_add_i64(model, "bytes", k->launch.bytes);
	pm_json_add_i64(model, "flops", k->launch.flops);
	add_rounded(model, "bandwidth_share",
		    (double)k->launch.bytes / k->time.seconds / r->target->bytes_per_second);
	add_rounded(model, "flops_share",
		    (double)k->launch.flops / k->time.seconds /
			    r->target->flops_per_second[k->launch.flop_class]);
	cJSON_AddStringToObject(model, "bound", pm_profile_bound(k));
	if (k->has_counts)
		put_bounds(&k->time, model);
	put_code(r, k, j);
	if (o->listing)
		put_listing(&r->code.v[k->launch.source], cJSON_GetObjectItem(j, "machine_code"));
	if (k->has_counts)
		put_counts(r, k, j);
	if (k->has_hw)
		put_hw(r, k, j);
	put_limits(r, k, j);
}

static void put_times(const PmProfileReport *r, cJSON *j)
{
	double bytes = (double)r->stats.bytes / r->seconds[1], flops = (double)r->stats.flops / r->seconds[1];

	add_rounded(j, "seconds", r->seconds[1]);
	add_rounded(j, "seconds_before", r->seconds[0]);
	add_rounded(j, "bytes_per_second", bytes);
	add_rounded(j, "flops_per_second", flops);
	if (!r->same_gpu)
		return;
	add_rounded(j, "bandwidth_share", bytes / r->target->bytes_per_second);
	if (r->kernel.n)
		add_rounded(j, "flops_share",
			    flops / r->target->flops_per_second[r->kernel.v[0].launch.flop_class]);
}

/* How the counters were read. */
static void put_counting(const PmProfileReport *r, cJSON *j)
{
	cJSON *list;

	cJSON_AddNumberToObject(j, "cupti_version", r->hw_version);
	cJSON_AddNumberToObject(j, "passes", r->hw_passes);
	list = cJSON_AddArrayToObject(j, "lacking");
	for (int m = 0; m < PM_N_HW_METRICS; m++)
		if (r->hw_lacks[m])
			cJSON_AddItemToArray(list, cJSON_CreateString(pm_hw_metric_name((PmHwMetric)m)));
}

/* Bytes that it takes in a list of the report: two levels in. */
static size_t printed(const cJSON *j)
{
	PmStr text = PM_STR_INIT;
	size_t n = 0;

	pm_json_print(j, 1, &text);
	for (size_t i = 0; i < text.len; i++)
		n += text.s[i] == '\n' ? 5 : 1;
	pm_str_release(&text);
	return n;
}

void pm_profile_json(const PmProfileReport *r, const PmProfileOpts *o, cJSON *j)
{
	cJSON *list, *of;
	size_t shown = 0, left = o->listing ? ROOM_OF_LISTINGS : ROOM;

	cJSON_AddStringToObject(j, "verdict", pm_verdict_name(r->verdict));
	cJSON_AddStringToObject(j, "message", r->why);
	if (r->verdict != PM_VERDICT_OK)
		return;
	cJSON_AddStringToObject(j, "device", o->device);
	of = cJSON_AddObjectToObject(j, "target");
	cJSON_AddStringToObject(of, "name", r->target->full_name);
	cJSON_AddNumberToObject(of, "compute_capability", r->cc);
	cJSON_AddNumberToObject(of, "multiprocessors", r->n_sm);
	of = cJSON_AddObjectToObject(j, "modelled");
	add_rounded(of, "seconds", r->stats.modelled_seconds);
	cJSON_AddNumberToObject(of, "launches", r->stats.n_launches);
	add_rounded(of, "seconds_before", r->base.modelled_seconds);
	cJSON_AddNumberToObject(of, "launches_before", r->base.n_launches);
	if (r->has_time)
		put_times(r, cJSON_AddObjectToObject(j, "measured"));
	if (r->hw_version)
		put_counting(r, cJSON_AddObjectToObject(j, "hardware_counters"));
	list = cJSON_AddArrayToObject(j, "absent");
	for (int i = 0; i < PM_PROFILE_ABSENT; i++)
		if (pm_profile_absent(r, o, i))
			cJSON_AddItemToArray(list, cJSON_CreateString(pm_profile_absent(r, o, i)));
	list = cJSON_AddArrayToObject(j, "kernels");
	for (; shown < r->kernel.n; shown++) {
		cJSON *k = cJSON_CreateObject();
		size_t takes;

		put_kernel(r, &r->kernel.v[shown], o, k);
		takes = printed(k);
		if (shown && takes > left) {
			cJSON_Delete(k);
			break;
		}
		left -= takes < left ? takes : left;
		cJSON_AddItemToArray(list, k);
	}
	cJSON_AddNumberToObject(j, "kernels_left_out", (double)(r->kernel.n - shown));
}
