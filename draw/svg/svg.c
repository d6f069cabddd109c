/* SPDX-License-Identifier: Apache-2.0 */
/* svg.c - the writer of SVG. */
#include "draw/svg/svg.h"

#include "base/core/arena.h"
#include "base/core/clean.h"
#include "draw/svg/svg.css.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AT_TEXT, AT_NUM, AT_REF };

static const char *const el_name[] = {
#define EL(name) #name,
#include "draw/svg/names.def"
};

static const struct {
	const char *name;
	int kind;
} at_name[] = {
#define AT(name, text, kind) { text, AT_##kind },
#include "draw/svg/names.def"
};

static const char *const cl_name[] = {
#define CL(name, what) #name,
#include "draw/svg/names.def"
};

_Static_assert(PM_SVG_N_CL <= 64, "a set of classes is 64 bits");

const char *pm_svg_css(void)
{
	return svg_css;
}

void pm_svg_begin(PmSvg *s, PmStr *out)
{
	*s = (PmSvg){ .out = out };
}

static void close_tag(PmSvg *s)
{
	if (s->in_tag)
		pm_str_addc(s->out, '>');
	s->in_tag = 0;
}

void pm_svg_el(PmSvg *s, PmSvgEl e)
{
	if (s->n_open == PM_SVG_DEPTH)
		PM_BUG("SVG elements are nested more than %d deep.", PM_SVG_DEPTH);
	close_tag(s);
	if (e == PM_SVG_svg || e == PM_SVG_g)
		pm_str_addc(s->out, '\n');
	pm_str_addc(s->out, '<');
	pm_str_add(s->out, el_name[e]);
	s->open[s->n_open++] = (unsigned char)e;
	s->in_tag = 1;
}

void pm_svg_end(PmSvg *s, PmSvgEl e)
{
	if (!s->n_open || s->open[s->n_open - 1] != e)
		PM_BUG("The SVG element <%s> is closed, which is not the innermost.", el_name[e]);
	s->n_open--;
	if (s->in_tag) {
		pm_str_add(s->out, "/>");
	} else {
		pm_str_add(s->out, "</");
		pm_str_add(s->out, el_name[e]);
		pm_str_addc(s->out, '>');
	}
	s->in_tag = 0;
}

/* ---- values ---- */

/* One decimal, none when it is 0. Beyond a hundred million units nothing is drawn. */
static void add_number(PmStr *out, double v)
{
	int64_t tenths = isfinite(v) && fabs(v) < 1e8 ? llround(v * 10) : 0;

	if (tenths < 0)
		pm_str_addc(out, '-');
	tenths = tenths < 0 ? -tenths : tenths;
	pm_str_addi(out, tenths / 10);
	if (tenths % 10) {
		pm_str_addc(out, '.');
		pm_str_addi(out, tenths % 10);
	}
}

static void add_point(PmStr *out, PmPoint p)
{
	add_number(out, p.x);
	pm_str_addc(out, ' ');
	add_number(out, p.y);
}

static void add_escaped(PmStr *out, const char *text)
{
	char small[512], *clean = small;
	size_t n = strnlen(text, PM_SVG_TEXT) + 1;

	if (n > sizeof small)
		clean = pm_xmalloc(n);
	pm_clean(text, clean, n, 1);
	for (const char *p = clean; *p; p++) {
		if (*p == '&')
			pm_str_add(out, "&amp;");
		else if (*p == '<')
			pm_str_add(out, "&lt;");
		else if (*p == '>')
			pm_str_add(out, "&gt;");
		else if (*p == '"')
			pm_str_add(out, "&quot;");
		else if (*p == '\'')
			pm_str_add(out, "&#39;");
		else
			pm_str_addc(out, *p);
	}
	if (clean != small)
		free(clean);
}

static void begin_at(PmSvg *s, PmSvgAt a, int kind)
{
	if (!s->in_tag || at_name[a].kind != kind)
		PM_BUG("The SVG attribute '%s' is written where it may not stand, or as another kind of "
		       "value.",
		       at_name[a].name);
	pm_str_addc(s->out, ' ');
	pm_str_add(s->out, at_name[a].name);
	pm_str_add(s->out, "=\"");
}

void pm_svg_num(PmSvg *s, PmSvgAt a, double v)
{
	begin_at(s, a, AT_NUM);
	add_number(s->out, v);
	pm_str_addc(s->out, '"');
}

void pm_svg_at(PmSvg *s, PmSvgAt a, const char *text)
{
	begin_at(s, a, AT_TEXT);
	add_escaped(s->out, text);
	pm_str_addc(s->out, '"');
}

void pm_svg_class(PmSvg *s, uint64_t set)
{
	const char *sep = " class=\"";

	if (!s->in_tag)
		PM_BUG("SVG classes are written behind the content of an element.");
	for (int i = 0; i < PM_SVG_N_CL; i++) {
		if (!(set >> i & 1))
			continue;
		pm_str_add(s->out, sep);
		pm_str_add(s->out, cl_name[i]);
		sep = " ";
	}
	if (set)
		pm_str_addc(s->out, '"');
}

void pm_svg_ref(PmSvg *s, PmSvgAt a, const char *prefix, size_t number)
{
	begin_at(s, a, AT_REF);
	if (a == PM_SVG_AT_href)
		pm_str_addc(s->out, '#');
	for (; *prefix; prefix++) {
		if ((*prefix | 32) >= 'a' && (*prefix | 32) <= 'z')
			pm_str_addc(s->out, *prefix);
	}
	pm_str_addi(s->out, (int64_t)number);
	pm_str_addc(s->out, '"');
}

void pm_svg_box(PmSvg *s, double x, double y, double w, double h)
{
	pm_svg_num(s, PM_SVG_AT_x, x);
	pm_svg_num(s, PM_SVG_AT_y, y);
	pm_svg_num(s, PM_SVG_AT_width, w);
	pm_svg_num(s, PM_SVG_AT_height, h);
}

void pm_svg_open(PmSvg *s, double w, double h)
{
	int root = !s->n_open;

	pm_svg_el(s, PM_SVG_svg);
	if (root)
		pm_str_add(s->out, " xmlns=\"http://www.w3.org/2000/svg\"");
	pm_str_add(s->out, " viewBox=\"0 0 ");
	add_point(s->out, (PmPoint){ w, h });
	pm_str_addc(s->out, '"');
}

/* ---- paths ---- */

static void begin_path(PmSvg *s, PmPoint p)
{
	if (!s->in_tag)
		PM_BUG("An SVG path is written behind the content of its element.");
	pm_str_add(s->out, " d=\"M");
	add_point(s->out, p);
}

void pm_svg_curve(PmSvg *s, const PmPoint *point, size_t n)
{
	begin_path(s, point[0]);
	for (size_t i = 1; i < n; i++) {
		pm_str_addc(s->out, i % 3 == 1 ? 'C' : ' ');
		add_point(s->out, point[i]);
	}
	pm_str_addc(s->out, '"');
}

void pm_svg_polygon(PmSvg *s, const PmPoint *point, size_t n)
{
	begin_path(s, point[0]);
	for (size_t i = 1; i < n; i++) {
		pm_str_addc(s->out, 'L');
		add_point(s->out, point[i]);
	}
	pm_str_add(s->out, "Z\"");
}

/* ---- text ---- */

void pm_svg_text(PmSvg *s, const char *text)
{
	if (!s->n_open)
		PM_BUG("SVG text is written outside of any element.");
	close_tag(s);
	add_escaped(s->out, text);
}

void pm_svg_title(PmSvg *s, const char *text)
{
	pm_svg_el(s, PM_SVG_title);
	pm_svg_text(s, text);
	pm_svg_end(s, PM_SVG_title);
}

void pm_svg_label(PmSvg *s, uint64_t classes, double x, double y, const char *text)
{
	pm_svg_el(s, PM_SVG_text);
	pm_svg_class(s, classes);
	pm_svg_num(s, PM_SVG_AT_x, x);
	pm_svg_num(s, PM_SVG_AT_y, y);
	pm_svg_text(s, text);
	pm_svg_end(s, PM_SVG_text);
}

void pm_svg_style(PmSvg *s)
{
	close_tag(s);
	pm_str_add(s->out, "<style>\n");
	pm_str_add(s->out, svg_css);
	pm_str_add(s->out, "</style>");
}
