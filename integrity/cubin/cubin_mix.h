/* SPDX-License-Identifier: Apache-2.0 */
/* cubin_mix.h - how many machine instructions of each kind a kernel has: for its author, no judgement. */
#ifndef INTEGRITY_CUBIN_MIX_H
#define INTEGRITY_CUBIN_MIX_H

#include <stddef.h>
#include <stdint.h>

/* What an instruction does: XX(NAME, name in reports). Those up to LOCAL_STORE have a width. */
#define PM_MIX_KINDS(XX)                                                                                     \
	XX(GLOBAL_LOAD, "global_load")                                                                       \
	XX(GLOBAL_STORE, "global_store")                                                                     \
	XX(SHARED_LOAD, "shared_load")                                                                       \
	XX(SHARED_STORE, "shared_store")                                                                     \
	XX(LOCAL_LOAD, "local_load")                                                                         \
	XX(LOCAL_STORE, "local_store")                                                                       \
	XX(CONSTANT_LOAD, "constant_load")                                                                   \
	XX(ATOMIC, "atomic")                                                                                 \
	XX(FP64, "fp64")                                                                                     \
	XX(FP32, "fp32")                                                                                     \
	XX(FP16, "fp16")                                                                                     \
	XX(TENSOR, "tensor")                                                                                 \
	XX(SPECIAL, "special_function")                                                                      \
	XX(CONVERT, "conversion")                                                                            \
	XX(INTEGER, "integer")                                                                               \
	XX(WARP, "warp")                                                                                     \
	XX(BARRIER, "barrier")                                                                               \
	XX(BRANCH, "branch")                                                                                 \
	XX(OTHER, "other")

typedef enum PmMixKind {
#define PM_MIX_ENUM(name, text) PM_MIX_##name,
	PM_MIX_KINDS(PM_MIX_ENUM)
#undef PM_MIX_ENUM
		PM_N_MIX_KINDS
} PmMixKind;
enum { PM_MIX_WIDTHS = 5 }; /* 1, 2, 4, 8, 16 bytes of each thread */

typedef struct PmCubinMix {
	int total; /* instructions in the code; no padding */
	int of[PM_N_MIX_KINDS];
	int width[PM_MIX_LOCAL_STORE + 1][PM_MIX_WIDTHS];
	uint64_t constant;   /* bytes of __constant__ memory and of numbers that the compiler put there */
	uint64_t parameters; /* bytes of parameters */
} PmCubinMix;

/* Its name in reports: "global_load". */
const char *pm_mix_name(PmMixKind k);
/* Counts the instructions of kernel `name`, each as often as it stands there. 1, or 0 when the cubin has no
 * such kernel, is none, or is of an architecture whose instructions are not read (pm_cubin_reads_code). */
int pm_cubin_mix(const void *cubin, size_t len, const char *name, PmCubinMix *out);

#endif
