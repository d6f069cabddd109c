/* SPDX-License-Identifier: Apache-2.0 */
/* pack_read.c - reading, checking and storing packs. A pack is input from outside. */
#include "dataset/pack/pack.h"

#include "base/core/hash.h"
#include "base/core/renamed.h"
#include "base/core/vec.h"
#include "base/sys/io.h"
#include "dataset/store/db_priv.h"
#include "dataset/store/models.h"
#include "dataset/store/subgraphs.h"
#include "dataset/store/tasks.h"
#include "ir/canon/canon.h"
#include "ir/onnx/onnx.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_MANIFEST = 64 << 20, MAX_GRAPH = 1 << 30 /* bytes of a file */ };

int pm_pack_is(const char *path)
{
	PmStr file = PM_STR_INIT;
	int yes;

	pm_path_join(path, "task.json", &file);
	yes = pm_path_is_dir(path) && pm_path_exists(file.s);
	pm_str_release(&file);
	return yes;
}

static PmStatus bad(const char *dir, PmErr *err, const char *what)
{
	return pm_err(err, PM_E_INVALID, "The pack %s is damaged: %s; unpack or copy it again.", dir, what);
}

/* "graphs/NAME": nothing outside the pack can be named. */
static int good_name(const char *file)
{
	return !strncmp(file, "graphs/", 7) && file[7] && file[7] != '.' && !strchr(file + 7, '/');
}

/* Reads a file of a pack into memory of ours, once: what is hashed is what is parsed. A link is refused,
 * since it names what is not in the pack. */
static PmStatus read_own(const char *dir, const char *file, size_t max, PmStr *out, PmErr *err)
{
	PmStr path = PM_STR_INIT, what = PM_STR_INIT;
	PmStatus st;

	pm_path_join(dir, file, &path);
	if (pm_path_is_link(path.s)) {
		pm_str_addf(&what, "%s is a link", file);
		st = bad(dir, err, what.s);
	} else {
		st = pm_read_file(path.s, max, out, err);
	}
	pm_str_release(&path);
	pm_str_release(&what);
	return st;
}

/* Reads the graph that an entry of the manifest describes. */
static PmStatus read_graph(const char *dir, const cJSON *j, PmGraph **g, PmErr *err)
{
	const char *file = pm_json_str(j, "file", "");
	PmStr path = PM_STR_INIT, what = PM_STR_INIT;
	PmStr bytes = PM_STR_INIT;
	char hex[PM_SHA256_HEX];
	PmStatus st;

	*g = NULL;
	if (!good_name(file))
		return bad(dir, err, "a variant's file is not named graphs/NAME");
	pm_path_join(dir, file, &path);
	st = read_own(dir, file, MAX_GRAPH, &bytes, err);
	if (!st) {
		pm_sha256_hex(bytes.s, bytes.len, hex);
		if (strcmp(hex, pm_json_str(j, "sha256", ""))) {
			pm_str_addf(&what, "%s is not the file that task.json describes", file);
			st = bad(dir, err, what.s);
		}
	}
	if (!st)
		st = pm_onnx_import_mem(bytes.s, bytes.len, path.s, NULL, g, NULL, err);
	if (!st)
		st = pm_canon_hash(*g, PM_CANON_FULL, hex, err);
	if (!st && strcmp(hex, pm_json_str(j, "graph", ""))) {
		pm_str_addf(&what, "the graph in %s is not the one that task.json names", file);
		st = bad(dir, err, what.s);
	}
	pm_str_release(&bytes);
	pm_str_release(&path);
	pm_str_release(&what);
	return st;
}

static PmStatus read_list(const char *dir, const cJSON *list, int is_base, PmPackFn fn, void *arg, PmErr *err)
{
	const cJSON *j;
	PmStatus st = PM_OK;
	int64_t k = 0;

	cJSON_ArrayForEach(j, list)
	{
		PmPackGraph m = { .hash = pm_json_str(j, "graph", ""),
				  .label = pm_json_str(j, "label", ""),
				  .base = pm_json_str(j, "base", ""),
				  .ordinal = is_base ? -1 : k,
				  .shape = (int)pm_json_i64(j, "shape", 0),
				  .dtype = pm_dtype_from_name(pm_json_str(j, "dtype", "")),
				  .ref = pm_json_str(j, "ref", ""),
				  .ref_why = pm_json_str(j, "ref_why", "") };
		PmGraph *g = NULL;

		if (!is_base && m.dtype < 0)
			return bad(dir, err, "a variant has no element type");
		st = read_graph(dir, j, &g, err);
		m.g = g;
		if (!st && fn)
			st = fn(arg, &m, err);
		pm_graph_free(g);
		if (st)
			return st;
		k++;
	}
	return st;
}

static PmStatus check_hash(const char *dir, const cJSON *j, PmErr *err)
{
	const cJSON *variants = cJSON_GetObjectItemCaseSensitive(j, pm_json_key(j, "variants")), *m;
	PM_VEC(const char *) hash = { NULL, 0, 0 };
	char want[PM_SHA256_HEX];
	int ok;

	cJSON_ArrayForEach(m, variants) PM_VEC_PUSH(&hash, pm_json_str(m, "graph", ""));
	pm__task_hash(pm_json_str(j, "kind", ""), hash.v, hash.n, want);
	ok = hash.n > 0 && hash.n <= PM_MAX_TASK_MEMBERS && !strcmp(want, pm_json_str(j, "task", ""));
	PM_VEC_RELEASE(&hash);
	return ok ? PM_OK : bad(dir, err, "the task's hash is not that of its variants");
}

PmStatus pm_pack_read(const char *dir, PmPackFn fn, void *arg, cJSON **manifest, PmErr *err)
{
	PmStr path = PM_STR_INIT, text = PM_STR_INIT;
	cJSON *j = NULL;
	PmStatus st;

	pm_path_join(dir, "graphs", &path);
	if (pm_path_is_link(path.s)) {
		pm_str_release(&path);
		return bad(dir, err, "graphs is a link");
	}
	pm_str_clear(&path);
	pm_path_join(dir, "task.json", &path);
	st = read_own(dir, "task.json", MAX_MANIFEST, &text, err);
	if (!st && (st = pm_json_parse(text.s, text.len, &j, err)))
		pm_err_ctx(err, "%s", path.s);
	if (!st && pm_json_i64(j, "schema", 0) != PM_PACK_SCHEMA)
		st = pm_err(err, PM_E_UNSUPPORTED,
			    "%s has schema %lld, but this program knows %d; use the passmith that made it.",
			    path.s, (long long)pm_json_i64(j, "schema", 0), PM_PACK_SCHEMA);
	if (!st)
		st = check_hash(dir, j, err);
	if (!st)
		st = read_list(dir, cJSON_GetObjectItemCaseSensitive(j, "bases"), 1, fn, arg, err);
	if (!st)
		st = read_list(dir, cJSON_GetObjectItemCaseSensitive(j, pm_json_key(j, "variants")), 0, fn,
			       arg, err);
	pm_str_release(&path);
	pm_str_release(&text);
	if (manifest && !st)
		*manifest = j;
	else
		cJSON_Delete(j);
	return st;
}

/* ---- storing ---- */

typedef struct Unpack {
	PmDb *db;
	PmTaskBuilder *b;
	const char *kind;
	PM_VEC(PmPackGraph) member; /* graphs are copies */
} Unpack;

static PmStatus keep(void *arg, const PmPackGraph *m, PmErr *err)
{
	Unpack *u = arg;
	PmPackGraph k = *m;
	PmGraph *g = NULL;
	PmStatus st = pm_graph_clone(m->g, &g, err);

	if (st)
		return st;
	k.g = g;
	k.hash = pm_xstrdup(m->hash);
	k.label = pm_xstrdup(m->label);
	k.base = pm_xstrdup(m->base);
	k.ref = pm_xstrdup(m->ref);
	k.ref_why = pm_xstrdup(m->ref_why);
	PM_VEC_PUSH(&u->member, k);
	return PM_OK;
}

static int is_base(const Unpack *u, const char *hash)
{
	for (size_t i = 0; i < u->member.n; i++)
		if (!strcmp(u->member.v[i].base, hash))
			return 1;
	return 0;
}

static PmStatus add_variants(Unpack *u, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < u->member.n && !st; i++) {
		const PmPackGraph *m = &u->member.v[i];
		int64_t id;

		if (is_base(u, m->hash))
			st = pm_subgraph_put(u->db, m->g, NULL, u->kind, &id, NULL, err);
	}
	for (size_t i = 0; i < u->member.n && !st; i++) {
		const PmPackGraph *m = &u->member.v[i];
		int64_t base = 0;

		if (m->ordinal < 0)
			continue;
		if (*m->base)
			st = pm_subgraph_find(u->db, m->base, &base, err);
		pm_task_set_base(u->b, base);
		pm_task_set_ref(u->b, m->ref, m->ref_why);
		if (!st)
			st = pm_task_add(u->b, m->g, m->label, m->shape, m->dtype, err);
	}
	return st;
}

static PmStatus add_sources(PmDb *db, const char *dir, const cJSON *sources, PmErr *err)
{
	const cJSON *j;
	PmStatus st = PM_OK;

	cJSON_ArrayForEach(j, sources)
	{
		const char *name = pm_json_str(j, "model", ""), *p = pm_json_str(j, "nodes", "");
		PmModelRow row = { .sha256 = pm_json_str(j, "sha256", ""),
				   .path = name,
				   .name = name,
				   .ok = 0,
				   .error = "known from a pack only" };
		PM_VEC(PmNode) nodes = { NULL, 0, 0 };
		int64_t model = 0, sub = 0;

		st = pm__db_i64(db, "look a model up", &model, err, "SELECT id FROM models WHERE sha256 = ?",
				"s", row.sha256);
		if (st == PM_E_NOT_FOUND)
			st = pm_model_put(db, &row, &model, err);
		if (!st)
			st = pm_subgraph_find(db, pm_json_str(j, "subgraph", ""), &sub, err);
		while (!st && *p) {
			char *end;
			unsigned long id = strtoul(p, &end, 10);

			/* strtoul takes a minus sign, and what is too large becomes another number. */
			if (end == p || *p == '-' || id == 0 || id > UINT32_MAX || (*end && *end != ','))
				st = bad(dir, err, "a list of nodes is no list of numbers");
			PM_VEC_PUSH(&nodes, ((PmNode){ (uint32_t)id }));
			p = *end ? end + 1 : end;
		}
		if (!st)
			st = pm_occurrence_put(db, model, sub, nodes.v, nodes.n, err);
		PM_VEC_RELEASE(&nodes);
		if (st)
			break;
	}
	return st;
}

static PmStatus store(Unpack *u, const char *dir, const cJSON *j, int64_t *id, int *is_new, PmErr *err)
{
	const cJSON *gate = cJSON_GetObjectItemCaseSensitive(j, "gate_report");
	PmStr report = PM_STR_INIT;
	PmStatus st = pm__db_enter(u->db, err);

	if (st)
		return st;
	if (gate)
		pm_json_print(gate, 0, &report);
	if (report.len) /* stored without the line's end */
		report.s[--report.len] = '\0';
	u->kind = pm_json_str(j, "kind", "");
	u->b = pm_task_begin(pm_json_str(j, "name", ""), u->kind);
	pm_task_set_about(u->b, pm_json_str(j, "split", ""), pm_json_str(j, "policy", ""),
			  pm_json_str(j, "stratum", ""), pm_json_str(j, "gate", ""), report.s);
	st = add_variants(u, err);
	if (!st) {
		st = pm_task_end(u->b, u->db, id, is_new, err);
		u->b = NULL;
	}
	if (!st)
		st = add_sources(u->db, dir, cJSON_GetObjectItemCaseSensitive(j, "sources"), err);
	pm_task_drop(u->b);
	pm_str_release(&report);
	return pm__db_leave(u->db, st, err);
}

PmStatus pm_pack_unpack(const char *dir, PmDb *db, int64_t *id, int *is_new, PmErr *err)
{
	Unpack u = { .db = db };
	cJSON *j = NULL;
	PmStatus st = pm_pack_read(dir, keep, &u, &j, err);

	if (!st)
		st = store(&u, dir, j, id, is_new, err);
	for (size_t i = 0; i < u.member.n; i++) {
		pm_graph_free(pm_unconst(u.member.v[i].g));
		free(pm_unconst(u.member.v[i].hash));
		free(pm_unconst(u.member.v[i].label));
		free(pm_unconst(u.member.v[i].base));
		free(pm_unconst(u.member.v[i].ref));
		free(pm_unconst(u.member.v[i].ref_why));
	}
	PM_VEC_RELEASE(&u.member);
	cJSON_Delete(j);
	return st;
}
