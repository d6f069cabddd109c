/* SPDX-License-Identifier: Apache-2.0 */
/* products.c - asks the process that computes products, and checks what it answers. */
#include "runtime/worker/products.h"

#include "base/core/rng.h"
#include "base/sys/log.h"
#include "base/sys/proc.h"
#include "base/sys/serve.h"
#include "base/sys/threads.h"
#include "runtime/worker/products_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

/* What moving and computing are counted with. It decides who computes, and no bit of the result. */
static const double device_bytes = 2e9, device_flops = 4e12, thread_flops = 2e10; /* in a second */
enum { SECONDS = 60, SAMPLES = 32 };

struct PmProducts {
	char device[16];
	double least;
	int forced; /* `least` was given */
	PmProductFault fault;
	pid_t owner;      /* its children have the processor alone: two must not ask at once */
	PmServer *server; /* NULL = not started */
	char *room;       /* shared with it, and with no other child */
	int off;          /* the processor computes from now on */
	PmProductsDone done;
};

PmProducts *pm_products_new(const char *device, double least_flops, PmProductFault fault)
{
	PmProducts *p = pm_xcalloc(1, sizeof *p);

	snprintf(p->device, sizeof p->device, "%s", device);
	p->least = least_flops > 0 ? least_flops : PM_PRODUCTS_LEAST;
	p->forced = least_flops > 0;
	p->fault = fault;
	p->owner = getpid();
	return p;
}

static void stop(PmProducts *p)
{
	pm_server_kill(p->server);
	p->server = NULL;
	if (p->room)
		munmap(p->room, PRODUCT_ROOM);
	p->room = NULL;
}

void pm_products_rest(PmProducts *p)
{
	if (!p)
		return;
	stop(p);
	p->off = 1;
}

void pm_products_free(PmProducts *p)
{
	if (p)
		stop(p);
	free(p);
}

PmProductsDone pm_products_done(const PmProducts *p)
{
	return p ? p->done : (PmProductsDone){ 0 };
}

/* ---- the check ---- */

/* c r = a (b r), but for rounding: with y = b r and z = |b| |r|, the error of row i is in the order of
 * sqrt(n + k) 2^-53 (|a| z)_i. */
typedef struct Check {
	const PmRefProduct *p;
	double *r, *size; /* n, n: |r| */
	double *y, *z;    /* k, k */
	double *ay, *az;  /* m, m */
	double times;     /* of |a| z */
	char *wrong;      /* by row */
} Check;

/* Rows of a matrix times a vector, and what they are in absolute values. */
typedef struct Times {
	const double *rows;
	int64_t ld, n;
	const double *v, *size; /* n: the vector, and the absolute values of its terms */
	double *y, *z;
} Times;

static void times(void *arg, int64_t from, int64_t to)
{
	const Times *t = arg;

	for (int64_t i = from; i < to; i++) {
		const double *row = t->rows + i * t->ld;
		double y = 0, z = 0;

		for (int64_t j = 0; j < t->n; j++) {
			y += row[j] * t->v[j];
			z += fabs(row[j]) * t->size[j];
		}
		t->y[i] = y;
		t->z[i] = z;
	}
}

static void compare_rows(void *arg, int64_t from, int64_t to)
{
	const Check *v = arg;

	for (int64_t i = from; i < to; i++) {
		const double *c = v->p->c + i * v->p->ldc;
		double sum = 0;

		for (int64_t j = 0; j < v->p->n; j++)
			sum += c[j] * v->r[j];
		v->wrong[i] = !(fabs(sum - v->ay[i]) <= v->times * v->az[i]);
	}
}

static void check_release(Check *v)
{
	free(v->r);
	free(v->size);
	free(v->y);
	free(v->z);
	free(v->ay);
	free(v->az);
	free(v->wrong);
}

/* What c r has to be. 0 where that is not finite, and says nothing. */
static int check_begin(Check *v, const PmRefProduct *p, PmRng *rng)
{
	int finite = 1;

	*v = (Check){ .p = p,
		      .r = pm_xcalloc((size_t)p->n, sizeof(double)),
		      .size = pm_xcalloc((size_t)p->n, sizeof(double)),
		      .y = pm_xcalloc((size_t)p->k, sizeof(double)),
		      .z = pm_xcalloc((size_t)p->k, sizeof(double)),
		      .ay = pm_xcalloc((size_t)p->m, sizeof(double)),
		      .az = pm_xcalloc((size_t)p->m, sizeof(double)),
		      .wrong = pm_xcalloc((size_t)p->m, 1),
		      .times = (8 * sqrt((double)(p->n + p->k)) + 32) * 0x1p-53 };
	for (int64_t j = 0; j < p->n; j++) {
		v->r[j] = (pm_rng_u64(rng) & 1 ? 1 : -1) * (0.5 + pm_rng_uniform(rng));
		v->size[j] = fabs(v->r[j]);
	}
	pm_threads_run(p->k, 1 + (1 << 15) / p->n, times,
		       &(Times){ p->b, p->ldb, p->n, v->r, v->size, v->y, v->z });
	pm_threads_run(p->m, 1 + (1 << 15) / p->k, times,
		       &(Times){ p->a, p->lda, p->k, v->y, v->z, v->ay, v->az });
	for (int64_t i = 0; i < p->m; i++)
		finite &= isfinite(v->az[i]) != 0;
	return finite;
}

static int check_passes(Check *v, PmRng *rng)
{
	const PmRefProduct *p = v->p;

	pm_threads_run(p->m, 1 + (1 << 15) / p->n, compare_rows, v);
	for (int64_t i = 0; i < p->m; i++)
		if (v->wrong[i])
			return 0;
	for (int s = 0; s < SAMPLES; s++) {
		int64_t i = pm_rng_range(rng, 0, p->m - 1), j = pm_rng_range(rng, 0, p->n - 1);
		double sum = 0;

		for (int64_t q = 0; q < p->k; q++) {
			double product = p->a[i * p->lda + q] * p->b[q * p->ldb + j];

			sum += product;
		}
		if (memcmp(&sum, &p->c[i * p->ldc + j], sizeof sum) != 0)
			return 0;
	}
	return 1;
}

/* ---- the process ---- */

static PmStatus start(PmProducts *p, PmErr *err)
{
	PmLimits lim = { .file_size = -1 };
	ProductStart s = { p->device, NULL, p->fault };
	PmStatus st;

	if (p->server)
		return PM_OK;
	p->room = mmap(NULL, PRODUCT_ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p->room == MAP_FAILED) {
		p->room = NULL;
		return pm_err(err, PM_E_ENV, "There is no memory for %d bytes.", PRODUCT_ROOM);
	}
	s.room = p->room;
	st = pm_server_start(pm__products_serve, &s, &lim, &p->server, err);
	/* Processes that run a candidate's code are forked after this one, and do not have it. */
	if (!st && madvise(p->room, PRODUCT_ROOM, MADV_DONTFORK))
		st = pm_err(err, PM_E_ENV, "The system refuses to keep memory from child processes.");
	return st;
}

static PmStatus ask(PmProducts *p, ProductAsk a, PmErr *err)
{
	PmStr reply = PM_STR_INIT;
	ProductReply r;
	PmStatus st = pm_server_call(p->server, "process for products", &a, sizeof a, SECONDS, sizeof r,
				     &reply, err);

	if (!st && reply.len != sizeof r)
		st = pm_err(err, PM_E_CRASH, "The process for products sent half an answer.");
	if (!st) {
		memcpy(&r, reply.s, sizeof r);
		r.text[sizeof r.text - 1] = '\0';
		if (r.status)
			st = pm_err(err, r.status < 0 ? r.status : PM_E_INTERNAL, "%s", r.text);
	}
	pm_str_release(&reply);
	return st;
}

typedef struct Rows {
	char *room;
	double *f;
	int64_t ld, n;
	int back;
} Rows;

static void move_rows(void *arg, int64_t from, int64_t to)
{
	const Rows *r = arg;
	size_t row = (size_t)r->n * sizeof *r->f;

	for (int64_t i = from; i < to; i++)
		if (r->back)
			memcpy(r->f + i * r->ld, r->room + (size_t)i * row, row);
		else
			memcpy(r->room + (size_t)i * row, r->f + i * r->ld, row);
}

/* A matrix of rows x n elements to the process, or the result from it. */
static PmStatus move(PmProducts *p, int which, double *f, int64_t rows, int64_t n, int64_t ld, PmErr *err)
{
	int64_t row = n * (int64_t)sizeof *f, at_once = PRODUCT_ROOM / row;
	PmStatus st = PM_OK;

	for (int64_t i = 0; i < rows && !st; i += at_once) {
		int64_t k = rows - i < at_once ? rows - i : at_once;
		Rows r = { p->room, f + i * ld, ld, n, which == 2 };
		ProductAsk a = { .what = r.back ? PRODUCT_GET : PRODUCT_PUT,
				 .which = r.back ? 0 : which,
				 .offset = i * row,
				 .bytes = k * row };

		if (!r.back)
			pm_threads_run(k, 1 + (1 << 16) / n, move_rows, &r);
		st = ask(p, a, err);
		if (!st && r.back)
			pm_threads_run(k, 1 + (1 << 16) / n, move_rows, &r);
	}
	return st;
}

static PmStatus on_device(PmProducts *p, const PmRefProduct *v, PmErr *err)
{
	union {
		const double *from;
		double *to;
	} a = { .from = v->a }, b = { .from = v->b }; /* only read */
	PmStatus st = start(p, err);

	if (!st)
		st = ask(p, (ProductAsk){ .what = PRODUCT_BEGIN, .m = v->m, .n = v->n, .k = v->k }, err);
	if (!st)
		st = move(p, 0, a.to, v->m, v->k, v->lda, err);
	if (!st)
		st = move(p, 1, b.to, v->k, v->n, v->ldb, err);
	if (!st)
		st = ask(p, (ProductAsk){ .what = PRODUCT_RUN }, err);
	if (!st)
		st = move(p, 2, v->c, v->m, v->n, v->ldc, err);
	if (!st)
		st = ask(p, (ProductAsk){ .what = PRODUCT_END }, err);
	if (p->room)
		memset(p->room, 0, PRODUCT_ROOM);
	return st;
}

/* ---- one product ---- */

static int is_worth(const PmProducts *p, const PmRefProduct *v)
{
	double m = (double)v->m, n = (double)v->n, k = (double)v->k, flops = 2 * m * n * k;
	double bytes = (m * k + k * n + m * n) * sizeof(double);

	if (p->off || p->owner != getpid() || flops < p->least || v->n > PRODUCT_ROOM / 8 ||
	    v->k > PRODUCT_ROOM / 8 || v->m > (int64_t)PRODUCT_ROWS * 65535)
		return 0;
	return p->forced ||
	       2 * (bytes / device_bytes + flops / device_flops) < flops / (thread_flops * pm_threads_most());
}

static int give_up(PmProducts *p, const PmRefProduct *v, const char *why)
{
	for (int64_t i = 0; i < v->m; i++)
		memset(v->c + i * v->ldc, 0, (size_t)v->n * sizeof *v->c);
	pm_log(PM_LOG_WARN, "reference",
	       "The device '%s' computes no products for the reference from now on, and no result depends on "
	       "it: %s",
	       p->device, why);
	p->done.refused++;
	pm_products_rest(p);
	return 0;
}

int pm_products_compute(void *arg, const PmRefProduct *v)
{
	PmProducts *p = arg;
	double t0 = pm_now();
	PmRng rng;
	PmErr err;
	Check check;
	int right = 0;

	if (!is_worth(p, v))
		return 0;
	pm_err_init(&err);
	pm_rng_init(&rng, pm_rng_secure_seed());
	if (check_begin(&check, v, &rng)) {
		if (on_device(p, v, &err))
			give_up(p, v, err.text);
		else if (check_passes(&check, &rng))
			right = 1;
		else
			give_up(p, v, "it made a product that is wrong.");
	}
	check_release(&check);
	p->done.n += right;
	p->done.seconds += pm_now() - t0;
	return right;
}
