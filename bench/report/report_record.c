/* SPDX-License-Identifier: Apache-2.0 */
/* report_record.c - one record of an evaluation as JSON, and back. */
#include "base/core/renamed.h"
#include "bench/report/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
	pm_json_add_element(w, "expected", r->worst.expected);
	pm_json_add_element(w, "got", r->worst.got);
	cJSON_AddNumberToObject(w, "abs", r->worst.abs);
	cJSON_AddNumberToObject(w, "rel", r->worst.rel);
	cJSON_AddNumberToObject(w, "ulp", r->worst.ulp);
}

static void add_bound(cJSON *j, const PmEvalBound *b)
{
	cJSON *o = cJSON_AddObjectToObject(j, "bound");

	cJSON_AddStringToObject(o, "precision", pm_tier_name(b->tier));
	pm_json_add_old(o, "precision");
	cJSON_AddNumberToObject(o, "judged", b->n);
	cJSON_AddNumberToObject(o, "without", b->n_without);
	cJSON_AddNumberToObject(o, "rms", b->rms);
	cJSON_AddNumberToObject(o, "max", b->max);
	cJSON_AddNumberToObject(o, "bias", b->bias);
	cJSON_AddNumberToObject(o, "slope", b->slope);
	cJSON_AddNumberToObject(o, "silent", b->n_silent);
	cJSON_AddNumberToObject(o, "undecided", b->n_undecided);
}

static void bound_from_json(const cJSON *o, PmEvalBound *b)
{
	if (!o)
		return;
	b->tier = PM_TIER_NONE;
	pm_tier_from_name(pm_json_str(o, pm_json_key(o, "precision"), ""), &b->tier);
	b->n = (int)pm_json_i64(o, "judged", 0);
	b->n_without = (int)pm_json_i64(o, "without", 0);
	b->rms = pm_json_num(o, "rms", INFINITY);
	b->max = pm_json_num(o, "max", INFINITY);
	b->bias = pm_json_num(o, "bias", INFINITY);
	b->slope = pm_json_num(o, "slope", INFINITY);
	b->n_silent = (int)pm_json_i64(o, "silent", 0);
	b->n_undecided = (int)pm_json_i64(o, "undecided", 0);
}

/* The clock's figures as name and place: one list for writing and reading. */
#define TIMING_FIGURES(XX)                                                                                   \
	XX("speedup_lo", lo)                                                                                 \
	XX("speedup_hi", hi)                                                                                 \
	XX("control", control)                                                                               \
	XX("control_lo", control_lo)                                                                         \
	XX("control_hi", control_hi)                                                                         \
	XX("replay_speedup", replay_speedup)                                                                 \
	XX("replay_baseline_seconds", replay[0])                                                             \
	XX("replay_candidate_seconds", replay[1])                                                            \
	XX("wall_speedup", wall_speedup)                                                                     \
	XX("wall_baseline_seconds", wall[0])                                                                 \
	XX("wall_candidate_seconds", wall[1])                                                                \
	XX("outside_seconds", outside)

/* The figures of the GPU in the same way; all are integers. */
#define GPU_FIGURES(XX)                                                                                      \
	XX("looks", looks)                                                                                   \
	XX("sm_mhz_low", sm_mhz[0])                                                                          \
	XX("sm_mhz_high", sm_mhz[1])                                                                         \
	XX("memory_mhz_low", memory_mhz[0])                                                                  \
	XX("memory_mhz_high", memory_mhz[1])                                                                 \
	XX("celsius", celsius)                                                                               \
	XX("slowed", slowed)                                                                                 \
	XX("other_processes", others)                                                                        \
	XX("persistence", persistence)

static void add_gpu(cJSON *j, const PmGpuSeen *g)
{
	cJSON *o = cJSON_AddObjectToObject(j, "gpu");
	char text[128];

	cJSON_AddBoolToObject(o, "known", g->known);
	cJSON_AddStringToObject(o, "why", g->why);
	cJSON_AddStringToObject(o, "driver", g->driver);
	if (*g->uuid)
		cJSON_AddStringToObject(o, "uuid", g->uuid);
	if (*g->uuid && g->index >= 0)
		cJSON_AddNumberToObject(o, "index", g->index);
	pm_gpu_slowed_text(g->slowed, text, sizeof text);
	cJSON_AddStringToObject(o, "slowed_by", g->known ? text : "unknown");
#define XX(name, place) pm_json_add_i64(o, name, (int64_t)g->place);
	GPU_FIGURES(XX)
#undef XX
}

static void gpu_from_json(const cJSON *o, PmGpuSeen *g)
{
	if (!o)
		return;
	g->known = cJSON_IsTrue(cJSON_GetObjectItem(o, "known"));
	snprintf(g->why, sizeof g->why, "%s", pm_json_str(o, "why", ""));
	snprintf(g->driver, sizeof g->driver, "%s", pm_json_str(o, "driver", ""));
	snprintf(g->uuid, sizeof g->uuid, "%s", pm_json_str(o, "uuid", ""));
	g->index = (int)pm_json_i64(o, "index", -1);
#define XX(name, place) g->place = (int)pm_json_i64(o, name, 0);
	GPU_FIGURES(XX)
#undef XX
}

/* What a speedup is of the blocks' ratios. Records of before 0.4.0 do not say so: it was the median. */
static const char by_median[] = "median", by_signed_ranks[] = "signed ranks";

/* Calls that were timed or rehearsed, and what became of them. */
static void add_calls(cJSON *j, const PmEvalTiming *t)
{
	cJSON *o = cJSON_AddObjectToObject(j, "calls");

	cJSON_AddNumberToObject(o, "made", t->calls);
	cJSON_AddNumberToObject(o, "replayed", t->replayed);
	cJSON_AddNumberToObject(o, "compared", t->compared);
	cJSON_AddNumberToObject(o, "projected", t->projected);
	cJSON_AddNumberToObject(o, "checked", t->checked);
}

static void calls_from_json(const cJSON *o, PmEvalTiming *t)
{
	t->calls = (int)pm_json_i64(o, "made", 0);
	t->replayed = (int)pm_json_i64(o, "replayed", 0);
	t->compared = (int)pm_json_i64(o, "compared", 0);
	t->projected = (int)pm_json_i64(o, "projected", 0);
	t->checked = (int)pm_json_i64(o, "checked", 0);
}

static void add_timing(cJSON *j, const PmEvalTiming *t)
{
	cJSON *o = cJSON_AddObjectToObject(j, "clock");

	cJSON_AddStringToObject(o, "machine", t->machine);
	cJSON_AddNumberToObject(o, "blocks", t->blocks);
	cJSON_AddStringToObject(o, "claim", pm_claim_name(pm_timer_claim(t->lo, t->hi)));
	cJSON_AddStringToObject(o, "estimator", t->by_median ? by_median : by_signed_ranks);
#define XX(name, place) cJSON_AddNumberToObject(o, name, t->place);
	TIMING_FIGURES(XX)
#undef XX
	cJSON_AddNumberToObject(o, "runs", t->runs);
	cJSON_AddItemToObject(o, "found", cJSON_CreateDoubleArray(t->found, t->runs));
	cJSON_AddBoolToObject(o, "baseline_host_bound", t->host_bound[0]);
	cJSON_AddBoolToObject(o, "candidate_host_bound", t->host_bound[1]);
	add_gpu(o, &t->gpu);
}

static void timing_from_json(const cJSON *o, PmEvalTiming *t)
{
	if (!o)
		return;
	snprintf(t->machine, sizeof t->machine, "%s", pm_json_str(o, "machine", ""));
	t->blocks = (int)pm_json_i64(o, "blocks", 0);
	t->by_median = strcmp(pm_json_str(o, "estimator", by_median), by_median) == 0;
#define XX(name, place) t->place = pm_json_num(o, name, NAN);
	TIMING_FIGURES(XX)
#undef XX
	t->runs = (int)pm_json_i64(o, "runs", 1);
	t->runs = t->runs < 0 || t->runs > 3 ? 0 : t->runs;
	for (int i = 0; i < t->runs; i++) {
		const cJSON *x = cJSON_GetArrayItem(cJSON_GetObjectItem(o, "found"), i);

		t->found[i] = cJSON_IsNumber(x) ? x->valuedouble : NAN;
	}
	t->host_bound[0] = cJSON_IsTrue(cJSON_GetObjectItem(o, "baseline_host_bound"));
	t->host_bound[1] = cJSON_IsTrue(cJSON_GetObjectItem(o, "candidate_host_bound"));
	gpu_from_json(cJSON_GetObjectItem(o, "gpu"), &t->gpu);
}

static void add_kinds(cJSON *j, const char *key, unsigned kinds)
{
	cJSON *list = cJSON_AddArrayToObject(j, key);

	for (int k = 0; k < PM_N_VALUE_KINDS; k++)
		if (kinds >> k & 1)
			cJSON_AddItemToArray(list, cJSON_CreateString(pm_kind_name(k)));
}

/* What each class of inputs reached, and which ways no input went. */
static void add_reached(cJSON *j, const PmEvalReached *r)
{
	cJSON *list = cJSON_AddArrayToObject(j, "classes"), *ways;

	for (int c = 0; c < PM_N_ALL_CLASSES; c++) {
		const PmReached *x = &r->of[c];
		cJSON *o;

		if (!x->drawn)
			continue;
		o = cJSON_CreateObject();
		cJSON_AddItemToArray(list, o);
		cJSON_AddStringToObject(o, "class", pm_input_class_name((PmInputClass)c));
		cJSON_AddBoolToObject(o, "left_out", x->drawn == 2);
		cJSON_AddBoolToObject(o, "measured", x->measured);
		cJSON_AddNumberToObject(o, "largest_input", x->in_most);
		add_kinds(o, "in_inputs", x->in);
		cJSON_AddNumberToObject(o, "largest", x->most);
		add_kinds(o, "in_results", x->inside);
		add_kinds(o, "kinds_left_out", x->left);
		cJSON_AddStringToObject(o, "why", x->why);
	}
	pm_json_add_i64(j, "n_branches_not_taken", r->n_not_taken);
	ways = cJSON_AddArrayToObject(j, "branches_not_taken");
	for (int k = 0; k < r->n_not_taken && k < PM_EVAL_BRANCHES; k++)
		cJSON_AddItemToArray(ways, cJSON_CreateString(r->not_taken[k]));
}

/* What a first answer is of; absent in a whole record. */
static void add_first(cJSON *j, const PmEvalRecord *r)
{
	cJSON *o, *list;

	if (!r->n_first)
		return;
	o = cJSON_AddObjectToObject(j, "first_answer");
	list = cJSON_AddArrayToObject(o, "inputs");
	for (int k = 0; k < r->n_first; k++)
		cJSON_AddItemToArray(list, cJSON_CreateString(pm_input_class_name(r->first[k])));
	cJSON_AddNumberToObject(o, "alternative", r->alternative);
}

/* What was left out, at the deadline or of a first answer; absent where all was checked. */
static void add_unchecked(cJSON *j, const PmEvalUnchecked *u)
{
	cJSON *o, *list;

	if (!u->n)
		return;
	o = cJSON_AddObjectToObject(j, "not_checked");
	pm_json_add_i64(o, "n", u->n);
	list = cJSON_AddArrayToObject(o, "what");
	for (int k = 0; k < u->n && k < PM_EVAL_UNCHECKED; k++)
		cJSON_AddItemToArray(list, cJSON_CreateString(u->what[k]));
}

/* Where some blocks of a kernel were judged; absent where all ran. */
static void add_sampled(cJSON *j, const PmEvalSampled *s)
{
	cJSON *o;

	if (!s->blocks)
		return;
	o = cJSON_AddObjectToObject(j, "sampled");
	pm_json_add_i64(o, "blocks", s->blocks);
	pm_json_add_i64(o, "of_blocks", s->of);
	pm_json_add_i64(o, "elements", s->elements);
	pm_json_add_i64(o, "of_elements", s->of_elements);
}

static void sampled_from_json(const cJSON *o, PmEvalSampled *s)
{
	s->blocks = pm_json_i64(o, "blocks", 0);
	s->of = pm_json_i64(o, "of_blocks", 0);
	s->elements = pm_json_i64(o, "elements", 0);
	s->of_elements = pm_json_i64(o, "of_elements", 0);
}

static void unchecked_from_json(const cJSON *o, PmEvalUnchecked *u)
{
	const cJSON *list = cJSON_GetObjectItem(o, "what");
	int n = 0;

	for (const cJSON *w = list ? list->child : NULL; w && n < PM_EVAL_UNCHECKED; w = w->next)
		if (cJSON_IsString(w))
			snprintf(u->what[n++], sizeof u->what[0], "%s", w->valuestring);
	u->n = (int)pm_json_i64(o, "n", 0);
	u->n = u->n < n ? n : u->n;
}

static unsigned kinds_from_json(const cJSON *list)
{
	unsigned kinds = 0;

	for (const cJSON *x = list ? list->child : NULL; x; x = x->next)
		for (int k = 0; k < PM_N_VALUE_KINDS; k++)
			if (cJSON_IsString(x) && !strcmp(x->valuestring, pm_kind_name(k)))
				kinds |= 1u << k;
	return kinds;
}

static void reached_from_json(const cJSON *j, PmEvalReached *r)
{
	const cJSON *list = cJSON_GetObjectItem(j, "classes");
	const cJSON *ways = cJSON_GetObjectItem(j, "branches_not_taken");
	int n = 0;

	for (const cJSON *o = list ? list->child : NULL; o; o = o->next)
		for (int c = 0; c < PM_N_ALL_CLASSES; c++) {
			PmReached *x = &r->of[c];

			if (strcmp(pm_json_str(o, "class", ""), pm_input_class_name((PmInputClass)c)) != 0)
				continue;
			x->drawn = cJSON_IsTrue(cJSON_GetObjectItem(o, "left_out")) ? 2 : 1;
			x->measured = cJSON_IsTrue(cJSON_GetObjectItem(o, "measured"));
			x->in_most = pm_json_num(o, "largest_input", 0);
			x->in = kinds_from_json(cJSON_GetObjectItem(o, "in_inputs"));
			x->most = pm_json_num(o, "largest", 0);
			x->inside = kinds_from_json(cJSON_GetObjectItem(o, "in_results"));
			x->left = kinds_from_json(cJSON_GetObjectItem(o, "kinds_left_out"));
			snprintf(x->why, sizeof x->why, "%s", pm_json_str(o, "why", ""));
		}
	r->n_not_taken = (int)pm_json_i64(j, "n_branches_not_taken", 0);
	for (const cJSON *w = ways ? ways->child : NULL; w && n < PM_EVAL_BRANCHES; w = w->next)
		if (cJSON_IsString(w))
			snprintf(r->not_taken[n++], PM_BRANCH, "%s", w->valuestring);
	r->n_not_taken = r->n_not_taken < n ? n : r->n_not_taken;
}

static void add_code(cJSON *j, const PmCodeDigests *c)
{
	cJSON *o = cJSON_AddObjectToObject(j, "code");

	cJSON_AddStringToObject(o, "sources", c->sources);
	cJSON_AddStringToObject(o, "ptx", c->ptx);
	cJSON_AddStringToObject(o, "cubin", c->cubin);
}

static void code_from_json(const cJSON *o, PmCodeDigests *out)
{
	snprintf(out->sources, sizeof out->sources, "%s", pm_json_str(o, "sources", ""));
	snprintf(out->ptx, sizeof out->ptx, "%s", pm_json_str(o, "ptx", ""));
	snprintf(out->cubin, sizeof out->cubin, "%s", pm_json_str(o, "cubin", ""));
}

cJSON *pm_eval_record_json(const PmEvalRecord *r)
{
	cJSON *j = cJSON_CreateObject(), *outs, *failure;

	cJSON_AddStringToObject(j, "variant", r->label);
	cJSON_AddStringToObject(j, "verdict", pm_verdict_name(r->verdict));
	cJSON_AddStringToObject(j, "stage", pm_eval_stage(r));
	cJSON_AddStringToObject(j, "why", r->why);
	if (r->near_miss)
		cJSON_AddStringToObject(j, "near_miss", r->near_miss);
	if (r->explained)
		cJSON_AddRawToObject(j, "explained", r->explained);
	cJSON_AddNumberToObject(j, "applied", r->n_applied);
	cJSON_AddNumberToObject(j, "kernels", r->n_kernels);
	cJSON_AddNumberToObject(j, "coverage", r->coverage);
	cJSON_AddNumberToObject(j, "smallest_t", r->smallest_t);
	outs = cJSON_AddArrayToObject(j, "outputs");
	for (size_t i = 0; i < r->n_outputs; i++)
		cJSON_AddItemToArray(outs, output_json(&r->outputs[i]));
	add_worst(j, r);
	failure = pm_failure_json(&r->failure, r->label);
	if (failure)
		cJSON_AddItemToObject(j, "failure", failure);
	if (r->bound.n)
		add_bound(j, &r->bound);
	add_reached(j, &r->reached);
	add_first(j, r);
	add_unchecked(j, &r->unchecked);
	add_sampled(j, &r->sampled);
	cJSON_AddNumberToObject(j, "alternative", r->alternative);
	cJSON_AddStringToObject(j, "plan", r->plan);
	cJSON_AddStringToObject(j, "time", r->measured ? "measured" : "modelled");
	if (r->counted_launches)
		cJSON_AddNumberToObject(j, "counted_launches", r->counted_launches);
	if (*r->not_counted)
		cJSON_AddStringToObject(j, "not_counted", r->not_counted);
	cJSON_AddNumberToObject(j, "speedup", r->speedup);
	cJSON_AddNumberToObject(j, "baseline_seconds", r->baseline_seconds);
	cJSON_AddNumberToObject(j, "candidate_seconds", r->candidate_seconds);
	cJSON_AddNumberToObject(j, "baseline_launches", r->baseline_launches);
	cJSON_AddNumberToObject(j, "candidate_launches", r->candidate_launches);
	pm_json_add_i64(j, "baseline_bytes", r->baseline_bytes);
	pm_json_add_i64(j, "candidate_bytes", r->candidate_bytes);
	cJSON_AddStringToObject(j, "secret", r->secret);
	cJSON_AddStringToObject(j, "inputs", r->inputs);
	add_code(j, &r->code);
	if (r->unread_cc)
		cJSON_AddNumberToObject(j, "machine_code_not_read_on_sm", r->unread_cc);
	cJSON_AddNumberToObject(j, "wall_seconds", r->wall_seconds);
	add_calls(j, &r->timing);
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

static void explained_from_json(const cJSON *o, PmEvalRecord *out)
{
	PmStr text = PM_STR_INIT;

	if (!cJSON_IsObject(o))
		return;
	pm_json_print(o, 0, &text);
	out->explained = pm_str_detach(&text, NULL);
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
	explained_from_json(cJSON_GetObjectItem(j, "explained"), out);
	out->n_applied = (int)pm_json_i64(j, "applied", 0);
	out->n_kernels = (int)pm_json_i64(j, "kernels", 0);
	out->coverage = pm_json_num(j, "coverage", 0);
	out->smallest_t = (int)pm_json_i64(j, "smallest_t", PM_T_NEVER);
	pm_failure_from_json(cJSON_GetObjectItem(j, "failure"), &out->failure);
	bound_from_json(cJSON_GetObjectItem(j, "bound"), &out->bound);
	reached_from_json(j, &out->reached);
	unchecked_from_json(cJSON_GetObjectItem(j, "not_checked"), &out->unchecked);
	sampled_from_json(cJSON_GetObjectItem(j, "sampled"), &out->sampled);
	out->worst.index = w ? pm_json_i64(w, "index", -1) : -1;
	if (w) {
		snprintf(out->worst_where, sizeof out->worst_where, "%s", pm_json_str(w, "where", ""));
		out->worst.expected = pm_json_element(w, "expected");
		out->worst.got = pm_json_element(w, "got");
		out->worst.abs = pm_json_num(w, "abs", NAN);
		out->worst.rel = pm_json_num(w, "rel", NAN);
		out->worst.ulp = pm_json_num(w, "ulp", NAN);
	}
	out->alternative = (int)pm_json_i64(j, "alternative", 0);
	out->counted_launches = (int)pm_json_i64(j, "counted_launches", 0);
	snprintf(out->not_counted, sizeof out->not_counted, "%s", pm_json_str(j, "not_counted", ""));
	snprintf(out->plan, sizeof out->plan, "%s", pm_json_str(j, "plan", ""));
	out->measured = pm_str_eq(pm_json_str(j, "time", ""), "measured");
	out->speedup = pm_json_num(j, "speedup", NAN);
	out->baseline_seconds = pm_json_num(j, "baseline_seconds", 0);
	out->candidate_seconds = pm_json_num(j, "candidate_seconds", 0);
	out->baseline_launches = (int)pm_json_i64(j, "baseline_launches", 0);
	out->candidate_launches = (int)pm_json_i64(j, "candidate_launches", 0);
	out->baseline_bytes = pm_json_i64(j, "baseline_bytes", 0);
	out->candidate_bytes = pm_json_i64(j, "candidate_bytes", 0);
	out->wall_seconds = pm_json_num(j, "wall_seconds", 0);
	snprintf(out->secret, sizeof out->secret, "%s", pm_json_str(j, "secret", ""));
	snprintf(out->inputs, sizeof out->inputs, "%s", pm_json_str(j, "inputs", ""));
	code_from_json(cJSON_GetObjectItem(j, "code"), &out->code);
	out->unread_cc = (int)pm_json_i64(j, "machine_code_not_read_on_sm", 0);
	calls_from_json(cJSON_GetObjectItem(j, "calls"), &out->timing);
	timing_from_json(cJSON_GetObjectItem(j, "clock"), &out->timing);
	st = outputs_from_json(cJSON_GetObjectItem(j, "outputs"), out, err);
	if (st)
		pm_eval_record_release(out);
	return st;
}

const char *pm_eval_stage(const PmEvalRecord *r)
{
	PmVerdictStage stage = pm_verdict_stage(r->verdict);

	if (stage == PM_VERDICT_STAGE_SPEED || r->measured)
		return "speed";
	if (stage == PM_VERDICT_STAGE_INPUTS)
		return "inputs";
	return r->n_kernels > 0 ? "correctness" : "match";
}
