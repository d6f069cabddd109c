/* SPDX-License-Identifier: Apache-2.0 */
/* exemplar.h - complete small passes to learn from: which there are, and which of them suit a graph.
 *
 * An exemplar NAME is files of the folder exemplars/: NAME.c, the pass; NAME.gpt, a graph that it serves;
 * NAME.near.gpt, a graph that it leaves alone; NAME.md, the thoughts of its author; NAME.pattern, its rules'
 * patterns as text, one a line. The last is made from the built pass (make gen), and a test keeps it so: that
 * is how a pass is matched here without compiling it and without running any of its code.
 */
#ifndef EXEMPLAR_EXEMPLAR_H
#define EXEMPLAR_EXEMPLAR_H

#include "base/core/err.h"
#include "ir/category/category.h"
#include "ir/core/graph.h"

#include <stddef.h>

typedef struct PmExemplar {
	char *name;
	PmCategory category; /* of its graph */
	double similarity;   /* to the graph it was selected for, 0 to 1; 0 in a list */
	char *pass;          /* C source */
	char *graph;         /* text form */
	char *thoughts;      /* Markdown */
	char *pattern;       /* lines "rule: pattern" */
} PmExemplar;

typedef struct PmExemplars {
	PmExemplar *v; /* owned, as are its texts */
	size_t n;
	size_t withheld; /* left out because they would give the graph away; 0 in a list */
} PmExemplars;

/* Frees the texts; one that is all zero has none. */
void pm_exemplars_release(PmExemplars *e);

/* All exemplars, by name. `root` is the installation's folder, NULL = that of pm_root_dir. PM_E_NOT_FOUND
 * when there is no folder of exemplars, other errors for a file of it that cannot be read or is wrong.
 * Release *out in every case. */
PmStatus pm_exemplars_list(const char *root, PmExemplars *out, PmErr *err);

/* The exemplar called `what`, or the first by name of the category called so; borrowed from `all`. NULL when
 * there is none. */
const PmExemplar *pm_exemplars_find(const PmExemplars *all, const char *what);

/* At most `n` exemplars for the author of a pass for `g`: those of g's category first, then the most similar
 * (pm_skeleton_similarity), then by name. None that solves g is among them (pm_exemplar_leaks). There may be
 * fewer than n; out->withheld says how many of all there are solve it. Errors as of pm_exemplars_list.
 * Release *out in every case. */
PmStatus pm_exemplars_select(const char *root, const PmGraph *g, size_t n, PmExemplars *out, PmErr *err);

/* Why an exemplar would give away a pass for `g`, or NULL when it would not; borrowed, constant. It would
 * when one of its patterns matches anywhere in g (whatever its check says then), when the operators of its
 * graph with their wiring are in g or those of g in it, and when the two graphs are nearly the same
 * (dataset/select/alike.h). Sizes, types, constants, attributes, views and casts make no difference. What
 * computes the same by other operators is not recognised. Errors: a text of `e` that cannot be read. */
PmStatus pm_exemplar_leaks(const PmExemplar *e, const PmGraph *g, const char **why, PmErr *err);

#endif
