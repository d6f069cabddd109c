/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_algo.h - algorithms (lib_algo.h) on a GPU: prepared once, placed on the arguments of a sequence, run.
 */
#ifndef RUNTIME_CUDA_ALGO_H
#define RUNTIME_CUDA_ALGO_H

#include "runtime/cuda/cuda_api.h"
#include "runtime/cuda/library/lib_algo.h"

/* What algorithms are prepared and run with. The device's context is current in every call. */
typedef struct PmCudaSite {
	const PmCuda *cu;
	int dev;          /* number of the device */
	CuStream *stream; /* that work goes to */
	/* A kernel of lib_algo.cu for an element type; PM_E_ENV when it cannot be had. */
	PmStatus (*kernel)(void *arg, int dtype, const char *entry, CuFn **out, PmErr *err);
	void *arg;
} PmCudaSite;

/* An algorithm that is ready to run on any arguments. */
typedef struct PmCudaAlgo {
	PmAlgo algo;
	int pick;                     /* the library's candidate for its call */
	void *call[PM_ALGO_STAGES];   /* NULL for kernels */
	CuFn *kernel[PM_ALGO_STAGES]; /* NULL for calls */
	int64_t workspace;            /* bytes: the algorithm's scratch, then the library's */
} PmCudaAlgo;

/* The same on the arguments and the workspace of one sequence. */
typedef struct PmCudaPlaced {
	CuPtr p[PM_ALGO_STAGES][PM_ALGO_PLACES];
	void *placed[PM_ALGO_STAGES];
	CuPtr workspace;
} PmCudaPlaced;

/* Prepares an algorithm with candidate `pick` or the next that works. PM_DECLINED when there is none. *out is
 * dropped by pm__algo_drop, also after an error. */
PmStatus pm__algo_prepare(const PmCudaSite *s, const PmAlgo *algo, int pick, PmCudaAlgo *out, PmErr *err);
void pm__algo_drop(PmCudaAlgo *w);
/* `kept` has room for what the algorithm keeps (PmAlgo.kept). */
PmStatus pm__algo_place(const PmCudaAlgo *w, const CuPtr p[4], CuPtr workspace, CuPtr kept, PmCudaPlaced *out,
			PmErr *err);
void pm__algo_unplace(PmCudaPlaced *p);
/* Enqueues the stages that make what is kept of the weights, argument 2: once, before any call. */
PmStatus pm__algo_run_once(const PmCudaSite *s, const PmCudaAlgo *w, CuPtr weights, CuPtr kept, PmErr *err);
/* Enqueues the stages of a call. */
PmStatus pm__algo_run(const PmCudaSite *s, const PmCudaAlgo *w, const PmCudaPlaced *p, PmErr *err);

#endif
