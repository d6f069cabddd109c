/* SPDX-License-Identifier: Apache-2.0 */
/* category.h - what kind of work a graph is: one of the 15 categories of ir/category/categories.def. */
#ifndef IR_CATEGORY_CATEGORY_H
#define IR_CATEGORY_CATEGORY_H

#include "ir/core/graph.h"

typedef enum PmCategory {
#define CATEGORY(name, what) PM_CATEGORY_##name,
#include "ir/category/categories.def"
	PM_N_CATEGORIES
} PmCategory;

/* The category of a graph by the first rule of categories.def that holds. `why` (may be NULL) becomes that
 * rule's text; borrowed, constant. Any graph has a category. */
PmCategory pm_category_of(const PmGraph *g, const char **why);
/* "activation"; "unknown" for a number that is none. Borrowed, constant. */
const char *pm_category_name(PmCategory c);
/* What belongs to it, in a few words; likewise. */
const char *pm_category_what(PmCategory c);
/* A name of before (base/core/renamed.def) is understood. PM_N_CATEGORIES when there is none of that name. */
PmCategory pm_category_from_name(const char *name);

#endif
