/* SPDX-License-Identifier: Apache-2.0 */
/* diff_side.c - a graph as arrays: operators and labels as hashes, operands, and who reads what. */
#include "app/diff/diff_priv.h"
#include "base/core/hash.h"
#include "base/core/str.h"
#include "ir/canon/canon.h"

#include <string.h>

enum { INPUT_OP = 1, OUTPUT_OP = 2 };

int pm__diff_by_key(const void *a, const void *b)
{
	const Key *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->item > y->item) - (x->item < y->item);
}

/* ---- types ---- */

static void number_symbols(Side *s)
{
	uint32_t next = 0;

	for (size_t i = 0; i < pm_graph_n_inputs(s->g); i++) {
		const PmType *t = pm_value_type(s->g, pm_graph_input(s->g, i));

		for (int k = 0; k < t->rank; k++) {
			size_t symbol = t->dim[k] < 0 ? (size_t) - (t->dim[k] + 1) : 0;

			if (t->dim[k] >= 0)
				continue;
			if (symbol >= s->n_symbols) {
				s->symbol = pm_xrealloc(s->symbol, symbol + 1, sizeof *s->symbol);
				memset(s->symbol + s->n_symbols, 0,
				       (symbol + 1 - s->n_symbols) * sizeof *s->symbol);
				s->n_symbols = symbol + 1;
			}
			if (!s->symbol[symbol])
				s->symbol[symbol] = ++next;
		}
	}
}

void pm__diff_type(const Side *s, const PmType *t, PmStr *out)
{
	pm_str_addf(out, "%s[%d", pm_dtype_name(t->dtype), (int)t->rank);
	for (int k = 0; k < t->rank; k++) {
		size_t symbol = t->dim[k] < 0 ? (size_t) - (t->dim[k] + 1) : 0;

		if (t->dim[k] >= 0)
			pm_str_addf(out, ",%lld", (long long)t->dim[k]);
		else
			pm_str_addf(out, ",?%u", symbol < s->n_symbols ? s->symbol[symbol] : 0);
	}
	pm_str_addc(out, ']');
}

uint64_t pm__diff_const(const Side *s, PmValue v)
{
	const PmBlob *b = pm_value_blob(s->g, v);
	PmStr text = PM_STR_INIT;
	uint64_t h;

	pm__diff_type(s, pm_value_type(s->g, v), &text);
	h = pm_hash_bytes(text.s, text.len);
	if (b && b->data)
		h = pm__diff_mix(h, pm_hash_bytes(b->data, b->size));
	pm_str_release(&text);
	return h ? h : 1;
}

/* ---- labels ---- */

static uint64_t text_hash(PmStr *text)
{
	uint64_t h = pm_hash_bytes(text->s, text->len);

	pm_str_clear(text);
	return h;
}

static PmStatus label_node(Side *s, uint32_t i, PmStr *text, PmErr *err)
{
	PmNode n = pm_graph_node_at(s->g, i);
	PmStatus st;

	pm_str_addf(text, "%s:%s", pm_node_domain(s->g, n), pm_node_op_name(s->g, n));
	s->op[i] = text_hash(text) | 4; /* differs from those of inputs and outputs */
	s->commutes[i] = (pm_op_desc(pm_node_op(s->g, n))->flags & PM_OPF_COMM) && pm_node_n_in(s->g, n) >= 2;
	st = pm_canon_node_text(s->g, n, PM_CANON_FULL, text, err);
	for (size_t k = 0; k < pm_node_n_out(s->g, n); k++)
		pm__diff_type(s, pm_value_type(s->g, pm_node_out(s->g, n, k)), text);
	s->label[i] = pm__diff_mix(s->op[i], text_hash(text));
	return st;
}

static void label_port(Side *s, uint32_t i, uint64_t op, PmValue v, PmStr *text)
{
	pm__diff_type(s, pm_value_type(s->g, v), text);
	s->op[i] = op;
	s->label[i] = pm__diff_mix(op, text_hash(text));
}

static PmStatus label_all(Side *s, PmErr *err)
{
	PmStr text = PM_STR_INIT;
	PmStatus st = PM_OK;

	for (uint32_t i = 0; i < s->n_nodes && !st; i++)
		st = label_node(s, i, &text, err);
	for (uint32_t i = 0; i < s->n_inputs; i++)
		label_port(s, s->n_nodes + i, INPUT_OP, pm_graph_input(s->g, i), &text);
	for (uint32_t i = s->n_nodes + s->n_inputs; i < s->n; i++)
		label_port(s, i, OUTPUT_OP, pm_graph_output(s->g, i - s->n_nodes - s->n_inputs), &text);
	pm_str_release(&text);
	return st;
}

/* ---- operands ---- */

static Operand operand_of(const Side *s, PmValue v, const uint32_t *input, uint64_t *contents)
{
	size_t result = 0;
	PmNode def = pm_value_def(s->g, v, &result);

	if (def.id)
		return (Operand){ s->place[def.id], (uint32_t)result, 0 };
	if (!v.id)
		return (Operand){ PM_DIFF_NONE, 0, 0 };
	if (input[v.id])
		return (Operand){ s->n_nodes + input[v.id] - 1, 0, 0 };
	if (!contents[v.id])
		contents[v.id] = pm__diff_const(s, v);
	return (Operand){ PM_DIFF_NONE, 0, contents[v.id] };
}

/* What a label says of the constants among operands. */
static void label_constants(Side *s, uint32_t i)
{
	const Operand *o = s->operand + s->first_operand[i];
	uint32_t n = s->first_operand[i + 1] - s->first_operand[i];
	uint64_t h = n;

	for (uint32_t k = 0; k < n; k++) {
		uint64_t is = o[k].item == PM_DIFF_NONE ? o[k].is : 2;

		if (s->commutes[i] && k < 2) {
			uint64_t other = o[1 - k].item == PM_DIFF_NONE ? o[1 - k].is : 2;

			is = (is < other) == (k == 0) ? is : other; /* the smaller one first */
		}
		h = pm__diff_mix(h, is);
	}
	s->label[i] = pm__diff_mix(s->label[i], h);
}

static void find_operands(Side *s)
{
	const PmGraph *g = s->g;
	uint32_t *input = pm_xcalloc((size_t)pm_graph_value_limit(g) + 1, sizeof *input);
	uint64_t *contents = pm_xcalloc((size_t)pm_graph_value_limit(g) + 1, sizeof *contents);
	PM_VEC(Operand) all = { 0 };

	for (uint32_t i = 0; i < s->n_inputs; i++)
		input[pm_graph_input(g, i).id] = i + 1;
	for (uint32_t i = 0; i < s->n; i++) {
		PmNode node = i < s->n_nodes ? pm_graph_node_at(g, i) : (PmNode){ 0 };

		s->first_operand[i] = (uint32_t)all.n;
		for (size_t k = 0; k < pm_node_n_in(g, node); k++)
			PM_VEC_PUSH(&all, operand_of(s, pm_node_in(g, node, k), input, contents));
		if (i >= s->n_nodes + s->n_inputs)
			PM_VEC_PUSH(&all, operand_of(s, pm_graph_output(g, i - s->n_nodes - s->n_inputs),
						     input, contents));
	}
	s->first_operand[s->n] = (uint32_t)all.n;
	s->operand = all.v;
	for (uint32_t i = 0; i < s->n; i++)
		label_constants(s, i);
	free(input);
	free(contents);
}

static void find_readers(Side *s)
{
	uint32_t *at = pm_xcalloc((size_t)s->n + 1, sizeof *at);

	for (uint32_t e = 0; e < s->first_operand[s->n]; e++) {
		if (s->operand[e].item != PM_DIFF_NONE)
			s->first_reader[s->operand[e].item + 1]++;
	}
	for (uint32_t i = 0; i < s->n; i++) {
		s->first_reader[i + 1] += s->first_reader[i];
		at[i] = s->first_reader[i];
	}
	s->reader = pm_xcalloc((size_t)s->first_reader[s->n] + 1, sizeof *s->reader);
	for (uint32_t i = 0; i < s->n; i++) {
		for (uint32_t e = s->first_operand[i]; e < s->first_operand[i + 1]; e++) {
			const Operand *o = &s->operand[e];
			uint32_t slot = e - s->first_operand[i];

			if (o->item == PM_DIFF_NONE)
				continue;
			s->reader[at[o->item]++] = (Reader){ i, slot == 1 && s->commutes[i] ? 0 : slot,
							     o->result };
		}
	}
	free(at);
}

PmStatus pm__diff_side(const PmGraph *g, Side *s, PmErr *err)
{
	PmStatus st;
	size_t n;

	memset(s, 0, sizeof *s);
	s->g = g;
	s->n_nodes = (uint32_t)pm_graph_n_nodes(g);
	s->n_inputs = (uint32_t)pm_graph_n_inputs(g);
	s->n = s->n_nodes + s->n_inputs + (uint32_t)pm_graph_n_outputs(g);
	n = (size_t)s->n + 1;
	s->place = pm_xcalloc((size_t)pm_graph_node_limit(g) + 1, sizeof *s->place);
	for (uint32_t i = 0; i < s->n_nodes; i++)
		s->place[pm_graph_node_at(g, i).id] = i;
	s->op = pm_xcalloc(n, sizeof *s->op);
	s->label = pm_xcalloc(n, sizeof *s->label);
	s->down = pm_xcalloc(n, sizeof *s->down);
	s->up = pm_xcalloc(n, sizeof *s->up);
	s->color = pm_xcalloc(n, sizeof *s->color);
	s->next = pm_xcalloc(n, sizeof *s->next);
	s->sum = pm_xcalloc(n, sizeof *s->sum);
	s->commutes = pm_xcalloc(n, 1);
	s->first_operand = pm_xcalloc(n, sizeof *s->first_operand);
	s->first_reader = pm_xcalloc(n, sizeof *s->first_reader);
	s->match = pm_xcalloc(n, sizeof *s->match);
	memset(s->match, 0xff, n * sizeof *s->match);
	number_symbols(s);
	st = label_all(s, err);
	if (!st) {
		find_operands(s);
		find_readers(s);
	}
	return st;
}

void pm__diff_side_release(Side *s)
{
	free(s->place);
	free(s->symbol);
	free(s->op);
	free(s->label);
	free(s->down);
	free(s->up);
	free(s->color);
	free(s->next);
	free(s->sum);
	free(s->commutes);
	free(s->first_operand);
	free(s->first_reader);
	free(s->operand);
	free(s->reader);
	free(s->match);
}
