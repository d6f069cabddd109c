/* SPDX-License-Identifier: Apache-2.0 */
/* cubin_code.h - the machine code of every function of a cubin, with its constant banks and frame (private to
 * integrity/). */
#ifndef INTEGRITY_CUBIN_CODE_H
#define INTEGRITY_CUBIN_CODE_H

#include "base/core/str.h"
#include "integrity/cubin/cubin_read.h"

/* Reads the instructions of all sections of code. Adds a sentence for each problem, up to four a function, to
 * *out and returns how many. Code for architectures that pm__sass_reads does not know
 * is not read.
 */
int pm__cubin_code(const PmCubin *c, PmStr *out);

#endif
