/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.h - patterns as the host keeps them: a flat tree, copied out of the plugin and checked for form.
 *
 * The words that wrap another pattern (AS, WITH, TYPED, KEEP, ORDERED, ANYATTR, RESULT) become fields of the
 * node they wrap, so that every node says all about the value it stands for. Text form:
 *
 *   (Mul ?0{float} (Sigmoid ?0))          operator, operands; ?k captures slot k, the type in braces
 *   ?2:(Expand? (Cast? ?1{i64,r2}))       ?k: names what follows; Name? is there or not
 *   (| p q)  _  0.5  ...                  alternatives, anything, a number, remaining operands
 *   {axes=1,2} {alpha=0.5} {mode="edge"}  attributes; {#1} second result; {anyattr} {ordered} {keep}
 *
 * Printing is canonical: print(parse(print(p))) == print(p).
 */
#ifndef MATCHER_PATTERN_H
#define MATCHER_PATTERN_H

#include "base/core/arena.h"
#include "base/core/err.h"
#include "base/core/str.h"
#include "ir/core/op.h"
#include "passmith/pass.h"

#include <stddef.h>
#include <stdint.h>

typedef enum { PM_PK_OP, PM_PK_VAR, PM_PK_ANY, PM_PK_NUM, PM_PK_OPT, PM_PK_ALT, PM_PK_REST } PmPatKind;

enum { PM_PF_KEEP = 1, PM_PF_ORDERED = 2, PM_PF_ANYATTR = 4 };

enum {
	PM_MAX_PATTERN_ATTRS = 16,   /* of one node */
	PM_MAX_PATTERN_INTS = 32,    /* of one attribute */
	PM_MAX_PATTERN_STRING = 255, /* bytes of a name or of a string attribute */
	PM_MAX_PATTERN_DEPTH = 64
};

typedef struct PmPatternAttr {
	const char *name;
	uint32_t kind; /* PM_PATTR_INTS (one int included), PM_PATTR_FLOAT or PM_PATTR_STR */
	uint32_t n_ints;
	const int64_t *ints;
	double f;
	const char *s;
} PmPatternAttr;

typedef struct PmPatternNode {
	PmPatKind kind;
	PmOp op; /* PM_OP_NONE when the table has no op_name: for lint to report */
	const char *op_name;
	int32_t slot; /* VAR: captures; others: named by AS, or -1 */
	uint32_t flags;
	uint32_t result; /* OP */
	double num;
	uint32_t dtypes; /* 0 = any */
	int32_t rank;    /* -1 = any */
	uint32_t n_in;
	uint32_t *in; /* node numbers */
	uint32_t n_attr;
	PmPatternAttr *attr;
} PmPatternNode;

typedef struct PmPattern {
	PmArena *arena;
	PmPatternNode node[PM_MAX_PATTERN_NODES];
	uint32_t n; /* nodes; the root is number 0 */
	uint32_t n_slots;
	uint32_t n_ops;   /* OP nodes: the default benefit */
	uint32_t as_mask; /* slots that AS names: these may be replaced */
} PmPattern;

/* Copies a plugin's tree. Fails with a sentence on what has no meaning (a wrapper around the wrong thing, no
 * operand list, over 64 nodes); what has a meaning but is wrong is left to lint. Returns owned. */
PmStatus pm_pattern_copy(const PmPat *root, PmPattern **out, PmErr *err);
/* Parses the text form. Returns owned. */
PmStatus pm_pattern_parse(const char *text, size_t n, PmPattern **out, PmErr *err);
void pm_pattern_free(PmPattern *p);
/* Appends the text form of the whole pattern / of the part below one node. */
void pm_pattern_print(const PmPattern *p, PmStr *out);
void pm_pattern_print_node(const PmPattern *p, uint32_t node, PmStr *out);
/* Appends "float,r3" (nothing for any type). */
void pm_pattern_print_type(uint32_t dtypes, int32_t rank, PmStr *out);
/* Hash of the text form. */
uint64_t pm_pattern_hash(const PmPattern *p);

#endif
