/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_apply.c - passmith apply: rewrites a whole model with passes and says what that saves.
 *
 * Kernels are exported as nodes of the domain "passmith" whose body is a graph attribute
 * (docs/reference/onnx.md): the file still says what it computes, and this program runs it and takes it back.
 * What was written is read again and, with its kernels replaced by their bodies, must be the model that was
 * read.
 */
#include "cli/cmds.h"

#include "base/sys/io.h"
#include "bench/score/stratum.h"
#include "ir/canon/canon.h"
#include "matcher/host/pass_host.h"
#include "matcher/rewrite/same.h"
#include "runtime/exec/exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Applied {
	char *pass, *why; /* owned; why "" when it applied */
	PmVerdict verdict;
	int64_t n;
	double seconds;
} Applied;

typedef struct Apply {
	const char *model, *folder, *out;
	PmStrList given;
	double deadline;
	PM_VEC(char *) pass; /* owned */
	PM_VEC(Applied) done;
	PmGraph *g, *original;
	int planned; /* the numbers below hold */
	char why_not[PM_ERR_MAX];
	PmStratum before, after;
	PmPlanMemory held_before, held_after;
	size_t nodes_before, nodes_after;
} Apply;

/* Passes given one by one, then those of the folder by name. */
static PmStatus list_passes(Apply *a, PmErr *err)
{
	PmNames names = { 0 };
	PmStatus st = PM_OK;

	for (size_t i = 0; i < a->given.list.n && !st; i++) {
		st = pm_cli_pass_is_there(a->given.list.v[i], err);
		PM_VEC_PUSH(&a->pass, pm_xstrdup(a->given.list.v[i]));
	}
	if (a->folder && !st)
		st = pm_list_dir(a->folder, &names, err);
	for (size_t i = 0; i < names.n && !st; i++) {
		PmStr path = PM_STR_INIT;

		pm_path_join(a->folder, names.v[i], &path);
		if (pm_str_ends(names.v[i], ".so"))
			PM_VEC_PUSH(&a->pass, pm_xstrdup(path.s));
		pm_str_release(&path);
	}
	pm_names_release(&names);
	if (!st && !a->pass.n)
		st = pm_err(err, PM_E_NOT_FOUND, "There is no pass (a file named *.so) in %s.",
			    a->folder ? a->folder : "what was given");
	return st;
}

static int stats(Apply *a, PmStratum *s, PmPlanMemory *held)
{
	PmErr err;
	PmStatus st;

	pm_err_init(&err);
	st = pm_stratum(a->g, s, &err);
	if (!st)
		st = pm_graph_plan_memory(a->g, held, &err);
	if (st)
		snprintf(a->why_not, sizeof a->why_not, "%s", err.text);
	return !st;
}

/* A pass that fails leaves the graph as it was; the others still apply. */
static PmStatus apply_one(Apply *a, const char *so, PmErr *err)
{
	PmPassOpts po = { .seconds = a->deadline };
	PmPassOutcome o = { 0 };
	Applied d = { 0 };
	PmStatus st = pm_pass_apply(so, a->g, &po, &o, err);

	if (!st) {
		d = (Applied){ pm_xstrdup(so), pm_xstrdup(o.message), o.verdict, o.applied, o.seconds };
		PM_VEC_PUSH(&a->done, d);
		if (o.verdict == PM_VERDICT_OK && o.graph) {
			pm_graph_free(a->g);
			a->g = o.graph;
			o.graph = NULL;
		}
	}
	pm_pass_outcome_release(&o);
	return st;
}

/* The file says the same as the graph, and means the same as the model that was read. */
static PmStatus check_written(const Apply *a, PmErr *err)
{
	char want[PM_SHA256_HEX], got[PM_SHA256_HEX];
	PmGraph *back = NULL;
	PmStatus st = pm_canon_hash(a->g, PM_CANON_FULL, want, err);

	if (!st)
		st = pm_cli_load(a->out, &back, NULL, err);
	if (!st)
		st = pm_canon_hash(back, PM_CANON_FULL, got, err);
	if (!st && strcmp(want, got))
		st = pm_err(err, PM_E_INTERNAL, "%s does not read back as the graph that was written.",
			    a->out);
	if (!st && (st = pm_rewrite_check(a->original, back, err)))
		pm_err_ctx(err, "%s, with its kernels taken back, is not the model that was read", a->out);
	pm_graph_free(back);
	return st;
}

static PmStatus apply_all(Apply *a, PmErr *err)
{
	PmStatus st = list_passes(a, err);

	if (!st)
		st = pm_cli_load(a->model, &a->g, NULL, err);
	if (!st)
		st = pm_graph_clone(a->g, &a->original, err);
	if (st)
		return st;
	a->planned = stats(a, &a->before, &a->held_before);
	a->nodes_before = pm_graph_n_nodes(a->g);
	for (size_t i = 0; i < a->pass.n && !st; i++)
		st = apply_one(a, a->pass.v[i], err);
	a->nodes_after = pm_graph_n_nodes(a->g);
	if (!st && a->planned)
		a->planned = stats(a, &a->after, &a->held_after);
	if (!st)
		st = pm_cli_save(a->g, a->out, err);
	return st ? st : check_written(a, err);
}

static int64_t total(const Apply *a)
{
	int64_t n = 0;

	for (size_t i = 0; i < a->done.n; i++)
		n += a->done.v[i].verdict == PM_VERDICT_OK ? a->done.v[i].n : 0;
	return n;
}

static void put_json(const Apply *a)
{
	cJSON *o = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(o, "passes");

	cJSON_AddStringToObject(o, "model", a->model);
	cJSON_AddStringToObject(o, "out", a->out);
	for (size_t i = 0; i < a->done.n; i++) {
		const Applied *d = &a->done.v[i];
		cJSON *j = cJSON_CreateObject();

		cJSON_AddStringToObject(j, "pass", d->pass);
		cJSON_AddStringToObject(j, "verdict", pm_verdict_name(d->verdict));
		pm_json_add_i64(j, "applied", d->n);
		cJSON_AddStringToObject(j, "why", d->why);
		cJSON_AddItemToArray(list, j);
	}
	pm_json_add_i64(o, "applied", total(a));
	pm_json_add_i64(o, "nodes_before", (int64_t)a->nodes_before);
	pm_json_add_i64(o, "nodes_after", (int64_t)a->nodes_after);
	if (a->planned) {
		pm_json_add_i64(o, "launches_before", a->before.launches);
		pm_json_add_i64(o, "launches_after", a->after.launches);
		pm_json_add_i64(o, "bytes_before", a->before.bytes);
		pm_json_add_i64(o, "bytes_after", a->after.bytes);
		pm_json_add_i64(o, "memory_before", a->held_before.taken);
		pm_json_add_i64(o, "memory_after", a->held_after.taken);
		pm_json_add_i64(o, "memory_live_before", a->held_before.live);
		pm_json_add_i64(o, "memory_live_after", a->held_after.live);
		cJSON_AddNumberToObject(o, "modelled_seconds_before", a->before.seconds);
		cJSON_AddNumberToObject(o, "modelled_seconds_after", a->after.seconds);
	} else {
		cJSON_AddStringToObject(o, "not_planned", a->why_not);
	}
	pm_cli_put_json(o);
}

static void put_text(const Apply *a)
{
	for (size_t i = 0; i < a->done.n; i++) {
		const Applied *d = &a->done.v[i];

		printf("  %-32s %6lld  %s%s%s\n", pm_path_base(d->pass), (long long)d->n,
		       pm_verdict_name(d->verdict), *d->why ? ": " : "", d->why);
	}
	printf("%s: %lld places rewritten, %zu nodes became %zu\n", a->out, (long long)total(a),
	       a->nodes_before, a->nodes_after);
	if (a->planned)
		printf("launches %lld -> %lld (%lld saved), bytes %lld -> %lld (%.1f MB saved), modelled "
		       "time %.1f -> %.1f us, memory of a call %.1f -> %.1f MB\n",
		       (long long)a->before.launches, (long long)a->after.launches,
		       (long long)(a->before.launches - a->after.launches), (long long)a->before.bytes,
		       (long long)a->after.bytes, (double)(a->before.bytes - a->after.bytes) / 1e6,
		       a->before.seconds * 1e6, a->after.seconds * 1e6, (double)a->held_before.taken / 1e6,
		       (double)a->held_after.taken / 1e6);
	else
		printf("launches and bytes are not known: %s\n", a->why_not);
}

int pm_cmd_apply(const PmCmd *cmd, int argc, char **argv)
{
	Apply a = { .deadline = 60 };
	const PmOpt opts[] = {
		{ "--passes", PM_OPT_STR, &a.folder, "a folder of passes: every *.so in it, by name" },
		{ "--pass", PM_OPT_LIST, &a.given, "a pass (may be given several times); these come first" },
		{ "-o", PM_OPT_STR, &a.out, "where to write the model: .onnx, or text otherwise" },
		{ "--deadline", PM_OPT_NUM, &a.deadline, "seconds each pass may take (default 60)" },
		{ 0 },
	};
	PmStrList files = { 0 };
	PmErr err;
	int code = 0;

	pm_err_init(&err);
	if (pm_args_parse(cmd, opts, argc, argv, &files, &code)) {
		if (files.list.n != 1 || !a.out || (!a.folder && !a.given.list.n)) {
			code = pm_cli_usage(
				cmd, "apply takes one model, -o OUT and --passes DIR or --pass PASS.so.");
		} else {
			a.model = files.list.v[0];
			code = apply_all(&a, &err) ? pm_cli_fail(&err) : total(&a) == 0;
			if (code <= 1 && a.done.n == a.pass.n)
				pm_cli_json ? put_json(&a) : put_text(&a);
		}
	}
	for (size_t i = 0; i < a.pass.n; i++)
		free(a.pass.v[i]);
	for (size_t i = 0; i < a.done.n; i++) {
		free(a.done.v[i].pass);
		free(a.done.v[i].why);
	}
	PM_VEC_RELEASE(&a.pass);
	PM_VEC_RELEASE(&a.done);
	PM_VEC_RELEASE(&a.given.list);
	PM_VEC_RELEASE(&files.list);
	pm_graph_free(a.g);
	pm_graph_free(a.original);
	return code;
}
