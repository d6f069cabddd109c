/* SPDX-License-Identifier: Apache-2.0 */
/* ort_gpu.h - calls of libpassmith_ort's kernels on a GPU, by a driver that is found as libcuda.so.1: the
 * real one, or that of tests/machine/emu, which a test has loaded before.
 */
#ifndef TESTS_LIB_ORT_GPU_H
#define TESTS_LIB_ORT_GPU_H

#include "tests/lib/ort/ort_cases.h"

/* How a kernel is called. */
enum {
	ORT_GPU_PLAIN,
	ORT_GPU_GRAPH, /* recorded into a graph, which is then launched twice */
	ORT_GPU_OFF    /* every tensor begins 8 bytes behind a good place */
};

/* Opens the driver, and makes the first GPU's primary context and a stream; the running test fails when it
 * cannot. */
void ort_gpu_open(void);
/* Makes the context current to the calling thread, or nothing. */
void ort_gpu_enter(int on);
/* The context that is current; NULL = none. */
void *ort_gpu_current(void);
/* Calls the kernel on the GPU, on the stream (`own`) or the default one. The context is current for what is
 * done around the call, and for the call as it was before. The host's code; -2 when the bits are not those of
 * the case, -3 when something wrote them before the graph was launched. */
int ort_gpu_call(OrtHost *h, const OrtCase *c, int how, int own, char why[ORT_HOST_TEXT]);

#endif
