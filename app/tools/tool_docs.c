/* SPDX-License-Identifier: Apache-2.0 */
/* tool_docs.c - search_docs: sections of the guides, the reference and the design, and what complete passes
 * say of themselves, ranked by the words that they share with the question. A text that stands in two places
 * is found once. */
#include "app/tools/tools_priv.h"

#include "base/core/hash.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORDS = 16, WORD = 40, KEEP = 2400, LIMIT = 4, IN_HEADING = 6 };

typedef struct Section {
	char *file, *heading, *text; /* owned */
	int part;                    /* the text is the beginning of the file alone */
	double score;
	int count[MAX_WORDS], in_heading[MAX_WORDS];
} Section;

typedef struct Search {
	char word[MAX_WORDS][WORD];
	int n_words;
	PM_VEC(Section) list;
} Search;

static int in_word(int c)
{
	return isalnum(c) || c == '_';
}

static void split_query(const char *q, Search *s)
{
	while (*q && s->n_words < MAX_WORDS) {
		size_t n = 0;
		char *w = s->word[s->n_words];

		for (; *q && !in_word((unsigned char)*q); q++)
			;
		for (; in_word((unsigned char)*q); q++)
			if (n < WORD - 1)
				w[n++] = (char)tolower((unsigned char)*q);
		w[n] = '\0';
		if (n > 3 && w[n - 1] == 's') /* plurals find the singular, which they begin with */
			w[n - 1] = '\0';
		s->n_words += n > 1;
	}
}

/* How often a word begins with `w`. */
static int count_of(const char *text, const char *w)
{
	size_t n = strlen(w);
	int k = 0, before = 0;

	for (; *text; before = in_word((unsigned char)*text++))
		k += !before && !strncasecmp(text, w, n);
	return k;
}

static void add_section(Search *s, const char *file, const char *heading, const char *text, size_t n)
{
	Section x = { .file = pm_xstrdup(file), .heading = pm_xstrdup(heading) };
	PmStr body = PM_STR_INIT;

	pm_str_addn(&body, text, n);
	x.text = pm_str_detach(&body, NULL);
	for (int i = 0; i < s->n_words; i++) {
		x.count[i] = count_of(x.text, s->word[i]);
		x.in_heading[i] = count_of(x.heading, s->word[i]);
	}
	PM_VEC_PUSH(&s->list, x);
}

/* A section begins with a heading, which is not within a fenced block. */
static void split_page(Search *s, const char *file, const char *text)
{
	PmStr page = PM_STR_INIT, heading = PM_STR_INIT;
	const char *start = text, *p = text;
	int fenced = 0;

	while (*p) {
		size_t n = strcspn(p, "\n");

		if (!strncmp(p, "```", 3))
			fenced = !fenced;
		if (*p == '#' && !fenced) {
			size_t marks = strspn(p, "#");

			if (p > start && heading.len)
				add_section(s, file, heading.s, start, (size_t)(p - start));
			start = p;
			if (marks == 1) {
				pm_str_clear(&page);
				pm_str_addn(&page, p + 2, n > 2 ? n - 2 : 0);
			}
			pm_str_clear(&heading);
			pm_str_add(&heading, page.s);
			if (marks > 1) {
				pm_str_add(&heading, heading.len ? " > " : "");
				pm_str_addn(&heading, p + marks + 1, n > marks ? n - marks - 1 : 0);
			}
		}
		p += n;
		p += *p == '\n';
	}
	if (heading.len)
		add_section(s, file, heading.s, start, (size_t)(p - start));
	pm_str_release(&page);
	pm_str_release(&heading);
}

/* The comment at the beginning of a pass; its first line is the heading. */
static void add_pass(Search *s, const char *file, const char *name, const char *text)
{
	const char *from = strstr(text, name), *end = from ? strstr(from, "*/") : NULL;
	PmStr heading = PM_STR_INIT;

	if (!end)
		return;
	pm_str_add(&heading, "A complete pass > ");
	pm_str_addn(&heading, from, strcspn(from, "\n"));
	add_section(s, file, heading.s, from, (size_t)(end - from));
	s->list.v[s->list.n - 1].part = 1;
	/* A line that says all that a pass does is no heading by which sections are told apart. */
	memset(s->list.v[s->list.n - 1].in_heading, 0, sizeof s->list.v->in_heading);
	pm_str_release(&heading);
}

static void add_file(void *arg, const PmShelved *x)
{
	PmStr file = PM_STR_INIT;

	pm_str_addf(&file, "%s%s", x->as, x->name);
	if (!strcmp(x->mime, "text/markdown"))
		split_page(arg, file.s, x->text);
	else if (!strncmp(x->as, "passes/library/", strlen("passes/library/")) && pm_str_ends(x->name, ".c"))
		add_pass(arg, file.s, x->name, x->text);
	pm_str_release(&file);
}

/* A word that few sections have counts more; one that a section has often counts a little more. */
static void rank(Search *s)
{
	for (int w = 0; w < s->n_words; w++) {
		double having = 0.5, rare;

		for (size_t i = 0; i < s->list.n; i++)
			having += s->list.v[i].count[w] > 0;
		rare = log(1 + (double)s->list.n / having);
		for (size_t i = 0; i < s->list.n; i++) {
			Section *x = &s->list.v[i];
			double length = 1 + (double)strlen(x->text) / KEEP;

			x->score += rare * (log1p(x->count[w]) / sqrt(length) +
					    (x->in_heading[w] ? IN_HEADING / 2.0 : 0));
		}
	}
}

static int by_score(const void *a, const void *b)
{
	const Section *x = a, *y = b;
	int names = strcmp(x->file, y->file);

	return x->score > y->score   ? -1
	       : x->score < y->score ? 1
	       : names               ? names
				     : strcmp(x->heading, y->heading);
}

/* ---- the same text in two places ---- */

typedef PM_VEC(uint64_t) Shingles;

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Hashes of each three words in a row, sorted, each once. */
static void shingles_of(const char *text, Shingles *out)
{
	uint64_t last[2] = { 0, 0 };
	size_t kept = 0;

	for (const char *p = text; *p;) {
		char word[WORD];
		size_t n = 0;
		uint64_t three[3] = { last[0], last[1], 0 };

		for (; *p && !in_word((unsigned char)*p); p++)
			;
		for (; in_word((unsigned char)*p); p++)
			if (n < WORD)
				word[n++] = (char)tolower((unsigned char)*p);
		if (!n)
			break;
		three[2] = pm_hash64(word, n, 0);
		PM_VEC_PUSH(out, pm_hash64(three, sizeof three, 0));
		last[0] = last[1];
		last[1] = three[2];
	}
	if (out->n)
		qsort(out->v, out->n, sizeof *out->v, by_number);
	for (size_t i = 0; i < out->n; i++)
		if (!i || out->v[i] != out->v[i - 1])
			out->v[kept++] = out->v[i];
	out->n = kept;
}

static const char *last_heading(const Section *x)
{
	const char *p = strrchr(x->heading, '>');

	return p ? p + 1 : x->heading;
}

/* Half of the shorter one stands in the other; of sections of one heading a tenth will do. */
static int alike(const Section *x, const Section *y, const Shingles *a, const Shingles *b)
{
	size_t common = 0, least = a->n < b->n ? a->n : b->n;

	for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
		common += a->v[i] == b->v[k];
		if (a->v[i] < b->v[k])
			i++;
		else
			k++;
	}
	return common * (strcasecmp(last_heading(x), last_heading(y)) ? 2 : 10) >= least;
}

static void add_found(const Section *x, cJSON *list)
{
	cJSON *j = cJSON_CreateObject();
	PmStr uri = PM_STR_INIT, text = PM_STR_INIT;
	size_t n = strlen(x->text), keep = n < KEEP ? n : KEEP;

	while (keep && ((unsigned char)x->text[keep] & 0xc0) == 0x80)
		keep--;
	pm_str_addn(&text, x->text, keep);
	pm_str_addf(&uri, "passmith://%s", x->file);
	cJSON_AddStringToObject(j, "heading", x->heading);
	cJSON_AddStringToObject(j, "file", x->file);
	cJSON_AddStringToObject(j, "uri", uri.s);
	cJSON_AddStringToObject(j, "text", text.s);
	cJSON_AddBoolToObject(j, "whole", keep == n && !x->part);
	cJSON_AddItemToArray(list, j);
	pm_str_release(&uri);
	pm_str_release(&text);
}

/* The best, without those whose text is for the most part in a better one. */
static void add_best(const Search *s, int64_t limit, cJSON *list)
{
	PM_VEC(Shingles) taken = { 0 };
	PM_VEC(const Section *) of = { 0 };

	for (size_t i = 0; i < s->list.n && (int64_t)taken.n < limit && s->list.v[i].score > 0; i++) {
		Shingles x = { 0 };
		int again = 0;

		shingles_of(s->list.v[i].text, &x);
		for (size_t k = 0; k < taken.n && !again; k++)
			again = alike(&s->list.v[i], of.v[k], &x, &taken.v[k]);
		if (again) {
			PM_VEC_RELEASE(&x);
			continue;
		}
		PM_VEC_PUSH(&taken, x);
		PM_VEC_PUSH(&of, &s->list.v[i]);
		add_found(&s->list.v[i], list);
	}
	for (size_t k = 0; k < taken.n; k++)
		PM_VEC_RELEASE(&taken.v[k]);
	PM_VEC_RELEASE(&taken);
	PM_VEC_RELEASE(&of);
}

cJSON *pm__tool_search_docs(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error)
{
	int64_t limit = pm_json_i64(args, "limit", LIMIT);
	Search s = { 0 };
	cJSON *j, *list;

	(void)run;
	split_query(pm__arg(args, "query"), &s);
	if (!s.n_words)
		return pm__error(is_error,
				 "The query has no word of two letters or more; give a few words, such "
				 "as \"shared memory reduction\".");
	pm__shelf_each(t, add_file, &s);
	rank(&s);
	if (s.list.n)
		qsort(s.list.v, s.list.n, sizeof *s.list.v, by_score);
	j = cJSON_CreateObject();
	list = cJSON_AddArrayToObject(j, "sections");
	add_best(&s, limit, list);
	if (!list->child)
		cJSON_AddStringToObject(
			j, "next",
			"Nothing has these words; try others, or show_api with the name of an "
			"operator, a verdict or a function.");
	for (size_t i = 0; i < s.list.n; i++) {
		free(s.list.v[i].file);
		free(s.list.v[i].heading);
		free(s.list.v[i].text);
	}
	PM_VEC_RELEASE(&s.list);
	return j;
}
