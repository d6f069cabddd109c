/* SPDX-License-Identifier: Apache-2.0 */
/* agent.h - experiments: a language model writes passes for tasks, by samples and iterations.
 *
 * A sample is one attempt of the model at one task, in a workspace of its own. An iteration is one answer of
 * the model and what came of it. All state is in the folder of the experiment:
 *
 *   experiment.json        what is asked, without key and address; written once
 *   samples/TASK-N.jsonl   what happened to sample N of a task (app/agent/journal.h)
 *   work/TASK-N/           its files and runs
 *   best/TASK-N.json       of mode best-of: what became of the submission of the best sample
 *
 * A run that was killed at any moment goes on where it was: events are replayed, and of what was in flight
 * the last request or tool is done again.
 */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include "app/agent/opts.h"
#include "base/core/json.h"

/* Begins the experiment in opts->out or goes on with it, to its end or that of its budget. PM_E_CONFLICT:
 * there is one that asks something else. PM_E_IO and PM_E_INVALID: the endpoint does not answer or refuses;
 * what is done stays. */
PmStatus pm_agent_run(const PmAgentOpts *opts, PmErr *err);

/* What a folder holds, as app/agent/report.c says. Owned by *out. */
PmStatus pm_agent_report(const char *folder, cJSON **out, PmErr *err);

#endif
