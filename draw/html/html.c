/* SPDX-License-Identifier: Apache-2.0 */
/* html.c - writing HTML in which everything is escaped by construction. */
#include "draw/html/html.h"

#include "base/core/arena.h"
#include "base/core/clean.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	int is_void;
} elements[] = {
#define EL(name, is_void) { #name, is_void },
#include "draw/html/names.def"
};

static const char *const attributes[] = {
#define AT(name, text) text,
#include "draw/html/names.def"
};

void pm_html_begin(PmHtml *h, PmStr *out)
{
	memset(h, 0, sizeof *h);
	h->out = out;
}

/* ---- escaping ---- */

static void escape(PmStr *out, const char *s)
{
	size_t n;

	for (; *s; s += n + 1) {
		n = strcspn(s, "<>&\"'");
		pm_str_addn(out, s, n);
		switch (s[n]) {
		case '<':
			pm_str_add(out, "&lt;");
			break;
		case '>':
			pm_str_add(out, "&gt;");
			break;
		case '&':
			pm_str_add(out, "&amp;");
			break;
		case '"':
			pm_str_add(out, "&quot;");
			break;
		case '\'':
			pm_str_add(out, "&#39;");
			break;
		default:
			return;
		}
	}
}

/* What is cleaned is never longer. */
static void add_clean(PmStr *out, const char *s)
{
	size_t size = strlen(s) + 1;
	char *clean = pm_xmalloc(size);

	pm_clean(s, clean, size, 1);
	escape(out, clean);
	free(clean);
}

/* ---- elements ---- */

static void end_tag(PmHtml *h)
{
	if (h->in_tag)
		pm_str_addc(h->out, '>');
	h->in_tag = 0;
}

void pm_html_el(PmHtml *h, PmEl e)
{
	end_tag(h);
	pm_str_addc(h->out, '<');
	pm_str_add(h->out, elements[e].name);
	h->in_tag = 1;
	if (elements[e].is_void)
		return;
	assert(h->n_open < PM_HTML_DEPTH);
	h->open[h->n_open++] = (unsigned char)e;
}

/* Ends of lines where a reader of the source looks for them. */
static int ends_line(PmEl e)
{
	return e == PM_EL_tr || e == PM_EL_p || e == PM_EL_li || e == PM_EL_section || e == PM_EL_table ||
	       e == PM_EL_div || e == PM_EL_thead || e == PM_EL_h2 || e == PM_EL_h3 || e == PM_EL_details;
}

void pm_html_end(PmHtml *h, PmEl e)
{
	end_tag(h);
	assert(h->n_open > 0 && h->open[h->n_open - 1] == e);
	h->n_open--;
	pm_str_add(h->out, "</");
	pm_str_add(h->out, elements[e].name);
	pm_str_add(h->out, ends_line(e) ? ">\n" : ">");
}

/* ---- attributes ---- */

static int is_own_link(const char *s)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/#";

	return *s == '#' || (*s && *s != '/' && s[strspn(s, allowed)] == 0);
}

void pm_html_at(PmHtml *h, PmAt a, const char *value)
{
	assert(h->in_tag);
	pm_str_addc(h->out, ' ');
	pm_str_add(h->out, attributes[a]);
	pm_str_add(h->out, "=\"");
	add_clean(h->out, a == PM_AT_href && !is_own_link(value) ? "#" : value);
	pm_str_addc(h->out, '"');
}

static PM_PRINTF(1, 0) char *formatted(const char *fmt, va_list ap)
{
	va_list again;
	char *text;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	assert(n >= 0);
	text = pm_xmalloc((size_t)n + 1);
	vsnprintf(text, (size_t)n + 1, fmt, ap);
	return text;
}

void pm_html_atf(PmHtml *h, PmAt a, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = formatted(fmt, ap);
	va_end(ap);
	pm_html_at(h, a, text);
	free(text);
}

/* ---- text ---- */

void pm_html_text(PmHtml *h, const char *s)
{
	end_tag(h);
	add_clean(h->out, s);
}

void pm_html_textf(PmHtml *h, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = formatted(fmt, ap);
	va_end(ap);
	pm_html_text(h, text);
	free(text);
}

enum { TITLE_BYTES = 2000 };

void pm_html_text_cut(PmHtml *h, const char *s, size_t most)
{
	size_t n = strlen(s);
	char title[TITLE_BYTES + 1], *part;

	if (n <= most) {
		pm_html_text(h, s);
		return;
	}
	part = pm_xmalloc(most + 1);
	pm_clean(s, part, most + 1, 0); /* cut at a whole character */
	if (h->in_tag) {
		pm_clean(s, title, sizeof title, 0);
		pm_html_at(h, PM_AT_title, title);
	}
	pm_html_text(h, part);
	pm_str_add(h->out, "...");
	free(part);
}

void pm_html_put(PmHtml *h, PmEl e, const char *class_, const char *text)
{
	pm_html_el(h, e);
	if (class_)
		pm_html_at(h, PM_AT_class, class_);
	pm_html_text(h, text);
	pm_html_end(h, e);
}

void pm_html_putf(PmHtml *h, PmEl e, const char *class_, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = formatted(fmt, ap);
	va_end(ap);
	pm_html_put(h, e, class_, text);
	free(text);
}

/* ---- what others made ---- */

void pm_html_svg(PmHtml *h, const PmStr *svg)
{
	end_tag(h);
	pm_str_addn(h->out, svg->s, svg->len);
}

/* Inside of <script> nothing is escaped for HTML: what could end it is written as JSON's \u escapes. */
void pm_html_json(PmHtml *h, const char *id, const cJSON *j)
{
	PmStr text = PM_STR_INIT;

	end_tag(h);
	pm_json_print(j, 0, &text);
	pm_str_addf(h->out, "<script type=\"application/json\" id=\"%s\">", id);
	for (size_t i = 0; i < text.len; i++)
		if (text.s[i] == '<' || text.s[i] == '>' || text.s[i] == '&')
			pm_str_addf(h->out, "\\u%04x", (unsigned)text.s[i]);
		else
			pm_str_addc(h->out, text.s[i]);
	pm_str_add(h->out, "</script>\n");
	pm_str_release(&text);
}
