/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_graph_text.c - any bytes parse or are refused; what parses prints, parses again and prints the same.
 */
#include "ir/text/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check(const PmGraph *g, const PmPrintOpts *opts)
{
	PmStr once = PM_STR_INIT, twice = PM_STR_INIT;
	PmErr err;
	PmGraph *again = NULL;

	pm_err_init(&err);
	if (pm_graph_print(g, opts, &once, &err) != PM_OK) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	if (pm_graph_parse(once.s, once.len, &again, &err) != PM_OK ||
	    pm_graph_print(again, opts, &twice, &err) != PM_OK || once.len != twice.len ||
	    memcmp(once.s, twice.s, once.len) != 0) {
		fprintf(stderr, "%s\n--- printed once:\n%s--- printed twice:\n%s", err.text, once.s, twice.s);
		abort();
	}
	pm_graph_free(again);
	pm_str_release(&once);
	pm_str_release(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const PmPrintOpts canonical = { .renumber = 1, .no_header = 1 },
				 reference = { .max_inline = 2 };
	PmGraph *g = NULL;
	PmErr err;

	pm_err_init(&err);
	if (pm_graph_parse((const char *)data, n, &g, &err) != PM_OK) {
		if (!err.text[0] || g)
			abort(); /* a refusal has a sentence and no graph */
		return 0;
	}
	check(g, NULL);
	check(g, &canonical);
	check(g, &reference);
	pm_graph_free(g);
	return 0;
}
