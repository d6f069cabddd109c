/* SPDX-License-Identifier: Apache-2.0 */
/* D05b_unique.c - a symbol that is the same one in every library */
// build: published
#include "tests/adversarial/passes/attack.h"

__asm__(".section .data\n\t.globl only_one\n\t.type only_one, @gnu_unique_object\n\t.size only_one, 8\n"
	"only_one:\n\t.quad 1\n\t.text\n");

PM_RULE(silu, .pattern = SILU, .rewrite = honest);

PM_PLUGIN("D05b_unique", "1", &silu)
