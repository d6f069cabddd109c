/* SPDX-License-Identifier: Apache-2.0 */
/* agent_case.h - experiments for tests: a database with two tasks, and the program in a folder. */
#ifndef TESTS_AGENT_CASE_H
#define TESTS_AGENT_CASE_H

#include "base/core/json.h"
#include "base/core/str.h"

#include <sys/types.h>

typedef struct AgentCase {
	PmStr dir, db; /* a folder of its own; the database in it, with tasks "t" and "u" */
} AgentCase;

/* Makes the tasks. Fails the test when it cannot. */
void agent_case_open(AgentCase *c);
void agent_case_close(AgentCase *c);
/* A copy of the database, in the folder, of this name. The caller's. */
char *agent_case_db(const AgentCase *c, const char *name);

/* Starts passmith with these arguments (NULL at the end), in a session of its own; what it says is in
 * NAME.out and NAME.err of the folder. */
pid_t agent_case_start(const AgentCase *c, const char *name, const char *const *args);
/* Runs it to its end; its exit code. */
int agent_case_run(const AgentCase *c, const char *name, const char *const *args);
/* What it said: NAME.out as JSON, and as text. The caller's. */
cJSON *agent_case_json(const AgentCase *c, const char *name);
char *agent_case_text(const AgentCase *c, const char *file);

#endif
