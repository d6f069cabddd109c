/* SPDX-License-Identifier: Apache-2.0 */
/* hidden.h - shapes that a pass cannot have been made for. */
#ifndef APP_HIDDEN_H
#define APP_HIDDEN_H

#include "app/eval/failing.h"
#include "app/eval/variant_list.h"
#include "bench/eval/runner.h"

enum { PM_HIDDEN_SHAPES = 2, PM_MAX_HIDDEN_SHAPES = 64 }; /* unless a command is told otherwise; at most */

/* Shapes of the variants' computations, by opts->secret or by what an earlier report says, and what becomes
 * of a pass on them. A shape on which no rule applies is no mistake, and is counted; one that the harness
 * cannot judge says nothing, and another one takes its place. */
typedef struct PmHidden {
	const PmVariantList *variants; /* borrowed */
	PmVariantList shapes; /* drawn so far, none of them a variant: in the order in which they count */
	PmSecret *secret;     /* owned */
	PmEvalOpts opts;      /* of their evaluations: that secret, and no times */
	int want;
	double seconds; /* drawing took, and the evaluations that were taken */
	void (*tick)(
		void *arg); /* set by the caller: many times a second while pm_hidden_check waits; or NULL */
	void *tick_arg;
	/* Set by the caller: as PmEvalTask.accept, for shapes of pm_hidden_check; or NULL. */
	PmStatus (*accept)(void *arg, const PmEvalRecord *rec, PmErr *err);
	void *accept_arg;
} PmHidden;

/* `replay`: the secret of an earlier report's, NULL = none; PM_E_INVALID when it is no secret. Release *h
 * also after a failure. */
PmStatus pm_hidden_begin(PmHidden *h, const PmVariantList *variants, const PmEvalOpts *opts, int n,
			 const char *replay, PmErr *err);
void pm_hidden_release(PmHidden *h);
/* Draws up to n more shapes, each evaluated as pm_hidden_variant(h, its number) says. */
PmStatus pm_hidden_draw(PmHidden *h, int n, PmErr *err);
/* 1 when a graph is so large that a hidden shape of it takes next to nothing beside it. */
int pm_hidden_is_smaller(const PmGraph *g);
PmEvalVariant pm_hidden_variant(const PmHidden *h, size_t i);
/* What became of the pass on shape i goes into r->hidden, and a failure to `save` (may be NULL). Shapes are
 * taken in their order. PM_DECLINED when no further one is needed. */
PmStatus pm_hidden_take(PmHidden *h, size_t i, const PmEvalRecord *rec, PmFailing *save, PmEvalReport *r,
			PmErr *err);

/* All of that, in `jobs` processes: draws n shapes, and more for those that cannot be judged, from where *h
 * is on. Call it before the records are scored (pm_eval_score). */
PmStatus pm_hidden_check(PmHidden *h, const char *so, int jobs, PmFailing *save, PmEvalReport *r, PmErr *err);

#endif
