/* SPDX-License-Identifier: Apache-2.0 */
/* svg.h - writing SVG in which everything is escaped by construction.
 *
 * Elements, attributes and classes are from a closed list (draw/svg/names.def) that has nothing which runs or
 * loads. Text may be anything, also bytes that are no UTF-8: control characters and characters that change
 * how text is laid out become blanks or '?' (base/core/clean.h). Numbers have one decimal and are finite. The
 * same calls give the same bytes.
 *
 *   pm_svg_el(&s, PM_SVG_rect);
 *   pm_svg_class(&s, PM_SVG_CLASS(node) | PM_SVG_CLASS(added));
 *   pm_svg_num(&s, PM_SVG_AT_x, 12.5);
 *   pm_svg_end(&s, PM_SVG_rect);
 *
 * Calls in a wrong order are mistakes of the caller and end the program.
 */
#ifndef DRAW_SVG_SVG_H
#define DRAW_SVG_SVG_H

#include "base/core/str.h"
#include "draw/svg/point.h"

typedef enum PmSvgEl {
#define EL(name) PM_SVG_##name,
#include "draw/svg/names.def"
	PM_SVG_N_EL
} PmSvgEl;

typedef enum PmSvgAt {
#define AT(name, text, kind) PM_SVG_AT_##name,
#include "draw/svg/names.def"
	PM_SVG_N_AT
} PmSvgAt;

enum {
#define CL(name, what) PM_SVG_CL_##name,
#include "draw/svg/names.def"
	PM_SVG_N_CL
};

/* A set of classes is a sum of these. */
#define PM_SVG_CLASS(name) ((uint64_t)1 << PM_SVG_CL_##name)

enum {
	PM_SVG_DEPTH = 64,
	PM_SVG_TEXT = 16384 /* bytes of one text; what is longer is cut */
};

typedef struct PmSvg {
	PmStr *out; /* borrowed */
	int n_open; /* elements that are open, the innermost last */
	unsigned char open[PM_SVG_DEPTH];
	int in_tag; /* attributes may follow */
} PmSvg;

/* Begins to append to `out`, which outlives s. */
void pm_svg_begin(PmSvg *s, PmStr *out);
/* Opens the root, or a drawing inside a drawing, of w times h units. The namespace is written at the root. */
void pm_svg_open(PmSvg *s, double w, double h);
/* Opens an element. */
void pm_svg_el(PmSvg *s, PmSvgEl e);
/* Closes the innermost element, which is e. */
void pm_svg_end(PmSvg *s, PmSvgEl e);

/* Attributes of the element that was opened last, before its content. A number that is not finite is 0. */
void pm_svg_num(PmSvg *s, PmSvgAt a, double v);
void pm_svg_at(PmSvg *s, PmSvgAt a, const char *text);
/* The classes of the set, in the order of names.def. */
void pm_svg_class(PmSvg *s, uint64_t set);
/* An id, or a link to one: `prefix` and a number. Of the prefix only letters are written. */
void pm_svg_ref(PmSvg *s, PmSvgAt a, const char *prefix, size_t number);
/* x, y, width and height. */
void pm_svg_box(PmSvg *s, double x, double y, double w, double h);
/* The path of a curve: point[0], and cubic Bezier pieces of three points each (n = 1 + 3 k). */
void pm_svg_curve(PmSvg *s, const PmPoint *point, size_t n);
/* The path of a closed polygon. */
void pm_svg_polygon(PmSvg *s, const PmPoint *point, size_t n);

/* Appends text. */
void pm_svg_text(PmSvg *s, const char *text);
/* An element <title> with text: what is shown over its parent. */
void pm_svg_title(PmSvg *s, const char *text);
/* An element <text> at a point. */
void pm_svg_label(PmSvg *s, uint64_t classes, double x, double y, const char *text);

/* The rules of the classes, light and dark, for the page that shows drawings (draw/html/page.h); and appends
 * them as <style>, for a drawing that is a file of its own. */
const char *pm_svg_css(void);
void pm_svg_style(PmSvg *s);

#endif
