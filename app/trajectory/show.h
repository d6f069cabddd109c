/* SPDX-License-Identifier: Apache-2.0 */
/* show.h - trajectories for people: a line each, and a session as one would read it; and both as JSON. */
#ifndef TRAJECTORY_SHOW_H
#define TRAJECTORY_SHOW_H

#include "app/trajectory/session.h"

/* Lines of a message, an answer or a diff that pm_session_show prints unless everything is asked for. */
enum { PM_SHOW_LINES = 12 };

/* Appends one line: number, key, kind, task, model, steps, best AS, first success, time, cost, outcome. Text
 * of strangers cannot move the cursor. */
void pm_trajectory_line(const PmTrajectoryRow *r, PmStr *out);
/* How it ended: "done", "cut off", ...; borrowed from the row. */
const char *pm_trajectory_outcome(const PmTrajectoryRow *r);
/* The same as JSON; owned. */
cJSON *pm_trajectory_json(const PmTrajectoryRow *r);

/* Appends the session: what it was, then each step with its time, what was said or done, how files changed,
 * the verdict; the first success is marked. all: nothing is shortened. */
void pm_session_show(const PmSession *s, int all, PmStr *out);
/* Parts of it, appended: the arguments of a call on one line, each after a blank; what a message or an answer
 * says, shortened and indented, its lines ended. */
void pm_step_arguments(const PmSessionStep *s, PmStr *out);
void pm_step_said(const PmSessionStep *s, PmStr *out);
/* The same as JSON, with everything; owned. */
cJSON *pm_session_json(const PmSession *s);

#endif
