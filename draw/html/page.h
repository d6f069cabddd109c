/* SPDX-License-Identifier: Apache-2.0 */
/* page.h - the frame of a page that is one file: no server, no network.
 *
 * Its Content-Security-Policy allows the one style and the one script that are in it, by their hashes, and
 * nothing else: nothing is loaded, no attribute runs. Both are draw/html/page.css and page.js, with what the
 * caller adds: light and dark, narrow and wide, on paper; tables that sort (th with data-key), filters, and
 * links that keep the state (location.hash).
 */
#ifndef DRAW_HTML_PAGE_H
#define DRAW_HTML_PAGE_H

#include "draw/html/html.h"

typedef struct PmPage {
	const char *title;
	const char *style, *script; /* more of both, constants; NULL = none */
} PmPage;

/* Writes all before the content: after it <body> is open. `p` lives until pm_page_close. */
void pm_page_open(PmHtml *h, const PmPage *p);
/* Writes the script and all that is open. */
void pm_page_close(PmHtml *h, const PmPage *p);

#endif
