/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_apply.c - passmith apply: rewrites a whole model with passes and says what that saves.
 *
 * Passes are applied one after the other, or with --bank the regions that save most are chosen among all
 * passes of a bank (app/bank/use.h), and OUT.lock says which. Kernels are exported as calls of functions of
 * the domain "passmith", which hold their bodies in standard operators (docs/reference/onnx.md): every
 * runtime runs the file, and this program takes its kernels back. With --plain the bodies stand in the place
 * of the kernels. What was written is read again and, with its kernels replaced by their bodies, must be the
 * model that was read.
 */
#include "cli/cmds.h"

#include "app/apply/apply_store.h"
#include "app/apply/ort_kernels.h"
#include "app/bank/use.h"
#include "base/sys/io.h"
#include "base/sys/pool.h"
#include "cli/arch_list.h"
#include "cli/pass_list.h"
#include "ir/core/kernel.h"
#include "runtime/device/probe.h"
#include "runtime/gpus/target.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TOP = 10 /* regions that the text shows */ };

typedef struct Args {
	const char *model, *folder, *out, *db;
	const char *bank, *lock, *kernels, *arch_text;
	const char *target; /* NULL: not given */
	PmStrList given;
	double deadline;
	int plain, any_arch;
	PmArchList archs;
	PmOrtWritten written;
	cJSON *locked; /* owned: what --lock says */
	PmPassList pass;
} Args;

/* ---- what is printed ---- */

static void put_json(const Args *args, const PmApply *a, const PmBankUse *u)
{
	cJSON *o = a->after ? pm_apply_json(a, args->model) : cJSON_CreateObject();

	cJSON_AddStringToObject(o, "out", args->out);
	if (args->bank)
		cJSON_AddItemToObject(o, "bank", pm_bank_use_json(u));
	if (args->kernels) {
		cJSON *k = cJSON_AddObjectToObject(o, "ort_kernels");

		cJSON_AddStringToObject(k, "out", args->kernels);
		pm_json_add_i64(k, "kernels", (int64_t)args->written.n_kernels);
		pm_json_add_i64(k, "sources", (int64_t)args->written.n_sources);
		pm_json_add_i64(k, "bytes", args->written.bytes);
	}
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
	if (args->kernels)
		printf("%s: %zu kernel%s of %zu source%s compiled, %.1f MB\n", args->kernels,
		       args->written.n_kernels, pm_plural(args->written.n_kernels), args->written.n_sources,
		       pm_plural(args->written.n_sources), (double)args->written.bytes / 1e6);
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

/* By what each pass was weighed, and who lost against whom. */
static void put_bank(const PmBankUse *u)
{
	const PmChoice *c = &u->choice;
	double unit = c->all.cost ? 1e6 : 1;

	for (size_t i = 0; i < u->offer.n; i++) {
		const PmBankOffer *o = &u->offer.v[i];

		printf("  %-32s gain %s", pm_path_base(o->path), o->n_measured ? "measured" : "modelled");
		if (o->n_measured)
			printf(": %.3g times what is modelled, on %d variants", o->factor, o->n_measured);
		if (o->n_other)
			printf("; measured on another architecture %d time%s, which does not count",
			       o->n_other, o->n_other == 1 ? "" : "s");
		printf("\n");
	}
	for (size_t i = 0; i < c->loss.n; i++) {
		const PmLoss *l = &c->loss.v[i];
		const PmCandidate *x = &c->all.list.v[l->loser], *w = &c->all.list.v[l->winner];

		printf("  conflict at node %u: %s lost against %s, %.2f against %.2f %s saved\n", x->node[0],
		       pm_path_base(u->offer.v[x->pass].path), pm_path_base(u->offer.v[w->pass].path),
		       c->gain[l->loser] * unit, c->gain[l->winner] * unit, c->all.cost ? "us" : "nodes");
	}
	if (isfinite(c->best_order))
		printf("  predicted %.2f %s, the best of the orders tried %.2f\n", c->predicted * unit,
		       c->all.cost ? "us" : "nodes", c->best_order * unit);
}

static void put_changed(const Args *args, const PmBankUse *u)
{
	const cJSON *s;

	printf("%s was not written, since it would not be what %s says:\n", args->out, args->lock);
	cJSON_ArrayForEach(s, u->changed)
	{
		printf("  %s\n", s->valuestring);
	}
}

/* ---- the command ---- */

/* Writes the rewritten graph, or with --plain what it means in standard operators, and reads it again. */
static PmStatus write_model(const Args *args, const PmApply *a, const char *path, PmErr *err)
{
	PmGraph *plain = NULL;
	PmStatus st = args->plain ? pm_graph_clone(a->after, &plain, err) : PM_OK;
	const PmGraph *g = plain ? plain : a->after;

	if (!st && plain)
		st = pm_graph_inline_kernels(plain, err);
	if (!st)
		st = pm_cli_save(g, path, err);
	if (!st)
		st = pm_apply_check_written(a, g, path, err);
	pm_graph_free(plain);
	return st;
}

static PmStatus run(Args *args, PmApply *a, PmErr *err)
{
	PmGraph *g = NULL;
	PmStatus st = pm_pass_list_make(&args->given, args->folder, &args->pass, err);

	if (!st)
		st = pm_cli_load(args->model, &g, NULL, err);
	if (!st)
		st = pm_apply(g, (const char *const *)args->pass.path.v, args->pass.path.n, args->deadline, a,
			      err);
	return st ? st : write_model(args, a, args->out, err);
}

static PmStatus write_kernels(Args *args, const PmApply *a, PmErr *err)
{
	PmOrtArchs archs = { args->archs.emu, args->archs.cc, args->archs.n_cc, pm_cpu_count() };

	return pm_ort_kernels_make(a->after, &archs, args->kernels, &args->written, err);
}

/* ---- with a bank ---- */

/* The architecture that is asked for, else that of this machine's GPU; 0 = there is none. */
static int arch_of(const Args *args)
{
	static const char *const wanted[] = { "GPU", NULL };
	PmFound found[PM_MAX_PROBES];
	const PmFound *gpu;
	const char *cc;
	int n, major = 0, minor = 0;

	if (!args->arch_text && args->target)
		return pm_target_now()->compute_capability;
	if (args->arch_text)
		return args->archs.n_cc ? args->archs.cc[0] : 0;
	n = pm_probe_some(wanted, found);
	gpu = pm_probe_find(found, n, "GPU");
	cc = gpu && gpu->found ? strstr(gpu->version, "compute capability ") : NULL;
	return cc && sscanf(cc, "compute capability %d.%d", &major, &minor) == 2 ? major * 10 + minor : 0;
}

static PmStatus digest_file(const char *path, char hex[PM_SHA256_HEX], PmErr *err)
{
	PmMap map;
	PmStatus st = pm_map_file(path, &map, err);

	if (!st) {
		pm_sha256_hex(map.p, map.n, hex);
		pm_unmap(&map);
	}
	return st;
}

static PmStatus write_lock(const Args *args, const PmBankUse *u, const char *sha256, PmErr *err)
{
	cJSON *j = pm_bank_lock(u, args->model, args->out, sha256, args->plain);
	PmStr path = PM_STR_INIT, text = PM_STR_INIT;
	PmStatus st;

	pm_str_addf(&path, "%s.lock", args->out);
	pm_json_print(j, 1, &text);
	st = pm_write_file(path.s, text.s, text.len, err);
	cJSON_Delete(j);
	pm_str_release(&path);
	pm_str_release(&text);
	return st;
}

/* Under another name first: the file is there only when it is what the lock says. */
static PmStatus write_locked(const Args *args, PmBankUse *u, PmErr *err)
{
	PmStr path = PM_STR_INIT, name = PM_STR_INIT, dir = PM_STR_INIT;
	char hex[PM_SHA256_HEX];
	PmStatus st;

	pm_path_dir(args->out, &dir);
	pm_str_addf(&name, ".%ld.%s", (long)getpid(), pm_path_base(args->out));
	pm_path_join(dir.s, name.s, &path);
	st = write_model(args, &u->a, path.s, err);
	if (!st)
		st = digest_file(path.s, hex, err);
	if (!st)
		pm_bank_lock_compare(u, hex);
	if (!st && !cJSON_GetArraySize(u->changed) && rename(path.s, args->out))
		st = pm_path_error("write", args->out, 1, err);
	unlink(path.s); /* as far as it is still there */
	pm_str_release(&path);
	pm_str_release(&name);
	pm_str_release(&dir);
	return st;
}

static PmStatus run_bank(Args *args, PmBankUse *u, PmErr *err)
{
	PmBankOpts opts = { .any_arch = args->any_arch, .seconds = args->deadline };
	PmGraph *g = NULL;
	char hex[PM_SHA256_HEX];
	PmStatus st = args->lock ? pm_bank_lock_read(args->lock, &args->locked, err) : PM_OK;

	opts.lock = args->locked;
	/* Locks of versions before targets were made for the first. */
	if (args->locked)
		st = pm_target_choose(pm_json_str(args->locked, "target", pm_target_at(0)->name), NULL, err);
	if (args->locked)
		args->plain = cJSON_IsTrue(cJSON_GetObjectItem(args->locked, "plain"));
	else if (!st)
		opts.cc = arch_of(args);
	if (!st)
		st = pm_cli_load(args->model, &g, NULL, err);
	if (!st)
		st = pm_bank_use(args->bank, g, &opts, u, err);
	if (st || cJSON_GetArraySize(u->changed))
		return st;
	if (args->locked)
		return write_locked(args, u, err);
	st = write_model(args, &u->a, args->out, err);
	if (!st)
		st = digest_file(args->out, hex, err);
	return st ? st : write_lock(args, u, hex, err);
}

/* ---- arguments ---- */

static int check_bank(const PmCmd *cmd, const Args *a)
{
	if (!a->bank && (a->lock || a->any_arch))
		return pm_cli_usage(cmd, "--lock and --any-arch go with --bank DIR.");
	if (a->lock && (a->arch_text || a->target || a->any_arch || a->plain || a->kernels))
		return pm_cli_usage(
			cmd, "--lock does what its file says: give no --arch, --target, --any-arch, --plain "
			     "and --ort-kernels with it.");
	if (a->bank && a->archs.n_cc > 1)
		return pm_cli_usage(
			cmd, "With --bank, --arch takes one architecture such as sm_90: passes are chosen "
			     "by what was measured on it.");
	return 0;
}

static int check_args(const PmCmd *cmd, Args *a, const PmStrList *files)
{
	int passes = a->folder || a->given.list.n, code;

	if (files->list.n != 1 || !a->out || (!passes && !a->bank))
		return pm_cli_usage(
			cmd, "apply takes one model, -o OUT and --passes DIR, --pass PASS.so or --bank DIR.");
	if (passes && a->bank)
		return pm_cli_usage(
			cmd, "--bank brings its own passes: give neither --pass nor --passes with it.");
	if (a->plain && a->kernels)
		return pm_cli_usage(cmd, "--plain writes no kernels, so that --ort-kernels has none.");
	if (a->arch_text && !a->kernels && !a->bank)
		return pm_cli_usage(cmd, "--arch goes with --ort-kernels FILE or --bank DIR.");
	code = pm_arch_list(cmd, a->arch_text, &a->archs);
	return code ? code : check_bank(cmd, a);
}

static void finish(const Args *args, const PmApply *a, const PmBankUse *u)
{
	if (pm_cli_json) {
		put_json(args, a, u);
	} else if (cJSON_GetArraySize(u->changed)) {
		put_changed(args, u);
	} else {
		put_text(args, a);
		if (args->bank)
			put_bank(u);
	}
}

/* Returns the exit code. */
static int work(Args *args)
{
	PmApply own = { 0 }, *a = &own;
	PmBankUse u = { 0 };
	PmDb *db = NULL;
	PmErr err;
	PmStatus st;
	int code;

	pm_err_init(&err);
	st = args->db ? pm_db_open(args->db, 0, &db, &err) : PM_OK;
	if (args->bank)
		a = &u.a;
	if (!st)
		st = args->bank ? run_bank(args, &u, &err) : run(args, a, &err);
	if (!st && args->kernels && a->applied)
		st = write_kernels(args, a, &err);
	if (!st && db && a->after)
		st = pm_apply_store(db, a, args->model, NULL, &err);
	code = st ? pm_cli_fail(&err) : a->applied == 0 || cJSON_GetArraySize(u.changed) > 0;
	if (!st)
		finish(args, a, &u);
	pm_apply_release(&own);
	pm_bank_use_release(&u);
	pm_db_close(db);
	cJSON_Delete(args->locked);
	return code;
}

int pm_cmd_apply(const PmCmd *cmd, int argc, char **argv)
{
	Args args = { .deadline = 60 };
	const PmOpt opts[] = {
		{ "--passes", PM_OPT_STR, &args.folder, "a folder of passes: every *.so in it, by name" },
		{ "--pass", PM_OPT_LIST, &args.given,
		  "a pass (may be given several times); these come first" },
		{ "--bank", PM_OPT_STR, &args.bank,
		  "instead: a bank (passmith bank); the regions that save most together are chosen" },
		{ "--any-arch", PM_OPT_FLAG, &args.any_arch,
		  "bank: what was measured on any architecture counts" },
		{ "--lock", PM_OPT_STR, &args.lock,
		  "bank: do what this file says (OUT.lock of an earlier run), or say what changed" },
		{ "-o", PM_OPT_STR, &args.out, "where to write the model: .onnx, or text otherwise" },
		{ "--plain", PM_OPT_FLAG, &args.plain,
		  "write standard operators in the place of kernels, without their sources" },
		{ "--ort-kernels", PM_OPT_STR, &args.kernels,
		  "FILE  also compile the kernels, for ONNX Runtime to run (libpassmith_ort)" },
		{ "--arch", PM_OPT_STR, &args.arch_text,
		  "LIST  what --ort-kernels compiles for: emu (this CPU), sm_80, sm_90, ... (default emu); "
		  "bank: "
		  "choose by what was measured on this one (default: this machine's)" },
		PM_OPT_TARGET_ROW(&args.target),
		{ "--deadline", PM_OPT_NUM, &args.deadline, "seconds each pass may take (default 60)" },
		{ "--db", PM_OPT_STR, &args.db, "database to store it in, for passmith report" },
		{ 0 },
	};
	PmStrList files = { 0 };
	int code = 0;

	if (pm_args_parse(cmd, opts, argc, argv, &files, &code)) {
		code = check_args(cmd, &args, &files);
		args.model = files.list.n ? files.list.v[0] : NULL;
		if (!code)
			code = work(&args);
	}
	pm_pass_list_release(&args.pass);
	PM_VEC_RELEASE(&args.given.list);
	PM_VEC_RELEASE(&files.list);
	return code;
}
