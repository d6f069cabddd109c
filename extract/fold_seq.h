/* SPDX-License-Identifier: Apache-2.0 */
/* fold_seq.h - repeated pieces of operator sequences, found by recursive folding.
 *
 * The linear method: sequences of operator numbers are joined, the piece with the best score is replaced by a
 * symbol wherever it occurs, and this is repeated, so that symbols may hold symbols. The best piece is that
 * with the largest (length - 1) * (occurrences - 1) among all pieces of at most `window` tokens; occurrences
 * may overlap when counted, but not when replaced. It knows nothing of the graph: its pieces may fall into
 * parts, and depend on the order in which the nodes are written. extract/fold_dag.h is the method that is
 * used; this one is the yardstick, and reproduces the published numbers of GraphNet (with exact comparison
 * in place of its floating point hashes).
 */
#ifndef EXTRACT_FOLD_SEQ_H
#define EXTRACT_FOLD_SEQ_H

#include "base/core/err.h"
#include "base/core/vec.h"

#include <stddef.h>
#include <stdint.h>

typedef struct PmFoldSeqOpts {
	size_t window;           /* tokens of a piece at most; 0 = 64 */
	size_t folds;            /* at most; 0 = 17 */
	size_t min_len, max_len; /* operators of a range that is kept, max_len not included; 0 = 4 and 64 */
} PmFoldSeqOpts;

/* One fold, in the order done. */
typedef struct PmFoldStep {
	uint32_t symbol; /* what stands for the piece from now on */
	size_t len;      /* of the piece with the best score, in tokens */
	size_t raw;      /* its occurrences, overlaps counted */
	size_t used_len; /* of what was replaced: less when its occurrences all overlap */
	size_t disjoint; /* of them, those that do not overlap */
	int64_t score;
	size_t n_tokens; /* left after the fold, separators included */
} PmFoldStep;

/* Operators begin to end - 1 of a sequence. */
typedef struct PmSeqRange {
	uint32_t seq, begin, end;
} PmSeqRange;

/* The result. Tokens are numbered: 0 to n_seq - 1 separators (0 is not used), then operators in their own
 * order, then symbols as they were made. */
typedef struct PmFoldSeq {
	size_t n_seq;
	uint32_t first_symbol;
	PM_VEC(PmFoldStep) steps;
	PM_VEC(uint32_t) tokens;   /* what is left of the joined sequences */
	PM_VEC(uint32_t) body;     /* bodies of all symbols, one after another */
	PM_VEC(size_t) body_at;    /* by symbol - first_symbol: where its body begins; and the end */
	PM_VEC(size_t) length;     /* by symbol - first_symbol: its operators, all levels unfolded */
	PM_VEC(PmSeqRange) ranges; /* disjoint, by sequence and place */
} PmFoldSeq;

/* Folds n sequences: sequence i is ops[start[i]] to ops[start[i + 1] - 1], operators are numbers below
 * n_ops. PM_E_LIMIT over 2^31 tokens. `opts` may be NULL. Time is O(tokens * log window) a fold. */
PmStatus pm_fold_seq(const uint32_t *ops, const size_t *start, size_t n, uint32_t n_ops,
		     const PmFoldSeqOpts *opts, PmFoldSeq *out, PmErr *err);
void pm_fold_seq_release(PmFoldSeq *f);

#endif
