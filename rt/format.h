/* SPDX-License-Identifier: Apache-2.0 */
/* format.h - the layout of a package: what app/compile writes and rt/package.c reads.
 * docs/reference/package.md says the same for people.
 *
 * A package is a header, a list of sections, and the sections. Most sections are tables of records of one
 * kind; a record names others by their number, and texts by their place in the section of texts. All numbers
 * are little-endian, all records have a size that is a multiple of 8, every section begins at a multiple of
 * PM_RTF_ALIGN and the weights at one of PM_RTF_PAGE. So a reader maps the file and uses it in place.
 */
#ifndef RT_FORMAT_H
#define RT_FORMAT_H

#include <stdint.h>

#define PM_RTF_MAGIC "PSMPKG\r\n"
enum {
	PM_RTF_VERSION = 1, /* of all that stands here: a reader takes its own version alone */
	PM_RTF_ALIGN = 64,
	PM_RTF_PAGE = 4096,
	PM_RTF_CONST_ALIGN = 256, /* of a constant in the weights, and of a buffer in the arena */
	PM_RTF_RANK = 8,
	PM_RTF_DIGEST = 32, /* bytes of SHA-256 */
	PM_RTF_MAX_ARGS = 128
};
#define PM_RTF_NONE UINT32_MAX

/* Sections in the order in which they lie: XX(NAME, member, record, what). A record of type char: bytes. */
#define PM_RTF_SECTIONS(XX)                                                                                  \
	XX(TEXTS, text, char, "zero-terminated texts; the first one is empty")                               \
	XX(ABOUT, about, char, "JSON that says what is in the package, zero-terminated")                     \
	XX(VALUES, value, PmRtfValue, "inputs, then outputs")                                                \
	XX(SHAPES, shape, PmRtfShape, "specialised shapes")                                                  \
	XX(EXTENTS, extent, PmRtfExtent, "of each shape the sizes of every value")                           \
	XX(BUFFERS, buffer, PmRtfBuffer, "memory of a shape, shape by shape")                                \
	XX(STEPS, step, PmRtfStep, "launches, shape by shape")                                               \
	XX(ARGS, arg, PmRtfArg, "arguments, step by step")                                                   \
	XX(CONSTS, constant, PmRtfConst, "constants, shared by all shapes")                                  \
	XX(FILES, file, PmRtfFile, "files of weights beside the package")                                    \
	XX(UNITS, unit, PmRtfUnit, "compiled sources")                                                       \
	XX(IMAGES, image, PmRtfImage, "machine code of a unit for one architecture")                         \
	XX(CALLS, call, PmRtfCall, "calls of libraries that may take the place of a launch")                 \
	XX(CHOICES, choice, PmRtfChoice, "the fastest algorithm of a call on a GPU, as it was measured")     \
	XX(CODE, code, char, "bytes of the images")                                                          \
	XX(WEIGHTS, weights, char, "bytes of the constants")

enum {
#define XX(name, member, record, what) PM_RTF_##name,
	PM_RTF_SECTIONS(XX)
#undef XX
		PM_RTF_N_SECTIONS
};

typedef struct PmRtfSection {
	uint32_t kind, record; /* its number in the list above, the size of a record */
	uint64_t offset, bytes;
	unsigned char sha256[PM_RTF_DIGEST]; /* of its bytes */
} PmRtfSection;

typedef struct PmRtfHeader {
	char magic[8];
	uint32_t version, n_sections;
	uint64_t file_bytes;
	uint32_t n_inputs, n_outputs;
	uint32_t pieces; /* TEXTS: the symbol by whose sizes a run may be put together; PM_RTF_NONE = none */
	uint32_t unused;
	unsigned char sha256[PM_RTF_DIGEST]; /* of this header with zeros here, and the list of sections */
	PmRtfSection section[PM_RTF_N_SECTIONS];
} PmRtfHeader;

typedef struct PmRtfValue {
	uint32_t name, type, rank, unused; /* TEXTS, ONNX's number */
	int64_t dim[PM_RTF_RANK];          /* -1 where it is open */
	uint32_t symbol[PM_RTF_RANK];      /* TEXTS; PM_RTF_NONE where it is fixed */
} PmRtfValue;

typedef struct PmRtfExtent {
	int64_t dim[PM_RTF_RANK]; /* 0 behind the rank */
} PmRtfExtent;

typedef struct PmRtfShape {
	uint32_t first_buffer, n_buffers, first_step, n_steps;
	uint64_t arena; /* bytes that the intermediates take together */
} PmRtfShape;

/* Where a buffer lies: in the tensor bound to input or output `index`, in constant `index`, or at `offset` of
 * the session's arena. */
enum { PM_RTF_INPUT, PM_RTF_OUTPUT, PM_RTF_CONST, PM_RTF_ARENA };
typedef struct PmRtfBuffer {
	uint32_t place, index;
	uint64_t offset, bytes;
} PmRtfBuffer;

typedef struct PmRtfStep {
	uint32_t label, entry; /* TEXTS */
	uint32_t unit, call;   /* UNITS; CALLS, PM_RTF_NONE = only the launch */
	uint32_t first_arg, n_args;
	uint32_t grid[3], block[3], smem, unused;
} PmRtfStep;

/* An argument: a buffer of the shape and an offset in bytes, or a number's bits. */
enum { PM_RTF_BUF, PM_RTF_I64, PM_RTF_I32, PM_RTF_F32, PM_RTF_F64, PM_RTF_N_KINDS };
typedef struct PmRtfArg {
	uint32_t kind, buffer; /* buffer: number within the shape */
	union {
		uint64_t offset;
		int64_t i64;
		int32_t i32;
		float f32;
		double f64;
	} v;
} PmRtfArg;

typedef struct PmRtfConst {
	uint32_t name, file; /* TEXTS; FILES, PM_RTF_NONE = it lies in WEIGHTS */
	uint64_t offset, bytes;
} PmRtfConst;

typedef struct PmRtfFile {
	uint32_t path, unused; /* TEXTS: from the package's folder, or whole */
	uint64_t bytes;
	unsigned char sha256[PM_RTF_DIGEST];
} PmRtfFile;

/* A source: of the plan, or the kernels around calls of libraries (lib_algo.cu) for an element type. What
 * a library asks of the latter is of one version of that text: it takes those with its own mark alone. */
typedef struct PmRtfUnit {
	uint32_t label, around, type; /* around: 1 = the latter; type: ONNX's number of T */
	uint32_t mark;                /* of the latter: pm_algo_mark(); else 0 */
} PmRtfUnit;

enum { PM_RTF_EMU, PM_RTF_CUBIN, PM_RTF_PTX, PM_RTF_N_FORMS };
/* Images of a unit follow each other. emu: cc is 0 and host the ELF machine; cubin and PTX: the compute
 * capability, 90 for sm_90. */
typedef struct PmRtfImage {
	uint32_t unit, form, cc, host;
	uint64_t offset, bytes; /* CODE */
} PmRtfImage;

enum { PM_RTF_GEMM, PM_RTF_CONV };
/* PmLibCall (runtime/device/library.h) with every number in a place of its own. */
typedef struct PmRtfCall {
	uint32_t kind, type; /* ONNX's number */
	int64_t align[4], step[4];
	double alpha, beta;
	int64_t v[32]; /* gemm: m n k batch a_row a_col a_batch b_row b_col b_batch outer a_outer b_outer c;
			  conv: spatial transposed groups has_bias, x[5] w[5] y[5], pad[3] stride[3]
			  dilation[3], constant */
} PmRtfCall;

typedef struct PmRtfChoice {
	uint32_t call, gpu;            /* CALLS, TEXTS: the GPU's name */
	uint32_t cublaslt, cudnn;      /* versions, as the libraries say them */
	uint32_t algorithm, candidate; /* PmAlgoKind, number of the library's candidate */
} PmRtfChoice;

_Static_assert(sizeof(PmRtfSection) == 56 && sizeof(PmRtfValue) == 112 && sizeof(PmRtfExtent) == 64 &&
		       sizeof(PmRtfShape) == 24 && sizeof(PmRtfBuffer) == 24 && sizeof(PmRtfStep) == 56 &&
		       sizeof(PmRtfArg) == 16 && sizeof(PmRtfConst) == 24 && sizeof(PmRtfFile) == 48 &&
		       sizeof(PmRtfUnit) == 16 && sizeof(PmRtfImage) == 32 && sizeof(PmRtfCall) == 344 &&
		       sizeof(PmRtfChoice) == 24,
	       "records have no gaps");

#endif
