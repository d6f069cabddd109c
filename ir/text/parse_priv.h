/* SPDX-License-Identifier: Apache-2.0 */
/* parse_priv.h - what the parts of the text parser share: lexer, errors, attribute values. */
#ifndef IR_PARSE_PRIV_H
#define IR_PARSE_PRIV_H

#include "base/core/arena.h"
#include "ir/core/graph.h"

enum {
	PM_TEXT_MAX_DEPTH = 8, /* graphs inside attributes of graphs inside attributes ... */
	PM_TEXT_MAX_GRAPHS = 1 << 16,
	PM_TEXT_MAX_ATTRS = 256,  /* of one node */
	PM_TEXT_MAX_META = 4096,  /* as many as an ONNX file may have */
	PM_TEXT_MAX_NUMBER = 400, /* characters of one number */
	PM_TEXT_MAX_STRING = 64 << 20
};

/* Token kinds; punctuation is its own character code. */
enum { PM_TOK_END = 256, PM_TOK_ID, PM_TOK_STR, PM_TOK_INT, PM_TOK_FLOAT, PM_TOK_ARROW, PM_TOK_BAD };

typedef struct PmTok {
	int kind;
	const char *p; /* in the text; of a string, the part between the quotes */
	size_t n;
	uint32_t line, col; /* from 1; col counts bytes */
} PmTok;

/* The lexer is a value: assigning it back returns to an earlier place. */
typedef struct PmLex {
	const char *p, *end, *line_start;
	uint32_t line;
	PmTok tok;       /* the current token */
	const char *bad; /* why tok is PM_TOK_BAD */
} PmLex;

typedef struct PmParser {
	PmLex lex;
	PmArena *tmp; /* decoded strings, lives until the parse ends */
	int depth;    /* graphs open now */
	int n_graphs; /* graphs begun so far */
	size_t budget;
	PmErr *err;
} PmParser;

/* A parsed attribute before its node exists. Lists and tensors are owned; strings are in tmp. */
typedef struct PmTextAttr {
	const char *name;
	PmTok at;
	PmAttrKind kind;
	int typed;      /* the text says the kind: "k: ints = ..." */
	int empty_list; /* "[]": the kind is still open unless typed */
	int64_t i;
	double f;
	const char *s;
	size_t n;
	int64_t *ints;
	double *floats;
	const char **strings;
	PmType type;
	PmBlob *blob;
	PmGraph *graph;
} PmTextAttr;

/* ---- parse_lex.c ---- */

void pm__text_lex_start(PmLex *lx, const char *text, size_t n);
void pm__text_lex_next(PmLex *lx);      /* moves on to the next token */
int pm__text_lex_peek(const PmLex *lx); /* kind of the token after the current one */

/* "line 3, column 7: <text>" with status `code`; returns `code`. */
PmStatus pm__text_fail(PmParser *ps, const PmTok *at, PmStatus code, const char *fmt, ...) PM_PRINTF(4, 5);
/* "line 3, column 7: expected <what>, found <the current token>". */
PmStatus pm__text_expected(PmParser *ps, const char *what);
/* Takes the current token when it is `kind`, else fails with pm__text_expected(what). */
PmStatus pm__text_want(PmParser *ps, int kind, const char *what);
int pm__text_accept(PmParser *ps, int kind); /* takes the token when it is `kind` */
int pm__text_tok_is(const PmTok *t, const char *word);

/* Decodes a string token into tmp; *n is its length, which may include zero bytes. */
PmStatus pm__text_string(PmParser *ps, const PmTok *t, const char **out, size_t *n);
/* Takes an identifier or a quoted string as a name: not empty unless `empty_ok`, no zero byte, at most
 * PM_MAX_NAME bytes. */
PmStatus pm__text_name(PmParser *ps, const char *what, int empty_ok, const char **out);
/* Takes a quoted string of any length without zero bytes. */
PmStatus pm__text_value(PmParser *ps, const char *what, const char **out);
/* Takes an integer / an integer or float token. */
PmStatus pm__text_int(PmParser *ps, const char *what, int64_t *out);
/* The same for a uint64, as its bits. */
PmStatus pm__text_uint(PmParser *ps, const char *what, int64_t *out);
PmStatus pm__text_float(PmParser *ps, const char *what, int single, double *out);
/* 1 when the current token can be read by pm__text_float. */
int pm__text_at_number(const PmParser *ps);

/* ---- parse_attr.c ---- */

/* "float[N,2]"; g holds the symbols, NULL refuses them. An unknown rank or dtype ("float[]", "undefined")
 * only when `unknown_ok`. */
PmStatus pm__text_type(PmParser *ps, PmGraph *g, int unknown_ok, PmType *out);
/* "{1, 2}" or ["location": ...] as the data of a constant of type t. */
PmStatus pm__text_tensor_data(PmParser *ps, const PmType *t, PmBlob **out);
/* "<k = v, ...>", the current token being '<'. Grows *attrs; release with pm__text_attrs_release. */
PmStatus pm__text_attrs(PmParser *ps, PmTextAttr **attrs, size_t *n);
void pm__text_attrs_release(PmTextAttr *attrs, size_t n);
/* Stores an attribute on a node after checking it against the operator table; moves owned parts out. */
PmStatus pm__text_attr_store(PmParser *ps, PmGraph *g, PmNode node, PmTextAttr *a);
/* The type and data that a Constant node with these attributes stands for. */
PmStatus pm__text_attr_constant(PmParser *ps, const PmTok *at, PmTextAttr *attrs, size_t n, PmType *t,
				PmBlob **out);

/* ---- print.c ---- */

/* Appends a type with its symbols' names / a name, quoted when it has to be. */
void pm__text_add_type(const PmGraph *g, const PmType *t, PmStr *out);
void pm__text_add_name(const char *name, PmStr *out);

/* 1 for an attribute of a kernel that holds a source. */
int pm__text_is_source(const PmAttr *a);

/* ---- parse.c ---- */

/* "name (..) => (..) <..> {..}": returns owned. */
PmStatus pm__text_graph(PmParser *ps, PmGraph **out);

#endif
