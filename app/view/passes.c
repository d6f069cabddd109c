/* SPDX-License-Identifier: Apache-2.0 */
/* passes.c - a model as a drawing, with the passes marked. */
#include "app/view/passes.h"

#include "app/view/sheet.h"
#include "draw/html/frame.h"
#include "ir/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Marks by place; the tags are the numbers of passes. */
typedef struct Marks {
	PmSheetMark *of;
	char (*tag)[24]; /* by pass */
	int n_passes;
} Marks;

static void mark(const Marks *m, size_t n_nodes, const cJSON *place, const cJSON *region)
{
	int64_t pass = pm_json_i64(region, "pass", -1);

	if (!cJSON_IsNumber(place) || place->valuedouble < 0 || place->valuedouble >= (double)n_nodes ||
	    pass < 0 || pass >= m->n_passes)
		return;
	m->of[(size_t)place->valuedouble] = (PmSheetMark){ .classes = pm_sheet_colour((size_t)pass),
							   .tag = m->tag[pass],
							   .note = pm_json_str(region, "rule", "") };
}

static void make_marks(const cJSON *record, size_t n_nodes, int after, Marks *m)
{
	const cJSON *region, *place;

	m->n_passes = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(record, "passes"));
	m->of = pm_xcalloc(n_nodes + 1, sizeof *m->of);
	m->tag = pm_xcalloc((size_t)m->n_passes + 1, sizeof *m->tag);
	for (int k = 0; k < m->n_passes; k++)
		snprintf(m->tag[k], sizeof m->tag[k], "pass %d", k + 1);
	cJSON_ArrayForEach(region, cJSON_GetObjectItemCaseSensitive(record, "regions"))
	{
		if (after) {
			mark(m, n_nodes, cJSON_GetObjectItemCaseSensitive(region, "place"), region);
			continue;
		}
		cJSON_ArrayForEach(place, cJSON_GetObjectItemCaseSensitive(region, "nodes"))
			mark(m, n_nodes, place, region);
	}
}

static PmStatus draw(const PmGraph *g, const cJSON *record, int after, PmStr *svg, PmErr *err)
{
	Marks m = { 0 };
	PmSheetMarks marks = { .word = after ? "kernels" : "rewritten" };
	PmStatus st;

	make_marks(record, pm_graph_n_nodes(g), after, &m);
	marks.of = m.of;
	st = pm_sheet_draw_first(g, &marks, svg, err);
	free(m.of);
	free(m.tag);
	return st;
}

void pm_view_passes(PmHtml *h, size_t model, const char *what, const char *text, const cJSON *record,
		    int after)
{
	PmStr svg = PM_STR_INIT;
	PmGraph *g = NULL;
	PmErr err;
	PmStatus st;

	pm_err_init(&err);
	st = pm_graph_parse_within(text, strlen(text), (size_t)256 << 20, &g, &err);
	if (!st)
		st = draw(g, record, after, &svg, &err);
	pm_html_el(h, PM_EL_figure);
	pm_html_el(h, PM_EL_figcaption);
	pm_html_textf(h, "%s: ", what);
	if (st)
		pm_html_text_cut(h, err.text, 300);
	else
		pm_html_textf(h, "%zu nodes", pm_graph_n_nodes(g));
	pm_html_end(h, PM_EL_figcaption);
	if (!st) {
		pm_frame_open(h, "canvas", "%s, model %zu", what, model);
		pm_html_svg(h, &svg);
		pm_html_end(h, PM_EL_div);
	}
	pm_html_end(h, PM_EL_figure);
	pm_graph_free(g);
	pm_str_release(&svg);
}
