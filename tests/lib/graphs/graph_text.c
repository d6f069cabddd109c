/* SPDX-License-Identifier: Apache-2.0 */
/* graph_text.c - graphs from their text, for tests. */
#include "tests/lib/graphs/graph_text.h"

#include "ir/text/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

PmGraph *pm_test_graph(const char *text)
{
	PmGraph *g = NULL;
	PmErr err;

	pm_err_init(&err);
	if (pm_graph_parse(text, strlen(text), &g, &err))
		fail_msg("%s\n%s", err.text, text);
	return g;
}

PmGraph *pm_test_graphf(const char *fmt, ...)
{
	char text[4096];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	assert_in_range(n, 1, sizeof text - 1);
	return pm_test_graph(text);
}
