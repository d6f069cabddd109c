/* SPDX-License-Identifier: Apache-2.0 */
/* db_counts.h - what a database holds, counted: the tables that `passmith db report` and the section Dataset
 * of `passmith report` show.
 */
#ifndef APP_DB_COUNTS_H
#define APP_DB_COUNTS_H

#include "base/core/str.h"
#include "base/core/vec.h"
#include "dataset/store/db.h"

typedef struct PmDbCount {
	char *label; /* owned; any bytes that the database has */
	int64_t n;
} PmDbCount;

/* Begin with { 0 }. */
typedef struct PmDbCounts {
	PM_VEC(PmDbCount) list;
} PmDbCounts;

/* How many tables there are, and the title of each, a constant. */
size_t pm_db_counts_n(void);
const char *pm_db_counts_title(size_t k);
/* Appends the rows of table k, in the order in which they are shown; none where the database has nothing for
 * it. Release *out also after a failure. */
PmStatus pm_db_counts_read(PmDb *db, size_t k, PmDbCounts *out, PmErr *err);
void pm_db_counts_release(PmDbCounts *c);
/* Appends a table as bars, one <svg> element of class "bars", named by the title. What labels say is escaped.
 * Gives how many rows, the last ones, have no bar. */
size_t pm_db_counts_svg(const char *title, const PmDbCounts *c, PmStr *out);

/* Places of extracted graphs in models, by structure. Begin with { 0 }. */
typedef struct PmDbPlaces {
	PM_VEC(int64_t) structure; /* places of each structure, most first */
	int64_t n;                 /* of all */
	int64_t n_in_tasks;        /* of structures that a task was made of: it has a variant of them */
	size_t structures_in_tasks;
} PmDbPlaces;
/* Counts them. Release *out also after a failure. */
PmStatus pm_db_places_read(PmDb *db, PmDbPlaces *out, PmErr *err);
/* The least number of structures that have at least this share (0 to 1) of the places together. */
size_t pm_db_places_reach(const PmDbPlaces *p, double share);
void pm_db_places_release(PmDbPlaces *p);

#endif
