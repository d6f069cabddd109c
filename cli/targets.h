/* SPDX-License-Identifier: Apache-2.0 */
/* targets.h - the GPUs that rewrites are made for, as JSON, as text and as the page of the reference. */
#ifndef CLI_TARGETS_H
#define CLI_TARGETS_H

#include "base/core/json.h"

/* {"targets": [facts and costs of each], "costs": [name, ratio, meaning, experiment of each]}. Owned by the
 * caller. */
cJSON *pm_cli_targets_json(void);
/* One line for each, on stdout. */
void pm_cli_targets_text(void);
/* docs/reference/targets.md, on stdout. */
void pm_cli_targets_markdown(void);

#endif
