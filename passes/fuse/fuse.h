/* fuse.h - automatic fusion: what the parts of the plugin share.
 *
 * From a set of nodes to a kernel:
 *   load.c    nodes as operations of a small IR; composite operators (softmax, norms) in parts   load_*.c
 *   ix.c      index arithmetic: linear forms over loop variables, their quotients and remainders
 *   eval.c    asks for a value at coordinates and writes the statements that compute it     eval_*.c, vars.c
 *   plan.c    sections of a kernel: which results one nest of loops makes, and what a row is
 *   schedule.c  how threads share a section
 *   section.c its loops and stores
 *   split.c   rows that many blocks share: one launch for each reduction, and one for the results
 *   eval_scatter.c  updates looked for by the results
 *   load_dot.c  products; load_einsum.c; load_sum.c the same as sums; address.c where their factors lie
 *   tile.c    which tile of a product a block makes, and how long that takes
 *   product.c a product's section; product.cu what makes its tile
 *   early.c   loads that are issued before anything waits for one
 *   front.c   a product in a launch of its own, in front of the rest; front.cu what makes its tiles
 *   source.c  the kernel's text
 *   cost.c    what a set of nodes costs as library calls, and as this kernel
 *   grow.c    which nodes to take together
 *   fuse.c    the rule
 *
 * Nothing is stored between operations: a value is computed where it is asked for, at the coordinates it is
 * asked at. So views, slices and concatenations become index arithmetic, and a set of nodes is one kernel
 * exactly if the reductions in it can be shared by the threads of a row. docs/performance.md tells the rest.
 */
#ifndef PASSES_FUSE_H
#define PASSES_FUSE_H

#define PM_SEVERAL_FILES
#include "passmith/dsl.h"

enum {
	F_RANK = PM_MAX_RANK,
	F_OPS = 1024,  /* operations of the IR */
	F_NODES = 192, /* nodes of the graph that are looked at around one seed */
	F_SET = 64,    /* nodes of one kernel */
	F_ARGS = 48,   /* inputs, or outputs, of a kernel */
	F_TERMS = 10,  /* of a linear form */
	F_LINS = 4096,
	F_ATOMS = 768,
	F_VARS = 2048, /* variables of a kernel */
	F_SEEN = 768,
	F_DEPTH = 8, /* loops in loops */
	F_SECTIONS = 8,
	F_SPLITS = 6, /* reductions of a row that many blocks share */
	F_SHORT = 16, /* elements of a reduction that one thread may make for a row */
	F_TURNS = 8,  /* of a loop that is unrolled, whatever it keeps */
	F_LOOPS = 8,  /* different trip counts of a section */
	F_EARLY = 64  /* loads of a section that are issued at its begin */
};

/* What an index depends on. The low bits are free for plan.c to ask which axes matter. */
enum {
	DEP_AXES = 0xff,
	DEP_ROW = 0x100,   /* the row */
	DEP_CHUNK = 0x200, /* the place in the row, in vectors */
	DEP_LANE = 0x400,  /* the place in the vector */
	DEP_WIN = 0x800,   /* a loop of one thread */
	DEP_HERE = 0x1000  /* something that exists only where it was written */
};

typedef int Ix; /* a linear form; equal forms have equal numbers */

typedef struct Term {
	int32_t atom;
	int64_t k;
} Term;

typedef struct Lin {
	int32_t n;
	uint32_t deps;
	int64_t c, lo, hi;
	Term t[F_TERMS];
} Lin;

typedef enum AtomKind { ATOM_VAR, ATOM_DIV, ATOM_MOD } AtomKind;

typedef struct Atom { /* 0 to hi */
	uint8_t kind;
	uint8_t lanes; /* a variable with a value for each lane */
	uint32_t deps;
	Ix of;
	int64_t by, hi;
	char name[12];
} Atom;

typedef enum Kind {
	OP_NONE,
	OP_IN,  /* a value from outside */
	OP_NUM, /* a constant */
	OP_EW,  /* expr over in[] */
	OP_FOLD,
	OP_CAST,
	OP_SAME,
	OP_TRANSPOSE, /* par: perm */
	OP_RESHAPE,
	OP_EXPAND,
	OP_SLICE,  /* par: start and step by axis */
	OP_CONCAT, /* axis */
	OP_PAD,    /* par: lows; mode */
	OP_GATHER, /* axis */
	OP_GATHER_ELEMENTS,
	OP_GATHER_ND,
	OP_TILE,
	OP_TRILU,   /* axis: 1 upper; par[0]: k */
	OP_RESIZE,  /* nearest by whole numbers; par: factors */
	OP_LINEAR,  /* resize between neighbours on one or two axes; par: the axes; num: factor and offset of
		       each */
	OP_SPREAD,  /* in[0] of axis `axis` beside other axes: a parameter of a channel */
	OP_REDUCE,  /* red over the axes of bits `axis`; operand rank is kept with extent 1 */
	OP_POOL,    /* red over windows; par: kernel, stride, pad, dilation by axis */
	OP_SCATTER, /* in[0] and the sum of those of in[2] whose in[1] says the place on `axis` */
	OP_DOT      /* a matrix product; mode: Form; par: batch, m, n, k, operation
		       of the same as a sum or 0, DOT_CONV; axis: bits of transposed factors */
} Kind;

/* How the coordinates of a product and its factors follow from those of the matrices. */
typedef enum Form {
	FORM_FLAT,  /* MatMul by one matrix: m is all axes but the last */
	FORM_BATCH, /* MatMul */
	FORM_GEMM,
	FORM_POINT, /* 1x1 Conv of one pixel: m is the image, n the channel */
	FORM_IMAGE, /* 1x1 Conv: a is the weight, m the channel, n the pixel */
	FORM_CONV   /* other Conv: k is a channel and a place in its window; only front.c reads the image */
} Form;

/* Of a convolution behind the rest of a product's par: extents of the image and of rows of the result, then
 * of the window, strides, dilations and pads, each of both axes. */
enum { DOT_CONV = 5, CONV_N = 11 };

typedef enum Red { RED_SUM, RED_MEAN, RED_MAX, RED_MIN, RED_PROD, RED_AVG } Red;

typedef struct Op {
	uint8_t kind, rank, n_in, red, mode;
	int8_t dtype;
	uint8_t compute; /* type that expr is computed in (PmDType) */
	uint8_t exact;   /* OP_EW, OP_FOLD: the result is one of the operands, but for its sign, or small */
	int16_t node;    /* of the graph that it is part of, -1: none */
	int32_t axis;
	int64_t dim[F_RANK];
	int32_t *in;
	int64_t *par;
	const char *expr;
	double num[6]; /* p0, p1, ...; of OP_NUM: the number */
	int n_num;
	PmVal val; /* the graph's value that it is; 0: none */
} Op;

typedef struct Node {
	PmVal val; /* first result */
	int64_t order;
	uint8_t ok, in_set, tried, tried_at, n_in, n_out; /* tried_at: nodes of the set at that time */
	uint8_t launches;                                 /* when it is run by itself */
	int32_t dot; /* the operation of kind OP_DOT that it has; 0: none */
	int32_t *in; /* ops; -1: omitted */
	int32_t *out;
	PmVal *user; /* of all results one after another; n_user of each, or 0xff: used outside for sure */
	uint8_t *n_user;
} Node;

typedef struct Var { /* a variable of the kernel */
	int8_t dtype;
	uint8_t lanes;  /* one value for each lane */
	uint8_t wanted; /* kept over loops */
	uint8_t cached; /* of a loop that is over */
	uint8_t kept;   /* written to its array */
	uint8_t row;    /* of the row's part */
	uint8_t exact;  /* rounding it to its operation's type would change nothing */
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

/* Where a factor of a product lies: elements from one m (n) and from one k to the next; the rest of its
 * index. */
typedef struct Factor {
	int arg; /* place in arg_in */
	int64_t by_row, by_k;
	Ix rest;
	int vec; /* elements of one access */
	int along_k;
} Factor;

/* What a block of a product's section makes (product.cu). */
typedef struct Tile {
	int rows, cols;   /* of the tile */
	int mi, ni;       /* half types: of 16 rows, of 8 columns; float: rows and columns of a lane */
	int lm;           /* float: lanes side by side along rows */
	int wn, warps;    /* warps side by side along columns; warps that share a sum */
	int depth, piece; /* pieces of K under way, elements of one */
} Tile;

typedef struct Section {
	int dot;     /* its product; 0: none */
	int swapped; /* factors, and m and n, have changed places */
	int down;    /* neighbouring threads have neighbouring rows of the tile */
	Tile tile;
	Factor a, b;
	double wait;           /* microseconds until a tile is there */
	double fast_m, fast_n; /* elements of results that lie side by side along m, and along n */
	int n_out;
	int16_t out[F_ARGS];   /* results, by place in arg_out */
	int16_t shape[F_ARGS]; /* op by whose extents each is walked */
	uint32_t axes[F_ARGS]; /* of these, the bits of those that make up the row */
	int64_t rows;          /* 0: none, every element by itself */
	int64_t extent;        /* largest of its loops */
	int column;            /* neighbouring threads have neighbouring rows */
	int wide;              /* and so have the lanes of a vector: no two of one row */
	int vec, group, per_block, block;
	int64_t blocks;
	int max_serial, keep;
	int hold;  /* what its loops load stays in registers up to the last, two blocks in those of one
		      multiprocessor */
	int split; /* blocks that share a row, or a set of columns; 0: one */
	/* measured while it is written */
	double bytes, spread, work; /* bytes read and written; of them out of order; operations */
	double across, along;       /* bytes that lie side by side in neighbouring rows, and along a row */
	double serial;              /* turns of loops of one thread */
	double looks;               /* and of those that look through the indices of a scatter */
	int cached, lane_loads, syncs;
	int n_reds, n_stages; /* reductions by rows, and launches that they take when it is split */
} Section;

typedef struct Ctx {
	const char *fail; /* why this cannot be done; NULL so far */

	/* the graph */
	Op *op;
	int n_ops;
	Node *node;
	int n_nodes;
	uint16_t *op_of; /* by hash of a handle: 1 + op */

	/* indices */
	Lin *lin;
	Atom *atom;
	int16_t *lin_of;
	int n_lins, n_atoms;

	/* the section that is written */
	Section *s;
	int dry;    /* no text */
	int other;  /* make the second choice of threads and vectors */
	int sums;   /* products are sums like others */
	int apart;  /* the product has a launch of its own, `front` */
	int alone;  /* short reductions are each thread's own */
	int shorts; /* short reductions that were met where rows are looked for */
	int keep;   /* values stay in registers from loop to loop */
	PmText *out, *row;
	PmText body[F_DEPTH], rowbuf, decl;
	int depth;
	int at_row;          /* statements go to the row's part */
	int branch;          /* in how many branches */
	int trial;           /* what is written now will be written again */
	double times, turns; /* how often what is written now runs: in all, and in loops of one thread */
	Memo *memo, *row_memo, *seen;
	int n_memo, memo_base, n_row, n_seen;
	Var *var;
	int n_vars, n_names, loop_now;
	Loop loop[F_LOOPS];
	int n_loops;
	Early early[F_EARLY];
	PmText early_text[F_LOOPS + 1]; /* of each class of loops, or of the elements; the last: of the row */
	int n_early;
	int64_t early_words, kept_words; /* that a thread keeps for them, and from loop to loop */
	uint64_t read;                   /* bits of the arguments that the section has read */
	uint64_t vec_in, vec_out;        /* bits of the arguments that are read or written by vectors */
	Ix ix_row, ix_lane;
	uint32_t probe;        /* axes that reductions depend on, while plan.c asks */
	int probing, n_probed; /* reductions met */
	int stage, n_reds;     /* the launch that is written of a split section; reductions written so far */
	Reduced red[F_SPLITS];
	uint32_t cut; /* the row's text from here on is not this launch's */

	/* arguments of the kernel */
	int32_t arg_in[F_ARGS], arg_out[F_ARGS];
	int n_arg_in, n_arg_out, n_known_in; /* n_known_in: operands that have their places */
	Section section[F_SECTIONS], front;
	int n_sections;

	char *pool;
	uint32_t pool_n, pool_cap;
} Ctx;

/* Memory that lives as long as the callback; NULL, and c->fail, when there is no more. */
void *f_alloc(Ctx *c, uint32_t bytes);
Ctx *f_new(void);

/* Elements of a row that one vector holds. */
static inline int f_step(const Section *s)
{
	return s->wide ? 1 : s->vec;
}

/* Rows, or vectors of neighbouring rows: the threads of a group share one. */
static inline int64_t f_groups(const Section *s)
{
	return s->wide ? s->rows / s->vec : s->rows;
}

/* What an index that is the same for all elements of a row may depend on. */
static inline uint32_t f_row_deps(const Ctx *c)
{
	return DEP_ROW | (c->s->wide ? DEP_LANE : 0);
}

/* ---- ix.c: non-negative numbers, except where an index is still to be confined ---- */

void ix_reset(Ctx *c);
Ix ix_const(Ctx *c, int64_t k);
Ix ix_of_atom(Ctx *c, int atom);
Ix ix_var(Ctx *c, const char *name, int64_t hi, uint32_t deps, int lanes);
Ix ix_add(Ctx *c, Ix a, Ix b);
Ix ix_plus(Ctx *c, Ix a, int64_t k);
Ix ix_scale(Ctx *c, Ix a, int64_t k);
Ix ix_div(Ctx *c, Ix a, int64_t by);
Ix ix_mod(Ctx *c, Ix a, int64_t by);
/* a without its lane; *k is what the lane counts, -1 when it stands inside a quotient. */
Ix ix_without_lane(Ctx *c, Ix a, int64_t *k);
/* The place of coordinates in a contiguous tensor, and back. */
Ix ix_flat(Ctx *c, const Ix *co, const int64_t *dim, int rank);
void ix_unflat(Ctx *c, Ix flat, const int64_t *dim, int rank, Ix *co);
void ix_text(Ctx *c, PmText *t, Ix a);

/* ---- load.c ---- */

/* The operation of a graph value, loaded as one from outside when it is new. */
int f_value(Ctx *c, PmVal v);
/* The node of v (a result), its operations and those of its operands; -1 when there is no room. */
int f_node(Ctx *c, PmVal v);
int f_op(Ctx *c, Kind kind, int like, int node);
int64_t f_numel(const Op *o);
int f_is(const char *a, const char *b);
/* Operators that are made of several operations; 1 when `name` is one of them (load_norm.c, load_move.c). */
int f_load_norm(Ctx *c, Node *n, const char *name, int out);
int f_load_move(Ctx *c, Node *n, const char *name, int out);
int f_load_resize(Ctx *c, Node *n, int out); /* eval_resize.c */
int f_load_pool(Ctx *c, Node *n, const char *name, int out);
int f_load_dot(Ctx *c, Node *n, const char *name, int out);     /* load_dot.c */
int f_load_scatter(Ctx *c, Node *n, const char *name, int out); /* eval_scatter.c */
/* Views of the operands whose MatMul an Einsum is; 0 when it is none (load_einsum.c). */
int f_load_einsum(Ctx *c, const Node *n, int *a, int *b);
/* The sum that a product is, as operations of its shape; 0 when it is not made (load_sum.c). */
int f_load_sum(Ctx *c, int dot);
int f_ew(Ctx *c, int node, int like, const char *expr, int a, int b, int third);
/* Makes `out` an expression of one to three values, of its own shape and type. 0 when that failed. */
int f_becomes(Ctx *c, int out, const char *expr, int a, int b, int third);
int f_num(Ctx *c, int dtype, double x);

/* ---- eval.c ---- */

/* The variable that holds the value of op at the coordinates; -1 after a failure. */
int f_eval(Ctx *c, int op, const Ix *co);
int f_new_var(Ctx *c, int dtype, int lanes);
void f_ref(Ctx *c, PmText *t, int var);
void f_declare(Ctx *c, int var, const char *init);
void f_for_lanes(Ctx *c, int lanes);
int f_memo_find(Ctx *c, int op, const Ix *co, int rank);
void f_memo_add(Ctx *c, int op, const Ix *co, int rank, int var);
/* var rounded to the type of op, as a stored value would be; var itself where that changes nothing. */
int f_rounded(Ctx *c, int op, int var);
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
Place f_enter_row(Ctx *c);
void f_leave(Ctx *c, const Place *p);
/* a, known to be between 0 and hi where it is used. */
Ix f_confine(Ctx *c, Ix a, int64_t hi);
/* "a < k" for every lane alike, as text; fails when lanes differ. */
void f_below(Ctx *c, Ix a, int64_t k);

int f_eval_move(Ctx *c, int op, const Ix *co);   /* eval_move.c: views, pieces, gathers */
int f_eval_reduce(Ctx *c, int op, const Ix *co); /* eval_reduce.c */
int f_eval_pool(Ctx *c, int op, const Ix *co);
int f_eval_linear(Ctx *c, int op, const Ix *co);  /* eval_resize.c */
int f_eval_scatter(Ctx *c, int op, const Ix *co); /* eval_scatter.c */
/* The place in arg_in of a value that is read from memory. */
int f_arg(Ctx *c, int op);
/* Elements of an argument as text: one, or a vector. */
void f_load_text(Ctx *c, int arg, Ix at, int vec);
/* A name that is not used yet: the letter and a number (eval_reduce.c). */
enum { F_NAME = 12 };
void f_name(Ctx *c, char letter, char name[F_NAME]);
/* "for (int i4 = 0; i4 < n; i4 += step) {" with a new name (eval_reduce.c). */
void f_for(Ctx *c, int64_t n, int step, char name[F_NAME]);
/* What is known inside a branch or a loop of one thread is forgotten behind it. */
static inline int f_mark(const Ctx *c)
{
	return c->at_row ? c->n_row : c->n_memo;
}

static inline void f_forget(Ctx *c, int mark)
{
	if (c->at_row)
		c->n_row = mark;
	else
		c->n_memo = mark;
}

/* The loop over `extent` elements of a row: begin gives the element's index, end writes it behind `before`.
 */
typedef struct LoopState {
	PmText *out;
	int at_row, memo_base, n_memo, branch, loop_now, loop;
	double times;
} LoopState;
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

/* ---- plan.c, source.c, cost.c ---- */

/* Sections for the nodes that are in the set and the results in arg_out; 0 and c->fail when one kernel cannot
 * do it. */
int f_plan(Ctx *c);
/* Vectors and threads of a section (schedule.c). */
void f_schedule(Ctx *c, Section *s);
/* Words that each of g threads of a row keeps from loop to loop. */
int64_t f_kept_words(const Section *s, int64_t g);
/* split.c: whether many blocks are to share rows, after the threads have been decided. */
void f_split(Ctx *c, Section *s);
/* Reduction `number` of a split section, of n elements, all of this block's in `acc`: the parts of the blocks
 * are joined, or this block's is left for the next launch. */
void f_join_parts(Ctx *c, const Op *o, int acc, int number, int64_t n);
void f_leave_part(Ctx *c, int acc, int number, int64_t n);
/* The launch that leaves the parts of reduction `number`, the operation `op`. */
int f_stage_of(Ctx *c, int op, int number);
const char *f_join(const Op *o); /* the structure that joins two of its parts */
int f_stages(const Ctx *c);
int64_t f_scratch(const Ctx *c); /* bytes that the parts of split rows take */
/* Starts a section anew: no variables, no indices. */
void f_clear(Ctx *c, Section *s);
/* Product of the extents of these axes. */
int64_t f_rows_of(const Op *o, uint32_t axes);
/* Writes a section (dry: only measures). */
int f_write_section(Ctx *c, Section *s, int dry);
/* Results of the section that is written that have more than one element for each row. */
int f_along(const Ctx *c);
void f_forget_wanted(Ctx *c);
/* One kernel for each launch: fused0, fused1, ... with the blocks of each. */
int f_source(Ctx *c, PmText *t, int block, int64_t *blocks);
double f_kernel_time(const Ctx *c);
/* What copying those operands costs that are views of something outside the set. */
double f_copies(const Ctx *c);
/* A node by itself: microseconds, and launches with the copies of what the graph hands out. */
double f_library_time(const Ctx *c, const Node *n);
int f_has_product(const Ctx *c);
int f_library_launches(const Ctx *c, const Node *n);
/* Results of the set that are used outside become the kernel's. */
void f_results(Ctx *c);

/* ---- products ---- */

enum { DOT_B = 1, DOT_M = 2, DOT_N = 4, DOT_K = 8 }; /* what an index of a factor depends on */

/* The coordinates of a product (which: 0) and of its factors (1, 2) for places in the matrices. */
void f_dot_coords(Ctx *c, const Op *o, int which, Ix b, Ix m, Ix n, Ix k, Ix *co);
/* Where the factors of s->dot lie; 0 and c->fail when a tile cannot be read from there. */
int f_factors(Ctx *c, Section *s);
/* The product that an operation is computed from: 0 none, -1 several. */
int f_dot_under(Ctx *c, int op);
/* Chooses tile, vectors and threads; 0 and c->fail when there is none. */
int f_schedule_product(Ctx *c, Section *s);
/* Microseconds that blocks of this tile take for the product. */
double f_tile_time(const Ctx *c, const Section *s, const Tile *t);
int64_t f_tile_blocks(const Op *o, const Section *s, const Tile *t);
/* The statements of a product's section. */
void f_product_results(Ctx *c);
int f_eval_dot(Ctx *c, int op, const Ix *co);
/* Whether a reduction stands between the product and op. */
int f_reduced_after(Ctx *c, int op, int dot);
void f_product_text(Ctx *c, const Section *s, PmText *t);
const char *f_product_source(void);
/* Where the tile of a block lies, "const int m0 = block % ..., n0 = ..., gb = ..." without the end; how many
 * tiles a matrix has. */
int64_t f_tile_places(Ctx *c, const Section *s, PmText *t);
/* Where the factors of the tile begin, as `a` and `b`. */
void f_product_pointers(Ctx *c, const Section *s, PmText *t);
/* Rows and columns of the matrix as its tile has them. */
int64_t f_tile_rows(const Ctx *c, const Section *s);
int64_t f_tile_cols(const Ctx *c, const Section *s);
/* Floats of shared memory. */
int f_tile_shared(const Tile *t);

/* front.c: chooses tiles and slices of the sum for the launch in front; 0 and c->fail when there are none. */
int f_front(Ctx *c);
int64_t f_front_scratch(const Ctx *c); /* bytes that all slices take */
void f_front_text(Ctx *c, PmText *t);
/* The product at the coordinates, in the launches behind it. */
int f_eval_parts(Ctx *c, int op, const Ix *co);
void f_front_source(const Ctx *c, PmText *t);

/* One result at `at`, from a variable. */
void f_store(Ctx *c, int k, Ix at, int var);

/* ---- grow.c ---- */

PmStatus f_grow(PmRegion *r, PmVal seed);

#endif
