/* SPDX-License-Identifier: Apache-2.0 */
/* disassemble.h - machine code as text, by nvdisasm where it is (private to app/profile). */
#ifndef APP_PROFILE_DISASSEMBLE_H
#define APP_PROFILE_DISASSEMBLE_H

#include "base/core/str.h"

/* Appends the SASS of a cubin. nvdisasm reads it closed off, from PATH, $CUDA_HOME/bin or
 * /usr/local/cuda/bin. PM_E_ENV when there is none, with how to get it. */
PmStatus pm__disassemble(const PmStr *cubin, PmStr *sass, PmErr *err);

#endif
