/* SPDX-License-Identifier: Apache-2.0 */
/* code.c - tokens of C++ and CUDA, as far as a reader's eye needs them. */
#include "draw/html/code.h"

#include <string.h>

enum { LINE_BYTES = 400 };

static const char *const keywords[] = {
	"alignas",       "asm",         "auto",      "bool",     "break",
	"case",          "char",        "class",     "const",    "continue",
	"constexpr",     "default",     "delete",    "do",       "double",
	"else",          "enum",        "extern",    "false",    "float",
	"for",           "goto",        "half",      "if",       "inline",
	"int",           "long",        "namespace", "new",      "nullptr",
	"operator",      "private",     "public",    "register", "restrict",
	"return",        "short",       "signed",    "sizeof",   "static",
	"static_assert", "static_cast", "struct",    "switch",   "template",
	"true",          "typedef",     "typename",  "union",    "unsigned",
	"using",         "void",        "volatile",  "while",    "reinterpret_cast"
};

static const char *const cuda_words[] = { "blockDim", "blockIdx", "gridDim", "threadIdx", "warpSize" };

static int is_word_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int is_word(char c)
{
	return is_word_start(c) || is_digit(c);
}

static int is_in(const char *const *list, size_t n, const char *s, size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(list[i]) == len && !memcmp(list[i], s, len))
			return 1;
	return 0;
}

#define IS_IN(list, s, len) is_in(list, sizeof(list) / sizeof *(list), s, len)

/* Up to the end of a line that no backslash goes on. */
static size_t to_line_end(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && (s[i] != '\n' || (i && s[i - 1] == '\\')))
		i++;
	return i;
}

static size_t to_comment_end(const char *s, size_t n)
{
	for (size_t i = 2; i + 1 < n; i++)
		if (s[i] == '*' && s[i + 1] == '/')
			return i + 2;
	return n;
}

/* A string or character; one that is not closed ends with its line. */
static size_t quoted(const char *s, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (s[i] == '\\' && i + 1 < n)
			i++;
		else if (s[i] == s[0])
			return i + 1;
		else if (s[i] == '\n')
			return i;
	}
	return n;
}

/* R"x( ... )x"; 0 when it is none. */
static size_t raw_string(const char *s, size_t n)
{
	size_t d = 2;

	if (n < 3 || s[0] != 'R' || s[1] != '"')
		return 0;
	while (d < n && d < 18 && s[d] != '(' && s[d] != '\n' && s[d] != '"')
		d++;
	if (d >= n || s[d] != '(')
		return 0;
	for (size_t i = d + 1; i + d - 1 < n; i++)
		if (s[i] == ')' && !memcmp(s + i + 1, s + 2, d - 2) && s[i + d - 1] == '"')
			return i + d;
	return n;
}

/* As the preprocessor reads numbers: 0x1p-3f, 1'000, .5e+2. */
static size_t number(const char *s, size_t n)
{
	size_t i = 1;

	while (i < n) {
		if ((s[i] == '+' || s[i] == '-') && strchr("eEpP", s[i - 1]))
			i++;
		else if (is_word(s[i]) || s[i] == '.')
			i++;
		else if (s[i] == '\'' && i + 1 < n && is_word(s[i + 1]))
			i += 2;
		else
			break;
	}
	return i;
}

/* Only blanks stand before it in its line. */
static int begins_line(const char *text, size_t at)
{
	while (at && (text[at - 1] == ' ' || text[at - 1] == '\t'))
		at--;
	return !at || text[at - 1] == '\n';
}

static PmCodeKind word_kind(const char *s, size_t len)
{
	if (IS_IN(keywords, s, len))
		return PM_CODE_KEYWORD;
	if (IS_IN(cuda_words, s, len) || (len > 4 && s[0] == '_' && s[1] == '_'))
		return PM_CODE_CUDA; /* __global__, __shared__, __syncthreads, __expf */
	return PM_CODE_PLAIN;
}

PmCodeKind pm_code_token(const char *text, size_t n, size_t at, size_t *len)
{
	const char *s = text + at;
	size_t left = n - at, i = 1;

	*len = 1;
	if (left > 1 && s[0] == '/' && (s[1] == '/' || s[1] == '*')) {
		*len = s[1] == '/' ? to_line_end(s, left) : to_comment_end(s, left);
		return PM_CODE_COMMENT;
	}
	if ((*len = raw_string(s, left)) != 0)
		return PM_CODE_STRING;
	*len = 1;
	if (*s == '"' || *s == '\'') {
		*len = quoted(s, left);
		return PM_CODE_STRING;
	}
	if (is_digit(*s) || (*s == '.' && left > 1 && is_digit(s[1]))) {
		*len = number(s, left);
		return PM_CODE_NUMBER;
	}
	if (is_word_start(*s)) {
		while (i < left && is_word(s[i]))
			i++;
		*len = i;
		return word_kind(s, i);
	}
	if (*s != '#' || !begins_line(text, at))
		return PM_CODE_PLAIN;
	while (i < left && (s[i] == ' ' || s[i] == '\t'))
		i++;
	while (i < left && is_word(s[i]))
		i++;
	*len = i;
	return PM_CODE_DIRECTIVE;
}

/* ---- on a page ---- */

/* What is shown of a text: whole lines. */
static size_t whole_lines(const char *text, size_t most)
{
	size_t n = strlen(text), i = most;

	if (n <= most)
		return n;
	while (i && text[i - 1] != '\n')
		i--;
	return i ? i : most; /* one line that is longer than all */
}

/* What of a piece stands in the first LINE_BYTES of its lines; *column is where it begins in its line. */
static void put_piece(PmHtml *h, const char *s, size_t n, size_t *column, PmStr *text)
{
	pm_str_clear(text);
	for (size_t i = 0; i < n; i++) {
		*column = s[i] == '\n' ? 0 : *column + 1;
		if (*column == LINE_BYTES + 1)
			pm_str_add(text, "...");
		else if (*column <= LINE_BYTES && s[i] == '\t')
			pm_str_add(text, "    "); /* a page takes one for a blank */
		else if (*column <= LINE_BYTES)
			pm_str_addc(text, s[i]);
	}
	pm_html_text(h, text->s);
}

/* All pieces of one kind in a row. */
static size_t take_same(const char *text, size_t n, size_t at, PmCodeKind *kind)
{
	size_t len, more;

	*kind = pm_code_token(text, n, at, &len);
	while (at + len < n && pm_code_token(text, n, at + len, &more) == *kind)
		len += more;
	return len;
}

size_t pm_code_put(PmHtml *h, const char *text, size_t most)
{
	static const char *const classes[] = { NULL, "com", "str", "num", "key", "dir", "cu" };
	size_t all = strlen(text), n = whole_lines(text, most), column = 0, len;
	PmStr piece = PM_STR_INIT;
	PmCodeKind kind;

	pm_html_el(h, PM_EL_pre);
	pm_html_at(h, PM_AT_class, "code");
	pm_html_at(h, PM_AT_tabindex, "0");
	pm_html_at(h, PM_AT_role, "region");
	pm_html_at(h, PM_AT_aria_label, "Source of a kernel");
	for (size_t at = 0; at < n; at += len) {
		len = take_same(text, n, at, &kind);
		if (kind != PM_CODE_PLAIN) {
			pm_html_el(h, PM_EL_span);
			pm_html_at(h, PM_AT_class, classes[kind]);
		}
		put_piece(h, text + at, len, &column, &piece);
		if (kind != PM_CODE_PLAIN)
			pm_html_end(h, PM_EL_span);
	}
	pm_html_end(h, PM_EL_pre);
	pm_str_release(&piece);
	return all - n;
}
