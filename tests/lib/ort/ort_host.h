/* SPDX-License-Identifier: Apache-2.0 */
/* ort_host.h - what libpassmith_ort sees of ONNX Runtime, without ONNX Runtime: a table of functions at the
 * same places, session options with entries, and kernels that are created and called as its sessions do.
 */
#ifndef TESTS_LIB_ORT_HOST_H
#define TESTS_LIB_ORT_HOST_H

#include <stddef.h>
#include <stdint.h>

enum { ORT_HOST_TEXT = 1024 };

typedef struct OrtHost OrtHost;

/* A tensor: of an output, `data` has room for the sizes that are given. */
typedef struct OrtHostTensor {
	int type; /* ONNX's number */
	size_t rank;
	int64_t dim[8];
	void *data;
} OrtHostTensor;

/* Where kernels run. On a GPU: the stream, and who gives and takes scratch. */
typedef struct OrtHostPlace {
	const char *provider; /* "CPUExecutionProvider", "CUDAExecutionProvider" */
	void *stream;
	void *(*alloc)(size_t bytes);
	void (*free)(void *p);
} OrtHostPlace;

/* Loads the library and has it add its operators to options whose entry "passmith.kernels" is `entry` (NULL =
 * there is none). `newest`: the newest version of the interface that this ONNX Runtime has. NULL and a
 * sentence in `why` when the library refuses. */
OrtHost *ort_host_open(const char *library, const char *entry, uint32_t newest, char why[ORT_HOST_TEXT]);
void ort_host_close(OrtHost *h);

/* Operators that were added, and of one its name and provider. */
size_t ort_host_n_ops(const OrtHost *h);
const char *ort_host_name(const OrtHost *h, size_t i);
const char *ort_host_provider(const OrtHost *h, size_t i);
/* Whether operator i takes and gives tensors of these types, all required, in the memory of its provider. */
int ort_host_fits(const OrtHost *h, size_t i, const OrtHostTensor *in, size_t n_in, const OrtHostTensor *out,
		  size_t n_out);

/* Creates a kernel of the operator of that name for the place's provider, once, and calls it. 0, or a code of
 * ONNX Runtime with a sentence in `why`; -1 when there is no such operator. Any number of threads may do so
 * at once. */
int ort_host_run(OrtHost *h, const char *name, const OrtHostPlace *place, const OrtHostTensor *in,
		 size_t n_in, OrtHostTensor *out, size_t n_out, char why[ORT_HOST_TEXT]);

/* Scratch that the kernels took and have not given back, and all that they took, of all hosts. */
int ort_host_scratch_out(void);
int ort_host_scratch_taken(void);
/* Launches that the library says it made. */
unsigned long long ort_host_launches(const OrtHost *h);

#endif
