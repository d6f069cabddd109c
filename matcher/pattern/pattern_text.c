/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_text.c - parsing the text form of patterns (see pattern.h). */
#include "matcher/pattern/pattern.h"
#include "matcher/pattern/pattern_priv.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Parser {
	const char *text, *at, *end;
	PmPattern *p;
	PmErr *err;
} Parser;

static PmStatus fail(Parser *ps, const char *expected)
{
	return pm_err(ps->err, PM_E_INVALID, "Pattern text, column %zu: expected %s.",
		      (size_t)(ps->at - ps->text) + 1, expected);
}

static void skip(Parser *ps)
{
	while (ps->at < ps->end && isspace((unsigned char)*ps->at))
		ps->at++;
}

static int peek(Parser *ps)
{
	return ps->at < ps->end ? (unsigned char)*ps->at : -1;
}

static int take(Parser *ps, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(ps->end - ps->at) < n || memcmp(ps->at, word, n))
		return 0;
	ps->at += n;
	return 1;
}

/* Length of the identifier at the cursor. */
static size_t ident(Parser *ps)
{
	const char *s = ps->at;

	if (s == ps->end || !(isalpha((unsigned char)*s) || *s == '_'))
		return 0;
	while (s < ps->end && (isalnum((unsigned char)*s) || *s == '_'))
		s++;
	return (size_t)(s - ps->at);
}

static PmStatus name(Parser *ps, const char *what, const char **out)
{
	size_t n = ident(ps);

	if (!n || n > PM_MAX_PATTERN_STRING)
		return fail(ps, what);
	*out = pm_arena_strndup(ps->p->arena, ps->at, n);
	ps->at += n;
	return PM_OK;
}

static PmStatus small(Parser *ps, uint32_t max, uint32_t *out)
{
	uint32_t x = 0;
	const char *start = ps->at;

	while (ps->at < ps->end && isdigit((unsigned char)*ps->at) && x <= max)
		x = x * 10 + (uint32_t)(*ps->at++ - '0');
	if (ps->at == start || x > max || (*start == '0' && ps->at - start > 1))
		return fail(ps, "a small number");
	*out = x;
	return PM_OK;
}

/* 1 when c is one of the characters of `set`; strchr would also find the terminator. */
static int one_of(int c, const char *set)
{
	return c > 0 && strchr(set, c) != NULL;
}

/* A decimal number, inf or nan; *integral tells whether it was written as an integer. */
static PmStatus number(Parser *ps, double *f, int64_t *i, int *integral)
{
	char b[64];
	size_t n = 0, k = 0;

	while (ps->at + n < ps->end && n < sizeof b - 1 &&
	       (isalnum((unsigned char)ps->at[n]) || one_of((unsigned char)ps->at[n], "+-.")))
		n++;
	memcpy(b, ps->at, n);
	b[n] = 0;
	k = b[0] == '-';
	*integral = b[k] && strspn(b + k, "0123456789") == n - k;
	if (*integral) {
		if (!pm_parse_i64(b, i))
			return fail(ps, "an integer of 64 bits");
		*f = k && !*i ? -0.0 : (double)*i;
	} else if (!strcmp(b + k, "inf")) {
		*f = k ? -INFINITY : INFINITY;
	} else if (!strcmp(b, "nan")) {
		*f = NAN;
	} else if (!pm_parse_f64(b, f)) {
		return fail(ps, "a number");
	}
	ps->at += n;
	return PM_OK;
}

static PmStatus string(Parser *ps, const char **out)
{
	PmStr s = PM_STR_INIT;
	PmStatus st = PM_OK;

	ps->at++;
	while (!st && peek(ps) != '"') {
		int c = peek(ps);
		char hex[3] = { 0 };

		if (c <= 0 || s.len >= PM_MAX_PATTERN_STRING) {
			st = fail(ps, "the end of a string of at most 255 bytes");
			break;
		}
		ps->at++;
		if (c == '\\') {
			c = peek(ps);
			ps->at += c >= 0;
			if (c == 'x' && ps->end - ps->at >= 2 && isxdigit((unsigned char)ps->at[0]) &&
			    isxdigit((unsigned char)ps->at[1])) {
				memcpy(hex, ps->at, 2);
				c = (int)strtol(hex, NULL, 16);
				ps->at += 2;
			} else if (c == 'n' || c == 't' || c == 'r') {
				c = c == 'n' ? '\n' : c == 't' ? '\t' : '\r';
			} else if (c != '"' && c != '\\') {
				c = 0;
			}
			if (!c) {
				st = fail(ps, "one of the escapes \\\" \\\\ \\n \\t \\r \\xNN");
				break;
			}
		}
		pm_str_addc(&s, (char)c);
	}
	ps->at += !st;
	*out = pm_arena_strndup(ps->p->arena, s.s, s.len);
	pm_str_release(&s);
	return st;
}

/* "name=" has been seen: the value. */
static PmStatus attr_value(Parser *ps, PmPatternAttr *a)
{
	int64_t ints[PM_MAX_PATTERN_INTS], *copy;
	int integral = 1;
	PmStatus st;

	a->kind = PM_PATTR_INTS;
	if (peek(ps) == '"') {
		a->kind = PM_PATTR_STR;
		return string(ps, &a->s);
	}
	while (peek(ps) != '}') {
		if (a->n_ints == PM_MAX_PATTERN_INTS)
			return fail(ps, "at most 32 integers");
		if (a->n_ints && !take(ps, ","))
			return fail(ps, "',' or '}'");
		st = number(ps, &a->f, &ints[a->n_ints], &integral);
		if (st)
			return st;
		if (!integral) {
			if (a->n_ints)
				return fail(ps, "an integer");
			a->kind = PM_PATTR_FLOAT;
			return PM_OK;
		}
		a->n_ints++;
	}
	a->f = 0;
	copy = pm_arena_alloc(ps->p->arena, a->n_ints * sizeof *copy);
	if (a->n_ints)
		memcpy(copy, ints, a->n_ints * sizeof *copy);
	a->ints = copy;
	return PM_OK;
}

static PmStatus type_set(Parser *ps, PmPatMarks *m)
{
	uint32_t dtypes = 0, rank = 0;
	int has_rank = 0;
	PmStatus st;

	for (;;) {
		size_t n = ident(ps);
		int t = pm__type_from_word(ps->at, n);

		if (n == 2 && ps->at[0] == 'r' && isdigit((unsigned char)ps->at[1])) {
			ps->at++;
			has_rank = 1;
			st = small(ps, PM_MAX_RANK, &rank);
			if (st)
				return st;
			break;
		}
		if (n == 5 && !memcmp(ps->at, "float", 5))
			dtypes |= PM__TYPES_FLOAT;
		else if (n == 3 && !memcmp(ps->at, "num", 3))
			dtypes |= PM__TYPES_NUM;
		else if (n == 3 && !memcmp(ps->at, "int", 3))
			dtypes |= PM__TYPES_INT;
		else if (t >= 0)
			dtypes |= 1u << t;
		else
			return fail(ps, "an attribute, a mark (keep, ordered, anyattr), an element type or a "
					"rank such as r3");
		ps->at += n;
		if (!take(ps, "|") && !take(ps, ","))
			break;
	}
	return pm__marks_type(m, dtypes, has_rank ? (int32_t)rank : -1, ps->err);
}

/* One "{...}" behind a pattern. */
static PmStatus brace(Parser *ps, PmPatMarks *m)
{
	PmPatternAttr *a;
	uint32_t k;
	size_t n;
	PmStatus st = PM_OK;

	ps->at++;
	n = ident(ps);
	if (take(ps, "#")) {
		st = small(ps, PM_MAX_OPERANDS, &k);
		m->result = k;
	} else if (n && ps->at + n < ps->end && ps->at[n] == '=') {
		if (m->n_attr == PM_MAX_PATTERN_ATTRS)
			return fail(ps, "at most 16 attributes");
		a = &m->attr[m->n_attr];
		memset(a, 0, sizeof *a);
		st = name(ps, "a short attribute name", &a->name);
		ps->at++;
		if (!st)
			st = attr_value(ps, a);
		m->n_attr++;
	} else if (n == 4 && take(ps, "keep")) {
		m->flags |= PM_PF_KEEP;
	} else if (n == 7 && take(ps, "ordered")) {
		m->flags |= PM_PF_ORDERED;
	} else if (n == 7 && take(ps, "anyattr")) {
		m->flags |= PM_PF_ANYATTR;
	} else {
		st = type_set(ps, m);
	}
	if (!st && !take(ps, "}"))
		st = fail(ps, "'}'");
	return st;
}

static PmStatus pattern(Parser *ps, int depth, uint32_t *out);

/* Behind "(": operator or "|", operands, ")". */
static PmStatus list(Parser *ps, int depth, uint32_t *out)
{
	uint32_t in[PM_MAX_PATTERN_NODES], n = 0, id;
	const char *op = NULL;
	PmPatKind kind = PM_PK_ALT;
	PmStatus st = PM_OK;
	PmPatternNode *node;

	skip(ps);
	if (!take(ps, "|")) {
		st = name(ps, "an operator name or '|'", &op);
		kind = take(ps, "?") ? PM_PK_OPT : PM_PK_OP;
	}
	if (!st)
		st = pm__pattern_add(ps->p, kind, &id, ps->err);
	if (st)
		return st;
	for (skip(ps); !st && peek(ps) != ')'; skip(ps)) {
		if (n == PM_MAX_PATTERN_NODES)
			return fail(ps, "at most 64 operands");
		st = pattern(ps, depth + 1, &in[n]);
		n += !st;
	}
	if (st)
		return st;
	ps->at++;
	if (!n || (kind == PM_PK_OPT && n != 1))
		return fail(ps,
			    kind == PM_PK_OPT ? "exactly one operand before this" : "an operand before this");
	node = &ps->p->node[id];
	node->op_name = op;
	node->op = op ? pm_op_from_name(op) : PM_OP_NONE;
	node->in = pm_arena_alloc(ps->p->arena, n * sizeof *in);
	memcpy(node->in, in, n * sizeof *in);
	node->n_in = n;
	*out = id;
	return PM_OK;
}

static PmStatus core(Parser *ps, int depth, PmPatMarks *m, uint32_t *out)
{
	uint32_t slot;
	int integral;
	int64_t i;
	double f;
	PmStatus st;

	if (take(ps, "?")) {
		st = small(ps, PM_MAX_SLOTS - 1, &slot);
		if (st)
			return st;
		if (!take(ps, ":")) {
			st = pm__pattern_add(ps->p, PM_PK_VAR, out, ps->err);
			if (!st)
				ps->p->node[*out].slot = (int32_t)slot;
			return st;
		}
		m->slot = (int32_t)slot;
	}
	if (take(ps, "("))
		return list(ps, depth, out);
	if (take(ps, "..."))
		return pm__pattern_add(ps->p, PM_PK_REST, out, ps->err);
	if (take(ps, "_"))
		return pm__pattern_add(ps->p, PM_PK_ANY, out, ps->err);
	st = !one_of(peek(ps), "-0123456789in") ? fail(ps, "a pattern") : number(ps, &f, &i, &integral);
	if (!st)
		st = pm__pattern_add(ps->p, PM_PK_NUM, out, ps->err);
	if (!st)
		ps->p->node[*out].num = f;
	return st;
}

static PmStatus pattern(Parser *ps, int depth, uint32_t *out)
{
	PmPatMarks m;
	PmStatus st;

	if (depth > PM_MAX_PATTERN_DEPTH)
		return pm_err(ps->err, PM_E_LIMIT, "The pattern is nested deeper than %d.",
			      PM_MAX_PATTERN_DEPTH);
	pm__marks_init(&m);
	skip(ps);
	st = core(ps, depth, &m, out);
	while (!st && peek(ps) == '{')
		st = brace(ps, &m);
	return st ? st : pm__pattern_mark(ps->p, *out, &m, ps->err);
}

PmStatus pm_pattern_parse(const char *text, size_t n, PmPattern **out, PmErr *err)
{
	Parser ps = { text, text, text + n, pm__pattern_new(), err };
	uint32_t root;
	PmStatus st = pattern(&ps, 0, &root);

	skip(&ps);
	if (!st && ps.at != ps.end)
		st = fail(&ps, "the end of the pattern");
	if (!st)
		st = pm__pattern_finish(ps.p, err);
	if (st) {
		pm_pattern_free(ps.p);
		return st;
	}
	*out = ps.p;
	return PM_OK;
}
