/* SPDX-License-Identifier: Apache-2.0 */
/* parse_lex.c - tokens of the text form, their positions, and the errors that name them. */
#include "ir/text/parse_priv.h"

#include "base/core/str.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static void skip_blank(PmLex *lx)
{
	for (; lx->p < lx->end; lx->p++) {
		if (*lx->p == '#') {
			const char *nl = memchr(lx->p, '\n', (size_t)(lx->end - lx->p));

			lx->p = nl ? nl : lx->end;
			if (!nl)
				return;
		}
		if (*lx->p == '\n') {
			lx->line++;
			lx->line_start = lx->p + 1;
		} else if (*lx->p != ' ' && *lx->p != '\t' && *lx->p != '\r') {
			return;
		}
	}
}

static void bad(PmLex *lx, const char *why)
{
	lx->tok.kind = PM_TOK_BAD;
	lx->bad = why;
}

/* The current byte is the opening quote. */
static void lex_string(PmLex *lx)
{
	const char *p = lx->p + 1;

	lx->tok.kind = PM_TOK_STR;
	lx->tok.p = p;
	for (; p < lx->end && *p != '"'; p++) {
		if (*p == '\n') {
			lx->line++;
			lx->line_start = p + 1;
		}
		if (*p != '\\')
			continue;
		p++;
		if (p < lx->end && *p == 'x' && lx->end - p > 2 && hex_value(p[1]) >= 0 &&
		    hex_value(p[2]) >= 0)
			p += 2;
		else if (p >= lx->end || !strchr("\"\\ntr'", *p) || !*p) {
			bad(lx, "a string with an escape other than \\\" \\\\ \\n \\t \\r \\xNN");
			lx->p = lx->end;
			return;
		}
	}
	lx->tok.n = (size_t)(p - lx->tok.p);
	if (p >= lx->end)
		bad(lx, "a string without a closing quote");
	else if (lx->tok.n > PM_TEXT_MAX_STRING)
		bad(lx, "a string of more than 64 MiB");
	lx->p = p < lx->end ? p + 1 : lx->end;
}

static int word_at(const PmLex *lx, const char *p, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(lx->end - p) >= n && memcmp(p, word, n) == 0 &&
	       ((size_t)(lx->end - p) == n || (!is_word(p[n]) && !is_digit(p[n])));
}

/* A number: sign, digits, fraction, exponent, or a signed inf. */
static void lex_number(PmLex *lx)
{
	const char *p = lx->p, *digits;

	lx->tok.kind = PM_TOK_INT;
	if (*p == '-' || *p == '+')
		p++;
	if (word_at(lx, p, "inf")) {
		lx->tok.kind = PM_TOK_FLOAT;
		p += 3;
	} else {
		digits = p;
		while (p < lx->end && is_digit(*p))
			p++;
		if (p < lx->end && *p == '.') {
			lx->tok.kind = PM_TOK_FLOAT;
			digits++;
			for (p++; p < lx->end && is_digit(*p); p++)
				;
		}
		if (p == digits)
			bad(lx, "a sign or point without a number");
		else if (p < lx->end && (*p == 'e' || *p == 'E')) {
			lx->tok.kind = PM_TOK_FLOAT;
			p++;
			if (p < lx->end && (*p == '-' || *p == '+'))
				p++;
			if (p >= lx->end || !is_digit(*p))
				bad(lx, "a number with an empty exponent");
			while (p < lx->end && is_digit(*p))
				p++;
		}
		if (p < lx->end && is_word(*p))
			bad(lx, "a number with letters after it");
	}
	lx->tok.n = (size_t)(p - lx->p);
	if (lx->tok.n > PM_TEXT_MAX_NUMBER)
		bad(lx, "a number of more than 400 characters");
	lx->p = p;
}

void pm__text_lex_next(PmLex *lx)
{
	PmTok *t = &lx->tok;
	char c;

	skip_blank(lx);
	t->p = lx->p;
	t->n = 0;
	t->line = lx->line;
	t->col = (uint32_t)(lx->p - lx->line_start) + 1;
	if (lx->p >= lx->end) {
		t->kind = PM_TOK_END;
		return;
	}
	c = *lx->p;
	if (is_word(c)) {
		t->kind = PM_TOK_ID;
		while (lx->p < lx->end && (is_word(*lx->p) || is_digit(*lx->p)))
			lx->p++;
		t->n = (size_t)(lx->p - t->p);
	} else if (c == '"') {
		lex_string(lx);
	} else if (is_digit(c) || c == '-' || c == '+' ||
		   (c == '.' && lx->end - lx->p > 1 && is_digit(lx->p[1]))) {
		lex_number(lx);
	} else {
		t->n = 1;
		if (c == '=' && lx->end - lx->p > 1 && lx->p[1] == '>') {
			t->kind = PM_TOK_ARROW;
			t->n = 2;
		} else if (c && strchr("()[]{}<>=,:.?@", c)) {
			t->kind = (unsigned char)c;
		} else {
			bad(lx, "a byte that no token starts with");
		}
		lx->p += t->n;
	}
}

void pm__text_lex_start(PmLex *lx, const char *text, size_t n)
{
	memset(lx, 0, sizeof *lx);
	lx->p = lx->line_start = text;
	lx->end = text + n;
	lx->line = 1;
	pm__text_lex_next(lx);
}

int pm__text_lex_peek(const PmLex *lx)
{
	PmLex ahead = *lx;

	pm__text_lex_next(&ahead);
	return ahead.tok.kind;
}

PmStatus pm__text_fail(PmParser *ps, const PmTok *at, PmStatus code, const char *fmt, ...)
{
	char text[PM_ERR_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return pm_err(ps->err, code, "line %u, column %u: %s", at->line, at->col, text);
}

PmStatus pm__text_expected(PmParser *ps, const char *what)
{
	const PmTok *t = &ps->lex.tok;
	char shown[4 * 40 + 8];
	size_t i, k = 0;

	if (t->kind == PM_TOK_END)
		return pm__text_fail(ps, t, PM_E_INVALID, "expected %s, found the end of the text", what);
	if (t->kind == PM_TOK_BAD && t->n != 1)
		return pm__text_fail(ps, t, PM_E_INVALID, "expected %s, found %s", what, ps->lex.bad);
	for (i = 0; i < t->n && i < 40; i++) {
		unsigned char c = (unsigned char)t->p[i];

		if (c >= 0x20 && c < 0x7f)
			shown[k++] = (char)c;
		else
			k += (size_t)snprintf(shown + k, 5, "\\x%02x", c);
	}
	strcpy(shown + k, i < t->n ? "..." : "");
	if (t->kind == PM_TOK_STR)
		return pm__text_fail(ps, t, PM_E_INVALID, "expected %s, found \"%s\"", what, shown);
	return pm__text_fail(ps, t, PM_E_INVALID, "expected %s, found '%s'", what, shown);
}

PmStatus pm__text_want(PmParser *ps, int kind, const char *what)
{
	if (ps->lex.tok.kind != kind)
		return pm__text_expected(ps, what);
	pm__text_lex_next(&ps->lex);
	return PM_OK;
}

int pm__text_accept(PmParser *ps, int kind)
{
	if (ps->lex.tok.kind != kind)
		return 0;
	pm__text_lex_next(&ps->lex);
	return 1;
}

int pm__text_tok_is(const PmTok *t, const char *word)
{
	return t->kind == PM_TOK_ID && strlen(word) == t->n && memcmp(t->p, word, t->n) == 0;
}

PmStatus pm__text_string(PmParser *ps, const PmTok *t, const char **out, size_t *n)
{
	char *s = pm_arena_alloc(ps->tmp, t->n + 1);
	size_t i, k = 0;

	if (!s)
		return pm__text_fail(ps, t, PM_E_LIMIT,
				     "the strings of the text take more memory than it may use");
	for (i = 0; i < t->n; i++) {
		char c = t->p[i];

		if (c == '\\') {
			c = t->p[++i];
			if (c == 'x') {
				c = (char)(hex_value(t->p[i + 1]) * 16 + hex_value(t->p[i + 2]));
				i += 2;
			} else {
				c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
			}
		}
		s[k++] = c;
	}
	*out = s;
	*n = k;
	return PM_OK;
}

PmStatus pm__text_name(PmParser *ps, const char *what, int empty_ok, const char **out)
{
	PmTok t = ps->lex.tok;
	size_t n = t.n;

	if (t.kind == PM_TOK_STR) {
		PmStatus st = pm__text_string(ps, &t, out, &n);

		if (st != PM_OK)
			return st;
	} else if (t.kind == PM_TOK_ID) {
		*out = pm_arena_strndup(ps->tmp, t.p, t.n);
		if (!*out)
			return pm__text_fail(ps, &t, PM_E_LIMIT,
					     "the names of the text take more memory than it may use");
	} else {
		return pm__text_expected(ps, what);
	}
	if (strlen(*out) != n)
		return pm__text_fail(ps, &t, PM_E_INVALID, "expected %s, found one with a zero byte in it",
				     what);
	if (n > PM_MAX_NAME)
		return pm__text_fail(ps, &t, PM_E_LIMIT, "expected %s, found one of more than %d bytes", what,
				     (int)PM_MAX_NAME);
	if (n == 0 && !empty_ok)
		return pm__text_fail(ps, &t, PM_E_INVALID, "expected %s, found an empty one", what);
	pm__text_lex_next(&ps->lex);
	return PM_OK;
}

PmStatus pm__text_value(PmParser *ps, const char *what, const char **out)
{
	PmTok t = ps->lex.tok;
	size_t n;
	PmStatus st;

	if (t.kind != PM_TOK_STR)
		return pm__text_expected(ps, what);
	st = pm__text_string(ps, &t, out, &n);
	if (st == PM_OK && strlen(*out) != n)
		st = pm__text_fail(ps, &t, PM_E_INVALID, "expected %s, found one with a zero byte in it",
				   what);
	if (st == PM_OK)
		pm__text_lex_next(&ps->lex);
	return st;
}

/* The token as a terminated string; numbers are at most PM_TEXT_MAX_NUMBER long. */
static void number_text(const PmTok *t, char buf[PM_TEXT_MAX_NUMBER + 1])
{
	memcpy(buf, t->p, t->n);
	buf[t->n] = '\0';
}

PmStatus pm__text_int(PmParser *ps, const char *what, int64_t *out)
{
	PmTok t = ps->lex.tok;
	char buf[PM_TEXT_MAX_NUMBER + 1];
	long long v;

	if (t.kind != PM_TOK_INT)
		return pm__text_expected(ps, what);
	number_text(&t, buf);
	errno = 0;
	v = strtoll(buf, NULL, 10);
	if (errno == ERANGE)
		return pm__text_fail(ps, &t, PM_E_LIMIT,
				     "expected %s, found an integer that does not fit in 64 bits", what);
	*out = v;
	pm__text_lex_next(&ps->lex);
	return PM_OK;
}

PmStatus pm__text_uint(PmParser *ps, const char *what, int64_t *out)
{
	PmTok t = ps->lex.tok;
	char buf[PM_TEXT_MAX_NUMBER + 1];

	if (t.kind != PM_TOK_INT)
		return pm__text_expected(ps, what);
	number_text(&t, buf);
	errno = 0;
	*out = (int64_t)strtoull(buf, NULL, 10);
	if (errno == ERANGE || (*buf == '-' && *out))
		return pm__text_fail(ps, &t, PM_E_LIMIT, "%s does not fit in uint64", buf);
	pm__text_lex_next(&ps->lex);
	return PM_OK;
}

int pm__text_at_number(const PmParser *ps)
{
	const PmTok *t = &ps->lex.tok;

	return t->kind == PM_TOK_INT || t->kind == PM_TOK_FLOAT || pm__text_tok_is(t, "inf") ||
	       pm__text_tok_is(t, "nan");
}

PmStatus pm__text_float(PmParser *ps, const char *what, int single, double *out)
{
	PmTok t = ps->lex.tok;
	char buf[PM_TEXT_MAX_NUMBER + 1];

	if (!pm__text_at_number(ps))
		return pm__text_expected(ps, what);
	number_text(&t, buf);
	/* strtof rounds once; going through a double would round twice. */
	*out = single ? (double)strtof(buf, NULL) : strtod(buf, NULL);
	if (isinf(*out) && !strchr(buf, 'n'))
		return pm__text_fail(ps, &t, PM_E_LIMIT, "%s is too large for %s; write inf for an infinity",
				     buf, single ? "float" : "double");
	pm__text_lex_next(&ps->lex);
	return PM_OK;
}
