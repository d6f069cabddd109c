/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c - items of work in several processes. */
#include "base/sys/pool.h"

#include "base/core/arena.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	WAITING,
	FINISHED,
	FAILED, /* the pool stops, nobody is told of the item */
	REPORTED,
	RUNNING /* by worker 0, one more by worker 1, and so on: one word, as a worker may die at any time */
};
enum { STARTING, SERVING, ENDED }; /* of a worker */
/* STARTS: how often a worker may die in its start; once may be chance. */
enum { TEXT = 1024, MAX_JOBS = 256, POLL_NS = 20 * 1000 * 1000, STARTS = 3 };
/* Bytes of results that go back to the system at once. */
enum { GIVE_BACK = 256 * 1024 };

#define NO_SENTENCE "Work on %s failed with status %d and without a sentence about it."

/* What all processes share: a header, the items' states, their results. */
typedef struct Shared {
	atomic_size_t next; /* item; where workers are asked, items are found by their state instead */
	atomic_int stage[MAX_JOBS]; /* by worker, of the process that runs now */
	atomic_int failed;          /* a status; the first wins */
	char text[TEXT];
} Shared;

typedef struct Run {
	const PmPool *p;
	void (*tick)(void *arg);
	int (*is_over)(void *arg);
	Shared *shared;
	atomic_int *state; /* by item */
	char *results;
	size_t bytes;
	size_t low;              /* the items before it are all reported */
	size_t kept;             /* bytes of the memory: from here on they are kept */
	pid_t pid[MAX_JOBS];     /* 0 = not running */
	int stillborn[MAX_JOBS]; /* deaths in its start */
	int died;                /* what waitpid said of the last that did not end by itself */
} Run;

int pm_cpu_count(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);

	return n > 0 ? n : 1;
}

int pm_pool_jobs(int64_t asked)
{
	int n = pm_cpu_count();

	if (asked > 0 && asked < 1000)
		return (int)asked;
	return n > 2 ? n : 2;
}

static void *result_of(const Run *r, size_t item)
{
	return r->results + item * r->p->result_size;
}

static PmStatus share(Run *r, PmErr *err)
{
	size_t n = r->p->n_items, head = (sizeof(Shared) + 63) / 64 * 64;
	size_t states = (n * sizeof *r->state + 63) / 64 * 64;
	char *m;

	r->bytes = head + states + n * r->p->result_size;
	m = mmap(NULL, r->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (m == MAP_FAILED)
		return pm_err(err, PM_E_LIMIT, "Cannot share %zu bytes between processes: %s.", r->bytes,
			      strerror(errno));
	r->shared = (Shared *)(void *)m;
	r->state = (atomic_int *)(void *)(m + head);
	r->results = m + head + states;
	r->kept = head + states;
	return PM_OK;
}

/* Takes the sentence of the first failure; one that came without is given one. `where`: "item 3". */
static void fail(Run *r, PmStatus st, const PmErr *err, const char *where)
{
	int none = 0;

	if (!atomic_compare_exchange_strong(&r->shared->failed, &none, (int)st))
		return;
	if (*err->text)
		snprintf(r->shared->text, TEXT, "%s", err->text);
	else
		snprintf(r->shared->text, TEXT, NO_SENTENCE, where, (int)st);
}

static void nap(void)
{
	const struct timespec t = { 0, POLL_NS };

	nanosleep(&t, NULL);
}

static size_t count_waiting(const Run *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->p->n_items; i++)
		n += atomic_load(&r->state[i]) == WAITING;
	return n;
}

/* Items that no worker has begun, or that were given back. */
static size_t count_left(const Run *r)
{
	size_t next = atomic_load(&r->shared->next);

	return r->p->may ? count_waiting(r) : next < r->p->n_items ? r->p->n_items - next : 0;
}

/* Items that wait or that somebody works on, who may give them back. Each is looked at once: it may go from
 * one to the other meanwhile. */
static int any_unfinished(const Run *r)
{
	for (size_t i = 0; i < r->p->n_items; i++) {
		int state = atomic_load(&r->state[i]);

		if (state == WAITING || state >= RUNNING)
			return 1;
	}
	return 0;
}

/* The first item that waits. 1 when it is this worker's now. */
static int take_waiting(const Run *r, int worker, size_t *item)
{
	for (*item = 0; *item < r->p->n_items; ++*item) {
		int waits = WAITING;

		if (atomic_compare_exchange_strong(&r->state[*item], &waits, RUNNING + worker))
			return 1;
	}
	return 0;
}

/* The same where workers are asked before each item: 0 when there is nothing more to do for this one. */
static int take_allowed(const Run *r, int worker, size_t *item)
{
	while (!atomic_load(&r->shared->failed) && any_unfinished(r)) {
		PmPoolMay may = count_waiting(r) ? r->p->may(r->p->arg, worker) : PM_POOL_LATER;

		if (may == PM_POOL_NEVER)
			return 0;
		if (may == PM_POOL_TAKE && take_waiting(r, worker, item))
			return 1;
		if (may == PM_POOL_TAKE && r->p->pass)
			r->p->pass(r->p->arg);
		nap();
	}
	return 0;
}

static int take_item(const Run *r, int worker, size_t *item)
{
	if (r->p->may)
		return take_allowed(r, worker, item);
	if (atomic_load(&r->shared->failed))
		return 0;
	*item = atomic_fetch_add(&r->shared->next, 1);
	if (*item >= r->p->n_items)
		return 0;
	atomic_store(&r->state[*item], RUNNING + worker);
	return 1;
}

/* The life of one worker process. */
static void serve(Run *r, int worker)
{
	const PmPool *p = r->p;
	char where[32] = "its start";
	PmStatus st = PM_OK;
	PmErr err;
	size_t i;

	pm_err_init(&err);
	if (p->start)
		st = p->start(p->arg, worker, &err);
	atomic_store(&r->shared->stage[worker], SERVING);
	while (!st && take_item(r, worker, &i)) {
		st = p->work(p->arg, i, result_of(r, i), &err);
		if (st == PM_DECLINED && p->may) {
			memset(result_of(r, i), 0, p->result_size);
			atomic_store(&r->state[i], WAITING);
			st = PM_OK;
			continue;
		}
		atomic_store(&r->state[i], st ? FAILED : FINISHED);
		snprintf(where, sizeof where, "item %zu", i);
	}
	if (st)
		fail(r, st, &err, where);
	atomic_store(&r->shared->stage[worker], ENDED);
	if (!st && p->stop)
		p->stop(p->arg);
}

static PmStatus launch(Run *r, int worker, PmErr *err)
{
	pid_t parent = getpid(), pid;

	atomic_store(&r->shared->stage[worker], STARTING);
	pid = fork();
	if (pid < 0)
		return pm_err(err, PM_E_LIMIT, "Cannot start a process: %s; use fewer with -j.",
			      strerror(errno));
	if (pid) {
		r->pid[worker] = pid;
		return PM_OK;
	}
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	/* What it starts in its turn may run a stranger's code, which must not write results here. */
	if (getppid() == parent && !madvise(r->shared, r->bytes, MADV_DONTFORK))
		serve(r, worker);
	_exit(0);
}

static PmStatus report(Run *r, size_t item, PmPoolEnd end, PmErr *err)
{
	atomic_store(&r->state[item], REPORTED);
	return r->p->done ? r->p->done(r->p->arg, item, end, result_of(r, item), err) : PM_OK;
}

/* Results that were reported are not looked at again. Their memory goes back, so that what is held does not
 * grow with the number of items; a system that cannot take it back keeps it until the end. */
static void give_back(Run *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), from, to;

	while (r->low < r->p->n_items && atomic_load(&r->state[r->low]) == REPORTED)
		r->low++;
	from = (r->kept + page - 1) / page * page;
	to = (size_t)((char *)result_of(r, r->low) - (char *)r->shared) / page * page;
	if (to < from + GIVE_BACK)
		return;
	madvise((char *)r->shared + from, to - from, MADV_REMOVE);
	r->kept = to;
}

/* Work in this process; what fails has a sentence. */
static PmStatus do_item(const PmPool *p, size_t item, void *result, PmErr *err)
{
	char where[32];
	PmStatus st;

	memset(result, 0, p->result_size);
	st = p->work(p->arg, item, result, err);
	if (st && err && !*err->text) {
		snprintf(where, sizeof where, "item %zu", item);
		pm_err(err, st, NO_SENTENCE, where, (int)st);
	}
	return st;
}

/* An item whose process died, as waitpid said. */
static PmStatus report_dead(Run *r, size_t item, int status, PmErr *err)
{
	PmStatus st;

	if (!r->p->again || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		return report(r, item, PM_POOL_DIED, err);
	st = do_item(r->p, item, result_of(r, item), err);
	return st ? st : report(r, item, PM_POOL_DONE, err);
}

/* A worker ended: what it was working on died with it when it did not end by itself. Its place is taken by
 * another one, unless that is known to die in its start. */
static PmStatus bury(Run *r, int worker, int status, PmErr *err)
{
	int stage = atomic_load(&r->shared->stage[worker]);
	PmStatus st = PM_OK;
	size_t i;

	r->pid[worker] = 0;
	if (stage == ENDED)
		return PM_OK;
	r->died = status;
	for (i = r->low; i < r->p->n_items && !st; i++) {
		if (atomic_load(&r->state[i]) == RUNNING + worker)
			st = report_dead(r, i, status, err);
	}
	if (stage == STARTING && ++r->stillborn[worker] == STARTS)
		return st;
	if (!st && count_left(r))
		st = launch(r, worker, err);
	return st;
}

static PmStatus collect(Run *r, PmErr *err)
{
	size_t taken = atomic_load(&r->shared->next), i;
	size_t end = !r->p->may && taken < r->p->n_items ? taken : r->p->n_items;
	PmStatus st = PM_OK;

	for (i = r->low; i < end && !st; i++) {
		if (atomic_load(&r->state[i]) == FINISHED)
			st = report(r, i, PM_POOL_DONE, err);
	}
	give_back(r);
	return st;
}

/* Waits until every process has ended, reporting items as they are finished. */
static PmStatus watch(Run *r, PmErr *err)
{
	PmStatus st = PM_OK;
	int w, status, alive = 1;

	while (alive && !st) {
		alive = 0;
		for (w = 0; w < r->p->jobs && !st; w++) {
			if (!r->pid[w])
				continue;
			if (waitpid(r->pid[w], &status, WNOHANG) == r->pid[w])
				st = bury(r, w, status, err);
			alive |= r->pid[w] != 0;
		}
		if (!st)
			st = collect(r, err);
		if (alive && !st && r->tick)
			r->tick(r->p->arg);
		if (alive && !st && r->is_over && r->is_over(r->p->arg))
			st = pm_err(err, PM_DECLINED, "The work was given up before its end.");
		if (alive && !st)
			nap();
	}
	return st;
}

/* All workers are gone and nobody took the rest. */
static PmStatus all_died(const Run *r, PmErr *err)
{
	int by_signal = WIFSIGNALED(r->died);

	return pm_err(
		err, PM_E_CRASH,
		"Every process died in its start, %d times each (the last %s %d), and %zu of %zu items are "
		"left; use fewer with -j if memory is short, or one (-j 1) to see where it dies.",
		STARTS, by_signal ? "by signal" : "with status",
		by_signal ? WTERMSIG(r->died) : WEXITSTATUS(r->died), count_left(r), r->p->n_items);
}

static int all_stillborn(const Run *r)
{
	for (int w = 0; w < r->p->jobs; w++)
		if (r->stillborn[w] < STARTS)
			return 0;
	return 1;
}

/* Items that were taken by a process that died before it said so, and those that nobody would take. */
static PmStatus report_lost(Run *r, PmErr *err)
{
	PmStatus st = collect(r, err);
	size_t i;

	if (st || atomic_load(&r->shared->failed))
		return st;
	if (count_left(r) && (!r->p->may || all_stillborn(r)))
		return all_died(r, err);
	for (i = r->low; i < r->p->n_items && !st; i++) {
		int state = atomic_load(&r->state[i]);

		if (state == REPORTED)
			continue;
		if (r->p->may && state == WAITING)
			st = report(r, i, PM_POOL_LEFT, err);
		else
			st = report_dead(r, i, r->died, err);
	}
	return st;
}

static void kill_all(Run *r)
{
	int w;

	for (w = 0; w < r->p->jobs; w++) {
		if (!r->pid[w])
			continue;
		kill(r->pid[w], SIGKILL);
		waitpid(r->pid[w], NULL, 0);
	}
}

static PmStatus run_here(const PmPool *p, PmErr *err)
{
	void *result = pm_xcalloc(1, p->result_size + 1);
	PmStatus st = p->start ? p->start(p->arg, 0, err) : PM_OK;

	for (size_t i = 0; i < p->n_items && !st; i++) {
		st = do_item(p, i, result, err);
		if (!st && p->done)
			st = p->done(p->arg, i, PM_POOL_DONE, result, err);
	}
	if (p->stop)
		p->stop(p->arg);
	free(result);
	return st;
}

PmStatus pm_pool_run(const PmPool *p, PmErr *err)
{
	return p->jobs <= 1 ? run_here(p, err) : pm_pool_run_apart(p, err);
}

PmStatus pm_pool_run_apart(const PmPool *p, PmErr *err)
{
	return pm_pool_run_ticking(p, NULL, err);
}

PmStatus pm_pool_run_ticking(const PmPool *p, void (*tick)(void *arg), PmErr *err)
{
	return pm_pool_run_until(p, tick, NULL, err);
}

PmStatus pm_pool_run_until(const PmPool *p, void (*tick)(void *arg), int (*is_over)(void *arg), PmErr *err)
{
	PmPool limited = *p;
	Run r;
	PmStatus st;
	int w;

	memset(&r, 0, sizeof r);
	if (limited.jobs > MAX_JOBS)
		limited.jobs = MAX_JOBS;
	if (!p->n_items)
		return run_here(p, err);
	/* Those that may decline are all needed: another one may have to do what one of them leaves. */
	if (!p->may && (size_t)limited.jobs > p->n_items)
		limited.jobs = (int)p->n_items;
	if (limited.jobs < 1)
		limited.jobs = 1;
	r.p = &limited;
	r.tick = tick;
	r.is_over = is_over;
	st = share(&r, err);
	if (st)
		return st;
	for (w = 0; w < limited.jobs && !st; w++)
		st = launch(&r, w, err);
	if (!st)
		st = watch(&r, err);
	if (!st)
		st = report_lost(&r, err);
	if (st)
		kill_all(&r);
	else if (atomic_load(&r.shared->failed))
		st = pm_err(err, (PmStatus)atomic_load(&r.shared->failed), "%s",
			    *r.shared->text ? r.shared->text
					    : "A process failed, and died before it had said of what.");
	munmap(r.shared, r.bytes);
	return st;
}
