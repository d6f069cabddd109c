/* lib_way.h - ways to compute what a PmLibCall says: as it stands, or a convolution as other calls with
 * kernels of our own before and after them.
 *
 * Descriptions only: which stages, on which memory. A device prepares and runs them (cuda_way.c) and finds
 * out which way is the fastest (cuda_trial.c). Every way gives the same numbers but for the order of sums: in
 * half types a bias is added before the sum is rounded, so where a library adds none, it is what y holds
 * first.
 */
#ifndef RUNTIME_LIB_WAY_H
#define RUNTIME_LIB_WAY_H

#include "runtime/device/library.h"

enum { PM_WAY_STAGES = 4, PM_WAY_PLACES = 4, PM_WAY_INTS = 32, PM_WAY_BLOCK = 256 };

/* The ways, in the order in which they are tried. */
typedef enum {
	PM_WAY_PLAIN,        /* the call itself */
	PM_WAY_PRODUCT,      /* a convolution of single elements: weights times x */
	PM_WAY_GATHERED,     /* the windows laid out as a matrix; weights times that */
	PM_WAY_LAST,         /* channels last: x and weights turned, the result turned back */
	PM_WAY_LAST_PRODUCT, /* of single elements: x turned, times weights, turned back */
	PM_WAY_INTERLEAVED,  /* transposed, windows that do not overlap: a product, then its elements put in
				place */
	PM_WAY_FOLDED,       /* transposed, float: a product, then sums of what reaches each place */
	PM_WAY_DOT, /* a product of at most PM_WAY_DOT_ROWS rows, or a convolution that is one, by a kernel of
		       ours */
	PM_N_WAYS
} PmWayKind;

/* Where an operand lies: an argument of the call (library.h), or bytes into the way's own room. */
typedef struct PmWayPlace {
	int arg; /* 0 = y, 1 and 2 = factors, 3 = c or bias, PM_WAY_ROOM */
	int64_t offset;
} PmWayPlace;
enum { PM_WAY_ROOM = 4, PM_WAY_DOT_ROWS = 8 };

typedef struct PmWayStage {
	const char *entry; /* of kernels/lib_way.cu with PM_WAY_BLOCK threads; NULL = a library's call */
	int n_places, n_ints;
	PmWayPlace place[PM_WAY_PLACES]; /* the kernel's pointers, or the call's arguments */
	int32_t v[PM_WAY_INTS];          /* what follows the pointers */
	uint32_t blocks;
	PmLibCall call;
} PmWayStage;

typedef struct PmWay {
	PmWayKind kind;
	int dtype; /* of all elements */
	int n;
	PmWayStage stage[PM_WAY_STAGES];
	int64_t room; /* bytes that the stages share, at most PM_WAY_MAX_ROOM */
} PmWay;
#define PM_WAY_MAX_ROOM ((int64_t)512 << 20)

/* "plain", "product", ... */
const char *pm_way_name(PmWayKind kind);

/* Describes the call in that way; 0 when it cannot be done so, or is known not to be worth trying. */
int pm_way_describe(const PmLibCall *call, PmWayKind kind, PmWay *out);

/* The text of lib_way.cu, to be compiled for the element type. */
const char *pm_way_source(void);

#endif
