/* SPDX-License-Identifier: Apache-2.0 */
/* ops.h - what libpassmith_ort exports. */
#ifndef ORT_OPS_H
#define ORT_OPS_H

#include "ort/api.h"

#if defined(__GNUC__)
#define PM_ORT_EXPORT __attribute__((visibility("default")))
#else
#define PM_ORT_EXPORT
#endif

/* What ONNX Runtime looks up in a library of custom operators: adds to the options an operator for each
 * kernel of the file that the entry "passmith.kernels" of the options names, or the variable
 * PASSMITH_ORT_KERNELS. Returns NULL, or a status with a sentence, which the caller owns. */
PM_ORT_EXPORT OrtStatus *RegisterCustomOps(OrtSessionOptions *options, const OrtApiBase *base);

/* How many launches this library has made so far, on all devices. */
PM_ORT_EXPORT unsigned long long passmith_ort_launches(void);

#endif
