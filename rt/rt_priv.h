/* SPDX-License-Identifier: Apache-2.0 */
/* rt_priv.h - models, sessions and what a device must do for them; shared by the files of rt/.
 *
 * A session prepares each shape once (PmRtReady): the values of all arguments, and their addresses as kernels
 * take them. A run then compares where tensors lie with where they lay, changes the addresses that moved, and
 * hands the list to the device. Nothing is allocated or looked up in it.
 */
#ifndef RT_PRIV_H
#define RT_PRIV_H

#include "base/core/err.h"
#include "rt/package.h"
#include "rt/passmith_rt.h"

/* Where something lies, on the device or (emu) here. */
typedef uint64_t PmRtAddress;

typedef struct PmRtDevice PmRtDevice;

struct PmRtModel {
	PmRtPackage pk;
	char *path;       /* owned, as it was given */
	char *about;      /* owned */
	PmRtValue *value; /* owned: inputs, then outputs */
	size_t n_in, n_out;
	const PmRtDevice *device;
	char device_name[160];     /* "cuda:0 NVIDIA H200" */
	void *own;                 /* the device's */
	PmRtAddress *constant;     /* owned; by constant */
	struct PmRtFileMap *files; /* owned; by file of weights */
	uint64_t arena;            /* of the largest shape */
	uint64_t *staged;          /* owned; by value: its place in a session's staging memory */
	uint64_t staging;          /* bytes of that */
	uint64_t workspace;        /* bytes that libraries want of a session: the device says, */
	uint64_t kept;             /* and of constants in the order that calls want, beside these */
	/* The device says: calls that libraries take, those by the algorithm that --tune found here, and why
	 * others that were tuned are not (owned; NULL = there are none). */
	size_t calls, calls_tuned;
	char *untuned;
};

typedef struct PmRtFileMap {
	const unsigned char *p;
	size_t n;
} PmRtFileMap;

/* A tensor that is bound. */
typedef struct PmRtBound {
	PmRtTensor t;
	int bound;
} PmRtBound;

/* A shape in a session, made when it is first needed. */
typedef struct PmRtReady {
	/* By argument of the shape: an address or a number's bits, owned; NULL = not yet made. */
	uint64_t *value;
	void **params;   /* owned; by argument: where its value is */
	PmRtAddress *at; /* owned; by value of the model: the address that the arguments have */
	uint64_t moves;  /* how often addresses in value[] became others */
	/* PmRtSession.binds when at[] was filled with tensors that kernels use where they lie; 0 = it has
	 * others, or changes from piece to piece. */
	uint64_t settled;
	void *own; /* the device's, NULL to begin with */
} PmRtReady;

/* So many runs of a shape, one after the other. */
typedef struct PmRtPiece {
	size_t shape;
	int64_t rows, times;
} PmRtPiece;

struct PmRtSession {
	uint64_t binds; /* how often something was bound, from 1 on */
	/* The device's: binds when a run was one launch of a graph and nothing else (0 = none was), and what
	 * does that once more. It stands apart, and first, since the host's caches have lost a session by the
	 * time that a long run is over: each of their lines that a run needs is read from memory. */
	uint64_t again_binds;
	PmStatus (*again)(PmRtSession *s, void *stream, PmErr *err);
	void *own; /* the device's */

	PmRtModel *m;
	PmRtBound *bound; /* owned; by value: inputs, then outputs */
	PmRtReady *ready; /* owned; by shape */
	uint64_t checked; /* binds when the outputs were found to be good; 0 = never */
	int waits;        /* then: a tensor lies on the host, so that a run has to be waited for */
	int chosen;       /* pieces[] say what the bound inputs need */
	PmRtPiece *piece; /* owned; room for one of each shape */
	size_t n_pieces;
	PmRtfExtent *extent;        /* owned; by value: sizes of a run, once chosen */
	PmRtAddress arena, staging; /* staging 0: not needed so far */
};

/* A run of one shape, as the device gets it. */
typedef struct PmRtRun {
	PmRtSession *s;
	size_t shape;
	PmRtReady *ready;
	unsigned flags;
	int alone; /* the caller's run is this one: nothing is copied or waited for */
} PmRtRun;

/* What a kind of device does. Errors: PM_E_DEVICE; PM_E_LIMIT for no memory; PM_E_ENV. */
struct PmRtDevice {
	const char *name;
	uint64_t align; /* of a tensor that kernels use where it lies */
	int on_host;    /* memory of this process is memory of the device */
	/* Loads kernels, fills m->constant and m->device_name. `ordinal`: which one. close after a failed
	 * open too. */
	PmStatus (*open)(PmRtModel *m, int ordinal, PmErr *err);
	void (*close)(PmRtModel *m);
	PmStatus (*session_new)(PmRtSession *s, PmErr *err);
	void (*session_free)(PmRtSession *s);
	void (*ready_free)(PmRtSession *s, PmRtReady *r); /* r->own */
	/* Memory of the device; freed with the session. */
	PmStatus (*alloc)(PmRtSession *s, uint64_t bytes, PmRtAddress *out, PmErr *err);
	void (*release)(PmRtSession *s, PmRtAddress p);
	/* Around a call into the session. A stream of NULL is the session's own. */
	PmStatus (*enter)(PmRtSession *s, void *stream, PmErr *err);
	void (*leave)(PmRtSession *s);
	PmStatus (*copy_in)(PmRtSession *s, PmRtAddress to, const void *from, PmRtPlace place, uint64_t n,
			    PmErr *err);
	PmStatus (*copy_out)(PmRtSession *s, void *to, PmRtPlace place, PmRtAddress from, uint64_t n,
			     PmErr *err);
	PmStatus (*launch)(const PmRtRun *r, PmErr *err);
	/* For pm_rt_session_warm; both NULL on a device whose first runs load nothing. Zeros n bytes; makes
	 * the graph for the addresses that values have, in the place of the one that ran last, without
	 * running it.
	 */
	PmStatus (*zero)(PmRtSession *s, PmRtAddress to, uint64_t n, PmErr *err);
	PmStatus (*prepare)(const PmRtRun *r, PmErr *err);
	PmStatus (*wait)(PmRtSession *s, PmErr *err);
};
extern const PmRtDevice pm_rt_emu, pm_rt_cuda;
/* Whether there is a GPU at all and the package has kernels for one. */
int pm_rt_cuda_fits(const PmRtPackage *p);

/* The public status of an error, which goes to *to with its sentence. */
int pm_rt_fail(const PmErr *err, PmRtError *to);
/* PM_RT_OK, or a call that is not allowed: PM_RT_USAGE with a sentence. */
int pm_rt_usage(PmRtError *to, const char *fmt, ...) PM_PRINTF(2, 3);
/* Memory of a size that outsiders decide: PM_E_LIMIT when there is none. Zeroed, aligned to 256. */
PmStatus pm_rt_take(uint64_t bytes, void **out, PmErr *err);

/* ---- weights.c ---- */

/* Maps the files of weights that the package names. */
PmStatus pm_rt_weights_open(PmRtModel *m, PmErr *err);
void pm_rt_weights_close(PmRtModel *m);
/* PM_E_INVALID when weights, in the package or in files, do not have their digests. */
PmStatus pm_rt_weights_check(const PmRtModel *m, PmErr *err);
/* Where the bytes of a constant lie in this process: in a map of the package or of a file beside it. */
const void *pm_rt_constant(const PmRtModel *m, size_t i);

/* ---- shapes.c ---- */

/* Fills s->piece and s->extent from the sizes of the bound inputs. PM_E_SHAPE with what would fit. */
PmStatus pm_rt_choose(PmRtSession *s, PmErr *err);
/* Appends "batch=4, seq=128" at *at in a text of `room` bytes. */
void pm_rt_shape_text(const PmRtModel *m, size_t shape, char *text, size_t room, size_t *at);

#endif
