/* SPDX-License-Identifier: Apache-2.0 */
/* print.h - nests as text, one statement a line, and back. */
#ifndef PASSES_FUSE_PRINT_H
#define PASSES_FUSE_PRINT_H

#include "nest.h"

/* The template of a kind of statement, and what its `how` is called there; NULL: it has none of that number.
 */
const char *nest_template(int kind);
const char *nest_how(int kind, int how);
const char *nest_dtype(int dtype);

/* Appends a complete nest; t->full when there is no room. */
void nest_print(const Nest *n, PmText *t);

/* What a text is that cannot be parsed. */
typedef struct NestError {
	int line;        /* from 1 on; 0: none */
	const char *why; /* NULL: it was parsed */
} NestError;

/* Reads what nest_print() writes into n, whose indices are emptied; n->var has room for F_VARS. */
NestError nest_parse(Nest *n, const char *text);

#endif
