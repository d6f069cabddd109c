/* SPDX-License-Identifier: Apache-2.0 */
/* tally.c - sums over the events of a sample. */
#include "app/agent/tally.h"

#include "app/agent/journal.h"
#include "base/core/clean.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Reading {
	PmTally *t;
	PmBestFn best;
	void *arg;
	int asked;
} Reading;

static void on_evaluation(Reading *r, const cJSON *e)
{
	const cJSON *answer = cJSON_GetObjectItemCaseSensitive(e, "answer");
	const char *verdict = pm_json_str(answer, "verdict", "");
	double score = pm_json_num(answer, "score", NAN), speedup = pm_json_num(answer, "speedup", 0);
	PmTally *t = r->t;

	if (!*verdict)
		return;
	t->evaluated = 1;
	t->compiled |= strcmp(verdict, "COMPILE_FAIL") != 0;
	if (!strcmp(verdict, "OK")) {
		t->correct = 1;
		t->best_speedup = fmax(t->best_speedup, speedup);
	}
	if (score > t->best_score)
		t->best_score = score;
	if (r->best)
		r->best(r->arg, pm_json_i64(e, "iteration", 0), t->best_score);
}

static PmStatus on_event(void *arg, const cJSON *e, PmErr *err)
{
	const char *name = pm_json_str(e, "e", "");
	Reading *r = arg;
	PmTally *t = r->t;

	(void)err;
	if (!strcmp(name, "ask")) {
		t->lost += r->asked;
		r->asked = 1;
	} else if (!strcmp(name, "failed")) {
		r->asked = 0;
	} else if (!strcmp(name, "reply")) {
		r->asked = 0;
		t->turns++;
		t->tokens_in += pm_json_i64(e, "tokens_in", 0);
		t->tokens_out += pm_json_i64(e, "tokens_out", 0);
		t->money += pm_json_num(e, "money", 0);
		t->seconds += pm_json_num(e, "seconds", 0);
		t->estimated |= cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(e, "estimated"));
	} else if (!strcmp(name, "tool")) {
		t->seconds += pm_json_num(e, "seconds", 0);
		if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(e, "whole")))
			on_evaluation(r, e);
	} else if (!strcmp(name, "end")) {
		t->ended = 1;
		snprintf(t->outcome, sizeof t->outcome, "%.15s", pm_json_str(e, "outcome", "done"));
		pm_clean(t->outcome, t->outcome, sizeof t->outcome, 0);
	}
	return PM_OK;
}

PmStatus pm_tally_read(const char *path, PmBestFn best, void *arg, PmTally *out, PmErr *err)
{
	Reading r = { .t = out, .best = best, .arg = arg };

	memset(out, 0, sizeof *out);
	out->best_score = PM_AS_NOTHING;
	return pm_journal_read(path, on_event, &r, err);
}
