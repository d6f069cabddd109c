/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_agent.c - passmith agent: a language model writes passes; what came of it. */
#include "app/agent/agent.h"
#include "base/core/arena.h"
#include "cli/cmds.h"
#include "cli/gpus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 5, ITERATIONS = 50, TRIES = 8 };

/* The options as they are written. */
typedef struct AgentCmd {
	PmAgentOpts o;
	const char *tasks, *mode, *feedback, *tools, *key_env;
	int64_t parallel, tries;
	char *list, *key;
	PmStrList names;
} AgentCmd;

/* ---- the report ---- */

static void put(const cJSON *j, const char *name, int digits)
{
	double v = pm_json_num(j, name, NAN);
	char text[32] = "-";

	if (isfinite(v))
		snprintf(text, sizeof text, "%.*f", digits, v);
	printf("  %10s", text);
}

static void put_at_k(const cJSON *j)
{
	const cJSON *one, *f;

	printf("\n%6s  %10s  %10s", "k", "pass@k", "compile@k");
	one = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(j, "at_k"), 0);
	cJSON_ArrayForEach(f, cJSON_GetObjectItemCaseSensitive(one, "fast"))
		printf("  fast_%g@k", pm_json_num(f, "p", 0));
	printf("\n");
	cJSON_ArrayForEach(one, cJSON_GetObjectItemCaseSensitive(j, "at_k"))
	{
		printf("%6g", pm_json_num(one, "k", 0));
		put(one, "pass", 3);
		put(one, "compile", 3);
		cJSON_ArrayForEach(f, cJSON_GetObjectItemCaseSensitive(one, "fast")) put(f, "value", 3);
		printf("\n");
	}
}

/* Iterations at which the curve is read: 1, 2, 5, 10, 20, 50, ... and the last. */
static void put_curve(const cJSON *j)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(j, "as_at_iteration");
	int n = cJSON_GetArraySize(list);

	printf("\n%6s  %10s\n", "N", "AS");
	for (int i = 1; i <= n; i++) {
		int lead = i;

		while (lead % 10 == 0)
			lead /= 10;
		if (lead != 1 && lead != 2 && lead != 5 && i != n)
			continue;
		printf("%6d", i);
		put(cJSON_GetArrayItem(list, i - 1), "AS", 4);
		printf("\n");
	}
}

static void put_report(const cJSON *j)
{
	const cJSON *t;

	printf("%s on %s: mode %s, feedback %s, %g samples of %g iterations; %g samples ended, %g are open\n",
	       pm_json_str(j, "model", ""), pm_json_str(j, "device", ""), pm_json_str(j, "mode", ""),
	       pm_json_str(j, "feedback", ""), pm_json_num(j, "samples", 0), pm_json_num(j, "iterations", 0),
	       pm_json_num(j, "samples_ended", 0), pm_json_num(j, "samples_open", 0));
	put_at_k(j);
	put_curve(j);
	printf("\n%-32s  %10s  %10s  %10s  %10s  %10s  %10s  %10s  %10s\n", "task", "ended", "compiled",
	       "right", "best AS", "speedup", "tokens", "USD", "seconds");
	cJSON_ArrayForEach(t, cJSON_GetObjectItemCaseSensitive(j, "tasks"))
	{
		char tokens[32];

		snprintf(tokens, sizeof tokens, "%.0f",
			 pm_json_num(t, "tokens_in", 0) + pm_json_num(t, "tokens_out", 0));
		printf("%-32.32s", pm_json_str(t, "name", ""));
		put(t, "ended", 0);
		put(t, "compiled", 0);
		put(t, "correct", 0);
		put(t, "best_score", 4);
		put(t, "best_speedup", 3);
		printf("  %10s", tokens);
		put(t, "usd", 4);
		put(t, "seconds", 1);
		printf("\n");
	}
	printf("\n%g answers, %.0f tokens in and %.0f out%s, %.4f USD, %.1f s\n", pm_json_num(j, "turns", 0),
	       pm_json_num(j, "tokens_in", 0), pm_json_num(j, "tokens_out", 0),
	       cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(j, "tokens_estimated")) ? " (estimated)" : "",
	       pm_json_num(j, "usd", 0), pm_json_num(j, "seconds", 0));
}

/* Prints what the folder holds. */
static int report(const char *folder, PmErr *err)
{
	cJSON *j = NULL;
	PmStatus st = pm_agent_report(folder, &j, err);

	if (st)
		return pm_cli_fail(err);
	if (pm_cli_json) {
		pm_cli_put_json(j);
		return 0;
	}
	put_report(j);
	cJSON_Delete(j);
	return 0;
}

/* ---- arguments ---- */

/* The key leaves the environment: what is started from here does not get it. */
static int take_key(const PmCmd *cmd, AgentCmd *c)
{
	char *v = c->key_env ? getenv(c->key_env) : NULL;

	if (!c->key_env)
		return 0;
	if (!v || !*v)
		return pm_cli_usage(cmd, "The environment has no variable %.60s, which --key-env names.",
				    c->key_env);
	c->key = pm_xstrdup(v);
	explicit_bzero(v, strlen(v));
	unsetenv(c->key_env);
	c->o.key = c->key;
	for (const char *p = c->key; *p; p++)
		if (*p <= ' ' || *p == 0x7f)
			return pm_cli_usage(cmd, "The key in %.60s has a blank or a control character.",
					    c->key_env);
	return 0;
}

static void split_tasks(AgentCmd *c)
{
	c->list = pm_args_words(c->tasks, &c->names);
	c->o.tasks = c->names.list.v;
	c->o.n_tasks = c->names.list.n;
}

static int check_words(const PmCmd *cmd, AgentCmd *c)
{
	int mode = pm_agent_mode(c->mode), feedback = pm_agent_feedback(c->feedback),
	    tools = pm_agent_tools(c->tools);

	if (mode < 0)
		return pm_cli_usage(cmd, "--mode takes single, sample, iterate or best-of.");
	if (feedback < 0)
		return pm_cli_usage(cmd, "--feedback takes none, E (errors), P (profile) or EP.");
	if (tools < 0)
		return pm_cli_usage(cmd, "--tools takes auto, native or text.");
	c->o.mode = (PmAgentMode)mode;
	c->o.feedback = feedback;
	c->o.tools = (PmAgentTools)tools;
	return 0;
}

/* What the mode leaves open has its default; what contradicts it is refused. */
static int check_counts(const PmCmd *cmd, AgentCmd *c)
{
	PmAgentOpts *o = &c->o;
	int many = o->mode == PM_AGENT_SAMPLE || o->mode == PM_AGENT_BEST_OF,
	    turns = o->mode == PM_AGENT_ITERATE || o->mode == PM_AGENT_BEST_OF;

	if (o->samples > 1 && o->mode == PM_AGENT_SINGLE)
		return pm_cli_usage(cmd, "Mode single has one sample; --mode sample takes --samples.");
	if (o->iterations > 1 && !turns)
		return pm_cli_usage(cmd, "Mode %s has one iteration; --mode iterate takes --iterations.",
				    c->mode);
	o->samples = o->samples ? o->samples : many ? SAMPLES : 1;
	o->iterations = o->iterations ? o->iterations : o->mode == PM_AGENT_ITERATE ? ITERATIONS : 1;
	if (o->samples > PM_AGENT_SAMPLES || o->iterations > PM_AGENT_ITERATIONS ||
	    c->parallel > PM_AGENT_PARALLEL)
		return pm_cli_usage(cmd, "At most %d samples of %d iterations, by %d processes.",
				    PM_AGENT_SAMPLES, PM_AGENT_ITERATIONS, PM_AGENT_PARALLEL);
	o->parallel = (int)c->parallel; /* 0: not said */
	o->tries = c->tries < 1 ? 1 : c->tries > 1000 ? 1000 : (int)c->tries;
	if (o->budget_usd > 0 && o->price_in <= 0 && o->price_out <= 0)
		return pm_cli_usage(cmd, "--budget-usd needs prices: --price-in and --price-out, in USD of a "
					 "million tokens.");
	return 0;
}

static int check_args(const PmCmd *cmd, AgentCmd *c)
{
	const char *url = c->o.base_url;
	int code;

	if (!url || !c->o.model || !c->o.db || !c->o.out)
		return pm_cli_usage(cmd,
				    "agent needs --base-url URL, --model NAME, --db FILE and --out FOLDER.");
	if ((strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0) || strchr(url, '@'))
		return pm_cli_usage(cmd,
				    "--base-url takes http:// or https:// and a host, without a user or a "
				    "password; a key comes from --key-env.");
	if (!c->tasks == !c->o.split)
		return pm_cli_usage(cmd, "Name the tasks: --tasks A,B or --split train.");
	code = pm_cli_gpus_usage(cmd, c->o.gpus, c->o.device);
	if (code)
		return code;
	split_tasks(c);
	code = check_words(cmd, c);
	code = code ? code : check_counts(cmd, c);
	return code ? code : take_key(cmd, c);
}

static int run(AgentCmd *c, PmErr *err)
{
	PmProgress bar = { 0 };
	PmWatch watch = pm_cli_watch(&bar);
	PmStatus st = PM_OK;
	int code, n = 1;

	c->o.watch = &watch;
	if (c->o.gpus) /* what is wrong with them is said before anybody is asked */
		st = pm_cli_gpus_limit(c->o.gpus, &n, err);
	if (c->o.parallel < 1)
		c->o.parallel = n;
	pm_cli_stage("working");
	st = st ? st : pm_agent_run(&c->o, err);
	if (st) /* what is done is in the folder */
		return pm_cli_fail(err);
	code = report(c->o.out, err);
	return code;
}

int pm_cmd_agent(const PmCmd *cmd, int argc, char **argv)
{
	AgentCmd c = { .o = { .device = "emu", .temperature = -1, .seed = -1, .first_wait = 1 },
		       .mode = "iterate",
		       .feedback = "EP",
		       .tools = "auto",
		       .tries = TRIES };
	const PmOpt opts[] = {
		{ "--base-url", PM_OPT_STR, &c.o.base_url,
		  "OpenAI-compatible endpoint, up to /chat/completions" },
		{ "--model", PM_OPT_STR, &c.o.model, "the model, as the endpoint names it" },
		{ "--key-env", PM_OPT_STR, &c.key_env,
		  "environment variable that holds the key; it is nowhere stored" },
		{ "--db", PM_OPT_STR, &c.o.db, "the database with the tasks; gets the trajectories" },
		{ "--tasks", PM_OPT_STR, &c.tasks, "tasks by name, number or hash" },
		{ "--split", PM_OPT_STR, &c.o.split, "or all tasks of a split, as train" },
		{ "--out", PM_OPT_STR, &c.o.out, "of the experiment; one that is there is gone on with" },
		{ "--mode", PM_OPT_STR, &c.mode, "single, sample, iterate (default) or best-of" },
		{ "--samples", PM_OPT_COUNT, &c.o.samples,
		  "attempts at each task (default 5; single and iterate 1)" },
		{ "--iterations", PM_OPT_COUNT, &c.o.iterations,
		  "answers of the model in a sample (iterate: default 50; best-of: 1)" },
		{ "--feedback", PM_OPT_STR, &c.feedback,
		  "what the model is told: none, E (errors), P (profile), EP (default)" },
		{ "--tools", PM_OPT_STR, &c.tools,
		  "auto (default), native calls, or text: files in fenced blocks" },
		{ "--parallel", PM_OPT_COUNT, &c.parallel,
		  "samples at a time (default 1, with --gpus one for each GPU)" },
		{ "--budget-tokens", PM_OPT_COUNT, &c.o.budget_tokens, "stop when so many are used" },
		{ "--budget-usd", PM_OPT_NUM, &c.o.budget_usd, "stop when so much is spent" },
		{ "--price-in", PM_OPT_NUM, &c.o.price_in, "USD of a million tokens that the model reads" },
		{ "--price-out", PM_OPT_NUM, &c.o.price_out, "USD of a million tokens that it writes" },
		{ "--temperature", PM_OPT_NUM, &c.o.temperature, "of sampling (default: the endpoint's)" },
		{ "--seed", PM_OPT_INT, &c.o.seed, "sent to the endpoint; sample K gets N + K" },
		{ "--max-tokens", PM_OPT_COUNT, &c.o.max_tokens, "of an answer (default: the endpoint's)" },
		{ "--timeout", PM_OPT_NUM, &c.o.seconds, "seconds for an answer (default 600)" },
		{ "--tries", PM_OPT_COUNT, &c.tries, "requests for one answer (default 8)" },
		{ "--first-wait", PM_OPT_NUM, &c.o.first_wait,
		  "seconds before the second try; doubles up to 60 (default 1)" },
		{ "--device", PM_OPT_DEVICE, &c.o.device, "where passes are evaluated (default emu)" },
		PM_OPT_TARGET_ROW(NULL),
		{ "--gpus", PM_OPT_STR, &c.o.gpus,
		  "cuda: all, or numbers and UUIDs with commas (0,2): evaluations go to whichever GPU is "
		  "free" },
		{ "--deadline", PM_OPT_NUM, &c.o.deadline, "seconds of an evaluation, as of passmith eval" },
		{ 0 },
	};
	PmStrList args = { 0 };
	PmErr err;
	int code = 0;

	pm_err_init(&err);
	if (pm_args_parse(cmd, opts, argc, argv, &args, &code)) {
		if (args.list.n == 1 && !strcmp(args.list.v[0], "report")) {
			pm_cli_stage("reading");
			code = c.o.out ? report(c.o.out, &err)
				       : pm_cli_usage(cmd, "agent report needs --out FOLDER.");
		} else if (args.list.n) {
			code = pm_cli_usage(cmd, "agent takes the word report and options.");
		} else {
			code = check_args(cmd, &c);
			code = code ? code : run(&c, &err);
		}
	}
	if (c.key)
		explicit_bzero(c.key, strlen(c.key));
	free(c.key);
	free(c.list);
	PM_VEC_RELEASE(&c.names.list);
	PM_VEC_RELEASE(&args.list);
	return code;
}
