/* SPDX-License-Identifier: Apache-2.0 */
/* pass_stats.c - rules and their statistics as JSON, back from untrusted JSON, and as a report. */
#include "matcher/host/pass_job.h"

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

/* The same of several lines. */
static char *clean_lines(const char *s, size_t max)
{
	size_t n = strnlen(s, max);
	char *out = pm_xmalloc(n + 1);

	pm_clean(s, out, n + 1, 1);
	return out;
}

/* ---- writing ---- */

static void miss_to_json(const PmNearMiss *m, cJSON *o)
{
	cJSON_AddNumberToObject(o, "depth", m->depth);
	cJSON_AddNumberToObject(o, "of", m->of);
	cJSON_AddStringToObject(o, "text", m->text);
	cJSON_AddStringToObject(o, "node", m->node);
	if (m->operand >= 0)
		cJSON_AddNumberToObject(o, "operand", m->operand);
	cJSON_AddStringToObject(o, "field", m->field);
	cJSON_AddStringToObject(o, "expected", m->expected);
	cJSON_AddStringToObject(o, "actual", m->actual);
}

static void stats_to_json(const PmRuleStats *st, cJSON *o)
{
	cJSON *list;

	cJSON_AddBoolToObject(o, "ran", st->ran);
	pm_json_add_i64(o, "roots", st->roots);
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
		cJSON_AddStringToObject(r, "node", st->reason[i].node);
		cJSON_AddItemToArray(list, r);
	}
	list = cJSON_AddArrayToObject(o, "misses");
	for (size_t i = 0; i < st->n_misses; i++) {
		cJSON *m = cJSON_CreateObject();

		miss_to_json(&st->miss[i], m);
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

	st->ran = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, "ran"));
	st->roots = count_of(o, "roots");
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
		pm_clean(pm_json_str(e, "node", ""), st->reason[st->n_reasons].node,
			 sizeof st->reason[0].node, 0);
		st->reason[st->n_reasons++].count = count_of(e, "count");
	}
	cJSON_ArrayForEach(e, cJSON_GetObjectItemCaseSensitive(o, "misses"))
	{
		PmNearMiss *m = &st->miss[st->n_misses];

		pm_clean(pm_json_str(e, "text", ""), m->text, sizeof m->text, 0);
		pm_clean(pm_json_str(e, "node", ""), m->node, sizeof m->node, 0);
		pm_clean(pm_json_str(e, "field", ""), m->field, sizeof m->field, 0);
		pm_clean(pm_json_str(e, "expected", ""), m->expected, sizeof m->expected, 0);
		pm_clean(pm_json_str(e, "actual", ""), m->actual, sizeof m->actual, 0);
		m->operand = (int32_t)(pm_json_i64(e, "operand", -1) & 0xffff);
		if (!cJSON_GetObjectItemCaseSensitive(e, "operand"))
			m->operand = -1;
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

/* ---- reports ---- */

static void report_to_json(const char *rule, const char *node, const char *text, cJSON *list)
{
	cJSON *o = cJSON_CreateObject();

	cJSON_AddStringToObject(o, "rule", rule);
	cJSON_AddStringToObject(o, "node", node);
	cJSON_AddStringToObject(o, "text", text);
	cJSON_AddItemToArray(list, o);
}

void pm__reports_to_json(const PmRules *rules, const PmDriverResult *res, cJSON *o)
{
	cJSON *list = cJSON_AddArrayToObject(o, "reports");

	for (size_t i = 0; i < res->report.n; i++) {
		const PmReport *r = &res->report.v[i];

		report_to_json(rules->v.v[r->rule].name, r->node, r->text, list);
	}
}

PmStatus pm__reports_from_json(const cJSON *list, PmPassOutcome *out, PmErr *err)
{
	int n = cJSON_GetArraySize(list);
	const cJSON *e;

	if (!cJSON_IsArray(list) || n <= 0)
		return PM_OK;
	if (n > PM_MAX_REPORTS)
		return pm_err(err, PM_E_LIMIT,
			      "The answer of the pass process has %d reports; at most %d are read.", n,
			      (int)PM_MAX_REPORTS);
	out->report = pm_xcalloc((size_t)n, sizeof *out->report);
	cJSON_ArrayForEach(e, list)
	{
		PmPassReport *r = &out->report[out->n_reports++];

		r->rule = clean_copy(pm_json_str(e, "rule", ""), PM_MAX_RULE_NAME);
		r->node = clean_copy(pm_json_str(e, "node", ""), PM_MAX_MISS_FIELD);
		r->text = clean_lines(pm_json_str(e, "text", ""), PM_MAX_REPORT);
	}
	return PM_OK;
}

/* ---- what a pass expects ---- */

cJSON *pm__expected_to_json(const PmExpected *e, size_t n)
{
	cJSON *list = cJSON_CreateArray();

	for (size_t i = 0; i < n; i++) {
		cJSON *o = cJSON_CreateObject();

		cJSON_AddStringToObject(o, "value", e[i].value);
		cJSON_AddBoolToObject(o, "fused", e[i].fused);
		cJSON_AddItemToObject(o, "us", cJSON_CreateDoubleArray(e[i].us, (int)e[i].n));
		cJSON_AddItemToArray(list, o);
	}
	return list;
}

cJSON *pm__expected_from_json(const cJSON *list)
{
	cJSON *out = cJSON_IsArray(list) ? cJSON_CreateArray() : NULL;
	const cJSON *e, *x;
	int n = 0;

	cJSON_ArrayForEach(e, list)
	{
		cJSON *o = cJSON_CreateObject(), *us;
		char value[PM_CLEAN_QUOTED];
		int trials = 0;

		if (n++ >= PM_MAX_EXPECTED) {
			cJSON_Delete(o);
			break;
		}
		pm_clean(pm_json_str(e, "value", ""), value, sizeof value, 0);
		cJSON_AddStringToObject(o, "value", value);
		cJSON_AddBoolToObject(o, "fused", cJSON_IsTrue(cJSON_GetObjectItem(e, "fused")));
		us = cJSON_AddArrayToObject(o, "us");
		cJSON_ArrayForEach(x, cJSON_GetObjectItem(e, "us"))
		{
			if (trials++ > PM_MAX_TRIALS)
				break;
			cJSON_AddItemToArray(us, cJSON_CreateNumber(cJSON_IsNumber(x) ? x->valuedouble : 0));
		}
		cJSON_AddItemToArray(out, o);
	}
	return out;
}

/* ---- outcomes ---- */

void pm_pass_outcome_release(PmPassOutcome *out)
{
	for (size_t i = 0; i < out->n_rules; i++) {
		free(out->rule[i].doc);
		free(out->rule[i].pattern);
	}
	for (size_t i = 0; i < out->n_reports; i++) {
		free(out->report[i].rule);
		free(out->report[i].node);
		free(out->report[i].text);
	}
	free(out->report);
	free(out->rule);
	free(out->problems);
	free(out->output);
	pm_graph_free(out->graph);
	cJSON_Delete(out->expected);
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
	if (out->expected)
		cJSON_AddItemToObject(obj, "expected", cJSON_Duplicate(out->expected, 1));
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
	list = out->n_reports ? cJSON_AddArrayToObject(obj, "reports") : NULL;
	for (size_t i = 0; i < out->n_reports; i++)
		report_to_json(out->report[i].rule, out->report[i].node, out->report[i].text, list);
}

/* Of a rule with a pattern. */
static void why_not_tried(const PmPassRule *r, PmStr *text)
{
	const char *op = strchr(r->pattern, '(') + 1; /* of the root, which is an operator */
	int n = (int)strcspn(op, " )");

	if (!r->stats.ran)
		pm_str_add(text,
			   "  its turn did not come: --rule names another, or the pass had ended before\n");
	else if (!r->stats.roots)
		pm_str_addf(text, "  the graph has no %.*s node that is not fused already\n", n, op);
	else
		pm_str_addf(text, "  other rules had fused every %.*s node before its turn\n", n, op);
}

const PmNearMiss *pm_pass_outcome_nearest(const PmPassOutcome *out, const char **rule)
{
	const PmNearMiss *best = NULL;

	for (size_t i = 0; i < out->n_rules; i++) {
		const PmRuleStats *st = &out->rule[i].stats;

		for (size_t k = 0; k < st->n_misses; k++)
			if (!best || st->miss[k].depth > best->depth) {
				best = &st->miss[k];
				*rule = st->name;
			}
	}
	return best;
}

char *pm_pass_outcome_explained(const PmPassOutcome *out)
{
	cJSON *o = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(o, "declined"), *one;
	PmStr text = PM_STR_INIT;
	const char *rule = "";
	const PmNearMiss *near = pm_pass_outcome_nearest(out, &rule);

	for (size_t i = 0; i < out->n_rules; i++)
		for (size_t k = 0; k < out->rule[i].stats.n_reasons; k++) {
			const PmReason *r = &out->rule[i].stats.reason[k];

			one = cJSON_CreateObject();
			cJSON_AddStringToObject(one, "rule", out->rule[i].stats.name);
			cJSON_AddStringToObject(one, "text", r->text);
			cJSON_AddStringToObject(one, "node", r->node);
			pm_json_add_i64(one, "count", r->count);
			cJSON_AddItemToArray(list, one);
		}
	if (near) {
		one = cJSON_AddObjectToObject(o, "nearest");
		cJSON_AddStringToObject(one, "rule", rule);
		miss_to_json(near, one);
	}
	if (near || cJSON_GetArraySize(list))
		pm_json_print(o, 0, &text);
	cJSON_Delete(o);
	return text.len ? pm_str_detach(&text, NULL) : NULL;
}

int64_t pm_pass_outcome_declined(const PmPassOutcome *out, const char **rule, const char **why,
				 const char **node)
{
	int64_t most = 0, all = 0;

	for (size_t i = 0; i < out->n_rules; i++) {
		const PmRuleStats *st = &out->rule[i].stats;

		for (size_t k = 0; k < st->n_reasons; k++) {
			all += st->reason[k].count;
			if (st->reason[k].count <= most)
				continue;
			most = st->reason[k].count;
			*rule = st->name;
			*why = st->reason[k].text;
			*node = st->reason[k].node;
		}
	}
	return all;
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
	if (!st->tried && strchr(r->pattern, '('))
		why_not_tried(r, text);
	for (size_t i = 0; i < st->n_reasons; i++)
		pm_str_addf(text, "  declined  %lld x %s\n", (long long)st->reason[i].count,
			    st->reason[i].text);
	for (size_t i = 0; i < st->n_misses; i++)
		pm_str_addf(text, "  near miss %u of %u operators: %s\n", st->miss[i].depth, st->miss[i].of,
			    st->miss[i].text);
}

int pm_pass_outcome_says_more(const PmPassOutcome *out)
{
	size_t n = out->problems ? strcspn(out->problems, "\n") : 0;
	char *first;
	int more;

	if (!n)
		return 0;
	if (out->problems[n] && out->problems[n + 1]) /* a list is easier to read as one */
		return 1;
	first = pm_xstrdup(out->problems);
	first[n] = '\0';
	more = !strstr(out->message, first);
	free(first);
	return more;
}

void pm_pass_outcome_print(const PmPassOutcome *out, PmStr *text)
{
	const cJSON *e;

	pm_str_addf(text, "%s%s%s: %s\n", *out->plugin ? out->plugin : "pass", *out->version ? " " : "",
		    out->version, pm_verdict_name(out->verdict));
	if (*out->message)
		pm_str_addf(text, "  %s\n", out->message);
	else
		pm_str_addf(text, "  %s\n", pm_verdict_meaning(out->verdict));
	if (pm_pass_outcome_says_more(out))
		pm_str_add(text, out->problems);
	for (size_t i = 0; i < out->n_rules; i++)
		print_rule(&out->rule[i], text);
	for (size_t i = 0; i < out->n_reports; i++)
		pm_str_addf(text, "\nrewrite %zu, by rule %s: %s\n%s", i + 1, out->report[i].rule,
			    out->report[i].node, out->report[i].text);
	cJSON_ArrayForEach(e, out->expected)
	{
		/* A pass that reports says it there, with more. */
		if (!out->n_reports && cJSON_IsTrue(cJSON_GetObjectItem(e, "fused")))
			pm_str_addf(text, "  expected  %.2f us for the kernel that makes %s\n",
				    cJSON_GetNumberValue(cJSON_GetArrayItem(cJSON_GetObjectItem(e, "us"), 0)),
				    pm_json_str(e, "value", ""));
	}
	if (out->output && *out->output)
		pm_str_addf(text, "\nThe pass wrote:\n%s\n", out->output);
}
