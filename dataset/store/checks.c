/* SPDX-License-Identifier: Apache-2.0 */
/* checks.c - rows of constraints and of runs on the reference. */
#include "dataset/store/checks.h"

#include "dataset/store/db_priv.h"

#include <string.h>

PmStatus pm_constraint_put(PmDb *db, const PmConstraintRow *row, PmErr *err)
{
	return pm__db_run(db, "store a constraint", NULL, err,
			  "INSERT OR REPLACE INTO constraints (sha256, name, verdict, why, options) "
			  "VALUES (?, ?, ?, ?, ?)",
			  "sssss", row->sha256, row->name, row->verdict, row->why, row->options);
}

PmStatus pm_constraints_stored(PmDb *db, const char *sha256, const char *options, int64_t *n,
			       int64_t *n_broken, PmErr *err)
{
	PmStatus st = pm__db_i64(db, "look constraints up", n, err,
				 "SELECT count(*) FROM constraints WHERE sha256 = ? AND options = ?", "ss",
				 sha256, options);

	return st ? st
		  : pm__db_i64(db, "look constraints up", n_broken, err,
			       "SELECT count(*) FROM constraints WHERE sha256 = ? AND options = ? AND "
			       "verdict = 'broken'",
			       "ss", sha256, options);
}

typedef struct Walk {
	PmConstraintFn fn;
	void *arg;
} Walk;

static PmStatus one_constraint(void *arg, sqlite3_stmt *row, PmErr *err)
{
	const Walk *w = arg;
	PmConstraintRow c = { pm__col_text(row, 0), pm__col_text(row, 1), pm__col_text(row, 2),
			      pm__col_text(row, 3), pm__col_text(row, 4), pm__col_text(row, 5) };

	return w->fn(w->arg, &c, err);
}

PmStatus pm_constraints_each(PmDb *db, PmConstraintFn fn, void *arg, PmErr *err)
{
	Walk w = { fn, arg };

	return pm__db_each(db, "list constraints", one_constraint, &w, NULL, err,
			   "SELECT c.sha256, c.name, c.verdict, c.why, c.options, m.name FROM constraints c "
			   "LEFT JOIN models m ON m.sha256 = c.sha256 ORDER BY c.sha256, c.name",
			   "");
}

PmStatus pm_ref_run_put(PmDb *db, int64_t subgraph, const char *how, const char *why, PmErr *err)
{
	return pm__db_run(db, "store a run on the reference", NULL, err,
			  "INSERT INTO ref_runs (subgraph, how, why) VALUES (?, ?, ?) "
			  "ON CONFLICT (subgraph) DO NOTHING",
			  "iss", subgraph, strcmp(how, "twin") ? how : "proxy", why);
}
