/* SPDX-License-Identifier: Apache-2.0 */
/* item.c - evaluating one item: into a database of this machine, out of which findings are published. */
#include "app/cluster/item.h"

#include "app/cluster/folder.h"
#include "app/cluster/items.h"
#include "app/eval/eval_task.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"
#include "dataset/store/jsonl.h"
#include "dataset/store/tasks.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Run {
	const PmItemWork *w;
	const PmClusterTask *task;
	const PmClusterPass *pass;
	PmDb *db;
	PmStr so;           /* the pass, on this machine */
	PmIntern *known;    /* digests of the rows that are published */
	PmClusterHead head; /* its seconds: of tries before */
	double began;
	unsigned next; /* number of the next part */
	PmItemEnd *end;
} Run;

/* ---- what is needed ---- */

/* The pass, checked, under the name that it had. */
static PmStatus fetch_pass(Run *r, PmErr *err)
{
	PmStr from = PM_STR_INIT, bytes = PM_STR_INIT, dir = PM_STR_INIT;
	char name[PM_SHA256_HEX + 8], sha256[PM_SHA256_HEX];
	PmStatus st;

	snprintf(name, sizeof name, "%s.so", r->pass->sha256);
	pm_cluster_path(r->w->plan->dir, "passes", name, &from);
	pm_cluster_path(r->w->local, "passes", r->pass->sha256, &dir);
	pm_path_join(dir.s, pm_path_base(r->pass->path), &r->so);
	st = pm_path_exists(r->so.s) ? PM_DECLINED : pm_read_file(from.s, 0, &bytes, err);
	if (!st) {
		pm_sha256_hex(bytes.s, bytes.len, sha256);
		if (strcmp(sha256, r->pass->sha256))
			st = pm_err(err, PM_E_INVALID,
				    "%s is damaged; make the plan again in another folder.", from.s);
	}
	if (!st)
		st = pm_mkdirs(dir.s, err);
	if (!st)
		st = pm_write_file(r->so.s, bytes.s, bytes.len, err);
	pm_str_release(&from);
	pm_str_release(&bytes);
	pm_str_release(&dir);
	return st == PM_DECLINED ? PM_OK : st;
}

/* A database of this item alone; one of an earlier try of this worker goes on. */
static PmStatus open_db(Run *r, PmErr *err)
{
	PmStr path = PM_STR_INIT, made = PM_STR_INIT, all = PM_STR_INIT;
	PmDb *tasks = NULL;
	int64_t task;
	PmStatus st = PM_OK;

	pm_str_addf(&path, "%s/item-%zu.db", r->w->local, r->w->item);
	pm_str_addf(&made, "%s.new", path.s);
	pm_cluster_path(r->w->local, NULL, "tasks.db", &all);
	if (!pm_path_exists(path.s)) {
		unlink(made.s);
		st = pm_db_open(all.s, PM_DB_READ_ONLY, &tasks, err);
		if (!st)
			st = pm_task_find(tasks, r->task->hash, &task, err);
		if (!st)
			st = pm_tasks_copy(tasks, &task, 1, made.s, err);
		if (!st && rename(made.s, path.s))
			st = pm_path_error("rename", made.s, 1, err);
		pm_db_close(tasks);
	}
	if (!st)
		st = pm_db_open(path.s, PM_DB_MUST_EXIST, &r->db, err);
	pm_str_release(&path);
	pm_str_release(&made);
	pm_str_release(&all);
	return st;
}

/* Appends to *fresh the rows that are not known as published. */
static void find_new(Run *r, const PmStr *rows, PmStr *fresh)
{
	for (const char *p = rows->s, *e; (e = strchr(p, '\n')) != NULL; p = e + 1) {
		uint64_t h = pm_hash64(p, (size_t)(e - p), PM_HASH_SEED);

		if (pm_intern_find(r->known, (const char *)&h, sizeof h) == UINT32_MAX)
			pm_str_addn(fresh, p, (size_t)(e - p) + 1);
	}
}

/* These rows are published. */
static void know(Run *r, const PmStr *rows)
{
	for (const char *p = rows->s, *e; (e = strchr(p, '\n')) != NULL; p = e + 1) {
		uint64_t h = pm_hash64(p, (size_t)(e - p), PM_HASH_SEED);

		pm_intern(r->known, (const char *)&h, sizeof h);
	}
}

static PmStatus import(Run *r, const char *path, const PmStr *rows, PmErr *err)
{
	FILE *f = rows->len ? fmemopen(rows->s, rows->len, "r") : NULL;
	PmStatus st;

	if (!rows->len)
		return PM_OK;
	if (!f)
		return pm_err(err, PM_E_ENV, "%s cannot be read: %s.", path, strerror(errno));
	st = pm_db_import(r->db, f, path, NULL, err);
	fclose(f);
	if (!st)
		know(r, rows);
	return st;
}

/* What earlier tries published. */
static PmStatus import_partials(Run *r, PmErr *err)
{
	const PmClusterPlan *p = r->w->plan;
	PmStr path = PM_STR_INIT, rows = PM_STR_INIT;
	PmNames names = { 0 };
	double seconds = 0;
	PmStatus st = pm_item_partials(p, r->w->item, &names, err);

	r->next = 1;
	for (size_t i = 0; i < names.n && !st; i++) {
		int64_t number = pm_cluster_number(names.v[i], ".");

		pm_str_clear(&path);
		pm_str_clear(&rows);
		pm_item_partial_path(p, r->w->item, names.v[i], &path);
		st = pm_cluster_findings_read(path.s, &r->head, &rows, err);
		if (!st)
			st = import(r, path.s, &rows, err);
		else if (st == PM_E_NOT_FOUND) /* another worker published the result just now */
			st = PM_OK;
		seconds = r->head.seconds > seconds ? r->head.seconds : seconds;
		r->next = number >= r->next ? (unsigned)number + 1 : r->next;
	}
	r->head.seconds = seconds;
	pm_names_release(&names);
	pm_str_release(&path);
	pm_str_release(&rows);
	return st;
}

/* ---- what is published ---- */

static PmStatus export_rows(Run *r, PmStr *out, PmErr *err)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	PmStatus st = f ? pm_db_export_runs(r->db, f, err)
			: pm_err(err, PM_E_ENV, "There is no memory for findings: %s.", strerror(errno));

	if (f && fclose(f) && !st)
		st = pm_err(err, PM_E_ENV, "There is no memory for findings: %s.", strerror(errno));
	if (!st)
		pm_str_addn(out, text, n);
	free(text);
	return st;
}

static PmClusterHead head_now(const Run *r)
{
	PmClusterHead head = r->head;

	head.seconds += pm_now() - r->began;
	return head;
}

/* What is in the database and was not published yet. */
static PmStatus publish_new(Run *r, PmErr *err)
{
	PmClusterHead head = head_now(r);
	PmStr all = PM_STR_INIT, rows = PM_STR_INIT, path = PM_STR_INIT;
	char name[PM_CLUSTER_WORKER + 32];
	PmStatus st = export_rows(r, &all, err);

	if (!st)
		find_new(r, &all, &rows);
	if (!st && rows.len) {
		snprintf(name, sizeof name, "%u.%s.jsonl", r->next, r->w->worker);
		pm_item_partial_path(r->w->plan, r->w->item, name, &path);
		st = pm_cluster_findings_write(path.s, &head, &rows, err);
		if (!st) {
			r->next++;
			know(r, &rows);
			pm_item_forget_tries(r->w->plan, r->w->item);
		}
	}
	pm_str_release(&all);
	pm_str_release(&rows);
	pm_str_release(&path);
	return st;
}

static PmStatus publish_result(Run *r, PmErr *err)
{
	PmClusterHead head = head_now(r);
	PmStr rows = PM_STR_INIT, path = PM_STR_INIT;
	PmStatus st = export_rows(r, &rows, err);

	pm_item_result_path(r->w->plan, r->w->item, &path);
	if (!st)
		st = pm_cluster_findings_write(path.s, &head, &rows, err);
	if (!st) {
		r->end->done = 1;
		pm_item_clear(r->w->plan, r->w->item);
	}
	pm_str_release(&rows);
	pm_str_release(&path);
	return st;
}

static void step(void *arg, const char *label)
{
	const Run *r = arg;

	(void)label;
	atomic_fetch_add(&r->w->progress->done, 1);
}

/* The result of a variant is in the database. What cannot be published now is published with the next one:
 * the disk may have room then. */
static void evaluated(void *arg)
{
	Run *r = arg;

	atomic_fetch_add(&r->w->progress->evaluated, 1);
	(void)publish_new(r, NULL);
}

/* ---- the evaluation ---- */

static void look_at(Run *r, const PmEvalReport *report)
{
	for (size_t i = 0; i < report->n; i++) {
		const PmEvalRecord *rec = &report->rec[i];

		if (rec->verdict != PM_VERDICT_HARNESS_FAIL)
			continue;
		if (!r->end->not_judged++)
			snprintf(r->end->why, sizeof r->end->why, "Variant %.100s: %.380s", rec->label,
				 rec->why);
	}
}

/* 1 for what is a matter of this machine: with another one, or later, the same evaluation may go well. */
static int is_of_machine(PmStatus st)
{
	return st == PM_E_IO || st == PM_E_ENV;
}

static PmStatus evaluate(Run *r, PmErr *err)
{
	const PmClusterOptions *o = &r->w->plan->opts;
	PmVariantList variants = { 0 };
	PmEvalReport report = { 0 };
	PmEvalTask e = { .db = r->db,
			 .variants = &variants,
			 .opts = *r->w->opts,
			 .preset = o->preset,
			 .pass_path = r->pass->path,
			 .tf32 = o->tf32,
			 .hidden = (int)o->hidden,
			 .jobs = r->w->jobs,
			 .step = step,
			 .evaluated = evaluated,
			 .step_arg = r };
	PmStatus st = pm_variant_list_of_task(r->db, r->task->hash, &variants, err);

	atomic_store(&r->w->progress->total, (int)variants.list.n);
	if (!st)
		st = pm_eval_task(&e, r->so.s, &report, NULL, err);
	if (!st)
		look_at(r, &report);
	else
		r->end->folder = is_of_machine(st);
	pm_eval_report_release(&report);
	pm_variant_list_release(&variants);
	return st;
}

PmStatus pm_item_evaluate(const PmItemWork *w, PmItemEnd *out, PmErr *err)
{
	const PmClusterItem *it = &w->plan->item.v[w->item];
	Run r = { .w = w,
		  .task = &w->plan->task.v[it->task],
		  .pass = &w->plan->pass.v[it->pass],
		  .so = PM_STR_INIT,
		  .known = pm_intern_new(),
		  .head = { .secret = w->plan->secret, .item = (int64_t)w->item },
		  .began = pm_now(),
		  .end = out };
	PmStatus st = fetch_pass(&r, err);

	*out = (PmItemEnd){ .folder = 1 };
	if (!st)
		st = open_db(&r, err);
	if (!st)
		st = import_partials(&r, err);
	if (!st) {
		out->folder = 0;
		st = evaluate(&r, err);
	}
	if (!st && (!out->not_judged || w->last)) {
		out->folder = 1;
		st = publish_result(&r, err);
	}
	pm_db_close(r.db);
	pm_intern_free(r.known);
	pm_str_release(&r.so);
	return st;
}
