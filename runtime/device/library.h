/* SPDX-License-Identifier: Apache-2.0 */
/* library.h - operators that a vendor's library may compute in place of our kernel: matrix products and
 * convolutions of the eager baseline.
 *
 * A plan always has a kernel of ours for every operator. Beside that of a product or convolution stands a
 * PmLibCall; a device that has a library and can use it there says so when the plan is loaded
 * (PmDeviceOps.lib_prepare), others run the kernel. Fused kernels never carry one, so a candidate cannot be a
 * library call.
 */
#ifndef RUNTIME_LIBRARY_H
#define RUNTIME_LIBRARY_H

#include "base/core/err.h"

#include <stddef.h>
#include <stdint.h>

typedef enum { PM_LIB_GEMM, PM_LIB_CONV } PmLibKind;

/* How the third operand is added: not at all, as one value per column, or as a whole matrix. */
typedef enum { PM_LIB_C_NONE, PM_LIB_C_COLUMNS, PM_LIB_C_MATRIX } PmLibC;

/* y = alpha a b + beta c over `batch` matrices; y is contiguous [batch, m, n]. Strides in elements; of rows,
 * columns and matrices. */
typedef struct PmLibGemm {
	int64_t m, n, k, batch;
	int64_t a_row, a_col, a_batch, b_row, b_col, b_batch;
	int64_t outer, a_outer, b_outer; /* the whole again so many times, y following on */
	PmLibC c;
	int sums; /* y is of the type that sums are made in: float of half types. lib_algo.c asks for that,
		     without c */
	double alpha, beta;
} PmLibGemm;

/* Cross-correlation of contiguous tensors [N, C, spatial...]; a bias per channel when has_bias. Transposed:
 * what turns the result of a convolution with these weights, x, into the size of its input, y; w is [channels
 * of x, channels of y / groups, spatial...]. */
typedef struct PmLibConv {
	int spatial; /* 1 to 3 */
	int transposed;
	int64_t x[5], w[5], y[5];
	int64_t pad[3], stride[3], dilation[3]; /* pads in front */
	int uneven; /* those at the end are others, so that y's extents alone tell them: no library takes
		       that, some algorithms of ours do */
	int64_t groups;
	int has_bias;
	int channels_last; /* [N, spatial..., C], and w [filters, spatial..., C]: lib_algo.c asks for that */
	int onto;          /* the sums are added to what y holds, without a bias: lib_algo.c asks for that */
	int constant;      /* w is the same in every call of a plan: what only depends on it is done once */
} PmLibConv;

/* The launch's arguments, all buffers: 0 = y, 1 and 2 = the factors (or x and w), 3 = c or bias. */
typedef struct PmLibCall {
	PmLibKind kind;
	int dtype; /* of all operands: float, float16, bfloat16, double; sums are float, or double for double
		    */
	int64_t align[4]; /* bytes that the addresses of arguments are known to be multiples of, at most 256
			   */
	int64_t step[4];  /* bytes from one outer call's operands to the next one's */
	union {
		PmLibGemm gemm;
		PmLibConv conv;
	};
} PmLibCall;

/* Settings of this process and of workers it starts afterwards. TF32 (10-bit factors for float products) is
 * off unless it is allowed; libraries are used unless $PASSMITH_LIBRARIES is "off". */
void pm_library_allow_tf32(int on);
int pm_library_tf32(void);
int pm_library_allowed(void);

/* How a call's algorithm (lib_algo.h) and the library's own are chosen: by a trial on the device, whose
 * outcome is kept in the cache; without one, the first suggestion for the call as it stands, or for the first
 * algorithm that takes it ($PASSMITH_LIBRARIES is "first"); or, for tests, always that way, and the call is
 * declined where it cannot be done so. */
enum { PM_LIBRARY_TRY = -1, PM_LIBRARY_FIRST = -2 };
void pm_library_set_algo(int way); /* of PmAlgoKind, or one of the two */
int pm_library_algo(void);

/* A library found: opened (never closed), with version and path; or why not, in one sentence. */
typedef struct PmLibrary {
	void *so; /* NULL = not there, or too old */
	int version;
	char text[256]; /* "cuBLASLt 13.0.2, /usr/..." or what to do */
} PmLibrary;
/* Look once per process; results are borrowed. */
const PmLibrary *pm_library_cublaslt(void);
const PmLibrary *pm_library_cudnn(void);
/* "cuBLASLt 13.1.0" or "cuDNN 9.14.0": the library that computes such calls, of a version as it says it. */
void pm_library_version_text(PmLibKind kind, int version, char out[32]);
/* The address of a function as what dlsym gives, NULL when it is not there. */
void *pm_library_symbol(const PmLibrary *l, const char *name);

#endif
