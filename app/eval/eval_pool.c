/* SPDX-License-Identifier: Apache-2.0 */
/* eval_pool.c - evaluations of one pass in several processes, with records that travel as bytes. */
#include "app/eval/eval_pool.h"

#include "base/core/str.h"
#include "base/sys/pool.h"
#include "base/sys/proc.h"
#include "base/sys/spool.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { TRIES = 3 };             /* of an item whose process died */
static const double over = 1.1; /* of the deadline: a process that has not left out what it should ends */
static const uint64_t spool_limit = (uint64_t)4 << 30; /* bytes of all records together */

typedef struct Run {
	const PmEvalPool *p;
	PmSpool *spool;
	size_t *todo; /* the pool's items */
	size_t n_todo;
	PmEvalRecord *rec; /* by item */
	char *has;         /* rec has it, and nobody took it yet */
	size_t next;       /* item to be taken next */
	int stop;          /* declined */
} Run;

/* What an item leaves in the memory that is shared. */
typedef struct Result {
	PmSpoolPlace at; /* of its record */
	double until;    /* on pm_now()'s clock: then its process ends itself */
} Result;

/* ---- a record as bytes ---- */

/* Lengths of what a record owns stand behind its own bytes; 0 = NULL, else one more than the text has. */
typedef struct Tail {
	uint64_t near_miss, explained, rewritten;
} Tail;

static void add_text(const char *s, uint64_t *n, PmStr *out)
{
	*n = s ? strlen(s) + 1 : 0;
	pm_str_addn(out, s ? s : "", *n);
}

static void pack(const PmEvalRecord *r, PmStr *out)
{
	PmStr text = PM_STR_INIT;
	Tail t;

	add_text(r->near_miss, &t.near_miss, &text);
	add_text(r->explained, &t.explained, &text);
	add_text(r->rewritten, &t.rewritten, &text);
	pm_str_addn(out, (const char *)r, sizeof *r);
	pm_str_addn(out, (const char *)&t, sizeof t);
	pm_str_addn(out, (const char *)r->outputs, r->outputs ? r->n_outputs * sizeof *r->outputs : 0);
	pm_str_addn(out, text.s, text.len);
	pm_str_release(&text);
}

static char *take_text(const char **p, uint64_t n)
{
	char *s = n ? pm_xcalloc(n, 1) : NULL;

	if (n)
		memcpy(s, *p, n - 1);
	*p += n;
	return s;
}

static PmStatus unpack(const char *p, size_t n, PmEvalRecord *r, PmErr *err)
{
	size_t outputs;
	Tail t;

	if (n < sizeof *r + sizeof t)
		return pm_err(err, PM_E_INTERNAL,
			      "A record of %zu bytes came from a process of this command.", n);
	memcpy(r, p, sizeof *r);
	memcpy(&t, p + sizeof *r, sizeof t);
	outputs = r->outputs ? r->n_outputs * sizeof *r->outputs : 0;
	if (n != sizeof *r + sizeof t + outputs + t.near_miss + t.explained + t.rewritten)
		return pm_err(err, PM_E_INTERNAL,
			      "A record of %zu bytes came from a process of this command.", n);
	p += sizeof *r + sizeof t;
	if (r->outputs) {
		r->outputs = pm_xcalloc(r->n_outputs + 1, sizeof *r->outputs);
		memcpy(r->outputs, p, outputs);
	}
	p += outputs;
	r->near_miss = take_text(&p, t.near_miss);
	r->explained = take_text(&p, t.explained);
	r->rewritten = take_text(&p, t.rewritten);
	return PM_OK;
}

/* ---- in the processes ---- */

static void lend(const Run *r, int on)
{
	for (size_t i = 0; i < r->p->n; i++)
		if (r->p->item[i].opts->secret)
			pm_secret_lend(r->p->item[i].opts->secret, on);
}

static PmStatus start(void *arg, int worker, PmErr *err)
{
	const Run *r = arg;

	(void)worker;
	(void)err;
	lend(r, 0);
	pm_spool_keep(r->spool);
	return PM_OK;
}

/* When the process ends itself: `at` on pm_now()'s clock, and later by what it waits for others, of which it
 * had waited `before`. */
static struct {
	double at, before;
	const PmEvalOpts *opts;
} end_of_time;

static void set_timer(double seconds)
{
	const struct itimerval t = { .it_value = { (time_t)seconds, seconds > 0 } };

	setitimer(ITIMER_REAL, &t, NULL);
}

static void end_at_alarm(int signal)
{
	double left = end_of_time.at + pm_eval_waited(end_of_time.opts) - end_of_time.before - pm_now();

	(void)signal;
	if (left <= 0)
		_exit(0);
	set_timer(left);
}

/* The evaluation leaves out by itself what does not fit. What it cannot leave out ends the process: a single
 * check, or a stage, that is longer than all of the time. */
static void set_alarm(double seconds, const PmEvalOpts *opts)
{
	end_of_time.at = pm_now() + seconds;
	end_of_time.before = pm_eval_waited(opts);
	end_of_time.opts = opts;
	signal(SIGALRM, end_at_alarm);
	set_timer(seconds);
}

static PmStatus work(void *arg, size_t i, void *result, PmErr *err)
{
	const Run *r = arg;
	const PmEvalItem *it = &r->p->item[r->todo[i]];
	double most = it->opts->deadline > 0 ? ceil(it->opts->deadline * over) : 0;
	PmStr bytes = PM_STR_INIT;
	Result *res = result;
	PmEvalRecord rec;
	PmStatus st;

	res->until = most > 0 ? pm_now() + most : INFINITY;
	set_alarm(most, it->opts);
	st = pm_eval_variant(r->p->so, &it->v, it->opts, &rec, err);
	set_timer(0);
	if (st)
		return st;
	pack(&rec, &bytes);
	st = pm_spool_put(r->spool, bytes.s, bytes.len, &res->at, err);
	pm_str_release(&bytes);
	pm_eval_record_release(&rec);
	return st;
}

/* ---- in the caller ---- */

static PmStatus take(Run *r, PmErr *err)
{
	PmStatus st = PM_OK;

	while (!st && r->next < r->p->n && r->has[r->next]) {
		r->has[r->next] = 0;
		st = r->p->take(r->p->arg, r->next, &r->rec[r->next], err);
		r->next++;
	}
	r->stop |= st == PM_DECLINED;
	return st;
}

static PmStatus came(const PmEvalPool *p, size_t item, const PmEvalRecord *rec, PmErr *err)
{
	return p->came ? p->came(p->arg, item, rec, err) : PM_OK;
}

/* Item `item` has its record. */
static PmStatus has(Run *r, size_t item, PmErr *err)
{
	PmStatus st = came(r->p, item, &r->rec[item], err);

	r->has[item] = 1;
	return st ? st : take(r, err);
}

static PmStatus end_at(Run *r, size_t item, PmVerdict v, const char *why, PmErr *err)
{
	const PmEvalItem *it = &r->p->item[item];

	pm_eval_ended(&it->v, it->opts, v, why, &r->rec[item]);
	return has(r, item, err);
}

static PmStatus out_of_time(Run *r, size_t item, PmErr *err)
{
	char why[256];

	snprintf(why, sizeof why,
		 "Nothing is said of it, since one check alone was longer than the deadline of %g s "
		 "(--deadline). It scores as if no rule had applied.",
		 r->p->item[item].opts->deadline);
	return end_at(r, item, PM_VERDICT_NOT_CHECKED, why, err);
}

static PmStatus done(void *arg, size_t i, PmPoolEnd end, const void *result, PmErr *err)
{
	Result res;
	Run *r = arg;
	char *bytes;
	PmStatus st;

	memcpy(&res, result, sizeof res);
	if (end == PM_POOL_DIED)
		return res.until > 0 && pm_now() >= res.until ? out_of_time(r, r->todo[i], err) : PM_OK;
	bytes = pm_xcalloc(res.at.size + 1, 1);
	st = pm_spool_get(r->spool, &res.at, bytes, err);
	if (!st)
		st = unpack(bytes, res.at.size, &r->rec[r->todo[i]], err);
	free(bytes);
	return st ? st : has(r, r->todo[i], err);
}

static void tick(void *arg)
{
	const Run *r = arg;

	if (r->p->tick)
		r->p->tick(r->p->arg);
}

/* What is left of the list is what has no record. */
static void keep_lost(Run *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_todo; i++)
		if (r->todo[i] >= r->next && !r->has[r->todo[i]])
			r->todo[n++] = r->todo[i];
	r->n_todo = n;
}

/* An error ends the pool, and not what was finished beside it: in order, with gaps. */
static void take_rest(Run *r)
{
	PmStatus st = PM_OK;

	for (; r->next < r->p->n && !st; r->next++)
		if (r->has[r->next]) {
			r->has[r->next] = 0;
			st = r->p->take(r->p->arg, r->next, &r->rec[r->next], NULL);
		}
}

/* One go over what is left; PM_DECLINED when it is enough. */
static PmStatus go(Run *r, PmErr *err)
{
	PmPool pool = { .n_items = r->n_todo,
			.result_size = sizeof(Result),
			.jobs = r->p->jobs,
			.start = start,
			.work = work,
			.done = done,
			.arg = r };
	PmStatus st;

	lend(r, 1);
	st = pm_pool_run_ticking(&pool, tick, err);
	lend(r, 0);
	if (!st)
		keep_lost(r);
	return st;
}

static PmStatus give_up_lost(Run *r, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t k = 0; k < r->n_todo && !st; k++)
		st = end_at(r, r->todo[k], PM_VERDICT_HARNESS_FAIL,
			    "No fault of the pass, which is not judged here: the process that evaluated this "
			    "died three times; give fewer --jobs if memory is short.",
			    err);
	return st;
}

/* The item that is evaluated as number `i`. */
static size_t turn(const PmEvalPool *p, size_t i)
{
	return !i ? p->first : i <= p->first ? i - 1 : i;
}

static PmStatus in_processes(const PmEvalPool *p, PmErr *err)
{
	Run r = { .p = p, .n_todo = p->n };
	PmStatus st = pm_spool_open(spool_limit, &r.spool, err);

	r.todo = pm_xcalloc(p->n + 1, sizeof *r.todo);
	r.rec = pm_xcalloc(p->n + 1, sizeof *r.rec);
	r.has = pm_xcalloc(p->n + 1, 1);
	for (size_t i = 0; i < p->n; i++)
		r.todo[i] = turn(p, i);
	for (int k = 0; k < TRIES && r.n_todo && !st; k++)
		st = go(&r, err);
	if (!st && r.n_todo)
		st = give_up_lost(&r, err);
	if (st && !r.stop)
		take_rest(&r);
	for (size_t i = 0; i < p->n; i++)
		if (r.has[i])
			pm_eval_record_release(&r.rec[i]);
	free(r.todo);
	free(r.rec);
	free(r.has);
	pm_spool_close(r.spool);
	return r.stop ? PM_OK : st;
}

static PmStatus here(const PmEvalPool *p, PmErr *err)
{
	PmEvalRecord first, rec;
	int has_first = 0;
	PmStatus st = PM_OK;

	for (size_t k = 0, taken = 0; k < p->n && !st; k++) {
		size_t i = turn(p, k);

		st = pm_eval_variant(p->so, &p->item[i].v, p->item[i].opts, &rec, err);
		if (!st && (st = came(p, i, &rec, err)) != PM_OK)
			pm_eval_record_release(&rec);
		if (!st && i != taken) { /* before its turn */
			first = rec;
			has_first = 1;
			continue;
		}
		if (!st)
			st = p->take(p->arg, taken++, &rec, err);
		if (!st && has_first && taken == p->first) {
			has_first = 0;
			st = p->take(p->arg, taken++, &first, err);
		}
	}
	if (has_first)
		pm_eval_record_release(&first);
	return st == PM_DECLINED ? PM_OK : st;
}

PmStatus pm_eval_pool(const PmEvalPool *p, PmErr *err)
{
	int apart = p->jobs > 1;

	for (size_t i = 0; i < p->n; i++)
		apart |= (p->tick || p->item[i].opts->deadline > 0) && !p->item[i].opts->print;
	return apart ? in_processes(p, err) : here(p, err);
}
