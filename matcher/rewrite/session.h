/* SPDX-License-Identifier: Apache-2.0 */
/* session.h - what a plugin can see and say while one of its callbacks runs (private to matcher/).
 *
 * Handles: a callback gets numbers, not value ids. Each number belongs to one round (a check and the rewrite
 * after it, or one region call); numbers of earlier rounds, and invented ones, are recognised, read as "none"
 * and make the round fail.
 */
#ifndef MATCHER_SESSION_H
#define MATCHER_SESSION_H

#include "base/core/arena.h"
#include "base/core/str.h"
#include "base/core/vec.h"
#include "ir/core/graph.h"
#include "ir/core/kernel.h"
#include "matcher/pattern/match.h"
#include "passmith/pass.h"
#include "targets/targets.h"

enum {
	PM_CALLBACK_STEPS = 1 << 20,   /* host calls of one callback (a walk over uses counts each use) */
	PM_CALLBACK_MEMORY = 16 << 20, /* bytes that alloc() hands out per round */
	PM_MAX_REASON = 160,           /* bytes kept of a reason to decline */
	PM_MAX_REGION_NODES = 4096,
	PM_MAX_EXPECTED = 1024,  /* kernels and nodes of which expectations are kept */
	PM_MAX_INLINE_CONST = 64 /* elements of a constant that goes into a body, and into text */
};

/* Nodes that are to be replaced together. */
typedef struct PmNodeSet {
	PmValue root;
	PM_VEC(PmNode) node; /* in execution order */
	PM_VEC(PmValue) in;  /* operands from outside, constants included, each once, in order of use */
	PM_VEC(PmValue) out; /* results that a kernel must write: used outside and not kept; with the root */
} PmNodeSet;

/* What a pass expects (PmHost.expect): microseconds by trial. */
typedef struct PmExpected {
	char value[64]; /* name of the kernel's result, or of the node's; cut */
	int fused;
	double us[PM_MAX_TRIALS + 1];
	uint32_t n;
} PmExpected;

typedef PM_VEC(PmExpected) PmExpectedList;

typedef struct PmSession {
	PmGraph *g;
	/* Handles of this round: number base + i stands for tab.v[i]. */
	PM_VEC(PmValue) tab;
	uint32_t base;
	PM_VEC(uint32_t) handle_of; /* by value id; below base = none in this round */
	PmArena *memory;            /* alloc(); NULL until asked for */
	uint64_t steps;
	int over; /* steps are used up */
	char why[PM_MAX_REASON];
	int reports;  /* what report() says is kept */
	PmStr report; /* of this round */
	PmErr misuse; /* first wrong use of the interface in this round; code 0 = none */
	uint32_t serial;
	PmRewriter *rw;   /* the only valid one, or NULL */
	PmRegion *region; /* likewise */
	/* Execution position by node id; a topological order unless pos_stale. */
	PM_VEC(uint32_t) pos;
	int pos_stale;
	PM_VEC(uint32_t) seen; /* by node id: stamp of the last walk that visited it */
	uint32_t stamp;
	PmExpectedList expected; /* of all rounds; of kernels, those that were accepted */
	PM_VEC(uint32_t) map;    /* by value id; all zeros: lent to whoever cleans up (commit.c) */
} PmSession;

struct PmRegion {
	PmSession *s;
	PM_VEC(PmNode) node;
	PM_VEC(uint8_t) has; /* by node id */
};

/* A session on g, which is borrowed. pm__session_release frees the rest. */
void pm__session_init(PmSession *s, PmGraph *g);
void pm__session_release(PmSession *s);
/* Positions from the graph's order, which is sorted first. */
PmStatus pm__session_order(PmSession *s, PmErr *err);
/* Starts a round: old handles end, counters and reasons are cleared. */
void pm__round_begin(PmSession *s);
/* Ends it: frees its memory; host functions answer as for "none" until the next. */
void pm__round_end(PmSession *s);
PmVal pm__handle(PmSession *s, PmValue v);
/* 1 and *out for a handle of this round; 0 for none (id 0) and, noting the misuse, for any other. */
int pm__unhandle(PmSession *s, PmVal h, PmValue *out);
/* Notes the first misuse of a round; returns PM_E_INVALID. */
PmStatus pm__misuse(PmSession *s, const char *fmt, ...) PM_PRINTF(2, 3);
/* Host calls outside a session, and with a wrong context pointer, answer as for "none". */
PmSession *pm__session_current(void);

/* The table of functions that plugins get. */
const PmHost *pm_host_v1(void);

/* ---- sets of nodes (region.c) ---- */

/* Fills `set` from nodes in any order. `kept`: nodes that stay where their results are used outside. */
void pm__set_close(PmSession *s, const PmNode *node, size_t n, PmValue root, const PmNode *kept,
		   size_t n_kept, PmNodeSet *set);
void pm__set_clear(PmNodeSet *set);
void pm__set_release(PmNodeSet *set);
int pm__set_has(const PmNodeSet *set, PmNode n);
/* PM_DECLINED with a reason in s->why when one kernel writing `out` would have to run before itself. */
PmStatus pm__set_convex(PmSession *s, const PmNodeSet *set, const PmValue *out, size_t n_out, PmErr *err);
/* PM_DECLINED with a reason in s->why when the nodes are not connected, or one may not be fused. */
PmStatus pm__region_check(PmSession *s, const PmRegion *r);

#endif
