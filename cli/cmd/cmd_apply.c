/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_apply.c - passmith apply: rewrites a whole model with passes and says what that saves.
 *
 * Kernels are exported as calls of functions of the domain "passmith", which hold their bodies in standard
 * operators (docs/reference/onnx.md): every runtime runs the file, and this program takes its kernels back.
 * With --plain the bodies stand in the place of the kernels. What was written is read again and, with its
 * kernels replaced by their bodies, must be the model that was read.
 */
#include "cli/cmds.h"

#include "app/apply/apply_store.h"
#include "base/sys/io.h"
#include "ir/core/kernel.h"

#include <stdio.h>
#include <stdlib.h>

enum { TOP = 10 /* regions that the text shows */ };

typedef struct Args {
	const char *model, *folder, *out, *db;
	PmStrList given;
	double deadline;
	int plain;
	PM_VEC(char *) pass; /* owned */
} Args;

/* Passes given one by one, then those of the folder by name. */
static PmStatus list_passes(Args *a, PmErr *err)
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

/* ---- what is printed ---- */

static void put_json(const Args *args, const PmApply *a)
{
	cJSON *o = pm_apply_json(a, args->model);

	cJSON_AddStringToObject(o, "out", args->out);
	pm_cli_put_json(o);
}

static void put_region(const PmApply *a, const PmApplyRegion *r)
{
	PmStr entry = PM_STR_INIT;

	pm_apply_entry(a->after, r->kernel, &entry);
	printf("  %9.1f %9.2f %9lld %6zu %6u  %s, %s, %s\n", (r->before.seconds - r->after.seconds) * 1e6,
	       (double)(r->before.bytes - r->after.bytes) / 1e6,
	       (long long)(r->before.launches - r->after.launches), r->n,
	       r->n ? a->regions.node.v[r->first] : r->place, pm_path_base(a->pass.v[r->pass].path),
	       pm_node_s(a->after, r->kernel, "name", ""), entry.len ? entry.s : "-");
	pm_str_release(&entry);
}

static void put_regions(const PmApply *a)
{
	size_t n = a->regions.list.n, *by = pm_apply_by_saved(a);

	if (n > TOP)
		printf("what saves most, %d of %zu regions (--json has all):\n", TOP, n);
	printf("   saved us  saved MB  launches  nodes  first  pass, rule, kernel\n");
	for (size_t i = 0; i < n && i < TOP; i++)
		put_region(a, &a->regions.list.v[by[i]]);
	free(by);
}

/* The operators that take most of the time that is left. */
static void put_outside(const PmApply *a)
{
	size_t stay = a->regions.n_after - a->regions.list.n;
	double all = a->cost_after.plan.modelled_seconds;

	printf("outside: %zu node%s", stay, stay == 1 ? "" : "s");
	if (all > 0)
		printf(", %.1f %% of the modelled time after", 100 * a->regions.outside_after.seconds / all);
	for (size_t i = 0; i < a->outside.op.n && i < 3 && all > 0; i++)
		printf("%s %s %.1f %%", i ? "," : ":", a->outside.op.v[i].op,
		       100 * a->outside.op.v[i].cost.seconds / all);
	printf("%s\n", stay ? "; --json and passmith explain say why" : "");
}

static void put_text(const Args *args, const PmApply *a)
{
	const PmPlanStats *before = &a->cost_before.plan, *after = &a->cost_after.plan;

	for (size_t i = 0; i < a->pass.n; i++) {
		const PmApplied *d = &a->pass.v[i];

		printf("  %-32s %6lld  %s%s%s\n", pm_path_base(d->path), (long long)d->n,
		       pm_verdict_name(d->verdict), *d->why ? ": " : "", d->why);
	}
	printf("%s: %lld places rewritten, %zu nodes became %zu\n", args->out, (long long)a->applied,
	       a->regions.n_before, a->regions.n_after);
	if (!a->planned) {
		printf("launches and bytes are not known: %s\n", a->why_not);
		return;
	}
	printf("launches %d -> %d (%d saved), bytes %lld -> %lld (%.1f MB saved), modelled time %.1f -> %.1f "
	       "us, memory of a call %.1f -> %.1f MB\n",
	       before->n_launches, after->n_launches, before->n_launches - after->n_launches,
	       (long long)before->bytes, (long long)after->bytes,
	       (double)(before->bytes - after->bytes) / 1e6, before->modelled_seconds * 1e6,
	       after->modelled_seconds * 1e6, (double)a->cost_before.memory.taken / 1e6,
	       (double)a->cost_after.memory.taken / 1e6);
	if (a->regions.list.n)
		put_regions(a);
	put_outside(a);
}

/* ---- the command ---- */

/* Writes the rewritten graph, or with --plain what it means in standard operators, and reads it again. */
static PmStatus write_model(const Args *args, const PmApply *a, PmErr *err)
{
	PmGraph *plain = NULL;
	PmStatus st = args->plain ? pm_graph_clone(a->after, &plain, err) : PM_OK;
	const PmGraph *g = plain ? plain : a->after;

	if (!st && plain)
		st = pm_graph_inline_kernels(plain, err);
	if (!st)
		st = pm_cli_save(g, args->out, err);
	if (!st)
		st = pm_apply_check_written(a, g, args->out, err);
	pm_graph_free(plain);
	return st;
}

static PmStatus run(Args *args, PmDb *db, PmApply *a, PmErr *err)
{
	PmGraph *g = NULL;
	PmStatus st = list_passes(args, err);

	if (!st)
		st = pm_cli_load(args->model, &g, NULL, err);
	if (!st)
		st = pm_apply(g, (const char *const *)args->pass.v, args->pass.n, args->deadline, a, err);
	if (!st)
		st = write_model(args, a, err);
	return !st && db ? pm_apply_store(db, a, args->model, NULL, err) : st;
}

int pm_cmd_apply(const PmCmd *cmd, int argc, char **argv)
{
	Args args = { .deadline = 60 };
	const PmOpt opts[] = {
		{ "--passes", PM_OPT_STR, &args.folder, "a folder of passes: every *.so in it, by name" },
		{ "--pass", PM_OPT_LIST, &args.given,
		  "a pass (may be given several times); these come first" },
		{ "-o", PM_OPT_STR, &args.out, "where to write the model: .onnx, or text otherwise" },
		{ "--plain", PM_OPT_FLAG, &args.plain,
		  "write standard operators in the place of kernels, without their sources" },
		{ "--deadline", PM_OPT_NUM, &args.deadline, "seconds each pass may take (default 60)" },
		{ "--db", PM_OPT_STR, &args.db, "database to store it in, for passmith report" },
		{ 0 },
	};
	PmStrList files = { 0 };
	PmApply a = { 0 };
	PmDb *db = NULL;
	PmErr err;
	int code = 0;

	pm_err_init(&err);
	if (pm_args_parse(cmd, opts, argc, argv, &files, &code)) {
		if (files.list.n != 1 || !args.out || (!args.folder && !args.given.list.n)) {
			code = pm_cli_usage(
				cmd, "apply takes one model, -o OUT and --passes DIR or --pass PASS.so.");
		} else {
			args.model = files.list.v[0];
			if ((args.db && pm_db_open(args.db, 0, &db, &err)) || run(&args, db, &a, &err))
				code = pm_cli_fail(&err);
			else
				pm_cli_json ? put_json(&args, &a) : put_text(&args, &a);
			code = code ? code : a.applied == 0;
		}
	}
	for (size_t i = 0; i < args.pass.n; i++)
		free(args.pass.v[i]);
	PM_VEC_RELEASE(&args.pass);
	PM_VEC_RELEASE(&args.given.list);
	PM_VEC_RELEASE(&files.list);
	pm_apply_release(&a);
	pm_db_close(db);
	return code;
}
