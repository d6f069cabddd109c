/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - text of strangers in columns of a terminal. */
#ifndef MONITOR_TEXT_H
#define MONITOR_TEXT_H

#include "base/core/str.h"

/* Appends `s` in exactly `columns` columns: cleaned (base/core/clean.h), cut with ".." at its end when it is
 * longer, and filled up with blanks behind it (right: before it). A character counts as many columns as a
 * terminal gives it, two for those of East Asia; one that has none by itself (combining marks) becomes '?',
 * so that no cell grows by such. Nothing for columns <= 0. */
void pm_text_fit(const char *s, int columns, int right, PmStr *out);
/* Columns of `s` as pm_text_fit would show it whole, at most `most`: of a long text not all is looked at. */
int pm_text_columns(const char *s, int most);

#endif
