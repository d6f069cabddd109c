/* SPDX-License-Identifier: Apache-2.0 */
/* ref.h - the reference device: every operator of the table in double precision on the host.
 *
 * The oracle: floating-point values are held as doubles (integers and booleans as 64-bit integers) from the
 * graph's inputs to its outputs; nothing is rounded in between except by Cast, whose meaning is rounding.
 */
#ifndef RUNTIME_REF_H
#define RUNTIME_REF_H

#include "ir/core/resize.h"
#include "runtime/device/tensor.h"

/* A tensor during reference execution; exactly one of f and i is set unless it has no elements. */
typedef struct PmRefTensor {
	PmType type;
	int64_t numel;
	double *f;
	int64_t *i;
} PmRefTensor;

/* One operator call: operands (entries with type.dtype -1 were omitted), results with types set and storage
 * allocated by the caller; those of a DATA row whose type is not static are allocated by the row's function.
 */
typedef struct PmRefCall {
	const PmGraph *g;
	PmNode node;
	const PmRefTensor *in;
	size_t n_in;
	PmRefTensor *out;
	size_t n_out;
} PmRefCall;

/* Runs one node's reference function: PM_E_UNSUPPORTED for rows without one (opaque), PM_E_INVALID for bad
 * data such as an index out of range (the sentence names node and value). Kernel nodes run their body. */
PmStatus pm_ref_node(const PmRefCall *c, PmErr *err);

/* What a Resize node does along each axis, by its operands; PM_E_SHAPE when the graph says another extent. */
PmStatus pm_ref_resize(const PmRefCall *c, PmResize *out, PmErr *err);

/* Runs a sorted, inferred graph whose inputs are static; other types may still be open and are then found on
 * the way (PM_E_SHAPE for what values do not tell either). `in` has one tensor per graph input; `out`
 * receives one tensor per graph output (initialised here; released by the caller), rounded once to the
 * output's dtype. Intermediate values are freed after their last use. */
PmStatus pm_ref_run(const PmGraph *g, const PmTensor *in, size_t n_in, PmTensor *out, size_t n_out,
		    PmErr *err);
/* The same without the final rounding: doubles (or 64-bit integers) per output, freed with
 * pm_ref_tensor_release. */
PmStatus pm_ref_run_exact(const PmGraph *g, const PmTensor *in, size_t n_in, PmRefTensor *out, size_t n_out,
			  PmErr *err);
/* Called with every node that has run, its operands and its results, which are the run's; a status other than
 * PM_OK ends the run with it. */
typedef PmStatus PmRefWatch(void *arg, const PmRefCall *c, PmErr *err);
/* Runs a graph for the sake of what is seen on the way: pm_ref_run_exact without results. */
PmStatus pm_ref_run_watched(const PmGraph *g, const PmTensor *in, size_t n_in, PmRefWatch *watch, void *arg,
			    PmErr *err);
void pm_ref_tensor_release(PmRefTensor *t);
PmStatus pm_ref_tensor_init(PmRefTensor *t, const PmType *type, PmErr *err); /* zeroed */
/* The elements of a tensor of the same type; integers as 64-bit words. */
void pm_ref_load(PmRefTensor *to, const PmTensor *from);
/* Initialises `to`, also on failure, with the elements of `from`, each rounded once to its type. */
PmStatus pm_ref_store(PmTensor *to, const PmRefTensor *from, PmErr *err);

/* A large product: c[m x n] = a[m x k] * b[k x n], row-major with row lengths lda, ldb, ldc. c is zeros. */
typedef struct PmRefProduct {
	int64_t m, n, k, lda, ldb, ldc;
	const double *a, *b;
	double *c;
} PmRefProduct;
/* Who may compute large products instead of this process, to the same bits: 1 when it has; 0, and c is zeros,
 * when it has not. Never called in a loop of threads. NULL = nobody, as at first. Of the whole process. */
typedef int PmRefProductFn(void *arg, const PmRefProduct *p);
void pm_ref_products(PmRefProductFn *fn, void *arg);

/* Floating-point operations of one node on static types (multiply and add count one each; transcendental
 * functions count one), for the modelled clock. */
int64_t pm_op_flops(const PmGraph *g, PmNode n);

#endif
