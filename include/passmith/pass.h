/* SPDX-License-Identifier: Apache-2.0 */
/* pass.h - the plugin interface, version 1.4: everything that crosses between Passmith and a pass.
 *
 * A pass is a shared object that exports one function, passmith_plugin_v1(). It returns constant data: rules,
 * each with a pattern (or a `region` callback), an optional `check`, and a `rewrite` that describes kernels.
 * The host matches, checks, verifies and compiles. Authors include passmith/dsl.h, which gives these
 * structures short names.
 *
 * Rules of the interface
 * - Every structure begins with its size. Structures only grow at the end; a field that a plugin's (shorter)
 *   structure lacks reads as 0, and 0 means "as before". Only PmVal, PmVals, PmArg, PmArgs, PmSizes,
 *   PmDefine, PmDefines and PmNumber, which are array elements or pairs, are fixed for ever.
 * - PmHost and PmTarget only grow at the end. A plugin built for a newer minor version than the host's is
 * refused.
 * - Whatever a plugin passes is borrowed for the duration of the call: the host copies. What the host hands
 *   out is valid until the callback that received it returns. A handle kept longer is refused.
 * - Handles are checked: a bad one reads as "none" and makes the rewrite fail with a sentence.
 * - Callbacks may call host functions only while they run, and only from the thread that called them.
 */
#ifndef PASSMITH_PASS_H
#define PASSMITH_PASS_H

#include "passmith/types.h"

#include <stddef.h>
#include <stdint.h>

enum {
	PM_ABI_MAJOR = 1, /* also in the name of the exported function */
	PM_ABI_MINOR = 4,
	PM_MAX_SLOTS = 32,         /* slots of one pattern */
	PM_MAX_PATTERN_NODES = 64, /* of one pattern */
	PM_MAX_RULES = 256,        /* of one plugin */
	PM_MAX_RULE_NAME = 63      /* bytes of a rule or plugin name: letters, digits, '_', '-', '.' */
};

/* A value of the graph: a graph input, a constant, or a result of a node. id 0 is "none". A node is named by
 * any of its results; functions that answer with a node answer with its first result. */
typedef struct PmVal {
	uint32_t id;
} PmVal;

typedef struct PmVals {
	const PmVal *v;
	uint32_t n;
} PmVals;

/* ---- patterns: constant trees ---- */

/* Kinds of pattern. The last group wraps exactly one pattern, in[0], and describes the same value. */
enum {
	PM_PAT_OP = 1,  /* first result of an `op` node whose operands match `in`, in number too */
	PM_PAT_VAR,     /* any value, captured in `slot`; the same slot again means the same value */
	PM_PAT_ANY,     /* any value */
	PM_PAT_NUM,     /* a constant of one element equal to `num` to the precision of its type */
	PM_PAT_OPT,     /* in[0], or an `op` node whose first operand matches in[0] (other operands: any) */
	PM_PAT_ALT,     /* the first of `in` that leads to a match */
	PM_PAT_REST,    /* last operand only: any remaining operands, also none */
	PM_PAT_AS = 16, /* captures the value in `slot` */
	PM_PAT_WITH,    /* the op of in[0] has these attributes: `attr` */
	PM_PAT_TYPED,   /* element type in `dtypes` (bit per PmDType; 0: any), rank `rank` (-1: any) */
	PM_PAT_KEEP,    /* the value may be used outside the match: its node then stays */
	PM_PAT_ORDERED, /* the op of in[0] does not try its operands swapped */
	PM_PAT_ANYATTR, /* attributes of the op of in[0] that are not mentioned may have any value */
	PM_PAT_RESULT   /* the value is result number `slot` of the op of in[0], not the first */
};

enum { PM_PATTR_INT = 1, PM_PATTR_INTS, PM_PATTR_FLOAT, PM_PATTR_STR };

/* What an attribute must be. In `axis` and `axes` a negative number counts from the end. */
typedef struct PmPatAttr {
	uint32_t struct_size;
	uint32_t kind; /* PM_PATTR_* */
	const char *name;
	const int64_t *ints; /* INT: one, INTS: n_ints of them */
	uint32_t n_ints;
	uint32_t reserved;
	double f;      /* FLOAT */
	const char *s; /* STR */
} PmPatAttr;

typedef struct PmPat PmPat;
struct PmPat {
	uint32_t struct_size;
	uint32_t kind;    /* PM_PAT_* */
	uint32_t slot;    /* VAR, AS: slot; RESULT: number of the result */
	uint32_t opcheck; /* only there so that the compiler refuses a misspelt operator */
	const char *op;
	const PmPat *const *in;       /* ends with NULL */
	const PmPatAttr *const *attr; /* ends with NULL; may be NULL */
	double num;
	uint32_t dtypes;
	int32_t rank;
};

/* ---- a match, as callbacks see it ---- */

typedef struct PmMatch {
	uint32_t struct_size;
	uint32_t n_slots;
	PmVal root;      /* the value the pattern's root stands for; of a region, its last output */
	uint32_t serial; /* of the match, for messages */
	const PmVal *v;  /* n_slots captured values */
	PmVals in;       /* operands from outside, constants included, each once, in order of use */
	PmVals out;      /* results used outside or graph outputs, in order of execution; has the root */
	PmVals node;     /* the matched nodes in order of execution, each by its first result */
} PmMatch;

typedef struct PmRewriter PmRewriter; /* collects what a rewrite describes */
typedef struct PmRegion PmRegion;     /* a set of nodes that a region rule is building */

/* ---- kernels ---- */

enum {
	PM_ARG_IN = 1,  /* pointer to `.in` number index */
	PM_ARG_OUT,     /* pointer to output number index */
	PM_ARG_SCRATCH, /* pointer to `.scratch` number index */
	PM_ARG_I64,
	PM_ARG_I32,
	PM_ARG_F32,
	PM_ARG_F64
};

typedef struct PmArg {
	uint32_t kind;  /* PM_ARG_* */
	uint32_t index; /* IN, OUT, SCRATCH */
	int64_t i;      /* I64, I32 */
	double f;       /* F32, F64 */
} PmArg;

typedef struct PmArgs {
	const PmArg *v;
	uint32_t n;
} PmArgs;

typedef struct PmSizes {
	const int64_t *v;
	uint32_t n;
} PmSizes;

typedef struct PmDefine { /* "#define name value" in front of the source */
	const char *name;
	int64_t value;
} PmDefine;

typedef struct PmDefines {
	const PmDefine *v;
	uint32_t n;
} PmDefines;

/* One launch. Arguments: when `arg` names no pointer, pointers to all inputs, all outputs and all scratch
 * buffers come first, then `arg`. When it names any (PM_ARG_IN, OUT, SCRATCH), `arg` is the whole list. The
 * host compares the list with the entry's parameters in the source: count, pointer or scalar, 32 or 64 bits,
 * integer or floating. */
typedef struct PmLaunch {
	uint32_t struct_size;
	uint32_t smem;     /* bytes of dynamic shared memory */
	uint32_t grid[3];  /* 0 in the second and third place reads as 1 */
	uint32_t block[3]; /* likewise; at most 1024 threads in all */
	const char *entry; /* extern "C" __global__ function in the source */
	PmArgs arg;
} PmLaunch;

/* What replaces a match: one fused node, run as one or several launches, in one or several alternatives.
 *
 * - Inputs must be values of PmMatch.in. What the matched nodes read and `in` does not list is known to the
 *   host, but not passed to the kernel.
 * - Outputs are `outs`; when that is empty: the root, then the slots named with replace_slot(); of a region,
 *   all of PmMatch.out.
 * - A single launch is written directly in the structure; several go in `launch` (then entry, grid, block,
 *   smem and arg stay empty).
 * - The name T in the source is the element type of `like` (when given: it must have the type of the first
 *   output), else of the first output, unless `type` names another (PmDType + 1).
 * - Of the alternatives after the first, `in`, `outs` and `like` stay empty: they are those of the first. */
typedef struct PmKernelSpec PmKernelSpec;
struct PmKernelSpec {
	uint32_t struct_size;
	uint32_t type;    /* 0, or PmDType + 1 */
	uint32_t grid[3]; /* as in PmLaunch */
	uint32_t block[3];
	uint32_t smem;
	uint32_t reserved;
	const char *entry;
	const char *source; /* CUDA C++; passmith/kernel.cuh and `typedef ... T;` are put in front */
	PmVals in;
	PmVals outs;
	PmArgs arg;
	PmSizes scratch; /* bytes of each scratch buffer; contents are undefined at the start */
	PmDefines define;
	PmVal like;
	uint32_t reserved2;
	const PmLaunch *const *launch; /* ends with NULL; NULL for a single launch */
	const PmKernelSpec *alt;       /* the next alternative, or NULL */
};

/* ---- rules and plugins ---- */

typedef struct PmRule {
	uint32_t struct_size;
	uint32_t n_slots; /* 0 = counted by the host; otherwise slots must be below it */
	const char *name;
	const char *doc; /* one line */
	const PmPat *pattern;
	int32_t benefit; /* larger goes first; 0 = number of operators in the pattern */
	uint32_t reserved;
	PmStatus (*check)(PmMatch *m); /* relations between captures; PM_OK or pm_decline(); may be NULL */
	PmStatus (*rewrite)(PmRewriter *rw, PmMatch *m);
	/* Instead of a pattern: called for each node, last to first, with its first result. Adds nodes with
	 * region_add() and returns PM_OK to propose the set, PM_DECLINED for none. The set has to be
	 * connected and convex (no path leaves it and comes back), without fused and opaque nodes. */
	PmStatus (*region)(PmRegion *r, PmVal seed);
} PmRule;

typedef struct PmPlugin {
	uint32_t struct_size;
	uint32_t abi_major, abi_minor; /* of the headers the plugin was built with */
	uint32_t n_rules;
	const char *name;
	const char *version;
	const PmRule *const *rules;
} PmPlugin;

/* ---- the GPU that the rewrite is for ---- */

typedef struct PmNumber {
	const char *name; /* ends with its unit: "launch_us" */
	double value;
} PmNumber;

/* What is known of that GPU: of the device that kernels will run on, or of the one that the user named. A
 * GPU decides how work is shared, never what is computed: a kernel has to be right on every other one too.
 * A number that is not known is 0; counts are never. Registers are of 32 bits. */
typedef struct PmTarget {
	uint32_t struct_size;
	int32_t compute_capability; /* 90 for sm_90 */
	const char *name;           /* "h200"; of a GPU that no table has "sm_86" or the like */
	const char *full_name;      /* "NVIDIA H200" */
	int32_t sm_count;           /* multiprocessors */
	int32_t warp_threads;
	int32_t sm_threads; /* of a multiprocessor (SM): at a time */
	int32_t sm_blocks;
	int32_t sm_registers;
	int32_t thread_registers; /* that a thread may have */
	int32_t block_threads;    /* that a block may have */
	int32_t fitted; /* 1: `number` was fitted to this GPU; 0: taken over from another by ratios */
	int64_t sm_shared_bytes;
	int64_t block_shared_bytes;        /* that a block may have, when it asks for them at its launch */
	int64_t block_static_shared_bytes; /* that a block may declare */
	int64_t block_kept_shared_bytes;   /* that the system keeps for each block, out of sm_shared_bytes */
	int64_t l2_bytes;
	int64_t memory_bytes;
	double memory_bytes_per_second; /* of the data sheet */
	double copy_bytes_per_second;   /* read and written, that a plain copy kernel reaches */
	double l2_bytes_per_second;     /* read, that kernels reach */
	double launch_seconds;          /* one more kernel in a stream of launches from the host */
	double sm_clock_hz;             /* the highest */
	double f64_flops_per_second;    /* without tensor cores; a multiplication and addition are two */
	double f32_flops_per_second;
	double i32_ops_per_second;
	double tf32_tensor_flops_per_second; /* tensor cores, without sparsity, sums in float */
	double f16_tensor_flops_per_second;  /* of float16 and of bfloat16 */
	double f8_tensor_flops_per_second;
	double i8_tensor_ops_per_second;
	/* Constants of a cost model, sorted by name: docs/reference/targets.md says what each is. */
	const PmNumber *number;
	uint32_t n_numbers;
	uint32_t reserved;
} PmTarget;

/* ---- what the host offers ---- */

/* "Node of v" is the node that v is a result of. Every call counts against the callback's step budget; over
 * it, calls answer as for "none" and the callback's result is dropped. */
typedef struct PmHost {
	uint32_t struct_size, abi_major, abi_minor, reserved;

	/* Values. */
	int32_t (*dtype)(PmVal v);          /* PmDType, or -1 */
	int32_t (*rank)(PmVal v);           /* -1 when unknown */
	int64_t (*dim)(PmVal v, int32_t k); /* k < 0 counts from the end; -1 when not a constant dimension */
	int32_t (*same_dim)(PmVal a, int32_t i, PmVal b,
			    int32_t j); /* 1 when known equal, symbols included */
	int32_t (*same_type)(PmVal a, PmVal b);
	int32_t (*is_const)(PmVal v);
	int32_t (*is_output)(PmVal v);           /* of the graph */
	int32_t (*scalar)(PmVal v, double *out); /* 1 and *out when v is a constant of one element, else 0 */
	/* All elements of a constant of at most `max`, and their number; -1 when it is none, is longer, or
	 * its data is not at hand (constants of more than 64 elements). ints: integer and bool types only. */
	int32_t (*ints)(PmVal v, int64_t *out, uint32_t max);
	int32_t (*floats)(PmVal v, double *out, uint32_t max);

	/* Nodes. */
	const char *(*op)(PmVal v);       /* name of the operator; "" when v is no result of a node */
	const char *(*expr)(PmVal v);     /* its scalar expression in the operator table, or NULL */
	int32_t (*result_index)(PmVal v); /* -1 when v is no result of a node */
	uint32_t (*n_in)(PmVal v);
	PmVal (*in)(PmVal v, uint32_t k); /* none when omitted */
	uint32_t (*n_out)(PmVal v);
	PmVal (*out)(PmVal v, uint32_t k);
	uint32_t (*n_uses)(PmVal v);        /* by operands of nodes */
	PmVal (*user)(PmVal v, uint32_t i); /* first result of the node of use i */
	int64_t (*attr_i)(PmVal v, const char *name, int64_t dflt);
	double (*attr_f)(PmVal v, const char *name, double dflt);
	const char *(*attr_s)(PmVal v, const char *name, const char *dflt);
	int32_t (*attr_ints)(PmVal v, const char *name, int64_t *out, uint32_t max); /* number, or -1 */

	/* Callbacks. */
	PmStatus (*decline)(const char *why); /* remembers `why`, returns PM_DECLINED */
	void *(*alloc)(uint32_t size);        /* zeroed, freed after the callback; NULL over the limit */
	PmStatus (*replace_slot)(PmRewriter *rw, uint32_t slot);       /* one more output */
	PmStatus (*replace)(PmRewriter *rw, const PmKernelSpec *spec); /* once per rewrite */
	PmStatus (*region_add)(PmRegion *r, PmVal v); /* the node of v; PM_OK also when it is in already */
	int32_t (*region_has)(PmRegion *r, PmVal v);  /* 1 when the node of v is in */
	uint32_t (*region_size)(PmRegion *r);         /* nodes */
	/* ---- end of 1.0 and 1.1 (which added element types) ---- */

	/* Place of the node of v in the order of execution: along every edge it rises. -1 when v is no result
	 * of a node. Says cheaply which nodes cannot depend on v. */
	int64_t (*order)(PmVal v);
	/* 1 and the value that p<k> has in the scalar expression of the node of v; 0 when it has no p<k>. */
	int32_t (*param)(PmVal v, uint32_t k, double *out);
	/* ---- end of 1.2 and 1.3 (which added element types) ---- */

	/* The GPU that the rewrite is for; never NULL, and the same for all callbacks of one run. */
	const PmTarget *(*target)(void);

	/* Adds text about what a region or rewrite callback does and why, for people and programs that ask
	 * (passmith explain): it is kept when the set is rewritten. 1 when somebody asks, 0 when not: a text
	 * that takes time to make is made after report(NULL) said 1. At most 256 KiB for each rewrite. */
	int32_t (*report)(const char *text);
	/* Targets under which the caller wants to know what the pass expects: number i, NULL behind the last.
	 * Number 0 is target(). The others decide nothing. */
	const PmTarget *(*trial)(uint32_t i);
	/* What the pass expects under trial number i, in microseconds: of the kernel with the result v that
	 * it is describing (fused 1), or of the node of v by itself (0). Trials come in order, from 0. It is
	 * reported, and a pass may leave it out. */
	PmStatus (*expect)(PmVal v, int32_t fused, uint32_t i, double microseconds);
	/* ---- end of 1.4: append below, bump PM_ABI_MINOR ---- */
} PmHost;

#if UINTPTR_MAX == 0xffffffffffffffffu
_Static_assert(offsetof(PmHost, dtype) == 16, "1.0 is frozen");
_Static_assert(offsetof(PmHost, op) == 16 + 10 * sizeof(void *), "1.0 is frozen");
_Static_assert(offsetof(PmHost, decline) == 16 + 23 * sizeof(void *), "1.0 is frozen");
_Static_assert(offsetof(PmHost, region_size) == 16 + 29 * sizeof(void *), "1.0 is frozen");
_Static_assert(offsetof(PmHost, order) == 16 + 30 * sizeof(void *), "1.2 is frozen");
_Static_assert(offsetof(PmHost, target) == 16 + 32 * sizeof(void *), "1.4 is frozen");
_Static_assert(offsetof(PmTarget, number) == 200 && sizeof(PmTarget) == 216, "1.4 is frozen");
_Static_assert(offsetof(PmHost, report) == 16 + 33 * sizeof(void *), "1.4 is frozen");
_Static_assert(offsetof(PmHost, expect) == 16 + 35 * sizeof(void *), "1.4 is frozen");
_Static_assert(sizeof(PmPat) == 56 && sizeof(PmPatAttr) == 48, "1.0 is frozen");
_Static_assert(sizeof(PmRule) == 64 && sizeof(PmPlugin) == 40, "1.0 is frozen");
_Static_assert(sizeof(PmLaunch) == 56 && sizeof(PmKernelSpec) == 160, "1.0 is frozen");
_Static_assert(sizeof(PmMatch) == 72, "1.0 is frozen");
#endif

#if defined(__GNUC__)
#define PM_EXPORT __attribute__((visibility("default")))
#define PM_HIDDEN __attribute__((visibility("hidden")))
#define PM_UNUSED __attribute__((unused))
#else
#define PM_EXPORT
#define PM_HIDDEN
#define PM_UNUSED
#endif

/* The one exported function. Returns NULL when it cannot work with this host. */
PM_EXPORT const PmPlugin *passmith_plugin_v1(const PmHost *host);

#endif
