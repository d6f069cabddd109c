/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_body.h - the body of a PTX function as statements over numbered registers (private to integrity/).
 *
 * Scopes are resolved: a name that is declared in an inner block is another register there. What is no
 * register, number, variable or position in an operand's place is a problem at once.
 */
#ifndef INTEGRITY_PTX_BODY_H
#define INTEGRITY_PTX_BODY_H

#include "base/core/vec.h"
#include "integrity/ptx/ptx_ops.h"
#include "integrity/ptx/ptx_report.h"

#include <stdint.h>

enum {
	PM__PTX_NONE = -1,
	PM__PTX_MAX_REGISTERS = 1 << 20, /* of a function */
};

/* A variable that has an address. */
typedef struct PmPtxObject {
	PmPtxToken name;
	char space; /* g, s, l, c, p */
	char use;   /* of 'p': i a kernel's or function's parameter, o a function's result, m a call's own */
	int64_t bytes; /* -1: not known, the dynamic shared memory */
	int is_entry;  /* of 'p': a kernel's */
} PmPtxObject;

typedef PM_VEC(PmPtxObject) PmPtxObjects;

typedef enum {
	PM__PTX_O_REGISTER,
	PM__PTX_O_NUMBER,
	PM__PTX_O_SPECIAL, /* a position, or _ */
	PM__PTX_O_OBJECT,
	PM__PTX_O_LABEL, /* or a function: a name that is no object */
} PmPtxOperandKind_;

typedef struct PmPtxOperand {
	PmPtxOperandKind_ kind;
	PmPtxToken name;
	int32_t reg, object; /* PM__PTX_NONE when it is none */
	int16_t place;       /* the operand's number; elements of a {list} and a|b share one */
	char is_address;     /* in brackets */
	char is_list;        /* in braces, or beside a | */
	char is_known;       /* the number, or the offset: it was a plain one */
	int64_t number;      /* the number, or the offset behind + */
} PmPtxOperand;

typedef struct PmPtxStatement {
	PmPtxToken opcode;
	const PmPtxOp *op;
	int32_t guard; /* the register behind @, or PM__PTX_NONE */
	char guard_not;
	uint32_t first, n; /* operands */
} PmPtxStatement;

typedef struct PmPtxLabel {
	PmPtxToken name;
	size_t at; /* the statement that it stands before */
} PmPtxLabel;

typedef struct PmPtxFunction {
	PmPtxToken name;
	int is_entry;
	PmPtxObjects objects; /* parameters, results and its variables; others are the module's */
	PM_VEC(PmPtxOperand) operands;
	PM_VEC(PmPtxStatement) statements;
	PM_VEC(PmPtxLabel) labels; /* in an order of their own, once the body is read */
	PM_VEC(uint8_t) bits;      /* of each register; 1 for a predicate */
	char digest_known;         /* it is the compiler's own, token for token */
} PmPtxFunction;

/* Object numbers of the module begin here. */
enum { PM__PTX_MODULE = 1 << 24 };

typedef PM_VEC(PmPtxFunction) PmPtxFunctions;

/* Reads from behind the '{' up to and with its '}'. f->objects has the parameters; `module` are the module's
 * objects. Problems go to *r. Returns 0 when the end is missing. */
int pm__ptx_body_read(PmPtxLexer *l, PmPtxFunction *f, const PmPtxObjects *module, PmPtxReport *r);
void pm__ptx_function_release(PmPtxFunction *f);
/* The statement that a label stands before; -1 when there is none, -2 when it stands at several places. */
int64_t pm__ptx_label(const PmPtxFunction *f, PmPtxToken name);

/* Reads one variable of a declaration: `.align 8 .b8 name[24]`, up to `,`, `)`, `;` or `=`, which is returned
 * with *l behind it. o->bytes: -1 for name[], 0 when the size cannot be told. */
PmPtxToken pm__ptx_object_read(PmPtxLexer *l, PmPtxObject *o);
/* A number as PTX writes integers: decimal or 0x, with U, negative after '-'. 0 when it is none or over 2^62.
 */
int pm__ptx_integer(PmPtxToken t, int64_t *v);

#endif
