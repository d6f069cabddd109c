/* SPDX-License-Identifier: Apache-2.0 */
/* stats.h - statistics of tensors that a model carries instead of its weights, and the laws they give.
 *
 * The metadata entry "tensor_stats" is a JSON object: value name -> { mean, std, min, max, law, data,
 * source }, all optional. `law` "uniform" means evenly between min and max; else mean and deviation are those
 * of a bell. `source` is the tensor's name where the statistics were taken. Numbers are rounded to three
 * decimals, so a deviation (or the mean of variances) below 0.0005 is taken for 0.00025.
 */
#ifndef IR_STATS_H
#define IR_STATS_H

#include "ir/data/role.h"
#include "ir/data/synth.h"

/* The metadata entry. */
#define PM_STATS_KEY "tensor_stats"

/* Where a law comes from. */
typedef enum PmLawFrom {
	PM_LAW_STATS,   /* mean, deviation, range */
	PM_LAW_LITERAL, /* every element is in the statistics */
	PM_LAW_NONE,    /* role: there are no statistics of this name */
	PM_LAW_OTHER,   /* role: the statistics say that they are another tensor's */
	PM_LAW_UNFIT,   /* role: the statistics cannot be this role's or type's (a negative variance) */
	PM_N_LAW_FROM
} PmLawFrom;

/* "from statistics", "by role, without statistics", ... */
const char *pm_law_from_name(PmLawFrom from);

typedef struct PmStats PmStats;
/* The statistics in g's metadata; none, or text that is no JSON object, gives an empty set. Never NULL.
 * Borrows nothing. */
PmStats *pm_stats_new(const PmGraph *g);
void pm_stats_free(PmStats *s);
/* Identifies the statistics: two models with the same ones have the same number; 0 for the empty set. */
uint64_t pm_stats_hash(const PmStats *s);

/* The law of a value of static type t in a role (`limit` of an INDEX): from the statistics called `name` when
 * they are its own, else the role's own law. Statistics whose `source`, letters in lower case, is not `name`
 * belong to another tensor, unless `name` is only a letter, '_' and a number ("a_12": renamed). The law is
 * ready; release it with pm_synth_release.
 *
 * Laws by role: weight N(0, 1/fan in), scale N(1, 0.1^2), bias and mean N(0, 0.1^2), table and data N(0, 1),
 * variance U(0.25, 1.75), probability U(0.01, 0.99), masks as role.h says, index below its limit, count 0..8.
 */
PmLawFrom pm_stats_law(const PmStats *s, const char *name, const PmType *t, PmInputRole role, int64_t limit,
		       uint64_t seed, PmSynth *out);

#endif
