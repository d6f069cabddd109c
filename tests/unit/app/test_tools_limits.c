/* SPDX-License-Identifier: Apache-2.0 */
/* test_tools_limits.c - what an answer says that the score could gain: no more than the roofline of each
 * variant allows. */
#include "app/tools/tools_priv.h"
#include "base/sys/io.h"
#include "dataset/store/tasks.h"
#include "ir/text/text.h"
#include "tests/lib/tools/tool_call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 2 };

typedef struct Place {
	PmStr folder, db;
	PmTestTools s;
	PmToolRun r;
} Place;

/* Two variants of very different sizes, so that the roofline of one is not that of the other. */
static void setup(Place *p)
{
	PmTaskBuilder *b = pm_task_begin("limits", "fusible");
	PmDb *db = NULL;
	PmErr err;

	*p = (Place){ .r = { .whole = 1, .variant = -1, .lock = -1 } };
	pm_err_init(&err);
	pm_str_init(&p->folder);
	pm_str_init(&p->db);
	if (pm_temp_dir("limits", &p->folder, &err))
		fail_msg("%s", err.text);
	pm_path_join(p->folder.s, "w.db", &p->db);
	for (int i = 0; i < N; i++) {
		PmGraph *g = NULL;
		char text[128];
		int n = i ? 1 << 26 : 64;

		snprintf(text, sizeof text, "g (float[%d] x) => (float[%d] y)\n{\n y = Relu (x)\n}\n", n, n);
		if (pm_graph_parse(text, strlen(text), &g, &err) ||
		    pm_task_add(b, g, i ? "large" : "small", i, PM_F32, &err))
			fail_msg("%s", err.text);
		pm_graph_free(g);
	}
	if (pm_db_open(p->db.s, 0, &db, &err) || pm_task_end(b, db, &p->r.task, NULL, &err))
		fail_msg("%s", err.text);
	pm_db_close(db);
	pm_test_tools_begin(&p->s, p->db.s, -1);
}

static void teardown(Place *p)
{
	pm_test_tools_end(&p->s);
	pm_remove_tree(p->folder.s, NULL);
	pm_str_release(&p->folder);
	pm_str_release(&p->db);
}

/* Records with these speedups, at these shares of their rooflines. */
static cJSON *records(const Place *p, const double speedup[N], const double share[N], const char *time)
{
	cJSON *list = cJSON_CreateArray();

	for (int i = 0; i < N; i++) {
		cJSON *rec = cJSON_CreateObject();

		cJSON_AddStringToObject(rec, "verdict", "OK");
		cJSON_AddStringToObject(rec, "variant", i ? "large" : "small");
		cJSON_AddStringToObject(rec, "time", time);
		cJSON_AddNumberToObject(rec, "speedup", speedup[i]);
		cJSON_AddNumberToObject(rec, "candidate_seconds", pm__roofline(p->s.t, &p->r, i) / share[i]);
		cJSON_AddItemToArray(list, rec);
	}
	return list;
}

/* An answer whose score would rise if record 0 had this speedup. */
static cJSON *answer(const Place *p, const cJSON *list, double speedup)
{
	char text[256];
	cJSON *j;

	snprintf(text, sizeof text,
		 "{\"verdict\":\"OK\",\"next\":\"-\",\"score_terms\":[{\"what\":\"slowest\",\"variants\":1,"
		 "\"AS\":2,\"gain\":2,\"speedup\":%g,\"records\":[0]}]}",
		 speedup);
	j = cJSON_Parse(text);
	assert_non_null(j);
	pm__eval_limits(p->s.t, &p->r, list, j);
	return j;
}

static void check(const Place *p, const double speedup[N], const double share[N], const char *time,
		  double wanted, const char *what, const char *next)
{
	cJSON *list = records(p, speedup, share, time), *j = answer(p, list, wanted);
	const cJSON *terms = cJSON_GetObjectItem(j, "score_terms");

	assert_int_equal(cJSON_GetArraySize(terms), what ? 1 : 0);
	if (what && strcmp(pm_json_str(terms->child, "what", ""), what))
		fail_msg("%s is not %s", pm_json_str(terms->child, "what", ""), what);
	assert_string_equal(pm_json_str(j, "next", ""), next);
	cJSON_Delete(j);
	cJSON_Delete(list);
}

static void a_gain_is_within_the_roofline(void **state)
{
	static const double speedup[N] = { 2, 3 }, at[N] = { 1, 0.985 }, first[N] = { 1, 0.5 },
			    second[N] = { 0.5, 1 };
	Place p;

	(void)state;
	setup(&p);
	/* What is at its limit can gain nothing: the other one can. */
	check(&p, speedup, first, "modelled", 2.5,
	      "variant 1 (large) at its own roofline: a speedup of 6 at most, instead of 3", "-");
	/* It can have a speedup of 4. */
	check(&p, speedup, second, "modelled", 2.5, "slowest", "-");
	check(&p, speedup, second, "modelled", 4.5,
	      "variant 0 (small) at its own roofline: a speedup of 4 at most, instead of 2", "-");
	/* To leave a variant alone is always possible; a measured time has no such limit. */
	check(&p, speedup, second, "modelled", 1, "slowest", "-");
	check(&p, speedup, at, "measured", 2.5, "slowest", "-");
	check(&p, speedup, at, "modelled", 2.5, NULL,
	      "every variant is at its roofline in the model: nothing is left there; submit (it is "
	      "judged anew then, with other inputs and hidden shapes).");
	p.r.submits = 1;
	check(&p, speedup, at, "modelled", 2.5, NULL,
	      "It is stored; every variant is at its roofline in the model: nothing is left there. "
	      "leaderboard shows its place.");
	teardown(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_gain_is_within_the_roofline) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
