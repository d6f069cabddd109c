/* SPDX-License-Identifier: Apache-2.0 */
/* emu_scan.c - finds the kernels of a CUDA source and rewrites what a host compiler cannot take.
 *
 * One pass over the tokens. The only text that changes is the declaration of dynamic shared memory:
 *   extern __shared__ float s[];   becomes   float (*const &s) = *(float (*const *))&pm_emu_ctx.dyn;
 * which works inside a function and at file scope. Line breaks stay where they are.
 */
#include "runtime/emu/emu_priv.h"

#include <ctype.h>
#include <string.h>

typedef struct Lexer {
	const char *label, *s;
	size_t n, at;
	int line;
	int directive; /* inside a preprocessor line */
	int fresh;     /* nothing but blanks on this line so far */
} Lexer;

typedef struct Token {
	size_t from, to; /* bytes of the text */
	int line;
	int kind; /* 'a' a word, '0' a number, '"' a string, or the character itself; 0 at the end */
	int directive;
} Token;

static void step(Lexer *l)
{
	if (l->s[l->at] == '\n') {
		l->line++;
		l->fresh = 1;
		if (l->directive && !(l->at > 0 && l->s[l->at - 1] == '\\'))
			l->directive = 0;
	}
	l->at++;
}

static int peek(const Lexer *l, size_t ahead)
{
	return l->at + ahead < l->n ? (unsigned char)l->s[l->at + ahead] : 0;
}

static void skip_blanks(Lexer *l)
{
	while (l->at < l->n) {
		if (isspace(peek(l, 0)) || (peek(l, 0) == '\\' && peek(l, 1) == '\n')) {
			step(l);
		} else if (peek(l, 0) == '/' && peek(l, 1) == '/') {
			while (l->at < l->n && (peek(l, 0) != '\n' || l->s[l->at - 1] == '\\'))
				step(l);
		} else if (peek(l, 0) == '/' && peek(l, 1) == '*') {
			step(l);
			step(l);
			while (l->at < l->n && !(peek(l, 0) == '*' && peek(l, 1) == '/'))
				step(l);
			if (l->at < l->n) {
				step(l);
				step(l);
			}
		} else {
			return;
		}
	}
}

static void skip_quoted(Lexer *l, int quote)
{
	step(l);
	while (l->at < l->n && peek(l, 0) != quote && peek(l, 0) != '\n') {
		if (peek(l, 0) == '\\' && l->at + 1 < l->n)
			step(l);
		step(l);
	}
	if (l->at < l->n && peek(l, 0) == quote)
		step(l);
}

/* R"x( ... )x": at the opening quote. */
static void skip_raw(Lexer *l)
{
	size_t open = l->at + 1, len = 0;

	while (open + len < l->n && l->s[open + len] != '(' && len < 16)
		len++;
	while (l->at < l->n) {
		if (l->s[l->at] == ')' && l->at + len + 1 < l->n && l->s[l->at + len + 1] == '"' &&
		    memcmp(l->s + l->at + 1, l->s + open, len) == 0) {
			l->at += len + 2;
			return;
		}
		step(l);
	}
}

static int word_char(int c)
{
	return isalnum(c) || c == '_';
}

static Token next(Lexer *l)
{
	Token t = { 0 };

	skip_blanks(l);
	t.from = l->at;
	t.line = l->line;
	if (l->at < l->n) {
		int c = peek(l, 0);

		if (c == '#' && l->fresh)
			l->directive = 1;
		l->fresh = 0;
		t.directive = l->directive;
		t.kind = c;
		if (isalpha(c) || c == '_') {
			t.kind = 'a';
			while (word_char(peek(l, 0)))
				step(l);
			if (peek(l, 0) == '"' && l->at == t.from + 1 && c == 'R') {
				t.kind = '"';
				skip_raw(l);
			}
		} else if (isdigit(c)) {
			t.kind = '0';
			while (word_char(peek(l, 0)) || peek(l, 0) == '.' ||
			       (peek(l, 0) == '\'' && word_char(peek(l, 1))))
				step(l);
		} else if (c == '"' || c == '\'') {
			t.kind = '"';
			skip_quoted(l, c);
		} else {
			step(l);
		}
	}
	t.to = l->at;
	return t;
}

static int is(const Lexer *l, Token t, const char *word)
{
	return t.kind && t.to - t.from == strlen(word) && memcmp(l->s + t.from, word, t.to - t.from) == 0;
}

/* With '(' just read: reads to its ')', and gives the end of the first argument. */
static size_t skip_parens(Lexer *l)
{
	size_t end = 0;
	int depth = 1;

	while (depth) {
		Token t = next(l);

		if (!t.kind)
			return end ? end : t.from;
		if ((t.kind == ',' && depth == 1 && !end) || (t.kind == ')' && depth == 1 && !end))
			end = t.from;
		depth += t.kind == '(' ? 1 : t.kind == ')' ? -1 : 0;
	}
	return end;
}

/* --- extern __shared__ ------------------------------------------------------------------------------- */

static void add_line_breaks(PmStr *out, const char *s, size_t from, size_t to)
{
	for (; from < to; from++)
		if (s[from] == '\n')
			pm_str_addc(out, '\n');
}

/* After `extern __shared__`: rewrites to the ';' and returns 1, or leaves everything alone and returns 0. */
static int rewrite_dynamic(Lexer *l, size_t from, PmStr *out)
{
	PmStr type = PM_STR_INIT, dims = PM_STR_INIT;
	Token t, name = { 0 };
	int ok = 0;

	for (t = next(l); t.kind && t.kind != '[' && t.kind != ';'; t = next(l)) {
		if (is(l, t, "__align__") || is(l, t, "alignas") || is(l, t, "__attribute__")) {
			if (next(l).kind == '(')
				skip_parens(l);
			continue;
		}
		if (name.kind) {
			pm_str_addn(&type, l->s + name.from, name.to - name.from);
			/* Only words and numbers may not touch. */
			if (name.kind == 'a')
				pm_str_addc(&type, ' ');
		}
		name = t;
	}
	if (t.kind == '[' && name.kind == 'a' && type.len && next(l).kind == ']') {
		for (t = next(l); t.kind && t.kind != ';' && t.kind != ','; t = next(l)) {
			pm_str_addn(&dims, l->s + t.from, t.to - t.from);
			if (t.kind == 'a')
				pm_str_addc(&dims, ' ');
		}
		if (t.kind == ';') {
			pm_str_addf(out, "%s(*const &%.*s)%s = *(%s(*const *)%s)&pm_emu_ctx.dyn;", type.s,
				    (int)(name.to - name.from), l->s + name.from, dims.s, type.s, dims.s);
			add_line_breaks(out, l->s, from, l->at);
			ok = 1;
		}
	}
	pm_str_release(&type);
	pm_str_release(&dims);
	return ok;
}

/* --- __global__ --------------------------------------------------------------------------------------- */

static char *copy(const char *s, size_t from, size_t to)
{
	char *p = pm_xmalloc(to - from + 1);

	memcpy(p, s + from, to - from);
	p[to - from] = '\0';
	return p;
}

/* Reads on a copy of the lexer from behind __global__ to the name of the function. */
static void add_kernel(Lexer l, int c_linkage, PmEmuScan *out)
{
	PmEmuName k = { 0 };
	Token t, before = { 0 };
	size_t i;

	for (t = next(&l); t.kind && t.kind != ';' && t.kind != '{'; t = next(&l)) {
		if (t.kind != '(') {
			before = t;
			continue;
		}
		if (is(&l, before, "__launch_bounds__")) {
			size_t from = l.at, end = skip_parens(&l);

			if (!k.bounds && end > from)
				k.bounds = copy(l.s, from, end);
		} else if (is(&l, before, "__attribute__") || is(&l, before, "__maxnreg__") ||
			   is(&l, before, "__cluster_dims__")) {
			skip_parens(&l);
		} else {
			break;
		}
	}
	if (t.kind != '(' || before.kind != 'a') {
		free(k.bounds);
		return;
	}
	k.name = copy(l.s, before.from, before.to);
	k.c_linkage = c_linkage;
	for (i = 0; i < out->kernels.n; i++) {
		if (strcmp(out->kernels.v[i].name, k.name) == 0) {
			if (!out->kernels.v[i].bounds) {
				out->kernels.v[i].bounds = k.bounds;
				k.bounds = NULL;
			}
			out->kernels.v[i].c_linkage |= c_linkage;
			free(k.bounds);
			free(k.name);
			return;
		}
	}
	PM_VEC_PUSH(&out->kernels, k);
}

enum { MAX_IFS = 32 };

/* What is known about the declaration that is being read. */
typedef struct Decl {
	int in_extern, in_c, in_template; /* saw `extern`, `extern "C"`, `template` */
	int in_kernel;                    /* saw `__global__` */
	int depth, c_depth;               /* braces open; the depth at which extern "C" { opened, or -1 */
	int ifs, if_depth[MAX_IFS];       /* #if open; the depth at each */
	PmStr macros;                     /* " NAME OTHER ": names that are defined */
} Decl;

static void note_brace(Decl *d, int kind)
{
	if (kind == '{') {
		if (d->in_c && d->c_depth < 0)
			d->c_depth = d->depth;
		d->depth++;
	} else if (kind == '}') {
		d->depth--;
		if (d->depth <= d->c_depth)
			d->c_depth = -1;
	}
	d->in_extern = d->in_c = d->in_template = d->in_kernel = 0;
}

/* A word of a preprocessor's line. 1 when what the scan finds may depend on it: a declaration that a macro
 * holds or that #if cuts, or a choice between texts whose braces differ. One that lies within a function does
 * not matter. */
static int directive_matters(Decl *d, const Lexer *l, Token t, Token before)
{
	int opens = is(l, t, "if") || is(l, t, "ifdef") || is(l, t, "ifndef");
	int closes = is(l, t, "endif");

	if (is(l, before, "define")) {
		pm_str_addf(&d->macros, " %.*s ", (int)(t.to - t.from), l->s + t.from);
		return 0;
	}
	if (is(l, t, "__global__") || is(l, t, "extern") || is(l, t, "template"))
		return 1;
	if (before.kind != '#' || (!opens && !closes && !is(l, t, "else") && !is(l, t, "elif")))
		return 0;
	if (opens && d->ifs < MAX_IFS)
		d->if_depth[d->ifs++] = d->depth;
	else if (opens || d->ifs == 0 || d->if_depth[d->ifs - 1] != d->depth)
		return 1;
	d->ifs -= closes;
	return d->in_extern || d->in_template || d->in_kernel;
}

static int is_macro(const Decl *d, const char *name)
{
	PmStr word = PM_STR_INIT;
	int found;

	pm_str_addf(&word, " %s ", name);
	found = d->macros.len && strstr(d->macros.s, word.s);
	pm_str_release(&word);
	return found;
}

PmStatus pm__emu_scan(const char *label, const char *src, size_t n, PmEmuScan *out, PmErr *err)
{
	Lexer l = { label, src, n, 0, 1, 0, 1 };
	Decl d = { .c_depth = -1, .macros = PM_STR_INIT };
	size_t copied = 0;     /* the text before this has been written to out->text */
	Token t, held = { 0 }; /* a `static` or `extern` that may belong to __shared__ */
	Token before_in_line = { 0 };

	if (memchr(src, '\0', n))
		return pm_err(err, PM_E_INVALID, "The source of kernel '%s' holds a zero byte; remove it.",
			      label);
	for (t = next(&l); t.kind; t = next(&l)) {
		if (t.directive) {
			out->conditional |= directive_matters(&d, &l, t, before_in_line);
			before_in_line = t;
		}
		if (!t.directive && (t.kind == ';' || t.kind == '{' || t.kind == '}')) {
			note_brace(&d, t.kind);
		} else if (is(&l, t, "template")) {
			d.in_template = 1;
		} else if (d.in_extern && is(&l, t, "\"C\"")) {
			d.in_c = 1;
		} else if (is(&l, t, "__global__") && !t.directive && !d.in_template) {
			add_kernel(l, d.in_c || d.c_depth >= 0, out);
			d.in_kernel = 1;
			out->conditional |= d.ifs > 0;
		} else if (is(&l, t, "__shared__")) {
			Lexer ahead = l, before = l;
			Token first = held.kind ? held : t, after = next(&ahead);
			int external = held.kind && is(&l, held, "extern");

			if (is(&l, after, "extern")) {
				external = 1;
				before = ahead;
			} else if (is(&l, after, "static")) {
				held = after; /* the macro says static already */
				pm_str_addn(&out->text, src + copied, t.to - copied);
				copied = after.to;
				l = ahead;
			}
			if (held.kind && is(&l, held, "static") && held.from < t.from) {
				pm_str_addn(&out->text, src + copied, held.from - copied);
				copied = held.to;
			}
			if (external) {
				PmStr text = PM_STR_INIT;

				if (rewrite_dynamic(&before, first.from, &text)) {
					pm_str_addn(&out->text, src + copied, first.from - copied);
					pm_str_addn(&out->text, text.s, text.len);
					copied = before.at;
					l = before;
					d.in_extern = 0;
				}
				pm_str_release(&text);
			}
		}
		d.in_extern |= is(&l, t, "extern");
		held = (Token){ 0 };
		if (is(&l, t, "extern") || is(&l, t, "static"))
			held = t;
	}
	for (size_t i = 0; i < out->kernels.n; i++)
		out->conditional |= is_macro(&d, out->kernels.v[i].name);
	pm_str_release(&d.macros);
	pm_str_addn(&out->text, src + copied, n - copied);
	return PM_OK;
}

void pm__emu_scan_release(PmEmuScan *s)
{
	size_t i;

	for (i = 0; i < s->kernels.n; i++) {
		free(s->kernels.v[i].name);
		free(s->kernels.v[i].bounds);
	}
	PM_VEC_RELEASE(&s->kernels);
	pm_str_release(&s->text);
}
