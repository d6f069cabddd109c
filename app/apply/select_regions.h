/* SPDX-License-Identifier: Apache-2.0 */
/* select_regions.h - which of overlapping regions to take: a set of most weight in which no two conflict.
 *
 * Regions that conflict, directly or through others, are a component; components do not touch each other. One
 * of at most PM_SELECT_EXACT regions is solved exactly, by branch and bound. Of a larger one the region of
 * most weight is taken, those in conflict with it are dropped, and so on.
 */
#ifndef APP_APPLY_SELECT_REGIONS_H
#define APP_APPLY_SELECT_REGIONS_H

#include "base/core/vec.h"

#include <stddef.h>
#include <stdint.h>

enum { PM_SELECT_EXACT = 40 /* regions of a component that is solved exactly; at most 64 */ };

typedef struct PmSelectEdge {
	uint32_t a, b; /* two regions that conflict */
} PmSelectEdge;

typedef struct PmRegionSet {
	char *taken;         /* owned; by region */
	double weight;       /* of all that are taken */
	size_t n_greedy;     /* components that were too large to be solved exactly */
	size_t largest;      /* regions of the largest component */
	uint32_t *component; /* owned; by region: its component, named by its least region */
} PmRegionSet;

/* Selects among n regions. One whose weight is not above 0 is never taken and joins no component. Edges may
 * be given twice and in either direction. The same input gives the same set. Release *out. */
void pm_select_regions(const double *weight, size_t n, const PmSelectEdge *edge, size_t n_edges,
		       PmRegionSet *out);
void pm_region_set_release(PmRegionSet *s);

#endif
