/* SPDX-License-Identifier: Apache-2.0 */
/* ranking.h - how the passes of a database rank by what is stored so far.
 *
 * Passes are ranked among results that may be compared: of one device, machine, version, set of options and
 * seed (bench/eval/run_key.h). Each such set is a ranking of its own. Its rows are all variants of the tasks
 * that some pass of it has a run of; a variant of which a pass has no result counts as missing. Figures are
 * those of `passmith bench --baselines eager,PASS --stored` over these tasks: speedups are over the eager
 * run, by cold times on a GPU, by modelled ones on emu. Times taken elsewhere (`results import`) have no run
 * of a pass, and are left out.
 */
#ifndef MONITOR_RANKING_H
#define MONITOR_RANKING_H

#include "base/core/vec.h"
#include "bench/report/systems.h"
#include "dataset/store/db.h"

/* A pass, by its bytes. */
typedef struct PmRanked {
	char *name; /* owned: of its file; "NAME@DIGITS" where two passes of the ranking have one name */
	char sha256[65];
	size_t n_results;    /* stored; HARNESS_FAIL never is */
	size_t n_unfinished; /* of its runs, those that are not complete */
	PmSysFigures fig;
	int rose;   /* places since these rankings were read first; negative: fell */
	int is_new; /* was not there then */
} PmRanked;

typedef struct PmRanking {
	char *device, *machine, *version, *options; /* owned; as runs have them */
	uint64_t seed;
	PmSysClock clock;
	PmPreset preset;
	size_t n_tasks, n_variants;
	int64_t last;          /* the greatest number of a run of it */
	PM_VEC(PmRanked) list; /* greatest AS first */
} PmRanking;

typedef struct PmRankings {
	PM_VEC(PmRanking) list; /* the one that was begun last comes first */
	struct PmRankingCache *cache;
	/* Asked before each run that is read: non-zero ends the reading with PM_DECLINED. NULL = nobody asks.
	 */
	int (*stop)(void *arg);
	void *stop_arg;
} PmRankings;

/* Reads the database again; begin with { 0 }. Runs of which nothing is new are not read twice. After an error
 * the rankings are as they were before. Of 60,000 results the first reading takes seconds: `stop`. */
PmStatus pm_rankings_read(PmRankings *r, PmDb *db, PmErr *err);
/* Frees all; *r is then empty. */
void pm_rankings_release(PmRankings *r);

#endif
