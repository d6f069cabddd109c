/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_report.h - the sentences of the PTX gate (private to integrity/). */
#ifndef INTEGRITY_PTX_REPORT_H
#define INTEGRITY_PTX_REPORT_H

#include "base/core/str.h"
#include "integrity/ptx/ptx_lex.h"

enum { PM__PTX_SHOWN = 48 }; /* characters of a name that are shown */

typedef struct PmPtxReport {
	PmStr *out;
	int problems;
	PmPtxToken function; /* being read; n = 0 at module scope */
} PmPtxReport;

/* The printable beginning of a name, in out[PM__PTX_SHOWN + 1]; returns out. */
const char *pm__ptx_shown(PmPtxToken t, char *out);
/* Adds one line, with the function's name in front; the same line is not repeated, and 64 are kept. */
void pm__ptx_problem(PmPtxReport *r, const char *fmt, ...) PM_PRINTF(2, 3);

#endif
