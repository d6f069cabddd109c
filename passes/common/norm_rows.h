/* SPDX-License-Identifier: Apache-2.0 */
/* norm_rows.h - the host's side of norm_rows.cu, for the passes that use it. */
#ifndef PASSES_NORM_ROWS_H
#define PASSES_NORM_ROWS_H

#include "choose.h"
#include "norm_rows.cu.h"
#include "shapes.h"

/* Flags of norm_rows.cu; those of operands follow from the operands. */
enum {
	NORM_KEEP = 8,
	NORM_CENTER = 64,
	NORM_L2 = 128,
	NORM_WINDOW = 256,
	NORM_ONE_PLUS = 512,
	NORM_REPEAT_A = 1024,
	NORM_REPEAT_B = 2048
};

enum {
	NORM_MAX_ROW = 16 * 1024, /* 16 elements for each of 1,024 threads */
	NORM_MAX_DOUBLE = 64      /* rows up to here are worked out in double when the elements are float */
};

/* Where the rows of b lie: see norm_rows.cu. win is {0, 0} when b is not cut into windows. */
typedef struct NormWindow {
	int64_t size[2], out[2], move[2], win[2];
} NormWindow;

/* y = norm(a + g * (b + c)) * scale + bias; operands that are not set are absent. */
typedef struct NormRows {
	PmVal a, b, c, g, scale, bias;
	int64_t ra, rb, rc; /* rows of a, b and c; 0: all of a and b, 1 of c */
	int flags;
	double eps;
	NormWindow window;
} NormRows;

/* Why rows of y's last axis are not for the kernel, or NULL. */
static inline const char *norm_rows_refuse(PmVal y)
{
	int64_t n = pm_numel(y), h = pm_dim(y, -1);

	if (n <= 0 || h < 1)
		return "the rows are empty or their size is not known";
	if (h > NORM_MAX_ROW || n / h > INT32_MAX)
		return "a row is longer, or rows are more, than the kernel can hold";
	return 0;
}

/* Threads for one row: enough that each holds so many elements at most. */
static inline uint32_t norm_threads(int64_t h, int64_t per_thread)
{
	uint32_t t = 4;

	while (t < 1024 && (int64_t)t * per_thread < h)
		t *= 2;
	return t;
}

/* Replaces the match by norm_rows.cu; operands of p that are not set are absent. For rows that
 * norm_rows_refuse has let pass. */
static inline PmStatus norm_rows_replace(PmRewriter *rw, PmMatch *m, const NormRows *p)
{
	/* Loads of a thread, threads of a block of several rows. */
	static const uint32_t choice[][2] = { { 1, 256 }, { 3, 128 } };
	enum { N_CHOICE = sizeof choice / sizeof *choice, N_DEFINE = 5 };
	const PmVal op[6] = { p->a, p->b, p->c, p->g, p->scale, p->bias };
	static const int flag[6] = { 0, 1, 4, 2, 16, 32 };
	int64_t h = pm_dim(m->root, -1), rows = pm_numel(m->root) / h, ra = p->ra ? p->ra : rows,
		rb = p->rb ? p->rb : rows;
	int64_t vec = 16 / pm_dtype_bytes(pm_dtype(m->root)), each = h % vec ? 1 : vec;
	int flags = p->flags, keep = (flags & NORM_KEEP) != 0;
	int dbl = h <= NORM_MAX_DOUBLE && pm_dtype(m->root) == PM_F32 && (flags & NORM_CENTER);
	PmKernelSpec spec[N_CHOICE] = { 0 };
	PmDefine define[N_CHOICE][N_DEFINE];
	uint32_t n = 0, at[6], k, j;
	const NormWindow *w = &p->window;
	PmVal in[6];

	for (k = 0; k < 6; k++) {
		at[k] = 0;
		if (!op[k].id)
			continue;
		flags |= flag[k];
		for (j = 0; j < n && !pm_same(in[j], op[k]); j++)
			;
		at[k] = j;
		in[j] = op[k];
		n += j == n;
	}
	flags |= (ra < rows ? NORM_REPEAT_A : 0) | (rb < rows ? NORM_REPEAT_B : 0);

	PmArgs arg = PM_ARGS(IN(at[0]), IN(at[1]), IN(at[2]), IN(at[3]), IN(at[4]), IN(at[5]), OUT(0),
			     OUT(keep ? 1 : 0), I32(rows), DIVISOR(ra), DIVISOR(rb),
			     DIVISOR(p->rc ? p->rc : 1), I32(h), F32(1.0 / (double)h), F32(p->eps),
			     I32(w->size[0]), I32(w->size[1]), DIVISOR(w->out[0]), DIVISOR(w->out[1]),
			     I32(w->move[0]), I32(w->move[1]), DIVISOR(w->win[0]), DIVISOR(w->win[1]));

	for (k = 0; k < N_CHOICE; k++) {
		const uint32_t *c = choice[each == 1 ? 0 : k];
		int64_t loads = each == 1 || h > 1024 * each * c[0] ? 16 / each : c[0];
		uint32_t threads = norm_threads(h, loads * each), block = c[1];
		uint32_t many = threads <= 32 ? block / threads : 1;
		const PmDefine d[N_DEFINE] = { DEF(FLAGS, flags), DEF(N, each), DEF(LOADS, loads),
					       DEF(DOUBLE, dbl),
					       DEF(THREADS, threads <= block ? block : 1024) };

		for (j = 0; j < N_DEFINE; j++)
			define[k][j] = d[j];
		spec[k] = (PmKernelSpec){ .entry = "norm_rows",
					  .source = norm_rows_cu,
					  .grid = { pm_blocks(rows, many) },
					  .block = { threads, many },
					  .arg = arg,
					  .define = { define[k], N_DEFINE } };
	}
	return replace_with_any(rw, spec, N_CHOICE, (PmVals){ in, n }, m->root);
}

/* What LayerNormalization asks beyond its pattern: NULL, or why not. */
static inline const char *layer_norm_refuse(PmMatch *m, PmVal scale, PmVal bias)
{
	if (!is_column_vector(scale, m->root) || (bias.id && !is_column_vector(bias, m->root)))
		return "scale or bias has another element type than the sum, or not one element per column";
	if (pm_attr_i(m->root, "stash_type", 1) != 1)
		return "mean and variance are asked for in another precision than float";
	return norm_rows_refuse(m->root);
}

#endif
