/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - the life of a report. */
#include "app/profile/report.h"

#include <string.h>

void pm_profile_release(PmProfileReport *r)
{
	for (size_t i = 0; i < r->code.n; i++) {
		pm_str_release(&r->code.v[i].ptx);
		pm_str_release(&r->code.v[i].cubin);
		pm_str_release(&r->code.v[i].sass);
	}
	PM_VEC_RELEASE(&r->code);
	PM_VEC_RELEASE(&r->kernel);
	pm_plan_free(r->plan);
	pm_graph_free(r->g);
	memset(r, 0, sizeof *r);
}
