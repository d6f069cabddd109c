/* SPDX-License-Identifier: Apache-2.0 */
/* sheet_draw.c - a sheet as SVG: sizes of boxes, their texts and colours, edges with types. */
#include "app/view/sheet.h"
#include "draw/svg/columns.h"
#include "ir/canon/canon.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	NAME = 28, /* columns of a name */
	TYPE = 30  /* and of a type */
};

static const double HEAD_COLUMN = 7.4, SMALL_COLUMN = 6.1; /* of the fonts of svg.css */

/* What a box says. */
typedef struct Label {
	char head[160], small[160];
	PmStr title;
	uint64_t classes;
} Label;

static void add_value(const PmGraph *g, PmValue v, PmStr *out)
{
	pm_str_addf(out, "\n%s: ", pm_value_name(g, v));
	pm_graph_describe_type(g, pm_value_type(g, v), out);
}

static uint64_t op_class(const PmGraph *g, PmNode n)
{
	uint32_t flags = pm_op_desc(pm_node_op(g, n))->flags;

	if (flags & PM_OPF_KERNEL)
		return PM_SVG_CLASS(kernel);
	if (flags & PM_OPF_OPAQUE)
		return PM_SVG_CLASS(opaque);
	if (flags & PM_OPF_DOT)
		return PM_SVG_CLASS(dot);
	if (flags & (PM_OPF_NORM | PM_OPF_RED | PM_OPF_POOL))
		return PM_SVG_CLASS(norm);
	return flags & (PM_OPF_MOVE | PM_OPF_VIEW | PM_OPF_SHAPE) ? PM_SVG_CLASS(move) : PM_SVG_CLASS(ew);
}

/* Operator and attributes, then operands and results with their types. */
static PmStatus node_title(const PmGraph *g, PmNode n, PmStr *out, PmErr *err)
{
	PmStatus st;

	if (*pm_node_name(g, n))
		pm_str_addf(out, "%s\n", pm_node_name(g, n));
	st = pm_canon_node_text(g, n, PM_CANON_FULL, out, err);
	for (size_t k = 0; k < pm_node_n_in(g, n); k++) {
		PmValue v = pm_node_in(g, n, k);

		if (!v.id)
			continue;
		add_value(g, v, out);
		pm_str_add(out, pm_value_is_const(g, v) ? " (weight)" : " (operand)");
	}
	for (size_t k = 0; k < pm_node_n_out(g, n); k++) {
		add_value(g, pm_node_out(g, n, k), out);
		pm_str_add(out, " (result)");
	}
	return st;
}

/* A kernel is called what the rule that made it is called. */
static PmStatus label_node(const PmGraph *g, PmNode n, const PmSheetMark *mark, Label *l, PmErr *err)
{
	int kernel = pm_node_op(g, n) == PM_OP_Kernel;
	PmStr small = PM_STR_INIT;

	l->classes = PM_SVG_CLASS(item) | PM_SVG_CLASS(node) | op_class(g, n);
	pm_columns_cut(pm_node_op_name(g, n), NAME, l->head, sizeof l->head);
	if (mark && mark->classes) {
		l->classes |= mark->classes;
		pm_str_addf(&small, "%s ", mark->tag);
		if (mark->note)
			pm_str_addf(&l->title, "%s\n", mark->note);
	}
	pm_str_add(&small, kernel ? pm_node_s(g, n, "name", "") : pm_node_name(g, n));
	pm_columns_cut(small.s, NAME, l->small, sizeof l->small);
	pm_str_release(&small);
	return node_title(g, n, &l->title, err);
}

/* How many nodes of a group have a mark; *classes: what all of these have. */
static size_t marked(const PmSheet *s, const PmFoldGroup *g, const PmSheetMarks *marks, uint64_t *classes)
{
	PmPlaces in = { 0 };
	size_t n = 0;

	*classes = UINT64_MAX;
	pm_fold_places(s->f, (uint32_t)(g - s->f->group.v), &in);
	for (size_t i = 0; i < in.n; i++) {
		uint64_t c = marks->of[in.v[i]].classes;

		n += c != 0;
		*classes &= c ? c : UINT64_MAX;
	}
	PM_VEC_RELEASE(&in);
	return n;
}

static void label_marked(const PmSheet *s, const PmFoldGroup *g, const PmSheetMarks *marks, Label *l)
{
	uint64_t classes;
	size_t n = marked(s, g, marks, &classes), used = strlen(l->small);

	if (!n)
		return;
	l->classes |= classes;
	snprintf(l->small + used, sizeof l->small - used, ", %zu %s", n, marks->word);
	pm_str_addf(&l->title, "; %zu %s", n, marks->word);
}

static void label_group(const PmSheet *s, const PmFoldGroup *g, const PmSheetStyle *style, Label *l)
{
	int opens = style->opens && style->opens[g->same];
	const PmFoldGroup *first = &s->f->group.v[g->same];

	l->classes = PM_SVG_CLASS(item) | PM_SVG_CLASS(group);
	pm_columns_cut(g->name, NAME, l->head, sizeof l->head);
	snprintf(l->small, sizeof l->small, "%zu nodes", g->n_nodes);
	pm_str_addf(&l->title, "%s: %zu nodes", g->name, g->n_nodes);
	if (style->marks)
		label_marked(s, g, style->marks, l);
	if (opens)
		pm_columns_cut(" \xe2\x80\xba", NAME, l->small + strlen(l->small),
			       sizeof l->small - strlen(l->small));
	if (first->n_same > 1)
		pm_str_addf(&l->title, "; one of %zu groups that differ in names and weights alone",
			    first->n_same);
	if (!opens)
		pm_str_addf(&l->title, "; --group %zu draws it", (size_t)(g - s->f->group.v));
}

static void label_port(const PmSheet *s, const PmBox *b, Label *l)
{
	const PmGraph *g = s->f->g;
	PmValue v = { b->id };
	PmStr type = PM_STR_INIT;

	l->classes = PM_SVG_CLASS(item) | PM_SVG_CLASS(port);
	if (b->id == PM_FOLD_NONE) {
		snprintf(l->head, sizeof l->head, "%zu values", b->times);
		pm_str_addf(&l->title, "%zu values that %s", b->times,
			    b->kind == PM_BOX_IN ? "come from outside" : "are used outside");
		return;
	}
	pm_graph_describe_type(g, pm_value_type(g, v), &type);
	pm_columns_cut(pm_value_name(g, v), NAME, l->head, sizeof l->head);
	pm_columns_cut(type.s, TYPE, l->small, sizeof l->small);
	pm_str_addf(&l->title, "%s: %s", pm_value_name(g, v), type.s);
	pm_str_release(&type);
}

static PmStatus label_box(const PmSheet *s, const PmBox *b, const PmSheetStyle *style, Label *l, PmErr *err)
{
	const PmFold *f = s->f;

	*l = (Label){ .title = PM_STR_INIT };
	if (b->kind == PM_BOX_NODE)
		return label_node(f->g, pm_graph_node_at(f->g, b->id),
				  style->marks ? &style->marks->of[b->id] : NULL, l, err);
	if (b->kind == PM_BOX_GROUP)
		label_group(s, &f->group.v[b->id], style, l);
	else
		label_port(s, b, l);
	return PM_OK;
}

static void size_box(const Label *l, PmLayNode *n)
{
	n->w = fmax(48, 20 + fmax(HEAD_COLUMN * (double)pm_columns(l->head),
				  SMALL_COLUMN * (double)pm_columns(l->small)));
	n->h = *l->small ? 38 : 26;
}

/* ---- SVG ---- */

static void draw_box(const PmSheet *s, size_t i, const PmLayNode *n, const Label *l, const char *opens,
		     PmSvg *svg)
{
	const PmBox *b = &s->box.v[i];
	uint32_t same = b->kind == PM_BOX_GROUP ? s->f->group.v[b->id].same : PM_FOLD_NONE;
	int links = same != PM_FOLD_NONE && opens && opens[same];

	pm_svg_el(svg, links ? PM_SVG_a : PM_SVG_g);
	pm_svg_class(svg, l->classes);
	if (links)
		pm_svg_ref(svg, PM_SVG_AT_href, "g", same);
	pm_svg_title(svg, l->title.s);
	pm_svg_el(svg, PM_SVG_rect);
	pm_svg_box(svg, n->x - n->w / 2, n->y - n->h / 2, n->w, n->h);
	pm_svg_num(svg, PM_SVG_AT_rx, b->kind == PM_BOX_NODE ? 4 : n->h / 2);
	pm_svg_end(svg, PM_SVG_rect);
	pm_svg_label(svg, PM_SVG_CLASS(name), n->x, n->y + (*l->small ? -2 : 4), l->head);
	if (*l->small)
		pm_svg_label(svg, PM_SVG_CLASS(sub), n->x, n->y + 12, l->small);
	pm_svg_end(svg, links ? PM_SVG_a : PM_SVG_g);
}

static void draw_head(const PmPoint *p, size_t n, PmSvg *svg)
{
	PmPoint end = p[n - 1], from = p[n - 2];
	double dx = end.x - from.x, dy = end.y - from.y, len = hypot(dx, dy);
	PmPoint corner[3] = { end };

	if (len < 0.01)
		return;
	dx /= len;
	dy /= len;
	corner[1] = (PmPoint){ end.x - 7 * dx - 3.2 * dy, end.y - 7 * dy + 3.2 * dx };
	corner[2] = (PmPoint){ end.x - 7 * dx + 3.2 * dy, end.y - 7 * dy - 3.2 * dx };
	pm_svg_el(svg, PM_SVG_path);
	pm_svg_class(svg, PM_SVG_CLASS(head));
	pm_svg_polygon(svg, corner, 3);
	pm_svg_end(svg, PM_SVG_path);
}

static void draw_wire(const PmLayout *l, size_t i, PmSvg *svg)
{
	const PmLayEdge *e = &l->edge[i];
	const PmPoint *p = l->point.v + e->first;

	if (!e->n)
		return;
	pm_svg_el(svg, PM_SVG_path);
	pm_svg_class(svg, PM_SVG_CLASS(edge));
	pm_svg_curve(svg, p, e->n);
	pm_svg_end(svg, PM_SVG_path);
	draw_head(p, e->n, svg);
}

/* A port says its type itself, and a value that goes to several boxes says it once. */
static int says_type(const PmSheet *s, const PmLayout *l, size_t i)
{
	const PmWire *w = &s->wire.v[i];

	if (!l->edge[i].n || s->box.v[w->from].kind == PM_BOX_IN)
		return 0;
	for (size_t k = i; k-- > 0 && s->wire.v[k].from == w->from;) {
		if (s->wire.v[k].value.id == w->value.id && s->wire.v[k].n == w->n)
			return 0;
	}
	return 1;
}

/* Where the type stands: at the beginning of the edge when the box has no other type to say there, else in
 * the middle of its middle piece. */
static PmPoint type_place(const PmSheet *s, const PmLayout *l, size_t i)
{
	const PmLayEdge *e = &l->edge[i];
	const PmPoint *p = l->point.v + e->first;
	int alone = 1;

	for (size_t k = i + 1; k < l->n_edges && s->wire.v[k].from == s->wire.v[i].from; k++)
		alone &= !says_type(s, l, k);
	for (size_t k = i; k-- > 0 && s->wire.v[k].from == s->wire.v[i].from;)
		alone &= !says_type(s, l, k);
	if (alone)
		return (PmPoint){ p->x + 5, p->y + 13 };
	p += (e->n - 1) / 3 / 2 * 3;
	return (PmPoint){ (p[0].x + 3 * p[1].x + 3 * p[2].x + p[3].x) / 8 + 5,
			  (p[0].y + 3 * p[1].y + 3 * p[2].y + p[3].y) / 8 + 4 };
}

/* What stands there, of at most TYPE columns. */
static void type_text(const PmSheet *s, size_t i, char *text, size_t size)
{
	const PmWire *w = &s->wire.v[i];
	const PmGraph *g = s->f->g;
	PmStr type = PM_STR_INIT;

	if (w->n > 1)
		pm_str_addf(&type, "%zu values", w->n);
	else
		pm_graph_describe_type(g, pm_value_type(g, w->value), &type);
	pm_columns_cut(type.s, TYPE, text, size);
	pm_str_release(&type);
}

static void draw_type(const PmSheet *s, const PmLayout *l, size_t i, PmSvg *svg)
{
	PmPoint at;
	char text[128];

	if (!says_type(s, l, i))
		return;
	at = type_place(s, l, i);
	type_text(s, i, text, sizeof text);
	pm_svg_label(svg, PM_SVG_CLASS(shape), at.x, at.y, text);
}

/* Layouts know nothing of the types: a drawing is as wide as these need. */
static void widen(const PmSheet *s, PmLayout *l)
{
	char text[128];

	for (size_t i = 0; i < l->n_edges; i++) {
		if (!says_type(s, l, i))
			continue;
		type_text(s, i, text, sizeof text);
		l->w = fmax(l->w, type_place(s, l, i).x + SMALL_COLUMN * (double)pm_columns(text) + 8);
	}
}

static PmStatus draw(const PmSheet *s, PmLayout *l, const Label *label, const PmSheetStyle *style, PmStr *out,
		     PmErr *err)
{
	PmStatus st = pm_layout(l, err);
	PmSvg svg;

	if (st)
		return st;
	widen(s, l);
	pm_svg_begin(&svg, out);
	pm_svg_open(&svg, l->w, l->h);
	pm_svg_class(&svg, PM_SVG_CLASS(pg));
	pm_svg_num(&svg, PM_SVG_AT_width, ceil(l->w));
	pm_svg_num(&svg, PM_SVG_AT_height, ceil(l->h));
	if (style->alone)
		pm_svg_style(&svg);
	pm_svg_title(&svg, s->f->group.v[s->group].name);
	for (size_t i = 0; i < l->n_edges; i++)
		draw_wire(l, i, &svg);
	for (size_t i = 0; i < l->n_nodes; i++)
		draw_box(s, i, &l->node[i], &label[i], style->opens, &svg);
	for (size_t i = 0; i < l->n_edges; i++)
		draw_type(s, l, i, &svg);
	pm_svg_end(&svg, PM_SVG_svg);
	return PM_OK;
}

PmStatus pm_sheet_draw(const PmSheet *s, const PmSheetStyle *style, PmStr *out, PmErr *err)
{
	Label *label = pm_xcalloc(s->box.n + 1, sizeof *label);
	PmLayout l = { .engine = style->engine, .n_nodes = s->box.n, .n_edges = s->wire.n };
	PmStatus st = PM_OK;
	size_t n;

	l.node = pm_xcalloc(s->box.n + 1, sizeof *l.node);
	l.edge = pm_xcalloc(s->wire.n + 1, sizeof *l.edge);
	for (n = 0; n < s->box.n && !st; n++) {
		st = label_box(s, &s->box.v[n], style, &label[n], err);
		size_box(&label[n], &l.node[n]);
	}
	for (size_t i = 0; i < s->wire.n; i++) {
		l.edge[i].from = s->wire.v[i].from;
		l.edge[i].to = s->wire.v[i].to;
	}
	if (!st)
		st = draw(s, &l, label, style, out, err);
	for (size_t i = 0; i < n; i++)
		pm_str_release(&label[i].title);
	pm_layout_release(&l);
	free(label);
	free(l.node);
	free(l.edge);
	return st;
}

PmStatus pm_sheet_draw_first(const PmGraph *g, const PmSheetMarks *marks, PmStr *out, PmErr *err)
{
	PmSheetStyle style = { .engine = PM_LAYOUT_OWN, .marks = marks };
	PmFold f;
	PmSheet s;
	PmStatus st = pm_fold(g, 0, &f, err);

	if (!st) {
		pm_sheet_make(&f, 0, &s);
		st = pm_sheet_draw(&s, &style, out, err);
		pm_sheet_release(&s);
	}
	pm_fold_release(&f);
	return st;
}

_Static_assert(PM_SVG_CL_mark8 - PM_SVG_CL_mark1 + 1 == PM_SHEET_COLOURS, "all of them, in order");

uint64_t pm_sheet_colour(size_t number)
{
	return PM_SVG_CLASS(mark1) << number % PM_SHEET_COLOURS;
}
