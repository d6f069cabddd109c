/* fuzz_cubin.c - whatever bytes are given as machine code, the gate ends, stays inside it, and has a sentence
 * for every refusal. */
#include "integrity/cubin_gate.h"

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

	if (!copy)
		return 0;
	memcpy(copy, data, n);
	if ((pm_cubin_gate(copy, n, entry, 1, found, 4, &n_found, &problems) > 0) != (problems.len > 0))
		abort();
	free(copy);
	pm_str_release(&problems);
	return 0;
}
