/* SPDX-License-Identifier: Apache-2.0 */
/* cast.h - whole models in another floating-point type: float to float16 or bfloat16, and both of these to
 * float.
 *
 * Inputs, weights and what is computed change their type; a Cast stands where a value of one type meets an
 * operand of the other. What stays float, and why, is a table (cast.def). Beyond its rows, these stay float:
 *
 *   RANGE, WIDE      a node with a constant that the half type does not hold (larger than its largest number,
 * or one number that would become zero), one whose results may leave its range (SQUARES), and those that read
 * the result, up to an operator that brings it back (Softmax, Div, a normalisation, ...) INTEGERS what an
 * integer is made of by element-wise operators and moves: a Cast to an integer type, a Range, the scales of a
 * Resize ANGLE            the same of Sin, Cos and Tan, through products too QUANTISED        all that a
 * QuantizeLinear reads, up to a DequantizeLinear: its integers are those of before
 */
#ifndef APP_CAST_CAST_H
#define APP_CAST_CAST_H

#include "ir/core/graph.h"

typedef enum PmCastReason {
	PM_CAST_NONE, /* it is cast, or has no floating point */
#define REASON(name, sentence) PM_CAST_##name,
#include "app/cast/cast.def"
	PM_N_CAST_REASONS
} PmCastReason;

/* "quantised"; and the sentence, without a full stop. Static. */
const char *pm_cast_reason(PmCastReason r);
const char *pm_cast_why(PmCastReason r);

typedef struct PmCastReport {
	size_t inputs, weights, results, outputs; /* values of the model that have the new type; outputs are
						   * those of the signature */
	size_t casts;                             /* Cast nodes that were added */
	size_t nodes;                             /* with floating point, computed in the new type */
	size_t kept[PM_N_CAST_REASONS];           /* values that are not cast, by reason */
	size_t kept_nodes[PM_N_CAST_REASONS];     /* nodes that are computed in the old type, by reason */
	char *first[PM_N_CAST_REASONS];           /* owned; name of the first such value; NULL = none */
} PmCastReport;

/* Casts a graph to `to`: PM_F16 or PM_BF16 from float, PM_F32 from both of these. The graph must be sorted,
 * inferred and verified, and is so afterwards. `keep_io`: inputs and outputs keep their types. Names of
 * inputs and outputs stay. PM_E_UNSUPPORTED for another type. On failure the graph is only good to be freed.
 * Release *out in every case. */
PmStatus pm_cast_graph(PmGraph *g, int to, int keep_io, PmCastReport *out, PmErr *err);
void pm_cast_report_release(PmCastReport *r);

#endif
