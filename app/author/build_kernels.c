/* SPDX-License-Identifier: Apache-2.0 */
/* build_kernels.c - from an author's files and the object to what is wrong with the kernels.
 *
 * A text of the files counts where the object holds it, byte for byte. What T is, and what computed defines
 * are, a rewrite says only for a graph: several are tried.
 */
#include "app/author/build_kernels.h"

#include "app/author/author_text.h"
#include "base/sys/io.h"
#include "runtime/device/kernel_unit.h"
#include "runtime/worker/diagnose.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_OBJECT = 256 << 20 };

/* The first is that which the messages are of. Defines may be those of another source, and are when the text
 * gives the name a value itself: OTHERS are those that it does not. */
static const struct {
	PmDType type;
	int number; /* what a computed define stands for: small, for loops that are unrolled */
	enum { OTHERS, NONE, ALL } which;
} tries[] = {
	{ PM_F32, 4, OTHERS }, { PM_F32, 4, NONE },  { PM_F32, 4, ALL },    { PM_F16, 4, OTHERS },
	{ PM_I64, 4, OTHERS }, { PM_U8, 4, OTHERS }, { PM_F32, 1, OTHERS }, { PM_F32, 32, OTHERS },
};
enum { N_TRIES = sizeof tries / sizeof *tries };
static const char mark[] = "__global__";

typedef struct Kernel {
	const PmAuthorText *t;
	const char *label;                 /* base name of its file */
	int types, numbers, defines, sets; /* there is more than one way to compile it */
	size_t n_lines[N_TRIES];           /* of defines before the text */
	PmMessages said[N_TRIES];
	int tried[N_TRIES], ok[N_TRIES];
} Kernel;

typedef struct Work {
	PmAuthor author;
	PmStr object;
	PM_VEC(Kernel) k;
	PmStr *by;
} Work;

/* ---- which texts ---- */

static const char *find(const PmStr *where, const char *what, size_t n)
{
	return n ? memmem(where->s, where->len, what, n) : NULL;
}

/* Texts of the object with a kernel, each once, that end with none of those that are compiled: what was
 * before one in the object may belong to it or not. */
static int count_unknown(const Work *w)
{
	const char *p = w->object.s, *end = p + w->object.len;
	int n = 0;

	while ((p = memmem(p, (size_t)(end - p), mark, sizeof mark - 1)) != NULL) {
		const char *from = p, *to = memchr(p, 0, (size_t)(end - p));
		int known = 0;

		to = to ? to : end;
		while (from > w->object.s && from[-1])
			from--;
		for (size_t i = 0; i < w->k.n && !known; i++) {
			const PmStr *held = &w->k.v[i].t->held;

			known = (size_t)(to - from) >= held->len &&
				!memcmp(to - held->len, held->s, held->len);
		}
		n += !known;
		p = to;
	}
	return n;
}

static void choose(Work *w)
{
	for (size_t i = 0; i < w->author.text.n; i++) {
		const PmAuthorText *t = &w->author.text.v[i];
		Kernel k = { .t = t, .label = pm_path_base(t->file) };

		if (t->joined || !find(&w->object, t->held.s, t->held.len))
			continue;
		k.types = pm_author_has_word(t->text.s, "T") || pm_author_has_word(t->text.s, "st");
		for (size_t d = 0; d < w->author.def.n; d++) {
			int named = pm_author_has_word(t->text.s, w->author.def.v[d].name);

			k.defines |= named;
			k.sets |= named && pm_author_sets(t->text.s, w->author.def.v[d].name);
			k.numbers |= named && !w->author.def.v[d].known;
		}
		PM_VEC_PUSH(&w->k, k);
	}
}

/* ---- one way to compile them ---- */

static int is_defined_before(const PmAuthor *a, size_t d)
{
	for (size_t i = 0; i < d; i++)
		if (!strcmp(a->def.v[i].name, a->def.v[d].name))
			return 1;
	return 0;
}

/* The defines that its text names, and the text. */
static void write_source(const Work *w, Kernel *k, int way, PmStr *out)
{
	const PmAuthor *a = &w->author;

	for (size_t d = 0; d < a->def.n && tries[way].which != NONE; d++) {
		if (is_defined_before(a, d) || !pm_author_has_word(k->t->text.s, a->def.v[d].name))
			continue;
		if (k->sets && tries[way].which == OTHERS && pm_author_sets(k->t->text.s, a->def.v[d].name))
			continue;
		pm_str_addf(out, "#define %s (%lld)\n", a->def.v[d].name,
			    a->def.v[d].known ? (long long)a->def.v[d].value : tries[way].number);
		k->n_lines[way]++;
	}
	pm_str_addn(out, k->t->text.s, k->t->text.len);
}

/* From the line and column of what was compiled to those of the author's file. */
static void place(const Kernel *k, int way, PmMessage *m)
{
	size_t line = (size_t)m->line, at = 0, width = 0;

	free(m->file);
	m->file = pm_xstrdup(k->t->file);
	if (line <= k->n_lines[way] || !k->t->at.n) {
		m->line = m->column = 0;
		return;
	}
	for (line -= k->n_lines[way]; line > 1; line--) {
		const char *nl = memchr(k->t->text.s + at, '\n', k->t->text.len - at);

		if (!nl)
			break;
		at = (size_t)(nl + 1 - k->t->text.s);
	}
	if (at >= k->t->at.n) { /* the end of the text */
		at = k->t->at.n - 1;
	} else {
		width = strcspn(k->t->text.s + at, "\n");
		width = m->column > 0 && (size_t)m->column <= width ? (size_t)m->column - 1 : 0;
	}
	m->line = (int)k->t->at.v[at + width].line;
	m->column = m->column ? (int)k->t->at.v[at + width].column : 0;
}

static void take_log(Kernel *k, int way, const PmKernelLog *log)
{
	PmMessages *m = &k->said[way];

	if (log->st == PM_E_LIMIT) /* of these numbers and this type: nothing is known */
		return;
	k->tried[way] = 1;
	k->ok[way] = log->st == PM_OK;
	if (k->ok[way])
		return;
	pm_messages_of_kernel(log->text.s, k->label, m);
	if (!m->v.n)
		pm_messages_add(m, NULL, 0, 0, "error", log->text.s, strcspn(log->text.s, "\n"));
	for (size_t i = 0; i < m->v.n; i++)
		place(k, way, &m->v.v[i]);
}

static int is_done(const Kernel *k)
{
	int any = 0;

	for (int i = 0; i < N_TRIES; i++)
		any |= k->ok[i];
	return any;
}

static int has_line(const PmMessages *m, const PmMessage *one)
{
	for (size_t i = 0; i < m->v.n; i++)
		if (m->v.v[i].line == one->line)
			return 1;
	return 0;
}

/* An error that the text asks for is one of the number that was tried. */
static int is_asked_for(const char *text)
{
	return strstr(text, "static assert") || strncmp(text, "#error", 6) == 0;
}

/* All ways that were tried say so. */
static int is_sure(const Kernel *k, const PmMessage *one)
{
	int all = !k->numbers || !is_asked_for(one->text);

	for (int way = 1; way < N_TRIES && all; way++)
		all = !k->tried[way] || has_line(&k->said[way], one);
	return all;
}

static int n_sure(const Kernel *k)
{
	int n = 0;

	for (size_t i = 0; i < k->said[0].v.n; i++)
		n += is_sure(k, &k->said[0].v.v[i]);
	return n;
}

/* A way that is the same as an earlier one is none of its own. */
static int wants(const Kernel *k, int way)
{
	if (!way)
		return 1;
	if (is_done(k) || !n_sure(k) || (tries[way].type != PM_F32 && !k->types))
		return 0;
	if ((tries[way].which == NONE && !k->defines) || (tries[way].which == ALL && !k->sets))
		return 0;
	return tries[way].number == tries[0].number || k->numbers;
}

static PmStatus compile_way(Work *w, int way, PmErr *err)
{
	PmSource *s = pm_xcalloc(w->k.n + 1, sizeof *s);
	PmStr *text = pm_xcalloc(w->k.n + 1, sizeof *text);
	PmKernelLog *log = pm_xcalloc(w->k.n + 1, sizeof *log);
	size_t *of = pm_xcalloc(w->k.n + 1, sizeof *of), n = 0;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < w->k.n; i++) {
		if (!wants(&w->k.v[i], way))
			continue;
		pm_str_init(&text[n]);
		write_source(w, &w->k.v[i], way, &text[n]);
		s[n] = (PmSource){ .label = w->k.v[i].label, .source = text[n].s, .type = tries[way].type };
		of[n++] = i;
	}
	if (n)
		st = pm_kernel_diagnose(s, n, w->by, log, err);
	for (size_t i = 0; i < n; i++) {
		if (!st)
			take_log(&w->k.v[of[i]], way, &log[i]);
		pm_str_release(&log[i].text);
		pm_str_release(&text[i]);
	}
	free(s);
	free(text);
	free(log);
	free(of);
	return st;
}

/* ---- what all ways say ---- */

static void report(const Kernel *k, PmMessages *out, int *errors)
{
	for (size_t i = 0; i < k->said[0].v.n; i++) {
		const PmMessage *one = &k->said[0].v.v[i];

		if (!is_sure(k, one))
			continue;
		pm_messages_add(out, one->file, one->line, one->column, one->severity, one->text,
				strlen(one->text));
		++*errors;
	}
}

/* A text that is not behind `.source =` may be a part of a source. */
static void judge(Work *w, PmMessages *m, PmBuiltKernels *out)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->k.n; i++) {
		Kernel *k = &w->k.v[i];
		int errors = 0;

		if (!is_done(k) && k->t->whole)
			report(k, m, &errors);
		if (is_done(k) || errors)
			out->compiled++;
		for (int way = 0; way < N_TRIES; way++)
			pm_messages_release(&k->said[way]);
		if (is_done(k) || errors)
			w->k.v[kept++] = *k;
	}
	w->k.n = kept;
	out->unknown = count_unknown(w);
}

PmStatus pm_build_kernels(const char *source, const char *so, PmMessages *m, PmBuiltKernels *out, PmErr *err)
{
	Work w = { .object = PM_STR_INIT, .by = &out->by };
	PmStatus st = pm_author_read(source, &w.author, err);

	if (!st)
		st = pm_read_file(so, MAX_OBJECT, &w.object, err);
	if (!st)
		choose(&w);
	for (int way = 0; way < N_TRIES && !st && w.k.n; way++)
		st = compile_way(&w, way, err);
	if (!st)
		judge(&w, m, out);
	PM_VEC_RELEASE(&w.k);
	pm_author_release(&w.author);
	pm_str_release(&w.object);
	return st;
}
