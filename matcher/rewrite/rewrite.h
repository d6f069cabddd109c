/* SPDX-License-Identifier: Apache-2.0 */
/* rewrite.h - the journal of one rewrite: what the plugin described, checked, and then put into the graph.
 *
 * Nothing touches the graph while plugin code runs. pm__commit() builds the body from the matched nodes,
 * verifies the fused node in a small graph of its own, and only then edits.
 */
#ifndef MATCHER_REWRITE_H
#define MATCHER_REWRITE_H

#include "matcher/rewrite/session.h"

struct PmRewriter {
	PmSession *s;
	const PmNodeSet *set;
	const PmValue *slot; /* captures of the match; NULL for a region */
	uint32_t n_slots, as_mask;
	const char *rule;
	PmArena *arena; /* holds everything below */
	int described;
	PmKernelDesc desc; /* without body */
	PmValue in[PM_MAX_OPERANDS];
	PmValue out[PM_MAX_OPERANDS];
	uint32_t n_in, n_out; /* out: named by replace_slot until replace settles it */
	int outs_given;
};

/* PmHost.replace_slot and PmHost.replace. */
PmStatus pm__rewriter_slot(PmRewriter *rw, uint32_t slot);
PmStatus pm__rewriter_replace(PmRewriter *rw, const PmKernelSpec *spec);

/* Replaces rw->set by the described kernel. PM_DECLINED with s->why when it may not be; errors leave the
 * graph as it was. *node is the fused node. */
PmStatus pm__commit(PmRewriter *rw, PmNode *node, PmErr *err);

#endif
