/* SPDX-License-Identifier: Apache-2.0 */
/* graph_text.h - graphs from their text, for tests in which a text that is refused is a mistake of the test.
 */
#ifndef TESTS_LIB_GRAPH_TEXT_H
#define TESTS_LIB_GRAPH_TEXT_H

#include "base/core/err.h"
#include "ir/core/graph.h"

/* The graph of a text. One that the parser refuses fails the running test with the parser's sentence and the
 * text. Returns owned. */
PmGraph *pm_test_graph(const char *text);
/* The same for a text made as printf makes it. */
PmGraph *pm_test_graphf(const char *fmt, ...) PM_PRINTF(1, 2);

#endif
