/* SPDX-License-Identifier: Apache-2.0 */
/* tool_call.h - calls of an agent's tools in tests: every answer is held against the tool's outputSchema, and
 * against the most that an answer may hold. */
#ifndef TESTS_LIB_TOOL_CALL_H
#define TESTS_LIB_TOOL_CALL_H

#include "app/tools/tools.h"

/* A session on a new workspace below $TMPDIR, which pm_test_tools_end removes. */
typedef struct PmTestTools {
	PmTools *t;
	PmStr folder;
	char *error; /* of the last call that pm_test_refused made; owned */
} PmTestTools;
/* Opens it, on a database (NULL = none) and with so many evaluations (< 0 = any number). */
void pm_test_tools_begin(PmTestTools *s, const char *db, int64_t steps);
/* Ends the session and removes its workspace. */
void pm_test_tools_end(PmTestTools *s);
/* Ends the session and opens another one on the same workspace. */
void pm_test_tools_again(PmTestTools *s, int64_t steps);

/* The answer of a call that must not be an error; `args` is JSON, in which ' stands for ". The caller's. */
cJSON *pm_test_call(PmTestTools *s, const char *tool, const char *args);
/* The same with the arguments as values, which are taken. */
cJSON *pm_test_call_json(PmTestTools *s, const char *tool, cJSON *args);
/* The sentence of a call that must be an error. Borrowed until the next one. */
const char *pm_test_refused(PmTestTools *s, const char *tool, const char *args);
/* write_file. */
void pm_test_write(PmTestTools *s, const char *path, const char *text);

#endif
