/* SPDX-License-Identifier: Apache-2.0 */
/* need.h - what a test case needs besides the build: says why and skips the case when it is missing.
 *
 * tests/run.sh counts the case as skipped and lists the reason; nothing passes by not running.
 */
#ifndef TESTS_LIB_NEED_H
#define TESTS_LIB_NEED_H

#include "base/core/err.h"

/* Prints "# reason: TEXT" and skips the running cmocka case. Does not return. */
void pm_test_skip(const char *fmt, ...) PM_PRINTF(1, 2);

/* Skips unless the file or folder exists. Relative to the source folder, where tests/run.sh starts tests. */
void pm_test_need_path(const char *path);

/* Skips unless the program is on PATH. */
void pm_test_need_program(const char *name);

/* Skips unless the device ("emu", "cuda") can be opened. It is tried in a process of its own, because a
 * process that has used a GPU cannot fork others that do. */
void pm_test_need_device(const char *name);

/* Skips where a layer of the sandbox is missing, so that results are not kept. `program`: passmith, which is
 * asked (doctor). */
void pm_test_need_sandbox(const char *program);

#endif
