/* SPDX-License-Identifier: Apache-2.0 */
/* frame.c - frames that scroll, and tables in them. */
#include "draw/html/frame.h"

#include <stdarg.h>
#include <stdio.h>

PM_PRINTF(3, 0)
static void open_frame(PmHtml *h, const char *class_, const char *fmt, va_list ap)
{
	char label[160];

	vsnprintf(label, sizeof label, fmt, ap);
	pm_html_el(h, PM_EL_div);
	pm_html_at(h, PM_AT_class, class_);
	pm_html_at(h, PM_AT_tabindex, "0");
	pm_html_at(h, PM_AT_role, "region");
	pm_html_at(h, PM_AT_aria_label, label);
}

void pm_frame_open(PmHtml *h, const char *class_, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	open_frame(h, class_, fmt, ap);
	va_end(ap);
}

void pm_frame_table(PmHtml *h, const char *class_, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	open_frame(h, class_, fmt, ap);
	va_end(ap);
	pm_html_el(h, PM_EL_table);
}

void pm_frame_table_end(PmHtml *h)
{
	pm_html_end(h, PM_EL_tbody);
	pm_html_end(h, PM_EL_table);
	pm_html_end(h, PM_EL_div);
}

void pm_frame_heads(PmHtml *h, const char *const *head, size_t n)
{
	pm_html_el(h, PM_EL_thead);
	pm_html_el(h, PM_EL_tr);
	for (size_t i = 0; i < n; i++) {
		pm_html_el(h, PM_EL_th);
		pm_html_at(h, PM_AT_scope, "col");
		pm_html_text(h, head[i]);
		pm_html_end(h, PM_EL_th);
	}
	pm_html_end(h, PM_EL_tr);
	pm_html_end(h, PM_EL_thead);
	pm_html_el(h, PM_EL_tbody);
}
