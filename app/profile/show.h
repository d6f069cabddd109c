/* SPDX-License-Identifier: Apache-2.0 */
/* show.h - a report for a program and for a person. */
#ifndef APP_PROFILE_SHOW_H
#define APP_PROFILE_SHOW_H

#include "app/profile/report.h"
#include "base/core/json.h"

/* The report as members of `j`, without listings under 16 KB; kernels that take least are left out then and
 * counted. */
void pm_profile_json(const PmProfileReport *r, const PmProfileOpts *o, cJSON *j);
/* The same for a person. */
void pm_profile_text(const PmProfileReport *r, const PmProfileOpts *o, PmStr *out);

#endif
