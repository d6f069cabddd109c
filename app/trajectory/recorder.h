/* SPDX-License-Identifier: Apache-2.0 */
/* recorder.h - writes what an agent does into the database, step by step: for `passmith mcp` and `passmith
 * agent`.
 *
 * A recorder is a trajectory that is being written (dataset/store/trajectories.h). Messages and calls become
 * steps at once; when the process is killed, at most the step in flight is lost. Secrets and absolute paths
 * are taken out before anything is stored (app/trajectory/redact.h); what is named here as a secret too.
 *
 * A recorder has a connection to the database of its own, belongs to one thread, and must not cross a fork.
 */
#ifndef TRAJECTORY_RECORDER_H
#define TRAJECTORY_RECORDER_H

#include "base/core/json.h"

#include <stddef.h>
#include <stdint.h>

typedef struct PmRecorder PmRecorder;

typedef struct PmRecorderOpts {
	const char *db;         /* the database file */
	const char *kind;       /* "mcp" or "agent" */
	const char *task;       /* number, name or hash of the task; NULL = the agent chooses */
	const char *model;      /* name of the language model, or of the client; NULL = "" */
	uint64_t seed;          /* 0 when there is none */
	const char *machine;    /* what of it decides results; NULL = system and processor, as it is here */
	const char *experiment; /* of the driver; NULL = "" */
	/* Which of several alike, such as "sample 3": a recorder that is opened with all the same goes on
	 * where an earlier one was cut off. NULL = drawn, always a new trajectory. */
	const char *instance;
	const cJSON *options;  /* borrowed: mode, budget, ...; NULL = {} */
	const char *workspace; /* folder of the author's files; NULL = calls alone tell of files */
	const char *const
		*secrets; /* values that must not be stored, as the driver's key; NULL-terminated, or NULL */
} PmRecorderOpts;

/* Begins a trajectory, or goes on with one. Errors: the database cannot be written, there is no such task,
 * the trajectory has ended. */
PmStatus pm_recorder_open(const PmRecorderOpts *opts, PmRecorder **out, PmErr *err);
/* Closes without an end: the trajectory is then one that was cut off. NULL is allowed. */
void pm_recorder_close(PmRecorder *r);
/* Ends the trajectory: "done", "budget", "cancelled", "failed", or a word of the caller's own. Closing is
 * still to be done. */
PmStatus pm_recorder_end(PmRecorder *r, const char *outcome, PmErr *err);

/* The trajectory's number in the database, and how many steps it has. */
int64_t pm_recorder_id(const PmRecorder *r);
int64_t pm_recorder_steps(const PmRecorder *r);

/* A message to or from the model. */
typedef struct PmRecordedMessage {
	const char *role;      /* "system", "user", "assistant" */
	const char *content;   /* NULL = "" */
	const char *reasoning; /* what a model shows of its thoughts; NULL = none */
	/* The calls that an assistant asks for, borrowed: [{"id", "name", "arguments": object or text}], or
	 * as chat endpoints have them, [{"id", "function": {"name", "arguments"}}]; NULL = none. */
	const cJSON *tool_calls;
	double began, seconds;         /* since 1970, 0 = now; how long the model took, NaN = not known */
	int64_t tokens_in, tokens_out; /* -1 = not known */
	double money;                  /* NaN = not known */
} PmRecordedMessage;
/* Stores a message as a step. */
PmStatus pm_recorder_message(PmRecorder *r, const PmRecordedMessage *m, PmErr *err);

/* A call of a tool with its answer (app/tools/tools.h). */
typedef struct PmRecordedCall {
	const char *id; /* of the assistant's message; NULL = made from the step's number */
	const char *tool;
	const cJSON *args, *answer; /* borrowed; NULL = {} */
	int is_error;
	double began, seconds; /* since 1970, 0 = now; how long it took, NaN = not known */
} PmRecordedCall;
/* Stores a call as a step. Files that `write_file` and `edit_file` changed become diffs; the task, the
 * verdict, the score and the report's digest are taken from the answers of `evaluate`, `submit` and
 * `get_run`. */
PmStatus pm_recorder_call(PmRecorder *r, const PmRecordedCall *c, PmErr *err);

/* Tells that a file of the author's is now `text` (NULL = it is gone), where no call said so: a file from a
 * plain answer of a model. It is stored with the next message or call. */
void pm_recorder_file(PmRecorder *r, const char *path, const char *text);

#endif
