/* SPDX-License-Identifier: Apache-2.0 */
/* ort_priv.h - what the files of libpassmith_ort share. */
#ifndef ORT_PRIV_H
#define ORT_PRIV_H

#include "base/core/err.h"
#include "ort/api.h"
#include "ort/kernels.h"
#include "runtime/host/host.h"

#include <pthread.h>

typedef struct PmOrtGpuModule PmOrtGpuModule;
typedef struct PmOrtGpuKernel PmOrtGpuKernel;

/* A file of kernels and what of it is loaded: at the first session that needs it, until the process ends. */
typedef struct PmOrtLoaded {
	PmOrtKernels all;
	pthread_mutex_t lock;    /* of what follows */
	PmHostModule **host;     /* by image; NULL = not loaded */
	PmOrtGpuModule **module; /* by image: a list, one for each context */
	PmOrtGpuKernel **gpu;    /* by kernel: a list, one for each context */
} PmOrtLoaded;

/* A kernel and where its data lie. */
typedef struct PmOrtCall {
	const PmOrtKernel *kernel;
	void *in[PM_ORT_MAX_VALUES], *out[PM_ORT_MAX_VALUES], *scratch[PM_ORT_MAX_SCRATCH];
} PmOrtCall;

/* The values of a launch's arguments. */
typedef union PmOrtNumber {
	void *p;
	uint64_t bits; /* little-endian, as the numbers are */
} PmOrtNumber;
typedef struct PmOrtArgs {
	PmOrtNumber v[PM_ORT_MAX_ARGS];
	void *at[PM_ORT_MAX_ARGS]; /* at[i] points at v[i] */
} PmOrtArgs;
void pm__ort_args(const PmOrtCall *c, const PmOrtLaunch *l, PmOrtArgs *out); /* cpu.c */

enum { PM_ORT_ALIGN = 16 /* bytes: what a kernel may take for granted of a tensor's start */ };

/* --- cpu.c: the CPU, by runtime/host ----------------------------------------------------------------------
 */

/* Whether a kernel has an image for CPUs. */
int pm__ort_cpu_has(const PmOrtKernels *all, const PmOrtKernel *k);
/* Loads it when it is not. PM_E_INVALID when it is not for this machine. */
PmStatus pm__ort_cpu_load(PmOrtLoaded *l, const PmOrtKernel *k, PmErr *err);
/* All launches of a kernel that is loaded; returns when they are done. */
PmStatus pm__ort_cpu_run(PmOrtLoaded *l, const PmOrtCall *c, PmErr *err);

/* --- gpu.c: a GPU, by the CUDA driver ---------------------------------------------------------------------
 */

/* Whether a kernel has an image for any GPU. */
int pm__ort_gpu_has(const PmOrtKernels *all, const PmOrtKernel *k);
/* Loads what the GPU of the calling thread's context takes; nothing when the thread has no context. PM_E_ENV
 * without a driver, PM_E_UNSUPPORTED when no image is for that GPU. */
PmStatus pm__ort_gpu_load(PmOrtLoaded *l, const PmOrtKernel *k, PmErr *err);
/* The number of the GPU that a stream belongs to. */
PmStatus pm__ort_gpu_device(void *stream, int *ordinal, PmErr *err);
/* Enqueues all launches on a stream, and waits for nothing. What is not loaded in the stream's context yet is
 * loaded, which a stream that records a graph does not allow. */
PmStatus pm__ort_gpu_run(PmOrtLoaded *l, const PmOrtCall *c, void *stream, PmErr *err);

#endif
