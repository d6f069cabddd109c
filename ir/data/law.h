/* SPDX-License-Identifier: Apache-2.0 */
/* law.h - laws of floating-point elements as text, as graphs of tasks keep them (ir/core/graph.h).
 *
 *   normal(MEAN, STD, LO, HI)      PM_SYNTH_NORMAL of ir/data/synth.h, held within [LO, HI]
 *   positive(MEAN, STD, LO, HI)    PM_SYNTH_POSITIVE, the same
 *   uniform(LO, HI)                PM_SYNTH_UNIFORM: LO <= x < HI
 *
 * LO may be -inf and HI inf, but not in uniform. Numbers have nine digits.
 */
#ifndef IR_LAW_H
#define IR_LAW_H

#include "base/core/str.h"
#include "ir/core/graph.h"
#include "ir/data/synth.h"

/* Appends the text of a law; 0, and nothing appended, when it has none (integers, masks, literal data). */
int pm_law_text(const PmSynth *s, PmStr *out);
/* Reads a law for elements of this type; *out is ready but for its seed, which is 0, and owns nothing.
 * PM_E_INVALID says what is wrong with the text, which may be anything. */
PmStatus pm_law_read(const char *text, int dtype, PmSynth *out, PmErr *err);

/* Gives inputs of g the laws that its statistics (ir/data/stats.h) say, as far as they are the input's own
 * and fit its role. Integers, masks and indices keep their roles: what they may be follows from the sizes.
 * The number of laws in *n (may be NULL). Errors of pm_graph_set_input_law. */
PmStatus pm_laws_from_stats(PmGraph *g, size_t *n, PmErr *err);

#endif
