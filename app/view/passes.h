/* SPDX-License-Identifier: Apache-2.0 */
/* passes.h - a model before or after passes as a drawing, with the passes marked. */
#ifndef APP_VIEW_PASSES_H
#define APP_VIEW_PASSES_H

#include "base/core/json.h"
#include "draw/html/html.h"

#include <stddef.h>

/* Writes the first level of a graph (its text) as a figure. Nodes that a pass took, or the kernels that it
 * made (`after`), have the pass's colour and number, by the regions of `record`. A text that is no graph
 * gives a sentence in its place. `model` is the number of the model on the page. */
void pm_view_passes(PmHtml *h, size_t model, const char *what, const char *text, const cJSON *record,
		    int after);

#endif
