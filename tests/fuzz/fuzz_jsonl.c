/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_jsonl.c - any bytes as an export of a database: refused for a reason in one line, or stored, exported
 * and imported again to the same bytes. The database stays empty: each input is a batch that is taken back.
 */
#include "base/core/arena.h"
#include "base/core/str.h"
#include "base/sys/io.h"
#include "dataset/store/jsonl.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static PmDb *db;

static void need(int ok, const char *what, const PmErr *err)
{
	if (!ok)
		PM_BUG("%s: %s", what, err->text);
}

/* The file is removed at once: it lives as long as it is open, and nothing is left behind by a crash. */
static void open_once(void)
{
	PmStr dir = PM_STR_INIT, path = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	if (db)
		return;
	need(pm_temp_dir("fuzz-jsonl", &dir, &err) == PM_OK, "no folder", &err);
	pm_path_join(dir.s, "f.db", &path);
	need(pm_db_open(path.s, 0, &db, &err) == PM_OK, "no database", &err);
	pm_remove_tree(dir.s, NULL);
	pm_str_release(&dir);
	pm_str_release(&path);
}

static PmStatus import(const void *p, size_t n, PmErr *err)
{
	FILE *f = n ? fmemopen(pm_unconst(p), n, "r") : fopen("/dev/null", "r");
	PmStatus st = pm_db_import(db, f, "input", NULL, err);

	fclose(f);
	return st;
}

static void export(PmStr *out, PmErr *err)
{
	char *p = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&p, &n);

	need(pm_db_export(db, f, err) == PM_OK, "what was imported is not exported", err);
	fclose(f);
	pm_str_addn(out, p, n);
	free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	PmStr first = PM_STR_INIT, second = PM_STR_INIT;
	PmStatus st;
	PmErr err;

	pm_err_init(&err);
	open_once();
	need(pm_db_begin(db, &err) == PM_OK, "no batch", &err);
	st = import(data, n, &err);
	if (st) {
		/* What is wrong in a graph's text is said as a compiler says it, without a full stop. */
		need(st < 0 && err.code == st && *err.text, "a refusal without a status or a reason", &err);
		need(strchr(err.text, '\n') == NULL, "a refusal of several lines", &err);
		pm_db_rollback(db);
		return 0;
	}
	export(&first, &err);
	pm_db_rollback(db);
	need(pm_db_begin(db, &err) == PM_OK, "no batch", &err);
	need(import(first.s, first.len, &err) == PM_OK, "an export is not imported", &err);
	export(&second, &err);
	pm_db_rollback(db);
	need(first.len == second.len && (!first.len || !memcmp(first.s, second.s, first.len)),
	     "the second export has other bytes", &err);
	pm_str_release(&first);
	pm_str_release(&second);
	return 0;
}
