/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_case.h - test cases on a GPU: each in a process of its own, since a kernel error ends the context and a
 * process that has used a GPU cannot fork others that do.
 */
#ifndef TESTS_LIB_GPU_CASE_H
#define TESTS_LIB_GPU_CASE_H

#include "runtime/device/device.h"

/* Says why a case fails and ends its process. */
_Noreturn void gpu_bad(const char *fmt, ...) PM_PRINTF(1, 2);

typedef void (*GpuBody)(PmDevice *d);
/* Opens "cuda" in a new process and calls the body; the case is skipped where there is none. What the body
 * prints is shown. */
void gpu_case(GpuBody body);

#define CHECK(x)                                                                                             \
	do {                                                                                                 \
		if (!(x))                                                                                    \
			gpu_bad("line %d: %s does not hold", __LINE__, #x);                                  \
	} while (0)
#define MUST(call)                                                                                           \
	do {                                                                                                 \
		if ((call) != PM_OK)                                                                         \
			gpu_bad("line %d: %s: %s", __LINE__, #call, err.text);                               \
	} while (0)
#define CASE(name)                                                                                           \
	static void name##_body(PmDevice *d);                                                                \
	static void name(void **state)                                                                       \
	{                                                                                                    \
		(void)state;                                                                                 \
		gpu_case(name##_body);                                                                       \
	}                                                                                                    \
	static void name##_body(PmDevice *d)
#define ARGS(...) (PmDevArg[]){ __VA_ARGS__ }, (int)(sizeof(PmDevArg[]){ __VA_ARGS__ } / sizeof(PmDevArg))

/* Compiles a source with T as float, and makes a buffer without guards; the case fails when the device
 * does. */
PmModule gpu_load(PmDevice *d, const char *source);
PmBuf gpu_alloc(PmDevice *d, int64_t bytes, PmBufUse use);
/* As for a checked run. */
PmBuf gpu_alloc_guarded(PmDevice *d, int64_t bytes, PmBufUse use);
PmStatus gpu_launch(PmDevice *d, PmModule m, const char *entry, uint32_t blocks, uint32_t threads,
		    uint32_t smem, const PmDevArg *args, int n_args, PmErr *err);
/* The launch, or the sync after it, must end with that status and words in its sentence, and go on so. */
void gpu_fails(PmDevice *d, PmModule m, const char *entry, uint32_t threads, uint32_t smem,
	       const PmDevArg *args, int n_args, PmStatus want, const char *words);

#endif
