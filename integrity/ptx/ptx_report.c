/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_report.c - the sentences of the PTX gate. */
#include "integrity/ptx/ptx_report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_PROBLEMS = 64 };

const char *pm__ptx_shown(PmPtxToken t, char *out)
{
	size_t n = t.n < PM__PTX_SHOWN ? t.n : PM__PTX_SHOWN;

	for (size_t i = 0; i < n; i++)
		out[i] = t.p[i] > 32 && t.p[i] < 127 ? t.p[i] : '?';
	out[n] = 0;
	return out;
}

void pm__ptx_problem(PmPtxReport *r, const char *fmt, ...)
{
	char text[400], line[sizeof text + PM__PTX_SHOWN + 8], name[PM__PTX_SHOWN + 1];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	snprintf(line, sizeof line, "%s%s%s\n", r->function.n ? pm__ptx_shown(r->function, name) : "",
		 r->function.n ? ": " : "", text);
	r->problems++;
	if (r->problems <= MAX_PROBLEMS && !strstr(r->out->s, line))
		pm_str_add(r->out, line);
}
