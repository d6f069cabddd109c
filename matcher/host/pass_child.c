/* SPDX-License-Identifier: Apache-2.0 */
/* pass_child.c - the work of the program that runs passes: the only place where a plugin's code runs. */
#include "matcher/host/pass_job.h"

#include "ir/text/text.h"
#include "matcher/rewrite/driver.h"
#include "matcher/rewrite/session.h"

#include <string.h>

typedef struct Answer {
	cJSON *json;
	PmStr graph, sources;
} Answer;

static void end(Answer *a, const char *how, const char *message)
{
	cJSON_AddStringToObject(a->json, "end", how);
	cJSON_AddStringToObject(a->json, "message", message);
}

static void send(const Answer *a, PmStr *out)
{
	PmStr json = PM_STR_INIT;

	pm_json_print(a->json, 0, &json);
	pm_str_addf(out, PM__ANSWER_MAGIC " %zu %zu %zu\n", json.len, a->graph.len, a->sources.len);
	pm_str_addn(out, json.s, json.len);
	pm_str_addn(out, a->graph.s, a->graph.len);
	pm_str_addn(out, a->sources.s, a->sources.len);
	pm_str_release(&json);
}

static PmStatus print_graph(const PmGraph *g, Answer *a, PmErr *err)
{
	PmTextSources all = { 0 };
	PmPrintOpts print = { .max_inline = PM_MAX_INLINE_CONST, .no_header = 1, .sources = &all };
	PmStatus st = pm_graph_print(g, &print, &a->graph, err);

	for (size_t i = 0; i < all.s.n && !st; i++) {
		pm_str_addf(&a->sources, "%zu\n", all.n.v[i]);
		pm_str_addn(&a->sources, all.s.v[i], all.n.v[i]);
	}
	pm_text_sources_release(&all);
	return st;
}

static void run(const PmPassJob *job, const PmRules *rules, PmGraph *g, PmDriverResult *res, Answer *a)
{
	PmDriverOpts opts = { .only_rule = job->rule, .misses = job->misses };
	PmErr err;

	pm_err_init(&err);
	if (pm_driver_run(g, rules, &opts, res, &err))
		end(a, "REJECT_API", err.text);
	else if (res->misuse.code)
		end(a, "REJECT_API", res->misuse.text);
	else if (!res->applied)
		end(a, "none", "");
	else if (print_graph(g, a, &err))
		end(a, "REJECT_API", err.text);
	else
		end(a, "applied", "");
	cJSON_AddNumberToObject(a->json, "sweeps", res->sweeps);
	pm_json_add_i64(a->json, "applied", res->applied);
}

/* With the plugin loaded: its rules, then the graph. */
static void work(const PmPassJob *job, const PmPlugin *plugin, Answer *a)
{
	PmStr problems = PM_STR_INIT;
	PmDriverResult res = { 0 };
	PmRules rules;
	PmGraph *g = NULL;
	cJSON *list;
	PmErr err;

	pm_err_init(&err);
	pm_rules_init(&rules);
	if (pm_rules_add(&rules, plugin, &problems)) {
		cJSON_AddStringToObject(a->json, "problems", problems.s);
		pm_err(&err, PM_E_INVALID, "The rules of the plugin are malformed: %.*s.",
		       (int)strcspn(problems.s, "\n"), problems.s);
		end(a, "REJECT_LINT", err.text);
	} else if (!job->text) {
		end(a, "loaded", "");
	} else if (pm_graph_parse(job->text, job->text_len, &g, &err)) {
		end(a, "graph", err.text);
	} else {
		run(job, &rules, g, &res, a);
	}
	cJSON_AddStringToObject(a->json, "plugin", rules.plugin);
	cJSON_AddStringToObject(a->json, "version", rules.version);
	if (res.n_expected)
		cJSON_AddItemToObject(a->json, "expected",
				      pm__expected_to_json(res.expected, res.n_expected));
	list = cJSON_AddArrayToObject(a->json, "rules");
	for (size_t i = 0; i < rules.v.n; i++)
		pm__rule_to_json(&rules.v.v[i], res.rule ? &res.rule[i] : NULL, list);
	pm__reports_to_json(&rules, &res, a->json);
	pm_driver_result_release(&res);
	pm_graph_free(g);
	pm_rules_release(&rules);
	pm_str_release(&problems);
}

void pm__pass_child(const PmPassJob *job, const PmElf *elf, PmLoaded *plugin, PmStr *out)
{
	Answer a = { cJSON_CreateObject(), PM_STR_INIT, PM_STR_INIT };
	PmErr err;

	pm_err_init(&err);
	if (pm_plugin_open(elf, job->name, plugin, &err))
		end(&a, "REJECT_ABI", err.text);
	else
		work(job, &plugin->plugin, &a);
	send(&a, out);
	cJSON_Delete(a.json);
	pm_str_release(&a.graph);
	pm_str_release(&a.sources);
}

void pm__answer_refusal(const char *verdict, const char *message, const char *problems, PmStr *out)
{
	Answer a = { cJSON_CreateObject(), PM_STR_INIT, PM_STR_INIT };

	cJSON_AddStringToObject(a.json, "problems", problems);
	end(&a, verdict, message);
	send(&a, out);
	cJSON_Delete(a.json);
	pm_str_release(&a.graph);
	pm_str_release(&a.sources);
}
