/* SPDX-License-Identifier: Apache-2.0 */
/* cubin_edit.h - changing a cubin by hand: sections by name, instructions by number. */
#ifndef TESTS_LIB_CUBIN_EDIT_H
#define TESTS_LIB_CUBIN_EDIT_H

#include "base/core/str.h"

#include <elf.h>
#include <stdint.h>

/* The machine code of a source for compute capability cc, not judged by any gate; skips the running case
 * without NVRTC. Release it. */
PmStr pm_cubin_make(const char *source, int cc);
/* A copy. */
PmStr pm_cubin_copy(const PmStr *cubin);
/* The header of a section, or NULL. */
Elf64_Shdr *pm_cubin_find(PmStr *cubin, const char *name);
/* The same; fails the running case when there is none. */
Elf64_Shdr *pm_cubin_section(PmStr *cubin, const char *name);
/* The bytes of the n-th instruction of .text.k whose lowest 12 bits are `opcode` (-1: any), or NULL; *at: its
 * place in the section. */
uint8_t *pm_cubin_instruction(PmStr *cubin, int opcode, int n, size_t *at);
/* Bits from..from+count-1 of the 128 of an instruction. */
uint64_t pm_cubin_bits(const uint8_t *instruction, int from, int count);
void pm_cubin_put(uint8_t *instruction, int from, int count, uint64_t value);

#endif
