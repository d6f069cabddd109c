/* SPDX-License-Identifier: Apache-2.0 */
/* types.h - the few types that the host and a plugin share: status codes, element types, limits.
 *
 * The lists live in errors.def and dtypes.def. Numbers never change and are never reused.
 */
#ifndef PASSMITH_TYPES_H
#define PASSMITH_TYPES_H

#include <stdint.h>

typedef int32_t PmStatus; /* 0 done, negative an error, positive "does not apply" */

enum {
#define XX(name, number, meaning) PM_##name = number,
#include "passmith/errors.def"
#undef XX
};

typedef enum PmDType {
#define XX(name, number, ...) PM_##name = number,
#include "passmith/dtypes.def"
#undef XX
	PM_N_DTYPES
} PmDType;

enum {
	PM_MAX_RANK = 8,     /* dimensions of a tensor */
	PM_MAX_OPERANDS = 64 /* operands or results of a pattern node and of a kernel */
};

#endif
