/* SPDX-License-Identifier: Apache-2.0 */
/* products.h - large products of the reference on a device, in a process of their own.
 *
 * The process runs one kernel of ours (kernels/product.cu) and never anything of a candidate's. What it
 * answers is believed only as far as it is checked here: by a product with a secret random vector, and some
 * elements, drawn secretly, to the bit. The bits are those of the processor, so that nothing depends on who
 * computes. Whatever goes wrong is said once on stderr, the processor computes that product and all that
 * follow, and no result differs.
 */
#ifndef RUNTIME_PRODUCTS_H
#define RUNTIME_PRODUCTS_H

#include "runtime/ref/ref.h"

typedef struct PmProducts PmProducts;

/* For tests: the process changes an element of each product, or dies over the first. */
typedef enum PmProductFault { PM_PRODUCT_RIGHT, PM_PRODUCT_WRONG, PM_PRODUCT_DIES } PmProductFault;

/* For "cuda" or "emu"; nothing is started before the first product. Products of fewer than `least_flops`
 * operations are left to the processor, and so are those that cost more to move than it takes to compute
 * them, unless least_flops is given; 0 = PM_PRODUCTS_LEAST. Returns owned. */
#define PM_PRODUCTS_LEAST 2e10
PmProducts *pm_products_new(const char *device, double least_flops, PmProductFault fault);
void pm_products_free(PmProducts *p); /* NULL is allowed */

/* A PmRefProductFn (ref.h); `arg` is a PmProducts. Does nothing in children of the process that made it. */
PmRefProductFn pm_products_compute;

/* The process ends, and has left the device when this returns; there will be no other. Before a clock. NULL
 * is allowed. */
void pm_products_rest(PmProducts *p);

typedef struct PmProductsDone {
	int64_t n, refused; /* products from the device that were right; those that were not, or failed */
	double seconds;     /* of the wall, all of them: transfers, kernels, checks */
} PmProductsDone;
/* Zeros for NULL. */
PmProductsDone pm_products_done(const PmProducts *p);

#endif
