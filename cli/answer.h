/* SPDX-License-Identifier: Apache-2.0 */
/* answer.h - what a command says at its end: sentences on stderr, and under --json one object on stdout.
 *
 * Under --json every command prints exactly one JSON object, however it ends:
 *   error    the first sentence that says what went wrong; null when nothing did
 *   errors   all of them, when there is more than one
 *   stage    where the first was said: "arguments", "reading", "working", "writing" or a word of the
 * command's own; "done" without an error
 *   ...      the members of the command's answer, as far as it was finished; an answer that is a list is
 *            "results"
 * A command hands its answer to pm_cli_put_json and its errors to pm_cli_fail, pm_cli_usage or
 * pm_cli_complain; main prints them with pm_cli_end. Nothing else writes to stdout under --json.
 */
#ifndef CLI_ANSWER_H
#define CLI_ANSWER_H

#include "base/core/err.h"
#include "base/core/json.h"

/* Set by pm_cli_begin. */
extern int pm_cli_json;

/* Before the command reads its arguments, which may be wrong: is --json among them? Also makes sure that a
 * bug that ends the program (PM_BUG) still leaves an object. */
void pm_cli_begin(int argc, char **argv);
/* What is being done now, for "stage"; a string that stays. */
void pm_cli_stage(const char *stage);
/* The answer, of which the command has one. Takes `j`, NULL = none. Without --json it is freed. */
void pm_cli_put_json(cJSON *j);
/* An answer of one member. */
void pm_cli_put_text(const char *key, const char *value);
/* One sentence about what went wrong: on stderr after the program's name, and in the object. */
void pm_cli_complain(const char *fmt, ...) PM_PRINTF(1, 2);
/* The sentence of `err`; returns the exit code of its status. */
int pm_cli_fail(const PmErr *err);
/* Prints the object under --json. Returns the exit code: `code`, or 3 when stdout could not be written. */
int pm_cli_end(int code);

#endif
