/* SPDX-License-Identifier: Apache-2.0 */
/* sass.h - reads the machine instructions of one kernel and checks their addresses (private to integrity/).
 *
 * Volta's encoding and its descendants': 16 bytes each, bits counted from the lowest of the first byte. What
 * is known of it was found by compiling, changing bits and disassembling, on sm_80 and sm_90
 * (tools/judge/sass_list.py --oracle).
 *
 *   constant bank     banks hold at most: 0 what sass.def lists and the parameters; 2, 3 and 4 the module's
 * own sections. An index in a register is taken in banks 2 and 3, from an offset inside of them; a number
 * that was put into it just before is added. local memory      against the stack pointer R1: inside the
 * frame. Against another register: by no more than the frame. A number for an address is refused. R1 is made
 * once and moved by the frame. branches, calls   to an instruction of the same function; through a register
 * by a table in bank 2 that the compiler described, all of whose words are among the described targets.
 *   special registers those that say where a thread is.
 */
#ifndef INTEGRITY_SASS_H
#define INTEGRITY_SASS_H

#include <stddef.h>
#include <stdint.h>

enum { PM__SASS_BANKS = 5, PM__SASS_WHY = 160 };

/* A constant bank of the module; p is NULL when only its size is known. */
typedef struct PmSassBank {
	const uint8_t *p;
	uint64_t size;
} PmSassBank;

typedef struct PmSassFunction {
	const uint8_t *code; /* size bytes, a multiple of 16 */
	uint64_t size;
	uint32_t arch, frame; /* bytes of its stack for each thread */
	PmSassBank bank[PM__SASS_BANKS];
	const uint8_t *tables; /* the compiler's list of branches through tables; n_tables words of 4 bytes */
	size_t n_tables;
} PmSassFunction;

/* 1 when instructions of this architecture are known: sm_80, sm_86, sm_89 and sm_90. */
int pm__sass_reads(uint32_t arch);
/* Where parameters begin in bank 0. */
uint32_t pm__sass_parameters(uint32_t arch);
/* The next problem at or after *at, of which `why` says the rest of "Kernel K has at 0x10 an instruction that
 * ". 1 and *at behind it, or 0. */
int pm__sass_next(const PmSassFunction *f, uint64_t *at, char why[PM__SASS_WHY]);

#endif
