/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_priv.h - a model on a GPU; shared by cuda.c (kernels and memory), cuda_run.c (runs and graphs) and
 * cuda_call.c (calls of libraries). */
#ifndef RT_CUDA_PRIV_H
#define RT_CUDA_PRIV_H

#include "rt/rt_priv.h"
#include "runtime/cuda/library/cuda_algo.h"

/* What calls make of constant weights: once, for all that make the same of them. */
typedef struct PmRtKept {
	const PmAlgo *how;   /* of one of the model's calls: its first stages */
	CuPtr weights, made; /* made: owned */
} PmRtKept;

enum { PM_RT_TYPES = 17 }; /* ONNX's numbers of types that packages have are below it */

/* A model's. */
typedef struct PmRtCuda {
	const PmCuda *cu;
	CuCtx *ctx; /* the device's primary context; NULL = not retained */
	int dev, cc;
	char gpu[128];
	CuMod **module;             /* owned; by unit; NULL = not loaded */
	CuFn **fn;                  /* owned; by step; NULL where a library's call takes its place */
	CuPtr weights;              /* all constants; 0 = there are none */
	PmCudaAlgo *algo;           /* owned; by call */
	char *has_algo;             /* owned; by call: 1 = prepared */
	PmRtKept *kept;             /* owned, */
	size_t n_kept;              /* so many */
	CuMod *around[PM_RT_TYPES]; /* kernels around libraries' calls, by ONNX's number of the type */
	int64_t workspace;          /* bytes that calls want of a session */
} PmRtCuda;

/* A launch of a graph and all that it needs: one line of a cache. */
typedef struct PmRtCudaAgain {
	CuGraphExec *exec;
	CuCtx *ctx;
	int (*ctx_push)(CuCtx *);
	int (*graph_launch)(CuGraphExec *, CuStream *);
	int (*ctx_pop)(CuCtx **);
} PmRtCudaAgain;

/* A session's. */
typedef struct PmRtCudaSession {
	PmRtCudaAgain again;
	CuStream *stream;  /* its own */
	CuStream *capture; /* on which launches are captured, not run */
	CuStream *now;     /* of the run that goes on */
	CuPtr workspace;   /* for calls of libraries */
} PmRtCudaSession;

/* The launches of a shape with the addresses that values had when they were captured. */
typedef struct PmRtCudaGraph {
	CuGraphExec *exec; /* NULL = none */
	PmRtAddress *at;   /* owned; by value of the model */
	uint64_t used;     /* when it was launched last: by PmRtCudaReady.runs */
} PmRtCudaGraph;

/* Callers that take results from an allocator come back with a few addresses in turn. */
enum { PM_RT_GRAPHS = 4 };

/* A shape's in a session. */
typedef struct PmRtCudaReady {
	PmCudaPlaced *placed; /* owned; by step of the shape */
	PmRtCudaGraph graph[PM_RT_GRAPHS];
	uint64_t placed_at; /* PmRtReady.moves then; 0 = never */
	uint64_t runs;      /* of graphs */
	int warm;           /* its launches were made once */
	int calls;          /* there are calls of libraries among its steps */
} PmRtCudaReady;

static inline const PmRtCuda *pm_rt_cuda_of(const PmRtSession *s)
{
	return s->m->own;
}

/* ---- cuda_load.c ---- */

/* pm__cuda_open, by any number of threads. */
PmStatus pm_rt_driver_open(const PmCuda **out, PmErr *err);
/* The image of a unit for a GPU: machine code of its kind before a text, the newest first. NULL = none. */
const PmRtfImage *pm_rt_image_for(const PmRtPackage *p, size_t unit, int cc);
/* Loads it, unless it is loaded. PM_E_ENV where the package has none for this GPU. */
PmStatus pm_rt_cuda_load(PmRtModel *m, PmRtCuda *c, size_t unit, CuMod **out, PmErr *err);
/* The driver's error as a sentence: PM_E_LIMIT when it is a lack of memory. */
PmStatus pm_rt_cuda_fail(const PmRtCuda *c, const char *what, int error, PmErr *err);

/* ---- cuda_call.c ---- */

/* Keeps other sessions from calling libraries: a library must not be told another stream while one is
 * captured, since it may make the two wait for each other. */
void pm_rt_calls_hold(int on);
/* Prepares the calls that a library of this machine takes, by the algorithms that the package says or the
 * first that the library suggests. */
void pm_rt_calls_prepare(PmRtModel *m, PmRtCuda *c);
/* Makes what the calls make of constants, which are on the device now. PM_E_LIMIT where there is no memory
 * for it. */
PmStatus pm_rt_calls_keep(PmRtModel *m, PmRtCuda *c, PmErr *err);
void pm_rt_calls_drop(PmRtModel *m, PmRtCuda *c);
/* Whether a library takes a step of the shape. */
int pm_rt_calls_in(const PmRtRun *r);
/* Tells libraries the addresses of a shape's calls, if there are any (own->calls). */
PmStatus pm_rt_calls_place(const PmRtRun *r, PmRtCudaReady *own, PmErr *err);
void pm_rt_calls_unplace(size_t n_steps, PmRtCudaReady *own);
/* Enqueues step number `step` of the shape, which is a prepared call. */
PmStatus pm_rt_call_run(const PmRtRun *r, PmRtCudaReady *own, size_t step, CuStream *stream, PmErr *err);

/* PmRtDevice.launch, ready_free, prepare (cuda_run.c). */
PmStatus pm_rt_cuda_launch(const PmRtRun *r, PmErr *err);
void pm_rt_cuda_ready_free(PmRtSession *s, PmRtReady *r);
PmStatus pm_rt_cuda_prepare(const PmRtRun *r, PmErr *err);

#endif
