/* SPDX-License-Identifier: Apache-2.0 */
/* tensor.h - host tensors: contiguous row-major elements in their own dtype. */
#ifndef RUNTIME_TENSOR_H
#define RUNTIME_TENSOR_H

#include "base/core/err.h"
#include "ir/core/element.h"
#include "ir/core/graph.h"

typedef struct PmTensor {
	PmType type; /* static */
	void *data;  /* owned, 64-byte aligned; NULL when it has no elements */
	size_t bytes;
} PmTensor;

/* Allocates zeroed elements for a static type; PM_E_LIMIT over 1 TiB. */
PmStatus pm_tensor_init(PmTensor *t, const PmType *type, PmErr *err);
/* The same with elements that hold anything, for who writes them all. */
PmStatus pm_tensor_room(PmTensor *t, const PmType *type, PmErr *err);
void pm_tensor_release(PmTensor *t); /* frees; t becomes empty; NULL data is fine */
PmStatus pm_tensor_copy(PmTensor *dst, const PmTensor *src, PmErr *err); /* initialises dst */
/* Copies or makes a constant's data; PM_E_NOT_FOUND when it is absent and nobody makes it. */
PmStatus pm_tensor_from_const(PmTensor *t, const PmGraph *g, PmValue v, PmErr *err);
/* An attribute's tensor where it lies: only to be read, and not released. 0 when a is NULL, no tensor, or has
 * no first element here. */
int pm_tensor_of_attr(PmTensor *t, const PmAttr *a);
/* Element i as a double (integers beyond 2^53 round) and as an integer; and stores with the dtype's rounding
 * (integers truncate, bool is != 0); uint64 as the words of ir/core/element.h. No bounds check. */
double pm_tensor_get(const PmTensor *t, int64_t i);
/* pm_tensor_get() of elements [from, from + n), and pm_tensor_set() of them. */
void pm_tensor_gets(const PmTensor *t, int64_t from, int64_t n, double *to);
void pm_tensor_sets(PmTensor *t, int64_t from, int64_t n, const double *v);
int64_t pm_tensor_get_i(const PmTensor *t, int64_t i);
void pm_tensor_set(PmTensor *t, int64_t i, double v);
void pm_tensor_set_i(PmTensor *t, int64_t i, int64_t v);
int64_t pm_tensor_numel(const PmTensor *t);

#endif
