/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_gemm.c - matrix products through cuBLASLt: no epilogue but a bias, sums in float, its own heuristics.
 *
 * The library's matrices are column-major, so y = a b is computed as y' = b' a', all of which are our
 * row-major matrices read column by column. Signatures and numbers are those of the cuBLASLt documentation.
 */
#include "runtime/cuda/library/cuda_calls.h"

#include "base/core/arena.h"
#include "ir/core/type.h"

#include <stdlib.h>
#include <string.h>

typedef struct Lt Lt; /* the library's handles */
typedef struct LtDesc LtDesc;
typedef struct LtLayout LtLayout;
typedef struct LtPref LtPref;

typedef struct LtAlgo {
	uint64_t data[8];
} LtAlgo;

typedef struct LtFound {
	LtAlgo algo;
	size_t workspace;
	int state;
	float waves;
	int reserved[4];
} LtFound;

/* XX(member, symbol, parameters). All return int. */
#define LT_FUNCTIONS(XX)                                                                                     \
	XX(create, cublasLtCreate, (Lt * *h))                                                                \
	XX(desc_create, cublasLtMatmulDescCreate, (LtDesc * *d, int compute, int scale))                     \
	XX(desc_destroy, cublasLtMatmulDescDestroy, (LtDesc * d))                                            \
	XX(desc_set, cublasLtMatmulDescSetAttribute, (LtDesc * d, int attr, const void *p, size_t n))        \
	XX(layout_create, cublasLtMatrixLayoutCreate,                                                        \
	   (LtLayout * *l, int type, uint64_t rows, uint64_t cols, int64_t ld))                              \
	XX(layout_destroy, cublasLtMatrixLayoutDestroy, (LtLayout * l))                                      \
	XX(layout_set, cublasLtMatrixLayoutSetAttribute, (LtLayout * l, int attr, const void *p, size_t n))  \
	XX(pref_create, cublasLtMatmulPreferenceCreate, (LtPref * *p))                                       \
	XX(pref_destroy, cublasLtMatmulPreferenceDestroy, (LtPref * p))                                      \
	XX(pref_set, cublasLtMatmulPreferenceSetAttribute, (LtPref * p, int attr, const void *v, size_t n))  \
	XX(heuristic, cublasLtMatmulAlgoGetHeuristic,                                                        \
	   (Lt * h, LtDesc * d, LtLayout * a, LtLayout * b, LtLayout * c, LtLayout * y, LtPref * p,          \
	    int wanted, LtFound *found, int *n))                                                             \
	XX(matmul, cublasLtMatmul,                                                                           \
	   (Lt * h, LtDesc * d, const void *alpha, CuPtr a, LtLayout *al, CuPtr b, LtLayout *bl,             \
	    const void *beta, CuPtr c, LtLayout *cl, CuPtr y, LtLayout *yl, const LtAlgo *algo, CuPtr ws,    \
	    size_t n, CuStream *s))

enum {
	R_32F = 0,
	R_64F = 1,
	COMPUTE_32F = 68,
	COMPUTE_64F = 70,
	COMPUTE_TF32 = 77,
	DESC_TRANSA = 3,
	DESC_TRANSB = 4,
	DESC_EPILOGUE = 7,
	DESC_BIAS = 8,
	LAYOUT_BATCH = 5,
	LAYOUT_BATCH_STRIDE = 6,
	PREF_WORKSPACE = 1,
	PREF_REDUCTIONS = 3,
	PREF_ALIGN_A = 5,
	EPILOGUE_BIAS = 4,
	OP_T = 1,
	/* Partial sums are added up in the compute type: not in a half type, and not in place, whose order is
	   another one each time. */
	REDUCTIONS = 2,
	N_CANDIDATES = 8
};

static struct {
	Lt *handle[CU_LIB_DEVICES];
	char dead[CU_LIB_DEVICES]; /* it did not start: not tried again */
#define XX(member, symbol, parameters) int(*member) parameters;
	LT_FUNCTIONS(XX)
#undef XX
} lt;

typedef struct Gemm {
	Lt *handle;
	LtDesc *desc;
	LtLayout *a, *b, *y; /* the library's first and second factor, and the result */
	LtAlgo algo;
	PmLibC c;
	int is_double, outer;
	int64_t step[3]; /* bytes */
	double alpha, beta;
} Gemm;

static PmStatus open_lt(int dev, PmErr *err)
{
	const PmLibrary *l = pm_library_cublaslt();
	void *p;

	if (dev >= 0 && dev < CU_LIB_DEVICES && lt.handle[dev])
		return PM_OK;
	if (!l->so || dev < 0 || dev >= CU_LIB_DEVICES)
		return PM_DECLINED;
#define XX(member, symbol, parameters)                                                                       \
	p = pm_library_symbol(l, #symbol);                                                                   \
	memcpy(&lt.member, &p, sizeof p);                                                                    \
	if (!p)                                                                                              \
		return PM_DECLINED;
	LT_FUNCTIONS(XX)
#undef XX
	lt.dead[dev] = lt.dead[dev] || lt.create(&lt.handle[dev]) != 0;
	if (lt.dead[dev]) {
		lt.handle[dev] = NULL;
		return pm_err(err, PM_E_ENV, "%s does not start; set PASSMITH_LIBRARIES=off to go without.",
			      l->text);
	}
	return PM_OK;
}

void pm__gemm_drop(void *call)
{
	Gemm *g = call;

	if (!g)
		return;
	if (g->a)
		lt.layout_destroy(g->a);
	if (g->b)
		lt.layout_destroy(g->b);
	if (g->y)
		lt.layout_destroy(g->y);
	if (g->desc)
		lt.desc_destroy(g->desc);
	free(g);
}

/* A row-major matrix of the given strides as the library's: read column by column it is its transpose, [cols,
 * rows], so *op is OP_T when it is the columns that lie together. 0 when neither lies together. */
static int layout(LtLayout **l, int type, int64_t rows, int64_t cols, int64_t row, int64_t col, int *op)
{
	*op = 0;
	if (col == 1 && row >= cols)
		return lt.layout_create(l, type, (uint64_t)cols, (uint64_t)rows, row) == 0;
	if (row == 1 && col >= rows) {
		*op = OP_T;
		return lt.layout_create(l, type, (uint64_t)rows, (uint64_t)cols, col) == 0;
	}
	return 0;
}

static int set_batch(LtLayout *l, int64_t n, int64_t stride)
{
	int32_t count = (int32_t)n;

	return lt.layout_set(l, LAYOUT_BATCH, &count, sizeof count) == 0 &&
	       lt.layout_set(l, LAYOUT_BATCH_STRIDE, &stride, sizeof stride) == 0;
}

/* Descriptors of all matrices. 0 when the library cannot express them. */
static int describe(Gemm *g, const PmLibCall *call)
{
	const PmLibGemm *v = &call->gemm;
	int type = pm_float_type(call->dtype)->cublas, op_a, op_b;
	int results = v->sums && !g->is_double ? R_32F : type;
	int compute = g->is_double
			      ? COMPUTE_64F
			      : (call->dtype == PM_F32 && pm_library_tf32() ? COMPUTE_TF32 : COMPUTE_32F);
	uint32_t epilogue = EPILOGUE_BIAS;

	if (lt.desc_create(&g->desc, compute, g->is_double ? R_64F : R_32F) ||
	    !layout(&g->a, type, v->k, v->n, v->b_row, v->b_col, &op_a) ||
	    !layout(&g->b, type, v->m, v->k, v->a_row, v->a_col, &op_b) ||
	    lt.layout_create(&g->y, results, (uint64_t)v->n, (uint64_t)v->m, v->n) ||
	    lt.desc_set(g->desc, DESC_TRANSA, &op_a, sizeof op_a) ||
	    lt.desc_set(g->desc, DESC_TRANSB, &op_b, sizeof op_b))
		return 0;
	if (v->c == PM_LIB_C_COLUMNS && lt.desc_set(g->desc, DESC_EPILOGUE, &epilogue, sizeof epilogue))
		return 0;
	return v->batch == 1 ||
	       (v->batch <= INT32_MAX && set_batch(g->a, v->batch, v->b_batch) &&
		set_batch(g->b, v->batch, v->a_batch) && set_batch(g->y, v->batch, v->m * v->n));
}

/* The library's candidate number *pick, or the next one, within the limits. 0 when it has none. */
static int choose(Gemm *g, const PmLibCall *c, int64_t limit, int *pick, int64_t *workspace)
{
	/* The library's A is our second factor; the results of a launch begin at a fresh buffer. */
	uint32_t align[4] = { (uint32_t)c->align[2], (uint32_t)c->align[1], (uint32_t)c->align[0],
			      (uint32_t)c->align[0] };
	uint32_t reductions = REDUCTIONS;
	uint64_t bytes = (uint64_t)limit;
	LtFound found[N_CANDIDATES];
	LtPref *pref = NULL;
	int n = 0, ok;

	if (c->gemm.c == PM_LIB_C_MATRIX)
		align[2] = (uint32_t)c->align[3];
	memset(found, 0, sizeof found);
	ok = lt.pref_create(&pref) == 0 && lt.pref_set(pref, PREF_WORKSPACE, &bytes, sizeof bytes) == 0 &&
	     lt.pref_set(pref, PREF_REDUCTIONS, &reductions, sizeof reductions) == 0;
	for (int i = 0; i < 4 && ok; i++)
		ok = lt.pref_set(pref, PREF_ALIGN_A + i, &align[i], sizeof align[i]) == 0;
	ok = ok &&
	     lt.heuristic(g->handle, g->desc, g->a, g->b, g->y, g->y, pref, N_CANDIDATES, found, &n) == 0;
	if (pref)
		lt.pref_destroy(pref);
	for (int i = *pick; i < n && ok; i++)
		if (found[i].state == 0 && found[i].workspace <= bytes) {
			g->algo = found[i].algo;
			*workspace = (int64_t)found[i].workspace;
			*pick = i;
			return 1;
		}
	return 0;
}

PmStatus pm__gemm_prepare(int dev, const PmLibCall *c, int64_t limit, int *pick, void **out,
			  int64_t *workspace, PmErr *err)
{
	Gemm *g;
	PmStatus st = open_lt(dev, err);

	if (st)
		return st;
	g = pm_xcalloc(1, sizeof *g);
	g->handle = lt.handle[dev];
	g->c = c->gemm.c;
	g->is_double = c->dtype == PM_F64;
	g->outer = (int)c->gemm.outer;
	memcpy(g->step, c->step, sizeof g->step);
	g->alpha = c->gemm.alpha;
	g->beta = g->c == PM_LIB_C_MATRIX ? c->gemm.beta : 0;
	if (!describe(g, c) || !choose(g, c, limit, pick, workspace)) {
		pm__gemm_drop(g);
		return PM_DECLINED;
	}
	*out = g;
	return PM_OK;
}

PmStatus pm__gemm_run(void *call, const CuPtr p[4], CuPtr workspace, int64_t bytes, CuStream *s, PmErr *err)
{
	Gemm *g = call;
	float alpha = (float)g->alpha, beta = (float)g->beta;
	const void *pa = g->is_double ? (const void *)&g->alpha : &alpha;
	const void *pb = g->is_double ? (const void *)&g->beta : &beta;
	int rc = 0;

	if (g->c == PM_LIB_C_COLUMNS)
		rc = lt.desc_set(g->desc, DESC_BIAS, &p[3], sizeof p[3]);
	for (int i = 0; i < g->outer && !rc; i++) {
		CuPtr y = p[0] + (uint64_t)(i * g->step[0]), a = p[1] + (uint64_t)(i * g->step[1]),
		      b = p[2] + (uint64_t)(i * g->step[2]);

		rc = lt.matmul(g->handle, g->desc, pa, b, g->a, a, g->b, pb,
			       g->c == PM_LIB_C_MATRIX ? p[3] : y, g->y, y, g->y, &g->algo, workspace,
			       (size_t)bytes, s);
	}
	return rc ? pm_err(err, PM_E_DEVICE,
			   "cuBLASLt fails with status %d on a product it had accepted; set "
			   "PASSMITH_LIBRARIES=off to go without.",
			   rc)
		  : PM_OK;
}
