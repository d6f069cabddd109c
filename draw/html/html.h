/* SPDX-License-Identifier: Apache-2.0 */
/* html.h - writing HTML in which everything is escaped by construction.
 *
 * Elements and attributes are from a closed list (draw/html/names.def) that has nothing which runs or loads.
 * Text and values may be anything, also bytes that are no UTF-8: they are escaped, and characters that change
 * how text is laid out become '?' (base/core/clean.h). The same calls give the same bytes.
 *
 *   pm_html_el(&h, PM_EL_td);
 *   pm_html_at(&h, PM_AT_class, "num");
 *   pm_html_textf(&h, "%.2f", x);
 *   pm_html_end(&h, PM_EL_td);
 *
 * A page is these between pm_page_open and pm_page_close (draw/html/page.h). Calls in a wrong order are
 * mistakes of the caller and end the program.
 */
#ifndef DRAW_HTML_HTML_H
#define DRAW_HTML_HTML_H

#include "base/core/json.h"
#include "base/core/str.h"

typedef enum PmEl {
#define EL(name, is_void) PM_EL_##name,
#include "draw/html/names.def"
	PM_N_EL
} PmEl;

typedef enum PmAt {
#define AT(name, text) PM_AT_##name,
#include "draw/html/names.def"
	PM_N_AT
} PmAt;

enum { PM_HTML_DEPTH = 64 };

typedef struct PmHtml {
	PmStr *out; /* borrowed */
	int n_open; /* elements that are open, the innermost last */
	unsigned char open[PM_HTML_DEPTH];
	int in_tag; /* attributes may follow */
} PmHtml;

/* Begins to append to `out`, which outlives h. */
void pm_html_begin(PmHtml *h, PmStr *out);

/* Opens an element; one that has no content (input) is closed by what comes next. */
void pm_html_el(PmHtml *h, PmEl e);
/* Adds an attribute to the element opened last, before its content. An href that is no '#...' and no relative
 * name of letters, digits, '.', '_', '-', '/' and '#' becomes "#": links lead nowhere else. */
void pm_html_at(PmHtml *h, PmAt a, const char *value);
/* The same with a format. */
void pm_html_atf(PmHtml *h, PmAt a, const char *fmt, ...) PM_PRINTF(3, 4);
/* Closes the innermost element, which is e. */
void pm_html_end(PmHtml *h, PmEl e);

/* Appends text. */
void pm_html_text(PmHtml *h, const char *s);
/* The same with a format. */
void pm_html_textf(PmHtml *h, const char *fmt, ...) PM_PRINTF(2, 3);
/* Appends at most `most` bytes of a text, and "..." where that is not all. Directly in an element that was
 * just opened, a cut text is also its title, up to 2000 bytes. */
void pm_html_text_cut(PmHtml *h, const char *s, size_t most);
/* An element with a class (NULL = none) and text. */
void pm_html_put(PmHtml *h, PmEl e, const char *class_, const char *text);
/* The same with a format. */
void pm_html_putf(PmHtml *h, PmEl e, const char *class_, const char *fmt, ...) PM_PRINTF(4, 5);

/* Appends an <svg> element that draw/svg or bench/report/plot made: these escape what they write. It may hold
 * no <style>, no style attribute and no script: the page's policy refuses them. */
void pm_html_svg(PmHtml *h, const PmStr *svg);
/* Appends data as <script type="application/json" id=...>, which no browser runs; `id` is a constant. */
void pm_html_json(PmHtml *h, const char *id, const cJSON *j);

#endif
