/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_elf.c - whatever bytes a shared object has, the gate ends, stays inside them, and gives a reason for
 * every refusal; what it accepts can be mapped (nothing of it is run). */
#include "integrity/gates/elf_gate.h"
#include "matcher/host/loader.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	PmStr problems = PM_STR_INIT;
	PmElf e;
	int bad = pm_elf_gate(data, n, &e, &problems);

	if ((bad > 0) != (problems.len > 0))
		abort();
	if (!bad) {
		PmLoaded l;
		PmErr err;

		pm_err_init(&err);
		if (pm_plugin_map(&e, 0, &l, &err) && err.code != PM_E_ENV)
			abort();
		pm_plugin_unmap(&l);
	}
	pm_str_release(&problems);
	return 0;
}
