/* SPDX-License-Identifier: Apache-2.0 */
/* published.h - figures that papers give of their benchmarks, each with hardware, date and source.
 *
 * They were measured elsewhere, by other programs. They are printed beside ours and enter no figure of ours.
 */
#ifndef BENCH_PUBLISHED_H
#define BENCH_PUBLISHED_H

#include "base/core/json.h"
#include "base/core/str.h"

typedef enum PmView {
	PM_VIEW_KERNELBENCH,
	PM_VIEW_MULTIKERNELBENCH,
	PM_VIEW_METR,
	PM_VIEW_PASSNET,
	PM_N_VIEWS
} PmView;

/* "kernelbench", ...; PM_N_VIEWS for a name that is none. */
PmView pm_view_from_name(const char *name);
const char *pm_view_name(PmView view);

/* Appends the published tables of a view as text; and as an array of {"hardware", "date", "source", "what",
 * "columns", "rows": [{"name", "values"}]}, owned by the caller. */
void pm_published_text(PmView view, PmStr *out);
cJSON *pm_published_json(PmView view);

#endif
