/* SPDX-License-Identifier: Apache-2.0 */
/* apply_priv.h - what the ways to rewrite a model share. */
#ifndef APP_APPLY_APPLY_PRIV_H
#define APP_APPLY_APPLY_PRIV_H

#include "app/apply/apply.h"

/* Runs a pass on `g`, and notes in *a what became of it and what it says. *out becomes the graph that it
 * made, owned; NULL when it made none. */
PmStatus pm__apply_run(PmApply *a, const char *path, const PmGraph *g, double seconds, PmGraph **out,
		       PmErr *err);
/* Fills in regions, costs and what is outside of a->before and a->after. made_by: by node id of a->after, 1 +
 * the number of the pass that made a kernel; 0 = none did. NULL = no pass applied. */
PmStatus pm__apply_account(PmApply *a, const int *made_by, PmErr *err);

#endif
