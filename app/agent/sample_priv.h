/* SPDX-License-Identifier: Apache-2.0 */
/* sample_priv.h - the state of a sample, which is what its journal says.
 *
 * Events, each with "e" and "at" (seconds since 1970):
 *   start    {"messages": [...], "text": bool}   the first messages; again, when an endpoint has no tools
 *   ask      {}                                  a request goes out
 *   reply    {"message", "thoughts", "tokens_in", "tokens_out", "money", "seconds", "tries", "finish",
 * "estimated"} tool     {"tool", "arguments", "id", "answer", "shown", "is_error", "seconds", "files",
 * "last"} message  {"message"}                         from us to the model failed   {"why"} a request came
 * to nothing end      {"outcome"}                         "done", "iterations", "refused" kept     {} the
 * trajectory is complete
 */
#ifndef APP_AGENT_SAMPLE_PRIV_H
#define APP_AGENT_SAMPLE_PRIV_H

#include "app/agent/journal.h"
#include "app/agent/sample.h"
#include "app/chat/chat.h"
#include "app/tools/tools.h"
#include "app/trajectory/recorder.h"

typedef struct PmSample {
	const PmSampleSetup *setup;
	const PmAgentOpts *o;
	PmJournal *journal;
	PmRecorder *recorder;
	PmTools *tools;
	PmRng rng;
	PmStr workspace;

	/* As far as events have come. */
	cJSON *messages; /* of the next request */
	cJSON *actions;  /* of the last reply */
	int n_done;      /* of them */
	PmStr observed;  /* what came of those that a message of ours has to tell */
	cJSON *files;    /* the author's sources: path: text */
	int text;        /* the model has no calls of tools */
	int64_t turns;   /* replies */
	int nudges;      /* of them without anything to do, one after the other */
	int dirty;       /* the files were not evaluated as a whole as they are now */
	int right;       /* the last whole evaluation was right */
	int cut;         /* the last reply was cut off at its longest */
	int ended, kept;
	int64_t evaluations; /* that the tools may still make; steps of pm_tools_open */

	/* Steps of the trajectory: of the events so far, and those that it had before this process. */
	int64_t steps, recorded;
} PmSample;

/* Applies an event to the state, and tells the recorder of it when it does not know it. */
PmStatus pm__sample_apply(PmSample *s, const cJSON *event, PmErr *err);
/* Writes an event (taken) into the journal and applies it. */
PmStatus pm__sample_add(PmSample *s, cJSON *event, PmErr *err);
/* A new event; the caller's. */
cJSON *pm__event(const char *e);

/* Makes the workspace hold the files of the journal and no other source. */
PmStatus pm__sample_restore(PmSample *s, PmErr *err);
/* Does the next action of the last reply. */
PmStatus pm__sample_act(PmSample *s, PmErr *err);
/* Evaluates the files as a whole, when they changed since. */
PmStatus pm__sample_last_evaluation(PmSample *s, PmErr *err);
/* Writes the first messages. */
PmStatus pm__sample_start(PmSample *s, int text, PmErr *err);
/* The message after a reply in plain text: what came of it, or that nothing was in it. */
PmStatus pm__sample_tell(PmSample *s, PmErr *err);

#endif
