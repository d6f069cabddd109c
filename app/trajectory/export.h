/* SPDX-License-Identifier: Apache-2.0 */
/* export.h - trajectories as JSON Lines for training and for other tools.
 *
 * chat: what the authors of PassNet train on, conversations of tool calls of those sessions whose AS is above
 * 0.1
 * ("PassNet", section 4.3; the paper prints no file format). Each line is an object with "messages", in the
 * form in which chat endpoints take them and which libraries for fine-tuning read:
 *   {"id", "task", "task_name", "model", "as", "first_success", "messages": [
 *      {"role": "system" or "user", "content"},
 *      {"role": "assistant", "content", "reasoning_content"?, "tool_calls"?: [{"id", "type": "function",
 *       "function": {"name", "arguments": TEXT}}]},
 *      {"role": "tool", "tool_call_id", "name", "content": TEXT}]}
 * A call without an answer, of a session that was cut off, is left out.
 *
 * atif: the Agent Trajectory Interchange Format of the Harbor framework, "ATIF-v1.7": each line is a
 * document. What the format has no field for is in `extra`, as it says.
 *
 * The same sessions give the same bytes, in the order of their keys.
 */
#ifndef TRAJECTORY_EXPORT_H
#define TRAJECTORY_EXPORT_H

#include "app/trajectory/session.h"
#include "base/sys/outfile.h"

typedef enum { PM_EXPORT_CHAT, PM_EXPORT_ATIF } PmExportFormat;

/* One session as a document; owned. */
cJSON *pm_export_chat(const PmSession *s);
cJSON *pm_export_atif(const PmSession *s);

typedef struct PmExportOpts {
	PmExportFormat format;
	PmTrajectoryFilter filter; /* above: of the best AS */
	int64_t id;                /* this one only; 0 = all that the filter lets through */
	int first_success;         /* those that have a first success, without the steps after it */
	int unique; /* of those of one task that end with the same files the one with the best AS, then with
		       fewest steps */
} PmExportOpts;

typedef struct PmExported {
	int64_t n;                       /* lines written */
	int64_t no_success, same, empty; /* left out: without a success, with the same files, without steps */
} PmExported;

/* Writes the lines to `f`, NULL = stdout. Secrets and paths are taken out. */
PmStatus pm_export(PmDb *db, const PmExportOpts *o, PmOutFile *f, PmExported *out, PmErr *err);

#endif
