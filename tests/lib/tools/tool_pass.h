/* SPDX-License-Identifier: Apache-2.0 */
/* tool_pass.h - a graph and a pass for tests of an agent's tools: a normalisation by the root mean square,
 * and the ways in which authors break it. */
#ifndef TESTS_LIB_TOOL_PASS_H
#define TESTS_LIB_TOOL_PASS_H

#include "tests/lib/tools/tool_call.h"

/* The graph as text; its input x is float[4,64]. */
extern const char pm_test_rms_graph[];
/* Writes the pass to a file of the workspace, with one thing of it replaced (NULL = as it is); the thing is
 * there. */
void pm_test_write_rms(PmTestTools *s, const char *file, const char *old, const char *new);
/* Waits for the end of the run that an answer is of, as long as it takes. Takes `j`, returns owned. */
cJSON *pm_test_finished(PmTestTools *s, cJSON *j);

#endif
