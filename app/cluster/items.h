/* SPDX-License-Identifier: Apache-2.0 */
/* items.h - which items are finished, how often one came to nothing, and which part of one is known. */
#ifndef APP_CLUSTER_ITEMS_H
#define APP_CLUSTER_ITEMS_H

#include "app/cluster/plan.h"
#include "base/core/str.h"
#include "base/sys/io.h"

/* Of one item. */
typedef struct PmItemState {
	char done;   /* it has a result */
	int tries;   /* that came to nothing since something of it was published, that of now included */
	int partial; /* files of what is known of it, as far as it is not done */
} PmItemState;

/* Of all items of a plan: out has p->item.n. */
PmStatus pm_items_read(const PmClusterPlan *p, PmItemState *out, PmErr *err);

/* Appends the path of an item's result to *out. */
void pm_item_result_path(const PmClusterPlan *p, size_t item, PmStr *out);
int pm_item_is_done(const PmClusterPlan *p, size_t item);

/* Tries of an item that came to nothing; *unjudged (may be NULL): those of them that evaluated everything,
 * and of which the harness could not judge a variant. *why (may be NULL) becomes what one of them said. */
int pm_item_tries(const PmClusterPlan *p, size_t item, int *unjudged, PmStr *why);
/* A try begins, or (why not NULL) came to nothing for this reason. `n` tells tries of one worker apart. */
PmStatus pm_item_try(const PmClusterPlan *p, size_t item, const char *worker, unsigned n, const char *why,
		     int unjudged, PmErr *err);
/* The try came to an end of its own and counts for nothing. */
void pm_item_untry(const PmClusterPlan *p, size_t item, const char *worker, unsigned n);
/* No try counts any more: something was published, or the item is to be tried again. */
void pm_item_forget_tries(const PmClusterPlan *p, size_t item);

/* The files of what is known of an unfinished item, in their order; none when there is no folder of it. */
PmStatus pm_item_partials(const PmClusterPlan *p, size_t item, PmNames *out, PmErr *err);
/* The path of one of them, or of the next one of this worker (n = its number, from 1). */
void pm_item_partial_path(const PmClusterPlan *p, size_t item, const char *name, PmStr *out);
/* The item has its result: what was known before goes. */
void pm_item_clear(const PmClusterPlan *p, size_t item);

#endif
