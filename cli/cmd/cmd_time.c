/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_time.c - passmith time: measured times of the eager baseline, and quick ones of a pass beside it. */
#include "cli/cmds.h"
#include "cli/gpus.h"

#include "app/eval/many.h"
#include "app/eval/variant_list.h"
#include "app/time/time_file.h"
#include "app/time/time_pass.h"
#include "base/sys/io.h"
#include "base/sys/pool.h"
#include "base/sys/proc.h"
#include "bench/compare/tolerance.h"
#include "bench/report/systems.h"
#include "bench/score/stratum.h"
#include "bench/timing/clock.h"
#include "dataset/store/subgraphs.h"
#include "runtime/cuda/nvrtc/nvrtc.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double keeps_warm = 2; /* seconds for which a GPU that was busy needs no warm-up */

enum { MAX_BLOCKS = 1000 };

/* A line each few seconds, to whoever waits for it. */
static void say(PmTime *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void say(PmTime *t, const char *fmt, ...)
{
	char line[PM_ERR_MAX + 256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	if (t->said) {
		pm_str_add(t->said, line);
	} else if (!pm_cli_json) {
		fputs(line, stdout);
		fflush(stdout);
	}
}

static void kind_json(cJSON *j, const PmTimes *t, int side, int control, const char *name)
{
	cJSON *k = cJSON_AddObjectToObject(j, name);

	cJSON_AddNumberToObject(k, "seconds", pm_timer_seconds(t, side)); /* null when it is below */
	if (t->blocks && isnan(pm_timer_seconds(t, side)))
		cJSON_AddNumberToObject(k, "below", t->resolution);
	if (side)
		cJSON_AddNumberToObject(k, "speedup", t->ratio[side].point);
	cJSON_AddNumberToObject(k, "control", t->ratio[control].point);
	cJSON_AddNumberToObject(k, "blocks", t->blocks);
}

static cJSON *times_json(const PmTiming *t, int side, int control)
{
	cJSON *j = cJSON_CreateObject();

	for (int k = 0; k < PM_N_TIME_KINDS; k++)
		kind_json(j, &t->kind[k], side, control, pm_time_kind_name((PmTimeKind)k));
	cJSON_AddStringToObject(j, "state", pm_timing_state_name(t->state));
	if (*t->why)
		cJSON_AddStringToObject(j, "why", t->why);
	return j;
}

static void say_times(PmTime *c, const PmTaskVariant *m, const PmPlanStats *s, const PmTiming *t, int side)
{
	say(c, "  %-44.44s %4d launches", m->label, s->n_launches);
	for (int k = 0; k < PM_N_TIME_KINDS; k++) {
		double seconds = pm_timer_seconds(&t->kind[k], side);
		int below = t->kind[k].blocks && isnan(seconds);

		say(c, " %s%*.2f us", below ? "<" : "", below ? 9 : 10,
		    (below ? t->kind[k].resolution : seconds) * 1e6);
	}
	say(c, "  %s\n", *t->why ? t->why : "ok");
}

/* What a call takes of the device; a graph that was timed can be planned. */
static void add_memory(cJSON *j, const PmGraph *g)
{
	PmPlanMemory held;

	if (!pm_graph_plan_memory(g, &held, NULL))
		pm_json_add_i64(j, "memory", held.taken);
}

/* Seconds below which no kernels can get on this device; the default profile's where it has none. */
static void add_roofline(const PmTime *t, cJSON *j, const PmGraph *g)
{
	const PmProfile *p = pm_profile_of_cc(t->info.cc);
	double seconds;

	if (!pm_sys_roofline(g, p ? p->name : NULL, &seconds, NULL))
		cJSON_AddNumberToObject(j, "roofline_seconds", seconds);
}

/* The pass beside the eager run, when it has rewritten the graph; otherwise the eager run counts for both. */
static PmStatus time_sides(PmTime *t, const PmTaskVariant *m, const PmTimedPass *p, const PmClockOpts *o,
			   cJSON *times, PmTiming *r, PmErr *err)
{
	PmWork work = { .g = m->g };
	PmTimeStage was = pm_time_stage_enter(&t->stages, PM_TIME_STAGE_CLOCK);
	double agreeing = 0;
	int smallest_t = PM_T_MIN;
	PmStatus st = p && p->g ? pm_timed_pass_time(t->worker, t->device, p, m->g, o, r, &agreeing,
						     &smallest_t, err)
				: pm_clock_time(t->worker, &work, o, r, err);
	int changed = p && p->g, control = changed ? PM_SIDE_CONTROL : 1;
	cJSON *of_eager, *of_pass;

	pm_time_stage_move(&t->stages, PM_TIME_STAGE_LOAD, r->loaded);
	pm_time_stage_move(&t->stages, PM_TIME_STAGE_AGREE, agreeing);
	pm_time_stage_enter(&t->stages, was);
	if (st)
		return st;
	of_eager = times_json(r, 0, control);
	add_memory(of_eager, m->g);
	cJSON_AddItemToObject(times, "passmith eager", of_eager);
	if (!p)
		return PM_OK;
	of_pass = times_json(r, changed ? PM_SIDE_CANDIDATE : 0, control);
	add_memory(of_pass, changed ? p->g : m->g);
	cJSON_AddBoolToObject(of_pass, "changed", changed);
	cJSON_AddNumberToObject(of_pass, "smallest_t", smallest_t);
	cJSON_AddItemToObject(times, t->system, of_pass);
	return PM_OK;
}

/* With --gpus: whether what came of a graph counts, or its GPU is left. */
static PmStatus accept_graph(PmTime *t, PmStatus st, PmErr *err)
{
	PmSeatSaw saw = { .error = st == PM_E_ENV || st == PM_E_NOT_FOUND || st == PM_E_DEVICE ||
				   st == PM_E_CRASH || st == PM_E_TIMEOUT || st == PM_E_OOB };

	if (!t->seats)
		return PM_OK;
	if (saw.error) { /* another process is to try the GPU, which may take one at a time */
		pm_worker_free(t->worker);
		t->worker = pm_worker_new(t->device);
	}
	return pm_seats_accept(t->seats, &saw, err);
}

/* 1 when what went wrong is the device's, or this machine's, and no graph can be timed: it does not open
 * again. A graph whose weights leave no memory for the clock fails like that, too, and the next one does not.
 */
static int device_is_gone(PmTime *t, PmStatus st)
{
	PmDeviceInfo info;

	return (st == PM_E_ENV || st == PM_E_NOT_FOUND) && pm_worker_info(t->worker, &info, NULL) != PM_OK;
}

/* One graph; what fails there is its record, unless the device is gone. */
static PmStatus time_one(PmTime *t, const PmTaskVariant *m, const PmTimedPass *p, PmErr *err)
{
	PmSecret *secret = pm_secret_draw();
	PmClockOpts o = { .secret = secret,
			  .deadline = 120,
			  .blocks = (int)t->blocks,
			  .quick = t->blocks > 0,
			  .graphs = t->graphs,
			  .warm = t->last > 0 && pm_now() - t->last < keeps_warm };
	PmTiming r = { 0 };
	PmPlanStats s = { 0 };
	PmGraphKey key;
	cJSON *j = cJSON_CreateObject(), *times = cJSON_CreateObject();
	PmErr why;
	PmStatus st;

	pm_err_init(&why);
	st = pm_graph_key(m->g, &key, &why);
	if (!st && p && p->failed)
		st = pm_err(&why, PM_E_INVALID, "The pass %s went wrong: %s", t->pass, p->why);
	if (!st)
		st = pm_graph_plan_stats(m->g, NULL, 0, NULL, &s, &why);
	if (!st)
		st = time_sides(t, m, p, &o, times, &r, &why);
	pm_secret_free(secret);
	t->last = st ? 0 : pm_now();
	if (accept_graph(t, st, err)) {
		cJSON_Delete(times);
		cJSON_Delete(j);
		return PM_E_DEVICE;
	}
	cJSON_AddStringToObject(j, "target", t->target);
	cJSON_AddStringToObject(j, "name", m->label);
	cJSON_AddStringToObject(j, "graph", key.full);
	cJSON_AddStringToObject(j, "class", pm_graph_class(m->g));
	cJSON_AddNumberToObject(j, "launches", s.n_launches);
	add_roofline(t, j, m->g);
	if (t->seats)
		cJSON_AddItemToObject(j, "gpu", pm_cli_gpu_json(t->seats));
	if (st) {
		cJSON_AddStringToObject(j, "error", why.text);
		say(t, "  %-44.44s %s\n", m->label, why.text);
		t->failed++;
	} else {
		cJSON_AddItemToObject(j, "times", times);
		times = NULL;
		t->timed++;
		say_times(t, m, &s, &r, p && p->g ? PM_SIDE_CANDIDATE : 0);
	}
	cJSON_Delete(times);
	if (p && !p->g && !p->failed)
		cJSON_AddStringToObject(j, "declined", p->why);
	cJSON_AddItemToArray(t->records, j);
	return device_is_gone(t, st) ? pm_err(err, st, "%s", why.text) : PM_OK;
}

typedef PM_VEC(PmSource) Sources;
typedef PM_VEC(PmPlan *) Plans; /* own the sources */

/* A graph that cannot be planned has a record that says why. */
static void add_sources(const PmGraph *g, const int *alts, size_t n_alts, Sources *src, Plans *plans)
{
	const PmSource *s;
	PmPlan *p = NULL;

	if (pm_plan_new(g, alts, n_alts, &p, NULL))
		return;
	PM_VEC_PUSH(plans, p);
	for (size_t c = pm_plan_sources(p, &s); c-- > 0; s++)
		PM_VEC_PUSH(src, *s);
}

/* The graphs of all targets, and each with its pass. */
typedef struct Batch {
	PmVariantList *target; /* as many as there are targets */
	size_t n_targets, n;
	PmGraph **g;       /* n of all targets, in order; borrowed */
	PmTimedPass *pass; /* beside g; NULL without a pass */
} Batch;

/* What the file has times of and what the pass failed on needs no clock. */
static int any_to_time(PmTime *t, const PmStrList *targets, const Batch *d)
{
	for (size_t i = 0, at = 0; i < d->n_targets; i++) {
		t->target = targets->list.v[i];
		for (size_t k = 0; k < d->target[i].list.n; k++, at++)
			if (!pm_time_file_has(t, d->g[at]) && !(d->pass && d->pass[at].failed))
				return 1;
	}
	return 0;
}

/* Everything that the graphs of all targets need is compiled at once, on all processors. */
static PmStatus compile_ahead(PmTime *t, const PmStrList *targets, const Batch *d, PmErr *err)
{
	Sources src = { 0 };
	Plans plans = { 0 };
	PmTimeStage was = pm_time_stage_enter(&t->stages, PM_TIME_STAGE_OPEN);
	double begin = pm_now(), opened;
	PmStatus st = t->has_info ? PM_OK : pm_worker_info(t->worker, &t->info, err);

	t->has_info = !st;
	pm_time_stage_enter(&t->stages, PM_TIME_STAGE_COMPILE);
	opened = pm_now();
	t->opened = opened - begin;
	if (!st && !t->info.measured && any_to_time(t, targets, d))
		return pm_err(
			err, PM_E_UNSUPPORTED,
			"The device %s has no clock, so it cannot time anything: leave out --device on a "
			"machine with a GPU, or ask passmith eval --device %s for modelled times.",
			t->device, t->device);
	for (size_t i = 0; i < d->n && !st; i++) {
		const PmTimedPass *p = d->pass ? &d->pass[i] : NULL;

		add_sources(d->g[i], NULL, 0, &src, &plans);
		for (int a = 0; p && p->g && a < p->n_alts; a++) {
			size_t n_alts;
			int *alts = pm_timed_pass_alts(p, a, &n_alts);

			add_sources(p->g, alts, n_alts, &src, &plans);
			free(alts);
		}
	}
	if (!st && t->info.measured)
		pm_nvrtc_ahead(src.v, src.n, t->info.cc, pm_cpu_count());
	for (size_t i = 0; i < plans.n; i++)
		pm_plan_free(plans.v[i]);
	PM_VEC_RELEASE(&plans);
	PM_VEC_RELEASE(&src);
	t->compiled = pm_now() - opened;
	pm_time_stage_enter(&t->stages, was);
	return st;
}

static PmStatus read_target(PmTime *t, PmDb *db, const char *target, PmVariantList *out, PmErr *err)
{
	PmStatus st = db ? pm_variant_list_of_task(db, target, out, err)
			 : pm_cli_variants(target, t->variants, 0, out, err);

	pm_variant_list_keep_shapes(out, t->shapes);
	return st;
}

/* A target that cannot be read has a record that says so; the others are timed. */
static void left_unread(PmTime *t, const char *target, PmVariantList *m, const PmErr *why)
{
	cJSON *j = cJSON_CreateObject();

	pm_cli_complain("%s", why->text);
	cJSON_AddStringToObject(j, "target", target);
	cJSON_AddStringToObject(j, "error", why->text);
	cJSON_AddItemToArray(t->records, j);
	pm_variant_list_release(m);
	t->unread++;
}

static PmStatus read_targets(PmTime *t, const PmStrList *targets, Batch *d, PmErr *err)
{
	PmDb *db = NULL;
	PmStatus st = t->db_path ? pm_db_open(t->db_path, PM_DB_MUST_EXIST, &db, err) : PM_OK;
	PmErr why;

	d->n_targets = targets->list.n;
	d->target = pm_xcalloc(d->n_targets + 1, sizeof *d->target);
	for (size_t i = 0; i < d->n_targets && !st; i++) {
		pm_err_init(&why);
		if (read_target(t, db, targets->list.v[i], &d->target[i], &why))
			left_unread(t, targets->list.v[i], &d->target[i], &why);
		d->n += d->target[i].list.n;
	}
	pm_db_close(db);
	d->g = pm_xcalloc(d->n + 1, sizeof *d->g);
	for (size_t i = 0, at = 0; i < d->n_targets; i++)
		for (size_t k = 0; k < d->target[i].list.n; k++)
			d->g[at++] = d->target[i].list.v[k].g;
	return st;
}

/* The pass on every graph. */
static PmStatus apply_pass(PmTime *t, Batch *d, PmErr *err)
{
	double begin = pm_now();
	PmStatus st;

	if (!t->pass)
		return PM_OK;
	pm_time_stage_enter(&t->stages, PM_TIME_STAGE_PASS);
	d->pass = pm_xcalloc(d->n + 1, sizeof *d->pass);
	st = pm_timed_pass_apply(t->pass, d->g, d->n, d->pass, err);
	t->rewritten = pm_now() - begin;
	return st;
}

static void batch_release(Batch *d)
{
	for (size_t i = 0; d->pass && i < d->n; i++)
		pm_timed_pass_release(&d->pass[i]);
	for (size_t i = 0; i < d->n_targets; i++)
		pm_variant_list_release(&d->target[i]);
	free(d->pass);
	free(d->g);
	free(d->target);
}

/* The graphs of one target, and what the pass made of each. */
static PmStatus time_target(PmTime *t, const PmVariantList *m, const PmTimedPass *pass, PmErr *err)
{
	PmStatus st = PM_OK;

	say(t, "%s\n", t->target);
	for (size_t k = 0; k < m->list.n && !st; k++) {
		if (pm_time_file_has(t, m->list.v[k].g))
			continue;
		if (t->seconds > 0 && pm_now() - t->begin > t->seconds) {
			t->left_out++;
			continue;
		}
		st = time_one(t, &m->list.v[k], pass ? &pass[k] : NULL, err);
		if (!st && !t->seats)
			st = pm_time_file_keep(t, err);
	}
	return st;
}

/* ---- on several GPUs ---- */

typedef struct Several {
	PmTime *t;
	const PmStrList *targets;
	const Batch *d;
	size_t *item;  /* by item: its target, which has graphs */
	size_t *first; /* by item: its first graph */
	size_t n;
} Several;

/* The records that a list has from number `from` on; owned. */
static cJSON *take_from(cJSON *list, int from)
{
	cJSON *taken = cJSON_CreateArray();

	while (cJSON_GetArraySize(list) > from)
		cJSON_AddItemToArray(taken, cJSON_DetachItemFromArray(list, from));
	return taken;
}

/* In a process of its own. Its worker ends with the target: while it lives others cannot measure there. */
static PmStatus time_item(void *arg, size_t item, PmStr *out, PmErr *err)
{
	const Several *s = arg;
	PmTime *t = s->t;
	PmStr said = PM_STR_INIT;
	int before = cJSON_GetArraySize(t->records);
	cJSON *j = cJSON_CreateObject();
	PmStatus st;

	t->target = s->targets->list.v[s->item[item]];
	t->said = &said;
	t->last = t->timed = t->failed = t->left_out = 0;
	t->worker = pm_worker_new(t->device);
	st = time_target(t, &s->d->target[s->item[item]], s->d->pass ? s->d->pass + s->first[item] : NULL,
			 err);
	pm_worker_free(t->worker);
	t->worker = NULL;
	cJSON_AddNumberToObject(j, "timed", t->timed);
	cJSON_AddNumberToObject(j, "failed", t->failed);
	cJSON_AddNumberToObject(j, "left_out", t->left_out);
	cJSON_AddStringToObject(j, "said", said.len ? said.s : "");
	cJSON_AddItemToObject(j, "records", take_from(t->records, before));
	if (!st)
		pm_json_print(j, 0, out);
	cJSON_Delete(j);
	pm_str_release(&said);
	return st;
}

/* A target that was not timed to its end has a record that says so. */
static void left_untimed(PmTime *t, const char *target, const PmManyEnd *end)
{
	cJSON *j = cJSON_CreateObject();

	pm_cli_complain("%s was not timed: %s", target, end->why);
	cJSON_AddStringToObject(j, "target", target);
	cJSON_AddStringToObject(j, "error", end->why);
	cJSON_AddItemToArray(t->records, j);
	t->code = t->code ? t->code : pm_status_exit_code(end->status);
}

static PmStatus take_item(void *arg, size_t item, const PmManyEnd *end, PmErr *err)
{
	const Several *s = arg;
	PmTime *t = s->t;
	cJSON *j = NULL, *records;
	PmStatus st = PM_OK;

	if (end->status) {
		left_untimed(t, s->targets->list.v[s->item[item]], end);
		return PM_OK;
	}
	st = pm_json_parse(end->out->s, end->out->len, &j, err);
	if (st)
		return st;
	t->timed += (int)pm_json_i64(j, "timed", 0);
	t->failed += (int)pm_json_i64(j, "failed", 0);
	t->left_out += (int)pm_json_i64(j, "left_out", 0);
	if (!pm_cli_json)
		fputs(pm_json_str(j, "said", ""), stdout);
	records = cJSON_GetObjectItem(j, "records");
	while (cJSON_GetArraySize(records))
		cJSON_AddItemToArray(t->records, cJSON_DetachItemFromArray(records, 0));
	cJSON_Delete(j);
	return pm_time_file_keep(t, err);
}

/* Each target on whichever GPU is free; one process at each GPU. */
static PmStatus time_on_several(PmTime *t, const PmStrList *targets, const Batch *d, PmErr *err)
{
	Several s = { .t = t,
		      .targets = targets,
		      .d = d,
		      .item = pm_xcalloc(d->n_targets + 1, sizeof *s.item),
		      .first = pm_xcalloc(d->n_targets + 1, sizeof *s.first) };
	PmMany m = { .jobs = pm_seats_n(t->seats),
		     .seats = t->seats,
		     .work = time_item,
		     .take = take_item,
		     .arg = &s };
	PmStatus st;

	for (size_t i = 0, at = 0; i < d->n_targets; at += d->target[i++].list.n)
		if (d->target[i].list.n) {
			s.item[s.n] = i;
			s.first[s.n++] = at;
		}
	m.n = s.n;
	fflush(stdout); /* else each process has what is in it */
	st = m.n ? pm_many(&m, err) : PM_OK;
	free(s.item);
	free(s.first);
	return st;
}

static PmStatus time_all(PmTime *t, const PmStrList *targets, PmErr *err)
{
	Batch d = { 0 };
	PmStatus st;

	if (t->worker)
		pm_worker_begin(t->worker); /* opens the device meanwhile */
	pm_time_stage_enter(&t->stages, PM_TIME_STAGE_READ);
	st = read_targets(t, targets, &d, err);
	if (!st)
		st = apply_pass(t, &d, err);
	pm_time_stage_enter(&t->stages, PM_TIME_STAGE_OTHER);
	pm_cli_stage("working");
	if (!st && d.n)
		st = compile_ahead(t, targets, &d, err);
	if (!st && d.n && !pm_cli_json)
		printf("GPU time with caches cold and replayed as a CUDA graph; on the host's clock a call "
		       "among many in a row, and one call and the wait for its result\n");
	if (!st && t->seats)
		st = time_on_several(t, targets, &d, err);
	for (size_t i = 0, at = 0; i < d.n_targets && !st && !t->seats; at += d.target[i++].list.n) {
		if (!d.target[i].list.n)
			continue;
		t->target = targets->list.v[i];
		st = time_target(t, &d.target[i], d.pass ? d.pass + at : NULL, err);
	}
	batch_release(&d);
	return st;
}

static void print_timings(PmTime *t)
{
	PmStr table = PM_STR_INIT;

	if (t->timings && !pm_cli_json) {
		pm_time_stages_table(&t->stages, &table);
		printf("\n%s", table.s);
	}
	pm_str_release(&table);
}

static int run(PmTime *t, const PmStrList *targets, const char *gpus)
{
	PmStatus st = PM_OK;
	cJSON *times;
	PmErr err;
	int code;

	pm_err_init(&err);
	if (t->pass)
		snprintf(t->system, sizeof t->system, "passmith %.*s",
			 (int)strcspn(pm_path_base(t->pass), "."), pm_path_base(t->pass));
	pm_cli_libraries(t->device, t->tf32);
	t->records = cJSON_CreateArray();
	t->begin = t->kept = pm_now();
	if (gpus) {
		st = pm_cli_gpus(gpus, &t->seats, &err);
		if (st)
			return pm_cli_fail(&err);
		t->info = pm_seats_gpu(t->seats, 0)->info;
		t->has_info = 1;
	} else {
		t->worker = pm_worker_new(t->device);
	}
	if (t->resume && pm_path_exists(t->json_out))
		st = pm_time_file_resume(t, &err);
	if (!st)
		st = time_all(t, targets, &err);
	code = st ? pm_cli_fail(&err) : t->unread ? 4 : t->code ? t->code : t->failed != 0;
	/* What is timed is kept, whatever ended the run; nothing is no reason to write over a file. */
	t->json_out = (st || t->code) && !t->timed ? NULL : t->json_out;
	pm_cli_stage("writing");
	times = pm_time_file_json(t);
	if (pm_time_file_write(t, times, &err) && !st)
		code = pm_cli_fail(&err);
	pm_cli_put_json(times);
	print_timings(t);
	return code;
}

static int check_args(const PmCmd *cmd, const PmTime *t, const PmStrList *targets, const char *gpus)
{
	if (!targets->list.n)
		return pm_cli_usage(cmd, "time takes at least one model or task.");
	if (t->blocks > MAX_BLOCKS)
		return pm_cli_usage(cmd, "--blocks takes a number up to %d.", MAX_BLOCKS);
	if (t->resume && !t->json_out)
		return pm_cli_usage(cmd, "--resume wants the file of the run before, -o FILE.");
	if (!pm_device_is_known(t->device))
		return pm_cli_usage(cmd, "There is no device '%.60s' with a clock; name cuda.", t->device);
	if (gpus && t->timings)
		return pm_cli_usage(cmd, "--timings is of one process: leave it out, or --gpus.");
	return pm_cli_gpus_usage(cmd, gpus, t->device);
}

int pm_cmd_time(const PmCmd *cmd, int argc, char **argv)
{
	PmTime t = { .device = "cuda" };
	const char *gpus = NULL;
	const PmOpt opts[] = {
		{ "--device", PM_OPT_STR, &t.device, "a device with a clock (default cuda, the only one)" },
		{ "--gpus", PM_OPT_STR, &gpus,
		  "all, or numbers and UUIDs with commas (0,2): models go to whichever GPU is free" },
		{ "--db", PM_OPT_STR, &t.db_path, "the targets are tasks of this database, not model files" },
		{ "--variants", PM_OPT_FLAG, &t.variants,
		  "a model in all the shapes and types it generalises to" },
		{ "--shapes", PM_OPT_COUNT, &t.shapes, "the first N shapes of each graph only" },
		{ "--tf32", PM_OPT_FLAG, &t.tf32, "let libraries use TF32 for float" },
		{ "--graphs", PM_OPT_FLAG, &t.graphs, "every call replays its launches as one CUDA graph" },
		{ "--blocks", PM_OPT_COUNT, &t.blocks,
		  "a quick look: exactly N blocks of each kind (default: until the times are precise)" },
		{ "--seconds", PM_OPT_NUM, &t.seconds, "begin no graph after that many" },
		PM_OPT_TARGET_ROW(NULL),
		{ "--pass", PM_OPT_STR, &t.pass,
		  "a trusted pass: its quick, unjudged times beside the eager run's" },
		{ "-o", PM_OPT_STR, &t.json_out, "write the times as JSON, for passmith results import" },
		{ "--timings", PM_OPT_FLAG, &t.timings, "also say where the time of this command went" },
		{ "--resume", PM_OPT_FLAG, &t.resume,
		  "graphs that the file of -o has times of are not timed again" },
		{ 0 },
	};
	PmStrList targets = { 0 };
	int code = 0;

	pm_time_stages_begin(&t.stages);
	if (pm_args_parse(cmd, opts, argc, argv, &targets, &code)) {
		code = check_args(cmd, &t, &targets, gpus);
		code = code ? code : run(&t, &targets, gpus);
	}
	cJSON_Delete(t.records);
	pm_worker_free(t.worker);
	pm_seats_free(t.seats);
	PM_VEC_RELEASE(&targets.list);
	return code;
}
