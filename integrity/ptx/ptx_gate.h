/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_gate.h - what a candidate's kernels may contain, decided on their PTX.
 *
 * Source text hides what it likes (macros, escapes, pasted tokens, raw strings); the PTX shows it plainly,
 * and the code that runs is assembled from those very bytes. The text is read whole: module directives,
 * functions, and every statement of their bodies. What is not on a list is refused, so a new directive,
 * register or instruction is refused until somebody has looked at it (ptx_ops.def, ptx_tables.def). Memory is
 * judged by where addresses come from and how far they may reach (ptx_flow, ptx_range, ptx_rules), not by
 * names.
 */
#ifndef INTEGRITY_PTX_GATE_H
#define INTEGRITY_PTX_GATE_H

#include "base/core/str.h"

#include <stddef.h>

enum {
	PM_PTX_MAX_BYTES = 8 << 20,
	PM_PTX_MAX_CONST = 16 << 10, /* bytes of __constant__ tables of a module */
};

/* Judges `ptx`. `entries`: the kernels that the source writes out; any other entry is a problem (NULL: any
 * may be there). Appends every problem to *problems, one sentence a line, each kind once per function.
 * Returns the number of problems. */
int pm_ptx_gate(const char *ptx, size_t len, const char *const *entries, size_t n_entries, PmStr *problems);

#endif
