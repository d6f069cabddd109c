/* SPDX-License-Identifier: Apache-2.0 */
/* choose.h - rewriting a model with the regions of several passes that save most together.
 *
 * Each pass is run alone on the model. Passes whose regions overlap are also run behind each other, since
 * what one leaves may be a smaller region of the other: in all orders where they are at most
 * PM_CHOOSE_ORDERS, else in two. Of all regions that come out, a set is selected (select_regions.h), put into
 * the model at once (candidates.h), and offered to the passes once more. That and the result of each order
 * are planned, and the best is kept. So it is never worse, by what is predicted, than passes applied one
 * after the other in an order that was run.
 */
#ifndef APP_APPLY_CHOOSE_H
#define APP_APPLY_CHOOSE_H

#include "app/apply/apply.h"
#include "app/apply/candidates.h"

enum { PM_CHOOSE_ORDERS = 4 /* passes that are run in all their orders */ };

/* A pass that may be used. Strings are borrowed. */
typedef struct PmChoosePass {
	const char *path;
	double factor; /* how much of what is modelled it really saves: 1 = nothing was measured, below 0 =
			* its kernels are slower than what they replace */
} PmChoosePass;

/* A region that two passes wanted. */
typedef struct PmLoss {
	size_t loser, winner; /* candidates */
	double by;            /* seconds that the winner saves more */
} PmLoss;

typedef struct PmChoice {
	PmCandidates all;
	PmCandidateSet taken; /* what the model was rewritten with */
	PmNode *kernel;       /* owned; by taken: its node in the rewritten graph */
	double *gain;         /* owned; by candidate: seconds saved, predicted: modelled before less modelled
			       * after, times its pass's factor. Number of nodes less 1 where the model has no plan */
	PM_VEC(PmLoss)
	loss;              /* by candidate: offered by its pass on the model as it is, worth more than
			    * nothing, and not taken since another pass has its nodes */
	size_t n_useless;  /* offered on the model as it is, and would save nothing */
	size_t n_circles;  /* left out since kernels would wait for each other */
	size_t n_orders;   /* orders of passes that were tried */
	size_t n_greedy;   /* components of regions too large to be solved exactly */
	size_t largest;    /* regions of the largest one */
	double predicted;  /* seconds of the rewritten model */
	double best_order; /* of the best order that was tried; NaN = there was none */
	int by_selection;  /* the selection was kept, else that order */
} PmChoice;

/* Rewrites `g`, which it takes over, with the best of these passes' regions. *a is as after pm_apply: passes
 * in the order given, and what they say of the model as it is. `seconds`: what each run of a pass may take.
 * Errors are of this machine, or of the graph. Release both in every case: a->before is the model of
 * choice->all. */
PmStatus pm_choose(PmGraph *g, const PmChoosePass *pass, size_t n, double seconds, PmApply *a,
		   PmChoice *choice, PmErr *err);
void pm_choice_release(PmChoice *c);

#endif
