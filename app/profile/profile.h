/* SPDX-License-Identifier: Apache-2.0 */
/* profile.h - a graph and a pass become a report. */
#ifndef APP_PROFILE_H
#define APP_PROFILE_H

#include "app/profile/report.h"

/* Rewrites `g` and looks at every kernel. PM_OK whatever the pass does: see the verdict. PM_E_NOT_FOUND for
 * an alternative that no kernel has. Release in every case. */
PmStatus pm_profile_make(const PmGraph *g, const PmProfileOpts *o, PmProfileReport *out, PmErr *err);

#endif
