/* SPDX-License-Identifier: Apache-2.0 */
/* eval.h - values at coordinates: the statements that compute them, loops, early loads. */
#ifndef PASSES_FUSE_EVAL_H
#define PASSES_FUSE_EVAL_H

#include "../loop/nest.h"

typedef struct Ctx Ctx; /* fuse.h */

typedef struct Memo {
	int32_t op; /* < 0: an index made from co[0] or from op -op */
	int32_t var;
	Ix co[F_RANK];
} Memo;

/* A reduction that has been written: the launch that leaves its parts, and the variable that it is. */
typedef struct Reduced {
	int op, stage, var;
} Reduced;

/* A nest under construction. */
typedef struct Build {
	Nest nest;
	Block *out, *row;             /* where statements go, and where the row's do */
	int depth;                    /* of loops over the row */
	int at_row;                   /* statements go to the row's part */
	int branch;                   /* in how many branches */
	int reducing;                 /* in the operands of how many reductions */
	int singly;                   /* lanes are rounded one by one: some of them are not wanted */
	int tail;                     /* statements are those of a row's tail */
	int trial;                    /* what is built now will be dropped, and built again */
	int loop_now;                 /* the loop class that statements stand in, -1: none */
	int n_names;                  /* that were given */
	uint64_t read;                /* bits of the arguments that the section has read */
	Memo *memo, *row_memo, *seen; /* what is known here, of the row, and of loops that are over */
	int n_memo, memo_base, n_row, n_seen;
	int n_reds; /* reductions by rows that were met */
	Reduced red[F_SPLITS];
	/* While plan.c asks what reductions depend on, without loops: */
	int probing, n_probed; /* reductions that were met */
	uint32_t probe;        /* axes that they depend on */
	uint32_t plain;        /* axes that are coordinates of one of them as they are */
} Build;

/* ---- eval.c ---- */

/* The variable that holds the value of op at the coordinates; -1 after a failure. */
int f_eval(Ctx *c, int op, const Ix *co);
int f_memo_find(Ctx *c, int op, const Ix *co, int rank);
void f_memo_add(Ctx *c, int op, const Ix *co, int rank, int var);
/* var rounded to the type of op, as a stored value would be; var itself where that changes nothing. */
int f_rounded(Ctx *c, int op, int var);
int f_computed(const Ctx *c, const Op *o);
uint32_t f_deps(const Ctx *c, const Ix *co, int rank);
int f_fail(Ctx *c, const char *why);
/* An index that a statement computes from `a`, between 0 and hi; of an axis of n elements, factor and offset
 * in num where `how` needs them (vars.c). */
Ix f_index_of(Ctx *c, Ix a, IndexHow how, int64_t n, int64_t hi, const double *num);
Ix f_made_index(Ctx *c, Ix a, IndexHow how, int64_t n, int64_t hi);
/* Statements go to the row's part from here on; f_leave() goes back. */
typedef struct Place {
	Block *out;
	int at_row, branch;
} Place;
/* What is to be given back to f_leave(). */
Place f_enter_row(Ctx *c);
void f_leave(Ctx *c, const Place *p);
/* a, known to be between 0 and hi where it is used. */
Ix f_confine(Ctx *c, Ix a, int64_t hi);
/* What of `a` says for all lanes alike whether it is below k; fails when lanes differ. */
Ix f_one_base(Ctx *c, Ix a, int64_t k);

int f_eval_move(Ctx *c, int op, const Ix *co);    /* eval_move.c: views, pieces */
int f_eval_gather(Ctx *c, int op, const Ix *co);  /* eval_gather.c */
int f_eval_reduce(Ctx *c, int op, const Ix *co);  /* eval_reduce.c */
int f_eval_pool(Ctx *c, int op, const Ix *co);    /* eval_pool.c */
int f_eval_linear(Ctx *c, int op, const Ix *co);  /* eval_resize.c */
int f_eval_scatter(Ctx *c, int op, const Ix *co); /* eval_scatter.c */
int f_eval_steps(Ctx *c, int op, const Ix *co);   /* eval_steps.c */
/* What reductions and pools begin with, whether they keep one of their elements, and the statement that takes
 * `v` into `acc` (eval_reduce.c). */
Start f_red_start(const Op *o);
int f_red_extreme(const Op *o);
Stmt *f_red_step(Ctx *c, const Op *o, int acc, int v, int lanes);
/* The value of op, an operand of the reduction `red`, at one of the row's places: taken from the loop over
 * all that `red` has of them. */
int f_pick(Ctx *c, int op, const Ix *co, int red);
/* Opens a loop of one thread alone, FOR_SERIAL or FOR_TAPS of a window, and gives its index; what c->b.out
 * was is its end. */
Ix f_loop_alone(Ctx *c, ForHow how, int64_t n);
/* The place in arg_in of a value that is read from memory. */
int f_arg(Ctx *c, int op);
/* What a loop has to restore at its end. */
typedef struct LoopState {
	Block *out;
	int at_row, memo_base, n_memo, branch, loop_now, loop;
} LoopState;
/* The loop over `extent` elements of a row: f_loop_begin gives the element's index, or fails and gives 0;
 * f_loop_end writes the loop behind what came before it. */
Ix f_loop_begin(Ctx *c, int64_t extent, LoopState *st);
void f_loop_end(Ctx *c, LoopState *st);
/* The elements that loops of class `loop` leave of a row, one for each of its first threads: gives the
 * element's index. */
Ix f_tail_begin(Ctx *c, int loop, LoopState *st);
void f_tail_end(Ctx *c, const LoopState *st);
/* Instead of f_loop_end: nothing of it is wanted. */
void f_loop_drop(Ctx *c, const LoopState *st);

/* ---- emit.c ---- */

/* A statement at the end of c->b.out, its fields none; never NULL. */
Stmt *f_emit(Ctx *c, StmtKind kind);
/* The same with the variable that it makes or changes, and one that it reads; -1: none. */
Stmt *f_emit_to(Ctx *c, StmtKind kind, int to, int from);
/* Puts s into the order in which f_finish() decides. */
void f_ask(Ctx *c, Stmt *s);
/* Statements go to a new block from here on, the body of `owner` unless that is NULL; gives what c->b.out
 * was. f_close() goes back there and gives the block. */
Block *f_open(Ctx *c, Stmt *owner);
Block *f_close(Ctx *c, Block *out);
/* The statements of b, behind those that are there. */
void f_append(Ctx *c, const Block *b);
/* One more condition of s. */
void f_when(Ctx *c, Stmt *s, CondKind kind, Ix at, int64_t n);
/* a < k, and a >= k, for all lanes alike; fails when lanes differ. */
void f_when_below(Ctx *c, Stmt *s, Ix a, int64_t k);
void f_when_from(Ctx *c, Stmt *s, Ix a, int64_t k);
int f_new_var(Ctx *c, int dtype, int lanes);
/* Var as it is to be read where c stands. */
Ref f_ref(const Ctx *c, int var);
/* Whether w holds its lanes where c stands: of a loop that is over, only the lanes are kept. */
int f_is_packed(const Ctx *c, int var, int dtype);
/* The variable begins as `start`. */
void f_begin(Ctx *c, int var, Start start);
/* `to` becomes `from`, all of its lanes. */
Stmt *f_move(Ctx *c, int to, int from);
/* A name that is not used yet: the letter and a number. */
enum { F_NAME = 12 };
void f_name(Ctx *c, char letter, char name[F_NAME]);
/* An index of a new name. */
Ix f_new_index(Ctx *c, char letter, int64_t hi, uint32_t deps, int lanes);
/* Opens a loop of one thread over n elements, `step` at a time, and gives its index; *out is what c->b.out
 * was.
 */
Ix f_for(Ctx *c, ForHow how, int64_t n, int step, Block **out);

/* ---- early.c ---- */

/* In front of which loops a load of o at `at` may be issued where c stands, EARLY_ROW; -1: it stays there. */
int f_early_place(const Ctx *c, const Op *o, Ix at);
/* When a nest is built: which of its loads are early ones, which values are kept, which sums are rounded term
 * by term. */
void f_finish(Ctx *c);
/* ---- order.c ---- */

/* Before a section is built for the first time. */
void f_forget_orders(Ctx *c);
/* Each time: which sums it has several times, if it was written before. */
void f_start_orders(Ctx *c);
/* One thread's loop for a reduction is built. */
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
/* Whether elements at `at` lie side by side for neighbouring rows, and apart along a row. */
int f_is_turned(const Ctx *c, Ix at);
/* The same by way of shared memory, which has `extent` elements for each row of the block: element e of the
 * thread's row; and what stores all of them, behind the loop, `first` of its results, one row or those of a
 * warp at a time. */
void f_stage(Ctx *c, int k, Ix e, int64_t extent, int var);
void f_drain(Ctx *c, int k, Ix at, int64_t extent, int side_by_side, int first);

#endif
