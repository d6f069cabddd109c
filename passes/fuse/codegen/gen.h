/* SPDX-License-Identifier: Apache-2.0 */
/* gen.h - CUDA text of a nest: what its files share. */
#ifndef PASSES_FUSE_GEN_H
#define PASSES_FUSE_GEN_H

#include "../loop/nest.h"

typedef struct Gen {
	const Nest *n;
	PmText *t;
	int behind; /* what is written is of turns whose row is held in shared memory */
} Gen;

const char *f_ctype(int dtype);  /* in memory, as CUDA has it */
const char *f_cclass(int dtype); /* in registers */
/* Appends s. */
void g_add(const Gen *g, const char *s);
/* s and then x. */
void g_num(const Gen *g, const char *s, int64_t x);
void g_ix(const Gen *g, Ix a);
/* "v7[j]", and of one that is read also "c7[k][j]". */
void g_var(const Gen *g, int var);
void g_ref(const Gen *g, Ref r);
/* "LANES(8) " before what is done for each lane. */
void g_lanes(const Gen *g, int lanes);
/* "!(x3 < 7) && (x4 < 9)"; none: 1. */
void g_cond(const Gen *g, const Cond *q);
/* "resize_at<float>(m, factor, offset, n)" */
void g_resize(const Gen *g, Ix at, const double *num, int64_t n, int floats);
/* Statements of indices and scatters, of loads and stores, of control; 0 when s is none. */
int g_scatter_stmt(const Gen *g, const Stmt *s);
int g_control_stmt(const Gen *g, const Stmt *s);
int g_memory_stmt(const Gen *g, const Stmt *s);
/* The statements of a block. */
void g_block(const Gen *g, const Block *b);
/* "for (...) { int m0 = k * 32 + lane; if (m0 < 48) { body } }" of loops of class k. Where a row goes on in
 * shared memory there are two: in registers each turn has its own text, and what is behind them is not
 * unrolled, since a kernel that runs once has to fetch its text, too. */
void g_loops(const Gen *g, int k, const Block *body);

#endif
