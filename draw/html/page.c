/* SPDX-License-Identifier: Apache-2.0 */
/* page.c - the frame of a page that is one file. */
#include "draw/html/page.h"

#include "base/core/hash.h"
#include "draw/html/page.css.h"
#include "draw/html/page.js.h"

#include <assert.h>

static void whole(const char *first, const char *more, PmStr *out)
{
	pm_str_add(out, first);
	if (more)
		pm_str_add(out, more);
}

/* One source of a policy: what has this hash. */
static void add_source(const PmStr *text, PmStr *out)
{
	char sum[PM_SHA256_BASE64];

	pm_sha256_base64(text->s, text->len, sum);
	pm_str_addf(out, "'sha256-%s'", sum);
}

void pm_page_open(PmHtml *h, const PmPage *p)
{
	PmStr style = PM_STR_INIT, script = PM_STR_INIT;

	whole(page_css, p->style, &style);
	whole(page_js, p->script, &script);
	pm_str_add(h->out,
		   "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src ");
	add_source(&style, h->out);
	pm_str_add(h->out, "; script-src ");
	add_source(&script, h->out);
	pm_str_add(h->out, "; base-uri 'none'; form-action 'none'\">\n"
			   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
			   "<meta name=\"color-scheme\" content=\"light dark\">\n"
			   "<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
	pm_html_text(h, p->title);
	pm_str_add(h->out, "</title>\n<style>");
	pm_str_addn(h->out, style.s, style.len);
	pm_str_add(h->out, "</style>\n</head>\n<body>\n");
	pm_str_release(&style);
	pm_str_release(&script);
}

void pm_page_close(PmHtml *h, const PmPage *p)
{
	assert(!h->n_open);
	pm_str_add(h->out, "<script>");
	whole(page_js, p->script, h->out);
	pm_str_add(h->out, "</script>\n</body>\n</html>\n");
}
