/* report.c - evaluation results as tables and as JSON. */
#include "bench/report.h"

#include "base/io.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *pm_eval_stage(const PmEvalRecord *r)
{
	if (r->verdict == PM_VERDICT_OK || r->verdict == PM_VERDICT_INCORRECT ||
	    r->verdict == PM_VERDICT_PRECISION || r->measured)
		return "speed";
	return r->n_kernels > 0 ? "correctness" : "match";
}

/* ---- JSON ---- */

static cJSON *output_json(const PmScoreOutput *o)
{
	cJSON *j = cJSON_CreateObject(), *close = cJSON_AddArrayToObject(j, "close");

	cJSON_AddStringToObject(j, "dtype", pm_dtype_name(o->dtype));
	cJSON_AddBoolToObject(j, "equal", o->equal);
	for (int t = 0; t < PM_T_COUNT; t++)
		cJSON_AddItemToArray(close, cJSON_CreateNumber(o->close[t]));
	return j;
}

static void add_worst(cJSON *j, const PmEvalRecord *r)
{
	cJSON *w;

	if (r->worst.index < 0)
		return;
	w = cJSON_AddObjectToObject(j, "worst");
	cJSON_AddStringToObject(w, "where", r->worst_where);
	pm_json_add_i64(w, "index", r->worst.index);
	cJSON_AddNumberToObject(w, "expected", r->worst.expected);
	cJSON_AddNumberToObject(w, "got", r->worst.got);
	cJSON_AddNumberToObject(w, "abs", r->worst.abs);
	cJSON_AddNumberToObject(w, "rel", r->worst.rel);
	cJSON_AddNumberToObject(w, "ulp", r->worst.ulp);
}

static void add_bound(cJSON *j, const PmEvalBound *b)
{
	cJSON *o = cJSON_AddObjectToObject(j, "bound");

	cJSON_AddStringToObject(o, "lane", pm_lane_name(b->lane));
	cJSON_AddNumberToObject(o, "judged", b->n);
	cJSON_AddNumberToObject(o, "without", b->n_without);
	cJSON_AddNumberToObject(o, "rms", b->rms);
	cJSON_AddNumberToObject(o, "max", b->max);
}

static void bound_from_json(const cJSON *o, PmEvalBound *b)
{
	if (!o)
		return;
	b->lane = PM_LANE_NONE;
	pm_lane_from_name(pm_json_str(o, "lane", ""), &b->lane);
	b->n = (int)pm_json_i64(o, "judged", 0);
	b->n_without = (int)pm_json_i64(o, "without", 0);
	b->rms = pm_json_num(o, "rms", INFINITY);
	b->max = pm_json_num(o, "max", INFINITY);
}

/* The clock's figures as name and place: one list for writing and reading. */
#define TIMING_FIGURES(XX)                                                                                   \
	XX("speedup_lo", lo)                                                                                 \
	XX("speedup_hi", hi)                                                                                 \
	XX("control", control)                                                                               \
	XX("replay_speedup", replay_speedup)                                                                 \
	XX("replay_baseline_seconds", replay[0])                                                             \
	XX("replay_candidate_seconds", replay[1])                                                            \
	XX("wall_speedup", wall_speedup)                                                                     \
	XX("wall_baseline_seconds", wall[0])                                                                 \
	XX("wall_candidate_seconds", wall[1])

static void add_timing(cJSON *j, const PmEvalTiming *t)
{
	cJSON *o = cJSON_AddObjectToObject(j, "clock");

	cJSON_AddNumberToObject(o, "blocks", t->blocks);
	cJSON_AddNumberToObject(o, "calls", t->calls);
	cJSON_AddNumberToObject(o, "replayed", t->replayed);
	cJSON_AddNumberToObject(o, "compared", t->compared);
	cJSON_AddNumberToObject(o, "checked", t->checked);
#define XX(name, place) cJSON_AddNumberToObject(o, name, t->place);
	TIMING_FIGURES(XX)
#undef XX
}

static void timing_from_json(const cJSON *o, PmEvalTiming *t)
{
	if (!o)
		return;
	t->blocks = (int)pm_json_i64(o, "blocks", 0);
	t->calls = (int)pm_json_i64(o, "calls", 0);
	t->replayed = (int)pm_json_i64(o, "replayed", 0);
	t->compared = (int)pm_json_i64(o, "compared", 0);
	t->checked = (int)pm_json_i64(o, "checked", 0);
#define XX(name, place) t->place = pm_json_num(o, name, NAN);
	TIMING_FIGURES(XX)
#undef XX
}

cJSON *pm_eval_record_json(const PmEvalRecord *r)
{
	cJSON *j = cJSON_CreateObject(), *outs;

	cJSON_AddStringToObject(j, "variant", r->label);
	cJSON_AddStringToObject(j, "verdict", pm_verdict_name(r->verdict));
	cJSON_AddStringToObject(j, "stage", pm_eval_stage(r));
	cJSON_AddStringToObject(j, "why", r->why);
	if (r->near_miss)
		cJSON_AddStringToObject(j, "near_miss", r->near_miss);
	cJSON_AddNumberToObject(j, "applied", r->n_applied);
	cJSON_AddNumberToObject(j, "kernels", r->n_kernels);
	cJSON_AddNumberToObject(j, "coverage", r->coverage);
	cJSON_AddNumberToObject(j, "smallest_t", r->smallest_t);
	outs = cJSON_AddArrayToObject(j, "outputs");
	for (size_t i = 0; i < r->n_outputs; i++)
		cJSON_AddItemToArray(outs, output_json(&r->outputs[i]));
	add_worst(j, r);
	if (r->bound.n)
		add_bound(j, &r->bound);
	cJSON_AddStringToObject(j, "time", r->measured ? "measured" : "modelled");
	cJSON_AddNumberToObject(j, "speedup", r->speedup);
	cJSON_AddNumberToObject(j, "baseline_seconds", r->baseline_seconds);
	cJSON_AddNumberToObject(j, "candidate_seconds", r->candidate_seconds);
	cJSON_AddNumberToObject(j, "baseline_launches", r->baseline_launches);
	cJSON_AddNumberToObject(j, "candidate_launches", r->candidate_launches);
	pm_json_add_i64(j, "baseline_bytes", r->baseline_bytes);
	pm_json_add_i64(j, "candidate_bytes", r->candidate_bytes);
	cJSON_AddNumberToObject(j, "wall_seconds", r->wall_seconds);
	if (r->measured)
		add_timing(j, &r->timing);
	return j;
}

static PmStatus outputs_from_json(const cJSON *list, PmEvalRecord *out, PmErr *err)
{
	size_t n = list ? (size_t)cJSON_GetArraySize(list) : 0;

	out->outputs = pm_xcalloc(n + 1, sizeof *out->outputs);
	out->n_outputs = n;
	for (size_t i = 0; i < n; i++) {
		const cJSON *o = cJSON_GetArrayItem(list, (int)i), *close = cJSON_GetObjectItem(o, "close");

		out->outputs[i].dtype = pm_dtype_from_name(pm_json_str(o, "dtype", ""));
		out->outputs[i].equal = cJSON_IsTrue(cJSON_GetObjectItem(o, "equal"));
		if (out->outputs[i].dtype < 0 || !cJSON_IsArray(close) ||
		    cJSON_GetArraySize(close) != PM_T_COUNT)
			return pm_err(err, PM_E_INVALID,
				      "A stored result's output %zu has no dtype or no %d verdicts.", i,
				      PM_T_COUNT);
		for (int t = 0; t < PM_T_COUNT; t++) {
			const cJSON *v = cJSON_GetArrayItem(close, t);

			out->outputs[i].close[t] = (signed char)(cJSON_IsNumber(v) && v->valueint == 1);
		}
	}
	return PM_OK;
}

static char *copy_or_null(const char *s)
{
	return s ? pm_xstrdup(s) : NULL;
}

PmStatus pm_eval_record_from_json(const cJSON *j, PmEvalRecord *out, PmErr *err)
{
	const cJSON *w = cJSON_GetObjectItem(j, "worst");
	PmStatus st;

	memset(out, 0, sizeof *out);
	snprintf(out->label, sizeof out->label, "%s", pm_json_str(j, "variant", ""));
	snprintf(out->why, sizeof out->why, "%s", pm_json_str(j, "why", ""));
	out->verdict = pm_verdict_from_name(pm_json_str(j, "verdict", ""));
	if (out->verdict == PM_N_VERDICTS)
		return pm_err(err, PM_E_INVALID, "A stored result has the unknown verdict '%.60s'.",
			      pm_json_str(j, "verdict", ""));
	out->near_miss = copy_or_null(pm_json_str(j, "near_miss", NULL));
	out->n_applied = (int)pm_json_i64(j, "applied", 0);
	out->n_kernels = (int)pm_json_i64(j, "kernels", 0);
	out->coverage = pm_json_num(j, "coverage", 0);
	out->smallest_t = (int)pm_json_i64(j, "smallest_t", PM_T_NEVER);
	bound_from_json(cJSON_GetObjectItem(j, "bound"), &out->bound);
	out->worst.index = w ? pm_json_i64(w, "index", -1) : -1;
	if (w) {
		snprintf(out->worst_where, sizeof out->worst_where, "%s", pm_json_str(w, "where", ""));
		out->worst.expected = pm_json_num(w, "expected", NAN);
		out->worst.got = pm_json_num(w, "got", NAN);
		out->worst.abs = pm_json_num(w, "abs", NAN);
		out->worst.rel = pm_json_num(w, "rel", NAN);
		out->worst.ulp = pm_json_num(w, "ulp", NAN);
	}
	out->measured = pm_str_eq(pm_json_str(j, "time", ""), "measured");
	out->speedup = pm_json_num(j, "speedup", NAN);
	out->baseline_seconds = pm_json_num(j, "baseline_seconds", 0);
	out->candidate_seconds = pm_json_num(j, "candidate_seconds", 0);
	out->baseline_launches = (int)pm_json_i64(j, "baseline_launches", 0);
	out->candidate_launches = (int)pm_json_i64(j, "candidate_launches", 0);
	out->baseline_bytes = pm_json_i64(j, "baseline_bytes", 0);
	out->candidate_bytes = pm_json_i64(j, "candidate_bytes", 0);
	out->wall_seconds = pm_json_num(j, "wall_seconds", 0);
	timing_from_json(cJSON_GetObjectItem(j, "clock"), &out->timing);
	st = outputs_from_json(cJSON_GetObjectItem(j, "outputs"), out, err);
	if (st)
		pm_eval_record_release(out);
	return st;
}

/* Geometric mean of the speedups of correct records; NaN without any. */
static double mean_speedup(const PmEvalReport *r)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		if (r->rec[i].verdict == PM_VERDICT_OK && r->rec[i].speedup > 0) {
			sum += log(r->rec[i].speedup);
			n++;
		}
	return n ? exp(sum / (double)n) : NAN;
}

static size_t count_matched(const PmEvalReport *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		n += r->rec[i].n_kernels > 0;
	return n;
}

static size_t count_verdict(const PmEvalReport *r, PmVerdict v)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		n += r->rec[i].verdict == v;
	return n;
}

cJSON *pm_eval_report_json(const PmEvalReport *r, const char *task)
{
	cJSON *j = cJSON_CreateObject(), *es, *s, *list;

	cJSON_AddStringToObject(j, "task", task);
	cJSON_AddStringToObject(j, "pass", r->pass);
	cJSON_AddStringToObject(j, "pass_sha256", r->sha256);
	cJSON_AddStringToObject(j, "device", r->opts.device);
	cJSON_AddStringToObject(j, "profile", r->opts.profile ? r->opts.profile : pm_profile(NULL)->name);
	cJSON_AddStringToObject(j, "preset", r->opts.preset == PM_PRESET_PASSNET ? "passnet" : "sound");
	cJSON_AddStringToObject(j, "sandbox_lacks", r->sandbox_lacks);
	pm_json_add_i64(j, "seed", (int64_t)r->opts.seed);
	pm_json_add_i64(j, "variants", (int64_t)r->n);
	pm_json_add_i64(j, "matched", (int64_t)count_matched(r));
	pm_json_add_i64(j, "correct", (int64_t)count_verdict(r, PM_VERDICT_OK));
	cJSON_AddNumberToObject(j, "speedup", mean_speedup(r));
	cJSON_AddNumberToObject(j, "fast_1", r->fast1);
	cJSON_AddNumberToObject(j, "AS", r->score.as);
	es = cJSON_AddObjectToObject(j, "ES");
	s = cJSON_AddObjectToObject(j, "S");
	for (int t = 0; t < r->score.n_t; t++) {
		char key[8];

		snprintf(key, sizeof key, "%d", t + PM_T_MIN);
		cJSON_AddNumberToObject(es, key, r->score.es[t]);
		cJSON_AddNumberToObject(s, key, r->score.s[t]);
	}
	list = cJSON_AddArrayToObject(j, "records");
	for (size_t i = 0; i < r->n; i++)
		cJSON_AddItemToArray(list, pm_eval_record_json(&r->rec[i]));
	return j;
}

/* ---- tables ---- */

static const char *pass_name(const PmEvalReport *r, char buf[64])
{
	const char *base = pm_path_base(r->pass);

	snprintf(buf, 64, "%.*s", (int)strcspn(base, "."), base);
	return buf;
}

/* What the clock adds to a line: the interval, the same ratio as replayed graphs and on the host's clock, and
 * the candidate's time. */
static void clock_columns(const PmEvalRecord *r, PmStr *out)
{
	char interval[40] = "-", replay[24] = "-", wall[24] = "-", time[24] = "-";

	if (r->measured) {
		snprintf(interval, sizeof interval, "%.3f-%.3f", r->timing.lo, r->timing.hi);
		snprintf(replay, sizeof replay, "%.2fx", r->timing.replay_speedup);
		snprintf(wall, sizeof wall, "%.2fx", r->timing.wall_speedup);
		snprintf(time, sizeof time, "%.1f", r->candidate_seconds * 1e6);
	}
	pm_str_addf(out, " %13s %8s %8s %10s", interval, replay, wall, time);
}

static void record_line(const PmEvalRecord *r, int clock, PmStr *out)
{
	char match[32] = "-", correct[48] = "-", launches[32] = "-", speed[32] = "-";

	if (r->n_kernels > 0)
		snprintf(match, sizeof match, "%d kernel%s", r->n_kernels, r->n_kernels == 1 ? "" : "s");
	if (r->smallest_t == PM_T_NEVER && r->n_outputs && r->verdict == PM_VERDICT_INCORRECT)
		snprintf(correct, sizeof correct, "never");
	else if (r->smallest_t != PM_T_NEVER)
		snprintf(correct, sizeof correct, "t=%d", r->smallest_t);
	if (r->baseline_launches)
		snprintf(launches, sizeof launches, "%d -> %d", r->baseline_launches, r->candidate_launches);
	if (r->speedup > 0)
		snprintf(speed, sizeof speed, "%.2fx", r->speedup);
	pm_str_addf(out, "  %-40.40s %-10s %-8s %-12s %8s", r->label, match, correct, launches, speed);
	if (clock)
		clock_columns(r, out);
	pm_str_addf(out, "  %s\n", pm_verdict_name(r->verdict));
}

static int any_measured(const PmEvalReport *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->rec[i].measured)
			return 1;
	return 0;
}

/* Each different sentence once, with the first variant that has it. */
static void sentences(const PmEvalReport *r, PmStr *out)
{
	for (size_t i = 0; i < r->n; i++) {
		const PmEvalRecord *e = &r->rec[i];
		size_t same = 0, k = 0;

		if (!*e->why)
			continue;
		while (k < i && !(r->rec[k].verdict == e->verdict))
			k++;
		if (k < i)
			continue;
		for (size_t q = i; q < r->n; q++)
			same += r->rec[q].verdict == e->verdict;
		pm_str_addf(out, "  %s (%s%s): %s\n", pm_verdict_name(e->verdict), e->label,
			    same > 1 ? " and others" : "", e->why);
		if (e->near_miss && *e->near_miss)
			pm_str_addf(out, "    nearest: %s\n", e->near_miss);
	}
}

void pm_eval_report_table(const PmEvalReport *r, PmStr *out)
{
	char name[64];
	int clock = any_measured(r);

	pm_str_addf(out, "pass %s on %s (", pass_name(r, name), r->opts.device);
	if (clock)
		pm_str_addf(out, "measured times: GPU time of one call, caches cold)\n");
	else
		pm_str_addf(out, "modelled times, profile %s)\n",
			    r->opts.profile ? r->opts.profile : pm_profile(NULL)->name);
	pm_str_addf(out, "  %-40s %-10s %-8s %-12s %8s", "variant", "match", "correct", "launches", "speed");
	if (clock)
		pm_str_addf(out, " %13s %8s %8s %10s", "95 %", "replay", "wall", "us");
	pm_str_addf(out, "  verdict\n");
	for (size_t i = 0; i < r->n; i++)
		record_line(&r->rec[i], clock, out);
	sentences(r, out);
	if (*r->sandbox_lacks)
		pm_str_addf(out, "  The sandbox of this machine lacks: %s (passmith doctor).\n",
			    r->sandbox_lacks);
}

void pm_eval_summary_table(const PmEvalReport *r, size_t n, PmStr *out)
{
	pm_str_addf(out, "  %-24s %9s %9s %8s %8s %8s %8s %8s\n", "pass", "match", "correct", "speed",
		    "ES(-5)", "ES(0)", "ES(1)", "AS");
	for (size_t i = 0; i < n; i++) {
		char name[64], match[32], correct[32], speed[32] = "-";
		double mean = mean_speedup(&r[i]);

		snprintf(match, sizeof match, "%zu/%zu", count_matched(&r[i]), r[i].n);
		snprintf(correct, sizeof correct, "%zu/%zu", count_verdict(&r[i], PM_VERDICT_OK), r[i].n);
		if (mean > 0)
			snprintf(speed, sizeof speed, "%.2fx", mean);
		pm_str_addf(out, "  %-24.24s %9s %9s %8s %8.3f %8.3f %8.3f %8.3f\n", pass_name(&r[i], name),
			    match, correct, speed, r[i].score.es[5], r[i].score.es[10], r[i].score.es[11],
			    r[i].score.as);
	}
}
