/* SPDX-License-Identifier: Apache-2.0 */
/* score_terms.c - what would change the score of a pass most. */
#include "bench/report/score_terms.h"

#include "base/core/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RIGHT_FROM = -5 }; /* PyTorch's own default of closeness (docs/reference/scoring.md) */

typedef struct Terms {
	const PmEvalReport *r;
	PmEvalRecord *rec;   /* a copy, in which something is mended */
	PmScoreOutput right; /* of a result that is right */
	double mean;         /* speedup of what is right */
	cJSON *list;
} Terms;

static int is_right(const PmEvalRecord *e)
{
	return e->verdict == PM_VERDICT_OK && e->speedup > 0 && isfinite(e->speedup);
}

static double mean_of(const PmEvalReport *r)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		if (is_right(&r->rec[i])) {
			sum += log(r->rec[i].speedup);
			n++;
		}
	return n ? exp(sum / (double)n) : 1;
}

/* Every outcome begins with the records as they are. */
static void begin(Terms *t)
{
	if (t->r->n)
		memcpy(t->rec, t->r->rec, t->r->n * sizeof *t->rec);
}

static void mend(Terms *t, size_t i, double speedup)
{
	PmEvalRecord *e = &t->rec[i];

	e->verdict = PM_VERDICT_OK;
	e->speedup = speedup;
	e->measured = 0; /* the interval was of another time */
	e->n_outputs = 1;
	e->outputs = &t->right;
}

/* Of the records that are mended: their places, and the speedup that they are given. */
static void add_mended(const Terms *t, cJSON *j)
{
	cJSON *places = cJSON_CreateArray();
	double speedup = 0;

	for (size_t i = 0; i < t->r->n; i++)
		if (t->rec[i].outputs == &t->right) {
			cJSON_AddItemToArray(places, cJSON_CreateNumber((double)i));
			speedup = t->rec[i].speedup;
		}
	if (places->child) {
		cJSON_AddNumberToObject(j, "speedup", speedup);
		cJSON_AddItemToObject(j, "records", places);
	} else {
		cJSON_Delete(places);
	}
}

static void add(Terms *t, const char *what, size_t variants, int hidden_too)
{
	PmEvalReport r = *t->r; /* borrows everything; only its score is new */
	cJSON *j;

	r.rec = t->rec;
	if (hidden_too)
		r.hidden.verdict = PM_VERDICT_OK;
	if (pm_eval_score(&r, NULL) || !(r.score.as > t->r->score.as * (1 + 1e-9)))
		return;
	j = cJSON_CreateObject();
	cJSON_AddStringToObject(j, "what", what);
	cJSON_AddNumberToObject(j, "variants", (double)variants);
	cJSON_AddNumberToObject(j, "AS", r.score.as);
	cJSON_AddNumberToObject(j, "gain", r.score.as / t->r->score.as);
	add_mended(t, j);
	cJSON_AddItemToArray(t->list, j);
}

/* All variants that end in one way. */
static void add_verdict(Terms *t, PmVerdict v)
{
	char what[160];
	size_t n = 0;

	begin(t);
	for (size_t i = 0; i < t->r->n; i++)
		if (t->r->rec[i].verdict == v) {
			mend(t, i, t->mean);
			n++;
		}
	snprintf(what, sizeof what, "%zu variant%s of %s right, at the mean speedup of what is right (%.3g)",
		 n, n == 1 ? "" : "s", pm_verdict_name(v), t->mean);
	if (n)
		add(t, what, n, 0);
}

static void add_slow(Terms *t)
{
	size_t n = 0;

	begin(t);
	for (size_t i = 0; i < t->r->n; i++)
		if (is_right(&t->r->rec[i]) && t->r->rec[i].speedup < 1) {
			mend(t, i, 1);
			n++;
		}
	if (n)
		add(t, "variants that are slower than without the pass left alone: check declines them", n,
		    0);
}

static void add_slowest(Terms *t)
{
	const PmEvalReport *r = t->r;
	size_t at = r->n;
	char what[256];

	for (size_t i = 0; i < r->n; i++)
		if (is_right(&r->rec[i]) && (at == r->n || r->rec[i].speedup < r->rec[at].speedup))
			at = i;
	if (at == r->n || r->rec[at].speedup >= t->mean)
		return;
	begin(t);
	mend(t, at, t->mean);
	snprintf(what, sizeof what, "the slowest variant (%.100s, %.3g) at the mean speedup (%.3g)",
		 r->rec[at].label, r->rec[at].speedup, t->mean);
	add(t, what, 1, 0);
}

static double as_of(const cJSON *j)
{
	return pm_json_num(j, "AS", 0);
}

/* The largest first; few, so that a simple order will do. */
static cJSON *sorted(cJSON *list)
{
	cJSON *out = cJSON_CreateArray();

	while (list->child) {
		cJSON *j, *best = list->child;

		cJSON_ArrayForEach(j, list) if (as_of(j) > as_of(best)) best = j;
		cJSON_AddItemToArray(out, cJSON_DetachItemViaPointer(list, best));
	}
	cJSON_Delete(list);
	return out;
}

cJSON *pm_score_terms_json(const PmEvalReport *report)
{
	Terms t = { .r = report,
		    .rec = pm_xcalloc(report->n + 1, sizeof *t.rec),
		    .right = { .dtype = PM_F32 },
		    .mean = mean_of(report),
		    .list = cJSON_CreateArray() };

	for (int level = PM_T_MIN; level < PM_T_MIN + PM_T_COUNT; level++)
		t.right.close[level - PM_T_MIN] = level >= RIGHT_FROM;
	for (int v = 0; v < PM_N_VERDICTS; v++)
		if (v != PM_VERDICT_OK && v != PM_VERDICT_HARNESS_FAIL)
			add_verdict(&t, (PmVerdict)v);
	if (report->hidden.verdict != PM_VERDICT_OK) {
		begin(&t);
		add(&t, "right on hidden shapes too", 0, 1);
	}
	add_slow(&t);
	add_slowest(&t);
	free(t.rec);
	return sorted(t.list);
}
