/* SPDX-License-Identifier: Apache-2.0 */
/* actions.h - what an answer of a model asks to be done. */
#ifndef AGENT_ACTIONS_H
#define AGENT_ACTIONS_H

#include "base/core/json.h"

/* The actions of an assistant's message in order, each {"tool", "arguments"} with the "id" of its call where
 * it is one; {"error"} instead of arguments where those are no JSON object. A message without calls is read
 * for fenced files and calls (app/chat/fenced.h), and {"tool": "evaluate", "auto": true} follows when it has
 * files. The caller's. The same message always gives the same actions. */
cJSON *pm_actions_of(const cJSON *message);

#endif
