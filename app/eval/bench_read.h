/* SPDX-License-Identifier: Apache-2.0 */
/* bench_read.h - fills a table of systems (bench/report/systems.h) from a database, evaluating what is
 * missing. */
#ifndef APP_BENCH_READ_H
#define APP_BENCH_READ_H

#include "app/eval/eval_task.h"
#include "base/sys/io.h"
#include "bench/report/systems.h"

typedef enum {
	PM_BENCH_EAGER,   /* our eager run: what passes were measured against */
	PM_BENCH_PASS,    /* a shared object, evaluated */
	PM_BENCH_EXTERNAL /* times that `results import` stored under a name */
} PmBenchKind;

typedef struct PmBenchSystem {
	PmBenchKind kind;
	char *path; /* PASS: of the shared object; EXTERNAL: the stored name; owned */
} PmBenchSystem;

typedef struct PmBench {
	PmDb *db;
	PmEvalTask eval; /* options of evaluations; db and members are filled in */
	PmSystems table;
	PmBenchSystem system[PM_MAX_SYSTEMS];
	int64_t shapes;       /* only members of fewer shapes than this; 0 = all */
	PM_VEC(int64_t) runs; /* of the database, that results in the table are of */
} PmBench;

/* Adds a system by its name on the command line: "eager"; "torch-MODE" (stored as "torch MODE": eager,
 * inductor, and the others of tools/bench/common/torch_modes.py); "timed-NAME", a pass's times by `passmith
 * time
 * --pass`; NAME=FILE.so or FILE.so; or NAME, which is FOLDER/NAME.so. PM_E_NOT_FOUND when that is no file,
 * PM_E_LIMIT over PM_MAX_SYSTEMS, PM_E_INVALID for a name given twice. */
PmStatus pm_bench_add(PmBench *b, const char *text, const char *folder, PmErr *err);

/* Evaluates what passes lack on one task; the database has it then. b->db may be another connection than that
 * of the table. */
PmStatus pm_bench_evaluate(const PmBench *b, int64_t task, PmErr *err);

/* The different pm_run_key_ranking of stored runs that a table of n tasks would have (eval.stored_only and
 * any_machine), sorted; with all_passes of runs of any pass on eval.opts.device. One that says nothing (emu)
 * is
 * "". Release *out with pm_names_release. */
PmStatus pm_bench_rankings(const PmBench *b, const int64_t *tasks, size_t n, int all_passes, PmNames *out,
			   PmErr *err);

/* Appends the rows of one task: evaluates what passes lack (unless eval.stored_only) and reads the rest. */
PmStatus pm_bench_task(PmBench *b, int64_t task, PmErr *err);

/* Bytes that an evaluation of one variant of a task needs at most (app/eval/many.h). */
PmStatus pm_bench_need(const PmBench *b, int64_t task, int64_t *out, PmErr *err);

/* Frees the table with its names. */
void pm_bench_release(PmBench *b);

#endif
