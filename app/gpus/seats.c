/* SPDX-License-Identifier: Apache-2.0 */
/* seats.c - several GPUs, each for processes of its own. */
#include "app/gpus/seats.h"

#include "app/gpus/seat_rules.h"
#include "base/core/arena.h"
#include "runtime/device/gpu_watch.h"
#include "runtime/gpus/gpu_claim.h"
#include "runtime/worker/worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Of all processes. */
typedef struct Shared {
	pthread_mutex_t mutex; /* robust: one that dies while it has it stops nobody */
	PmSeatRules rules;
} Shared;

struct PmSeats {
	PmGpus gpus;
	PmGpuClaim *claim[PM_GPUS_MAX];
	void (*say)(const char *text);
	Shared *shared;
	/* of this process: */
	int at;
	int64_t item;
	int given_back;
};

static void lock(PmSeats *s)
{
	if (pthread_mutex_lock(&s->shared->mutex) == EOWNERDEAD)
		pthread_mutex_consistent(&s->shared->mutex);
}

static void unlock(PmSeats *s)
{
	pthread_mutex_unlock(&s->shared->mutex);
}

static PmStatus share(PmSeats *s, PmErr *err)
{
	void *m = mmap(NULL, sizeof *s->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t attr;

	if (m == MAP_FAILED)
		return pm_err(err, PM_E_ENV, "Cannot share memory between processes: %s.", strerror(errno));
	s->shared = m;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&s->shared->mutex, &attr);
	pthread_mutexattr_destroy(&attr);
	s->shared->rules.n = s->gpus.n;
	for (int i = 0; i < s->gpus.n; i++) {
		s->shared->rules.seat[i].cause = -1;
		s->shared->rules.seat[i].errors = pm_gpu_memory_errors(&s->gpus.gpu[i]);
	}
	return PM_OK;
}

PmStatus pm_seats_new(const char *text, const char *locks, void (*say)(const char *text), PmSeats **out,
		      PmErr *err)
{
	PmSeats *s = pm_xcalloc(1, sizeof *s);
	PmGpus *all = pm_xcalloc(1, sizeof *all);
	uint64_t owner = pm_gpu_claim_owner();
	PmStatus st = pm_gpus_find(all, err);

	*out = NULL;
	s->say = say;
	if (!st)
		st = pm_gpus_select(all, text, &s->gpus, err);
	for (int i = 0; i < s->gpus.n && !st; i++)
		st = pm_gpu_claim_open(locks, s->gpus.gpu[i].uuid, owner, &s->claim[i], err);
	if (!st)
		st = share(s, err);
	free(all);
	if (st)
		pm_seats_free(s);
	else
		*out = s;
	return st;
}

void pm_seats_free(PmSeats *s)
{
	if (!s)
		return;
	for (int i = 0; i < s->gpus.n; i++)
		pm_gpu_claim_free(s->claim[i]);
	if (s->shared)
		munmap(s->shared, sizeof *s->shared);
	free(s);
}

int pm_seats_n(const PmSeats *s)
{
	return s->gpus.n;
}

const PmGpu *pm_seats_gpu(const PmSeats *s, int seat)
{
	return &s->gpus.gpu[seat];
}

int pm_seats_at(const PmSeats *s)
{
	return s->at;
}

void pm_seats_sit(PmSeats *s, int worker)
{
	s->at = worker % s->gpus.n;
	setenv("CUDA_VISIBLE_DEVICES", s->gpus.gpu[s->at].uuid, 1);
	pm_gpu_pin(&s->gpus.gpu[s->at]);
	/* What is started here may run a stranger's code, which must not write there. */
	madvise(s->shared, sizeof *s->shared, MADV_DONTFORK);
}

/* ---- before an item ---- */

static void say_left(const PmSeats *s, const char *why)
{
	const PmGpu *g = &s->gpus.gpu[s->at];
	char text[512];

	snprintf(text, sizeof text,
		 "GPU %d (%.64s) is left for the rest of this command: %.240s. What it had goes to the "
		 "others.",
		 g->index, g->uuid, why);
	s->say(text);
}

static void leave_seat(PmSeats *s, PmGpuFault f, const char *why)
{
	int first;

	lock(s);
	first = pm_seat_leave(&s->shared->rules, s->at, f, why);
	unlock(s);
	if (first)
		say_left(s, why);
}

/* Whether a new process can use the GPU. */
static int is_usable(PmErr *err)
{
	PmWorker *w = pm_worker_new("cuda");
	PmDeviceInfo info;
	PmStatus st = pm_worker_info(w, &info, err);

	pm_worker_free(w);
	return !st;
}

/* A pass broke it, and was blamed for that. 1 when it works again. */
static int try_again(PmSeats *s)
{
	PmErr err;
	int usable;

	pm_err_init(&err);
	usable = is_usable(&err);
	lock(s);
	pm_seat_tried(&s->shared->rules, s->at, usable);
	unlock(s);
	if (!usable)
		say_left(s, s->shared->rules.seat[s->at].why);
	return usable;
}

static int is_well(PmSeats *s)
{
	PmSeatState *state = &s->shared->rules.seat[s->at];
	char why[256];
	PmGpuFault f = pm_gpu_look(&s->gpus.gpu[s->at], state->errors, why, sizeof why);

	if (f)
		leave_seat(s, f, why);
	return !f;
}

static void say_taken(PmSeats *s, int pid)
{
	const PmGpu *g = &s->gpus.gpu[s->at];
	char who[48] = "another command", text[256];
	int told;

	lock(s);
	told = s->shared->rules.seat[s->at].told_taken++;
	unlock(s);
	if (told)
		return;
	if (pid)
		snprintf(who, sizeof who, "process %d, of another command", pid);
	snprintf(text, sizeof text,
		 "GPU %d is taken by %s: its work goes to the others meanwhile, or waits until it is free.",
		 g->index, who);
	s->say(text);
}

PmPoolMay pm_seats_may(PmSeats *s)
{
	PmSeatMay may;
	int pid, trial;

	lock(s);
	may = pm_seat_may(&s->shared->rules, s->at);
	trial = s->shared->rules.seat[s->at].on_trial;
	unlock(s);
	if (may == PM_SEAT_IS_LEFT)
		return PM_POOL_NEVER;
	if (may == PM_SEAT_WAITS)
		return PM_POOL_LATER;
	if (!pm_gpu_claim_take(s->claim[s->at], &pid)) {
		if (pid)
			say_taken(s, pid);
		return PM_POOL_LATER;
	}
	if ((!trial || try_again(s)) && is_well(s))
		return PM_POOL_TAKE;
	pm_gpu_claim_leave(s->claim[s->at]);
	return PM_POOL_NEVER;
}

void pm_seats_pass(PmSeats *s)
{
	pm_gpu_claim_leave(s->claim[s->at]);
}

void pm_seats_begin(PmSeats *s, int64_t item)
{
	s->item = item;
	s->given_back = 0;
}

/* ---- afterwards ---- */

/* 1 when the item is to be tried elsewhere. */
static int is_fault_of_seat(PmSeats *s)
{
	char why[256];
	PmFaultOf of;
	PmErr err;
	int usable;

	pm_err_init(&err);
	usable = is_usable(&err);
	snprintf(why, sizeof why, "a new process cannot use it either (%.200s)", err.text);
	lock(s);
	of = pm_seat_fault(&s->shared->rules, s->at, s->item, usable, why);
	unlock(s);
	if (of == PM_FAULT_OF_SEAT)
		say_left(s, why);
	return of == PM_FAULT_OF_SEAT;
}

PmStatus pm_seats_accept(PmSeats *s, const PmSeatSaw *saw, PmErr *err)
{
	static const uint64_t bad = PM_GPU_SLOWED_BITS;
	char why[256], text[128];

	if (saw->slowed & bad) {
		pm_gpu_slowed_text(saw->slowed & bad, text, sizeof text);
		snprintf(why, sizeof why, "it was slowed down while it was measured (%s)", text);
		leave_seat(s, PM_GPU_SLOWED, why);
		s->given_back = 1;
	} else if (saw->others > 0) {
		snprintf(why, sizeof why, "%d process%s of other programs used it while it was measured",
			 saw->others, saw->others == 1 ? "" : "es");
		leave_seat(s, PM_GPU_STRANGERS, why);
		s->given_back = 1;
	} else if (saw->error) {
		s->given_back = is_fault_of_seat(s);
	} else {
		s->given_back = !is_well(s);
	}
	return s->given_back ? pm_err(err, PM_E_DEVICE, "GPU %d was left during this evaluation.",
				      s->gpus.gpu[s->at].index)
			     : PM_OK;
}

int pm_seats_end(PmSeats *s, PmStatus st)
{
	int is_of_device = st == PM_E_ENV || st == PM_E_DEVICE || st == PM_E_CRASH || st == PM_E_TIMEOUT;

	if (is_of_device && !s->given_back)
		s->given_back = is_fault_of_seat(s);
	lock(s);
	if (!s->given_back) {
		pm_seat_settle(&s->shared->rules, s->item);
		s->shared->rules.seat[s->at].done++;
	}
	unlock(s);
	pm_gpu_claim_leave(s->claim[s->at]);
	return s->given_back;
}

/* ---- what is said in the end ---- */

cJSON *pm_seats_json(const PmSeats *s)
{
	cJSON *list = cJSON_CreateArray();

	for (int i = 0; i < s->gpus.n; i++) {
		const PmSeatState *state = &s->shared->rules.seat[i];
		cJSON *j = cJSON_CreateObject();

		cJSON_AddNumberToObject(j, "index", s->gpus.gpu[i].index);
		cJSON_AddStringToObject(j, "uuid", s->gpus.gpu[i].uuid);
		cJSON_AddStringToObject(j, "name", s->gpus.gpu[i].info.name);
		cJSON_AddNumberToObject(j, "items", state->done);
		if (state->left) {
			cJSON_AddStringToObject(j, "left", pm_gpu_fault_name(state->left));
			cJSON_AddStringToObject(j, "why", state->why);
		}
		cJSON_AddItemToArray(list, j);
	}
	return list;
}

void pm_seats_why_left(const PmSeats *s, PmStr *out)
{
	const char *sep = "";

	for (int i = 0; i < s->gpus.n; i++) {
		const PmSeatState *state = &s->shared->rules.seat[i];

		if (!state->left)
			continue;
		pm_str_addf(out, "%sGPU %d: %s", sep, s->gpus.gpu[i].index, state->why);
		sep = "; ";
	}
}
