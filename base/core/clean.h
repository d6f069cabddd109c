/* SPDX-License-Identifier: Apache-2.0 */
/* clean.h - text of strangers inside our sentences and tables: names of models, words of passes, messages of
 * compilers. pm_err and pm_log clean what they print, so a sentence needs no care of its own. */
#ifndef BASE_CLEAN_H
#define BASE_CLEAN_H

#include <stddef.h>

enum { PM_CLEAN_QUOTED = 240 }; /* bytes of one quoted name that pm_clean_sentence leaves as they are */

/* Copies `s` to `out` (size bytes with the terminator, at least 1), cut at a whole character. Control
 * characters become blanks ('\n' stays when `lines`). Characters that change how text is laid out, or cannot
 * be seen (marks of direction, zero widths, line separators, tags), and bytes that are no UTF-8 become '?'.
 * `out` may be `s`. */
void pm_clean(const char *s, char *out, size_t size, int lines);

/* The same for a whole sentence; a name between quotes that is longer than PM_CLEAN_QUOTED keeps its
 * beginning and its end, with "..." between, so that what comes after it is still said. */
void pm_clean_sentence(const char *s, char *out, size_t size);

#endif
