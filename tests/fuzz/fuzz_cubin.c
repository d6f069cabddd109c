/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_cubin.c - whatever bytes are given as machine code, the gate ends, stays inside it, has a sentence for
 * every refusal, and accepts no instruction that a second reader refuses. */
#include "integrity/cubin/cubin_gate.h"
#include "tests/lib/device/sass_check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const char *const entry[] = { "k" };
	PmCubinKernel found[4];
	size_t n_found;
	PmStr problems = PM_STR_INIT;
	char *copy = malloc(n ? n : 1); /* without a terminator: a sanitizer sees every byte past the end */
	int bad;

	if (!copy)
		return 0;
	memcpy(copy, data, n);
	bad = pm_cubin_gate(copy, n, entry, 1, found, 4, &n_found, &problems);
	if ((bad > 0) != (problems.len > 0) || (!bad && pm_sass_check(copy, n)))
		abort();
	free(copy);
	pm_str_release(&problems);
	return 0;
}
