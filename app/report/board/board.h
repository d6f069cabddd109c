/* SPDX-License-Identifier: Apache-2.0 */
/* board.h - what a database knows of evaluations, as rankings: a board is one GPU with one driver and
 * setting of its clocks (or the emulated device), one version of the program and one set of options, and the
 * systems that were evaluated so. Results of different boards are never compared.
 *
 * A system is a pass by its path, times that `results import` stored under a name, or the eager run. Of
 * several runs of a system on a task the last that was finished counts; the history has all.
 */
#ifndef APP_REPORT_BOARD_H
#define APP_REPORT_BOARD_H

#include "bench/report/systems.h"
#include "dataset/store/db.h"
#include "matcher/host/verdict.h"

/* What a cell of PmSystems does not say, of a pass. */
typedef struct PmBoardCell {
	int has;                /* a record is stored */
	PmVerdict verdict;      /* of the record */
	int hidden;             /* it is not right since the run was wrong on a hidden shape */
	double speedup, lo, hi; /* of the record, with its 99 % interval; NaN = none */
	int launches[2];        /* baseline, candidate */
	int64_t bytes[2];
	char *why, *where;         /* owned; NULL where nothing went wrong, or nothing was compared */
	double expected, got, ulp; /* of the worst element; NaN = none */
} PmBoardCell;

typedef struct PmBoardSystem {
	char *path;      /* owned: of the pass, or the stored name */
	int is_pass;     /* else times from elsewhere, or the eager run */
	size_t n_builds; /* different contents of the file */
	char build[65];  /* SHA-256 of the last; "" = no file */
	int64_t last;    /* seconds since 1970: its last run; 0 = none */
	size_t n_tasks;
} PmBoardSystem;

typedef struct PmBoard {
	char device[16];     /* "emu", "cuda" */
	char gpu[64];        /* "NVIDIA H200"; "" where times are modelled */
	char setting[192];   /* driver and clocks of the GPU, as far as they are known */
	char profile[32];    /* device of the roofline and of modelled times */
	char version[32];    /* of the program; "" = only times from elsewhere */
	char *options;       /* owned: what else was asked for */
	char *machines;      /* owned: software of the machines, with "; " */
	int64_t first, last; /* seconds since 1970, of its runs */
	size_t n_left_out;   /* systems over PM_MAX_SYSTEMS, those with the fewest tasks */
	PmPreset preset;
	PmSystems table;
	PmBoardSystem system[PM_MAX_SYSTEMS];
	PmBoardCell *cell; /* owned: graphs.n x PM_MAX_SYSTEMS */
} PmBoard;

/* A run, for the history of a task. */
typedef struct PmBoardRun {
	int64_t id, task, started, finished;
	char *path, *device, *version, *options, *machine, *hidden, *hidden_json; /* owned */
	char sha256[65], gpu[64], setting[192];                                   /* as of PmBoard */
	uint64_t seed;
	size_t n_results, n_right;
	double gmean; /* of the speedups of what is right; NaN = none */
} PmBoardRun;

typedef struct PmBoardTask {
	int64_t id, n_variants;
	char *name, *kind, *split, *stratum; /* owned */
	char hash[65], category[32];
} PmBoardTask;

typedef struct PmBoards {
	PM_VEC(PmBoardTask) tasks;
	PM_VEC(PmBoardRun) runs;
	PM_VEC(PmBoard) v; /* the last used first */
} PmBoards;

/* Reads all of it. `step` (may be NULL) is called for each task of a board. PM_E_INVALID names a run whose
 * results cannot be read. Release *out also after a failure. */
PmStatus pm_boards_read(PmDb *db, void (*step)(void *arg, const char *item), void *arg, PmBoards *out,
			PmErr *err);
void pm_boards_release(PmBoards *b);

/* The cell of row i and system k. */
const PmBoardCell *pm_board_cell(const PmBoard *b, size_t i, size_t k);
/* "NVIDIA H200", or "modelled for h200" where nothing was measured. */
void pm_board_name(const PmBoard *b, char *out, size_t size);

#endif
