/* SPDX-License-Identifier: Apache-2.0 */
/* ort_cases.h - kernels in files, their inputs, and what a device makes of them: what libpassmith_ort must
 * give. */
#ifndef TESTS_LIB_ORT_CASES_H
#define TESTS_LIB_ORT_CASES_H

#include "app/apply/ort_kernels.h"
#include "runtime/device/tensor.h"
#include "runtime/worker/run.h"
#include "tests/lib/ort/ort_host.h"

enum { ORT_CASE_N = 1000, ORT_CASE_IN = 64 };

typedef struct OrtCase {
	char name[64]; /* of the operator */
	PmTensor in[ORT_CASE_IN];
	size_t n_in;
	PmRunResult want; /* what the device made of them */
} OrtCase;

/* A file of kernels and a case for each of them. */
typedef struct OrtFile {
	char path[128];
	OrtCase *list;
	size_t n;
} OrtFile;
typedef struct OrtFiles {
	OrtFile *list;
	size_t n;
} OrtFiles;

/* A graph of one kernel with two launches, scratch, and an argument of every kind: float x[1000] and int64
 * by[4] become float y[1000] and bool z[1000]. `ends`: its second launch traps. Returns owned. */
PmGraph *ort_case_graph(int ends);
/* The same as cases: the file is `path`. Everything below fails the running cmocka test when something cannot
 * be done.
 */
void ort_case_one(const char *path, const PmOrtArchs *archs, const char *device, OrtFile *out);
/* The kernels that our passes make of all bundled models in float and float16, a file for each model and
 * pass, in a folder. */
void ort_cases_of_models(const char *folder, const PmOrtArchs *archs, const char *device, OrtFiles *out);
void ort_file_release(OrtFile *f); /* removes the file */
void ort_files_release(OrtFiles *f);

/* The types of a case as tensors without data: in[] then out[], room for ORT_CASE_IN each. */
void ort_case_tensors(const OrtCase *c, OrtHostTensor *in, OrtHostTensor *out);
/* Calls the kernel on the CPU, all tensors `off` bytes behind a multiple of 64. The host's code; -2 when the
 * bits are not those of the case. */
int ort_case_on_cpu(OrtHost *h, const OrtCase *c, size_t off, char why[ORT_HOST_TEXT]);
/* One call of a case: the host's code, and why. */
typedef int (*OrtCaseCall)(OrtHost *h, const OrtCase *c, char why[ORT_HOST_TEXT]);
/* Eight threads make so many calls each, on one host; all of them must be right. */
void ort_case_threads(OrtHost *h, const OrtCase *c, int rounds, OrtCaseCall call);
/* Whether out[i] have the bits of the case. */
int ort_case_same(const OrtCase *c, void *const *out, char why[ORT_HOST_TEXT]);

/* $PASSMITH_BUILD/libpassmith_ort.so with its whole path, and a host with a file; the host fails the running
 * test. */
const char *ort_case_library(void);
OrtHost *ort_case_host(const char *entry);

#endif
