/* SPDX-License-Identifier: Apache-2.0 */
/* parse.c - the text form into a graph: models, graphs and nodes.
 *
 * One pass over the tokens. Names used before their definition are patched at the end of their graph; types
 * are inferred node by node, so that what the text declares settles the dimensions that inference leaves
 * open before they spread.
 */
#include "ir/text/text.h"

#include "base/core/vec.h"
#include "ir/core/graph_priv.h"
#include "ir/infer/infer.h"
#include "ir/text/parse_priv.h"

#include <stdlib.h>
#include <string.h>

/* A type that the text states for a value that is defined elsewhere. */
typedef struct Decl {
	const char *name;
	PmTok at;
	int typed, output;
	PmType type;
	uint32_t next; /* 1 + index of another of the same value */
} Decl;

/* An operand whose name was not known yet. */
typedef struct Fix {
	PmNode node;
	size_t operand;
	const char *name;
	PmTok at;
} Fix;

typedef struct Scope {
	PmParser *ps;
	PmGraph *g;
	PM_VEC(Decl) decls;
	PM_VEC(Fix) fixes;
	PM_VEC(PmTok) node_at; /* by node id */
} Scope;

/* One node as it is read. */
typedef struct Item {
	PmTok at, op_at;
	const char *name;
	PmOp op;
	int constant; /* a Constant node */
	const char *domain, *op_type;
	PM_VEC(const char *) results; /* NULL: omitted */
	PM_VEC(PmTok) result_at;
	PM_VEC(PmValue) in;
	PM_VEC(Fix) fixes;
	PmTextAttr *attrs;
	size_t n_attrs;
} Item;

/* ---- inputs, outputs, constants ---- */

static PmStatus new_name(Scope *sc, const PmTok *at, const char *name)
{
	if (pm_graph_find_given(sc->g, name).id)
		return pm__text_fail(sc->ps, at, PM_E_INVALID, "the value '%.200s' is defined twice", name);
	return PM_OK;
}

static PmStatus typed_name(Scope *sc, int unknown_ok, PmType *t, PmTok *at, const char **name)
{
	PmStatus st = pm__text_type(sc->ps, sc->g, unknown_ok, t);

	*at = sc->ps->lex.tok;
	return st != PM_OK ? st : pm__text_name(sc->ps, "a value name", 0, name);
}

static PmStatus inputs(Scope *sc)
{
	PmStatus st = pm__text_want(sc->ps, '(', "'(' before the inputs");

	if (st != PM_OK || pm__text_accept(sc->ps, ')'))
		return st;
	do {
		PmType t;
		PmTok at;
		PmValue v;
		const char *name;

		st = typed_name(sc, 0, &t, &at, &name);
		if (st == PM_OK)
			st = new_name(sc, &at, name);
		if (st == PM_OK)
			st = pm_graph_add_input(sc->g, name, &t, &v, sc->ps->err);
		if (st != PM_OK)
			return st;
	} while (pm__text_accept(sc->ps, ','));
	return pm__text_want(sc->ps, ')', "',' or ')' in the inputs");
}

static PmStatus outputs(Scope *sc)
{
	PmStatus st = pm__text_want(sc->ps, '(', "'(' before the outputs");

	if (st != PM_OK || pm__text_accept(sc->ps, ')'))
		return st;
	do {
		Decl d = { .output = 1 };
		int next = pm__text_lex_peek(&sc->ps->lex);

		d.at = sc->ps->lex.tok;
		d.typed = d.at.kind == PM_TOK_ID && (next == '[' || next == PM_TOK_ID || next == PM_TOK_STR);
		st = d.typed ? typed_name(sc, 1, &d.type, &d.at, &d.name)
			     : pm__text_name(sc->ps, "an output (a type and a name)", 0, &d.name);
		if (st != PM_OK)
			return st;
		PM_VEC_PUSH(&sc->decls, d);
	} while (pm__text_accept(sc->ps, ','));
	return pm__text_want(sc->ps, ')', "',' or ')' in the outputs");
}

/* "<float[2] w = {1, 2}, float[N] t>" */
static PmStatus constants(Scope *sc)
{
	PmStatus st = PM_OK;

	if (!pm__text_accept(sc->ps, '<') || pm__text_accept(sc->ps, '>'))
		return PM_OK;
	do {
		Decl d = { .typed = 1 };
		PmBlob *blob = NULL;
		PmValue v;

		st = typed_name(sc, 1, &d.type, &d.at, &d.name);
		if (st == PM_OK && !pm__text_accept(sc->ps, '=')) {
			PM_VEC_PUSH(&sc->decls, d);
			continue;
		}
		if (st == PM_OK)
			st = new_name(sc, &d.at, d.name);
		if (st == PM_OK)
			st = pm__text_tensor_data(sc->ps, &d.type, &blob);
		if (st == PM_OK)
			st = pm_graph_add_const(sc->g, d.name, &d.type, blob, &v, sc->ps->err);
		if (st != PM_OK)
			return st;
	} while (pm__text_accept(sc->ps, ','));
	return pm__text_want(sc->ps, '>', "',' or '>' after a constant");
}

/* ---- nodes ---- */

static void item_release(Item *it)
{
	PM_VEC_RELEASE(&it->results);
	PM_VEC_RELEASE(&it->result_at);
	PM_VEC_RELEASE(&it->in);
	PM_VEC_RELEASE(&it->fixes);
	pm__text_attrs_release(it->attrs, it->n_attrs);
}

static PmStatus results(Scope *sc, Item *it)
{
	PmParser *ps = sc->ps;

	if (pm__text_accept(ps, '='))
		return PM_OK;
	do {
		const char *name = "";
		PmTok at = ps->lex.tok;
		PmStatus st = PM_OK;

		if (at.kind != ',' && at.kind != '=')
			st = pm__text_name(ps, "a node or '}'", 1, &name);
		if (st != PM_OK)
			return st;
		PM_VEC_PUSH(&it->results, *name ? name : NULL);
		PM_VEC_PUSH(&it->result_at, at);
	} while (pm__text_accept(ps, ','));
	return pm__text_want(ps, '=', "',' or '=' after a result");
}

/* Operator names: Relu, ai.onnx.ml.Scaler, "com.acme:Thing", "Thing". */
static PmStatus operator_name(Scope *sc, Item *it)
{
	PmParser *ps = sc->ps;
	const char *name, *colon;
	PmStr full = PM_STR_INIT;
	PmTok at = ps->lex.tok;
	PmStatus st = pm__text_name(ps, "an operator", 0, &name);
	size_t dot = 0;

	it->op_at = at;
	if (st != PM_OK)
		return st;
	it->op = PM_OP_Opaque;
	it->domain = "";
	if (at.kind == PM_TOK_STR) {
		colon = strchr(name, ':');
		it->op_type = colon ? colon + 1 : name;
		it->domain = colon ? pm_arena_strndup(ps->tmp, name, (size_t)(colon - name)) : "";
		if (!it->domain)
			return pm__text_fail(ps, &at, PM_E_LIMIT,
					     "the names of the text take too much memory");
		if (!*it->op_type || colon == name)
			return pm__text_fail(ps, &at, PM_E_INVALID,
					     "expected \"domain:Operator\" or \"Operator\", found \"%.100s\"",
					     name);
		return PM_OK;
	}
	pm_str_add(&full, name);
	while (st == PM_OK && pm__text_accept(ps, '.')) {
		dot = full.len;
		pm_str_addc(&full, '.');
		if (ps->lex.tok.kind != PM_TOK_ID)
			st = pm__text_expected(ps, "an operator or a part of its domain after '.'");
		else
			st = pm__text_name(ps, "an operator", 0, &name);
		if (st == PM_OK)
			pm_str_add(&full, name);
	}
	if (st == PM_OK && dot && !(dot == 7 && memcmp(full.s, "ai.onnx", 7) == 0)) {
		it->domain = pm_arena_strndup(ps->tmp, full.s, dot);
		it->op_type = name;
		if (!it->domain)
			st = pm__text_fail(ps, &at, PM_E_LIMIT, "the names of the text take too much memory");
	} else if (st == PM_OK) {
		it->op_type = NULL;
		it->constant = strcmp(name, "Constant") == 0;
		it->op = it->constant ? PM_OP_NONE : pm_op_from_name(name);
		if (!it->constant && (it->op == PM_OP_NONE || it->op == PM_OP_Opaque)) {
			const char *near = pm_op_suggest(name);

			st = pm__text_fail(
				ps, &at, PM_E_INVALID,
				"%.100s is not in the operator table%s%s%s; put it in quotes to keep it "
				"as an opaque operator",
				name, near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
		}
	}
	pm_str_release(&full);
	return st;
}

static PmStatus operands(Scope *sc, Item *it)
{
	PmParser *ps = sc->ps;
	PmStatus st = pm__text_want(ps, '(', "'(' before the operands");

	if (st != PM_OK || pm__text_accept(ps, ')'))
		return st;
	do {
		const char *name = "";
		PmTok at = ps->lex.tok;
		PmValue v = { 0 };

		if (at.kind != ',' && at.kind != ')')
			st = pm__text_name(ps, "an operand or ')'", 1, &name);
		if (st != PM_OK)
			return st;
		if (*name) {
			v = pm_graph_find_given(sc->g, name);
			if (!v.id)
				PM_VEC_PUSH(&it->fixes, ((Fix){ { 0 }, it->in.n, name, at }));
		}
		PM_VEC_PUSH(&it->in, v);
	} while (pm__text_accept(ps, ','));
	return pm__text_want(ps, ')', "',' or ')' in the operands");
}

static PmStatus check_count(Scope *sc, const Item *it, const char *what, size_t n, int lo, int hi)
{
	if (n >= (size_t)lo && (hi < 0 || n <= (size_t)hi))
		return PM_OK;
	if (hi < 0)
		return pm__text_fail(sc->ps, &it->op_at, PM_E_INVALID,
				     "%s has %zu %s%s but needs at least %d", pm_op_desc(it->op)->name, n,
				     what, n == 1 ? "" : "s", lo);
	if (lo == hi)
		return pm__text_fail(sc->ps, &it->op_at, PM_E_INVALID, "%s has %zu %s%s but needs %d",
				     pm_op_desc(it->op)->name, n, what, n == 1 ? "" : "s", lo);
	return pm__text_fail(sc->ps, &it->op_at, PM_E_INVALID, "%s has %zu %s%s but takes %d to %d",
			     pm_op_desc(it->op)->name, n, what, n == 1 ? "" : "s", lo, hi);
}

/* A Constant node becomes a constant. */
static PmStatus build_constant(Scope *sc, Item *it)
{
	PmType t;
	PmBlob *blob;
	PmValue v;
	PmStatus st;

	if (it->in.n || it->results.n != 1 || !it->results.v[0])
		return pm__text_fail(sc->ps, &it->op_at, PM_E_INVALID,
				     "a Constant has no operands and exactly one result");
	st = new_name(sc, &it->result_at.v[0], it->results.v[0]);
	if (st == PM_OK)
		st = pm__text_attr_constant(sc->ps, &it->op_at, it->attrs, it->n_attrs, &t, &blob);
	if (st == PM_OK)
		st = pm_graph_add_const(sc->g, it->results.v[0], &t, blob, &v, sc->ps->err);
	return st;
}

static PmStatus build_node(Scope *sc, Item *it)
{
	PmErr *err = sc->ps->err;
	const PmOpDesc *d = pm_op_desc(it->op);
	PmNode n;
	PmStatus st = check_count(sc, it, "operand", it->in.n, d->in_min, d->in_max);

	if (st == PM_OK)
		st = check_count(sc, it, "result", it->results.n, d->out_min, d->out_max);
	if (st == PM_OK)
		st = pm_graph_add_node(sc->g, it->op, it->in.v, it->in.n, it->results.n, &n, err);
	if (st != PM_OK)
		return st;
	while (sc->node_at.n <= n.id)
		PM_VEC_PUSH(&sc->node_at, it->op_at);
	if (it->op_type)
		st = pm_node_set_opaque(sc->g, n, it->domain, it->op_type, err);
	if (st == PM_OK && it->name)
		st = pm_node_set_name(sc->g, n, it->name, err);
	for (size_t i = 0; i < it->n_attrs && st == PM_OK; i++)
		st = pm__text_attr_store(sc->ps, sc->g, n, &it->attrs[i]);
	for (size_t k = 0; k < it->results.n && st == PM_OK; k++) {
		if (!it->results.v[k])
			continue;
		st = new_name(sc, &it->result_at.v[k], it->results.v[k]);
		if (st == PM_OK)
			st = pm_value_set_name(sc->g, pm_node_out(sc->g, n, k), it->results.v[k], err);
	}
	for (size_t i = 0; i < it->fixes.n; i++) {
		it->fixes.v[i].node = n;
		PM_VEC_PUSH(&sc->fixes, it->fixes.v[i]);
	}
	return st == PM_OK ? pm_node_fill_defaults(sc->g, n, err) : st;
}

/* "[name] y, z = Op <k = v> (a, b)"; the attributes may also follow the operands. */
static PmStatus node(Scope *sc)
{
	PmParser *ps = sc->ps;
	Item it = { .at = ps->lex.tok };
	PmStatus st = PM_OK;

	if (pm__text_accept(ps, '[')) {
		st = pm__text_name(ps, "a node name", 0, &it.name);
		if (st == PM_OK)
			st = pm__text_want(ps, ']', "']' after the node name");
	}
	if (st == PM_OK)
		st = results(sc, &it);
	if (st == PM_OK)
		st = operator_name(sc, &it);
	if (st == PM_OK && ps->lex.tok.kind == '<')
		st = pm__text_attrs(ps, &it.attrs, &it.n_attrs);
	if (st == PM_OK)
		st = operands(sc, &it);
	if (st == PM_OK && !it.attrs && ps->lex.tok.kind == '<')
		st = pm__text_attrs(ps, &it.attrs, &it.n_attrs);
	if (st == PM_OK)
		st = it.constant ? build_constant(sc, &it) : build_node(sc, &it);
	item_release(&it);
	return st;
}

/* ---- the end of a graph: names, order, types ---- */

static PmStatus patch_operands(Scope *sc)
{
	for (size_t i = 0; i < sc->fixes.n; i++) {
		Fix *f = &sc->fixes.v[i];
		PmValue v = pm_graph_find_given(sc->g, f->name);

		if (!v.id)
			return pm__text_fail(sc->ps, &f->at, PM_E_INVALID,
					     "the value '%.200s' is not defined", f->name);
		pm_node_set_operand(sc->g, f->node, f->operand, v);
	}
	return sc->fixes.n ? pm_graph_sort(sc->g, sc->ps->err) : PM_OK;
}

/* Adds the outputs and chains the declarations of each value: head[value] = 1 + index, 0 for none. */
static PmStatus find_decls(Scope *sc, uint32_t *head)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < sc->decls.n && st == PM_OK; i++) {
		Decl *d = &sc->decls.v[i];
		PmValue v = pm_graph_find_given(sc->g, d->name);

		if (!v.id)
			return pm__text_fail(sc->ps, &d->at, PM_E_INVALID, "the %s '%.200s' is not defined",
					     d->output ? "output" : "value", d->name);
		if (d->output)
			st = pm_graph_add_output(sc->g, v, sc->ps->err);
		if (d->typed) {
			d->next = head[v.id];
			head[v.id] = (uint32_t)i + 1;
		}
	}
	return st;
}

static int is_fresh_name(const char *s)
{
	return s && s[0] == '_' && s[1] == 'd' && s[2] >= '0' && s[2] <= '9';
}

/* 1 when the type t of a value fits what the text declares; a dimension declared as ? fits any. */
static int fits(const PmGraph *g, const PmType *decl, const PmType *t)
{
	if ((decl->dtype >= 0 && decl->dtype != t->dtype) || (decl->rank >= 0 && decl->rank != t->rank))
		return 0;
	for (int i = 0; i < decl->rank; i++)
		if (t->dim[i] != decl->dim[i] && !is_fresh_name(pm_graph_symbol_name(g, decl->dim[i])))
			return 0;
	return 1;
}

static PmStatus check_decls(Scope *sc, PmValue v, const uint32_t *head)
{
	const PmType *t = pm_value_type(sc->g, v);
	PmStr want = PM_STR_INIT, have = PM_STR_INIT;
	PmStatus st = PM_OK;

	for (uint32_t i = head[v.id]; i && st == PM_OK; i = sc->decls.v[i - 1].next) {
		const Decl *d = &sc->decls.v[i - 1];

		if (fits(sc->g, &d->type, t))
			continue;
		pm__text_add_type(sc->g, &d->type, &want);
		pm__text_add_type(sc->g, t, &have);
		st = pm__text_fail(sc->ps, &d->at, PM_E_TYPE, "'%.100s' is declared as %.300s but is %.300s",
				   d->name, want.s, have.s);
	}
	pm_str_release(&want);
	pm_str_release(&have);
	return st;
}

static PmStatus infer_node(Scope *sc, PmNode n, const uint32_t *head)
{
	PmGraph *g = sc->g;
	PmStatus st;

	/* Inference keeps what a value already says where it cannot tell itself. */
	for (size_t k = 0; k < pm_node_n_out(g, n); k++) {
		PmValue v = pm_node_out(g, n, k);

		if (head[v.id])
			pm_value_set_type(g, v, &sc->decls.v[head[v.id] - 1].type);
	}
	st = pm_infer_node(g, n, sc->ps->err);
	if (st != PM_OK && sc->ps->err)
		pm_err_ctx(sc->ps->err, "line %u, column %u", sc->node_at.v[n.id].line,
			   sc->node_at.v[n.id].col);
	for (size_t k = 0; k < pm_node_n_out(g, n) && st == PM_OK; k++)
		st = check_decls(sc, pm_node_out(g, n, k), head);
	return st;
}

static PmStatus finish(Scope *sc)
{
	PmStatus st = patch_operands(sc);
	uint32_t *head = pm_xcalloc(pm_graph_value_limit(sc->g), sizeof *head);

	if (st == PM_OK)
		st = find_decls(sc, head);
	for (size_t i = 0; i < pm_graph_n_nodes(sc->g) && st == PM_OK; i++)
		st = infer_node(sc, pm_graph_node_at(sc->g, i), head);
	for (uint32_t id = 1; id < pm_graph_value_limit(sc->g) && st == PM_OK; id++)
		if (head[id] && !pm_value_def(sc->g, (PmValue){ id }, NULL).id)
			st = check_decls(sc, (PmValue){ id }, head);
	free(head);
	return st;
}

PmStatus pm__text_graph(PmParser *ps, PmGraph **out)
{
	Scope sc = { .ps = ps };
	const char *name;
	size_t used;
	PmStatus st;

	if (ps->depth > PM_TEXT_MAX_DEPTH)
		return pm__text_fail(ps, &ps->lex.tok, PM_E_LIMIT,
				     "graphs inside attributes are nested more than %d deep",
				     (int)PM_TEXT_MAX_DEPTH);
	if (ps->n_graphs++ == PM_TEXT_MAX_GRAPHS)
		return pm__text_fail(ps, &ps->lex.tok, PM_E_LIMIT, "the text has more than %d graphs",
				     (int)PM_TEXT_MAX_GRAPHS);
	ps->depth++;
	sc.g = pm_graph_new(ps->budget);
	st = pm__text_name(ps, "the name of a graph", 1, &name);
	if (st == PM_OK)
		st = pm_graph_set_name(sc.g, name, ps->err);
	if (st == PM_OK)
		st = inputs(&sc);
	if (st == PM_OK)
		st = pm__text_want(ps, PM_TOK_ARROW, "'=>' after the inputs");
	if (st == PM_OK)
		st = outputs(&sc);
	if (st == PM_OK)
		st = constants(&sc);
	if (st == PM_OK)
		st = pm__text_want(ps, '{', "'{' before the nodes");
	while (st == PM_OK && !pm__text_accept(ps, '}'))
		st = node(&sc);
	if (st == PM_OK)
		st = finish(&sc);
	PM_VEC_RELEASE(&sc.decls);
	PM_VEC_RELEASE(&sc.fixes);
	PM_VEC_RELEASE(&sc.node_at);
	ps->depth--;
	used = pm__graph_used(sc.g);
	if (st == PM_OK && used >= ps->budget)
		st = pm_err(ps->err, PM_E_LIMIT,
			    "The graphs of this text need more than the memory that it may take.");
	ps->budget -= used < ps->budget ? used : ps->budget - 1;
	if (st != PM_OK)
		pm_graph_free(sc.g);
	else
		*out = sc.g;
	return st;
}

/* ---- the header ---- */

typedef struct Header {
	PM_VEC(const char *) meta; /* key, value, key, value, ... */
} Header;

/* ["key": value, ...], values being strings (kept in `keep`) or integers. */
static PmStatus pairs(PmParser *ps, int ints, Header *keep)
{
	PmStatus st = pm__text_want(ps, '[', "'[' after ':'");

	if (st != PM_OK || pm__text_accept(ps, ']'))
		return st;
	do {
		const char *key, *value = "";
		int64_t number;

		st = pm__text_value(ps, "a key in quotes", &key);
		if (st == PM_OK)
			st = pm__text_want(ps, ':', "':' after the key");
		if (st == PM_OK)
			st = ints ? pm__text_int(ps, "a version number", &number)
				  : pm__text_value(ps, "a string", &value);
		if (st == PM_OK && keep && keep->meta.n == 2 * PM_TEXT_MAX_META)
			st = pm__text_fail(ps, &ps->lex.tok, PM_E_LIMIT,
					   "the header has more than %d properties", (int)PM_TEXT_MAX_META);
		if (st != PM_OK)
			return st;
		if (keep) {
			PM_VEC_PUSH(&keep->meta, key);
			PM_VEC_PUSH(&keep->meta, value);
		}
	} while (pm__text_accept(ps, ','));
	return pm__text_want(ps, ']', "',' or ']' in the list");
}

/* <ir_version: 8, opset_import: ["" : 18], ...>; the current token follows '<'. */
static PmStatus header(PmParser *ps, Header *h)
{
	PmStatus st;

	if (pm__text_accept(ps, '>'))
		return PM_OK;
	do {
		PmTok key = ps->lex.tok;
		const char *text;
		int64_t number;
		int is_int = pm__text_tok_is(&key, "ir_version") || pm__text_tok_is(&key, "model_version");
		int is_str = pm__text_tok_is(&key, "producer_name") ||
			     pm__text_tok_is(&key, "producer_version") || pm__text_tok_is(&key, "domain") ||
			     pm__text_tok_is(&key, "doc_string");

		if (!is_int && !is_str && !pm__text_tok_is(&key, "opset_import") &&
		    !pm__text_tok_is(&key, "metadata_props"))
			return pm__text_expected(ps,
						 "ir_version, opset_import, metadata_props, producer_name, "
						 "producer_version, domain, model_version or doc_string");
		pm__text_lex_next(&ps->lex);
		st = pm__text_want(ps, ':', "':' after the field");
		if (st != PM_OK)
			return st;
		if (is_int)
			st = pm__text_int(ps, "an integer", &number);
		else if (is_str)
			st = pm__text_value(ps, "a string", &text);
		else
			st = pairs(ps, pm__text_tok_is(&key, "opset_import"),
				   pm__text_tok_is(&key, "metadata_props") ? h : NULL);
		if (st != PM_OK)
			return st;
	} while (pm__text_accept(ps, ','));
	return pm__text_want(ps, '>', "',' or '>' in the header");
}

PmStatus pm_graph_parse(const char *text, size_t n, PmGraph **out, PmErr *err)
{
	size_t budget = ((size_t)64 << 20) + (n > SIZE_MAX / 512 ? SIZE_MAX / 2 : n * 256);

	return pm_graph_parse_within(text, n, budget, out, err);
}

PmStatus pm_graph_parse_within(const char *text, size_t n, size_t budget, PmGraph **out, PmErr *err)
{
	PmErr own;
	PmParser ps = { .err = err ? err : &own, .budget = budget };
	Header h = { 0 };
	PmGraph *g = NULL;
	PmStatus st = PM_OK;

	ps.tmp = pm_arena_new(ps.budget);
	pm__text_lex_start(&ps.lex, text, n);
	if (pm__text_accept(&ps, '<'))
		st = header(&ps, &h);
	if (st == PM_OK)
		st = pm__text_graph(&ps, &g);
	if (st == PM_OK && ps.lex.tok.kind != PM_TOK_END)
		st = pm__text_expected(&ps, "the end of the text after the graph");
	for (size_t i = 0; i + 1 < h.meta.n && st == PM_OK; i += 2)
		st = pm_graph_set_meta(g, h.meta.v[i], h.meta.v[i + 1], ps.err);
	if (st == PM_OK)
		st = pm_verify(g, ps.err);
	PM_VEC_RELEASE(&h.meta);
	pm_arena_free(ps.tmp);
	if (st != PM_OK)
		pm_graph_free(g);
	else
		*out = g;
	return st;
}
