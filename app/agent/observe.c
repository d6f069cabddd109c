/* SPDX-License-Identifier: Apache-2.0 */
/* observe.c - tools by feedback, and answers without what a model is not told. */
#include "app/agent/observe.h"

#include "app/agent/opts.h"
#include "app/tools/tools.h"

#include <string.h>

/* Tools that are not here are not offered: those that look at other tasks or at others' results, and submit,
 * which is the experiment's own. */
static const struct {
	const char *tool;
	int needs; /* one of these kinds of feedback; 0 = always offered */
	int tells; /* its answer holds feedback: it is filtered */
} offered[] = {
	{ "show_task", 0, 0 },
	{ "show_graph", 0, 0 },
	{ "search_docs", 0, 0 },
	{ "show_api", 0, 0 },
	{ "exemplars", 0, 0 },
	{ "new_pass", 0, 0 },
	{ "list_files", 0, 0 },
	{ "read_file", 0, 0 },
	{ "write_file", 0, 0 },
	{ "edit_file", 0, 0 },
	{ "build", PM_FEEDBACK_E, 1 },
	{ "check", PM_FEEDBACK_E, 1 },
	{ "explain", PM_FEEDBACK_E, 1 },
	{ "evaluate", PM_FEEDBACK_EP, 1 },
	{ "get_run", PM_FEEDBACK_EP, 1 },
	{ "compare", PM_FEEDBACK_P, 1 },
	{ "profile", PM_FEEDBACK_P, 1 },
	{ "disassemble", PM_FEEDBACK_P, 0 },
};

/* Members by what they tell. */
static const char *const of_errors[] = { "why",
					 "failure",
					 "rules",
					 "messages",
					 "problems",
					 "output",
					 "errors",
					 "printed",
					 "not_checked",
					 "blame",
					 "next",
					 "advice",
					 "classes_not_looked_at" };
static const char *const of_speed[] = {
	"speedup",
	"speedup_interval",
	"time",
	"baseline_launches",
	"candidate_launches",
	"baseline_bytes",
	"candidate_bytes",
	"baseline_seconds",
	"candidate_seconds",
	"roofline",
	"score",
	"score_terms",
	"fast_1",
	"slowest_variant",
	"best_so_far",
	"share_of_time_replaced",
};

enum { N_OFFERED = sizeof offered / sizeof *offered };

static int find(const char *tool, int feedback)
{
	for (int i = 0; i < N_OFFERED; i++)
		if (!strcmp(offered[i].tool, tool))
			return !offered[i].needs || (offered[i].needs & feedback) ? i : -1;
	return -1;
}

int pm_is_offered(const char *tool, int feedback)
{
	return find(tool, feedback) >= 0;
}

cJSON *pm_offered_tools(int feedback)
{
	cJSON *list = cJSON_CreateArray();
	const cJSON *t;

	cJSON_ArrayForEach(t, pm_tools_table())
	{
		if (pm_is_offered(pm_json_str(t, "name", ""), feedback))
			cJSON_AddItemToArray(list, cJSON_Duplicate(t, 1));
	}
	return list;
}

void pm_offered_text(int feedback, PmStr *out)
{
	cJSON *list = pm_offered_tools(feedback);
	const cJSON *t, *a;

	cJSON_ArrayForEach(t, list)
	{
		const cJSON *schema = cJSON_GetObjectItemCaseSensitive(t, "inputSchema");
		const char *sep = "";

		pm_str_addf(out, "- %s(", pm_json_str(t, "name", ""));
		cJSON_ArrayForEach(a, cJSON_GetObjectItemCaseSensitive(schema, "properties"))
		{
			pm_str_addf(out, "%s%s", sep, a->string);
			sep = ", ";
		}
		pm_str_addf(out, "): %s\n", pm_json_str(t, "description", ""));
	}
	cJSON_Delete(list);
}

static int is_among(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i], name))
			return 1;
	return 0;
}

/* Takes the members of these names out, at every depth. */
static void without(cJSON *j, const char *const *names, size_t n)
{
	cJSON *m, *next;

	for (m = j->child; m; m = next) {
		next = m->next;
		if (m->string && is_among(m->string, names, n))
			cJSON_Delete(cJSON_DetachItemViaPointer(j, m));
		else
			without(m, names, n);
	}
}

void pm_observe(const char *tool, const cJSON *answer, int is_error, int feedback, PmStr *out)
{
	int i = find(tool, PM_FEEDBACK_EP);
	cJSON *j;

	if (!is_error && i >= 0 && offered[i].tells && feedback == PM_FEEDBACK_NONE) {
		pm_str_add(out, "{\"state\":\"done\"}");
		return;
	}
	j = cJSON_Duplicate(answer, 1);
	if (!is_error && i >= 0 && offered[i].tells && !(feedback & PM_FEEDBACK_E))
		without(j, of_errors, sizeof of_errors / sizeof *of_errors);
	if (!is_error && i >= 0 && offered[i].tells && !(feedback & PM_FEEDBACK_P))
		without(j, of_speed, sizeof of_speed / sizeof *of_speed);
	pm_json_print(j, 0, out);
	while (out->len && out->s[out->len - 1] == '\n')
		out->s[--out->len] = '\0';
	cJSON_Delete(j);
}
