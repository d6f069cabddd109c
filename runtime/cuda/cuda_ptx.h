/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_ptx.h - what a kernel's PTX says of its parameters. */
#ifndef RUNTIME_CUDA_PTX_H
#define RUNTIME_CUDA_PTX_H

#include "base/core/vec.h"

typedef enum { PTX_I64, PTX_I32, PTX_F32, PTX_F64, PTX_OTHER } PmPtxKind;

typedef struct PmPtxEntry {
	char *name; /* owned */
	int n_params;
	PmPtxKind *kind; /* owned */
} PmPtxEntry;

typedef struct PmPtx {
	PM_VEC(PmPtxEntry) entries;
} PmPtx;

/* Finds the kernels of a PTX text and the types of their parameters: pointers and 64-bit integers are
 * PTX_I64. What it cannot read it leaves out. */
void pm__ptx_read(const char *text, PmPtx *out);
void pm__ptx_release(PmPtx *p);

#endif
