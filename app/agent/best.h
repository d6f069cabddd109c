/* SPDX-License-Identifier: Apache-2.0 */
/* best.h - mode best-of: the best sample of a task is submitted. */
#ifndef AGENT_BEST_H
#define AGENT_BEST_H

#include "app/agent/experiment.h"
#include "app/agent/opts.h"
#include "base/core/json.h"

/* Submits the best right sample of each task whose samples have all ended, once: its result is stored in the
 * database and best/TASK-N.json says so. A task without a right sample has none. */
PmStatus pm_best_submit(const PmAgentOpts *opts, const PmExperiment *x, PmErr *err);

#endif
