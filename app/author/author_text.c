/* SPDX-License-Identifier: Apache-2.0 */
/* author_text.c - finds the texts of kernels in C files, by their tokens. */
#include "app/author/author_text.h"

#include "base/sys/io.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE = 4 << 20, MAX_DEPTH = 8, N_BEFORE = 8 };

typedef struct Token {
	char kind; /* 'a' identifier, '1' number, '"' string, '\'' character, 0 the end; else itself */
	const char *p;
	size_t n;
} Token;

typedef struct Lex {
	PmAuthor *out;
	const char *file, *p, *start;
	uint32_t line; /* of p */
	const char *line_start;
	Token before[N_BEFORE]; /* the last ones, the newest first */
} Lex;

static void step(Lex *x)
{
	if (*x->p++ == '\n') {
		x->line++;
		x->line_start = x->p;
	}
}

static void step_to(Lex *x, const char *p)
{
	while (x->p < p)
		step(x);
}

/* The end of a comment that begins at p; p when none does. */
static const char *skip_comment(const char *p)
{
	const char *end;

	if (p[0] == '/' && p[1] == '/') {
		for (; *p && *p != '\n'; p++)
			if (*p == '\\' && p[1] == '\n')
				p++;
		return p;
	}
	if (p[0] != '/' || p[1] != '*')
		return p;
	end = strstr(p + 2, "*/");
	return end ? end + 2 : p + strlen(p);
}

/* The end of a literal that begins with a quote at p. */
static const char *skip_quoted(const char *p)
{
	char quote = *p++;

	while (*p && *p != quote && *p != '\n')
		p += *p == '\\' && p[1] ? 2 : 1;
	return *p == quote ? p + 1 : p;
}

static const char *skip_blank(const char *p)
{
	for (;;) {
		const char *q = p;

		while (isspace((unsigned char)*q) || (*q == '\\' && q[1] == '\n'))
			q++;
		q = skip_comment(q);
		if (q == p)
			return p;
		p = q;
	}
}

static const char *skip_word(const char *p)
{
	while (isalnum((unsigned char)*p) || *p == '_')
		p++;
	return p;
}

/* The token at x->p, which stays there. */
static Token look(const Lex *x)
{
	const char *p = skip_blank(x->p);
	Token t = { *p, p, *p != 0 };

	if (isalpha((unsigned char)*p) || *p == '_')
		t.kind = 'a', t.n = (size_t)(skip_word(p) - p);
	else if (isdigit((unsigned char)*p))
		t.kind = '1', t.n = (size_t)(skip_word(p) - p);
	else if (*p == '"' || *p == '\'')
		t.n = (size_t)(skip_quoted(p) - p);
	return t;
}

static int is(const Token *t, const char *word)
{
	return t->n == strlen(word) && !memcmp(t->p, word, t->n);
}

static Token take(Lex *x)
{
	Token t = look(x);

	step_to(x, t.p + t.n);
	memmove(x->before + 1, x->before, sizeof x->before - sizeof x->before[0]);
	x->before[0] = t;
	return t;
}

static char *dup_token(const Token *t)
{
	PmStr s = PM_STR_INIT;

	pm_str_addn(&s, t->p, t->n);
	return pm_str_detach(&s, NULL);
}

/* ---- a text ---- */

static void add_byte(PmAuthorText *t, char c, uint32_t line, size_t column)
{
	PM_VEC_PUSH(&t->at, ((PmAuthorAt){ line, (uint32_t)column }));
	pm_str_addc(&t->text, c);
}

static int digit_of(int c, int base)
{
	int d = isdigit(c) ? c - '0' : isxdigit(c) ? tolower(c) - 'a' + 10 : base;

	return d < base ? d : -1;
}

/* The character of an escape behind the backslash. */
static char unescape(const char **p)
{
	static const char from[] = "ntrvfab", to[] = "\n\t\r\v\f\a\b";
	const char *at = strchr(from, **p);
	int base = **p == 'x' ? 16 : 8, v = 0, n = 0;

	if (at && *at) {
		++*p;
		return to[at - from];
	}
	if (**p != 'x' && digit_of((unsigned char)**p, 8) < 0)
		return *(*p)++;
	for (*p += base == 16; digit_of((unsigned char)**p, base) >= 0 && (base == 16 || n < 3); n++, ++*p)
		v = (v * base + digit_of((unsigned char)**p, base)) & 0xff;
	return (char)v;
}

/* The string that x->p stands at. */
static void add_literal(Lex *x, PmAuthorText *t)
{
	const char *end = skip_quoted(x->p), *p = x->p + 1;

	while (p < end - 1) {
		size_t column = (size_t)(p - x->line_start) + 1;
		char c = *p++;

		if (c == '\\' && *p == '\n') {
			p++;
			step_to(x, p);
			continue;
		}
		if (c == '\\')
			c = unescape(&p);
		add_byte(t, c, x->line, column);
		pm_str_addc(&t->held, c);
	}
	step_to(x, end);
}

/* What stands between the parentheses, x->p behind the first: as it is in `text`, and in `held` as # of the
 * preprocessor gives it, where blanks and comments become one blank. */
static void add_stringized(Lex *x, PmAuthorText *t)
{
	const char *begin = skip_blank(x->p), *next;
	size_t from = t->held.len;
	int depth = 1;

	while (*x->p) {
		next = skip_blank(x->p);
		if (next > x->p) {
			if (x->p > begin)
				pm_str_addc(&t->held, ' ');
		} else {
			depth += *x->p == '(' ? 1 : *x->p == ')' ? -1 : 0;
			if (!depth)
				break;
			next = *x->p == '"' || *x->p == '\'' ? skip_quoted(x->p) : x->p + 1;
			pm_str_addn(&t->held, x->p, (size_t)(next - x->p));
		}
		for (; x->p < next; step(x))
			add_byte(t, *x->p, x->line, (size_t)(x->p - x->line_start) + 1);
	}
	while (t->held.len > from && t->held.s[t->held.len - 1] == ' ')
		t->held.s[--t->held.len] = 0;
	if (*x->p)
		step(x);
}

/* `.source = TEXT`, `NAME[] = TEXT` or `*NAME = TEXT`, by the tokens before it. */
static void name_text(const Lex *x, PmAuthorText *t)
{
	const Token *b = x->before;
	size_t i = 1;

	if (b[0].kind == 'a' && !is(&b[0], "return"))
		t->joined = 1;
	if (b[0].kind != '=')
		return;
	if (b[i].kind == ']') /* NAME[], NAME[N] */
		i += b[i + 1].kind == '[' ? 2 : 3;
	if (i + 1 >= N_BEFORE || b[i].kind != 'a')
		return;
	if (is(&b[i], "source"))
		t->whole = b[i + 1].kind == '.' || b[i + 1].kind == '>';
	else
		t->name = dup_token(&b[i]);
}

static void text_release(PmAuthorText *t)
{
	pm_str_release(&t->text);
	pm_str_release(&t->held);
	PM_VEC_RELEASE(&t->at);
	free(t->file);
	free(t->name);
}

static int is_text(const Lex *x, const Token *t)
{
	Lex ahead = *x;

	if (t->kind == '"')
		return 1;
	if (!is(t, "PM_CUDA"))
		return 0;
	ahead.p = t->p + t->n;
	return look(&ahead).kind == '(';
}

/* The text whose first token comes next. */
static void read_text(Lex *x)
{
	PmAuthorText t = { .file = pm_xstrdup(x->file), .text = PM_STR_INIT, .held = PM_STR_INIT };
	Token next;

	name_text(x, &t);
	while ((next = look(x)).kind && is_text(x, &next)) {
		step_to(x, next.p);
		if (next.kind == '"') {
			add_literal(x, &t);
		} else {
			step_to(x, next.p + next.n);
			next = look(x);
			step_to(x, next.p + next.n);
			add_stringized(x, &t);
		}
	}
	t.joined |= next.kind == 'a';
	memset(x->before, 0, sizeof x->before);
	if (pm_author_has_word(t.text.s, "__global__"))
		PM_VEC_PUSH(&x->out->text, t);
	else
		text_release(&t);
}

/* ---- other words ---- */

/* Behind `.source =`: the names in the expression. */
static void read_source(Lex *x)
{
	int depth = 0;
	Token t;

	while ((t = look(x)).kind) {
		if (is_text(x, &t))
			return;
		depth += strchr("([{", t.kind) ? 1 : strchr(")]}", t.kind) ? -1 : 0;
		if (depth < 0 || (!depth && (t.kind == ',' || t.kind == ';')))
			return;
		if (t.kind == 'a')
			PM_VEC_PUSH(&x->out->source, dup_token(&t));
		take(x);
	}
}

/* DEF(NAME, x) */
static void read_def(Lex *x)
{
	PmAuthorDef d = { 0 };
	Token name, value;
	char *text;

	if (take(x).kind != '(' || (name = take(x)).kind != 'a' || take(x).kind != ',')
		return;
	value = take(x);
	d.name = dup_token(&name);
	text = dup_token(&value);
	d.known = value.kind == '1' && look(x).kind == ')' && pm_parse_i64(text, &d.value);
	free(text);
	PM_VEC_PUSH(&x->out->def, d);
}

static PmStatus read_file(PmAuthor *a, const char *file, int depth, PmErr *err);

/* A .cu file is one text. build puts a line before it that names it. */
static PmStatus read_cu(PmAuthor *a, const char *file, PmErr *err)
{
	PmAuthorText t = { .file = pm_xstrdup(file), .text = PM_STR_INIT, .held = PM_STR_INIT };
	const char *base = pm_path_base(file);
	PmStr name = PM_STR_INIT, text = PM_STR_INIT;
	PmStatus st = pm_read_file(file, MAX_FILE, &text, err);
	uint32_t line = 1, column = 1;

	for (size_t i = 0; i < text.len; i++) {
		add_byte(&t, text.s[i], line, column++);
		if (text.s[i] == '\n')
			line++, column = 1;
	}
	pm_str_addf(&t.held, "#line 1 \"%s\"\n", base);
	pm_str_addn(&t.held, text.s, text.len);
	pm_str_addf(&name, "%.*s_cu", (int)(strlen(base) - strlen(".cu")), base);
	t.name = pm_str_detach(&name, NULL);
	if (!st && pm_author_has_word(t.text.s, "__global__"))
		PM_VEC_PUSH(&a->text, t);
	else
		text_release(&t);
	pm_str_release(&text);
	return st;
}

/* A directive at x->p, to the end of its line. */
static PmStatus read_directive(Lex *x, int depth, PmErr *err)
{
	const char *p = x->p + 1, *end = x->p;
	PmStr path = PM_STR_INIT;
	PmStatus st = PM_OK;

	while (*end && *end != '\n')
		end = *end == '\\' && end[1] == '\n' ? end + 2
		      : skip_comment(end) > end      ? skip_comment(end)
						     : end + 1;
	p += strspn(p, " \t");
	if (!strncmp(p, "include", 7) && *(p += 7 + strspn(p + 7, " \t")) == '"') {
		pm_str_addn(&path, x->file, (size_t)(pm_path_base(x->file) - x->file));
		pm_str_addn(&path, p + 1, strcspn(p + 1, "\"\n"));
		if (pm_str_ends(path.s, ".cu.h"))
			path.s[path.len -= strlen(".h")] = '\0';
		if (pm_path_exists(path.s) && depth < MAX_DEPTH)
			st = read_file(x->out, path.s, depth + 1, err);
	}
	step_to(x, end);
	pm_str_release(&path);
	return st;
}

static PmStatus read_tokens(Lex *x, int depth, PmErr *err)
{
	PmStatus st = PM_OK;
	Token t;

	while (!st && (t = look(x)).kind) {
		int first;
		const char *p = t.p;

		while (p > x->start && (p[-1] == ' ' || p[-1] == '\t'))
			p--;
		first = p == x->start || p[-1] == '\n';
		step_to(x, t.p);
		if (t.kind == '#' && first) {
			st = read_directive(x, depth, err);
		} else if (is_text(x, &t)) {
			read_text(x);
		} else {
			take(x);
			if (is(&t, "DEF") && look(x).kind == '(')
				read_def(x);
			else if (t.kind == '=' && is(&x->before[1], "source"))
				read_source(x);
		}
	}
	return st;
}

static PmStatus read_file(PmAuthor *a, const char *file, int depth, PmErr *err)
{
	PmStr text = PM_STR_INIT;
	Lex x = { .out = a, .file = file, .line = 1 };
	PmStatus st;

	for (size_t i = 0; i < a->file.n; i++)
		if (!strcmp(a->file.v[i], file))
			return PM_OK;
	PM_VEC_PUSH(&a->file, pm_xstrdup(file));
	if (pm_str_ends(file, ".cu"))
		return read_cu(a, file, err);
	st = pm_read_file(file, MAX_FILE, &text, err);
	x.p = x.start = x.line_start = text.s;
	if (!st)
		st = read_tokens(&x, depth, err);
	pm_str_release(&text);
	return st;
}

PmStatus pm_author_read(const char *path, PmAuthor *out, PmErr *err)
{
	PmNames names = { 0 };
	PmStatus st;

	if (pm_path_is_dir(path)) {
		st = pm_list_dir(path, &names, err);
		for (size_t i = 0; i < names.n && !st; i++) {
			PmStr file = PM_STR_INIT;

			pm_path_join(path, names.v[i], &file);
			if (pm_str_ends(file.s, ".c"))
				st = read_file(out, file.s, 0, err);
			pm_str_release(&file);
		}
		pm_names_release(&names);
	} else {
		st = read_file(out, path, 0, err);
	}
	for (size_t i = 0; i < out->text.n; i++)
		for (size_t k = 0; k < out->source.n; k++)
			out->text.v[i].whole |= pm_str_eq(out->text.v[i].name, out->source.v[k]);
	return st;
}

void pm_author_release(PmAuthor *a)
{
	for (size_t i = 0; i < a->text.n; i++)
		text_release(&a->text.v[i]);
	for (size_t i = 0; i < a->def.n; i++)
		free(a->def.v[i].name);
	for (size_t i = 0; i < a->source.n; i++)
		free(a->source.v[i]);
	for (size_t i = 0; i < a->file.n; i++)
		free(a->file.v[i]);
	PM_VEC_RELEASE(&a->text);
	PM_VEC_RELEASE(&a->def);
	PM_VEC_RELEASE(&a->source);
	PM_VEC_RELEASE(&a->file);
}

int pm_author_has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = text; (p = strstr(p, word)) != NULL; p += n)
		if ((p == text || (!isalnum((unsigned char)p[-1]) && p[-1] != '_')) &&
		    skip_word(p + n) == p + n)
			return 1;
	return 0;
}

int pm_author_sets(const char *text, const char *word)
{
	Lex x = { .p = text, .start = text, .line_start = text };
	Token t;

	while ((t = take(&x)).kind) {
		Token next = look(&x);

		if (t.kind == 'a' && is(&t, word) && next.kind == '=' && next.p[1] != '=')
			return 1;
	}
	return 0;
}
