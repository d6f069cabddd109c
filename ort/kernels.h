/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.h - a file of kernels: what ONNX Runtime is to run in the place of the functions of a rewritten
 * model.
 *
 * The layout, for writer and reader alike (kernels.c; docs/reference/onnx-runtime.md says the same for
 * people). All numbers are little-endian and follow each other without gaps:
 *
 *   file    "PSMORT\r\n", u32 version, u32 0, u64 bytes of the file, 32 bytes of SHA-256 of all that follows,
 *           u32 number of images, images, u32 number of kernels, kernels
 *   image   u32 kind, u32 arch, u64 bytes, bytes
 *   kernel  text name, text label, list of operands, list of results, list of u64 scratch bytes,
 *           list of launches, list of u32 numbers of images
 *   value   u32 type, list of i64 sizes
 *   launch  text entry, 3 u32 grid, 3 u32 block, u32 shared memory, list of arguments
 *   arg     u32 kind, u32 index, u64 bits of a number
 *   list    u32 how many, then they
 *   text    u32 bytes, bytes, a zero that is not counted
 */
#ifndef ORT_KERNELS_H
#define ORT_KERNELS_H

#include "base/core/arena.h"
#include "base/core/str.h"

#include <stddef.h>
#include <stdint.h>

#define PM_ORT_MAGIC "PSMORT\r\n"
enum {
	PM_ORT_VERSION = 1,
	PM_ORT_HEADER = 8 + 4 + 4 + 8 + 32, /* bytes before the images */
	PM_ORT_DIGEST = 32,
	PM_ORT_MAX_IMAGES = 1 << 20,
	PM_ORT_MAX_KERNELS = 1 << 16,
	PM_ORT_MAX_TEXT = 255, /* bytes of a name */
	PM_ORT_MAX_VALUES = 64,
	PM_ORT_MAX_RANK = 8,
	PM_ORT_MAX_SCRATCH = 16,
	PM_ORT_MAX_LAUNCHES = 16,
	PM_ORT_MAX_ARGS = 128
};

/* Machine code of one source. arch: the compute capability (90 for sm_90); 0 for the host's own code. A GPU's
 * driver compiles PTX, a terminated text, for what is newer than it. */
typedef enum { PM_ORT_EMU, PM_ORT_CUBIN, PM_ORT_PTX, PM_ORT_N_IMAGES } PmOrtImageKind;
typedef struct PmOrtImage {
	uint32_t kind, arch;
	const void *p;
	size_t n;
} PmOrtImage;

/* The type of an operand or result: launches are for exactly these sizes. `type` is ONNX's number. */
typedef struct PmOrtValue {
	uint32_t type, rank;
	int64_t dim[PM_ORT_MAX_RANK];
} PmOrtValue;

/* The data of operand, result or scratch buffer `index`, or a number by value. */
typedef enum {
	PM_ORT_IN,
	PM_ORT_OUT,
	PM_ORT_SCRATCH,
	PM_ORT_I64,
	PM_ORT_I32,
	PM_ORT_F32,
	PM_ORT_F64,
	PM_ORT_N_ARGS
} PmOrtArgKind;
typedef struct PmOrtArg {
	uint32_t kind, index;
	uint64_t bits; /* of the number, in the lowest bytes */
} PmOrtArg;

typedef struct PmOrtLaunch {
	const char *entry;
	uint32_t grid[3], block[3], smem;
	uint32_t n_args;
	PmOrtArg *args;
} PmOrtLaunch;

typedef struct PmOrtKernel {
	const char *name;  /* of the model's function, which is the operator's */
	const char *label; /* of the rule that made it, for messages */
	uint32_t n_in, n_out, n_scratch, n_launches, n_images;
	PmOrtValue *in, *out;
	uint64_t *scratch; /* bytes */
	PmOrtLaunch *launches;
	uint32_t *images; /* numbers of PmOrtKernels.image: the same source for each architecture */
} PmOrtKernel;

typedef struct PmOrtKernels {
	uint32_t n_images, n_kernels;
	PmOrtImage *image;
	PmOrtKernel *kernel;
	unsigned char digest[PM_ORT_DIGEST];
} PmOrtKernels;

/* Appends the file. The lists keep the limits above. */
void pm_ort_kernels_write(const PmOrtKernels *k, PmStr *out);

/* Reads a file of n bytes, which must outlive *out: texts and images lie in them, all else in the arena.
 * Every number is checked before it is used; PM_E_INVALID with a sentence that begins with `path`. */
PmStatus pm_ort_kernels_read(const void *p, size_t n, const char *path, PmArena *arena, PmOrtKernels *out,
			     PmErr *err);

/* The kernel of this name, or NULL. */
const PmOrtKernel *pm_ort_kernel_find(const PmOrtKernels *k, const char *name);
/* Bytes of a tensor; 0 for a type that no kernel has. Of what pm_ort_kernels_read let pass it fits in 63
 * bits. */
uint64_t pm_ort_value_bytes(const PmOrtValue *v);

#endif
