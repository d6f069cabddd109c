/* SPDX-License-Identifier: Apache-2.0 */
/* passmith_rt.h - runs packages that `passmith compile` wrote: the whole interface of libpassmith_rt, for C11
 * and C++.
 *
 * A model is an opened package on a device. A session is the memory and the bindings of one run at a time.
 * Any number of threads may use one model, each with a session of its own.
 *
 *     PmRtModel *m; PmRtSession *s; PmRtError e;
 *     pm_rt_open("model.pmz", NULL, &m, &e);
 *     pm_rt_session_new(m, &s, &e);
 *     pm_rt_bind_input(s, 0, &x, &e);         (all inputs, then all outputs)
 *     pm_rt_bind_output(s, 0, &y, &e);
 *     pm_rt_run(s, NULL, 0, &e);              (again and again: the memory is read and written anew)
 *     pm_rt_session_free(s); pm_rt_close(m);
 *
 * A function that can fail returns PM_RT_OK (0) or another PmRtStatus, and then says why in *err: one
 * complete sentence with what to do next. `err` may be NULL everywhere. Nothing here prints, exits or changes
 * signal handlers.
 *
 * A package holds machine code for its devices. Open only packages that you would run as programs.
 */
#ifndef PASSMITH_RT_H
#define PASSMITH_RT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PM_RT_VERSION 1

#if defined(__GNUC__)
#define PM_RT_API __attribute__((visibility("default")))
#else
#define PM_RT_API
#endif

typedef enum PmRtStatus {
	PM_RT_OK = 0,
	PM_RT_USAGE = 2,    /* a call that this interface does not allow */
	PM_RT_ENV = 3,      /* this machine lacks something: a device, a driver */
	PM_RT_INPUT = 4,    /* a package or a tensor that is not there or cannot be used */
	PM_RT_INTERNAL = 5, /* our own mistake */
	PM_RT_SHAPE = 6,    /* no specialised shape fits the inputs */
	PM_RT_DEVICE = 7,   /* a kernel or the device failed */
	PM_RT_MEMORY = 8    /* there is no memory for it */
} PmRtStatus;

typedef struct PmRtError {
	int code; /* a PmRtStatus */
	char text[1024];
} PmRtError;

typedef struct PmRtModel PmRtModel;     /* an opened package on a device: weights and kernels, loaded once */
typedef struct PmRtSession PmRtSession; /* memory and bindings; one thread at a time */

enum { PM_RT_MAX_RANK = 8 };

/* Element types, by the numbers of ONNX. A bool is one byte. */
typedef enum PmRtType {
	PM_RT_FLOAT = 1,
	PM_RT_UINT8 = 2,
	PM_RT_INT8 = 3,
	PM_RT_UINT16 = 4,
	PM_RT_INT16 = 5,
	PM_RT_INT32 = 6,
	PM_RT_INT64 = 7,
	PM_RT_BOOL = 9,
	PM_RT_FLOAT16 = 10,
	PM_RT_DOUBLE = 11,
	PM_RT_UINT32 = 12,
	PM_RT_UINT64 = 13,
	PM_RT_BFLOAT16 = 16
} PmRtType;

/* Where a tensor's data lie. On the device "emu" both are the memory of this process. */
typedef enum PmRtPlace { PM_RT_HOST = 0, PM_RT_ON_DEVICE = 1 } PmRtPlace;

/* An input or output of a model. */
typedef struct PmRtValue {
	const char *name;
	PmRtType type;
	int rank;
	int64_t dim[8];        /* -1 where the package leaves it open */
	const char *symbol[8]; /* the name of an open size; NULL where it is fixed */
} PmRtValue;

/* A tensor of the caller: contiguous, in row-major order, little-endian. */
typedef struct PmRtTensor {
	void *data; /* may be NULL when there are no elements */
	PmRtType type;
	PmRtPlace place;
	int rank;
	int64_t dim[8];
} PmRtTensor;

/* The PM_RT_VERSION that the library was built with. */
PM_RT_API int pm_rt_version(void);

/* Opens a package. `device` is "emu" (kernels on this CPU), "cuda" or "cuda:1"; NULL is cuda where there is a
 * GPU and the package has kernels for it, else emu. Everything but the weights is checked against its digest
 * (pm_rt_verify checks those). Nothing is compiled and nothing is tried out. *out is closed by pm_rt_close.
 */
PM_RT_API int pm_rt_open(const char *path, const char *device, PmRtModel **out, PmRtError *err);
/* Its sessions must be freed before. NULL is allowed. */
PM_RT_API void pm_rt_close(PmRtModel *m);
/* Reads all weights and compares them with their digest. */
PM_RT_API int pm_rt_verify(const PmRtModel *m, PmRtError *err);
/* JSON, as long as the model: version of Passmith, device, architectures, passes, shapes, bytes of weights
 * and of a session's memory, content digest. */
PM_RT_API const char *pm_rt_about(const PmRtModel *m);

/* Inputs and outputs in the model's order. A value is the model's; NULL when there is no such one. */
PM_RT_API size_t pm_rt_n_inputs(const PmRtModel *m);
PM_RT_API size_t pm_rt_n_outputs(const PmRtModel *m);
PM_RT_API const PmRtValue *pm_rt_input(const PmRtModel *m, size_t i);
PM_RT_API const PmRtValue *pm_rt_output(const PmRtModel *m, size_t i);
/* Specialised shapes in the package, and an input with its sizes in one of them. */
PM_RT_API size_t pm_rt_n_shapes(const PmRtModel *m);
PM_RT_API int pm_rt_shape_input(const PmRtModel *m, size_t shape, size_t input, PmRtValue *out);

enum { PM_RT_GRAPH = 1 }; /* of runs, on cuda: as one CUDA graph */

/* Memory for one run at a time, taken here and not later. */
PM_RT_API int pm_rt_session_new(PmRtModel *m, PmRtSession **out, PmRtError *err);
/* What was enqueued on a stream of the caller must be over. NULL is allowed. */
PM_RT_API void pm_rt_session_free(PmRtSession *s);

/* Makes what the first runs would have to: a GPU's driver and libraries load their kernels at a first run,
 * and with PM_RT_GRAPH a graph is made. For that each shape runs once on zeros in memory of the session's own
 * (and once more as a graph), and is waited for. What is bound is neither read nor written. When all inputs
 * are bound it is the shape that they need, else every shape of the package. When all outputs are bound, too,
 * and kernels can use everything where it lies, the graph is made for these pointers, and the memory goes
 * back; else it stays with the session (staging_bytes of pm_rt_about). On emu there is nothing to do.
 *
 * It costs a model that nobody has run about as much as its first runs, and less when another session has
 * done it. A run before it is as good, when its time and its values do not matter. */
PM_RT_API int pm_rt_session_warm(PmRtSession *s, unsigned flags, PmRtError *err);

/* The memory of an input. The tensor is copied, its data are not: they are read by every run until something
 * else is bound. Once all inputs are bound their sizes choose a specialised shape. */
PM_RT_API int pm_rt_bind_input(PmRtSession *s, size_t i, const PmRtTensor *t, PmRtError *err);
/* An output with all of its sizes. All inputs must be bound: PM_RT_SHAPE when no shape fits them. */
PM_RT_API int pm_rt_output_shape(PmRtSession *s, size_t i, PmRtValue *out, PmRtError *err);
/* The memory of an output, which every run writes as a whole. */
PM_RT_API int pm_rt_bind_output(PmRtSession *s, size_t i, const PmRtTensor *t, PmRtError *err);

/* Runs the model on what is bound.
 *
 * stream: a CUstream (or cudaStream_t) of the model's device; NULL is the session's own, which is waited for.
 * With a stream of the caller and everything bound on the device nothing is waited for: the work is enqueued.
 * Tensors of the host are copied, and then it is waited for as well. Runs of one session share its memory:
 * who takes another stream orders the two.
 *
 * flags: with PM_RT_GRAPH the first run of a shape makes its launches, the next one captures them, and from
 * then on they are launched as one. A session keeps the graphs of the last four sets of pointers; at others
 * it captures the launches again. Emu has no use for flags or streams.
 *
 * Who captures a stream himself runs each shape once before, since memory may be taken then. */
PM_RT_API int pm_rt_run(PmRtSession *s, void *stream, unsigned flags, PmRtError *err);

#ifdef __cplusplus
}
#endif

#endif
