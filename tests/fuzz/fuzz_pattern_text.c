/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_pattern_text.c - any bytes parse or are refused; what parses prints, parses again and prints the same;
 * lint ends on it. */
#include "matcher/pattern/rules.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	PmPattern *p = NULL, *q = NULL;
	PmStr once = PM_STR_INIT, twice = PM_STR_INIT, problems = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	if (pm_pattern_parse((const char *)data, n, &p, &err) != PM_OK) {
		if (!err.text[0] || p)
			abort(); /* a refusal has a sentence and no pattern */
		return 0;
	}
	pm_pattern_print(p, &once);
	if (pm_pattern_parse(once.s, once.len, &q, &err) != PM_OK) {
		fprintf(stderr, "%s\n%s\n", err.text, once.s);
		abort();
	}
	pm_pattern_print(q, &twice);
	if (once.len != twice.len || memcmp(once.s, twice.s, once.len) != 0) {
		fprintf(stderr, "%s\n%s\n", once.s, twice.s);
		abort();
	}
	pm_pattern_lint(p, 0, "fuzz: rule", &problems);
	pm_pattern_free(p);
	pm_pattern_free(q);
	pm_str_release(&once);
	pm_str_release(&twice);
	pm_str_release(&problems);
	return 0;
}
