/* SPDX-License-Identifier: Apache-2.0 */
/* put.h - pieces that several sections of a report are made of. */
#ifndef APP_REPORT_PUT_H
#define APP_REPORT_PUT_H

#include "app/report/board/board.h"
#include "draw/html/html.h"

/* "2026-11-22" of seconds since 1970, in UTC; "-" for 0. */
void pm_put_date_text(int64_t at, char *out, size_t size);
/* Where, by what and when the figures of a board were taken: in a sentence that every figure carries. */
void pm_put_about_board(const PmBoard *b, PmStr *out);

/* A column of a table that sorts by it: `key` is a constant, what is in its cells (page.js), or "". */
void pm_put_head(PmHtml *h, const char *key, const char *text, const char *about);
/* The field that finds rows of the list around it, with an id; the script shows it. */
void pm_put_search(PmHtml *h, const char *id_fmt, ...) PM_PRINTF(2, 3);
/* A cell with a number, "-" for one that is not finite, which sorts last. */
void pm_put_num(PmHtml *h, const char *key, int digits, double v);
/* A cell "1.50 [1.40, 1.61]", which sorts by the first. */
void pm_put_interval(PmHtml *h, const char *key, double point, double lo, double hi);
/* A badge with the number of verdicts of a kind. */
void pm_put_verdict(PmHtml *h, PmVerdict v, size_t n);
/* "good", "note" or "bad": how a verdict is coloured. */
const char *pm_put_verdict_class(PmVerdict v);
/* The class of a speedup in a heat map: "s0" (a quarter or less) to "s8" (four times or more). */
const char *pm_put_speed_class(double speedup);
/* "12.3 us", "4.56 ms". */
void pm_put_seconds_text(double seconds, char *out, size_t size);

#endif
