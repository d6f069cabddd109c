/* SPDX-License-Identifier: Apache-2.0 */
/* hidden.h - shapes that a pass cannot have been made for. */
#ifndef APP_HIDDEN_H
#define APP_HIDDEN_H

#include "app/eval/failing.h"
#include "app/eval/variant_list.h"
#include "bench/eval/runner.h"

enum { PM_HIDDEN_SHAPES = 2, PM_MAX_HIDDEN_SHAPES = 64 }; /* unless a command is told otherwise; at most */

/* Draws up to n shapes of the variants' computations, by opts->secret or by what `replay` says, the secret of
 * an earlier report's (NULL = none), and runs the pass on those that are no variant, without times: what
 * became of it goes into r->hidden. Call it before the records are scored (pm_eval_score). A shape on which
 * no rule applies is no mistake, and is counted. A shape on which it fails is saved by `save` (may be NULL).
 */
PmStatus pm_hidden_check(const char *so, const PmVariantList *variants, const PmEvalOpts *opts, int n,
			 const char *replay, PmFailing *save, PmEvalReport *r, PmErr *err);

#endif
