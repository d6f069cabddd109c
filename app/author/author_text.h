/* SPDX-License-Identifier: Apache-2.0 */
/* author_text.h - the texts of kernels in an author's files, and where each of their characters stands there.
 *
 * Read from the files themselves: string literals and PM_CUDA(...) that stand side by side are one text, and
 * so is a NAME.cu whose NAME.cu.h is included. What macros of the author put together is not seen here.
 */
#ifndef APP_AUTHOR_TEXT_H
#define APP_AUTHOR_TEXT_H

#include "base/core/err.h"
#include "base/core/str.h"
#include "base/core/vec.h"

#include <stddef.h>
#include <stdint.h>

typedef struct PmAuthorAt {
	uint32_t line, column; /* from 1; columns count bytes */
} PmAuthorAt;

typedef struct PmAuthorText {
	char *file;            /* owned */
	char *name;            /* owned: the variable that holds it; NULL = none is seen */
	PmStr text;            /* for a kernel's compiler: PM_CUDA keeps its lines */
	PmStr held;            /* as the object holds it */
	PM_VEC(PmAuthorAt) at; /* of each byte of `text` */
	int whole;             /* it stands behind `.source =`, or its variable does */
	int joined;            /* something that is not seen here is put before or behind it */
} PmAuthorText;

/* What DEF(NAME, x) puts before a source. */
typedef struct PmAuthorDef {
	char *name;    /* owned */
	int64_t value; /* where `known`: x is a number */
	int known;
} PmAuthorDef;

typedef struct PmAuthor {
	PM_VEC(PmAuthorText) text; /* those that have a __global__ */
	PM_VEC(PmAuthorDef) def;
	PM_VEC(char *) source; /* owned: names behind `.source =` */
	PM_VEC(char *) file;   /* owned: what was read */
} PmAuthor;

/* Reads a .c file, or every .c file of a folder, and what they include in quotes from beside them. */
PmStatus pm_author_read(const char *path, PmAuthor *out, PmErr *err);
void pm_author_release(PmAuthor *a);
/* 1 when the identifier `word` stands in `text`, comments and strings included. */
int pm_author_has_word(const char *text, const char *word);
/* 1 when the text gives the identifier a value itself (`KEEP = ...`), outside of comments and strings: no DEF
 * of that name can be before it. */
int pm_author_sets(const char *text, const char *word);

#endif
