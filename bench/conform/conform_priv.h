/* SPDX-License-Identifier: Apache-2.0 */
/* conform_priv.h - a glance at a serialised model before its import, and kernels compiled ahead. */
#ifndef BENCH_CONFORM_PRIV_H
#define BENCH_CONFORM_PRIV_H

#include "base/core/err.h"
#include "base/core/vec.h"
#include "runtime/device/device.h"

#include <stddef.h>

typedef struct PmModelPeek {
	char op[64];      /* operator of the only node that is no Constant; "(several)", or "(none)" */
	int bad_type;     /* ONNX number of an element type of an input or output that we do not hold, or 0 */
	int has_bfloat16; /* an input or output has elements of type bfloat16 */
	const char *outside; /* why the case does not count (conform.h), or NULL */
} PmModelPeek;

/* Reads what can be read; a malformed model leaves the importer to say so. */
void pm__model_peek(const void *p, size_t n, PmModelPeek *out);
/* Raises the default domain's opset to `least`, in place. A node test states the opset in which its operator
 * last changed, so the operator is the same in every later one. */
void pm__model_raise_opset(void *p, size_t n, unsigned char least);
/* The ONNX project's data files hold bfloat16 as bit patterns of type uint16: makes the type of a serialised
 * tensor bfloat16 when it is uint16, in place. */
void pm__tensor_uint16_is_bfloat16(void *p, size_t n);

/* Kernel sources that cases need, each once; texts are owned. */
typedef struct PmSourceSet {
	PM_VEC(PmSource) v;
	PM_VEC(uint64_t) hash;
} PmSourceSet;

/* Adds what the case in `folder` would compile; nothing when it cannot be imported or planned. */
void pm__conform_sources(const char *folder, PmSourceSet *to);
void pm__source_set_add(PmSourceSet *set, const PmSource *s);
void pm__source_set_release(PmSourceSet *set);

#endif
