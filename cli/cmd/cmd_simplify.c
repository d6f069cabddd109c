/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_simplify.c - passmith simplify: a model cleaned up by named passes. */
#include "cli/cmds.h"

#include "base/core/str.h"
#include "ir/text/text.h"
#include "simplify/simplify.h"

#include <stdio.h>
#include <string.h>

static int list_passes(void)
{
	cJSON *list = pm_cli_json ? cJSON_CreateArray() : NULL;

	for (int p = 0; p < PM_N_SIMPLIFY; p++) {
		cJSON *j;

		if (!list) {
			printf("%-22s %s\n", pm_simplify_name(p), pm_simplify_what(p));
			continue;
		}
		j = cJSON_CreateObject();
		cJSON_AddStringToObject(j, "name", pm_simplify_name(p));
		cJSON_AddStringToObject(j, "what", pm_simplify_what(p));
		cJSON_AddItemToArray(list, j);
	}
	if (list)
		pm_cli_put_json(list);
	return 0;
}

/* "a,b,c" into bits; 0 when one is unknown (printed). */
static int parse_passes(const PmCmd *cmd, const char *text, uint32_t *bits)
{
	PmStr one = PM_STR_INIT;
	int ok = 1;

	while (text && *text && ok) {
		size_t n = strcspn(text, ",");
		PmSimplifyPass p;

		pm_str_clear(&one);
		pm_str_addn(&one, text, n);
		p = pm_simplify_find(one.s);
		ok = p < PM_N_SIMPLIFY;
		if (!ok)
			pm_cli_usage(cmd, "There is no clean-up pass '%.60s'; --list shows them.", one.s);
		else
			*bits |= 1u << p;
		text += n + (text[n] == ',');
	}
	pm_str_release(&one);
	return ok;
}

/* ---- dumps ---- */

typedef struct Dump {
	uint32_t after; /* passes */
} Dump;

static void dump(void *arg, PmSimplifyPass pass, int round, size_t changes, const PmGraph *g)
{
	const Dump *d = arg;
	PmPrintOpts opts = { .max_inline = 16 };
	PmStr text = PM_STR_INIT;
	PmErr err;

	if (!(d->after >> pass & 1))
		return;
	pm_err_init(&err);
	if (pm_graph_print(g, &opts, &text, &err))
		pm_cli_fail(&err);
	else
		fprintf(stderr, "after %s, round %d, %zu change%s:\n%s\n", pm_simplify_name(pass), round,
			changes, changes == 1 ? "" : "s", text.s);
	pm_str_release(&text);
}

/* ---- the result ---- */

static void report(const char *out, size_t before, const PmGraph *g, const PmSimplifyReport *r)
{
	if (pm_cli_json) {
		cJSON *j = cJSON_CreateObject(), *c;

		cJSON_AddStringToObject(j, "file", out);
		pm_json_add_i64(j, "nodes_before", (int64_t)before);
		pm_json_add_i64(j, "nodes", (int64_t)pm_graph_n_nodes(g));
		pm_json_add_i64(j, "rounds", r->rounds);
		c = cJSON_AddObjectToObject(j, "changes");
		for (int p = 0; p < PM_N_SIMPLIFY; p++)
			pm_json_add_i64(c, pm_simplify_name(p), (int64_t)r->changes[p]);
		pm_cli_put_json(j);
		return;
	}
	printf("%s: %zu nodes, %zu before; %d rounds\n", out, pm_graph_n_nodes(g), before, r->rounds);
	for (int p = 0; p < PM_N_SIMPLIFY; p++)
		if (r->changes[p])
			printf("  %6zu %s\n", r->changes[p], pm_simplify_name(p));
}

static PmStatus simplify(const char *in, const char *out, const PmSimplifyOpts *opts, PmErr *err)
{
	PmSimplifyReport r;
	PmGraph *g = NULL;
	size_t before = 0;
	PmStatus st = pm_cli_load(in, &g, NULL, err);

	if (!st) {
		before = pm_graph_n_nodes(g);
		st = pm_simplify(g, opts, &r, err);
		if (st)
			pm_err_ctx(err, "%s", in);
	}
	if (!st)
		st = pm_cli_save(g, out, err);
	if (!st)
		report(out, before, g, &r);
	pm_graph_free(g);
	return st;
}

int pm_cmd_simplify(const PmCmd *cmd, int argc, char **argv)
{
	const char *out = NULL, *passes = NULL, *after = NULL;
	int list = 0;
	const PmOpt table[] = {
		{ "-o", PM_OPT_STR, &out, "where to write the model: .onnx, or text otherwise" },
		{ "--passes", PM_OPT_STR, &passes, "a,b,...: these only (all)" },
		{ "--dump-after", PM_OPT_STR, &after, "a,b,...: the graph on stderr after each time" },
		{ "--list", PM_OPT_FLAG, &list, "the passes, in the order they run" },
		{ 0 },
	};
	PmStrList files = { 0 };
	PmSimplifyOpts opts = { 0 };
	Dump d = { 0 };
	int code = 0;
	PmErr err;

	pm_err_init(&err);
	if (!pm_args_parse(cmd, table, argc, argv, &files, &code))
		goto done;
	if (list) {
		code = list_passes();
		goto done;
	}
	if (!parse_passes(cmd, passes, &opts.passes) || !parse_passes(cmd, after, &d.after))
		code = 2;
	else if (files.list.n != 1 || !out)
		code = pm_cli_usage(cmd, "simplify takes one model and -o.");
	if (code)
		goto done;
	opts.after = dump;
	opts.arg = &d;
	if (simplify(files.list.v[0], out, &opts, &err))
		code = pm_cli_fail(&err);
done:
	PM_VEC_RELEASE(&files.list);
	return code;
}
