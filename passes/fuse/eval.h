/* SPDX-License-Identifier: Apache-2.0 */
/* eval.h - values at coordinates: variables, the statements that compute them, loops, early loads. */
#ifndef PASSES_FUSE_EVAL_H
#define PASSES_FUSE_EVAL_H

#include "ix.h"
#include "load.h"

typedef struct Var { /* a variable of the kernel */
	int8_t dtype;
	uint8_t lanes;  /* one value for each lane */
	uint8_t wanted; /* kept over loops */
	uint8_t cached; /* of a loop that is over */
	uint8_t kept;   /* written to its array */
	uint8_t row;    /* of the row's part */
	uint8_t exact;  /* rounding it to its operation's type would change nothing */
	int8_t packed;  /* its lanes also stand in the vector w of its number, as this type of 16 bits; -1:
			   they do not */
	int16_t before; /* the variable beside it that holds it as it was before it was rounded, -1: none */
	int16_t loop;   /* loop class that made it, -1: none */
} Var;

typedef struct Memo {
	int32_t op; /* < 0: an index made from co[0] or from op -op */
	int32_t var;
	Ix co[F_RANK];
} Memo;

typedef struct Loop { /* loops of a section with the same trip count */
	int64_t extent;
	Ix chunk; /* the chunk's variable */
} Loop;

/* A reduction that has been written: the launch that leaves its parts, and the variable that it is. */
typedef struct Reduced {
	int op, stage, var;
} Reduced;

/* A load at the begin of a section: its operand and place, and in front of which loops. */
typedef struct Early {
	int where, arg;
	Ix at;
} Early;

/* ---- eval.c ---- */

/* The variable that holds the value of op at the coordinates; -1 after a failure. */
int f_eval(Ctx *c, int op, const Ix *co);
int f_new_var(Ctx *c, int dtype, int lanes);
void f_ref(Ctx *c, PmText *t, int var);
void f_declare(Ctx *c, int var, const char *init);
void f_for_lanes(Ctx *c, int lanes);
/* "v5[j] = v3[j];" for all lanes of `to`. */
void f_assign(Ctx *c, int to, int from);
int f_memo_find(Ctx *c, int op, const Ix *co, int rank);
void f_memo_add(Ctx *c, int op, const Ix *co, int rank, int var);
/* var rounded to the type of op, as a stored value would be; var itself where that changes nothing. */
int f_rounded(Ctx *c, int op, int var);
/* "pm_vec<__half, 8> w7", which holds the lanes of the variable `var` of number 7. */
void f_declare_packed(Ctx *c, int dtype, int var);
/* Whether w holds them where c stands: of a loop that is over, only the lanes are kept. */
int f_is_packed(const Ctx *c, int var, int dtype);
/* Declares the lanes of a variable, from the vector beside it. */
void f_unpack(Ctx *c, int dtype, int var);
const char *f_ctype(int dtype);  /* in memory */
const char *f_cclass(int dtype); /* in registers */
int f_class(int dtype);          /* PM_F32, PM_F64 or PM_I64 */
int f_computed(const Ctx *c, const Op *o);
/* Counts n operations of a thread, for each lane or not. */
void f_work(Ctx *c, int lanes, int n);
/* Counts bytes of o at `at` for the order of memory that they are in. */
void f_count_order(Ctx *c, const Op *o, Ix at, double bytes);
uint32_t f_deps(const Ctx *c, const Ix *co, int rank);
/* Counts what a load of o at `at`, by every lane or once for all, reads; arg: its argument, -1 for what is
 * none. */
void f_count_load(Ctx *c, const Op *o, int arg, Ix at, int lanes);
int f_fail(Ctx *c, const char *why);
void t_add(Ctx *c, const char *s);
void t_int(Ctx *c, int64_t x);
void t_ix(Ctx *c, Ix a);
/* An index that a statement computes from `a` as `expr` says with $ for it; between 0 and hi. */
Ix f_opaque(Ctx *c, Ix a, const char *before, const char *after, int64_t hi);
/* Statements go to the row's part from here on; f_leave() goes back. */
typedef struct Place {
	PmText *out;
	int at_row, branch;
} Place;
/* What is to be given back to f_leave(). */
Place f_enter_row(Ctx *c);
void f_leave(Ctx *c, const Place *p);
/* a, known to be between 0 and hi where it is used. */
Ix f_confine(Ctx *c, Ix a, int64_t hi);
/* "a < k" for every lane alike, as text; fails when lanes differ. */
void f_below(Ctx *c, Ix a, int64_t k);

int f_eval_move(Ctx *c, int op, const Ix *co);    /* eval_move.c: views, pieces */
int f_eval_gather(Ctx *c, int op, const Ix *co);  /* eval_gather.c */
int f_eval_reduce(Ctx *c, int op, const Ix *co);  /* eval_reduce.c */
int f_eval_pool(Ctx *c, int op, const Ix *co);    /* eval_pool.c */
int f_eval_linear(Ctx *c, int op, const Ix *co);  /* eval_resize.c */
int f_eval_scatter(Ctx *c, int op, const Ix *co); /* eval_scatter.c */
int f_eval_steps(Ctx *c, int op, const Ix *co);   /* eval_steps.c */
/* What reductions and pools begin with, whether they keep one of their elements, and the statement that takes
 * `v` into `acc` (eval_reduce.c). */
const char *f_red_start(const Op *o);
int f_red_extreme(const Op *o);
void f_red_step(Ctx *c, const Op *o, int acc, int v, int lanes);
/* The value of op, an operand of the reduction `red`, at one of the row's places: taken from the loop over
 * all that `red` has of them. */
int f_pick(Ctx *c, int op, const Ix *co, int red);
/* Opens a loop of one thread alone, up to its "}", and gives its index. */
Ix f_loop_alone(Ctx *c, int64_t n, uint32_t deps);
/* The place in arg_in of a value that is read from memory. */
int f_arg(Ctx *c, int op);
/* Elements of an argument as text: one, or a vector. */
void f_load_text(Ctx *c, int arg, Ix at, int vec);
/* A name that is not used yet: the letter and a number (eval_reduce.c). */
enum { F_NAME = 12 };
void f_name(Ctx *c, char letter, char name[F_NAME]);
/* "int x7; x7 = ", or the same of an array with an element for each lane, whose loop goes on: the value
 * comes next. The name is made of the letter. */
void f_declare_int(Ctx *c, char letter, char name[F_NAME], int lanes);
/* "for (int i4 = 0; i4 < n; i4 += step) {" with a new name (eval_reduce.c). */
void f_for(Ctx *c, int64_t n, int step, char name[F_NAME]);

/* What a loop has to restore at its end. */
typedef struct LoopState {
	PmText *out;
	int at_row, memo_base, n_memo, branch, loop_now, loop;
	double times;
} LoopState;
/* The loop over `extent` elements of a row: f_loop_begin gives the element's index, or fails and gives 0;
 * f_loop_end writes the loop behind what came before it. */
Ix f_loop_begin(Ctx *c, int64_t extent, LoopState *st);
void f_loop_end(Ctx *c, LoopState *st);
/* Instead of f_loop_end: nothing of it is wanted. */
void f_loop_drop(Ctx *c, const LoopState *st);

/* ---- early.c ---- */

/* The number of the early load of argument `arg` at `at` (lanes: elements of a lane each, `base` where the
 * first lies when these are neighbours, else -1); -1 when it has to be loaded where it is asked for. */
int f_early(Ctx *c, const Op *o, int arg, Ix at, Ix base, int lanes);
/* "e3[k]", as it is referred to where it was asked for. */
void f_early_ref(Ctx *c, int number);
void f_early_reset(Ctx *c);
/* The early loads of the row, or those in front of the loops. */
void f_early_write(Ctx *c, PmText *t, int of_row);
/* The "for" of loops of class k, up to its body. */
void f_loop_head(Ctx *c, int k);
int64_t f_turns(const Ctx *c, int k);
int f_unrolled(const Ctx *c, int k); /* all turns of these loops */
/* Whether its last turns are made by all threads, "in" says for which there is an element, and the others
 * have the last one: in a branch, loads of one turn would wait for those of the turn before. */
int f_is_open(const Ctx *c, int k);

/* ---- order.c ---- */

/* Before a section is written for the first time. */
void f_forget_orders(Ctx *c);
/* Each time: which sums it has several times, if it was written before. */
void f_start_orders(Ctx *c);
/* One thread's loop for a reduction is written. */
void f_note_thread(Ctx *c, int op);
/* Whether the additions of o must not become one instruction with the multiplications before them, since a
 * compiler might do so at one place and not at another. */
int f_adds_apart(const Ctx *c, const Op *o);
/* Behind it: whether there are sums that it has in two orders; written again, it has them in one. */
int f_settle_orders(Ctx *c);
/* The reduction, shared by the threads of a row, from whose loop op is to be taken at the row's own place;
 * -1: it is computed there by itself. */
int f_picked_from(const Ctx *c, int op);

/* ---- store.c ---- */

/* One result at `at`, from a variable. */
void f_store(Ctx *c, int k, Ix at, int var);

#endif
