/* SPDX-License-Identifier: Apache-2.0 */
/* measurements.h - every measurement of a variant by a run, where it was made, and which one counts.
 *
 * A run may measure a variant more than once: on several nodes, or again after a restart. All are kept. The
 * view `results` shows the one that counts, which is a function of the set alone, so that the order of
 * storing and merging does not matter: the worst verdict counts (dataset/store/severity.def); among those
 * that have it the median speedup, the lower one of two in the middle; what is equal in both is decided by
 * the content key. A measurement without a speedup counts only where none of that verdict has one.
 */
#ifndef DATASET_MEASUREMENTS_H
#define DATASET_MEASUREMENTS_H

#include "dataset/store/results.h"

#include <stddef.h>

/* Where something was measured. Strings are borrowed; NULL and "" = not known. */
typedef struct PmOrigin {
	const char *node;   /* name of the host */
	const char *job;    /* id of the batch job */
	int64_t element;    /* of the job's array; -1 = none */
	int64_t restarts;   /* of the job, as SLURM_RESTART_COUNT says; 0 = none */
	const char *gpu;    /* "NVIDIA H200" */
	const char *gpu_id; /* UUID or serial number of that one GPU */
	const char *driver; /* the driver's own version */
	const char *clocks; /* what the GPU's clocks are set to: "SM 1980 MHz, memory 3201 MHz" */
} PmOrigin;

/* An origin of which nothing is known. */
#define PM_ORIGIN_UNKNOWN ((PmOrigin){ .element = -1 })

/* Says where what is stored through `db` from now on was measured: pm_result_put, pm_run_set_hidden. The
 * texts are copied. NULL = not known, as it is after pm_db_open. */
void pm_db_set_origin(PmDb *db, const PmOrigin *origin);

/* One measurement. Strings are borrowed. */
typedef struct PmMeasurement {
	PmResultRow result;
	PmOrigin origin;
	int64_t at;      /* seconds since 1970; 0 = not known */
	const char *key; /* SHA-256 of run, graph, result and origin; ignored when storing */
	int counts;      /* `results` shows it; ignored when storing */
} PmMeasurement;

/* Stores a measurement, unless it is stored: what was measured (run, graph, verdict, stage, speedup, json)
 * and where are the same. Then the earlier time stays, and of two rewritten graphs the one of the least hash.
 * Which measurement counts is decided again. *is_new may be NULL. */
PmStatus pm_measurement_put(PmDb *db, const PmMeasurement *m, int *is_new, PmErr *err);

/* All measurements of a run (0: of all runs), by run, task, ordinal and key. A status of fn other than PM_OK
 * stops the walk and is returned. Strings are borrowed until fn returns. */
typedef PmStatus (*PmMeasurementFn)(void *arg, const PmMeasurement *m, PmErr *err);
PmStatus pm_measurements_each(PmDb *db, int64_t run, PmMeasurementFn fn, void *arg, PmErr *err);

/* What was found on hidden shapes, with its origin: the worst verdict counts, then the least key, and stands
 * in the run's row. Storing it again changes nothing but to an earlier time. */
typedef struct PmHiddenMeasurement {
	int64_t run;
	const char *verdict, *json;
	PmOrigin origin;
	int64_t at;
	const char *key; /* ignored when storing, as is */
	int64_t task;    /* of the run */
} PmHiddenMeasurement;
/* Stores one, and decides again which counts. */
PmStatus pm_hidden_put(PmDb *db, const PmHiddenMeasurement *h, PmErr *err);
/* All of them, by run and key. */
typedef PmStatus (*PmHiddenFn)(void *arg, const PmHiddenMeasurement *h, PmErr *err);
PmStatus pm_hidden_each(PmDb *db, PmHiddenFn fn, void *arg, PmErr *err);

/* How bad a verdict is: greater is worse. A name that severity.def lacks is worse than all. */
int pm_severity(const char *verdict);
/* 0 when the verdict says only that something could not be found out, as NOT_CHECKED: it contradicts nothing.
 */
int pm_verdict_is_decided(const char *verdict);

/* What of a measurement decides whether it counts. */
typedef struct PmRival {
	const char *key, *verdict;
	double speedup; /* NaN = none */
} PmRival;
/* The position of the one that counts; n is at least 1. The order of the candidates does not matter. Uses
 * memory of the size of the set. */
size_t pm_measurement_pick(const PmRival *c, size_t n);

#endif
