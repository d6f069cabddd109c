/* SPDX-License-Identifier: Apache-2.0 */
/* made_graph.c - a graph as a drawing in which the nodes of a kernel have one colour, and the kernels as a
 * table. */
#include "app/report/made.h"
#include "app/report/put.h"
#include "app/view/sheet.h"
#include "draw/html/frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 96, NODES = 12 };

const PmAttr *pm__made_attr(const PmGraph *made, PmNode n, const char *name, int alt)
{
	int have = (int)pm_node_i(made, n, "alts", 1);
	char attr[32];

	snprintf(attr, sizeof attr, "%s_%d", name, alt < have ? alt : have - 1);
	return pm_node_attr(made, n, attr);
}

/* ---- the drawing ---- */

typedef char Text[TEXT];

static PmSheetMark *mark_nodes(const PmGraph *made, const PmRegions *f, Text *tag, Text *note)
{
	PmSheetMark *mark = pm_xcalloc(f->n_before + 1, sizeof *mark);

	for (size_t k = 0; k < f->list.n; k++) {
		snprintf(tag[k], TEXT, "kernel %zu", k + 1);
		snprintf(note[k], TEXT, "kernel %zu (%.40s)", k + 1,
			 pm_node_s(made, f->list.v[k].kernel, "name", ""));
	}
	for (size_t i = 0; i < f->n_before; i++) {
		size_t k = f->of[i];

		if (k)
			mark[i] = (PmSheetMark){ pm_sheet_colour(k - 1), tag[k - 1], note[k - 1] };
	}
	return mark;
}

PmStatus pm__put_made_drawing(const PmGraph *g, const PmGraph *made, const PmRegions *f, PmHtml *h,
			      PmErr *err)
{
	size_t n = f ? f->list.n : 0;
	Text *tag = pm_xcalloc(n + 1, sizeof *tag), *note = pm_xcalloc(n + 1, sizeof *note);
	PmSheetMark *mark = f ? mark_nodes(made, f, tag, note) : NULL;
	PmSheetMarks marks = { mark, "fused" };
	PmStr svg = PM_STR_INIT;
	PmStatus st = pm_sheet_draw_first(g, f ? &marks : NULL, &svg, err);

	if (!st) {
		pm_html_el(h, PM_EL_div);
		pm_html_at(h, PM_AT_class, "pg");
		pm_frame_open(h, "canvas", "Drawing of the graph");
		pm_html_svg(h, &svg);
		pm_html_end(h, PM_EL_div);
		pm_html_end(h, PM_EL_div);
	}
	pm_str_release(&svg);
	free(mark);
	free(tag);
	free(note);
	return st;
}

/* ---- the kernels ---- */

/* "Sigmoid, Mul x 2": operators in the order in which they first stand. */
static void add_ops(const PmGraph *g, const PmRegions *f, size_t kernel, PmStr *out)
{
	size_t n_kinds = 0;

	for (size_t i = 0; i < f->n_before; i++) {
		const char *op = pm_node_op_name(g, pm_graph_node_at(g, i));
		size_t n = 0, before = 0;

		for (size_t k = 0; k < f->n_before && f->of[i] == kernel; k++)
			if (f->of[k] == kernel && !strcmp(op, pm_node_op_name(g, pm_graph_node_at(g, k)))) {
				before += k < i;
				n++;
			}
		if (!n || before || n_kinds++ > NODES)
			continue;
		if (n_kinds > NODES)
			pm_str_add(out, ", ...");
		else
			pm_str_addf(out, n > 1 ? "%s%.40s x %zu" : "%s%.40s", n_kinds > 1 ? ", " : "", op, n);
	}
}

static void put_launches(const PmAttr *a, PmHtml *h)
{
	pm_html_el(h, PM_EL_td);
	for (size_t i = 0; a && a->kind == PM_ATTR_STRINGS && i < a->n && i < 4; i++) {
		const char *end = strstr(a->strings[i], " args=");
		PmStr text = PM_STR_INIT;

		pm_str_addn(&text, a->strings[i],
			    end ? (size_t)(end - a->strings[i]) : strlen(a->strings[i]));
		pm_html_text(h, i ? "; " : "");
		pm_html_text_cut(h, text.s, 160);
		pm_str_release(&text);
	}
	if (a && a->n > 4)
		pm_html_textf(h, "; %zu more", a->n - 4);
	pm_html_end(h, PM_EL_td);
}

static void put_kernel(const PmGraph *g, const PmGraph *made, const PmRegions *f, size_t k, int alt,
		       PmHtml *h)
{
	PmNode n = f->list.v[k].kernel;
	PmStr ops = PM_STR_INIT;

	add_ops(g, f, k + 1, &ops);
	pm_html_el(h, PM_EL_tr);
	pm_html_el(h, PM_EL_th);
	pm_html_at(h, PM_AT_scope, "row");
	pm_html_el(h, PM_EL_span);
	pm_html_atf(h, PM_AT_class, "swatch mark%zu", k % PM_SHEET_COLOURS + 1);
	pm_html_at(h, PM_AT_aria_hidden, "true");
	pm_html_end(h, PM_EL_span);
	pm_html_textf(h, "kernel %zu (", k + 1);
	pm_html_text_cut(h, pm_node_s(made, n, "name", ""), 60);
	pm_html_text(h, ")");
	pm_html_end(h, PM_EL_th);
	pm_html_put(h, PM_EL_td, NULL, ops.s);
	pm_html_putf(h, PM_EL_td, "num", "%zu", f->list.v[k].n);
	put_launches(pm__made_attr(made, n, "launch", alt), h);
	pm_html_end(h, PM_EL_tr);
	pm_str_release(&ops);
}

void pm__put_made_kernels(const PmGraph *g, const PmGraph *made, const PmRegions *f, int alt, PmHtml *h)
{
	static const char *const heads[] = { "Kernel", "What it replaces", "Nodes", "Launches" };
	PmStr left = PM_STR_INIT;

	pm_frame_table(h, "wide pg legend", "Kernels and what they replace");
	pm_frame_heads(h, heads, sizeof heads / sizeof *heads);
	for (size_t k = 0; k < f->list.n && k < PM_MADE_KERNELS; k++)
		put_kernel(g, made, f, k, alt, h);
	pm_frame_table_end(h);
	if (f->list.n > PM_MADE_KERNELS)
		pm_html_putf(h, PM_EL_p, "soft", "%zu more kernels are left out.",
			     f->list.n - PM_MADE_KERNELS);
	add_ops(g, f, 0, &left);
	if (left.len)
		pm_html_putf(h, PM_EL_p, NULL, "Left as it was: %s.", left.s);
	pm_str_release(&left);
}
