/* SPDX-License-Identifier: Apache-2.0 */
/* parse_attr.c - types, tensor data and attributes of the text form. */
#include "ir/text/parse_priv.h"

#include "base/core/vec.h"
#include "ir/core/element.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEED_DIM "a dimension (a number, a name, or ?)"

static PmStatus dim(PmParser *ps, PmGraph *g, PmDim *out)
{
	const char *name;
	PmTok at = ps->lex.tok;
	PmStatus st;

	if (!g && at.kind != PM_TOK_INT)
		return pm__text_expected(ps, "a number as dimension");
	if (pm__text_accept(ps, '?')) {
		*out = pm_graph_fresh_symbol(g);
		return PM_OK;
	}
	if (at.kind != PM_TOK_INT) {
		st = pm__text_name(ps, NEED_DIM, 0, &name);
		if (st == PM_OK)
			*out = pm_graph_symbol(g, name);
		return st;
	}
	st = pm__text_int(ps, NEED_DIM, out);
	if (st == PM_OK && *out < 0)
		st = pm__text_fail(ps, &at, PM_E_INVALID, "expected " NEED_DIM ", found a negative number");
	return st;
}

PmStatus pm__text_type(PmParser *ps, PmGraph *g, int unknown_ok, PmType *out)
{
	PmTok at = ps->lex.tok;
	const char *name;
	PmStatus st;

	if (at.kind != PM_TOK_ID)
		return pm__text_expected(ps, "a type such as float[2,3]");
	st = pm__text_name(ps, "a type", 0, &name);
	if (st != PM_OK)
		return st;
	*out = pm_type_unknown();
	out->dtype = pm_dtype_from_name(name);
	if (out->dtype < 0 && !(unknown_ok && strcmp(name, "undefined") == 0))
		return pm__text_fail(
			ps, &at, PM_E_TYPE,
			"expected an element type (float, float16, bfloat16, double, int64, int32, "
			"int8, uint8 or bool), found '%.100s'",
			name);
	out->rank = 0;
	if (!pm__text_accept(ps, '['))
		return PM_OK;
	if (pm__text_accept(ps, ']')) {
		out->rank = -1;
		if (!unknown_ok)
			return pm__text_fail(
				ps, &at, PM_E_TYPE,
				"a type without dimensions between its brackets is only for results "
				"of opaque nodes; write %s for a scalar",
				name);
		return PM_OK;
	}
	do {
		if (out->rank == PM_MAX_RANK)
			return pm__text_fail(ps, &ps->lex.tok, PM_E_LIMIT,
					     "a type has more than %d dimensions; at most %d are supported",
					     (int)PM_MAX_RANK, (int)PM_MAX_RANK);
		st = dim(ps, g, &out->dim[out->rank]);
		if (st != PM_OK)
			return st;
		out->rank++;
	} while (pm__text_accept(ps, ','));
	return pm__text_want(ps, ']', "',' or ']' in the dimensions");
}

/* ---- tensor data ---- */

/* Reads one element of dtype into p, which has room for 8 bytes. */
static PmStatus element(PmParser *ps, int dtype, unsigned char *p)
{
	PmTok at = ps->lex.tok;
	int64_t i;
	double d = 0;
	PmStatus st;

	if (pm_dtype_is_float(dtype)) {
		st = pm__text_float(ps, "a number or '}'", dtype == PM_F32, &d);
		pm_float_store(dtype, p, d);
		if (st == PM_OK && isfinite(d) && isinf(pm_float_load(dtype, p)))
			return pm__text_fail(ps, &at, PM_E_LIMIT,
					     "%.*s is too large for %s; write inf for an infinity", (int)at.n,
					     at.p, pm_dtype_name(dtype));
		return st;
	}
	if (dtype == PM_BOOL && (pm__text_tok_is(&at, "true") || pm__text_tok_is(&at, "false"))) {
		*p = pm__text_tok_is(&at, "true");
		pm__text_lex_next(&ps->lex);
		return PM_OK;
	}
	st = dtype == PM_U64 ? pm__text_uint(ps, "an integer or '}'", &i)
			     : pm__text_int(ps, "an integer or '}'", &i);
	if (st != PM_OK)
		return st;
	if (pm_int_wrap(dtype, i) != i)
		return pm__text_fail(ps, &at, PM_E_LIMIT, "%.*s does not fit in %s", (int)at.n, at.p,
				     pm_dtype_name(dtype));
	pm_int_store(dtype, p, i);
	return PM_OK;
}

/* The current token follows '{'. */
static PmStatus inline_data(PmParser *ps, const PmType *t, int64_t numel, PmBlob **out)
{
	size_t size = pm_dtype_size(t->dtype);
	unsigned char e[8];
	PM_VEC(unsigned char) buf = { 0 };
	PmTok at = ps->lex.tok;
	int64_t n = 0;
	PmStatus st = PM_OK;

	if (at.kind != '}') {
		do {
			at = ps->lex.tok;
			st = element(ps, t->dtype, e);
			if (st != PM_OK)
				goto out;
			if (n++ == numel) {
				st = pm__text_fail(ps, &at, PM_E_SHAPE,
						   "the type holds %lld elements but more are given",
						   (long long)numel);
				goto out;
			}
			PM_VEC_RESERVE(&buf, buf.n + size);
			memcpy(buf.v + buf.n, e, size);
			buf.n += size;
		} while (pm__text_accept(ps, ','));
	}
	at = ps->lex.tok;
	st = pm__text_want(ps, '}', "',' or '}' after an element");
	if (st == PM_OK && n < numel)
		st = pm__text_fail(ps, &at, PM_E_SHAPE, "the type holds %lld elements but %lld are given",
				   (long long)numel, (long long)n);
out:
	if (st == PM_OK)
		*out = buf.n ? pm_blob_take(buf.v, buf.n) : pm_blob_copy("", 0);
	if (st != PM_OK || !buf.n)
		PM_VEC_RELEASE(&buf);
	return st;
}

/* An entry of a location list holds numbers as strings, like ONNX's external_data. */
static PmStatus location_number(PmParser *ps, const PmTok *at, const char *key, const char *s, int64_t *out)
{
	if (!pm_parse_i64(s, out) || *out < 0)
		return pm__text_fail(ps, at, PM_E_INVALID,
				     "expected a non-negative number for \"%s\", found \"%.40s\"", key, s);
	return PM_OK;
}

/* ["location": "file", "offset": "0", "length": "64"]; the current token follows '['. */
static PmStatus location_data(PmParser *ps, const PmType *t, int64_t bytes, PmBlob **out)
{
	const char *location = NULL, *key, *value;
	int64_t offset = 0, length = bytes;
	PmTok at = ps->lex.tok;
	PmStatus st;

	do {
		PmTok kt = ps->lex.tok, vt;

		if (kt.kind != PM_TOK_STR)
			return pm__text_expected(ps, "\"location\", \"offset\", \"length\" or \"checksum\"");
		st = pm__text_value(ps, "a key", &key);
		if (st == PM_OK)
			st = pm__text_want(ps, ':', "':' after the key");
		vt = ps->lex.tok;
		if (st == PM_OK)
			st = pm__text_value(ps, "a string", &value);
		if (st != PM_OK)
			return st;
		if (strcmp(key, "location") == 0)
			location = value;
		else if (strcmp(key, "offset") == 0)
			st = location_number(ps, &vt, key, value, &offset);
		else if (strcmp(key, "length") == 0)
			st = location_number(ps, &vt, key, value, &length);
		else if (strcmp(key, "checksum") != 0)
			st = pm__text_fail(ps, &kt, PM_E_INVALID,
					   "expected \"location\", \"offset\", \"length\" or \"checksum\", "
					   "found \"%.40s\"",
					   key);
		if (st != PM_OK)
			return st;
	} while (pm__text_accept(ps, ','));
	st = pm__text_want(ps, ']', "',' or ']' in the location");
	if (st != PM_OK)
		return st;
	if (!location)
		return pm__text_fail(ps, &at, PM_E_INVALID, "the data has no \"location\"");
	if (length != bytes)
		return pm__text_fail(ps, &at, PM_E_SHAPE,
				     "\"length\" is %lld bytes but the type %s needs %lld", (long long)length,
				     pm_dtype_name(t->dtype), (long long)bytes);
	*out = pm_blob_absent(location, offset, (size_t)bytes);
	return PM_OK;
}

PmStatus pm__text_tensor_data(PmParser *ps, const PmType *t, PmBlob **out)
{
	PmTok at = ps->lex.tok;
	int64_t numel, bytes;
	PmStatus st;

	if (at.kind != '{' && at.kind != '[')
		return pm__text_expected(ps, "'{' with elements or '[' with a location");
	if (t->dtype < 0 || !pm_type_is_static(t))
		return pm__text_fail(ps, &at, PM_E_SHAPE,
				     "a constant needs a type with only numbers as dimensions");
	st = pm_type_numel(t, &numel, ps->err);
	if (st == PM_OK)
		st = pm_type_bytes(t, &bytes, ps->err);
	if (st != PM_OK) {
		pm_err_ctx(ps->err, "line %u, column %u", at.line, at.col);
		return st;
	}
	pm__text_lex_next(&ps->lex);
	return at.kind == '{' ? inline_data(ps, t, numel, out) : location_data(ps, t, bytes, out);
}

/* ---- attributes ---- */

static const char *const kind_words[] = { "int",    "float",   "string", "ints",
					  "floats", "strings", "tensor", "graph" };

void pm__text_attrs_release(PmTextAttr *attrs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(attrs[i].ints);
		free(attrs[i].floats);
		free(attrs[i].strings);
		pm_blob_unref(attrs[i].blob);
		pm_graph_free(attrs[i].graph);
	}
	free(attrs);
}

/* A list in brackets; the current token follows '['. */
static PmStatus list_value(PmParser *ps, PmTextAttr *a)
{
	PM_VEC(int64_t) ints = { 0 };
	PM_VEC(double) floats = { 0 };
	PM_VEC(const char *) strings = { 0 };
	PmStatus st = PM_OK;
	int all_ints = 1;

	while (st == PM_OK && ps->lex.tok.kind != ']') {
		PmTok at = ps->lex.tok;

		if (at.kind == PM_TOK_STR && !floats.n) {
			const char *s = NULL;

			st = pm__text_value(ps, "a string", &s);
			PM_VEC_PUSH(&strings, s);
		} else if (pm__text_at_number(ps) && !strings.n) {
			int64_t i = 0;
			double f = 0;
			PmLex back = ps->lex;

			/* The number is read both ways: whether the list is ints is known at its end. */
			st = pm__text_float(ps, "a number", 1, &f);
			if (st == PM_OK && at.kind == PM_TOK_INT && all_ints) {
				ps->lex = back;
				st = pm__text_int(ps, "an integer", &i);
			} else {
				all_ints = 0;
			}
			PM_VEC_PUSH(&floats, f);
			PM_VEC_PUSH(&ints, i);
		} else {
			st = pm__text_expected(ps, strings.n  ? "a string"
						   : floats.n ? "a number"
							      : "a number, a string or ']'");
		}
		if (st == PM_OK && !pm__text_accept(ps, ',') && ps->lex.tok.kind != ']')
			st = pm__text_expected(ps, "',' or ']' in the list");
	}
	if (st == PM_OK)
		pm__text_lex_next(&ps->lex);
	a->empty_list = !strings.n && !floats.n;
	a->kind = strings.n ? PM_ATTR_STRINGS : all_ints ? PM_ATTR_INTS : PM_ATTR_FLOATS;
	a->n = strings.n ? strings.n : floats.n;
	a->ints = ints.v;
	a->floats = floats.v;
	a->strings = strings.v;
	return st;
}

/* "float[2] {1, 2}", with the official form's name and '=' in between allowed. */
static PmStatus tensor_value(PmParser *ps, PmTextAttr *a)
{
	const char *name;
	PmStatus st = pm__text_type(ps, NULL, 0, &a->type);

	if (st == PM_OK && (ps->lex.tok.kind == PM_TOK_ID || ps->lex.tok.kind == PM_TOK_STR))
		st = pm__text_name(ps, "a tensor name", 0, &name);
	if (st != PM_OK)
		return st;
	pm__text_accept(ps, '=');
	a->kind = PM_ATTR_TENSOR;
	return pm__text_tensor_data(ps, &a->type, &a->blob);
}

static PmStatus attr_value(PmParser *ps, PmTextAttr *a)
{
	PmTok at = ps->lex.tok;
	int call = (at.kind == PM_TOK_ID || at.kind == PM_TOK_STR) && pm__text_lex_peek(&ps->lex) == '(';

	if (call) {
		a->kind = PM_ATTR_GRAPH;
		return pm__text_graph(ps, &a->graph);
	}
	if (pm__text_at_number(ps)) {
		a->kind = at.kind == PM_TOK_INT && !(a->typed && a->kind == PM_ATTR_FLOAT) ? PM_ATTR_INT
											   : PM_ATTR_FLOAT;
		return a->kind == PM_ATTR_INT ? pm__text_int(ps, "an integer", &a->i)
					      : pm__text_float(ps, "a number", 1, &a->f);
	}
	if (at.kind == PM_TOK_STR) {
		PmStatus st = pm__text_string(ps, &at, &a->s, &a->n);

		a->kind = PM_ATTR_STRING;
		pm__text_lex_next(&ps->lex);
		return st;
	}
	if (pm__text_accept(ps, '['))
		return list_value(ps, a);
	if (at.kind == PM_TOK_ID)
		return tensor_value(ps, a);
	if (at.kind == '@')
		return pm__text_fail(
			ps, &at, PM_E_UNSUPPORTED,
			"references to attributes of a function are not supported; write the value");
	return pm__text_expected(ps, "an attribute value (a number, a string, a list, a tensor or a graph)");
}

/* Turns what was read into kind `to`; 0 when it cannot be that. */
static int convert(PmTextAttr *a, PmAttrKind to)
{
	if (a->empty_list && (to == PM_ATTR_INTS || to == PM_ATTR_FLOATS || to == PM_ATTR_STRINGS))
		a->kind = to;
	if (a->kind == PM_ATTR_INT && to == PM_ATTR_FLOAT) {
		a->f = (double)(float)a->i;
		a->kind = to;
	}
	if (a->kind == PM_ATTR_INTS && to == PM_ATTR_FLOATS)
		a->kind = to;
	return a->kind == to;
}

static PmStatus attribute(PmParser *ps, PmTextAttr *a)
{
	PmAttrKind want = PM_ATTR_INT;
	PmStatus st;

	memset(a, 0, sizeof *a);
	a->at = ps->lex.tok;
	st = pm__text_name(ps, "an attribute name", 0, &a->name);
	if (st != PM_OK)
		return st;
	if (pm__text_accept(ps, ':')) {
		for (a->kind = 0; a->kind < sizeof kind_words / sizeof *kind_words; a->kind++)
			if (pm__text_tok_is(&ps->lex.tok, kind_words[a->kind]))
				break;
		if (a->kind == sizeof kind_words / sizeof *kind_words)
			return pm__text_expected(
				ps, "int, float, string, ints, floats, strings, tensor or graph");
		pm__text_lex_next(&ps->lex);
		want = a->kind;
		a->typed = 1;
	}
	st = pm__text_want(ps, '=',
			   a->typed ? "'=' after the attribute type" : "'=' or ':' after the attribute name");
	if (st == PM_OK)
		st = attr_value(ps, a);
	if (st == PM_OK && a->typed && !convert(a, want))
		st = pm__text_fail(ps, &a->at, PM_E_TYPE,
				   "attribute '%.100s' is said to be %s but its value is %s", a->name,
				   kind_words[want], kind_words[a->kind]);
	return st;
}

PmStatus pm__text_attrs(PmParser *ps, PmTextAttr **attrs, size_t *n)
{
	PM_VEC(PmTextAttr) v = { 0 };
	PmStatus st = PM_OK;

	pm__text_lex_next(&ps->lex);
	while (st == PM_OK && ps->lex.tok.kind != '>') {
		PmTextAttr a;

		if (v.n == PM_TEXT_MAX_ATTRS) {
			st = pm__text_fail(ps, &ps->lex.tok, PM_E_LIMIT, "a node has more than %d attributes",
					   (int)PM_TEXT_MAX_ATTRS);
			break;
		}
		st = attribute(ps, &a);
		PM_VEC_PUSH(&v, a);
		if (st == PM_OK && !pm__text_accept(ps, ',') && ps->lex.tok.kind != '>')
			st = pm__text_expected(ps, "',' or '>' after an attribute");
	}
	if (st == PM_OK)
		pm__text_lex_next(&ps->lex);
	*attrs = v.v;
	*n = v.n;
	return st;
}

static PmStatus check_table(PmParser *ps, PmOp op, PmTextAttr *a)
{
	const PmOpDesc *d = pm_op_desc(op);
	const PmAttrDesc *want = pm_op_attr_desc(op, a->name);

	if (d->flags & (PM_OPF_OPAQUE | PM_OPF_KERNEL))
		want = NULL;
	else if (!want)
		return pm__text_fail(ps, &a->at, PM_E_INVALID, "%s has no attribute '%.100s'", d->name,
				     a->name);
	if (want && !convert(a, want->kind))
		return pm__text_fail(ps, &a->at, PM_E_TYPE,
				     "attribute '%s' of %s must be %s, but its value is %s", a->name, d->name,
				     kind_words[want->kind], kind_words[a->kind]);
	if (!want && a->empty_list && !a->typed)
		return pm__text_fail(ps, &a->at, PM_E_TYPE,
				     "an empty list needs its type: '%.100s: ints = []'", a->name);
	return PM_OK;
}

PmStatus pm__text_attr_store(PmParser *ps, PmGraph *g, PmNode node, PmTextAttr *a)
{
	PmStatus st = check_table(ps, pm_node_op(g, node), a);
	PmBlob *blob = a->blob;
	PmGraph *sub = a->graph;

	if (st != PM_OK)
		return st;
	if (pm_node_attr(g, node, a->name))
		return pm__text_fail(ps, &a->at, PM_E_INVALID, "attribute '%.100s' is given twice", a->name);
	switch (a->kind) {
	case PM_ATTR_INT:
		return pm_node_set_i(g, node, a->name, a->i, ps->err);
	case PM_ATTR_FLOAT:
		return pm_node_set_f(g, node, a->name, a->f, ps->err);
	case PM_ATTR_STRING:
		return pm_node_set_s(g, node, a->name, a->s, a->n, ps->err);
	case PM_ATTR_INTS:
		return pm_node_set_ints(g, node, a->name, a->ints, a->n, ps->err);
	case PM_ATTR_FLOATS:
		return pm_node_set_floats(g, node, a->name, a->floats, a->n, ps->err);
	case PM_ATTR_STRINGS:
		return pm_node_set_strings(g, node, a->name, a->strings, a->n, ps->err);
	case PM_ATTR_TENSOR:
		a->blob = NULL;
		return pm_node_set_tensor(g, node, a->name, &a->type, blob, ps->err);
	case PM_ATTR_GRAPH:
		a->graph = NULL;
		return pm_node_set_graph(g, node, a->name, sub, ps->err);
	}
	return PM_E_INTERNAL;
}

/* ---- Constant nodes ---- */

PmStatus pm__text_attr_constant(PmParser *ps, const PmTok *at, PmTextAttr *attrs, size_t n, PmType *t,
				PmBlob **out)
{
	PmTextAttr *a = attrs;
	int64_t len = n == 1 ? (int64_t)a->n : 0;
	float *f;
	float one;

	if (n == 1 && strcmp(a->name, "value") == 0 && a->kind == PM_ATTR_TENSOR) {
		*t = a->type;
		*out = a->blob;
		a->blob = NULL;
	} else if (n == 1 && strcmp(a->name, "value_int") == 0 && a->kind == PM_ATTR_INT) {
		*t = pm_type(PM_I64, 0, NULL);
		*out = pm_blob_copy(&a->i, sizeof a->i);
	} else if (n == 1 && strcmp(a->name, "value_float") == 0 && convert(a, PM_ATTR_FLOAT)) {
		one = (float)a->f;
		*t = pm_type(PM_F32, 0, NULL);
		*out = pm_blob_copy(&one, sizeof one);
	} else if (n == 1 && strcmp(a->name, "value_ints") == 0 && convert(a, PM_ATTR_INTS)) {
		*t = pm_type(PM_I64, 1, &len);
		*out = pm_blob_copy(a->n ? (const void *)a->ints : "", a->n * sizeof *a->ints);
	} else if (n == 1 && strcmp(a->name, "value_floats") == 0 && convert(a, PM_ATTR_FLOATS)) {
		f = pm_xcalloc(a->n + 1, sizeof *f);
		for (size_t i = 0; i < a->n; i++)
			f[i] = (float)a->floats[i];
		*t = pm_type(PM_F32, 1, &len);
		*out = pm_blob_copy(f, a->n * sizeof *f);
		free(f);
	} else {
		return pm__text_fail(
			ps, at, PM_E_UNSUPPORTED,
			"a Constant needs exactly one of value, value_int, value_float, value_ints and "
			"value_floats");
	}
	return PM_OK;
}
