/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_work.c - passmith cluster work: one worker, from its device to its answer. */
#include "cli/cluster/cluster.h"

#include "app/cluster/work.h"
#include "base/sys/io.h"
#include "cli/device_lock.h"
#include "cli/eval_options.h"
#include "runtime/device/device.h"
#include "runtime/gpus/target.h"
#include "runtime/worker/worker.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile sig_atomic_t asked_to_stop;

static void on_signal(int signal)
{
	(void)signal;
	asked_to_stop = 1;
}

/* SIGUSR1: the batch system's warning that the time is nearly over. What is finished is published already. */
static void listen(void)
{
	const int asked[] = { SIGUSR1, SIGTERM, SIGINT };
	struct sigaction sa = { .sa_handler = on_signal };

	for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
		sigaction(asked[i], &sa, NULL);
	signal(SIGXFSZ, SIG_IGN); /* a limit on files is an error of write, and said as one */
}

static void say(void *arg, const char *text)
{
	(void)arg;
	if (!pm_cli_quiet)
		fprintf(stderr, "passmith: %s\n", text);
}

static void say_worked(const PmClusterWorked *d)
{
	cJSON *j;

	if (!pm_cli_json) {
		printf("%lld shard%s and %lld item%s finished, %lld variant%s evaluated%s",
		       (long long)d->shards, pm_plural(d->shards), (long long)d->items, pm_plural(d->items),
		       (long long)d->variants, pm_plural(d->variants),
		       d->stopped ? "; stopped by a signal" : "");
		if (d->failed)
			printf("; %lld item%s came to nothing three times", (long long)d->failed,
			       pm_plural(d->failed));
		if (d->lost)
			printf("; %lld shard%s %s taken by others", (long long)d->lost, pm_plural(d->lost),
			       d->lost == 1 ? "was" : "were");
		putchar('\n');
		return;
	}
	j = cJSON_CreateObject();
	pm_json_add_i64(j, "shards", d->shards);
	pm_json_add_i64(j, "items", d->items);
	pm_json_add_i64(j, "variants", d->variants);
	pm_json_add_i64(j, "failed", d->failed);
	pm_json_add_i64(j, "lost", d->lost);
	cJSON_AddBoolToObject(j, "stopped", d->stopped);
	pm_cli_put_json(j);
}

static PmStatus work(PmClusterCmd *c, const PmClusterPlan *plan, PmLook *look, PmErr *err)
{
	PmClusterWork w = {
		.plan = plan, .shard = c->shard, .once = c->once, .stop = &asked_to_stop, .said = say
	};
	PmClusterWorked did = { 0 };
	PmDeviceInfo device;
	PmStatus st = pm_look_info(look, &device, err);

	if (!st)
		st = pm_target_choose(plan->opts.profile, plan->opts.device, err);
	if (st)
		return st;
	pm_cluster_eval_opts(plan, &w.opts);
	if (pm_device_kind(plan->opts.device) == PM_DEVICE_CUDA)
		w.opts.cc = device.cc;
	w.opts.reference_on_gpu &= !device.exclusive;
	w.jobs = device.exclusive ? 1 : pm_cli_eval_jobs(c->jobs, plan->opts.device);
	st = pm_cli_device_lock(plan->opts.device, &device, &w.opts.lock, err);
	if (!st)
		st = pm_cluster_work(&w, &did, err);
	pm_rwlock_free(w.opts.lock);
	say_worked(&did);
	c->no = did.stopped || did.failed;
	return st;
}

PmStatus pm_cluster_verb_work(PmClusterCmd *c, PmErr *err)
{
	const char *disk = getenv("SLURM_TMPDIR"); /* where a site has a disk for each job */
	PmClusterPlan plan = { 0 };
	PmEmuAhead *ahead;
	PmLook *look;
	PmStatus st;

	pm_cli_stage("reading");
	st = pm_cluster_plan_read(c->dir, &plan, err);
	if (!st && c->shard >= (int64_t)plan.shard.n)
		st = pm_err(err, PM_E_NOT_FOUND,
			    "The plan %s has no shard %lld; it has %zu, numbered from 0.", c->dir,
			    (long long)c->shard, plan.shard.n);
	if (!st) {
		if (disk && pm_path_is_dir(disk))
			setenv("TMPDIR", disk, 1);
		listen();
		pm_cli_stage("working");
		pm_cli_libraries(plan.opts.device, plan.opts.tf32);
		ahead = pm_emu_ahead_begin();
		look = pm_look_begin(plan.opts.device);
		st = work(c, &plan, look, err);
		pm_emu_ahead_end(ahead);
		pm_look_end(look);
	}
	pm_cluster_plan_release(&plan);
	return st;
}
