/* SPDX-License-Identifier: Apache-2.0 */
/* elf_gate.h - which shared objects may be loaded as a pass.
 *
 * The published compiler line (docs/reference/building.md) makes objects that pass. Everything that would run
 * code by itself, bring in other libraries, or reach beyond the host's table of functions is refused:
 * constructors, resolvers, needed libraries, thread-local data, symbol tricks, writable code.
 */
#ifndef INTEGRITY_ELF_GATE_H
#define INTEGRITY_ELF_GATE_H

#include "base/core/elf.h"
#include "base/core/str.h"

enum { PM_MAX_PLUGIN_BYTES = 4 << 20 };

/* Reads and judges a whole file. Appends every problem to *problems, one sentence a line. Returns the number
 * of problems; at 0, *out is ready for pm_plugin_map (matcher/host/loader.h). */
int pm_elf_gate(const void *file, size_t len, PmElf *out, PmStr *problems);

#endif
