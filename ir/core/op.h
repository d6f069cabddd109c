/* SPDX-License-Identifier: Apache-2.0 */
/* op.h - operators: an enum and descriptors, both generated from ops.def (the only list of operators). */
#ifndef IR_OP_H
#define IR_OP_H

#include "base/core/err.h"

#include <stddef.h>
#include <stdint.h>

typedef enum PmOp {
	PM_OP_NONE = 0,
#define OP(name, ...) PM_OP_##name,
#include "ir/core/ops.def"
#undef OP
	PM_N_OPS
} PmOp;

/* Flags of a row; the meaning of each is stated in ops.def. */
enum {
	PM_OPF_EW = 1 << 0,      /* element-wise with broadcasting; has a scalar expression */
	PM_OPF_COMM = 1 << 1,    /* operands 0 and 1 may be swapped */
	PM_OPF_RED = 1 << 2,     /* reduces over `axes` */
	PM_OPF_VIEW = 1 << 3,    /* result can be a strided view of operand 0 */
	PM_OPF_MOVE = 1 << 4,    /* moves elements, computes nothing */
	PM_OPF_DOT = 1 << 5,     /* contraction: matrix product or convolution */
	PM_OPF_NORM = 1 << 6,    /* normalisation or softmax along axes */
	PM_OPF_POOL = 1 << 7,    /* window over spatial axes */
	PM_OPF_FOLD = 1 << 8,    /* variadic element-wise: fold the expression over all operands */
	PM_OPF_SHAPE = 1 << 9,   /* the result's values depend only on shapes */
	PM_OPF_OPAQUE = 1 << 10, /* meaning unknown to us; kept, never rewritten */
	PM_OPF_KERNEL = 1 << 11, /* a fused node; meaning is its body */
	PM_OPF_DATA = 1 << 12,   /* the result's shape depends on the operands' values */
	PM_OPF_NARROW = 1 << 14, /* takes and gives narrow element types too (pm_dtype_is_narrow) */
	PM_OPF_RANDOM = 1 << 13  /* an effect: two such nodes are never the same, and none is a constant */
};

/* Element types an operator accepts for operand 0 (the shape rule checks the rest). */
typedef enum { PM_TYPES_FLT, PM_TYPES_NUM, PM_TYPES_BOOL, PM_TYPES_ANY, PM_TYPES_INT } PmTypeClass;

typedef enum {
	PM_ATTR_INT,
	PM_ATTR_FLOAT,
	PM_ATTR_STRING,
	PM_ATTR_INTS,
	PM_ATTR_FLOATS,
	PM_ATTR_STRINGS,
	PM_ATTR_TENSOR,
	PM_ATTR_GRAPH
} PmAttrKind;

typedef struct PmAttrDesc {
	const char *name;
	PmAttrKind kind;
	int has_default; /* 0: must be present after normalisation */
	int64_t i;       /* default of an INT */
	double f;        /* default of a FLOAT */
	const char *s;   /* default of a STRING; an INTS default is always the empty list */
} PmAttrDesc;

typedef struct PmOpDesc {
	const char *name;
	int in_min,
		in_max; /* operands; in_max -1 = any number; trailing ones may be omitted down to in_min */
	int out_min, out_max;
	uint32_t flags;
	PmTypeClass types;
	const PmAttrDesc *attrs; /* in table order; FLOAT attributes are p0, p1, ... of the expression */
	int n_attrs;
	const char *infer, *ref; /* token names, for docs */
	const char *expr;  /* scalar expression over a, b, c, p0, p1 for floating point; NULL when none */
	const char *iexpr; /* the same for integers and booleans; NULL: NUM rows take expr for them too */
} PmOpDesc;

/* Descriptor of an operator; op must be below PM_N_OPS. */
const PmOpDesc *pm_op_desc(PmOp op);
/* What the author of a pass has to know beside that, of op_notes.def; NULL = nothing. Static storage. */
const char *pm_op_note(PmOp op);
/* PM_OP_NONE when the table has no such name. */
PmOp pm_op_from_name(const char *name);
/* The name in the table closest to `name` (edit distance at most 3), or NULL: for "did you mean". */
const char *pm_op_suggest(const char *name);
const PmAttrDesc *pm_op_attr_desc(PmOp op, const char *name); /* NULL when the operator has none such */

#endif
