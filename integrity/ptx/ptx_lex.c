/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_lex.c - PTX to tokens. Comments are skipped; nothing is interpreted. */
#include "integrity/ptx/ptx_lex.h"

#include <ctype.h>
#include <string.h>

static int word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       c == '$' || c == '%' || c == '.';
}

static void skip_to(PmPtxLexer *l, const char *to)
{
	for (; l->at < to; l->at++)
		l->line += *l->at == '\n';
}

/* Spaces and comments. Returns 0 on a comment without an end. */
static int skip_space(PmPtxLexer *l)
{
	while (l->at < l->end) {
		const char *p = l->at;

		if (isspace((unsigned char)*p)) {
			skip_to(l, p + 1);
		} else if (l->end - p >= 2 && p[0] == '/' && p[1] == '/') {
			const char *nl = memchr(p, '\n', (size_t)(l->end - p));

			skip_to(l, nl ? nl : l->end);
		} else if (l->end - p >= 2 && p[0] == '/' && p[1] == '*') {
			const char *q = p + 2;

			while (l->end - q >= 2 && !(q[0] == '*' && q[1] == '/'))
				q++;
			if (l->end - q < 2)
				return 0;
			skip_to(l, q + 2);
		} else {
			break;
		}
	}
	return 1;
}

static PmPtxToken take(PmPtxLexer *l, PmPtxKind_ kind, const char *to)
{
	PmPtxToken t = { kind, l->at, (size_t)(to - l->at) };

	skip_to(l, to);
	return t;
}

PmPtxToken pm__ptx_next(PmPtxLexer *l)
{
	const char *q;

	if (!skip_space(l))
		return take(l, PM__PTX_BAD, l->end);
	if (l->at == l->end)
		return take(l, PM__PTX_END, l->at);
	q = l->at;
	if (*q == '"') {
		for (q++; q < l->end && *q != '"' && *q != '\n'; q++)
			if (*q == '\\' && q + 1 < l->end)
				q++;
		return q < l->end && *q == '"' ? take(l, PM__PTX_STRING, q + 1)
					       : take(l, PM__PTX_BAD, l->end);
	}
	if (word_char(*q)) {
		/* "::" belongs to the word (L2::evict_last), a single ':' after it ends a label. */
		while (q < l->end &&
		       (word_char(*q) || (l->end - q >= 3 && q[0] == ':' && q[1] == ':' && word_char(q[2]))))
			q += *q == ':' ? 2 : 1;
		return take(l, PM__PTX_WORD, q);
	}
	return strchr("{}()[]<>,;:@!=+-*|&^~?/#", *q) && *q ? take(l, PM__PTX_PUNCT, q + 1)
							    : take(l, PM__PTX_BAD, l->end);
}

int pm__ptx_is(PmPtxToken t, const char *text)
{
	return t.n == strlen(text) && !memcmp(t.p, text, t.n);
}

int pm__ptx_begins(PmPtxToken t, const char *text)
{
	size_t n = strlen(text);

	return t.n >= n && !memcmp(t.p, text, n);
}

int pm__ptx_has_part(PmPtxToken t, const char *part)
{
	size_t n = strlen(part), at = 0;

	while (at < t.n) {
		size_t len = 0;

		while (at + len < t.n && t.p[at + len] != '.')
			len++;
		if (len == n && !memcmp(t.p + at, part, n))
			return 1;
		at += len + 1;
	}
	return 0;
}
