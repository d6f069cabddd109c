/* SPDX-License-Identifier: Apache-2.0 */
/* limits.c - what an evaluation's score could still gain, by the roofline of each variant: an author who is
 * told of a gain that no pass can have looks for it in vain. */
#include "app/tools/tools_priv.h"

#include <stdlib.h>
#include <string.h>

/* From here on a variant is at its roofline: what is left is less than what the model's times are good for.
 */
#define AT_ROOFLINE 0.98

typedef struct Limits {
	const cJSON *records;
	int n, at_limit; /* records; of these, right and at their roofline */
	int farthest;    /* place of the right one that is farthest from it; -1 = none has room */
	double *share;   /* of each the roofline over its time; 0 = not known, or not right. Owned */
} Limits;

static void measure(const PmTools *t, const PmToolRun *r, const cJSON *records, Limits *l)
{
	const cJSON *rec;
	int i = 0;

	*l = (Limits){ .records = records, .n = cJSON_GetArraySize(records), .farthest = -1 };
	l->share = pm_xcalloc((size_t)l->n + 1, sizeof *l->share);
	cJSON_ArrayForEach(rec, records)
	{
		if (!strcmp(pm_json_str(rec, "verdict", ""), "OK"))
			l->share[i] = pm__roofline_share(t, r, rec, pm__eval_number(r, rec, i));
		l->at_limit += l->share[i] >= AT_ROOFLINE;
		if (l->share[i] > 0 && l->share[i] < AT_ROOFLINE &&
		    (l->farthest < 0 || l->share[i] < l->share[l->farthest]))
			l->farthest = i;
		i++;
	}
}

/* The speedup that a right variant can have; 0 = not known. */
static double most(const Limits *l, int at)
{
	double speedup = pm_json_num(cJSON_GetArrayItem(l->records, at), "speedup", 0);

	return l->share[at] > 0 ? speedup / l->share[at] : 0;
}

/* A term gives some records a speedup. To leave a variant alone (1) is always possible. */
static int is_possible(const Limits *l, const cJSON *term)
{
	double speedup = pm_json_num(term, "speedup", 0);
	const cJSON *at;

	if (speedup <= 1)
		return 1;
	cJSON_ArrayForEach(at, cJSON_GetObjectItemCaseSensitive(term, "records"))
	{
		int i = (int)at->valuedouble;

		if (i >= 0 && i < l->n && l->share[i] > 0 &&
		    (l->share[i] >= AT_ROOFLINE || speedup > most(l, i)))
			return 0;
	}
	return 1;
}

/* In place of what cannot be: the variant that has most room. */
static void add_farthest(const PmToolRun *r, const Limits *l, cJSON *terms)
{
	const cJSON *rec = cJSON_GetArrayItem(l->records, l->farthest);
	cJSON *j = cJSON_CreateObject();
	PmStr what = PM_STR_INIT;

	pm_str_addf(&what,
		    "variant %d (%.100s) at its own roofline: a speedup of %.3g at most, instead of %.3g",
		    pm__eval_number(r, rec, l->farthest), pm_json_str(rec, "variant", ""),
		    most(l, l->farthest), pm_json_num(rec, "speedup", 0));
	cJSON_AddStringToObject(j, "what", what.s);
	cJSON_AddNumberToObject(j, "variants", 1);
	cJSON_AddItemToArray(terms, j);
	pm_str_release(&what);
}

static void keep_possible(const PmToolRun *r, const Limits *l, cJSON *terms)
{
	int n = cJSON_GetArraySize(terms);

	for (int i = n - 1; i >= 0; i--) {
		cJSON *term = cJSON_GetArrayItem(terms, i);

		if (!is_possible(l, term)) {
			cJSON_DeleteItemFromArray(terms, i);
			continue;
		}
		cJSON_DeleteItemFromObject(term, "speedup"); /* `what` says them */
		cJSON_DeleteItemFromObject(term, "records");
	}
	if (cJSON_GetArraySize(terms) < n && l->farthest >= 0)
		add_farthest(r, l, terms);
}

void pm__eval_limits(const PmTools *t, const PmToolRun *r, const cJSON *records, cJSON *answer)
{
	static const char nothing[] = "every variant is at its roofline in the model: nothing is left there";
	cJSON *terms = cJSON_GetObjectItemCaseSensitive(answer, "score_terms");
	PmStr next = PM_STR_INIT;
	Limits l;

	if (!r->whole || !terms)
		return;
	measure(t, r, records, &l);
	keep_possible(r, &l, terms);
	if (l.n && l.at_limit == l.n && !strcmp(pm_json_str(answer, "verdict", ""), "OK")) {
		pm_str_addf(
			&next, "%s%s%s", r->submits ? "It is stored; " : "", nothing,
			r->submits ? ". leaderboard shows its place."
			: r->task  ? "; submit (it is judged anew then, with other inputs and hidden shapes)."
				   : ".");
		cJSON_DeleteItemFromObject(answer, "next");
		cJSON_AddStringToObject(answer, "next", next.s);
	}
	free(l.share);
	pm_str_release(&next);
}
