/* SPDX-License-Identifier: Apache-2.0 */
/* results.h - what a command printed under --json, for tests that run one. */
#ifndef TESTS_LIB_RESULTS_H
#define TESTS_LIB_RESULTS_H

#include "base/core/json.h"

/* The list "results" of a command's object, owned; fails the running test when there is none or when there
 * was an error. Takes `answer`. */
cJSON *pm_test_results(cJSON *answer);

#endif
