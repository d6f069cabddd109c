/* SPDX-License-Identifier: Apache-2.0 */
/* conform.h - ONNX backend-test cases on a device.
 *
 * A case is a folder with model.onnx and test_data_set_K/{input_I.pb,output_I.pb}. Inputs that the importer
 * wants as attributes or shapes are bound from the data. Outputs must have the expected dtype and shape;
 * floating-point elements must satisfy |a - b| <= atol + rtol * |b| with rtol 1e-3 and atol 1e-7 (the ONNX
 * project's own runner; NaN equals NaN; rtol is 1/64, two units in the last place, for bfloat16, as that
 * runner has it since release 1.23), all others must be equal.
 */
#ifndef BENCH_CONFORM_H
#define BENCH_CONFORM_H

#include "base/core/err.h"
#include "base/core/json.h"
#include "base/core/str.h"
#include "runtime/device/tensor.h"

#include <stddef.h>

/* A case is excluded, and never counted, when it is of the training or machine learning domains, about
 * control flow, or when an input or output is a string, a sequence, an optional or a map
 * (bench/conform/conform_peek.c lists the names). Unsupported: it could not be run, `why` says what is
 * missing; it counts against the rate. */
typedef enum { PM_CASE_PASSED, PM_CASE_FAILED, PM_CASE_UNSUPPORTED, PM_CASE_EXCLUDED } PmCaseVerdict;
/* "passed", "failed", "unsupported", "excluded". */
const char *pm_case_verdict_name(PmCaseVerdict v);

typedef struct PmCase {
	char *name;   /* folder name */
	char op[64];  /* the operator of a model with one node (constants aside), else "(several)" */
	int in_table; /* `op` is a row of ops.def */
	PmCaseVerdict verdict;
	char why[PM_ERR_MAX]; /* what failed or is missing, or the class that excludes it */
} PmCase;

typedef struct PmConform {
	PmCase *v;
	size_t n, cap;
	size_t left_out; /* cases that PmConformOpts.per_op kept from running; not in `v` */
} PmConform;

typedef struct PmConformOpts {
	const char *device; /* as for pm_run_graph; NULL = "ref" */
	int per_op; /* at most so many cases of an operator, spread evenly over their names; 0 = all */
	int jobs;   /* processes that compile kernels before the first case runs; 0 = 1 */
	void (*on_case)(void *arg, const char *name, size_t done,
			size_t total); /* before each case; or NULL */
	void *arg;
} PmConformOpts;

/* Appends the folder of the ONNX project's node tests: $PASSMITH_ONNX_TESTDATA, else where the distribution
 * installs it. PM_E_ENV names the package when there is none. */
PmStatus pm_conform_folder(PmStr *out, PmErr *err);
/* Runs one case on a device (NULL = "ref"). A failing or unsupported case is PM_OK; so is one that a device
 * other than ref says it does not support. `out` is freed by pm_conform_release with its list. */
PmStatus pm_conform_case(const char *folder, const char *device, PmCase *out, PmErr *err);
/* Runs the cases of `folder` and appends to `out`: the folder itself when it has a model.onnx, else those
 * among its sub-folders, at most 4 deep. opts may be NULL. PM_E_ENV when the device is not here,
 * PM_E_NOT_FOUND when there is no case. */
PmStatus pm_conform_run(const char *folder, const PmConformOpts *opts, PmConform *out, PmErr *err);
void pm_conform_release(PmConform *c);

/* Per ONNX operator, sorted by name: those of the table, and those that cases are about; then "(several)" for
 * models of several nodes. run = passed + failed. */
typedef struct PmConformRow {
	const char *op;
	int run, passed, failed, unsupported, excluded;
} PmConformRow;
/* Returns the number of rows; at most `max` are written to `rows`, whose strings live as long as `c`. */
size_t pm_conform_rows(const PmConform *c, PmConformRow *rows, size_t max);
/* All cases; op is "total". */
PmConformRow pm_conform_total(const PmConform *c);
/* Percentage of the counted cases that passed; 100 when there are none. */
double pm_conform_rate(const PmConformRow *r);
/* The rows as a table with totals, then every failed case and, with `all`, unsupported and excluded ones with
 * the reason. */
void pm_conform_print(const PmConform *c, int all, PmStr *out);
/* {"cases": [...], "ops": [...], "run": n, "passed": n, ...}; returns owned. */
cJSON *pm_conform_json(const PmConform *c);

/* ---- docs/reference/conformance.md (conform_doc.c) ---- */

/* The document for the same cases on ref and on emu. */
void pm_conform_doc(const PmConform *ref, const PmConform *emu, PmStr *out);
/* Whether a document says what this run on a device ("ref" or "emu") found: the document is made again from
 * the run and from what it says of the other device, and compared. Only cases that were run are looked at
 * when the run left some out. PM_E_INVALID names the first line that differs; PM_DECLINED: it is about other
 * cases. */
PmStatus pm_conform_doc_check(const char *doc, const char *device, const PmConform *c, PmErr *err);

/* Runs a model whose one input is the ONNX project's dummy (element i = i / numel in float32) and compares
 * its first output with a serialised tensor, by the rule above. *seconds is the time of the run without
 * the import. PM_E_INVALID says where the outputs differ. */
PmStatus pm_conform_model(const char *model, const char *expected, double *seconds, PmErr *err);

/* The comparison itself: PM_E_INVALID names the first difference. */
PmStatus pm_conform_compare(const PmTensor *got, const PmTensor *want, PmErr *err);

#endif
