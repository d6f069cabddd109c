/* SPDX-License-Identifier: Apache-2.0 */
/* columns.h - how wide text is in a font whose characters are all equally wide, and cutting it to a width. */
#ifndef DRAW_SVG_COLUMNS_H
#define DRAW_SVG_COLUMNS_H

#include <stddef.h>

/* Columns of text as it is drawn (draw/svg/svg.h): 1 for a character, 2 for one of the wide scripts of East
 * Asia and for pictures. Marks that are put on another character count 1 too, so that no number of them is
 * narrow. */
size_t pm_columns(const char *text);

/* Copies text to out (size bytes, at least 8), cut to at most `most` columns (at least 4) with "..." where
 * something is missing: in the middle, since names differ at their ends. Bytes that are no UTF-8 and
 * characters that are not drawn become what svg.h draws for them. Returns 1 when something is missing. */
int pm_columns_cut(const char *text, size_t most, char *out, size_t size);

#endif
