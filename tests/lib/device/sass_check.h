/* SPDX-License-Identifier: Apache-2.0 */
/* sass_check.h - a second reader of machine code, written apart from integrity/cubin/sass.c: it says what
 * must never pass.
 *
 * It knows the few fields that nvdisasm prints as constant bank, local address, target and special register,
 * and judges nothing else. What the gate accepts and this refuses is a hole in the gate. */
#ifndef TESTS_LIB_SASS_CHECK_H
#define TESTS_LIB_SASS_CHECK_H

#include <stddef.h>

/* NULL, or what the first forbidden instruction of any .text section does. The file must have a section table
 * that can be read (the gate accepted it); others than sm_80, sm_86, sm_89 and sm_90 are not read. */
const char *pm_sass_check(const void *cubin, size_t len);

#endif
