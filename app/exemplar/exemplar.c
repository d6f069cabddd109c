/* SPDX-License-Identifier: Apache-2.0 */
/* exemplar.c - reading the folder of exemplars, and choosing among them. */
#include "app/exemplar/exemplar.h"

#include "app/exemplar/folder.h"
#include "app/exemplar/skeleton.h"
#include "base/core/arena.h"
#include "base/core/str.h"
#include "base/sys/io.h"
#include "dataset/select/alike.h"
#include "ir/text/text.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT = 64 * 1024 }; /* bytes of one file */

static void release_one(PmExemplar *e)
{
	free(e->name);
	free(e->pass);
	free(e->graph);
	free(e->thoughts);
	free(e->pattern);
	*e = (PmExemplar){ 0 };
}

void pm_exemplars_release(PmExemplars *e)
{
	for (size_t i = 0; i < e->n; i++)
		release_one(&e->v[i]);
	free(e->v);
	*e = (PmExemplars){ 0 };
}

/* ---- reading ---- */

static PmStatus read_part(const char *dir, const char *name, const char *ending, char **out, PmErr *err)
{
	PmStr path = PM_STR_INIT, text = PM_STR_INIT;
	PmStatus st;

	pm_path_join(dir, name, &path);
	pm_str_add(&path, ending);
	st = pm_read_file(path.s, MAX_TEXT, &text, err);
	if (st)
		pm_str_release(&text);
	else
		*out = pm_str_detach(&text, NULL);
	pm_str_release(&path);
	return st;
}

static PmStatus read_graph(const PmExemplar *e, PmGraph **out, PmErr *err)
{
	if (!pm_graph_parse(e->graph, strlen(e->graph), out, err))
		return PM_OK;
	return pm_err_ctx(err, "Exemplar %s", e->name);
}

static PmStatus read_one(const char *dir, const char *name, PmExemplar *e, PmErr *err)
{
	PmGraph *g = NULL;
	PmStatus st;

	e->name = pm_xstrdup(name);
	st = read_part(dir, name, ".c", &e->pass, err);
	st = st ? st : read_part(dir, name, ".gpt", &e->graph, err);
	st = st ? st : read_part(dir, name, ".md", &e->thoughts, err);
	st = st ? st : read_part(dir, name, ".pattern", &e->pattern, err);
	st = st ? st : read_graph(e, &g, err);
	if (!st)
		e->category = pm_category_of(g, NULL);
	pm_graph_free(g);
	return st;
}

PmStatus pm_exemplars_list(const char *root, PmExemplars *out, PmErr *err)
{
	PmStr dir = PM_STR_INIT;
	PmNames names = { 0 };
	PmStatus st;

	*out = (PmExemplars){ 0 };
	st = pm_text_folder(root, "exemplars", &dir, err);
	st = st ? st : pm_list_dir(dir.s, &names, err);
	if (!st)
		out->v = pm_xcalloc(names.n + 1, sizeof *out->v);
	for (size_t i = 0; i < names.n && !st; i++) {
		if (!pm_str_ends(names.v[i], ".c"))
			continue;
		names.v[i][strlen(names.v[i]) - 2] = '\0';
		st = read_one(dir.s, names.v[i], &out->v[out->n++], err);
	}
	pm_names_release(&names);
	pm_str_release(&dir);
	return st;
}

/* The category whose exemplars teach a pass for graphs of this one. A pass for a network or a block of it is
 * one for its products and convolutions with what follows them. */
static PmCategory taught_by(PmCategory c)
{
	return c == PM_CATEGORY_arch ? PM_CATEGORY_fuse : c;
}

const PmExemplar *pm_exemplars_find(const PmExemplars *all, const char *what)
{
	const PmExemplar *first = NULL;
	PmCategory c = taught_by(pm_category_from_name(what));

	for (size_t i = 0; i < all->n; i++) {
		if (!strcmp(all->v[i].name, what))
			return &all->v[i];
		if (!first && all->v[i].category == c)
			first = &all->v[i];
	}
	return first;
}

/* ---- leaks ---- */

/* 1 when a pattern of the pass matches in one of the two graphs. */
static PmStatus pattern_leaks(const PmExemplar *e, const PmGraph *g, const PmGraph *bare, int *leaks,
			      PmErr *err)
{
	for (const char *at = e->pattern, *end; *at && !*leaks; at = *end ? end + 1 : end) {
		const char *text = strstr(at, ": ");
		PmPattern *p = NULL;

		end = at + strcspn(at, "\n");
		if (!text || text > end)
			return pm_err(
				err, PM_E_INVALID,
				"Exemplar %s: %s.pattern has a line without \"rule: pattern\"; run make gen.",
				e->name, e->name);
		if (pm_pattern_parse(text + 2, (size_t)(end - text - 2), &p, err))
			return pm_err_ctx(err, "Exemplar %s, %s.pattern", e->name, e->name);
		*leaks = pm_pattern_applies(p, g) || pm_pattern_applies(p, bare);
		pm_pattern_free(p);
	}
	return PM_OK;
}

static double likeness(const PmGraph *a, const PmGraph *b)
{
	PmColors x = { 0 }, y = { 0 };
	double j;

	pm_colors_of(a, &x);
	pm_colors_of(b, &y);
	j = pm_colors_jaccard(&x, &y);
	pm_colors_release(&x);
	pm_colors_release(&y);
	return j;
}

/* `own` and `bare` are the skeletons of the exemplar's graph and of g. */
static PmStatus leaks(const PmExemplar *e, const PmGraph *own, const PmGraph *g, const PmGraph *bare,
		      const char **why, PmErr *err)
{
	int applies = 0;
	PmStatus st = pattern_leaks(e, g, bare, &applies, err);

	*why = applies                           ? "its pattern matches in the graph"
	       : pm_skeleton_contains(bare, own) ? "its graph is in the graph"
	       : pm_skeleton_contains(own, bare) ? "the graph is in its graph"
	       : likeness(own, bare) >= PM_ALIKE ? "its graph is nearly the same"
						 : NULL;
	return st;
}

static PmStatus skeleton_of(const PmExemplar *e, PmGraph **out, PmErr *err)
{
	PmGraph *g = NULL;
	PmStatus st = read_graph(e, &g, err);

	st = st ? st : pm_skeleton(g, out, err);
	pm_graph_free(g);
	return st;
}

PmStatus pm_exemplar_leaks(const PmExemplar *e, const PmGraph *g, const char **why, PmErr *err)
{
	PmGraph *own = NULL, *bare = NULL;
	PmStatus st = skeleton_of(e, &own, err);

	*why = NULL;
	st = st ? st : pm_skeleton(g, &bare, err);
	st = st ? st : leaks(e, own, g, bare, why, err);
	pm_graph_free(own);
	pm_graph_free(bare);
	return st;
}

/* ---- selection ---- */

/* Keeps the exemplars that do not leak, with their similarity. */
static PmStatus judge_all(PmExemplars *all, const PmGraph *g, PmErr *err)
{
	PmGraph *bare = NULL;
	PmStatus st = pm_skeleton(g, &bare, err);
	size_t kept = 0;

	for (size_t i = 0; i < all->n && !st; i++) {
		PmExemplar *e = &all->v[i];
		const char *why = NULL;
		PmGraph *own = NULL;

		st = skeleton_of(e, &own, err);
		st = st ? st : leaks(e, own, g, bare, &why, err);
		if (!st && !why) {
			PmExemplar moved = *e;

			moved.similarity = pm_skeleton_similarity(own, bare);
			*e = (PmExemplar){ 0 };
			all->v[kept++] = moved;
		} else if (!st) {
			release_one(e);
		}
		pm_graph_free(own);
	}
	if (!st) {
		all->withheld = all->n - kept;
		all->n = kept;
	}
	pm_graph_free(bare);
	return st;
}

/* Whether a comes before b for a graph of this category. */
static int fits_better(const PmExemplar *a, const PmExemplar *b, PmCategory c)
{
	if ((a->category == c) != (b->category == c))
		return a->category == c;
	if (a->similarity != b->similarity)
		return a->similarity > b->similarity;
	return strcmp(a->name, b->name) < 0;
}

static void sort(PmExemplars *e, PmCategory c)
{
	for (size_t i = 1; i < e->n; i++) {
		PmExemplar moved = e->v[i];
		size_t k = i;

		for (; k && fits_better(&moved, &e->v[k - 1], c); k--)
			e->v[k] = e->v[k - 1];
		e->v[k] = moved;
	}
}

PmStatus pm_exemplars_select(const char *root, const PmGraph *g, size_t n, PmExemplars *out, PmErr *err)
{
	PmStatus st = pm_exemplars_list(root, out, err);

	st = st ? st : judge_all(out, g, err);
	if (st)
		return st;
	sort(out, taught_by(pm_category_of(g, NULL)));
	while (out->n > n)
		release_one(&out->v[--out->n]);
	return PM_OK;
}
