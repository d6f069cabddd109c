/* SPDX-License-Identifier: Apache-2.0 */
/* put.c - pieces that several sections of a report are made of. */
#include "app/report/put.h"

#include "bench/report/systems_report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

void pm_put_date_text(int64_t at, char *out, size_t size)
{
	time_t t = (time_t)at;
	struct tm tm;

	if (!at || !gmtime_r(&t, &tm) || !strftime(out, size, "%Y-%m-%d", &tm))
		snprintf(out, size, "-");
}

void pm_put_about_board(const PmBoard *b, PmStr *out)
{
	char name[128], first[24], last[24];

	pm_board_name(b, name, sizeof name);
	pm_put_date_text(b->first, first, sizeof first);
	pm_put_date_text(b->last, last, sizeof last);
	pm_str_addf(out, "%s%s, %s", *b->gpu ? "Measured on " : "Times are ", name,
		    *b->version ? "Passmith " : "times from elsewhere");
	pm_str_addf(out, "%s, %s", b->version, first);
	if (b->last / 86400 != b->first / 86400)
		pm_str_addf(out, " to %s", last);
}

void pm_put_head(PmHtml *h, const char *key, const char *text, const char *about)
{
	pm_html_el(h, PM_EL_th);
	pm_html_at(h, PM_AT_scope, "col");
	if (*about)
		pm_html_at(h, PM_AT_title, about);
	if (*key) {
		pm_html_at(h, PM_AT_data_key, key);
		pm_html_el(h, PM_EL_button);
		pm_html_at(h, PM_AT_type, "button");
		pm_html_text(h, text);
		pm_html_end(h, PM_EL_button);
	} else {
		pm_html_text(h, text);
	}
	pm_html_end(h, PM_EL_th);
}

static void open_cell(PmHtml *h, const char *key, double v)
{
	pm_html_el(h, PM_EL_td);
	pm_html_at(h, PM_AT_class, "num");
	if (*key)
		pm_html_at(h, PM_AT_data_key, key);
	if (isfinite(v))
		pm_html_atf(h, PM_AT_data_v, "%.6g", v);
}

void pm_put_search(PmHtml *h, const char *id_fmt, ...)
{
	char id[40];
	va_list ap;

	va_start(ap, id_fmt);
	vsnprintf(id, sizeof id, id_fmt, ap);
	va_end(ap);
	pm_html_el(h, PM_EL_div);
	pm_html_at(h, PM_AT_class, "filters");
	pm_html_at(h, PM_AT_hidden, "");
	pm_html_el(h, PM_EL_label);
	pm_html_text(h, "Search ");
	pm_html_el(h, PM_EL_input);
	pm_html_at(h, PM_AT_id, id);
	pm_html_at(h, PM_AT_data_filter, "q");
	pm_html_at(h, PM_AT_type, "search");
	pm_html_at(h, PM_AT_autocomplete, "off");
	pm_html_end(h, PM_EL_label);
	pm_html_el(h, PM_EL_p);
	pm_html_at(h, PM_AT_class, "count");
	pm_html_at(h, PM_AT_role, "status");
	pm_html_end(h, PM_EL_p);
	pm_html_end(h, PM_EL_div);
}

void pm_put_num(PmHtml *h, const char *key, int digits, double v)
{
	open_cell(h, key, v);
	if (isfinite(v))
		pm_html_textf(h, "%.*f", digits, v);
	else
		pm_html_text(h, "-");
	pm_html_end(h, PM_EL_td);
}

void pm_put_interval(PmHtml *h, const char *key, double point, double lo, double hi)
{
	open_cell(h, key, point);
	if (isfinite(point))
		pm_html_textf(h, "%.3f [%.3f, %.3f]", point, lo, hi);
	else
		pm_html_text(h, "-");
	pm_html_end(h, PM_EL_td);
}

const char *pm_put_verdict_class(PmVerdict v)
{
	if (v == PM_VERDICT_OK)
		return "good";
	if (v == PM_VERDICT_NO_MATCH || v == PM_VERDICT_NO_CREDIT || v == PM_VERDICT_NOT_CHECKED ||
	    v == PM_VERDICT_HARNESS_FAIL || v == PM_VERDICT_TIMING_UNSTABLE)
		return "note";
	return "bad";
}

void pm_put_verdict(PmHtml *h, PmVerdict v, size_t n)
{
	pm_html_el(h, PM_EL_span);
	pm_html_atf(h, PM_AT_class, "badge %s", pm_put_verdict_class(v));
	pm_html_at(h, PM_AT_title, pm_verdict_meaning(v));
	if (n > 1)
		pm_html_textf(h, "%s %zu", pm_verdict_name(v), n);
	else
		pm_html_text(h, pm_verdict_name(v));
	pm_html_end(h, PM_EL_span);
	pm_html_text(h, " ");
}

const char *pm_put_speed_class(double speedup)
{
	static const char *const names[] = { "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8" };
	double step;

	if (!(speedup > 0))
		return "s4";
	step = round(2 * log2(speedup)) + 4; /* half a doubling each; 1 is in the middle */
	return names[step < 0 ? 0 : step > 8 ? 8 : (int)step];
}

void pm_put_seconds_text(double seconds, char *out, size_t size)
{
	if (!(seconds > 0))
		snprintf(out, size, "-");
	else if (seconds < 1e-3)
		snprintf(out, size, "%.3g us", seconds * 1e6);
	else if (seconds < 1)
		snprintf(out, size, "%.3g ms", seconds * 1e3);
	else
		snprintf(out, size, "%.3g s", seconds);
}
