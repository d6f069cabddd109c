/* SPDX-License-Identifier: Apache-2.0 */
/* view_diff.c - a difference as a page: a table of the changes, and both graphs as one drawing. */
#include "app/view/union.h"
#include "app/view/view_priv.h"
#include "base/core/str.h"
#include "draw/html/frame.h"

#include <string.h>

enum { ROWS = 1000 /* of the table; more changes are counted */ };

typedef struct Page {
	const PmDiff *d;
	uint32_t *place; /* by change: 1 + place in the union; 0 of inputs and outputs */
} Page;

static PmSheetMark mark_of(const PmDiffChange *c)
{
	static const uint64_t classes[] = { PM_SVG_CLASS(removed), PM_SVG_CLASS(added),
					    PM_SVG_CLASS(changed) };

	return (PmSheetMark){ classes[c->kind], pm_diff_kind_name(c->kind), *c->what ? c->what : NULL };
}

/* ---- the table ---- */

static void put_count(PmHtml *h, size_t n, const char *what, const char *behind)
{
	pm_html_textf(h, "%zu %s%s", n, what, behind);
}

static void put_counts(PmHtml *h, const PmDiff *d)
{
	pm_html_el(h, PM_EL_p);
	put_count(h, d->n_same, "nodes are in both models", ", ");
	put_count(h, d->n[PM_DIFF_REMOVED], "removed", ", ");
	put_count(h, d->n[PM_DIFF_ADDED], "added", ", ");
	put_count(h, d->n[PM_DIFF_CHANGED], "changed", ".");
	if (d->n_signature)
		pm_html_textf(h, " %zu change%s of inputs and outputs.", d->n_signature,
			      d->n_signature == 1 ? "" : "s");
	if (d->change.n)
		pm_html_text(
			h, " Removed nodes are red with a dashed edge, added ones green, changed ones amber; "
			   "each says so before its name.");
	pm_html_end(h, PM_EL_p);
}

/* The innermost level that shows a node: of the groups around it the last that opens. */
static uint32_t level_of(const PmFold *f, uint32_t place, const char *opens)
{
	uint32_t found = 0, group = f->of[place];

	for (; group && group != PM_FOLD_NONE; group = f->group.v[group].parent) {
		if (opens[f->group.v[group].same] && !found)
			found = f->group.v[group].same;
		if (!opens[f->group.v[group].same])
			found = 0;
	}
	return found;
}

static void put_row(PmHtml *h, const PmFold *f, const char *opens, const Page *p, size_t i)
{
	const PmDiffChange *c = &p->d->change.v[i];
	uint32_t level = p->place[i] ? level_of(f, p->place[i] - 1, opens) : 0;
	PmStr name = PM_STR_INIT;

	pm_diff_describe(p->d, c, &name);
	pm_html_el(h, PM_EL_tr);
	pm_html_put(h, PM_EL_td, NULL, pm_diff_kind_name(c->kind));
	pm_html_el(h, PM_EL_th);
	pm_html_at(h, PM_AT_scope, "row");
	pm_html_el(h, opens[level] ? PM_EL_a : PM_EL_span);
	if (opens[level])
		pm_html_atf(h, PM_AT_href, "#g%u", (unsigned)level);
	pm_html_text_cut(h, name.s, 80);
	pm_html_end(h, opens[level] ? PM_EL_a : PM_EL_span);
	pm_html_end(h, PM_EL_th);
	pm_html_el(h, PM_EL_td);
	pm_html_text_cut(h, c->what, 600);
	pm_html_end(h, PM_EL_td);
	pm_html_end(h, PM_EL_tr);
	pm_str_release(&name);
}

static void put_table(PmHtml *h, const PmFold *f, const char *opens, const Page *p)
{
	static const char *const head[] = { "change", "where", "what differs" };
	size_t n = p->d->change.n < ROWS ? p->d->change.n : ROWS;

	pm_frame_table(h, "wide changes", "Changes");
	pm_html_at(h, PM_AT_id, "changes");
	pm_frame_heads(h, head, sizeof head / sizeof *head);
	for (size_t i = 0; i < n; i++)
		put_row(h, f, opens, p, i);
	pm_frame_table_end(h);
	if (p->d->change.n > n)
		pm_html_putf(h, PM_EL_p, "soft", "%zu more changes: passmith view --json has all of them.",
			     p->d->change.n - n);
}

static void put_changes(PmHtml *h, const PmFold *f, const char *opens, const void *of)
{
	const Page *p = of;

	put_counts(h, p->d);
	if (p->d->change.n)
		put_table(h, f, opens, p);
	else
		pm_html_put(h, PM_EL_p, NULL, "The models have no difference.");
}

/* ---- the drawing ---- */

static PmStatus draw(const PmDiff *d, const PmUnion *u, const PmViewOpts *o, PmStr *out, PmViewDone *done,
		     PmErr *err)
{
	size_t n = pm_graph_n_nodes(u->g);
	unsigned char *alone = o->flat ? NULL : pm_union_alone(u);
	PmSheetMark *mark = pm_xcalloc(n + 1, sizeof *mark);
	Page page = { .d = d, .place = pm_xcalloc(d->change.n + 1, sizeof *page.place) };
	const PmSheetMarks marks = { mark, "changed" };
	const PmViewPart part = { &marks, put_changes, &page };
	const PmFoldMarks fold = { u->kind, d->change.n ? alone : NULL };
	PmFold f;
	PmStatus st;

	for (size_t i = 0; i < n; i++) {
		if (!u->change[i])
			continue;
		mark[i] = mark_of(&d->change.v[u->change[i] - 1]);
		page.place[u->change[i] - 1] = (uint32_t)i + 1;
	}
	st = o->flat ? pm_fold(u->g, 1, &f, err) : pm_fold_marked(u->g, &fold, &f, err);
	if (!st)
		st = pm__view_fold(&f, o, &part, out, done, err);
	pm_fold_release(&f);
	free(alone);
	free(mark);
	free(page.place);
	return st;
}

PmStatus pm_view_diff(const PmDiff *d, const PmViewOpts *o, PmStr *out, PmViewDone *done, PmErr *err)
{
	PmUnion u;
	PmStatus st = pm_union(d, &u, err);

	memset(done, 0, sizeof *done);
	if (!st)
		st = draw(d, &u, o, out, done, err);
	pm_union_release(&u);
	return st;
}
