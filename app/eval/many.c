/* SPDX-License-Identifier: Apache-2.0 */
/* many.c - whole evaluations, several at once, whose results come in order. */
#include "app/eval/many.h"

#include "base/sys/pool.h"
#include "base/sys/spool.h"
#include "bench/eval/memory.h"
#include "runtime/device/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t spool_limit = (uint64_t)16 << 30; /* bytes that all say together */
/* On a GPU: of the processors, for each evaluation; and most at once, since each keeps what it has on the
 * device while it waits for the clock. */
enum { PROCESSORS_EACH = 3, MOST_ON_GPU = 4, MOST = 256 };

/* What an item leaves in the memory that is shared. */
typedef struct Result {
	PmStatus status;
	PmSpoolPlace at; /* of what it said */
	char why[PM_ERR_MAX];
} Result;

typedef struct Run {
	const PmMany *m;
	PmSpool *spool;
	Result *result; /* by item */
	char *has;      /* the item has ended, and nobody took it yet */
	size_t next;    /* item to be taken next */
} Run;

/* ---- in the processes ---- */

static PmStatus start(void *arg, int worker, PmErr *err)
{
	const Run *r = arg;

	(void)err;
	pm_spool_keep(r->spool);
	if (r->m->seats)
		pm_seats_sit(r->m->seats, worker);
	return PM_OK;
}

static PmPoolMay may(void *arg, int worker)
{
	const Run *r = arg;

	(void)worker;
	return pm_seats_may(r->m->seats);
}

static void pass(void *arg)
{
	const Run *r = arg;

	pm_seats_pass(r->m->seats);
}

/* A failure is what came of this item, and not the pool's. */
static PmStatus work(void *arg, size_t item, void *result, PmErr *err)
{
	const Run *r = arg;
	PmStr said = PM_STR_INIT;
	Result *res = result;

	pm_err_init(err);
	if (r->m->seats)
		pm_seats_begin(r->m->seats, (int64_t)item);
	res->status = r->m->work(r->m->arg, item, &said, err);
	if (r->m->seats && pm_seats_end(r->m->seats, res->status)) {
		pm_str_release(&said);
		return PM_DECLINED;
	}
	if (!res->status && said.len)
		res->status = pm_spool_put(r->spool, said.s, said.len, &res->at, err);
	if (res->status)
		snprintf(res->why, sizeof res->why, "%s", err->text);
	pm_str_release(&said);
	return PM_OK;
}

/* Verdicts that a broken GPU may give as well as a kernel. */
static int may_be_of_gpu(PmVerdict v)
{
	return v == PM_VERDICT_DEVICE_FAULT || v == PM_VERDICT_DEVICE_TIMEOUT || v == PM_VERDICT_OOB ||
	       v == PM_VERDICT_HARNESS_FAIL;
}

PmStatus pm_many_accept(void *seats, const PmEvalRecord *rec, PmErr *err)
{
	PmSeatSaw saw = { .error = may_be_of_gpu(rec->verdict),
			  .slowed = rec->timing.gpu.slowed,
			  .others = rec->timing.gpu.others };

	return pm_seats_accept(seats, &saw, err);
}

/* ---- in the caller ---- */

static void say_no_gpu(const PmMany *m, Result *res)
{
	PmStr why = PM_STR_INIT;

	pm_seats_why_left(m->seats, &why);
	*res = (Result){ .status = PM_E_ENV };
	snprintf(res->why, sizeof res->why, "No GPU is left for it: %s.", why.len ? why.s : "none was free");
	pm_str_release(&why);
}

static PmStatus take(Run *r, size_t item, PmErr *err)
{
	Result *res = &r->result[item];
	PmStr said = PM_STR_INIT;
	PmManyEnd end = { .status = res->status, .why = res->why, .out = &said };
	char *bytes = pm_xcalloc(res->at.size + 1, 1);
	PmStatus st = PM_OK;

	if (!res->status && res->at.size)
		st = pm_spool_get(r->spool, &res->at, bytes, err);
	if (!st)
		pm_str_addn(&said, bytes, res->status ? 0 : res->at.size);
	free(bytes);
	if (!st)
		st = r->m->take(r->m->arg, item, &end, err);
	pm_str_release(&said);
	return st;
}

static PmStatus done(void *arg, size_t item, PmPoolEnd end, const void *result, PmErr *err)
{
	Run *r = arg;
	PmStatus st = PM_OK;

	memcpy(&r->result[item], result, sizeof *r->result);
	if (end == PM_POOL_DIED) {
		r->result[item] = (Result){ .status = PM_E_CRASH };
		snprintf(r->result[item].why, sizeof r->result[item].why,
			 "The process that evaluated this was ended from outside; evaluate it again, with "
			 "fewer --jobs if memory is short.");
	}
	if (end == PM_POOL_LEFT)
		say_no_gpu(r->m, &r->result[item]);
	r->has[item] = 1;
	if (r->m->ended)
		r->m->ended(r->m->arg, item);
	while (!st && r->next < r->m->n && r->has[r->next])
		st = take(r, r->next++, err);
	return st;
}

static void tick(void *arg)
{
	const Run *r = arg;

	if (r->m->tick)
		r->m->tick(r->m->arg);
}

PmStatus pm_many(const PmMany *m, PmErr *err)
{
	Run r = { .m = m };
	PmPool pool = { .n_items = m->n,
			.result_size = sizeof(Result),
			.jobs = m->jobs,
			.start = start,
			.work = work,
			.done = done,
			.arg = &r,
			.may = m->seats ? may : NULL,
			.pass = pass };
	PmStatus st = pm_spool_open(spool_limit, &r.spool, err);

	if (st)
		return st;
	r.result = pm_xcalloc(m->n + 1, sizeof *r.result);
	r.has = pm_xcalloc(m->n + 1, 1);
	st = pm_pool_run_ticking(&pool, tick, err);
	free(r.result);
	free(r.has);
	pm_spool_close(r.spool);
	return st;
}

/* ---- how many ---- */

int64_t pm_many_need(const PmVariantList *list, const char *device)
{
	int emulated = pm_device_kind(device) == PM_DEVICE_EMU;
	int64_t most = 0;

	for (size_t i = 0; i < list->list.n; i++) {
		PmMemoryNeed n;
		int64_t need;

		pm_memory_need(list->list.v[i].g, &n);
		need = pm_memory_of_host(&n, emulated);
		most = need > most ? need : most;
	}
	return most;
}

int pm_many_jobs(int64_t asked, const char *device, int64_t need)
{
	int64_t n = pm_cpu_count(), room = need > 0 ? pm_memory_available() / need : MOST;

	if (pm_device_kind(device) != PM_DEVICE_EMU)
		return pm_many_jobs_each(asked, 1, need);
	if (asked > 0)
		return asked < MOST ? (int)asked : MOST;
	n = n < room ? n : room;
	return n < 1 ? 1 : n < MOST ? (int)n : MOST;
}

int pm_many_jobs_each(int64_t asked, int n_gpus, int64_t need)
{
	int64_t n = pm_cpu_count() / PROCESSORS_EACH / n_gpus;
	int64_t room = need > 0 ? pm_memory_available() / need / n_gpus : MOST;

	if (asked > 0)
		n = asked < MOST / n_gpus ? asked : MOST / n_gpus;
	else {
		n = n < MOST_ON_GPU ? n : MOST_ON_GPU;
		n = n < room ? n : room;
	}
	return n < 1 ? 1 : (int)n;
}
