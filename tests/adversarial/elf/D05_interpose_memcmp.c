/* SPDX-License-Identifier: Apache-2.0 */
/* D05_interpose_memcmp.c - exports a name that the host may use */
// build: published
#include "tests/adversarial/passes/attack.h"

__attribute__((visibility("default"))) int memcmp(const void *a, const void *b, size_t n);

int memcmp(const void *a, const void *b, size_t n)
{
	(void)a, (void)b, (void)n;
	return 0;
}

PM_RULE(silu, .pattern = SILU, .rewrite = honest);

PM_PLUGIN("D05_interpose_memcmp", "1", &silu)
