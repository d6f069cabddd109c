/* SPDX-License-Identifier: Apache-2.0 */
/* nvrtc_images.h - a source as machine code and text for several kinds of GPUs, for files that other programs
 * load. */
#ifndef RUNTIME_NVRTC_IMAGES_H
#define RUNTIME_NVRTC_IMAGES_H

#include "runtime/device/device.h"

#include <stddef.h>

typedef struct PmGpuImage {
	int cc;            /* compute capability, 90 for sm_90 */
	int is_ptx;        /* a text, whose last byte is 0; else a cubin */
	const char *bytes; /* borrowed */
	size_t n;
} PmGpuImage;

/* Takes one image; an error ends the compilation. */
typedef PmStatus (*PmGpuImageFn)(void *arg, const PmGpuImage *image, PmErr *err);

/* Compiles a source for n compute capabilities: machine code for each, and PTX for the lowest, from which
 * drivers of newer GPUs make theirs, and for those that NVRTC does not know. Errors are those of
 * pm_nvrtc_compile. */
PmStatus pm_nvrtc_images(const PmSource *s, const int *cc, size_t n, PmGpuImageFn add, void *arg, PmErr *err);

#endif
