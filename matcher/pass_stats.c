/* pass_stats.c - rules and their statistics as JSON, back from untrusted JSON, and as a report. */
#include "matcher/pass_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DOC = 256, MAX_PATTERN_TEXT = 16384 };

static char *clean_copy(const char *s, size_t max)
{
	size_t n = strnlen(s, max);
	char *out = pm_xmalloc(n + 1);

	pm_clean(s, out, n + 1, 0);
	return out;
}

/* ---- writing ---- */

static void stats_to_json(const PmRuleStats *st, cJSON *o)
{
	cJSON *list;

	pm_json_add_i64(o, "tried", st->tried);
	pm_json_add_i64(o, "rejected", st->rejected);
	pm_json_add_i64(o, "matched", st->matched);
	pm_json_add_i64(o, "declined", st->declined);
	pm_json_add_i64(o, "applied", st->applied);
	pm_json_add_i64(o, "failed", st->failed);
	list = cJSON_AddArrayToObject(o, "reasons");
	for (size_t i = 0; i < st->n_reasons; i++) {
		cJSON *r = cJSON_CreateObject();

		cJSON_AddStringToObject(r, "text", st->reason[i].text);
		pm_json_add_i64(r, "count", st->reason[i].count);
		cJSON_AddItemToArray(list, r);
	}
	list = cJSON_AddArrayToObject(o, "misses");
	for (size_t i = 0; i < st->n_misses; i++) {
		cJSON *m = cJSON_CreateObject();

		cJSON_AddNumberToObject(m, "depth", st->miss[i].depth);
		cJSON_AddNumberToObject(m, "of", st->miss[i].of);
		cJSON_AddStringToObject(m, "text", st->miss[i].text);
		cJSON_AddItemToArray(list, m);
	}
}

void pm__rule_to_json(const PmRuleEntry *rule, const PmRuleStats *st, cJSON *list)
{
	cJSON *o = cJSON_CreateObject();
	PmStr pattern = PM_STR_INIT;

	if (rule->pattern)
		pm_pattern_print(rule->pattern, &pattern);
	cJSON_AddStringToObject(o, "name", rule->name);
	cJSON_AddStringToObject(o, "doc", rule->doc);
	cJSON_AddStringToObject(o, "pattern", pattern.s);
	cJSON_AddNumberToObject(o, "benefit", rule->benefit);
	if (st)
		stats_to_json(st, o);
	cJSON_AddItemToArray(list, o);
	pm_str_release(&pattern);
}

/* ---- reading what an untrusted process wrote ---- */

static int64_t count_of(const cJSON *o, const char *key)
{
	int64_t n = pm_json_i64(o, key, 0);

	return n < 0 ? 0 : n;
}

/* 1 when the list `key` of a rule has at most `most` elements. */
static int is_short(const cJSON *o, const char *key, int most, PmErr *err)
{
	int n = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(o, key));

	if (n > most)
		pm_err(err, PM_E_LIMIT,
		       "The answer of the pass process has %d %s for one rule; at most %d are read.", n, key,
		       most);
	return n <= most;
}

static PmStatus stats_from_json(const cJSON *o, PmRuleStats *st, PmErr *err)
{
	const cJSON *e;

	if (!is_short(o, "reasons", PM_MAX_REASONS, err) || !is_short(o, "misses", PM_MAX_MISSES, err))
		return PM_E_LIMIT;

	st->tried = count_of(o, "tried");
	st->rejected = count_of(o, "rejected");
	st->matched = count_of(o, "matched");
	st->declined = count_of(o, "declined");
	st->applied = count_of(o, "applied");
	st->failed = count_of(o, "failed");
	cJSON_ArrayForEach(e, cJSON_GetObjectItemCaseSensitive(o, "reasons"))
	{
		pm_clean(pm_json_str(e, "text", ""), st->reason[st->n_reasons].text,
			 sizeof st->reason[0].text, 0);
		st->reason[st->n_reasons++].count = count_of(e, "count");
	}
	cJSON_ArrayForEach(e, cJSON_GetObjectItemCaseSensitive(o, "misses"))
	{
		PmNearMiss *m = &st->miss[st->n_misses];

		pm_clean(pm_json_str(e, "text", ""), m->text, sizeof m->text, 0);
		m->depth = (uint32_t)(count_of(e, "depth") & 0xffff);
		m->of = (uint32_t)(count_of(e, "of") & 0xffff);
		st->n_misses++;
	}
	return PM_OK;
}

PmStatus pm__rules_from_json(const cJSON *list, PmPassOutcome *out, PmErr *err)
{
	int n = cJSON_GetArraySize(list);
	const cJSON *e;
	PmStatus st = PM_OK;

	if (!cJSON_IsArray(list) || n <= 0)
		return PM_OK;
	if (n > PM_MAX_RULES)
		return pm_err(err, PM_E_LIMIT,
			      "The answer of the pass process lists %d rules; a plugin has at most %d.", n,
			      (int)PM_MAX_RULES);
	out->rule = pm_xcalloc((size_t)n, sizeof *out->rule);
	cJSON_ArrayForEach(e, list)
	{
		PmPassRule *r = &out->rule[out->n_rules];
		double benefit = pm_json_num(e, "benefit", 0);

		if (st)
			break;
		r->doc = clean_copy(pm_json_str(e, "doc", ""), MAX_DOC);
		r->pattern = clean_copy(pm_json_str(e, "pattern", ""), MAX_PATTERN_TEXT);
		r->benefit = benefit > -1e9 && benefit < 1e9 ? (int32_t)benefit : 0;
		pm_clean(pm_json_str(e, "name", ""), r->stats.name, sizeof r->stats.name, 0);
		st = stats_from_json(e, &r->stats, err);
		out->n_rules++;
	}
	return st;
}

/* ---- outcomes ---- */

void pm_pass_outcome_release(PmPassOutcome *out)
{
	for (size_t i = 0; i < out->n_rules; i++) {
		free(out->rule[i].doc);
		free(out->rule[i].pattern);
	}
	free(out->rule);
	free(out->problems);
	free(out->output);
	pm_graph_free(out->graph);
	memset(out, 0, sizeof *out);
}

void pm_pass_outcome_json(const PmPassOutcome *out, cJSON *obj)
{
	cJSON *list;

	cJSON_AddStringToObject(obj, "verdict", pm_verdict_name(out->verdict));
	cJSON_AddStringToObject(obj, "message", out->message);
	cJSON_AddStringToObject(obj, "plugin", out->plugin);
	cJSON_AddStringToObject(obj, "version", out->version);
	cJSON_AddStringToObject(obj, "problems", out->problems ? out->problems : "");
	cJSON_AddStringToObject(obj, "output", out->output ? out->output : "");
	pm_json_add_i64(obj, "applied", out->applied);
	cJSON_AddNumberToObject(obj, "sweeps", out->sweeps);
	cJSON_AddNumberToObject(obj, "seconds", out->seconds);
	list = cJSON_AddArrayToObject(obj, "rules");
	for (size_t i = 0; i < out->n_rules; i++) {
		const PmPassRule *r = &out->rule[i];
		cJSON *o = cJSON_CreateObject();

		cJSON_AddStringToObject(o, "name", r->stats.name);
		cJSON_AddStringToObject(o, "doc", r->doc);
		cJSON_AddStringToObject(o, "pattern", r->pattern);
		cJSON_AddNumberToObject(o, "benefit", r->benefit);
		stats_to_json(&r->stats, o);
		cJSON_AddItemToArray(list, o);
	}
}

static void print_rule(const PmPassRule *r, PmStr *text)
{
	const PmRuleStats *st = &r->stats;

	pm_str_addf(text, "\nrule %s%s%s\n", st->name, *r->doc ? ": " : "", r->doc);
	if (*r->pattern)
		pm_str_addf(text, "  pattern   %s\n", r->pattern);
	pm_str_addf(text, "  tried %lld, matched %lld, declined %lld, applied %lld, failed %lld\n",
		    (long long)st->tried, (long long)st->matched, (long long)st->declined,
		    (long long)st->applied, (long long)st->failed);
	if (!st->tried && r->pattern[0] == '(')
		pm_str_addf(text, "  the graph has no %.*s node that is not fused already\n",
			    (int)strcspn(r->pattern + 1, " )"), r->pattern + 1);
	for (size_t i = 0; i < st->n_reasons; i++)
		pm_str_addf(text, "  declined  %lld x %s\n", (long long)st->reason[i].count,
			    st->reason[i].text);
	for (size_t i = 0; i < st->n_misses; i++)
		pm_str_addf(text, "  near miss %u of %u operators: %s\n", st->miss[i].depth, st->miss[i].of,
			    st->miss[i].text);
}

void pm_pass_outcome_print(const PmPassOutcome *out, PmStr *text)
{
	pm_str_addf(text, "%s%s%s: %s\n", *out->plugin ? out->plugin : "pass", *out->version ? " " : "",
		    out->version, pm_verdict_name(out->verdict));
	if (*out->message)
		pm_str_addf(text, "  %s\n", out->message);
	else
		pm_str_addf(text, "  %s\n", pm_verdict_meaning(out->verdict));
	if (out->problems && *out->problems)
		pm_str_add(text, out->problems);
	for (size_t i = 0; i < out->n_rules; i++)
		print_rule(&out->rule[i], text);
	if (out->output && *out->output)
		pm_str_addf(text, "\nThe pass wrote:\n%s\n", out->output);
}
