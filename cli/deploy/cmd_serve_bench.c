/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_serve_bench.c - passmith serve-bench: how long a package takes to open and to run, and what it holds.
 */
#include "cli/cmds.h"

#include "app/serve/serve.h"

#include <stdio.h>
#include <string.h>

enum { MAX_THREADS = 256 };

static cJSON *held_json(const PmServeHeld *h)
{
	cJSON *o = cJSON_CreateObject();

	pm_json_add_i64(o, "resident_bytes", h->resident);
	pm_json_add_i64(o, "device_bytes", h->device);
	pm_json_add_i64(o, "files", h->files);
	pm_json_add_i64(o, "mappings", h->mappings);
	return o;
}

static void put_json(const PmServeAsk *a, const PmServed *s)
{
	cJSON *o = cJSON_CreateObject(), *levels, *outputs, *about = NULL;
	char name[16];

	cJSON_AddStringToObject(o, "package", a->package);
	if (!pm_json_parse(s->about, strlen(s->about), &about, NULL))
		cJSON_AddItemToObject(o, "about", about);
	pm_json_add_i64(o, "threads", a->threads);
	pm_json_add_i64(o, "runs", s->runs);
	cJSON_AddBoolToObject(o, "graph", a->graph);
	cJSON_AddNumberToObject(o, "open_seconds", s->open);
	if (a->warm)
		cJSON_AddNumberToObject(o, "warming_seconds", s->warming);
	cJSON_AddNumberToObject(o, "first_seconds", s->first);
	cJSON_AddNumberToObject(o, "tenth_seconds", s->tenth);
	cJSON_AddNumberToObject(o, "seconds", s->seconds);
	cJSON_AddNumberToObject(o, "runs_per_second", s->seconds > 0 ? (double)s->runs / s->seconds : 0);
	cJSON_AddNumberToObject(o, "mean_seconds", s->mean);
	cJSON_AddNumberToObject(o, "max_seconds", s->most);
	levels = cJSON_AddObjectToObject(o, "latency_seconds");
	for (int i = 0; i < PM_SERVE_LEVELS; i++) {
		snprintf(name, sizeof name, "%g", pm_serve_levels[i] * 100);
		cJSON_AddNumberToObject(levels, name, s->level[i]);
	}
	cJSON_AddItemToObject(o, "before", held_json(&s->before));
	cJSON_AddItemToObject(o, "opened", held_json(&s->opened));
	cJSON_AddItemToObject(o, "warm", held_json(&s->warm));
	cJSON_AddItemToObject(o, "after", held_json(&s->after));
	if (s->host.runs) {
		cJSON *host = cJSON_AddObjectToObject(o, "host");

		pm_json_add_i64(host, "runs", s->host.runs);
		cJSON_AddNumberToObject(host, "run_seconds", s->host.run);
		cJSON_AddNumberToObject(host, "launch_seconds", s->host.launch);
	}
	outputs = cJSON_AddArrayToObject(o, "outputs");
	for (size_t i = 0; i < s->n_outputs; i++)
		cJSON_AddItemToArray(outputs, cJSON_CreateString(s->output[i]));
	pm_cli_put_json(o);
}

static void put_held(const char *when, const PmServeHeld *h)
{
	printf("  %-16s %9.2f MB resident, %4lld files, %5lld mappings", when, (double)h->resident / 1e6,
	       (long long)h->files, (long long)h->mappings);
	if (h->device)
		printf(", %.2f MB of the GPU taken", (double)h->device / 1e6);
	printf("\n");
}

/* What a package says of calls that were tuned elsewhere; nothing when there are none. */
static void put_untuned(const char *about)
{
	cJSON *o = NULL;
	const char *why;

	if (pm_json_parse(about, strlen(about), &o, NULL))
		return;
	why = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, "untuned"));
	if (why)
		printf("  %s\n", why);
	cJSON_Delete(o);
}

static void put_text(const PmServeAsk *a, const PmServed *s)
{
	printf("%s: opened in %.2f ms; ", a->package, s->open * 1e3);
	if (a->warm)
		printf("warm in %.2f ms; ", s->warming * 1e3);
	printf("first run %.3f ms, tenth %.3f ms\n", s->first * 1e3, s->tenth * 1e3);
	printf("%lld runs by %d thread%s%s: %.1f a second; latency %.3f ms on average", (long long)s->runs,
	       a->threads, a->threads == 1 ? "" : "s", a->graph ? ", as graphs" : "",
	       s->seconds > 0 ? (double)s->runs / s->seconds : 0, s->mean * 1e3);
	for (int i = 0; i < PM_SERVE_LEVELS; i++)
		printf(", p%g %.3f", pm_serve_levels[i] * 100, s->level[i] * 1e3);
	printf(", longest %.3f\n", s->most * 1e3);
	if (s->host.runs && s->host.launch > 0)
		printf("  the host's part of a run %.2f us, of a bare launch of its graph %.2f us: %.2f "
		       "times\n",
		       s->host.run * 1e6, s->host.launch * 1e6, s->host.run / s->host.launch);
	put_untuned(s->about);
	put_held("before", &s->before);
	put_held("open", &s->opened);
	put_held("10 runs each", &s->warm);
	put_held("at the end", &s->after);
}

int pm_cmd_serve_bench(const PmCmd *cmd, int argc, char **argv)
{
	PmServeAsk ask = { .threads = 1, .runs = 1000, .seed = 1 };
	int64_t threads = 1, runs = 1000, shape = 0, seed = 1;
	const PmOpt opts[] = {
		{ "--device", PM_OPT_STR, &ask.device,
		  "emu, cuda or cuda:N (default: cuda where it can be)" },
		{ "--threads", PM_OPT_COUNT, &threads,
		  "threads, each with a session of its own (default 1)" },
		{ "--runs", PM_OPT_COUNT, &runs, "runs of all threads together (default 1000)" },
		{ "--shape", PM_OPT_COUNT, &shape, "number of the specialised shape (default 0)" },
		{ "--graph", PM_OPT_FLAG, &ask.graph, "cuda: run as one CUDA graph" },
		{ "--device-tensors", PM_OPT_FLAG, &ask.on_device,
		  "cuda: tensors stay on the GPU, each thread has a stream of its own" },
		{ "--warm", PM_OPT_FLAG, &ask.warm,
		  "make sessions warm before their first run (pm_rt_session_warm)" },
		{ "--inputs", PM_OPT_STR, &ask.inputs,
		  "read the inputs from this folder's input_K.pb (serialised tensors)" },
		{ "--seed", PM_OPT_INT, &seed, "seed of inputs that are made up (default 1)" },
		{ 0 },
	};
	PmStrList files = { 0 };
	PmProgress bar = { 0 };
	PmServed served = { 0 };
	PmErr err;
	int code = 0;

	pm_err_init(&err);
	if (pm_args_parse(cmd, opts, argc, argv, &files, &code)) {
		ask.threads = (int)threads;
		ask.runs = runs;
		ask.shape = (size_t)shape;
		ask.seed = (uint64_t)seed;
		ask.watch = pm_cli_watch(&bar);
		if (files.list.n != 1)
			code = pm_cli_usage(cmd, "serve-bench takes one package.");
		else if (threads < 1 || threads > MAX_THREADS || runs < 1)
			code = pm_cli_usage(cmd, "--threads takes 1 to %d, and --runs at least 1.",
					    MAX_THREADS);
		if (!code) {
			ask.package = files.list.v[0];
			pm_cli_stage("reading");
			if (pm_serve(&ask, &served, &err))
				code = pm_cli_fail(&err);
			else
				pm_cli_json ? put_json(&ask, &served) : put_text(&ask, &served);
		}
	}
	pm_served_release(&served);
	PM_VEC_RELEASE(&files.list);
	return code;
}
