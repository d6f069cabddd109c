/* SPDX-License-Identifier: Apache-2.0 */
/* observe.h - what a model may do, and what it sees of it, by the feedback of the experiment. */
#ifndef AGENT_OBSERVE_H
#define AGENT_OBSERVE_H

#include "base/core/json.h"

/* The tools that a model is offered, in the form of pm_tools_table; the caller's. */
cJSON *pm_offered_tools(int feedback);
/* 1 when this one is among them. */
int pm_is_offered(const char *tool, int feedback);
/* The same as text: name, arguments and description of each, one a line. */
void pm_offered_text(int feedback, PmStr *out);

/* An answer as the model sees it, as text of JSON: without members about what is wrong where feedback E is
 * not given, without those about speed where P is not. With neither, of an evaluation only that it was made.
 */
void pm_observe(const char *tool, const cJSON *answer, int is_error, int feedback, PmStr *out);

#endif
