/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_ort_kernels.c - any bytes as a file of kernels: refused with one sentence, or read and written back
 * alike. The bytes stand behind a header with their digest, so that it does not end there. */
#include "ort/kernels.h"
#include "rt/sha256.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void read_one(const void *p, size_t n)
{
	PmArena *arena = pm_arena_new(0);
	PmStr again = PM_STR_INIT;
	PmOrtKernels k;
	PmErr err;
	PmStatus st;

	pm_err_init(&err);
	st = pm_ort_kernels_read(p, n, "bytes", arena, &k, &err);
	if (st && (st != PM_E_INVALID || err.text[strlen(err.text) - 1] != '.'))
		PM_BUG("a refusal that is no sentence: %s", err.text);
	if (!st) {
		pm_ort_kernels_write(&k, &again);
		if (again.len != n || memcmp(again.s, p, n) != 0)
			PM_BUG("what was read is written otherwise");
	}
	pm_str_release(&again);
	pm_arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	unsigned char digest[PM_ORT_DIGEST];
	PmStr file = PM_STR_INIT;
	uint64_t bytes = PM_ORT_HEADER + n;
	uint32_t version[2] = { PM_ORT_VERSION, 0 };

	read_one(data, n);
	pm_str_addn(&file, PM_ORT_MAGIC, 8);
	pm_str_addn(&file, version, sizeof version);
	pm_str_addn(&file, &bytes, sizeof bytes);
	pm_sha256_of(data, n, digest);
	pm_str_addn(&file, digest, sizeof digest);
	pm_str_addn(&file, data, n);
	read_one(file.s, file.len);
	pm_str_release(&file);
	return 0;
}
