/* SPDX-License-Identifier: Apache-2.0 */
/* serve_gpu.h - memory and streams of a GPU for a program that serves a model: what its tensors lie in. */
#ifndef APP_SERVE_SERVE_GPU_H
#define APP_SERVE_SERVE_GPU_H

#include "base/core/err.h"

#include <stddef.h>
#include <stdint.h>

typedef struct PmServeGpu PmServeGpu;

/* GPU number `ordinal`, whose primary context is retained. */
PmStatus pm__gpu_open(int ordinal, PmServeGpu **out, PmErr *err);
void pm__gpu_close(PmServeGpu *g); /* NULL is allowed */
PmStatus pm__gpu_alloc(PmServeGpu *g, size_t bytes, void **out, PmErr *err);
void pm__gpu_free(PmServeGpu *g, void *p);
PmStatus pm__gpu_stream(PmServeGpu *g, void **out, PmErr *err);
void pm__gpu_stream_end(PmServeGpu *g, void *stream);
/* Copies on the stream, and waits. */
PmStatus pm__gpu_put(PmServeGpu *g, void *to, const void *from, size_t n, void *stream, PmErr *err);
PmStatus pm__gpu_get(PmServeGpu *g, void *to, const void *from, size_t n, void *stream, PmErr *err);
PmStatus pm__gpu_wait(PmServeGpu *g, void *stream, PmErr *err);
/* What f enqueues on the stream, as a graph that can be launched; nothing of it runs. *graph is ended by
 * pm__gpu_graph_end. */
PmStatus pm__gpu_capture(PmServeGpu *g, void *stream, PmStatus (*f)(void *arg, PmErr *err), void *arg,
			 void **graph, PmErr *err);
/* Launches it; *seconds: of the driver's function alone. */
PmStatus pm__gpu_launch(PmServeGpu *g, void *graph, void *stream, double *seconds, PmErr *err);
void pm__gpu_graph_end(PmServeGpu *g, void *graph); /* NULL is allowed */
/* Bytes of its memory that are taken, by anybody. */
int64_t pm__gpu_taken(PmServeGpu *g);

#endif
