/* SPDX-License-Identifier: Apache-2.0 */
/* pack_write.c - a stored task becomes a folder. */
#include "dataset/pack/pack.h"

#include "base/core/hash.h"
#include "base/core/renamed.h"
#include "base/core/vec.h"
#include "base/sys/io.h"
#include "dataset/store/db_priv.h"
#include "dataset/store/subgraphs.h"
#include "dataset/store/tasks.h"
#include "ir/onnx/onnx.h"
#include "ir/text/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Pack {
	PmDb *db;
	PmStr dir; /* where it is made */
	cJSON *j, *variants, *bases;
	PmStr table, first; /* README: variants, text of the first */
	char hash[PM_SHA256_HEX], name[256], kind[32];
	PmIntern *have; /* hashes of graphs written */
} Pack;

static PmStatus add_file(Pack *p, const char *name, const void *data, size_t n, PmErr *err)
{
	PmStr path = PM_STR_INIT;
	PmStatus st;

	pm_path_join(p->dir.s, name, &path);
	st = pm_write_file(path.s, data, n, err);
	pm_str_release(&path);
	return st;
}

/* Writes a graph and describes it; `file` is below the pack. */
static PmStatus add_graph(Pack *p, const char *text, const char *hash, const char *file, cJSON *list,
			  cJSON **about, PmErr *err)
{
	PmStr onnx = PM_STR_INIT;
	PmGraph *g = NULL;
	char sha[PM_SHA256_HEX];
	PmStatus st = pm_graph_parse(text, strlen(text), &g, err);

	if (!st)
		st = pm_onnx_export_mem(g, &onnx, err);
	if (!st)
		st = add_file(p, file, onnx.s, onnx.len, err);
	if (!st) {
		cJSON *j = cJSON_CreateObject();

		pm_sha256_hex(onnx.s, onnx.len, sha);
		cJSON_AddStringToObject(j, "file", file);
		cJSON_AddStringToObject(j, "sha256", sha);
		cJSON_AddStringToObject(j, "graph", hash);
		cJSON_AddItemToArray(list, j);
		*about = j;
		pm_intern(p->have, hash, strlen(hash));
	}
	pm_graph_free(g);
	pm_str_release(&onnx);
	return st;
}

static PmStatus add_member(void *arg, const PmVariantRow *row, PmErr *err)
{
	Pack *p = arg;
	char file[64];
	cJSON *j = NULL;
	PmStatus st;

	snprintf(file, sizeof file, "graphs/%03lld.onnx", (long long)row->ordinal);
	st = add_graph(p, row->text, row->hash, file, p->variants, &j, err);
	if (st)
		return st;
	cJSON_AddStringToObject(j, "label", row->label);
	pm_json_add_i64(j, "shape", row->shape);
	cJSON_AddStringToObject(j, "dtype", pm_dtype_name(row->dtype));
	if (*row->base)
		cJSON_AddStringToObject(j, "base", row->base);
	if (*row->ref) {
		cJSON_AddStringToObject(j, "ref", row->ref);
		cJSON_AddStringToObject(j, "ref_why", row->ref_why);
	}
	pm_str_addf(&p->table, "| `%s` | %s |\n", file, row->label);
	if (row->ordinal == 0)
		pm_str_add(&p->first, row->text);
	return PM_OK;
}

/* ---- bases, and where they come from ---- */

static PmStatus add_source(void *arg, sqlite3_stmt *row, PmErr *err)
{
	cJSON *j = cJSON_CreateObject();

	(void)err;
	cJSON_AddStringToObject(j, "model", pm__col_text(row, 0));
	cJSON_AddStringToObject(j, "sha256", pm__col_text(row, 1));
	cJSON_AddStringToObject(j, "subgraph", pm__col_text(row, 2));
	cJSON_AddStringToObject(j, "nodes", pm__col_text(row, 3));
	cJSON_AddItemToArray(arg, j);
	return PM_OK;
}

typedef struct Base {
	int64_t id;
	char *hash, *text;
} Base;

typedef PM_VEC(Base) Bases;

static PmStatus take_base(void *arg, sqlite3_stmt *row, PmErr *err)
{
	Bases *b = arg;

	(void)err;
	PM_VEC_PUSH(b, ((Base){ sqlite3_column_int64(row, 0), pm_xstrdup(pm__col_text(row, 1)),
				pm_xstrdup(pm__col_text(row, 2)) }));
	return PM_OK;
}

static PmStatus add_bases(Pack *p, int64_t task, PmErr *err)
{
	cJSON *sources = cJSON_AddArrayToObject(p->j, "sources"), *about;
	Bases b = { NULL, 0, 0 };
	PmStatus st = pm__db_each(p->db, "list bases of variants", take_base, &b, NULL, err,
				  "SELECT s.id, s.hash, s.text FROM (SELECT DISTINCT base FROM variants "
				  "WHERE task = ? AND base IS NOT NULL) m JOIN subgraphs s ON s.id = m.base "
				  "ORDER BY s.hash",
				  "i", task);
	int k = 0;

	for (size_t i = 0; i < b.n && !st; i++) {
		char file[64];

		snprintf(file, sizeof file, "graphs/base%d.onnx", k);
		if (pm_intern_find(p->have, b.v[i].hash, strlen(b.v[i].hash)) == UINT32_MAX) {
			st = add_graph(p, b.v[i].text, b.v[i].hash, file, p->bases, &about, err);
			k++;
		}
		if (!st)
			st = pm__db_each(
				p->db, "list occurrences", add_source, sources, NULL, err,
				"SELECT m.name, m.sha256, s.hash, o.nodes FROM occurrences o "
				"JOIN models m ON m.id = o.model JOIN subgraphs s ON s.id = o.subgraph "
				"WHERE o.subgraph = ? ORDER BY m.sha256, o.nodes",
				"i", b.v[i].id);
	}
	for (size_t i = 0; i < b.n; i++) {
		free(b.v[i].hash);
		free(b.v[i].text);
	}
	PM_VEC_RELEASE(&b);
	return st;
}

/* ---- the two texts ---- */

static PmStatus about_task(void *arg, const PmTaskRow *row, PmErr *err)
{
	Pack *p = arg;
	cJSON *gate = NULL;

	snprintf(p->hash, sizeof p->hash, "%s", row->hash);
	snprintf(p->name, sizeof p->name, "%s", row->name);
	snprintf(p->kind, sizeof p->kind, "%s", row->kind);
	pm_json_add_i64(p->j, "schema", PM_PACK_SCHEMA);
	cJSON_AddStringToObject(p->j, "task", row->hash);
	cJSON_AddStringToObject(p->j, "name", row->name);
	cJSON_AddStringToObject(p->j, "kind", row->kind);
	cJSON_AddStringToObject(p->j, "split", row->split);
	cJSON_AddStringToObject(p->j, "policy", row->policy);
	cJSON_AddStringToObject(p->j, "stratum", row->stratum);
	cJSON_AddStringToObject(p->j, "gate", row->gate);
	if (*row->gate_json && !pm_json_parse(row->gate_json, strlen(row->gate_json), &gate, err))
		cJSON_AddItemToObject(p->j, "gate_report", gate);
	return PM_OK;
}

static PmStatus add_readme(Pack *p, PmErr *err)
{
	PmStr s = PM_STR_INIT;
	PmStatus st;

	pm_str_addf(&s,
		    "# %s\n\nWrite a pass for this: a pattern that matches the graph below in every size and "
		    "element "
		    "type of the table, and\na rewriter that puts a faster kernel in its place. It has to be "
		    "right for "
		    "every one of them.\n\n"
		    "```\n%s```\n\n"
		    "    passmith new my_fusion\n"
		    "    passmith build my_fusion.c\n"
		    "    passmith explain graphs/000.onnx --pass my_fusion.so\n"
		    "    passmith eval . --pass my_fusion.so\n\n"
		    "`task.json` says how it is judged and where it comes from. Inputs are drawn from seeds; "
		    "there are no "
		    "expected outputs\nto look at. Changing a file makes the task another task: `passmith "
		    "task verify .`\n\n"
		    "| graph | what it is |\n| --- | --- |\n%s",
		    p->name, p->first.s, p->table.s);
	st = add_file(p, "README.md", s.s, s.len, err);
	pm_str_release(&s);
	return st;
}

static PmStatus make(Pack *p, int64_t task, const cJSON *rules, PmErr *err)
{
	PmStr graphs = PM_STR_INIT, text = PM_STR_INIT;
	PmStatus st;

	pm_path_join(p->dir.s, "graphs", &graphs);
	st = pm_mkdirs(graphs.s, err);
	if (rules)
		cJSON_AddItemToObject(p->j, "rules", cJSON_Duplicate(rules, 1));
	p->variants = cJSON_AddArrayToObject(p->j, "variants");
	p->bases = cJSON_AddArrayToObject(p->j, "bases");
	if (!st)
		st = pm_task_variants_each(p->db, task, add_member, p, err);
	if (!st)
		st = add_bases(p, task, err);
	pm_json_add_old(p->j, "variants");
	if (!st)
		st = add_readme(p, err);
	if (!st) {
		pm_json_print(p->j, 1, &text);
		st = add_file(p, "task.json", text.s, text.len, err);
	}
	pm_str_release(&graphs);
	pm_str_release(&text);
	return st;
}

PmStatus pm_pack_write(PmDb *db, int64_t task, const char *root, const cJSON *rules, PmStr *dir, int *is_new,
		       PmErr *err)
{
	Pack p = { .db = db, .dir = PM_STR_INIT, .table = PM_STR_INIT, .first = PM_STR_INIT };
	PmStr place = PM_STR_INIT;
	int made = 0;
	PmStatus st;

	p.j = cJSON_CreateObject();
	p.have = pm_intern_new();
	st = pm_task_get(db, task, about_task, &p, err);
	pm_str_addf(&place, "%s/%.2s/%.2s", root, p.hash, p.hash + 2);
	if (!st)
		st = pm_mkdirs(place.s, err);
	pm_str_addf(&p.dir, "%s/.%s.%ld", place.s, p.hash, (long)getpid());
	pm_str_addf(&place, "/%s", p.hash);
	if (!st && !pm_pack_is(place.s)) {
		st = make(&p, task, rules, err);
		/* Another process may have been faster; its pack is the same. */
		if (!st && rename(p.dir.s, place.s) && !pm_pack_is(place.s))
			st = pm_err(err, PM_E_IO,
				    "The pack %s cannot be put in its place: %s; remove what is there.",
				    place.s, strerror(errno));
		made = !st;
		pm_remove_tree(p.dir.s, NULL);
	}
	pm_str_add(dir, place.s);
	if (is_new)
		*is_new = made;
	cJSON_Delete(p.j);
	pm_intern_free(p.have);
	pm_str_release(&p.dir);
	pm_str_release(&p.table);
	pm_str_release(&p.first);
	pm_str_release(&place);
	return st;
}
