/* SPDX-License-Identifier: Apache-2.0 */
/* type.h - the type of a tensor: element type and dimensions.
 *
 * A dimension is a constant (>= 0) or a symbol: -(k + 1) names symbol k of the graph the type belongs to
 * (pm_graph_symbol). Two equal symbols are equal dimensions; nothing else is known about them.
 * rank -1 means the rank is unknown (only values of opaque nodes may have it).
 */
#ifndef IR_TYPE_H
#define IR_TYPE_H

#include "base/core/err.h"
#include "base/core/str.h"

#include <stddef.h>
#include <stdint.h>

typedef int64_t PmDim;

typedef struct PmType {
	int32_t dtype; /* PmDType, or -1 when unknown (opaque results only) */
	int32_t rank;  /* -1 unknown, 0 a scalar, at most PM_MAX_RANK */
	PmDim dim[PM_MAX_RANK];
} PmType;

/* A type with constant dimensions. */
PmType pm_type(PmDType dtype, int rank, const int64_t *dim);
PmType pm_type_unknown(void);

size_t pm_dtype_size(int dtype); /* bytes of one element; 0 for an unknown dtype */
/* Bits of one element in an ONNX file: fewer than 8 of its bytes in memory where a file packs them; 0 for an
 * unknown dtype. */
int pm_dtype_bits(int dtype);
const char *pm_dtype_name(int dtype);     /* "float16"; "undefined" for an unknown dtype */
int pm_dtype_from_name(const char *name); /* -1 when there is none of that name */
/* 1 for float, float16, bfloat16, double and the narrow floating-point types. */
int pm_dtype_is_float(int dtype);
/* 1 for the floating-point types of at most 8 bits and the integers of 4 and 2: their elements are converted
 * and moved, nothing is computed in them, and only the reference has them. */
int pm_dtype_is_narrow(int dtype);
/* 1 for the floating-point types of 16 bits. */
int pm_dtype_is_half(int dtype);
/* Further columns of dtypes.def: the short word of printed patterns ("f32"), the type of an element in CUDA
 * C++
 * ("__half", NULL for a narrow type), PyTorch's name ("torch.float16", NULL where it has none). NULL for an
 * unknown dtype. Static storage. */
const char *pm_dtype_word(int dtype);
const char *pm_dtype_cuda(int dtype);
const char *pm_dtype_torch(int dtype);
/* The type in which kernels add up elements of dtype: float for half types, int64 for small integers; int64
 * for an unknown dtype. */
int pm_dtype_sums(int dtype);
/* The arithmetic that counts for elements of dtype: a place of PmProfile.flops_per_second. */
typedef enum { PM_PEAK_DOUBLE, PM_PEAK_SINGLE, PM_PEAK_HALF, PM_PEAK_INTEGER, PM_N_DTYPE_PEAKS } PmDTypePeak;
PmDTypePeak pm_dtype_peak(int dtype); /* PM_PEAK_INTEGER for an unknown dtype */

/* Numbers of a floating-point type (floats.def). */
typedef struct PmFloatType {
	double roundoff;   /* half the distance from 1 to the next number: 2^-p for p binary digits */
	double subnormal;  /* least number above zero */
	double normal;     /* least number above zero with all digits */
	double largest;    /* largest finite number */
	double atol, rtol; /* decades of the absolute and relative tolerance per level t
			      (bench/compare/tolerance.h) */
	double pattern; /* relative difference at which a constant is still the number that a pattern names */
	double conform; /* relative tolerance of ONNX's own tests */
	double made;    /* largest size of a made-up weight */
	double inputs;  /* largest size in the class `large` of inputs: e^x stays finite */
	int noise;      /* low bits that a timed call's inputs get at random (runtime/device/input_pool.h) */
	int cublas, cudnn; /* cudaDataType_t and cudnnDataType_t */
} PmFloatType;
/* NULL for a type that is not floating point. Static storage. */
const PmFloatType *pm_float_type(int dtype);
/* 1 for a floating-point type whose numbers end where sums and squares of everyday numbers already lie:
 * float16. */
int pm_float_is_short_range(int dtype);
int pm_dtype_is_int(int dtype); /* signed and unsigned integers, not bool */
/* 1 for the unsigned integers; bool is none. */
int pm_dtype_is_unsigned(int dtype);

/* 1 when element type, rank and every dimension are the same: a symbol equals only itself, and what is not
 * known equals what is not known. */
int pm_type_equal(const PmType *a, const PmType *b);
/* 1 when dtype and rank are known and every dimension is a constant. */
int pm_type_is_static(const PmType *t);
/* Number of elements / bytes of a static type; PM_E_LIMIT when it does not fit in 63 bits, PM_E_SHAPE
 * when the type is not static. */
PmStatus pm_type_numel(const PmType *t, int64_t *out, PmErr *err);
PmStatus pm_type_bytes(const PmType *t, int64_t *out, PmErr *err);
/* Appends "float16[2,3]" ("float16" for a scalar, symbols as ?k). For messages; text.h prints names. */
void pm_type_describe(const PmType *t, PmStr *out);

#endif
