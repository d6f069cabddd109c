/* SPDX-License-Identifier: Apache-2.0 */
/* op.c - operator descriptors, built from ops.def. */
#include "ir/core/op.h"

#include <string.h>

/* Columns of ops.def: flag words ... */
#define EW     PM_OPF_EW
#define COMM   PM_OPF_COMM
#define RED    PM_OPF_RED
#define VIEW   PM_OPF_VIEW
#define MOVE   PM_OPF_MOVE
#define DOT    PM_OPF_DOT
#define NORM   PM_OPF_NORM
#define POOL   PM_OPF_POOL
#define FOLD   PM_OPF_FOLD
#define SHAPE  PM_OPF_SHAPE
#define DATA   PM_OPF_DATA
#define RANDOM PM_OPF_RANDOM
#define NARROW PM_OPF_NARROW
#define OPAQUE PM_OPF_OPAQUE
#define KERNEL PM_OPF_KERNEL

/* ... attributes; a float default is rounded to float32, as ONNX stores it ... */
#define F(name, dflt) { #name, PM_ATTR_FLOAT, 1, 0, (double)(float)(dflt), NULL },
#define I(name, dflt) { #name, PM_ATTR_INT, 1, dflt, 0, NULL },
#define S(name, dflt) { #name, PM_ATTR_STRING, 1, 0, 0, dflt },
#define INTS(name)    { #name, PM_ATTR_INTS, 0, 0, 0, NULL },
#define OINTS(name)   { #name, PM_ATTR_INTS, 1, 0, 0, NULL },
#define RI(name)      { #name, PM_ATTR_INT, 0, 0, 0, NULL },
#define T(name)       { #name, PM_ATTR_TENSOR, 0, 0, 0, NULL },
#define UNWRAP(...)   __VA_ARGS__
#define END_OF_ATTRS                                                                                         \
	{                                                                                                    \
		NULL, PM_ATTR_INT, 0, 0, 0, NULL                                                             \
	}
#define OP(name, in_min, in_max, out_min, out_max, flags, types, attrs, shape, ref, expr, iexpr)             \
	static const PmAttrDesc attrs_##name[] = { UNWRAP attrs END_OF_ATTRS };
#include "ir/core/ops.def"
#undef OP

/* ... and expressions as text, where a lone "-" stands for none. */
#define TEXT_OR_NULL(s) (sizeof(s) == 2 && (s)[0] == '-' ? NULL : (s))
#define OP(name, in_min, in_max, out_min, out_max, flags, types, attrs, shape, ref, expr, iexpr)             \
	[PM_OP_##name] = { #name,                                                                            \
			   in_min,                                                                           \
			   in_max,                                                                           \
			   out_min,                                                                          \
			   out_max,                                                                          \
			   flags,                                                                            \
			   PM_TYPES_##types,                                                                 \
			   attrs_##name,                                                                     \
			   (int)(sizeof attrs_##name / sizeof attrs_##name[0]) - 1,                          \
			   #shape,                                                                           \
			   #ref,                                                                             \
			   TEXT_OR_NULL(#expr),                                                              \
			   TEXT_OR_NULL(#iexpr) },
static const PmOpDesc table[PM_N_OPS] = {
	[PM_OP_NONE] = { "", 0, 0, 0, 0, 0, PM_TYPES_ANY, NULL, 0, "-", "-", NULL, NULL },
#include "ir/core/ops.def"
};
#undef OP

const char *pm_op_note(PmOp op)
{
	static const char *const notes[PM_N_OPS] = {
#define XX(name, text) [PM_OP_##name] = text,
#include "ir/core/op_notes.def"
#undef XX
	};

	return (unsigned)op < PM_N_OPS ? notes[op] : NULL;
}

const PmOpDesc *pm_op_desc(PmOp op)
{
	if ((unsigned)op >= PM_N_OPS)
		PM_BUG("operator number %d is not in the table", (int)op);
	return &table[op];
}

PmOp pm_op_from_name(const char *name)
{
	int i;

	for (i = PM_OP_NONE + 1; name && i < PM_N_OPS; i++) {
		if (table[i].name[0] == name[0] && strcmp(table[i].name, name) == 0)
			return (PmOp)i;
	}
	return PM_OP_NONE;
}

enum { SUGGEST_MAX_LEN = 64, SUGGEST_MAX_DISTANCE = 3 };

static int min3(int a, int b, int c)
{
	int m = a < b ? a : b;

	return m < c ? m : c;
}

/* Edit distance (insert, delete, replace) of two names of at most SUGGEST_MAX_LEN bytes. */
static int distance(const char *a, size_t na, const char *b, size_t nb)
{
	int row[SUGGEST_MAX_LEN + 1];
	size_t i, j;

	for (j = 0; j <= nb; j++)
		row[j] = (int)j;
	for (i = 1; i <= na; i++) {
		int diag = row[0];

		row[0] = (int)i;
		for (j = 1; j <= nb; j++) {
			int up = row[j];

			row[j] = min3(up + 1, row[j - 1] + 1, diag + (a[i - 1] != b[j - 1]));
			diag = up;
		}
	}
	return row[nb];
}

const char *pm_op_suggest(const char *name)
{
	const char *best = NULL;
	int i, d, best_d = SUGGEST_MAX_DISTANCE + 1;
	size_t n;

	if (!name)
		return NULL;
	n = strlen(name);
	if (n == 0 || n > SUGGEST_MAX_LEN)
		return NULL;
	for (i = PM_OP_NONE + 1; i < PM_N_OPS; i++) {
		size_t len = strlen(table[i].name);

		if (len > SUGGEST_MAX_LEN)
			continue;
		d = distance(name, n, table[i].name, len);
		if (d < best_d) {
			best_d = d;
			best = table[i].name;
		}
	}
	return best;
}

const PmAttrDesc *pm_op_attr_desc(PmOp op, const char *name)
{
	const PmOpDesc *d = pm_op_desc(op);
	int i;

	for (i = 0; name && i < d->n_attrs; i++) {
		if (strcmp(d->attrs[i].name, name) == 0)
			return &d->attrs[i];
	}
	return NULL;
}
