/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_bank.c - passmith bank: a folder of accepted passes with the evidence for them. */
#include "cli/cmds.h"

#include "app/bank/add.h"
#include "app/bank/check.h"
#include "app/bank/evidence.h"
#include "app/report/put.h"
#include "base/sys/io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Args {
	const char *verb, *dir, *pass, *db, *record, *key, *tasks, *device, *above_text;
	PmStrList sources;
	double above;
} Args;

/* ---- add ---- */

static PmStatus find_evidence(const Args *a, const PmObject *object, cJSON *list, PmErr *err)
{
	PmStrList tasks = { 0 };
	char *words = pm_args_words(a->tasks, &tasks);
	PmBankQuery q = { .device = a->device };
	PmDb *db = NULL;
	PmStatus st = PM_OK;

	q.task = tasks.list.v;
	q.n_tasks = tasks.list.n;
	if (a->db)
		st = pm_db_open(a->db, PM_DB_MUST_EXIST, &db, err);
	if (!st && a->db)
		st = pm_bank_from_db(db, object, &q, list, err);
	if (!st && a->record)
		st = pm_bank_from_record(a->record, a->key, object, list, err);
	pm_db_close(db);
	PM_VEC_RELEASE(&tasks.list);
	free(words);
	return st;
}

static void say_added(const Args *a, const PmObject *object, const cJSON *list, const PmBankAdded *r,
		      const char *why)
{
	cJSON *j = cJSON_CreateObject();

	if (!pm_cli_json && *why)
		printf("%s is not accepted: %s\n", a->pass, why);
	else if (!pm_cli_json)
		printf("%s/%s: %s, %d piece%s of evidence, %d new\n", a->dir, r->folder,
		       r->is_new ? "added" : "it was there", r->n, r->n == 1 ? "" : "s", r->n_new);
	cJSON_AddStringToObject(j, "bank", a->dir);
	cJSON_AddStringToObject(j, "pass", a->pass);
	cJSON_AddStringToObject(j, "sha256", object->sha256);
	cJSON_AddBoolToObject(j, "accepted", !*why);
	cJSON_AddStringToObject(j, "why", why);
	cJSON_AddStringToObject(j, "entry", r->folder ? r->folder : "");
	cJSON_AddBoolToObject(j, "is_new", r->is_new);
	pm_json_add_i64(j, "evidence", r->n);
	pm_json_add_i64(j, "evidence_new", r->n_new);
	pm_json_add_i64(j, "evidence_found", cJSON_GetArraySize(list));
	pm_cli_put_json(j);
}

static PmStatus add(const Args *a, int *no, PmErr *err)
{
	PmObject object = { .bytes = PM_STR_INIT };
	PmBankFiles files = { a->sources.list.v, a->sources.list.n, a->record, a->above };
	PmBankAdded r = { 0 };
	cJSON *list = cJSON_CreateArray();
	PmStr why = PM_STR_INIT;
	PmStatus st = pm_object_read(a->pass, &object, err);

	if (!st && *object.refused)
		st = pm_err(err, PM_E_INVALID, "%s", object.refused);
	if (!st)
		st = find_evidence(a, &object, list, err);
	if (!st && !pm_bank_accepts(list, a->above, &why))
		*no = 1;
	else if (!st)
		st = pm_bank_add(a->dir, &object, list, &files, &r, err);
	if (!st)
		say_added(a, &object, list, &r, why.s);
	free(r.folder);
	cJSON_Delete(list);
	pm_str_release(&why);
	pm_object_release(&object);
	return st;
}

/* ---- list ---- */

/* What a bank has of a pass on one architecture: a line of the table. */
typedef struct Row {
	const PmBankEntry *e;
	char arch[96];
	int measured;
	PmStr tasks;
	int n_tasks, n; /* variants */
	double sum;     /* of ln(speedup) */
	int64_t last;
} Row;

typedef struct Rows {
	PM_VEC(Row) v;
} Rows;

static void arch_of(const cJSON *e, char *out, size_t size)
{
	const char *gpu = pm_json_str(cJSON_GetObjectItem(e, "machine"), "GPU", "");

	if (!pm_bank_is_measured(e))
		snprintf(out, size, "%s", pm_json_str(e, "profile", ""));
	else
		snprintf(out, size, "sm_%d (%.*s)", pm_bank_cc(e), (int)strcspn(gpu, ","), gpu);
}

static void add_row(Rows *rows, const PmBankEntry *e, const cJSON *piece)
{
	char arch[96];
	const char *task = pm_json_str(cJSON_GetObjectItem(piece, "task"), "name", "");
	int64_t at = pm_json_i64(piece, "at", 0);
	Row *r = NULL;
	double sum;

	arch_of(piece, arch, sizeof arch);
	for (size_t i = 0; i < rows->v.n; i++)
		if (rows->v.v[i].e == e && !strcmp(rows->v.v[i].arch, arch))
			r = &rows->v.v[i];
	if (!r) {
		Row new = { .e = e, .measured = pm_bank_is_measured(piece), .tasks = PM_STR_INIT };

		snprintf(new.arch, sizeof new.arch, "%s", arch);
		PM_VEC_PUSH(&rows->v, new);
		r = &rows->v.v[rows->v.n - 1];
	}
	pm_str_addf(&r->tasks, "%s%s", r->tasks.len ? ", " : "", task);
	r->n_tasks++;
	r->n += pm_bank_logs(piece, &sum);
	r->sum += sum;
	r->last = at > r->last ? at : r->last;
}

static void put_row(const Row *r, cJSON *list)
{
	double gain = r->n ? exp(r->sum / r->n) : NAN;
	char date[32];
	cJSON *j = cJSON_CreateObject();

	pm_put_date_text(r->last, date, sizeof date);
	if (!pm_cli_json)
		printf("  %-24s %6.3fx  %-24s %-9s %-10s  %s\n", pm_bank_name(r->e), gain, r->arch,
		       r->measured ? "measured" : "modelled", date, r->tasks.s);
	cJSON_AddStringToObject(j, "pass", pm_bank_name(r->e));
	cJSON_AddStringToObject(j, "sha256", pm_bank_sha256(r->e));
	cJSON_AddStringToObject(j, "entry", r->e->folder);
	cJSON_AddStringToObject(j, "tasks", r->tasks.s);
	pm_json_add_i64(j, "evidence", r->n_tasks);
	pm_json_add_i64(j, "variants", r->n);
	pm_json_add_num(j, "gain", gain);
	cJSON_AddStringToObject(j, "architecture", r->arch);
	cJSON_AddStringToObject(j, "time", r->measured ? "measured" : "modelled");
	cJSON_AddStringToObject(j, "date", date);
	cJSON_AddItemToArray(list, j);
}

static PmStatus list(const Args *a, PmErr *err)
{
	cJSON *j = cJSON_CreateObject(), *out;
	Rows rows = { 0 };
	PmBank b;
	PmStatus st = pm_bank_open(a->dir, &b, err);

	cJSON_AddStringToObject(j, "bank", a->dir);
	out = cJSON_AddArrayToObject(j, "passes");
	for (size_t i = 0; i < b.entry.n && !st; i++) {
		const cJSON *e;

		cJSON_ArrayForEach(e, pm_bank_evidence(&b.entry.v[i])) add_row(&rows, &b.entry.v[i], e);
	}
	if (!st && !pm_cli_json)
		printf("  %-24s %7s  %-24s %-9s %-10s  %s\n", "pass", "gain", "architecture", "times", "date",
		       "tasks");
	for (size_t i = 0; i < rows.v.n; i++) {
		put_row(&rows.v.v[i], out);
		pm_str_release(&rows.v.v[i].tasks);
	}
	if (!st)
		pm_cli_put_json(j);
	else
		cJSON_Delete(j);
	PM_VEC_RELEASE(&rows.v);
	pm_bank_release(&b);
	return st;
}

/* ---- verify ---- */

static void put_problems(const cJSON *problems)
{
	const cJSON *p;

	cJSON_ArrayForEach(p, problems)
	{
		printf("  %s: %s\n", pm_json_str(p, "entry", ""), pm_json_str(p, "what", ""));
	}
}

static PmStatus verify(const Args *a, int *no, PmErr *err)
{
	cJSON *j = cJSON_CreateObject(), *problems;
	PmBank b;
	PmStatus st = pm_bank_open(a->dir, &b, err);

	cJSON_AddStringToObject(j, "bank", a->dir);
	pm_json_add_i64(j, "entries", (int64_t)b.entry.n);
	problems = cJSON_AddArrayToObject(j, "problems");
	if (!st)
		st = pm_bank_check(&b, problems, err);
	*no = !st && cJSON_GetArraySize(problems) > 0;
	if (!st && !pm_cli_json)
		put_problems(problems);
	if (!st && !pm_cli_json)
		printf("%s: %zu entr%s, %d problem%s\n", a->dir, b.entry.n, b.entry.n == 1 ? "y" : "ies",
		       cJSON_GetArraySize(problems), cJSON_GetArraySize(problems) == 1 ? "" : "s");
	if (!st)
		cJSON_AddBoolToObject(j, "holds", !*no);
	if (!st)
		pm_cli_put_json(j);
	else
		cJSON_Delete(j);
	pm_bank_release(&b);
	return st;
}

/* ---- the command ---- */

static int check_args(const PmCmd *cmd, Args *a, const PmStrList *files)
{
	size_t n = files->list.n;
	int adds;

	a->verb = n ? files->list.v[0] : "";
	a->dir = n > 1 ? files->list.v[1] : "";
	a->pass = n > 2 ? files->list.v[2] : NULL;
	adds = !strcmp(a->verb, "add");
	a->above = 1;
	if (!adds && strcmp(a->verb, "list") != 0 && strcmp(a->verb, "verify") != 0)
		return pm_cli_usage(cmd, "bank takes add, list or verify, and the folder of the bank.");
	if (n != (adds ? 3 : 2))
		return pm_cli_usage(cmd, "bank %s takes the folder of the bank%s.", a->verb,
				    adds ? " and one PASS.so" : " alone");
	if (adds && !a->db && !a->record)
		return pm_cli_usage(cmd, "bank add takes the evidence from --db FILE or --record FILE.");
	if (!adds && (a->db || a->record || a->sources.list.n || a->tasks || a->device || a->above_text))
		return pm_cli_usage(cmd, "bank %s takes none of the options of bank add.", a->verb);
	if (a->above_text && (!pm_parse_f64(a->above_text, &a->above) || !(a->above >= 0)))
		return pm_cli_usage(cmd, "--above takes a number from 0.");
	return 0;
}

int pm_cmd_bank(const PmCmd *cmd, int argc, char **argv)
{
	Args a = { 0 };
	const PmOpt opts[] = {
		{ "--db", PM_OPT_STR, &a.db, "add: database with evaluations of the pass" },
		{ "--record", PM_OPT_STR, &a.record, "add: a sealed record of passmith eval" },
		{ "--key", PM_OPT_STR, &a.key, "add: the public key that must have signed the record" },
		{ "--source", PM_OPT_LIST, &a.sources, "FILE  add: a source to keep (several times)" },
		{ "--tasks", PM_OPT_STR, &a.tasks, "A,B  add: evaluations on these tasks only" },
		{ "--device", PM_OPT_DEVICE, &a.device, "add: evaluations on this device only: emu or cuda" },
		{ "--above", PM_OPT_STR, &a.above_text,
		  "X  add: AS over the variants on which the pass matches has to be above X (default 1)" },
		{ 0 },
	};
	PmStrList files = { 0 };
	PmErr err;
	int code = 0, no = 0;

	pm_err_init(&err);
	if (pm_args_parse(cmd, opts, argc, argv, &files, &code)) {
		code = check_args(cmd, &a, &files);
		if (!code) {
			PmStatus st = *a.verb == 'a'   ? add(&a, &no, &err)
				      : *a.verb == 'l' ? list(&a, &err)
						       : verify(&a, &no, &err);

			code = st ? pm_cli_fail(&err) : no;
		}
	}
	PM_VEC_RELEASE(&a.sources.list);
	PM_VEC_RELEASE(&files.list);
	return code;
}
