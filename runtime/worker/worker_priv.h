/* SPDX-License-Identifier: Apache-2.0 */
/* worker_priv.h - what a device worker is asked and answers; shared by worker.c (asks) and worker_serve.c
 * (answers).
 *
 * A request is a WorkerAsk and its payload, a reply a WorkerReply, what kernels printed, and its payload.
 * Both ends are one program, so structures cross as they are; lengths are checked on both sides.
 */
#ifndef RUNTIME_WORKER_PRIV_H
#define RUNTIME_WORKER_PRIV_H

#include "base/core/str.h"
#include "runtime/worker/worker.h"

enum { WORKER_SLOTS = PM_SAMPLER_SIDES + 2 }; /* works that a worker keeps: more than a clock has sides */

typedef enum {
	WORKER_INFO,  /* - ; a PmDeviceInfo */
	WORKER_LOAD,  /* alternatives (n of them), a graph (pm__graph_pack) into `slot`; pm_exec_digest */
	WORKER_RUN,   /* - ; - ; behind them the inputs of `slot`, and its outputs */
	WORKER_CLOCK, /* slots (n of them), an input pool: n_sets, its keys, pm__input_pool_pack; the depth in
		       * `n`
		       */
	WORKER_TAKE,  /* `ask`, n = digests are wanted; times, a PmMade for each call */
	WORKER_EMPTY, /* - ; times */
	WORKER_WARM,  /* - ; times */
	WORKER_OUTPUTS, /* call number `n`; - ; behind that its outputs */
	WORKER_SKETCH,  /* call number `n`; a PmSketch of each of its outputs */
	WORKER_CLOSE    /* n = the process ends now, and gives nothing back; - */
} WorkerWhat;

typedef struct WorkerAsk {
	WorkerWhat what;
	int slot, n;
	int plain; /* RUN: pm_exec_plain */
	int bare;  /* LOAD: without constants, since the slot is not run */
	uint32_t poison;
	int n_sets;
	uint64_t seed, digest, inner, sketch, salt, bank_poison;
	uint64_t layout;   /* RUN: PmDeviceOps.layout; CLOCK: PmInputPool.mixed */
	PmSampled sampled; /* RUN: PmDeviceOps.sample */
	PmSampleAsk ask;
} WorkerAsk;

typedef struct WorkerReply {
	PmStatus status;
	int n;
	PmSample sample;
	char text[PM_ERR_MAX];
	size_t n_printed; /* bytes, and those that had no room */
	int64_t cut;
} WorkerReply;

/* A place in bytes that came from the other side. */
typedef struct Cursor {
	const char *p;
	size_t left;
} Cursor;
/* Takes n bytes, NULL when there are fewer. */
const char *pm__take(Cursor *c, size_t n);
/* Takes an unsigned number; 0 when there is none. */
uint64_t pm__take_u64(Cursor *c);
void pm__add_u64(PmStr *s, uint64_t v);

/* A graph as text; constants beyond a few elements follow as they are. */
PmStatus pm__graph_pack(const PmGraph *g, PmStr *out, PmErr *err);
PmStatus pm__graph_unpack(Cursor *c, PmGraph **out, PmErr *err);

/* Elements only: both sides know the types. */
void pm__tensors_pack(const PmTensor *t, size_t n, PmStr *out);
/* Initialises t[i] with the given types; PM_E_CRASH when bytes are missing. */
PmStatus pm__tensor_unpack(Cursor *c, const PmType *type, PmTensor *t, PmErr *err);

/* For each input whether it is drawn; then tables of those that are, and the tensors of the others. */
void pm__input_pool_pack(const PmInputPool *pool, PmStr *out);
/* Of inputs of these types: n_in tables and n_sets * n_in tensors, owned by the caller whatever happens. */
PmStatus pm__input_pool_unpack(Cursor *c, const PmType *const *type, size_t n_in, int n_sets, PmTensor *table,
			       PmTensor *t, PmErr *err);

/* The worker's life: what it holds; answers one request (PmServeFn; `arg` is the device's name). */
int pm__worker_serve(void *arg, const char *request, size_t n, PmStr *reply);

#endif
