/* SPDX-License-Identifier: Apache-2.0 */
/* tools.h - what an agent can do with Passmith, as tools with JSON in and out: one table for `passmith mcp`
 * and for `passmith agent`.
 *
 * A tool has a name, a description for a language model, and JSON Schemas of its arguments and of its answer;
 * all stand in app/tools/tools.json, in the order in which they are listed. What takes long runs in a child
 * process, `passmith COMMAND --json` of this same program, so that a crash costs one answer and a cancelled
 * call ends its child. A child is a run and has a handle; calls name handles, there is no "current" run.
 *
 * Nothing here blocks and nothing here is a thread: a call is begun, the caller polls pm_tools_fds together
 * with its own descriptors, calls pm_tools_step, and looks which calls are done.
 */
#ifndef TOOLS_TOOLS_H
#define TOOLS_TOOLS_H

#include "base/core/err.h"
#include "base/core/json.h"

#include <poll.h>
#include <stdint.h>

typedef struct PmTools PmTools;
typedef struct PmToolCall PmToolCall;

typedef struct PmToolsOpts {
	const char *db;        /* tasks, results: a file; NULL = no tasks, no leaderboard */
	const char *workspace; /* folder of the author's files and of runs; made when it is not there */
	const char *device;    /* "emu" or "cuda" */
	const char *gpus;  /* cuda: evaluations take the one of these that is free (--gpus); NULL = the first
			      GPU */
	int64_t steps;     /* evaluations that may be made; < 0 = any number */
	double deadline_s; /* of one evaluation; 0 = as passmith eval has it */
} PmToolsOpts;

/* Opens a session's tools. Errors: the database cannot be read, the folder cannot be made. */
PmStatus pm_tools_open(const PmToolsOpts *opts, PmTools **out, PmErr *err);
/* Ends every child and frees all; calls not taken are gone. NULL is allowed. */
void pm_tools_close(PmTools *t);

/* The table: an array of {name, title, description, inputSchema, outputSchema, annotations}; borrowed, stays.
 */
const cJSON *pm_tools_table(void);

/* Begins a call. `args` is borrowed; NULL = {}. PM_E_NOT_FOUND: there is no tool of this name, which is the
 * caller's error. All that is wrong with the arguments is an answer with is_error, as is what goes wrong
 * later. */
PmStatus pm_tool_begin(PmTools *t, const char *name, const cJSON *args, PmToolCall **out, PmErr *err);
/* 1 once the answer is there. */
int pm_tool_done(const PmToolCall *c);
/* The answer of a call that is done, and the end of the call: an object that is as the tool's outputSchema
 * says, or with *is_error {"error": sentence that says what to do}. The caller's. At most 16 KiB as text. */
cJSON *pm_tool_take(PmToolCall *c, int *is_error);
/* Ends a call whose answer nobody wants; a child that was begun for this call alone ends too. */
void pm_tool_cancel(PmToolCall *c);
/* How far a call is: 0 <= *done <= *total (0 = not known), and a few words; 1 when that changed since it was
 * last asked. */
int pm_tool_progress(PmToolCall *c, double *done, double *total, const char **words);

/* What to poll for: up to `max` descriptors, returns how many; *wait_ms is the time after which pm_tools_step
 * has something to do without any of them, -1 = never. */
int pm_tools_fds(const PmTools *t, struct pollfd *fds, int max, int *wait_ms);
/* Reads what children wrote, collects those that ended, ends those that are over their time. */
void pm_tools_step(PmTools *t);

/* A whole call: begins, waits, takes. NULL and PM_E_NOT_FOUND in `err` for an unknown tool. */
cJSON *pm_tools_call(PmTools *t, const char *name, const cJSON *args, int *is_error, PmErr *err);

/* Long texts that answers point to (a whole report, SASS, an SDK header), by URI "passmith://...". */
/* An array of {uri, name, title, description, mimeType}; the caller's. */
cJSON *pm_tools_resources(const PmTools *t);
/* The text of one. PM_E_NOT_FOUND when there is none of this URI. */
PmStatus pm_tools_resource(const PmTools *t, const char *uri, PmStr *text, const char **mime, PmErr *err);

#endif
