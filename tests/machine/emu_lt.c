/* SPDX-License-Identifier: Apache-2.0 */
/* emu_lt.c - a cuBLASLt for the driver of emu_cuda.c: products of float matrices, computed by this processor
 * when the stream comes to them.
 *
 * It has what libpassmith_rt calls, and one algorithm. Like the real one it has the driver load something
 * when it is called (emu_cuda_enqueue). Matrices are column-major.
 */
#include "tests/machine/emu_cuda.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define XX(type, name, parameters)                                                                           \
	__attribute__((visibility("default"))) type name parameters;                                         \
	type name parameters

enum { NOT_SUPPORTED = 15, INVALID_VALUE = 7, R_32F = 0, TRANSA = 3, TRANSB = 4, EPILOGUE = 7, BIAS = 8 };
enum { BATCH = 5, BATCH_STRIDE = 6 };

typedef unsigned long long Ptr;

typedef struct Desc {
	int trans_a, trans_b, epilogue;
	Ptr bias;
} Desc;

typedef struct Layout {
	int type, batch;
	int64_t rows, cols, ld, stride;
} Layout;

typedef struct Found {
	uint64_t algo[8];
	size_t workspace;
	int state;
	float waves;
	int reserved[4];
} Found;

/* A product, as the stream keeps it. */
typedef struct Job {
	const float *a, *b, *c, *bias;
	float *y, alpha, beta;
	int trans_a, trans_b, batch;
	int64_t m, n, k, lda, ldb, ldc, ldy, step_a, step_b, step_c, step_y;
} Job;

_Static_assert(sizeof(Job) <= 256, "a job is what the driver copies");

static int (*enqueue)(void *stream, void (*f)(void *arg), const void *arg, unsigned long n);
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find_driver(void)
{
	void *so = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	void *p = so ? dlsym(so, "emu_cuda_enqueue") : NULL;

	memcpy(&enqueue, &p, sizeof p);
}

XX(size_t, cublasLtGetVersion, (void))
{
	return 130000;
}

XX(int, cublasLtCreate, (void **h))
{
	pthread_once(&once, find_driver);
	*h = &enqueue;
	return enqueue ? 0 : NOT_SUPPORTED;
}

XX(int, cublasLtMatmulDescCreate, (Desc * *d, int compute, int scale))
{
	(void)compute, (void)scale;
	*d = calloc(1, sizeof **d);
	return *d ? 0 : NOT_SUPPORTED;
}

XX(int, cublasLtMatmulDescDestroy, (Desc * d))
{
	free(d);
	return 0;
}

XX(int, cublasLtMatmulDescSetAttribute, (Desc * d, int attr, const void *p, size_t n))
{
	void *to = attr == TRANSA     ? (void *)&d->trans_a
		   : attr == TRANSB   ? (void *)&d->trans_b
		   : attr == EPILOGUE ? (void *)&d->epilogue
		   : attr == BIAS     ? (void *)&d->bias
				      : NULL;

	if (!to || n > sizeof d->bias)
		return INVALID_VALUE;
	memcpy(to, p, n);
	return 0;
}

XX(int, cublasLtMatrixLayoutCreate, (Layout * *l, int type, uint64_t rows, uint64_t cols, int64_t ld))
{
	*l = calloc(1, sizeof **l);
	if (!*l)
		return NOT_SUPPORTED;
	**l = (Layout){ .type = type, .batch = 1, .rows = (int64_t)rows, .cols = (int64_t)cols, .ld = ld };
	return 0;
}

XX(int, cublasLtMatrixLayoutDestroy, (Layout * l))
{
	free(l);
	return 0;
}

XX(int, cublasLtMatrixLayoutSetAttribute, (Layout * l, int attr, const void *p, size_t n))
{
	if (attr == BATCH && n == sizeof l->batch)
		memcpy(&l->batch, p, n);
	else if (attr == BATCH_STRIDE && n == sizeof l->stride)
		memcpy(&l->stride, p, n);
	else
		return INVALID_VALUE;
	return 0;
}

XX(int, cublasLtMatmulPreferenceCreate, (void **p))
{
	*p = &enqueue;
	return 0;
}

XX(int, cublasLtMatmulPreferenceDestroy, (void *p))
{
	(void)p;
	return 0;
}

XX(int, cublasLtMatmulPreferenceSetAttribute, (void *p, int attr, const void *v, size_t n))
{
	(void)p, (void)attr, (void)v, (void)n;
	return 0;
}

XX(int, cublasLtMatmulAlgoGetHeuristic,
   (void *h, Desc *d, const Layout *a, const Layout *b, const Layout *c, const Layout *y, void *pref,
    int wanted, Found *found, int *n))
{
	(void)h, (void)d, (void)pref;
	*n = 0;
	if (wanted < 1 || a->type != R_32F || b->type != R_32F || c->type != R_32F || y->type != R_32F)
		return 0;
	memset(found, 0, sizeof *found);
	found->workspace = 1024;
	*n = 1;
	return 0;
}

static float element(const float *p, int64_t ld, int trans, int64_t row, int64_t col)
{
	return trans ? p[col + row * ld] : p[row + col * ld];
}

static void multiply(void *arg)
{
	const Job *j = arg;

	for (int i = 0; i < j->batch; i++)
		for (int64_t col = 0; col < j->n; col++)
			for (int64_t row = 0; row < j->m; row++) {
				const float *a = j->a + i * j->step_a, *b = j->b + i * j->step_b;
				float sum = 0, old = 0;

				for (int64_t k = 0; k < j->k; k++)
					sum += element(a, j->lda, j->trans_a, row, k) *
					       element(b, j->ldb, j->trans_b, k, col);
				if (j->beta != 0)
					old = j->beta * j->c[i * j->step_c + row + col * j->ldc];
				j->y[i * j->step_y + row + col * j->ldy] = j->alpha * sum + old +
									   (j->bias ? j->bias[row] : 0);
			}
}

static void *at(Ptr p)
{
	return (void *)(size_t)p;
}

XX(int, cublasLtMatmul,
   (void *h, Desc *d, const void *alpha, Ptr a, const Layout *la, Ptr b, const Layout *lb, const void *beta,
    Ptr c, const Layout *lc, Ptr y, const Layout *ly, const void *algo, Ptr workspace, size_t n, void *s))
{
	Job j = { .a = at(a),
		  .b = at(b),
		  .c = at(c),
		  .bias = d->epilogue ? at(d->bias) : NULL,
		  .y = at(y),
		  .trans_a = d->trans_a,
		  .trans_b = d->trans_b,
		  .batch = ly->batch,
		  .m = ly->rows,
		  .n = ly->cols,
		  .k = d->trans_a ? la->rows : la->cols,
		  .lda = la->ld,
		  .ldb = lb->ld,
		  .ldc = lc->ld,
		  .ldy = ly->ld,
		  .step_a = la->stride,
		  .step_b = lb->stride,
		  .step_c = lc->stride,
		  .step_y = ly->stride };

	(void)h, (void)algo;
	if (!workspace || n < 1024)
		return INVALID_VALUE;
	memcpy(&j.alpha, alpha, sizeof j.alpha);
	memcpy(&j.beta, beta, sizeof j.beta);
	return enqueue(s, multiply, &j, sizeof j) ? NOT_SUPPORTED : 0;
}
