/* SPDX-License-Identifier: Apache-2.0 */
/* diff.h - two graphs compared: which nodes they share, and what was added, removed and changed.
 *
 * Nodes are matched by what they compute and by what surrounds them, never by their names: a graph whose
 * nodes and values are renamed, or stand in another topological order, has no difference to itself. Names
 * help only where the lists of inputs (or of outputs) of the two graphs differ in types.
 *
 * What holds of every result:
 *   - A pair has the same operator, and each node is in one pair at most.
 *   - A pair that is not among the changes has the same attributes and types of results, and all its operands
 *     correspond: results of pairs, inputs of pairs, or constants with the same contents. Operands of
 *     commuting operators may be swapped.
 *   - A pair that is among them has an operand or a reader that corresponds.
 *   - The union of both graphs, with pairs as one node, has no cycle.
 *   - The difference of B and A is that of A and B with both sides swapped.
 * diff_match.c says how pairs are found. Time is n log n in nodes and operands.
 */
#ifndef APP_DIFF_DIFF_H
#define APP_DIFF_DIFF_H

#include "base/core/vec.h"
#include "ir/core/graph.h"

#define PM_DIFF_NONE UINT32_MAX

typedef enum PmDiffKind { PM_DIFF_REMOVED, PM_DIFF_ADDED, PM_DIFF_CHANGED } PmDiffKind;
typedef enum PmDiffSubject { PM_DIFF_INPUT, PM_DIFF_NODE, PM_DIFF_OUTPUT } PmDiffSubject;

typedef struct PmDiffChange {
	PmDiffKind kind;
	PmDiffSubject subject;
	uint32_t a, b; /* of a node its place in the execution order, else which input or output; PM_DIFF_NONE
			  in the graph that lacks it */
	char *what;    /* owned; what differs, as text: "attribute axis: 1 became 2; ..." */
} PmDiffChange;

typedef struct PmDiff {
	const PmGraph *a, *b;
	uint32_t *to_b, *to_a; /* by place: the place of the other node of the pair, or PM_DIFF_NONE */
	uint32_t *input_to_b, *output_to_b; /* the same for inputs and outputs of a, by number */
	size_t n_same;                      /* pairs that are not among the changes */
	size_t n[3];                        /* changes of nodes, by PmDiffKind */
	size_t n_signature;                 /* changes of inputs and outputs */
	PM_VEC(PmDiffChange) change; /* inputs, nodes in the order of a union of both graphs, outputs */
	PM_VEC(uint32_t) order;      /* that order: place in b, or in a with PM_DIFF_IN_A added */
} PmDiff;

#define PM_DIFF_IN_A ((uint32_t)1 << 31)

/* Compares two sorted graphs, which outlive *out. Contents of constants count where they are at hand, else
 * their types. Release *out also after an error. */
PmStatus pm_diff(const PmGraph *a, const PmGraph *b, PmDiff *out, PmErr *err);
void pm_diff_release(PmDiff *d);

/* "added", "removed", "changed". Static storage. */
const char *pm_diff_kind_name(PmDiffKind kind);
/* Appends what people call a subject: "Conv 'layer1.conv'", "input x". */
void pm_diff_describe(const PmDiff *d, const PmDiffChange *c, PmStr *out);

#endif
