/* SPDX-License-Identifier: Apache-2.0 */
/* eval_records.c - records of an evaluation for an author: what says the same is said once. */
#include "app/tools/tools_priv.h"

#include "matcher/host/verdict.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_right(const cJSON *rec)
{
	return !strcmp(pm_json_str(rec, "verdict", ""), "OK");
}

int pm__weight(const char *verdict)
{
	static const char *const light[] = { "OK", "NOT_CHECKED", "NO_CREDIT", "NO_MATCH", "HARNESS_FAIL" };

	for (int i = 0; i < (int)(sizeof light / sizeof *light); i++)
		if (!strcmp(light[i], verdict))
			return i;
	return (int)(sizeof light / sizeof *light);
}

double pm__roofline_share(const PmTools *t, const PmToolRun *r, const cJSON *rec, int number)
{
	double best = strcmp(pm_json_str(rec, "time", ""), "modelled") ? 0 : pm__roofline(t, r, number),
	       is = pm_json_num(rec, "candidate_seconds", 0);

	return best > 0 && is > 0 ? best / is : 0;
}

static void add_roofline(const PmTools *t, const PmToolRun *r, const cJSON *rec, int number, cJSON *j)
{
	double share = pm__roofline_share(t, r, rec, number);

	if (share > 0)
		cJSON_AddNumberToObject(j, "roofline", share);
}

static void add_interval(const cJSON *rec, cJSON *j)
{
	const cJSON *clock = pm_json_get(rec, "clock");
	cJSON *list;

	if (!cJSON_IsNumber(pm_json_get(clock, "speedup_lo")) ||
	    !cJSON_IsNumber(pm_json_get(clock, "speedup_hi")))
		return;
	list = cJSON_AddArrayToObject(j, "speedup_interval");
	cJSON_AddItemToArray(list, cJSON_CreateNumber(pm_json_num(clock, "speedup_lo", 0)));
	cJSON_AddItemToArray(list, cJSON_CreateNumber(pm_json_num(clock, "speedup_hi", 0)));
}

static void add_speed(cJSON *j, const cJSON *rec)
{
	static const char *const same[] = { "baseline_launches", "candidate_launches", "baseline_bytes",
					    "candidate_bytes",   "baseline_seconds",   "candidate_seconds" };

	if (pm_json_num(rec, "speedup", 0) <= 0)
		return;
	pm__json_copy(j, rec, "speedup");
	add_interval(rec, j);
	pm__json_copy(j, rec, "time");
	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		pm__json_copy(j, rec, same[i]);
}

cJSON *pm__failure(const PmToolRun *r, const cJSON *rec)
{
	const cJSON *f = pm_json_get(rec, "failure"), *bound = pm_json_get(rec, "bound");
	cJSON *j;

	if (!f)
		return NULL;
	j = cJSON_Duplicate(f, 1);
	if (r->label.len)
		cJSON_ReplaceItemInObject(j, "variant", cJSON_CreateString(r->label.s));
	if (pm_json_get(f, "output") && pm_json_num(bound, "max", 0) > 0) {
		cJSON_AddNumberToObject(j, "times_what_rounding_explains", pm_json_num(bound, "max", 0));
		cJSON_AddNumberToObject(j, "rms_times_what_rounding_explains", pm_json_num(bound, "rms", 0));
	}
	return j;
}

/* Its number among the variants: its own, that of the one that was asked for, or its place. */
static int number_of(const PmToolRun *r, const cJSON *rec, int i)
{
	return (int)pm_json_num(rec, "number", r->variant >= 0 ? (double)r->variant : i);
}

/* Six digits of each number: more say nothing, and are read all the same. */
static double six_digits(double x)
{
	char text[32];

	snprintf(text, sizeof text, "%.6g", x);
	sscanf(text, "%lf", &x);
	return x;
}

static void shorten(cJSON *j)
{
	cJSON *m;

	cJSON_ArrayForEach(m, j)
	{
		if (cJSON_IsNumber(m) && m->valuedouble != floor(m->valuedouble))
			cJSON_SetNumberValue(m, six_digits(m->valuedouble));
		shorten(m);
	}
}

/* `said`: a reason that stands in the answer already. */
static cJSON *variant_of(const PmTools *t, const PmToolRun *r, const cJSON *rec, int i, const char *said)
{
	const char *verdict = pm_json_str(rec, "verdict", ""), *why = pm_json_str(rec, "why", "");
	cJSON *j = cJSON_CreateObject();

	cJSON_AddNumberToObject(j, "number", number_of(r, rec, i));
	cJSON_AddStringToObject(j, "variant", r->label.len ? r->label.s : pm_json_str(rec, "variant", ""));
	cJSON_AddStringToObject(j, "verdict", verdict);
	if (*why && strcmp(why, said))
		cJSON_AddStringToObject(j, "why", why);
	if (*pm_json_str(rec, "near_miss", "") && r->whole)
		pm__json_copy(j, rec, "near_miss");
	add_speed(j, rec);
	add_roofline(t, r, rec, number_of(r, rec, i), j);
	shorten(j);
	return j;
}

/* ---- what says the same ---- */

typedef struct Group {
	const cJSON *first;
	int at, weight;  /* of the first */
	PM_VEC(int) all; /* numbers of the variants, rising */
	double log_speed;
	int n_speed;
} Group;

/* Behind a number, "inf" or "nan". */
static const char *skip_number(const char *s)
{
	const char *from = s;

	while (*s == '-' || *s == '+' || *s == '.' || isdigit((unsigned char)*s) ||
	       (s > from && *s == 'e' && (isdigit((unsigned char)s[1]) || s[1] == '-' || s[1] == '+')))
		s++;
	if (s == from && (!strncmp(s, "inf", 3) || !strncmp(s, "nan", 3)) && !isalnum((unsigned char)s[3]))
		s += 3;
	return s;
}

/* Behind the name of a class of inputs, where one stands. */
static const char *skip_class(const char *s)
{
	static const char before[] = "inputs ";

	if (strncmp(s, before, sizeof before - 1) != 0)
		return s;
	for (s += sizeof before - 1; isalpha((unsigned char)*s);)
		s++;
	return s;
}

/* The same sentence but for numbers and the class of inputs. */
static int is_same_reason(const char *a, const char *b)
{
	for (;;) {
		const char *x = skip_number(skip_class(a)), *y = skip_number(skip_class(b));

		if ((x == a) != (y == b))
			return 0;
		if (x == a && *a != *b)
			return 0;
		if (x == a && !*a)
			return 1;
		a = x == a ? a + 1 : x;
		b = y == b ? b + 1 : y;
	}
}

/* Both are of a result that is too far off: of the same one. -1: one of them is not. */
static int is_same_failure(const cJSON *a, const cJSON *b)
{
	const char *x = pm_json_str(a, "output", NULL), *y = pm_json_str(b, "output", NULL);

	if (!x || !y)
		return -1;
	return !strcmp(x, y) && pm_json_num(a, "alternative", 0) == pm_json_num(b, "alternative", 0) &&
	       !strcmp(pm_json_str(a, "judged_by", ""), pm_json_str(b, "judged_by", "")) &&
	       !pm_json_get(a, "timed_call") == !pm_json_get(b, "timed_call");
}

static int is_same(const cJSON *a, const cJSON *b)
{
	const char *verdict = pm_json_str(a, "verdict", "");
	int failure = is_same_failure(pm_json_get(a, "failure"), pm_json_get(b, "failure"));

	if (strcmp(verdict, pm_json_str(b, "verdict", "")) != 0)
		return 0;
	/* What was left out is another list for each, for the same reason. */
	if (is_right(a) || !strcmp(verdict, "NOT_CHECKED"))
		return 1;
	return failure >= 0 ? failure : is_same_reason(pm_json_str(a, "why", ""), pm_json_str(b, "why", ""));
}

static int by_weight(const void *a, const void *b)
{
	const Group *x = a, *y = b;

	return x->weight != y->weight ? y->weight - x->weight : x->at - y->at;
}

/* "0-2, 5". */
static void say_numbers(const Group *g, PmStr *out)
{
	for (size_t i = 0, j; i < g->all.n; i = j) {
		for (j = i + 1; j < g->all.n && g->all.v[j] == g->all.v[j - 1] + 1;)
			j++;
		pm_str_addf(out, "%s%d", i ? ", " : "", g->all.v[i]);
		if (j > i + 1)
			pm_str_addf(out, "-%d", g->all.v[j - 1]);
	}
}

static cJSON *group_json(const PmTools *t, const PmToolRun *r, Group *g, const char *said)
{
	PmStr numbers = PM_STR_INIT;
	cJSON *j;

	if (is_right(g->first) && g->all.n > 1) {
		j = cJSON_CreateObject();
		cJSON_AddStringToObject(j, "verdict", "OK");
		if (g->n_speed)
			cJSON_AddNumberToObject(j, "speedup", six_digits(exp(g->log_speed / g->n_speed)));
	} else {
		j = variant_of(t, r, g->first, g->at, said);
	}
	say_numbers(g, &numbers);
	cJSON_AddStringToObject(j, "variants", numbers.s);
	pm_str_release(&numbers);
	PM_VEC_RELEASE(&g->all);
	return j;
}

cJSON *pm__eval_records(const PmTools *t, const PmToolRun *r, const cJSON *records, const char *said)
{
	PM_VEC(Group) groups = { 0 };
	cJSON *list = cJSON_CreateArray();
	const cJSON *rec;
	int i = 0;

	cJSON_ArrayForEach(rec, records)
	{
		double x = pm_json_num(rec, "speedup", 0);
		size_t k = 0;

		while (k < groups.n && !is_same(groups.v[k].first, rec))
			k++;
		if (k == groups.n)
			PM_VEC_PUSH(&groups, ((Group){ .first = rec, .at = i }));
		groups.v[k].weight = pm__weight(pm_json_str(rec, "verdict", ""));
		PM_VEC_PUSH(&groups.v[k].all, number_of(r, rec, i++));
		if (x > 0) {
			groups.v[k].log_speed += log(x);
			groups.v[k].n_speed++;
		}
	}
	if (groups.n)
		qsort(groups.v, groups.n, sizeof *groups.v, by_weight);
	for (size_t k = 0; k < groups.n; k++)
		cJSON_AddItemToArray(list, group_json(t, r, &groups.v[k], said));
	PM_VEC_RELEASE(&groups);
	return list;
}

cJSON *pm__eval_verdicts(const cJSON *records)
{
	cJSON *list = cJSON_CreateArray();

	for (int v = 0; v < PM_N_VERDICTS; v++) {
		const char *name = pm_verdict_name((PmVerdict)v);
		const cJSON *rec;
		cJSON *one;
		int n = 0;

		cJSON_ArrayForEach(rec, records) n += !strcmp(pm_json_str(rec, "verdict", ""), name);
		if (!n)
			continue;
		one = cJSON_CreateObject();
		cJSON_AddStringToObject(one, "verdict", name);
		cJSON_AddNumberToObject(one, "variants", n);
		cJSON_AddItemToArray(list, one);
	}
	return list;
}

/* ---- all of them ---- */

void pm__eval_sum(const cJSON *records, PmEvalSum *s)
{
	const cJSON *rec;

	memset(s, 0, sizeof *s);
	cJSON_ArrayForEach(rec, records)
	{
		double x = pm_json_num(rec, "speedup", 0);
		int w = pm__weight(pm_json_str(rec, "verdict", ""));

		if (w && (!s->wrong || w > pm__weight(pm_json_str(s->wrong, "verdict", "")))) {
			s->wrong = rec;
			s->wrong_at = s->n;
		}
		if (x > 0 && is_right(rec)) {
			s->log_speed += log(x);
			s->n_speed++;
			if (!s->slowest || x < pm_json_num(s->slowest, "speedup", 0)) {
				s->slowest = rec;
				s->slowest_at = s->n;
			}
		}
		s->n++;
	}
}

cJSON *pm__eval_slowest(const PmTools *t, const PmToolRun *r, const PmEvalSum *s)
{
	return variant_of(t, r, s->slowest, s->slowest_at, "");
}

int pm__eval_number(const PmToolRun *r, const cJSON *rec, int at)
{
	return number_of(r, rec, at);
}

/* ---- before the end ---- */

cJSON *pm__eval_so_far(const PmTools *t, const PmToolRun *r, const cJSON *records)
{
	cJSON *j = cJSON_CreateObject(), *first, *failure;
	const cJSON *rec;
	PmEvalSum s;

	pm__eval_sum(records, &s);
	cJSON_AddNumberToObject(j, "variants", s.n);
	cJSON_AddNumberToObject(j, "of", r->total);
	cJSON_AddItemToObject(j, "verdicts", pm__eval_verdicts(records));
	if (s.n_speed)
		cJSON_AddNumberToObject(j, "speedup", six_digits(exp(s.log_speed / s.n_speed)));
	cJSON_ArrayForEach(rec, records)
	{
		if (!is_right(rec))
			break;
	}
	if (!rec)
		return j;
	first = variant_of(t, r, rec, 0, "");
	if ((failure = pm__failure(r, rec)) != NULL)
		cJSON_AddItemToObject(first, "failure", failure);
	cJSON_AddStringToObject(first, "next",
				pm_verdict_advice(pm_verdict_from_name(pm_json_str(rec, "verdict", ""))));
	cJSON_AddItemToObject(j, "first_failing", first);
	return j;
}
