/* SPDX-License-Identifier: Apache-2.0 */
/* ort_gpu.c - kernels on a GPU, with tensors in its memory. */
#include "tests/lib/ort/ort_gpu.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef unsigned long long Ptr;

#define FUNCTIONS(XX)                                                                                        \
	XX(cuInit, (unsigned flags))                                                                         \
	XX(cuDevicePrimaryCtxRetain, (void **ctx, int dev))                                                  \
	XX(cuCtxSetCurrent, (void *ctx))                                                                     \
	XX(cuCtxGetCurrent, (void **ctx))                                                                    \
	XX(cuMemAlloc_v2, (Ptr * p, size_t bytes))                                                           \
	XX(cuMemFree_v2, (Ptr p))                                                                            \
	XX(cuMemcpyHtoDAsync_v2, (Ptr to, const void *from, size_t n, void *s))                              \
	XX(cuMemcpyDtoHAsync_v2, (void *to, Ptr from, size_t n, void *s))                                    \
	XX(cuStreamCreate, (void **s, unsigned flags))                                                       \
	XX(cuStreamSynchronize, (void *s))                                                                   \
	XX(cuStreamBeginCapture_v2, (void *s, int mode))                                                     \
	XX(cuStreamEndCapture, (void *s, void **graph))                                                      \
	XX(cuGraphInstantiateWithFlags, (void **exec, void *graph, unsigned long long flags))                \
	XX(cuGraphLaunch, (void *exec, void *s))                                                             \
	XX(cuGraphExecDestroy, (void *exec))                                                                 \
	XX(cuGraphDestroy, (void *graph))

static struct {
#define XX(name, parameters) int(*name) parameters;
	FUNCTIONS(XX)
#undef XX
} cu;
static void *context, *stream;

static void must(int rc, const char *what)
{
	if (rc)
		fail_msg("%s gives %d", what, rc);
}
#define MUST(call) must(cu.call, #call)

void ort_gpu_open(void)
{
	void *so = dlopen("libcuda.so.1", RTLD_NOW), *p;

	assert_non_null(so);
#define XX(name, parameters)                                                                                 \
	p = dlsym(so, #name);                                                                                \
	assert_non_null(p);                                                                                  \
	memcpy(&cu.name, &p, sizeof p);
	FUNCTIONS(XX)
#undef XX
	MUST(cuInit(0));
	MUST(cuDevicePrimaryCtxRetain(&context, 0));
	ort_gpu_enter(1);
	MUST(cuStreamCreate(&stream, 1));
}

void ort_gpu_enter(int on)
{
	MUST(cuCtxSetCurrent(on ? context : NULL));
}

void *ort_gpu_current(void)
{
	void *now = NULL;

	MUST(cuCtxGetCurrent(&now));
	return now;
}

static void *alloc(size_t bytes)
{
	Ptr p = 0;
	void *was = ort_gpu_current();

	ort_gpu_enter(1);
	MUST(cuMemAlloc_v2(&p, bytes ? bytes : 1));
	MUST(cuCtxSetCurrent(was));
	return (void *)(uintptr_t)p;
}

/* What was enqueued may still use it, unless everything is waited for. */
static void release(void *p)
{
	void *was = ort_gpu_current();

	ort_gpu_enter(1);
	MUST(cuStreamSynchronize(NULL));
	MUST(cuStreamSynchronize(stream));
	MUST(cuMemFree_v2((Ptr)(uintptr_t)p));
	MUST(cuCtxSetCurrent(was));
}

/* Scratch is given back while a graph is recorded, and used when it is launched: it lives until the call
 * ends. */
enum { KEPT = 64 };
static _Thread_local void *kept[KEPT];
static _Thread_local int n_kept;

static void keep(void *p)
{
	assert_true(n_kept < KEPT);
	kept[n_kept++] = p;
}

/* A tensor of the GPU with these bytes; data NULL: with others than any result. */
static void *put(const void *data, size_t bytes, size_t off, void *s)
{
	char *p = alloc(bytes + off), *fill = NULL;

	if (!data) {
		fill = malloc(bytes + !bytes);
		assert_non_null(fill);
		memset(fill, 0x5a, bytes);
	}
	if (bytes)
		MUST(cuMemcpyHtoDAsync_v2((Ptr)(uintptr_t)(p + off), data ? data : fill, bytes, s));
	MUST(cuStreamSynchronize(s));
	free(fill);
	return p + off;
}

/* Whether all results are as `put` left them. */
static int untouched(const OrtCase *c, void *const *got)
{
	for (size_t i = 0; i < c->want.n_out; i++)
		for (size_t k = 0; k < c->want.out[i].bytes; k++)
			if (((const unsigned char *)got[i])[k] != 0x5a)
				return 0;
	return 1;
}

static void fetch(const OrtCase *c, const OrtHostTensor *out, void **got, void *s)
{
	for (size_t i = 0; i < c->want.n_out; i++)
		if (c->want.out[i].bytes)
			MUST(cuMemcpyDtoHAsync_v2(got[i], (Ptr)(uintptr_t)out[i].data, c->want.out[i].bytes,
						  s));
	MUST(cuStreamSynchronize(s));
}

static int call(OrtHost *h, const OrtCase *c, const OrtHostPlace *place, const OrtHostTensor *in,
		OrtHostTensor *out, int how, void *was, void **got, char why[ORT_HOST_TEXT])
{
	void *graph = NULL, *exec = NULL;
	int code;

	if (how == ORT_GPU_GRAPH)
		MUST(cuStreamBeginCapture_v2(place->stream, 2)); /* relaxed: scratch is taken meanwhile */
	MUST(cuCtxSetCurrent(was));
	code = ort_host_run(h, c->name, place, in, c->n_in, out, c->want.n_out, why);
	if (ort_gpu_current() != was) {
		snprintf(why, ORT_HOST_TEXT, "the current context is another one afterwards");
		code = -4;
	}
	ort_gpu_enter(1);
	if (how != ORT_GPU_GRAPH)
		return code;
	MUST(cuStreamEndCapture(place->stream, &graph));
	if (code)
		return code;
	fetch(c, out, got, place->stream);
	if (!untouched(c, got))
		code = -3;
	MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
	MUST(cuGraphLaunch(exec, place->stream));
	MUST(cuGraphLaunch(exec, place->stream));
	MUST(cuStreamSynchronize(place->stream));
	MUST(cuGraphExecDestroy(exec));
	MUST(cuGraphDestroy(graph));
	return code;
}

int ort_gpu_call(OrtHost *h, const OrtCase *c, int how, int own, char why[ORT_HOST_TEXT])
{
	const OrtHostPlace place = { "CUDAExecutionProvider", own ? stream : NULL, alloc, keep };
	OrtHostTensor in[ORT_CASE_IN] = { { 0 } }, out[ORT_CASE_IN] = { { 0 } };
	size_t off = how == ORT_GPU_OFF ? 8 : 0;
	void *was = ort_gpu_current(), *got[ORT_CASE_IN];
	int code;

	ort_gpu_enter(1);
	ort_case_tensors(c, in, out);
	for (size_t i = 0; i < c->n_in; i++)
		in[i].data = put(c->in[i].data, c->in[i].bytes, off, place.stream);
	for (size_t i = 0; i < c->want.n_out; i++) {
		out[i].data = put(NULL, c->want.out[i].bytes, off, place.stream);
		got[i] = malloc(c->want.out[i].bytes + 1);
		assert_non_null(got[i]);
	}
	code = call(h, c, &place, in, out, how, was, got, why);
	if (!code) {
		fetch(c, out, got, place.stream);
		code = ort_case_same(c, got, why) ? 0 : -2;
	}
	for (size_t i = 0; i < c->n_in; i++)
		release((char *)in[i].data - off);
	for (size_t i = 0; i < c->want.n_out; i++) {
		release((char *)out[i].data - off);
		free(got[i]);
	}
	while (n_kept)
		release(kept[--n_kept]);
	MUST(cuCtxSetCurrent(was));
	return code;
}
