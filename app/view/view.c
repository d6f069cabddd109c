/* SPDX-License-Identifier: Apache-2.0 */
/* view.c - the page of a model: a section for each level that is drawn. */
#include "app/view/view.h"

#include "app/view/view_priv.h"
#include "draw/html/frame.h"
#include "draw/html/page.h"

#include <string.h>

/* Which groups are drawn, by breadth: what is near to the first level comes first. */
typedef struct Plan {
	char *opens;    /* by group */
	PmPlaces sheet; /* groups, in the order in which they are drawn */
} Plan;

static void plan(const PmFold *f, const PmViewOpts *o, Plan *p, PmViewDone *done)
{
	char *seen = pm_xcalloc(f->group.n, 1);

	p->opens = pm_xcalloc(f->group.n, 1);
	p->sheet = (PmPlaces){ 0 };
	PM_VEC_PUSH(&p->sheet, (uint32_t)o->group);
	p->opens[o->group] = seen[o->group] = 1;
	done->boxes = f->group.v[o->group].n;
	for (size_t i = 0; i < p->sheet.n; i++) {
		PmFoldGroup g = f->group.v[p->sheet.v[i]];

		for (size_t k = 0; k < g.n; k++) {
			PmFoldItem item = f->item.v[g.first + k];
			uint32_t same = item.is_group ? f->group.v[item.id].same : 0;

			if (!item.is_group || seen[same])
				continue;
			seen[same] = 1;
			if (o->svg || done->boxes + f->group.v[same].n > PM_VIEW_BOXES) {
				done->closed++;
				continue;
			}
			p->opens[same] = 1;
			done->boxes += f->group.v[same].n;
			PM_VEC_PUSH(&p->sheet, same);
		}
	}
	done->sheets = p->sheet.n;
	free(seen);
}

static void plan_release(Plan *p)
{
	free(p->opens);
	PM_VEC_RELEASE(&p->sheet);
}

/* ---- the page ---- */

static void put_count(PmHtml *h, size_t n, const char *what, const char *behind)
{
	pm_html_textf(h, "%zu %s%s%s", n, what, n == 1 ? "" : "s", behind);
}

static void put_link(PmHtml *h, const PmFold *f, uint32_t group, int links)
{
	pm_html_el(h, links ? PM_EL_a : PM_EL_span);
	if (links)
		pm_html_atf(h, PM_AT_href, "#g%u", (unsigned)group);
	pm_html_text_cut(h, *f->group.v[group].name ? f->group.v[group].name : "model", 60);
	pm_html_end(h, links ? PM_EL_a : PM_EL_span);
}

/* The groups around a group, the outermost first, with links to those that are drawn. */
static void put_way(PmHtml *h, const PmFold *f, uint32_t group, const Plan *p)
{
	PmPlaces way = { 0 };

	for (uint32_t g = group; g != PM_FOLD_NONE; g = f->group.v[g].parent)
		PM_VEC_PUSH(&way, g);
	pm_html_el(h, PM_EL_nav);
	pm_html_at(h, PM_AT_aria_label, "Groups around this one");
	for (size_t i = way.n; i-- > 0;) {
		uint32_t same = way.v[i] ? f->group.v[way.v[i]].same : 0;

		if (i + 1 < way.n)
			pm_html_text(h, " / ");
		put_link(h, f, i ? same : way.v[i], i && p->opens[same]);
	}
	pm_html_end(h, PM_EL_nav);
	PM_VEC_RELEASE(&way);
}

static PmStatus put_sheet(PmHtml *h, const PmFold *f, const PmViewOpts *o, const PmViewPart *part,
			  uint32_t group, const Plan *p, PmErr *err)
{
	const PmFoldGroup *g = &f->group.v[group];
	PmSheetStyle style = { .engine = o->engine, .opens = p->opens, .marks = part->marks };
	PmStr svg = PM_STR_INIT;
	PmSheet s;
	PmStatus st;

	pm_sheet_make(f, group, &s);
	st = pm_sheet_draw(&s, &style, &svg, err);
	pm_html_el(h, PM_EL_section);
	pm_html_atf(h, PM_AT_id, "g%u", (unsigned)group);
	pm_html_at(h, PM_AT_class, group == o->group ? "sheet first" : "sheet");
	put_way(h, f, group, p);
	pm_html_el(h, PM_EL_p);
	put_count(h, g->n_nodes, "node", "");
	if (f->group.v[g->same].n_same > 1)
		pm_html_textf(h, "; %zu groups differ from this one in names and weights alone",
			      f->group.v[g->same].n_same - 1);
	pm_html_text(h, ".");
	pm_html_end(h, PM_EL_p);
	pm_frame_open(h, "canvas", "Drawing %u", (unsigned)group);
	pm_html_svg(h, &svg);
	pm_html_end(h, PM_EL_div);
	pm_html_end(h, PM_EL_section);
	pm_str_release(&svg);
	pm_sheet_release(&s);
	return st;
}

static PmStatus put_page(const PmFold *f, const PmViewOpts *o, const PmViewPart *part, const Plan *p,
			 const PmViewDone *done, PmStr *out, PmErr *err)
{
	PmPage page = { .title = o->name, .style = pm_svg_css() };
	PmStatus st = PM_OK;
	PmHtml h;

	pm_html_begin(&h, out);
	pm_page_open(&h, &page);
	pm_html_el(&h, PM_EL_header);
	pm_html_el(&h, PM_EL_h1);
	pm_html_text_cut(&h, o->name, 100);
	pm_html_end(&h, PM_EL_h1);
	pm_html_el(&h, PM_EL_p);
	put_count(&h, done->nodes, "node", ", ");
	put_count(&h, pm_graph_n_inputs(f->g), "input", ", ");
	put_count(&h, pm_graph_n_outputs(f->g), "output", ".");
	if (done->groups)
		pm_html_text(&h, " Rounded grey boxes are groups: a click opens one.");
	if (done->closed)
		pm_html_textf(
			&h,
			" %zu groups are too much for this page and do not open; passmith view --group N "
			"draws one.",
			done->closed);
	pm_html_end(&h, PM_EL_p);
	if (part->put)
		part->put(&h, f, p->opens, part->of);
	pm_html_end(&h, PM_EL_header);
	pm_html_el(&h, PM_EL_main);
	pm_html_at(&h, PM_AT_class, "pg");
	for (size_t i = 0; i < p->sheet.n && !st; i++)
		st = put_sheet(&h, f, o, part, p->sheet.v[i], p, err);
	if (!st) {
		pm_html_end(&h, PM_EL_main);
		pm_page_close(&h, &page);
	}
	return st;
}

static PmStatus check(const PmGraph *g, const PmViewOpts *o, const PmFold *f, PmErr *err)
{
	if (o->flat && pm_graph_n_nodes(g) > PM_VIEW_FLAT)
		return pm_err(
			err, PM_E_LIMIT,
			"%.200s has %zu nodes, and --flat draws at most %d; leave it out, so that nodes are "
			"grouped.",
			o->name, pm_graph_n_nodes(g), PM_VIEW_FLAT);
	if (o->group >= f->group.n)
		return pm_err(err, PM_E_INVALID,
			      "%.200s has no group %zu; its groups have the numbers up to %zu, which the "
			      "drawing of the whole shows.",
			      o->name, o->group, f->group.n - 1);
	return PM_OK;
}

PmStatus pm__view_fold(const PmFold *f, const PmViewOpts *o, const PmViewPart *part, PmStr *out,
		       PmViewDone *done, PmErr *err)
{
	PmSheetStyle style = { .engine = o->engine, .alone = 1, .marks = part->marks };
	PmStatus st = check(f->g, o, f, err);
	PmSheet s;
	Plan p;

	memset(done, 0, sizeof *done);
	if (st)
		return st;
	done->nodes = f->n_nodes;
	done->groups = f->group.n - 1;
	plan(f, o, &p, done);
	if (o->svg) {
		pm_sheet_make(f, (uint32_t)o->group, &s);
		st = pm_sheet_draw(&s, &style, out, err);
		pm_sheet_release(&s);
	} else {
		st = put_page(f, o, part, &p, done, out, err);
	}
	plan_release(&p);
	return st;
}

PmStatus pm_view(const PmGraph *g, const PmViewOpts *o, PmStr *out, PmViewDone *done, PmErr *err)
{
	const PmViewPart none = { 0 };
	PmFold f;
	PmStatus st = pm_fold(g, o->flat, &f, err);

	memset(done, 0, sizeof *done);
	if (!st)
		st = pm__view_fold(&f, o, &none, out, done, err);
	pm_fold_release(&f);
	return st;
}
