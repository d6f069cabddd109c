/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - evaluation results as tables, and a whole report as JSON. */
#include "bench/report/report.h"

#include "base/core/renamed.h"
#include "base/sys/io.h"
#include "bench/report/score_terms.h"
#include "bench/report/stages_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Wrong on a hidden shape, a pass is right nowhere. */
static int is_right(const PmEvalReport *r, size_t i)
{
	return r->rec[i].verdict == PM_VERDICT_OK && r->hidden.verdict == PM_VERDICT_OK;
}

/* Geometric mean of the speedups of correct records; NaN without any. */
static double mean_speedup(const PmEvalReport *r)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		if (is_right(r, i) && r->rec[i].speedup > 0) {
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

static size_t count_right(const PmEvalReport *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		n += is_right(r, i);
	return n;
}

cJSON *pm_eval_hidden_json(const PmEvalHidden *h)
{
	cJSON *o = cJSON_CreateObject(), *failure;

	cJSON_AddNumberToObject(o, "shapes", h->n);
	cJSON_AddNumberToObject(o, "matched", h->n_matched);
	cJSON_AddStringToObject(o, "verdict", pm_verdict_name(h->verdict));
	cJSON_AddStringToObject(o, "why", h->why);
	cJSON_AddStringToObject(o, "secret", h->secret);
	failure = pm_failure_json(&h->failure, h->variant);
	if (failure)
		cJSON_AddItemToObject(o, "failure", failure);
	return o;
}

PmStatus pm_eval_hidden_from_json(const cJSON *j, PmEvalHidden *out, PmErr *err)
{
	memset(out, 0, sizeof *out);
	out->n = (int)pm_json_i64(j, "shapes", 0);
	out->n_matched = (int)pm_json_i64(j, "matched", 0);
	snprintf(out->why, sizeof out->why, "%s", pm_json_str(j, "why", ""));
	snprintf(out->secret, sizeof out->secret, "%s", pm_json_str(j, "secret", ""));
	snprintf(out->variant, sizeof out->variant, "%s",
		 pm_json_str(cJSON_GetObjectItem(j, "failure"), "variant", ""));
	pm_failure_from_json(cJSON_GetObjectItem(j, "failure"), &out->failure);
	out->verdict = pm_verdict_from_name(pm_json_str(j, "verdict", ""));
	if (out->verdict == PM_N_VERDICTS)
		return pm_err(err, PM_E_INVALID,
			      "What is stored of hidden shapes has the unknown verdict '%.60s'.",
			      pm_json_str(j, "verdict", ""));
	return PM_OK;
}

/* What was drawn by an earlier report could be known to the pass, and a part of the variants chosen for what
 * it shows: neither has a score. */
static void add_replayed(cJSON *j, const PmEvalReport *r)
{
	cJSON_AddBoolToObject(j, "replayed", r->replayed);
	if (r->replayed)
		pm_json_add_i64(j, "verdicts_as_reported", (int64_t)r->n_agree);
	pm_json_add_i64(j, "left_out", (int64_t)r->n_left_out);
}

/* A debugging run, by line. */
static void add_printed(cJSON *j, const PmPrint *p)
{
	PmStr line = PM_STR_INIT;
	cJSON *list;

	cJSON_AddBoolToObject(j, "debug", p != NULL);
	if (!p)
		return;
	list = cJSON_AddArrayToObject(j, "printed");
	for (size_t from = 0, to; from < p->n; from = to + 1) {
		const char *nl = memchr(p->text + from, '\n', p->n - from);

		to = nl ? (size_t)(nl - p->text) : p->n;
		pm_str_clear(&line);
		pm_str_addn(&line, p->text + from, to - from);
		cJSON_AddItemToArray(list, cJSON_CreateString(line.s));
	}
	pm_str_release(&line);
	pm_json_add_i64(j, "printed_cut", p->cut);
}

static void add_scores(cJSON *j, const PmEvalReport *r)
{
	cJSON *es, *s;

	if (r->replayed || r->n_left_out || r->printed || r->opts.first_answer)
		return;
	cJSON_AddNumberToObject(j, "fast_1", r->fast1);
	cJSON_AddNumberToObject(j, "AS", r->score.as);
	cJSON_AddItemToObject(j, "score_terms", pm_score_terms_json(r));
	es = cJSON_AddObjectToObject(j, "ES");
	s = cJSON_AddObjectToObject(j, "S");
	for (int t = 0; t < r->score.n_t; t++) {
		char key[8];

		snprintf(key, sizeof key, "%d", t + PM_T_MIN);
		cJSON_AddNumberToObject(es, key, r->score.es[t]);
		cJSON_AddNumberToObject(s, key, r->score.s[t]);
	}
}

cJSON *pm_eval_report_json(const PmEvalReport *r, const char *task)
{
	cJSON *j = cJSON_CreateObject(), *list;

	cJSON_AddStringToObject(j, "task", task);
	cJSON_AddStringToObject(j, "pass", r->pass);
	cJSON_AddStringToObject(j, "pass_sha256", r->sha256);
	cJSON_AddStringToObject(j, "device", r->opts.device);
	cJSON_AddStringToObject(j, "profile", r->opts.profile ? r->opts.profile : pm_profile(NULL)->name);
	cJSON_AddStringToObject(j, "preset", r->opts.preset == PM_PRESET_PASSNET ? "passnet" : "sound");
	cJSON_AddStringToObject(j, "sandbox_lacks", r->sandbox_lacks);
	cJSON_AddStringToObject(j, "precision", pm_tier_name(r->opts.tier));
	pm_json_add_old(j, "precision");
	add_replayed(j, r);
	add_printed(j, r->printed);
	if (r->opts.first_answer)
		cJSON_AddBoolToObject(j, "first_answer", 1);
	if (r->hidden.n)
		cJSON_AddItemToObject(j, "hidden", pm_eval_hidden_json(&r->hidden));
	pm_json_add_i64(j, "seed", (int64_t)r->opts.seed);
	pm_json_add_i64(j, "variants", (int64_t)r->n);
	pm_json_add_i64(j, "not_judged", (int64_t)r->n_not_judged);
	pm_json_add_i64(j, "algebraic", (int64_t)r->n_algebraic);
	pm_json_add_i64(j, "matched", (int64_t)count_matched(r));
	pm_json_add_i64(j, "correct", (int64_t)count_right(r));
	cJSON_AddNumberToObject(j, "speedup", mean_speedup(r));
	add_scores(j, r);
	if (r->opts.timings)
		cJSON_AddItemToObject(j, "timings", pm_eval_timings_json(r));
	list = cJSON_AddArrayToObject(j, "records");
	for (size_t i = 0; i < r->n; i++) {
		cJSON *record = pm_eval_record_json(&r->rec[i]);

		if (r->opts.timings)
			cJSON_AddItemToObject(record, "timings", pm_stage_times_json(&r->rec[i].stages));
		if (r->rec[i].products.n || r->rec[i].products.refused)
			cJSON_AddItemToObject(record, "products", pm_products_json(&r->rec[i].products));
		cJSON_AddItemToArray(list, record);
	}
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
		if (isfinite(r->timing.lo) &&
		    isfinite(r->timing.hi)) /* else a short clock had too few blocks */
			snprintf(interval, sizeof interval, "%.3f-%.3f", r->timing.lo, r->timing.hi);
		if (isfinite(r->timing.replay_speedup)) /* else one of the two is below what the clock can
							   tell */
			snprintf(replay, sizeof replay, "%.2fx", r->timing.replay_speedup);
		if (isfinite(r->timing.wall_speedup)) /* else it is a first answer */
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

/* Other sentences have numbers that differ from variant to variant; why nothing matched does not. */
static int same_story(const PmEvalRecord *a, const PmEvalRecord *b)
{
	return a->verdict == b->verdict && (a->verdict != PM_VERDICT_NO_MATCH || !strcmp(a->why, b->why));
}

/* Each different sentence once, with the first variant that has it. */
static void sentences(const PmEvalReport *r, PmStr *out)
{
	for (size_t i = 0; i < r->n; i++) {
		const PmEvalRecord *e = &r->rec[i];
		size_t same = 0, k = 0;

		if (!*e->why)
			continue;
		while (k < i && !same_story(&r->rec[k], e))
			k++;
		if (k < i)
			continue;
		for (size_t q = i; q < r->n; q++)
			same += same_story(&r->rec[q], e);
		pm_str_addf(out, "  %s (%s%s): %s\n", pm_verdict_name(e->verdict), e->label,
			    same > 1 ? " and others" : "", e->why);
		if (e->near_miss && *e->near_miss)
			pm_str_addf(out, "    nearest: %s\n", e->near_miss);
	}
}

/* Conditions of the graph that no input made true, or false: a pass may be wrong there. */
static void branches(const PmEvalReport *r, PmStr *out)
{
	for (size_t i = 0; i < r->n; i++) {
		const PmEvalReached *x = &r->rec[i].reached;

		if (x->n_not_taken)
			pm_str_addf(out, "  Not tried (%s): ", r->rec[i].label);
		for (int k = 0; k < x->n_not_taken && k < PM_EVAL_BRANCHES; k++)
			pm_str_addf(out, "%s%s", k ? "; " : "", x->not_taken[k]);
		if (x->n_not_taken) {
			if (x->n_not_taken > PM_EVAL_BRANCHES)
				pm_str_addf(out, "; and %d more", x->n_not_taken - PM_EVAL_BRANCHES);
			pm_str_addf(out, ".\n");
			return;
		}
	}
}

/* Which variant, which inputs, and all that nobody has looked at. */
static void first_answer(const PmEvalReport *r, PmStr *out)
{
	const PmEvalRecord *e = r->rec;

	pm_str_addf(out, "  A first answer (--quick), without a score:");
	if (e->n_first)
		pm_str_addf(out, " '%s' was run on inputs", e->label);
	for (int i = 0; i < e->n_first; i++)
		pm_str_addf(out, "%s %s", i ? "," : "", pm_input_class_name(e->first[i]));
	if (e->n_first)
		pm_str_addf(out, ", with alternative %d.", e->alternative);
	else
		pm_str_addf(out, " '%s' was not run to an end.", e->label);
	pm_str_addc(out, '\n');
	for (int i = 0; i < e->unchecked.n && i < PM_EVAL_UNCHECKED; i++)
		pm_str_addf(out, "%s%s", i ? "; " : "  Not checked: ", e->unchecked.what[i]);
	if (e->unchecked.n > PM_EVAL_UNCHECKED)
		pm_str_addf(out, "; and %d more", e->unchecked.n - PM_EVAL_UNCHECKED);
	if (e->unchecked.n)
		pm_str_add(out, ".\n");
}

/* What was judged on some blocks of its kernel. */
static void sampled(const PmEvalReport *r, PmStr *out)
{
	for (size_t i = 0; i < r->n; i++) {
		const PmEvalSampled *s = &r->rec[i].sampled;

		if (s->blocks)
			pm_str_addf(
				out,
				"  Sampled (%s): %lld of %lld blocks ran in each run, and %lld elements were "
				"judged on all inputs together (a result has %lld); calls were not "
				"rehearsed. On a GPU, and with --deadline 0, all blocks run.\n",
				r->rec[i].label, (long long)s->blocks, (long long)s->of,
				(long long)s->elements, (long long)s->of_elements);
	}
}

/* Where kernels were not counted, bytes and operations alone made the time. */
static void not_counted(const PmEvalReport *r, PmStr *out)
{
	for (size_t i = 0; i < r->n; i++)
		if (*r->rec[i].not_counted)
			pm_str_addf(out,
				    "  The modelled time of %s is by bytes and operations alone, since "
				    "accesses were "
				    "not counted: %s\n",
				    r->rec[i].label, r->rec[i].not_counted);
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
	branches(r, out);
	sampled(r, out);
	not_counted(r, out);
	if (r->n_not_judged)
		pm_str_addf(out, "  Not judged, and no part of the score: %zu of %zu variants.\n",
			    r->n_not_judged, r->n);
	if (r->hidden.verdict != PM_VERDICT_OK)
		pm_str_addf(out, "  %s, so that no variant counts as right: %s\n",
			    pm_verdict_name(r->hidden.verdict), r->hidden.why);
	if (r->n_algebraic)
		pm_str_addf(out,
			    "  Stratum algebraic: clean-up alone (passmith simplify) makes %zu of %zu "
			    "variants faster; "
			    "what is gained there may need no kernel.\n",
			    r->n_algebraic, r->n);
	if (r->opts.first_answer && r->n)
		first_answer(r, out);
	if (r->printed)
		pm_str_add(
			out,
			"  A debugging run: kernels may print, so that this has no score and is not kept.\n");
	if (r->replayed)
		pm_str_addf(
			out,
			"  Replayed: what was drawn is an earlier report's, so that this has no score. %zu "
			"of %zu verdicts are those of the report.\n",
			r->n_agree, r->n);
	if (r->n_left_out)
		pm_str_addf(out, "  A part: %zu more variants were left out, so that this has no score.\n",
			    r->n_left_out);
	if (*r->sandbox_lacks)
		pm_str_addf(out, "  The sandbox of this machine lacks: %s (passmith doctor).\n",
			    r->sandbox_lacks);
}

void pm_eval_timings_table(const PmEvalReport *r, PmStr *out)
{
	PmStageTimes t;
	size_t n = pm_eval_stage_times(r, &t);
	char name[64];

	pm_str_addf(out, "pass %s, ", pass_name(r, name));
	pm_stage_times_table(&t, n, out);
	pm_products_line(r, out);
	if (r->jobs > 1)
		pm_str_addf(out,
			    "  These are the seconds of all processes together; %d at once took %.3f s.\n",
			    r->jobs, r->wall_seconds);
}

void pm_eval_summary_table(const PmEvalReport *r, size_t n, PmStr *out)
{
	pm_str_addf(out, "  %-24s %9s %9s %8s %8s %8s %8s %8s\n", "pass", "match", "correct", "speed",
		    "ES(-5)", "ES(0)", "ES(1)", "AS");
	for (size_t i = 0; i < n; i++) {
		char name[64], match[32], correct[32], speed[32] = "-";
		double mean = mean_speedup(&r[i]);

		snprintf(match, sizeof match, "%zu/%zu", count_matched(&r[i]), r[i].n);
		snprintf(correct, sizeof correct, "%zu/%zu", count_right(&r[i]), r[i].n);
		if (mean > 0)
			snprintf(speed, sizeof speed, "%.2fx", mean);
		pm_str_addf(out, "  %-24.24s %9s %9s %8s ", pass_name(&r[i], name), match, correct, speed);
		if (r[i].printed)
			pm_str_add(out, "debugging, no score\n");
		else if (r[i].opts.first_answer)
			pm_str_add(out, "a first answer, no score\n");
		else if (r[i].replayed)
			pm_str_add(out, "replayed, no score\n");
		else if (r[i].n_left_out)
			pm_str_add(out, "a part, no score\n");
		else
			pm_str_addf(out, "%8.3f %8.3f %8.3f %8.3f\n", r[i].score.es[5], r[i].score.es[10],
				    r[i].score.es[11], r[i].score.as);
	}
}
