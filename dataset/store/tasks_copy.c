/* SPDX-License-Identifier: Apache-2.0 */
/* tasks_copy.c - some tasks of a database as a database of their own. */
#include "dataset/store/db_priv.h"
#include "dataset/store/tasks.h"

#include "base/sys/io.h"

#include <unistd.h>

/* What belongs to the tasks whose numbers are in `wanted`, in an order in which nothing refers to what is not
 * there. Both databases have the tables of this program, with columns in the same order. */
static const char *const copies[] = {
	"CREATE TEMP TABLE graphs (id INTEGER PRIMARY KEY)",
	"INSERT OR IGNORE INTO temp.graphs SELECT subgraph FROM origin.variants "
	"WHERE task IN (SELECT id FROM temp.wanted)",
	"INSERT OR IGNORE INTO temp.graphs SELECT base FROM origin.variants "
	"WHERE task IN (SELECT id FROM temp.wanted) AND base IS NOT NULL",
	"INSERT INTO main.op_seqs SELECT * FROM origin.op_seqs WHERE id IN "
	"(SELECT op_seq FROM origin.subgraphs WHERE id IN (SELECT id FROM temp.graphs))",
	"INSERT OR IGNORE INTO main.op_seqs SELECT * FROM origin.op_seqs WHERE id IN (SELECT b.op_seq "
	"FROM origin.subgraphs s JOIN origin.buckets b ON b.id = s.bucket "
	"WHERE s.id IN (SELECT id FROM temp.graphs))",
	"INSERT INTO main.buckets SELECT * FROM origin.buckets WHERE id IN "
	"(SELECT bucket FROM origin.subgraphs WHERE id IN (SELECT id FROM temp.graphs))",
	"INSERT INTO main.subgraphs SELECT * FROM origin.subgraphs WHERE id IN (SELECT id FROM temp.graphs)",
	"INSERT INTO main.kinds SELECT * FROM origin.kinds WHERE subgraph IN (SELECT id FROM temp.graphs)",
	"INSERT INTO main.ref_runs SELECT * FROM origin.ref_runs WHERE subgraph IN "
	"(SELECT id FROM temp.graphs)",
	"INSERT INTO main.tasks SELECT * FROM origin.tasks WHERE id IN (SELECT id FROM temp.wanted)",
	"INSERT INTO main.variants SELECT * FROM origin.variants WHERE task IN (SELECT id FROM temp.wanted)",
	"INSERT INTO main.task_tags SELECT * FROM origin.task_tags WHERE task IN (SELECT id FROM "
	"temp.wanted)",
	"DROP TABLE temp.graphs",
	"DROP TABLE temp.wanted",
};

static PmStatus copy_rows(PmDb *db, const int64_t *tasks, size_t n, PmErr *err)
{
	PmStatus st = pm__db_run(db, "list tasks", NULL, err,
				 "CREATE TEMP TABLE wanted (id INTEGER PRIMARY KEY)", "");

	for (size_t i = 0; i < n && !st; i++)
		st = pm__db_run(db, "list tasks", NULL, err, "INSERT OR IGNORE INTO temp.wanted VALUES (?)",
				"i", tasks[i]);
	for (size_t i = 0; i < sizeof copies / sizeof *copies && !st; i++)
		st = pm__db_run(db, "copy tasks", NULL, err, copies[i], "");
	return st;
}

static PmStatus copy(PmDb *db, PmDb *from, const int64_t *tasks, size_t n, PmErr *err)
{
	PmStatus st = pm__db_run(db, "read the tasks", NULL, err, "ATTACH DATABASE ? AS origin", "s",
				 pm_db_path(from));

	if (!st)
		st = pm_db_begin(db, err);
	if (st)
		return st;
	st = copy_rows(db, tasks, n, err);
	if (!st)
		st = pm_db_commit(db, err);
	else
		pm_db_rollback(db);
	if (!st)
		st = pm__db_run(db, "close the tasks", NULL, err, "DETACH DATABASE origin", "");
	return st ? st : pm_db_settle(db, err);
}

PmStatus pm_tasks_copy(PmDb *from, const int64_t *tasks, size_t n, const char *path, PmErr *err)
{
	PmDb *db = NULL;
	PmStatus st;

	if (pm_path_exists(path))
		return pm_err(err, PM_E_CONFLICT, "'%s' exists already; name another file for the tasks.",
			      path);
	st = pm_db_open(path, 0, &db, err);
	if (!st)
		st = copy(db, from, tasks, n, err);
	pm_db_close(db);
	if (st)
		unlink(path);
	return st;
}
