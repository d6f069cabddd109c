/* SPDX-License-Identifier: Apache-2.0 */
/* print.h - what kernels print on the device "emu+print", as far as there is room for it. */
#ifndef RUNTIME_PRINT_H
#define RUNTIME_PRINT_H

#include "base/core/err.h"

#include <stddef.h>
#include <stdint.h>

enum { PM_PRINT_MAX = 64 << 10 }; /* bytes that are kept */

/* Starts zeroed; holds nothing that must be released. It may come from a process in which a kernel ran: only
 * pm_print_add writes to it. */
typedef struct PmPrint {
	char text[PM_PRINT_MAX];
	size_t n;
	int64_t cut;     /* bytes that had no room */
	char about[160]; /* a line that goes before what is added next; "" = none */
} PmPrint;

/* Adds what another process kept of a text, and how much it did not: a number that is believed within reason.
 */
void pm_print_take(PmPrint *p, const char *text, size_t n, int64_t cut);
/* Appends n bytes. What is neither printable ASCII nor a line's end becomes '?', a tab a space. */
void pm_print_add(PmPrint *p, const char *text, size_t n);
/* 1 at the beginning of a line. */
int pm_print_at_start(const PmPrint *p);
/* What is added next comes from there: the line is written when there is something. */
void pm_print_about(PmPrint *p, const char *fmt, ...) PM_PRINTF(2, 3);

#endif
