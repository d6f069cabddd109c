/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_rules.h - which addresses a kernel may use, and for what (private to integrity/). */
#ifndef INTEGRITY_PTX_RULES_H
#define INTEGRITY_PTX_RULES_H

#include "integrity/ptx/ptx_flow.h"

/* Judges every operand of every function; problems go to *r.
 *
 * A parameter is read by its name and a number, inside it; a constant or one of the compiler's tables inside
 * it, by an index that is proved, and its address does nothing else; a local frame by its own address; shared
 * memory by the address of a variable in it; global memory by a pointer that came as an argument. No number
 * alone is an address. A function's name stands behind call only. */
void pm__ptx_rules(const PmPtxFunctions *f, const PmPtxObjects *module, PmPtxReport *r);

#endif
