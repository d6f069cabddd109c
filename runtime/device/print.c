/* SPDX-License-Identifier: Apache-2.0 */
/* print.c - a bounded text that strangers write to. */
#include "runtime/device/print.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void put(PmPrint *p, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char c = text[i];

		if (p->n == PM_PRINT_MAX) {
			p->cut += (int64_t)(n - i);
			return;
		}
		if (c == '\t')
			c = ' ';
		p->text[p->n++] = (c >= ' ' && c <= '~') || c == '\n' ? c : '?';
	}
}

int pm_print_at_start(const PmPrint *p)
{
	return !p->n || p->text[p->n - 1] == '\n';
}

void pm_print_add(PmPrint *p, const char *text, size_t n)
{
	if (n && *p->about) {
		if (!pm_print_at_start(p))
			put(p, "\n", 1);
		put(p, p->about, strlen(p->about));
		put(p, "\n", 1);
		p->about[0] = 0;
	}
	put(p, text, n);
}

void pm_print_take(PmPrint *p, const char *text, size_t n, int64_t cut)
{
	pm_print_add(p, text, n);
	if (cut > 0)
		p->cut += cut < INT32_MAX ? cut : INT32_MAX;
}

void pm_print_about(PmPrint *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->about, sizeof p->about, fmt, ap);
	va_end(ap);
}
