/* SPDX-License-Identifier: Apache-2.0 */
/* ort_kernels.h - the kernels of a rewritten model, compiled ahead, as a file that ONNX Runtime is given
 * (ort/kernels.h).
 */
#ifndef APP_APPLY_ORT_KERNELS_H
#define APP_APPLY_ORT_KERNELS_H

#include "base/core/hash.h"
#include "ir/core/graph.h"

#include <stddef.h>
#include <stdint.h>

enum { PM_ORT_MAX_ARCHS = 16 };

/* What to compile for. */
typedef struct PmOrtArchs {
	int emu;       /* this machine's CPU */
	const int *cc; /* compute capabilities, 90 for sm_90 */
	size_t n_cc;
	int jobs; /* processes that compile */
} PmOrtArchs;

/* What was written. */
typedef struct PmOrtWritten {
	size_t n_kernels, n_sources, n_images;
	int64_t bytes;
} PmOrtWritten;

/* Compiles the kernels of `g`, the first alternative of each, and writes the file. GPUs get machine code for
 * each compute capability, and PTX as nvrtc_images.h says. PM_E_UNSUPPORTED when a kernel has a tensor of
 * open size, or more operands than the file can say, PM_E_ENV when a compiler is missing, PM_E_NOT_FOUND when
 * there is no kernel. */
PmStatus pm_ort_kernels_make(const PmGraph *g, const PmOrtArchs *archs, const char *path, PmOrtWritten *out,
			     PmErr *err);

#endif
