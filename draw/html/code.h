/* SPDX-License-Identifier: Apache-2.0 */
/* code.h - sources in C++ and CUDA as text of a page, with comments, words and numbers told apart.
 *
 * Not a compiler: whatever the text holds, it becomes tokens of at least one byte that together are the text.
 */
#ifndef DRAW_HTML_CODE_H
#define DRAW_HTML_CODE_H

#include "draw/html/html.h"

#include <stddef.h>

typedef enum PmCodeKind {
	PM_CODE_PLAIN, /* blanks, names and signs */
	PM_CODE_COMMENT,
	PM_CODE_STRING, /* strings and characters */
	PM_CODE_NUMBER,
	PM_CODE_KEYWORD,
	PM_CODE_DIRECTIVE, /* # and its word */
	PM_CODE_CUDA       /* words of CUDA: qualifiers, places of a thread, barriers */
} PmCodeKind;

/* The token that begins at byte `at` of n bytes, at < n: its kind, and *len, its bytes. `at` is 0 or the end
 * of the token before. */
PmCodeKind pm_code_token(const char *text, size_t n, size_t at, size_t *len);

/* Appends <pre class="code"> with whole lines of the text, at most `most` bytes of it, and returns how many
 * bytes are left out, which it does not say. A line of more than 400 bytes is cut, and "..." stands in place
 * of the rest. */
size_t pm_code_put(PmHtml *h, const char *text, size_t most);

#endif
