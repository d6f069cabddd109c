/* SPDX-License-Identifier: Apache-2.0 */
/* diff_kernel.c - which nodes of the other graph a fused kernel stands for: those that its body has, found
 * from what reads its results backwards. */
#include "app/diff/diff_kernel.h"

#include <string.h>

/* A result of an item of the other graph. */
typedef struct Place {
	uint32_t item, result;
} Place;

typedef struct Step {
	PmNode node; /* of the body */
	uint32_t item;
} Step;

typedef struct Search {
	const Side *own, *other; /* the graph of the kernels, and that of what they replaced */
	Place *stands;           /* by value of own: what it stands for; item PM_DIFF_NONE = not known */
	PM_VEC(Step) step;
	const PmGraph *body;
	PmNode kernel;
	PmDiffBody *found;
} Search;

static int same_op(const PmGraph *a, PmNode x, const PmGraph *b, PmNode y)
{
	return !strcmp(pm_node_op_name(a, x), pm_node_op_name(b, y)) &&
	       !strcmp(pm_node_domain(a, x), pm_node_domain(b, y)) &&
	       pm_node_n_in(a, x) == pm_node_n_in(b, y);
}

/* Whether result `result` of a node of the body may be a place of the other graph. */
static int fits(const Search *s, PmNode node, size_t result, Place at)
{
	return at.item < s->other->n_nodes && s->other->match[at.item] == PM_DIFF_NONE &&
	       result == at.result &&
	       same_op(s->body, node, s->other->g, pm_graph_node_at(s->other->g, at.item));
}

/* What a value of the body is in the other graph: follows the node that makes it, or notes what an operand of
 * the kernel stands for. */
static void follow(Search *s, PmValue v, Place at)
{
	size_t result = 0;
	PmNode def = pm_value_def(s->body, v, &result);

	if (def.id) {
		if (fits(s, def, result, at))
			PM_VEC_PUSH(&s->step, ((Step){ def, at.item }));
		return;
	}
	for (size_t i = 0; i < pm_graph_n_inputs(s->body); i++) {
		PmValue operand = pm_node_in(s->own->g, s->kernel, i);

		if (pm_graph_input(s->body, i).id == v.id && operand.id)
			s->stands[operand.id] = at;
	}
}

static Place operand_at(const Search *s, uint32_t item, size_t k)
{
	const Operand *o = &s->other->operand[s->other->first_operand[item] + k];

	return (Place){ o->item, o->result };
}

/* Whether commuting operands of the body's node stand the other way round in the other graph. */
static int stands_crosswise(const Search *s, Step at)
{
	int score[2] = { 0, 0 };

	if (!s->other->commutes[at.item])
		return 0;
	for (int cross = 0; cross < 2; cross++) {
		for (size_t k = 0; k < 2; k++) {
			size_t result = 0;
			PmNode def = pm_value_def(s->body, pm_node_in(s->body, at.node, k), &result);
			Place p = operand_at(s, at.item, cross ? 1 - k : k);

			score[cross] += def.id ? fits(s, def, result, p) : 0;
		}
	}
	return score[1] > score[0];
}

static void search(Search *s, PmValue output, Place root)
{
	uint32_t limit = pm_graph_node_limit(s->body);
	char *seen = pm_xcalloc((size_t)limit + 1, 1);

	follow(s, output, root);
	while (s->step.n) {
		Step at = s->step.v[--s->step.n];
		int cross = stands_crosswise(s, at);

		if (seen[at.node.id]++)
			continue;
		PM_VEC_PUSH(s->found, at.item);
		for (size_t k = 0; k < pm_node_n_in(s->body, at.node); k++)
			follow(s, pm_node_in(s->body, at.node, k),
			       operand_at(s, at.item, cross && k < 2 ? 1 - k : k));
	}
	free(seen);
}

/* What result k of a kernel stands for: what its readers, as far as they have a pair, read there. */
static Place stands_for(const Search *s, uint32_t item, size_t k)
{
	const Side *own = s->own, *other = s->other;

	for (uint32_t e = own->first_reader[item]; e < own->first_reader[item + 1]; e++) {
		Reader r = own->reader[e];
		uint32_t pair = own->match[r.item];

		if (r.result == k && pair != PM_DIFF_NONE &&
		    r.slot < other->first_operand[pair + 1] - other->first_operand[pair]) {
			Place p = operand_at(s, pair, r.slot);

			if (p.item < other->n_nodes && other->match[p.item] != PM_DIFF_NONE &&
			    other->commutes[pair])
				p = operand_at(s, pair, 1 - r.slot);
			if (p.item < other->n_nodes && other->match[p.item] == PM_DIFF_NONE)
				return p;
		}
	}
	return s->stands[pm_node_out(own->g, s->kernel, k).id];
}

static int by_place(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void sort_once(PmDiffBody *found)
{
	size_t n = 0;

	qsort(found->v, found->n, sizeof *found->v, by_place);
	for (size_t i = 0; i < found->n; i++) {
		if (!n || found->v[n - 1] != found->v[i])
			found->v[n++] = found->v[i];
	}
	found->n = n;
}

void pm__diff_kernels(const Side *own, const Side *other, PmDiffBody *found)
{
	Search s = { .own = own, .other = other };
	size_t n = (size_t)pm_graph_value_limit(own->g) + 1;

	s.stands = pm_xcalloc(n, sizeof *s.stands);
	for (size_t i = 0; i < n; i++)
		s.stands[i].item = PM_DIFF_NONE;
	for (uint32_t i = own->n_nodes; i-- > 0;) {
		const PmAttr *body;

		s.kernel = pm_graph_node_at(own->g, i);
		if (own->match[i] != PM_DIFF_NONE || pm_node_op(own->g, s.kernel) != PM_OP_Kernel)
			continue;
		body = pm_node_attr(own->g, s.kernel, "body");
		s.body = body && body->kind == PM_ATTR_GRAPH ? body->graph : NULL;
		s.found = &found[i];
		for (size_t k = 0; s.body && k < pm_graph_n_outputs(s.body); k++)
			search(&s, pm_graph_output(s.body, k), stands_for(&s, i, k));
		sort_once(&found[i]);
	}
	free(s.stands);
	PM_VEC_RELEASE(&s.step);
}
