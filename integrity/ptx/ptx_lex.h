/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_lex.h - the tokens of a PTX text (private to integrity/). */
#ifndef INTEGRITY_PTX_LEX_H
#define INTEGRITY_PTX_LEX_H

#include <stddef.h>

typedef enum {
	PM__PTX_END,
	PM__PTX_WORD,   /* identifiers, opcodes, directives and registers: letters, digits, . _ $ % and :: */
	PM__PTX_STRING, /* with its quotes */
	PM__PTX_PUNCT,  /* one character */
	PM__PTX_BAD,    /* a character that no PTX has, an endless string or comment */
} PmPtxKind_;

typedef struct PmPtxToken {
	PmPtxKind_ kind;
	const char *p;
	size_t n;
} PmPtxToken;

typedef struct PmPtxLexer {
	const char *at, *end;
	int line; /* of the last token */
} PmPtxLexer;

/* The next token, which points into the source; PM__PTX_END at its end, PM__PTX_BAD where a comment or a
 * text does not end. */
PmPtxToken pm__ptx_next(PmPtxLexer *l);
/* 1 when the token is exactly `text`. */
int pm__ptx_is(PmPtxToken t, const char *text);
/* 1 when the word begins with `text`. */
int pm__ptx_begins(PmPtxToken t, const char *text);
/* 1 when `part` is one of the parts of an opcode: ".sys" of "st.release.sys.global.u32", "L2::evict_last". */
int pm__ptx_has_part(PmPtxToken t, const char *part);

#endif
