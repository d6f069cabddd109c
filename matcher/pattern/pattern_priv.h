/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_priv.h - building patterns, shared by the copier and the parser. */
#ifndef MATCHER_PATTERN_PRIV_H
#define MATCHER_PATTERN_PRIV_H

#include "matcher/pattern/pattern.h"

/* Sets of element types that have a name in the text form. */
#define PM__TYPES_FLOAT (1u << PM_F32 | 1u << PM_F16 | 1u << PM_BF16)
#define PM__TYPES_NUM   (PM__TYPES_FLOAT | 1u << PM_I64)
enum {
#define PM__IS_INT_FLOAT  0
#define PM__IS_INT_INT    1
#define PM__IS_INT_UINT   1
#define PM__IS_INT_BOOL   0
#define PM__IS_INT_NFLOAT 0
#define PM__IS_INT_NINT   0
#define PM__IS_INT_NUINT  0
	PM__TYPES_INT = 0
#define XX(name, number, text, bytes, cls, ...) | PM__IS_INT_##cls << number
#include "passmith/dtypes.def"
#undef XX
};

/* What is known about a value before its node is: from the wrappers, or from the braces of the text. */
typedef struct PmPatMarks {
	int32_t slot;
	uint32_t flags, dtypes;
	int32_t rank;
	int64_t result; /* -1 = not said */
	uint32_t n_attr;
	PmPatternAttr attr[PM_MAX_PATTERN_ATTRS];
} PmPatMarks;

void pm__marks_init(PmPatMarks *m);
/* Narrows the type; PM_E_INVALID when nothing is left. */
PmStatus pm__marks_type(PmPatMarks *m, uint32_t dtypes, int32_t rank, PmErr *err);
/* A fresh pattern; and one more node in it, or PM_E_LIMIT. */
PmPattern *pm__pattern_new(void);
PmStatus pm__pattern_add(PmPattern *p, PmPatKind kind, uint32_t *out, PmErr *err);
/* Puts the marks on a node; PM_E_INVALID for marks that its kind cannot have. */
PmStatus pm__pattern_mark(PmPattern *p, uint32_t node, const PmPatMarks *m, PmErr *err);
/* Counts slots and operators, and checks slot numbers. */
PmStatus pm__pattern_finish(PmPattern *p, PmErr *err);
/* The number of the type with this short name ("f32"), or -1. */
int pm__type_from_word(const char *s, size_t n);

#endif
