/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_pack.c - a pack whose task.json was changed: refused with one sentence, or read as the task it names.
 *
 * The first two bytes say where the others are written over (even) or put into (odd) a good manifest, so that
 * the hashes in it stay right when the exporter changes. Without bytes it is the good pack itself.
 */
#include "base/core/str.h"
#include "base/sys/io.h"
#include "dataset/pack/pack.h"
#include "dataset/store/tasks.h"
#include "ir/text/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static PmDb *db;
static PmStr pack = PM_STR_INIT, manifest = PM_STR_INIT, root = PM_STR_INIT, file = PM_STR_INIT;

static void need(int ok, const char *what, const PmErr *err)
{
	if (!ok)
		PM_BUG("%s: %s", what, err->text);
}

static void at_exit(void)
{
	pm_db_close(db);
	pm_remove_tree(root.s, NULL);
	pm_str_release(&root);
	pm_str_release(&pack);
	pm_str_release(&file);
	pm_str_release(&manifest);
}

static PmGraph *small(int rows, PmErr *err)
{
	PmStr text = PM_STR_INIT;
	PmGraph *g = NULL;

	pm_str_addf(&text, "g (float[%d,4] x) => (float[%d,4] y) { t = Relu (x)\n y = Exp (t) }", rows, rows);
	need(pm_graph_parse(text.s, text.len, &g, err) == PM_OK, "no graph", err);
	pm_str_release(&text);
	return g;
}

/* A task of two graphs, packed below a folder of its own. */
static void make_once(void)
{
	PmTaskBuilder *b = pm_task_begin("fuzzed", "fusible");
	PmStr path = PM_STR_INIT;
	int64_t task = 0;
	int is_new;
	PmErr err;

	pm_err_init(&err);
	need(pm_temp_dir("fuzz-pack", &root, &err) == PM_OK, "no folder", &err);
	pm_path_join(root.s, "f.db", &path);
	need(pm_db_open(path.s, 0, &db, &err) == PM_OK, "no database", &err);
	for (int rows = 2; rows < 4; rows++) {
		PmGraph *g = small(rows, &err);

		pm_task_set_ref(b, "whole", "");
		need(pm_task_add(b, g, "rows", rows, PM_F32, &err) == PM_OK, "no member", &err);
		pm_graph_free(g);
	}
	need(pm_task_end(b, db, &task, &is_new, &err) == PM_OK, "no task", &err);
	need(pm_pack_write(db, task, root.s, NULL, &pack, &is_new, &err) == PM_OK, "no pack", &err);
	pm_path_join(pack.s, "task.json", &file);
	need(pm_read_file(file.s, 0, &manifest, &err) == PM_OK, "no manifest", &err);
	pm_str_release(&path);
	atexit(at_exit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	PmStr text = PM_STR_INIT;
	size_t at, cut;
	int64_t task;
	int is_new;
	PmStatus st;
	PmErr err;

	pm_err_init(&err);
	if (!db)
		make_once();
	at = n < 2 ? 0 : ((size_t)data[0] << 8 | data[1]) % manifest.len;
	cut = n > 2 && !(data[1] & 1) ? (n - 2 < manifest.len - at ? n - 2 : manifest.len - at) : 0;
	pm_str_addn(&text, manifest.s, at);
	if (n > 2)
		pm_str_addn(&text, (const char *)data + 2, n - 2);
	pm_str_addn(&text, manifest.s + at + cut, manifest.len - at - cut);
	need(pm_write_file(file.s, text.s, text.len, &err) == PM_OK, "the manifest is not written", &err);
	need(pm_db_begin(db, &err) == PM_OK, "no batch", &err);
	st = pm_pack_unpack(pack.s, db, &task, &is_new, &err);
	pm_db_rollback(db);
	if (st) {
		size_t len = strlen(err.text);

		need(n > 2, "the good pack is refused", &err);
		need(st < 0 && len && (err.text[len - 1] == '.' || len >= PM_ERR_MAX - 1),
		     "a refusal that is no sentence", &err);
		need(strchr(err.text, '\n') == NULL, "a refusal of several lines", &err);
	}
	pm_str_release(&text);
	return 0;
}
