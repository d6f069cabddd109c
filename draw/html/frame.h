/* SPDX-License-Identifier: Apache-2.0 */
/* frame.h - what may be wider than a page: it scrolls in a frame of its own, also by keyboard. */
#ifndef DRAW_HTML_FRAME_H
#define DRAW_HTML_FRAME_H

#include "draw/html/html.h"

/* Opens a frame of class "wide" (a table) or "canvas" (a drawing, which page.js makes larger and moves),
 * maybe with more classes; the rest says what is in it, to those who do not see it, in 159 bytes at most. A
 * <div>, which the caller ends. */
void pm_frame_open(PmHtml *h, const char *class_, const char *fmt, ...) PM_PRINTF(3, 4);

/* The same, and in it a table, whose attributes may follow; then its head and <tbody>. pm_frame_table_end
 * closes all three. */
void pm_frame_table(PmHtml *h, const char *class_, const char *fmt, ...) PM_PRINTF(3, 4);
void pm_frame_table_end(PmHtml *h);

/* The head of a table of n columns, and the beginning of its body. */
void pm_frame_heads(PmHtml *h, const char *const *head, size_t n);

#endif
