/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_bench.c - passmith bench: several systems on the tasks of a database in one table. */
#include "app/eval/bench_read.h"
#include "app/eval/field_read.h"
#include "app/eval/heartbeat.h"
#include "app/eval/many.h"
#include "app/merge/node_spread.h"
#include "cli/cmds.h"
#include "cli/device_lock.h"
#include "cli/eval_options.h"
#include "cli/gpus.h"
#include "ir/category/category.h"

#include "base/sys/io.h"
#include "bench/eval/run_key.h"
#include "bench/report/systems_report.h"
#include "dataset/store/tasks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct Args {
	const char *db, *baselines, *against, *device, *profile, *preset, *split, *folder, *out, *view,
		*suite, *gpus, *machine;
	PmStrList passes, tasks;
	double seconds, deadline, p;
	int64_t seed, shapes, hidden, jobs, k;
	int stored, tf32, weak, runs;
} Args;

typedef struct Work {
	PmBench b;
	PM_VEC(int64_t) tasks;
	int64_t graphs;
	PmProgress bar;
	PmHeartbeat heart;
	const char *db;                /* its path */
	const char *suite;             /* NULL: any */
	PmStr ranking;                 /* of the runs that count: pm_run_key_ranking */
	PmSeats *seats;                /* --gpus, or NULL */
	PmRwlock *clocks[PM_GPUS_MAX]; /* of each of them */
	int code;                      /* of the first task that was not evaluated; 0 = all were */
} Work;

/* ---- what to compare ---- */

static PmStatus add_systems(Work *w, const Args *a, PmErr *err)
{
	PmStr folder = PM_STR_INIT, dir = PM_STR_INIT, name = PM_STR_INIT;
	PmStatus st = a->folder ? PM_OK : pm_self_dir(&dir, err);

	if (a->folder)
		pm_str_add(&folder, a->folder);
	else
		pm_path_join(dir.s, "passes", &folder);
	for (const char *p = a->baselines; *p && !st; p += strcspn(p, ","), p += *p == ',') {
		pm_str_clear(&name);
		pm_str_addn(&name, p, strcspn(p, ","));
		st = pm_bench_add(&w->b, name.s, folder.s, err);
	}
	for (size_t i = 0; i < a->passes.list.n && !st; i++)
		st = pm_bench_add(&w->b, a->passes.list.v[i], folder.s, err);
	pm_str_release(&folder);
	pm_str_release(&dir);
	pm_str_release(&name);
	return st;
}

static PmStatus find_reference(Work *w, const char *name, PmErr *err)
{
	PmSystems *s = &w->b.table;

	for (size_t k = 0; k < s->n; k++)
		if (!strcmp(s->name[k], name)) {
			s->reference = k;
			return PM_OK;
		}
	return pm_err(
		err, PM_E_NOT_FOUND,
		"The reference '%.60s' is not among the systems compared; add it to --baselines, or name one "
		"of them with --against.",
		name);
}

static PmStatus take_task(void *arg, const PmTaskRow *row, PmErr *err)
{
	Work *w = arg;
	int yes = 1;
	PmStatus st = w->suite ? pm_task_is_of_suite(w->b.db, row->id, w->suite, &yes, err) : PM_OK;

	if (st || !yes)
		return st;
	PM_VEC_PUSH(&w->tasks, row->id);
	w->graphs += row->n_variants;
	return PM_OK;
}

static PmStatus find_tasks(Work *w, const Args *a, PmErr *err)
{
	PmStatus st = PM_OK;
	int64_t id;

	for (size_t i = 0; i < a->tasks.list.n && !st; i++) {
		st = pm_task_find(w->b.db, a->tasks.list.v[i], &id, err);
		if (!st)
			st = pm_task_get(w->b.db, id, take_task, w, err);
	}
	if (!a->tasks.list.n)
		st = a->split ? pm_tasks_of_split(w->b.db, a->split, take_task, w, err)
			      : pm_tasks_each(w->b.db, take_task, w, err);
	if (!st && !w->tasks.n)
		st = pm_err(err, PM_E_NOT_FOUND,
			    "Database %s has no task%s%.40s%s%.40s; `passmith db stats` shows its tasks.",
			    a->db, a->split ? " of the split " : "", a->split ? a->split : "",
			    a->suite ? " of the suite " : "", a->suite ? a->suite : "");
	return st;
}

/* ---- which machine ---- */

/* Stored times of two drivers or settings of clocks are not compared: of several machines one has to be
 * named. */
static PmStatus choose_machine(Work *w, const Args *a, PmErr *err)
{
	const char *word = a->machine ? a->machine : "", *found = NULL;
	PmNames all = { 0 };
	PmStr list = PM_STR_INIT;
	size_t n = 0;
	PmStatus st = pm_bench_rankings(&w->b, w->tasks.v, w->tasks.n, a->view && a->runs, &all, err);

	for (size_t i = 0; i < all.n; i++) {
		pm_str_addf(&list, "%s'%.150s'", i ? ", " : "", *all.v[i] ? all.v[i] : "not known");
		if (strstr(all.v[i], word)) {
			found = all.v[i];
			n++;
		}
	}
	if (!st && a->machine && !n)
		st = pm_err(err, PM_E_NOT_FOUND,
			    "Nothing with these options was measured where '%.60s' is said of the machine; "
			    "there is: "
			    "%.400s.",
			    word, all.n ? list.s : "nothing");
	else if (!st && n > 1)
		st = pm_err(err, PM_E_INVALID,
			    "Times of several machines are not compared in one table, and these are stored: "
			    "%.400s. "
			    "Give --machine with words that one of them has and the others have not.",
			    list.s);
	if (!st && found && *found) {
		pm_str_add(&w->ranking, found);
		w->b.eval.ranking = w->ranking.s;
	}
	pm_names_release(&all);
	pm_str_release(&list);
	return st;
}

/* Attempts of --runs are those of this machine. */
static void take_this_machine(Work *w, const char *device)
{
	PmStr machine = PM_STR_INIT;

	pm_run_key_here(device, "", &machine);
	pm_run_key_ranking(machine.s, &w->ranking);
	w->b.eval.ranking = w->ranking.s;
	pm_str_release(&machine);
}

/* ---- what comes out ---- */

static PmStatus put_file(const char *dir, const char *name, const PmStr *text, PmErr *err)
{
	PmStr path = PM_STR_INIT;
	PmStatus st;

	pm_path_join(dir, name, &path);
	st = pm_write_file(path.s, text->s, text->len, err);
	pm_str_release(&path);
	return st;
}

static PmStatus put_folder(const PmSystems *s, const char *dir, PmPreset preset, const PmStr *table,
			   const PmStr *json, PmErr *err)
{
	PmStr es = PM_STR_INIT, speed = PM_STR_INIT;
	PmSysClock clock = pm_systems_main_clock(s);
	PmStatus st = pm_mkdirs(dir, err);

	if (!st)
		st = pm_systems_plot_es(s, clock, preset, 0, &es, err);
	pm_systems_plot_speedups(s, clock, 0, &speed);
	if (!st)
		st = put_file(dir, "bench.json", json, err);
	if (!st)
		st = put_file(dir, "bench.txt", table, err);
	if (!st)
		st = put_file(dir, "es_t.svg", &es, err);
	if (!st)
		st = put_file(dir, "speedup.svg", &speed, err);
	if (!st && !pm_cli_json)
		printf("wrote bench.json, bench.txt, es_t.svg and speedup.svg to %s (plots: %s)\n", dir,
		       pm_sys_clock_name(clock));
	pm_str_release(&es);
	pm_str_release(&speed);
	return st;
}

/* `j` is taken. */
static void put_json(const Work *w, cJSON *j)
{
	if (w->seats)
		cJSON_AddItemToObject(j, "gpus", pm_seats_json(w->seats));
	pm_cli_put_json(j);
}

static PmStatus put(const Work *w, const char *dir, PmPreset preset, PmErr *err)
{
	const PmSystems *s = &w->b.table;
	PmStr table = PM_STR_INIT, json = PM_STR_INIT;
	const int64_t none = 0;
	cJSON *j = NULL;
	PmStatus st = pm_systems_text(s, preset, &table, err);

	if (!st)
		st = pm_systems_json(s, preset, &j, err);
	if (!st)
		st = pm_node_spread_json(w->b.db, w->b.runs.n ? w->b.runs.v : &none, w->b.runs.n, j, err);
	if (!st) {
		pm_json_print(j, 1, &json);
		if (pm_cli_json)
			put_json(w, cJSON_Duplicate(j, 1));
		else
			fputs(table.s, stdout);
		pm_cli_stage("writing");
	}
	if (!st && dir)
		st = put_folder(s, dir, preset, &table, &json, err);
	cJSON_Delete(j);
	pm_str_release(&table);
	pm_str_release(&json);
	return st;
}

static const char *category_of(const PmGraph *g)
{
	return pm_category_name(pm_category_of(g, NULL));
}

/* What evaluations are scored by comes first, as speedups in trajectories are of it. Without any time: what
 * it would be.
 */
static PmSysClock view_clock(const PmSystems *s, const char *device)
{
	static const PmSysClock order[] = { PM_SYS_COLD, PM_SYS_REPLAY, PM_SYS_WALL, PM_SYS_MODELLED };

	for (size_t k = 0; k < sizeof order / sizeof *order; k++)
		if (pm_systems_has_clock(s, order[k]))
			return order[k];
	return pm_device_kind(device) == PM_DEVICE_CUDA ? PM_SYS_COLD : PM_SYS_MODELLED;
}

/* The same results as a published benchmark reports its own. */
static PmStatus put_view(Work *w, const Args *a, PmPreset preset, PmErr *err)
{
	PmField f = { .k = a->k };
	PmView view = pm_view_from_name(a->view);
	PmStr text = PM_STR_INIT;
	cJSON *j = NULL;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < w->tasks.n && !st; i++)
		st = pm_field_add_problem(&f, w->b.db, w->tasks.v[i], category_of, err);
	if (!st)
		st = pm_field_read(&f, &w->b, view_clock(&w->b.table, a->device), err);
	if (!st && a->runs)
		st = pm_field_read_runs(&f, &w->b, err);
	if (!st && pm_cli_json)
		st = pm_field_json(&f, view, a->p, &w->b.table, preset, &j, err);
	else if (!st)
		st = pm_field_text(&f, view, a->p, &w->b.table, preset, &text, err);
	if (!st && pm_cli_json)
		put_json(w, j);
	else if (!st)
		fputs(text.s, stdout);
	pm_str_release(&text);
	pm_field_release(&f);
	return st;
}

/* ---- evaluating ---- */

/* In a process of its own, with its own connection; what it finds stands in the database. */
static PmStatus evaluate_task(void *arg, size_t item, PmStr *out, PmErr *err)
{
	const Work *w = arg;
	PmBench b = w->b;
	PmStatus st = pm_db_open(w->db, PM_DB_MUST_EXIST, &b.db, err);

	(void)out;
	if (w->seats) {
		b.eval.opts.lock = w->clocks[pm_seats_at(w->seats)];
		b.eval.accept = pm_many_accept;
		b.eval.accept_arg = w->seats;
	}
	if (w->tasks.n > 1) /* the bar is the caller's, and of tasks */
		b.eval.step = NULL;
	if (!st)
		st = pm_bench_evaluate(&b, w->tasks.v[item], err);
	pm_db_close(b.db);
	return st;
}

static void task_ended(void *arg, size_t item)
{
	Work *w = arg;
	char name[32];

	snprintf(name, sizeof name, "task %lld", (long long)w->tasks.v[item]);
	pm_heartbeat_step(&w->heart);
	if (w->tasks.n > 1)
		pm_progress_step(&w->bar, name);
}

static void tick(void *arg)
{
	Work *w = arg;

	pm_heartbeat_tick(&w->heart);
}

/* The others go on, and the table has what is there. */
static PmStatus take_task_end(void *arg, size_t item, const PmManyEnd *end, PmErr *err)
{
	Work *w = arg;

	(void)err;
	if (!end->status)
		return PM_OK;
	pm_cli_complain("Task %lld was not evaluated to its end: %s", (long long)w->tasks.v[item], end->why);
	w->code = w->code ? w->code : pm_status_exit_code(end->status);
	return PM_OK;
}

/* Each of n_passes on all tasks. */
static PmStatus evaluate_all(Work *w, const Args *a, size_t n_passes, PmErr *err)
{
	PmMany m = { .n = w->tasks.n,
		     .work = evaluate_task,
		     .ended = task_ended,
		     .take = take_task_end,
		     .tick = tick,
		     .arg = w };
	PmRunningRow row = {
		.pass_path = "", .device = a->device, .stage = "tasks", .total = (int64_t)w->tasks.n
	};
	PmDeviceInfo device = { 0 };
	PmLook *look = pm_look_begin(a->device);
	int64_t most = 0, need;
	int at_once;
	PmStatus st = pm_look_info(look, &device, err);

	if (pm_device_kind(a->device) == PM_DEVICE_CUDA)
		w->b.eval.opts.cc = device.cc;
	if (!st && w->seats)
		st = pm_cli_gpu_locks(w->seats, w->clocks, err);
	else if (!st)
		st = pm_cli_device_lock(a->device, &device, &w->b.eval.opts.lock, err);
	for (size_t i = 0; i < m.n && !st && !a->jobs; i++) {
		st = pm_bench_need(&w->b, w->tasks.v[i], &need, err);
		most = need > most ? need : most;
	}
	at_once = pm_many_jobs(a->jobs, a->device, most);
	m.jobs = device.exclusive ? 1 : (size_t)at_once < m.n ? at_once : (int)m.n;
	w->b.eval.jobs = device.exclusive ? 1 : at_once / m.jobs;
	if (w->seats) {
		m.seats = w->seats;
		m.jobs = device.exclusive ? 1 : pm_many_jobs_each(a->jobs, pm_seats_n(w->seats), most);
		m.jobs *= pm_seats_n(w->seats);
		w->b.eval.jobs = 1;
	}
	if (!st && !pm_cli_quiet)
		pm_progress_start(&w->bar, "evaluating",
				  m.n > 1 ? (int64_t)m.n : w->graphs * (int64_t)n_passes);
	w->b.eval.command = getpid();
	if (!st)
		pm_heartbeat_begin(&w->heart, w->b.db, &row);
	if (!st)
		st = pm_many(&m, err);
	pm_heartbeat_end(&w->heart);
	pm_progress_end(&w->bar);
	for (int i = 0; w->seats && i < pm_seats_n(w->seats); i++)
		pm_rwlock_free(w->clocks[i]);
	pm_rwlock_free(w->b.eval.opts.lock);
	w->b.eval.opts.lock = NULL;
	pm_look_end(look);
	return st;
}

static PmStatus compare(Work *w, const Args *a, PmErr *err)
{
	PmPreset preset = !strcmp(a->preset, "passnet") ? PM_PRESET_PASSNET : PM_PRESET_SOUND;
	size_t n_passes = 0;
	PmStatus st = add_systems(w, a, err);

	if (!st && a->gpus && !a->stored)
		st = pm_cli_gpus(a->gpus, &w->seats, err);
	w->suite = a->suite;
	if (!st)
		st = find_reference(w, a->against, err);
	if (!st)
		st = pm_db_open(a->db, PM_DB_MUST_EXIST, &w->b.db, err);
	if (!st)
		st = find_tasks(w, a, err);
	for (size_t k = 0; k < w->b.table.n; k++)
		n_passes += w->b.system[k].kind == PM_BENCH_PASS;
	w->db = a->db;
	w->b.shapes = a->shapes;
	w->b.eval = (PmEvalTask){ .opts = { .device = a->device,
					    .profile = a->profile,
					    .preset = preset,
					    .seed = (uint64_t)a->seed,
					    .clock_seconds = a->seconds,
					    .deadline = a->deadline,
					    .require_sandbox = !a->weak && !a->stored },
				  .preset = a->preset,
				  .tf32 = a->tf32,
				  .hidden = (int)a->hidden,
				  .step = pm_cli_step,
				  .step_arg = &w->bar };
	if (!st && n_passes && !a->stored)
		st = evaluate_all(w, a, n_passes, err);
	w->b.eval.stored_only = 1;
	w->b.eval.any_machine = a->stored;
	if (!st && a->stored)
		st = choose_machine(w, a, err);
	else if (!st && a->runs && pm_device_kind(a->device) == PM_DEVICE_CUDA)
		take_this_machine(w, a->device);
	w->b.eval.step = NULL;
	for (size_t i = 0; i < w->tasks.n && !st; i++)
		st = pm_bench_task(&w->b, w->tasks.v[i], err);
	if (st)
		return st;
	return a->view ? put_view(w, a, preset, err) : put(w, a->out, preset, err);
}

int pm_cmd_bench(const PmCmd *cmd, int argc, char **argv)
{
	Args a = { .baselines = "eager",
		   .against = "eager",
		   .device = "emu",
		   .preset = "sound",
		   .hidden = PM_HIDDEN_SHAPES,
		   .deadline = PM_EVAL_DEADLINE,
		   .p = NAN,
		   .k = 1 };
	const PmOpt opts[] = {
		{ "--db", PM_OPT_STR, &a.db, "the database with tasks and results" },
		{ "--baselines", PM_OPT_STR, &a.baselines,
		  "systems, with commas: eager, torch-MODE (torch-eager, torch-inductor, ...), timed-NAME "
		  "(imported by `results import`), or a pass by name" },
		{ "--pass", PM_OPT_LIST, &a.passes,
		  "one more system: FILE.so or NAME=FILE.so (several times)" },
		{ "--passes", PM_OPT_STR, &a.folder,
		  "folder of passes given by name (default: beside the program)" },
		{ "--against", PM_OPT_STR, &a.against, "the system that speedups are over (default eager)" },
		{ "--split", PM_OPT_STR, &a.split, "tasks of this split only: eval, train" },
		{ "--suite", PM_OPT_STR, &a.suite, "tasks with this tag `suite` only" },
		{ "--view", PM_OPT_STR, &a.view,
		  "the table as a published benchmark prints it, with its own figures beside: kernelbench, "
		  "multikernelbench, metr or passnet" },
		{ "--runs", PM_OPT_FLAG, &a.runs,
		  "--view: stored evaluations of any pass are attempts, too" },
		{ "-k", PM_OPT_COUNT, &a.k, "--view: samples of pass@k and its relatives (default 1)" },
		{ "-p", PM_OPT_NUM, &a.p, "--view: one more p of fast_p" },
		{ "--shapes", PM_OPT_COUNT, &a.shapes, "the first N shapes of each graph only" },
		{ "--device", PM_OPT_DEVICE, &a.device, "emu (times are modelled) or cuda" },
		{ "--gpus", PM_OPT_STR, &a.gpus,
		  "cuda: all, or numbers and UUIDs with commas (0,2): tasks go to whichever GPU is free" },
		PM_OPT_TARGET_ROW(&a.profile),
		{ "--preset", PM_OPT_STR, &a.preset, "sound (default) or passnet: how scores count" },
		{ "--seconds", PM_OPT_NUM, &a.seconds,
		  "cuda: limit of one graph's measurement (default 20)" },
		{ "--deadline", PM_OPT_NUM, &a.deadline,
		  "seconds that one graph may take with one pass (default 120, 0 = any), as of eval" },
		{ "--seed", PM_OPT_INT, &a.seed,
		  "of the results that are resumed, as of passmith eval (default 0)" },
		{ "--hidden", PM_OPT_COUNT, &a.hidden,
		  "shapes that are drawn now, on which a pass has to be right too (default 2)" },
		{ "--jobs", PM_OPT_COUNT, &a.jobs,
		  "evaluations at once: of several tasks, of the variants of one (default: all processors, "
		  "cuda: up to 4, and what memory has room for); what is timed runs alone" },
		{ "-j", PM_OPT_COUNT, &a.jobs, "the same as --jobs" },
		{ "--stored", PM_OPT_FLAG, &a.stored,
		  "evaluate nothing: a table of what was stored with these options, on any machine" },
		{ "--machine", PM_OPT_STR, &a.machine,
		  "--stored: of the machine of which these words are said (driver=590.48.01), where there "
		  "are "
		  "several" },
		{ "--weak-sandbox", PM_OPT_FLAG, &a.weak,
		  "evaluate also where a layer of the sandbox is missing; the results say so" },
		{ "--tf32", PM_OPT_FLAG, &a.tf32, "cuda: let libraries of the baseline use TF32 for float" },
		{ "-o", PM_OPT_STR, &a.out, "folder for bench.json, bench.txt, es_t.svg and speedup.svg" },
		{ 0 },
	};
	Work w = { .ranking = PM_STR_INIT };
	PmErr err;
	int code = 0;

	pm_err_init(&err);
	if (pm_args_parse(cmd, opts, argc, argv, &a.tasks, &code)) {
		if (!a.db) {
			code = pm_cli_usage(cmd, "Say which database with --db FILE.");
		} else if ((code = pm_cli_eval_words(cmd, a.preset, NULL)) != 0) {
			/* it is said */
		} else if (a.view && pm_view_from_name(a.view) == PM_N_VIEWS) {
			code = pm_cli_usage(
				cmd,
				"There is no view '%.40s'; kernelbench, multikernelbench, metr and passnet "
				"exist.",
				a.view);
		} else if (a.view && a.out) {
			code = pm_cli_usage(cmd, "--view prints one table and takes no -o.");
		} else if (!a.view && (a.runs || a.k != 1 || isfinite(a.p))) {
			code = pm_cli_usage(cmd, "-k, -p and --runs are for a table that --view names.");
		} else if (a.machine && !a.stored) {
			code = pm_cli_usage(cmd,
					    "--machine chooses among stored results: give --stored too.");
		} else if (a.k < 1) {
			code = pm_cli_usage(cmd, "-k takes a number from 1.");
		} else if (a.hidden > PM_MAX_HIDDEN_SHAPES) {
			code = pm_cli_usage(cmd, "--hidden takes a number from 0 to %d.",
					    PM_MAX_HIDDEN_SHAPES);
		} else if (!(code = pm_cli_gpus_usage(cmd, a.gpus, a.device))) {
			if (!a.stored)
				pm_cli_libraries(a.device, a.tf32);
			code = compare(&w, &a, &err) ? pm_cli_fail(&err) : w.code;
		}
	}
	pm_seats_free(w.seats);
	pm_bench_release(&w.b);
	pm_str_release(&w.ranking);
	pm_db_close(w.b.db);
	PM_VEC_RELEASE(&w.tasks);
	PM_VEC_RELEASE(&a.passes.list);
	PM_VEC_RELEASE(&a.tasks.list);
	return code;
}
