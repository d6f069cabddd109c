/* pass_kernels.h - the kernels that the first-party passes make of the bundled models, for compiling them. */
#ifndef TESTS_LIB_PASS_KERNELS_H
#define TESTS_LIB_PASS_KERNELS_H

#include "ir/type.h"

#include <stddef.h>

enum { PASS_KERNELS_MAX = 16 }; /* passes */

/* Source `source` for elements of `type`, which pass number `pass` made when the model's element type was
 * `dtype`. Texts are borrowed. */
typedef void (*PassKernelFn)(void *arg, size_t pass, int dtype, const char *name, const char *source,
			     PmDType type);

/* Applies every pass to every model in float, float16 and bfloat16, and hands over each alternative of each
 * fused node. Returns the number of passes; fails the running cmocka test when something cannot be done. */
size_t pass_kernels(PassKernelFn fn, void *arg);
const char *pass_kernels_name(size_t pass);

#endif
