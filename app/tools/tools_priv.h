/* SPDX-License-Identifier: Apache-2.0 */
/* tools_priv.h - what the parts of app/tools share: the session, runs, calls, the workspace. */
#ifndef APP_TOOLS_PRIV_H
#define APP_TOOLS_PRIV_H

#include "app/tools/tools.h"
#include "base/core/vec.h"
#include "base/sys/child.h"
#include "base/sys/io.h"
#include "dataset/store/db.h"
#include "ir/core/graph.h"

enum {
	PM__ANSWER_MAX = 16 * 1024, /* bytes of an answer as text */
	PM__FILE_MAX = 1 << 20,     /* of one of the author's files */
	PM__FILES_MAX = 1000,       /* files that a workspace may have */
	PM__WAIT_MAX = 600,
};
#define PM__ANEW       "submit judges anew, with other inputs and hidden shapes than any evaluate before it."
#define PM__GET_WAIT   10.0 /* that get_run waits */
#define PM__FIRST_WAIT 0.8  /* seconds after which a call answers with the handle of its run */

typedef enum { PM__RUNNING, PM__DONE, PM__FAILED, PM__CANCELLED } PmRunState;

typedef struct PmToolRun PmToolRun;
/* What comes after a child: starts the next one (pm__run_start) or ends the run (pm__run_answer,
 * pm__run_fail). `j` is what the child printed, borrowed. */
typedef void (*PmRunNext)(PmTools *t, PmToolRun *r, const cJSON *j);
/* Begins the work of a run whose turn has come. */
typedef void (*PmRunTurn)(PmTools *t, PmToolRun *r);

struct PmToolRun {
	int number;
	char handle[16]; /* "r3" */
	char tool[32];
	PmRunState state;
	int is_error;
	cJSON *args;    /* owned: of the call that began it */
	cJSON *answer;  /* owned: once it has ended */
	cJSON *report;  /* owned: what a command printed, for the file; see pm__run_keep */
	cJSON *partial; /* owned: an answer to which the child that runs adds */
	PmChild *child;
	PmRunNext next, after; /* when the child ends; once the pass is built */
	int whole, submits;    /* all variants are evaluated; and stored */
	double deadline;       /* seconds that a variant may take; 0 = as passmith eval has it */
	int built;             /* its object was built where it is kept */
	double newest;         /* time of the newest source when it was asked for; 0 = there is none */
	int step;              /* a step was taken for it, and is given back unless it was judged */
	double judged;         /* when its evaluation began; 0 = not yet */
	PmRunTurn turn;        /* it waits for its turn (pm__queue); NULL = it does not */
	int judges;            /* its turn has come: it is the whole evaluation that runs */
	int lock;              /* descriptor by which others see that its session lives; -1 */
	double began, seconds;
	double done, total; /* how far it is; total 0 = not known */
	cJSON *so_far;      /* owned: lines of `passmith eval --progress`, in their order; NULL = none yet */
	int64_t read;       /* bytes of them that were read */
	double heard;       /* when the last came */
	PM_VEC(double)
	work; /* of a whole evaluation of a task: of each variant, by number; empty = not known */
	char words[240];
	unsigned told; /* counts what was told, for pm_tool_progress */
	/* What an evaluation is of. */
	PmStr so;        /* path of the built pass in the workspace */
	PmStr target;    /* what `passmith eval` or `explain` takes */
	PmStr label;     /* of the one variant, where one is named */
	PmStr key;       /* by which the best so far is kept */
	int64_t task;    /* id; 0 = of no task */
	int64_t variant; /* number; -1 = all, or the model as written */
	cJSON *graphs;   /* owned: of pm__run_graphs; NULL = no variant stands for a task */
	int graph;       /* place of the one that explain looks at */
};

struct PmTools {
	char *db_path, *workspace, *device, *gpus;
	int64_t steps;
	double deadline_s;
	PmDb *db; /* NULL: none was given */
	int dir;  /* the workspace */
	char *program, *root;
	PM_VEC(PmToolRun *) runs;
	PM_VEC(PmToolCall *) calls;
	cJSON *best; /* key: {run, ...} */
};

struct PmToolCall {
	PmTools *t;
	char tool[32];
	cJSON *answer;
	int is_error;
	PmToolRun *run; /* that it waits for */
	int own;        /* the run was begun for this call */
	double until;
	unsigned seen;
};

/* ---- answers ---- */

/* Each tool: NULL with *run for what takes long, or an answer. */
typedef cJSON *(*PmToolFn)(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error);
/* {"error": sentence}, and sets *is_error. */
cJSON *pm__error(int *is_error, const char *fmt, ...) PM_PRINTF(2, 3);
cJSON *pm__error_of(int *is_error, const PmErr *err);
/* Cuts lists and texts of an answer until it is at most PM__ANSWER_MAX bytes as text. What was cut is said in
 * `left_out`, with the URI where the rest is (NULL = nowhere). */
void pm__fit(cJSON *answer, const char *uri);
const char *pm__arg(const cJSON *args, const char *name); /* a text, or NULL */
/* The member of that name, where `from` has it, is copied into `to`. */
void pm__json_copy(cJSON *to, const cJSON *from, const char *name);
/* Bytes that it takes as one line of text. */
size_t pm__json_bytes(const cJSON *j);

/* ---- runs ---- */

/* A new run of a tool; its handle is taken in the workspace too. NULL and an answer in *fail. */
PmToolRun *pm__run_new(PmTools *t, const char *tool, const cJSON *args, cJSON **fail, int *is_error);
/* Starts `passmith argv...` (NULL at the end; --json is added) for it. A failure ends the run. */
void pm__run_start(PmTools *t, PmToolRun *r, const char *const *argv, PmRunNext next);
/* Keeps a copy of this for the run's file. */
void pm__run_keep(PmToolRun *r, const cJSON *report);
/* Ends it with an answer (taken); `run` and `state` are put into it. */
void pm__run_answer(PmTools *t, PmToolRun *r, cJSON *answer, int is_error);
void pm__run_fail(PmTools *t, PmToolRun *r, const char *fmt, ...) PM_PRINTF(3, 4);
void pm__run_cancel(PmTools *t, PmToolRun *r);
/* What it is at, in words. */
void pm__run_say(PmToolRun *r, const char *words);
/* Looks at the child. */
void pm__run_step(PmTools *t, PmToolRun *r);
PmToolRun *pm__run_find(PmTools *t, const char *handle);
/* {"run", "state": "running", ...}: as long as it has not ended. */
cJSON *pm__run_status(const PmTools *t, const PmToolRun *r);
/* The file of a run of this workspace, of an earlier session too: {run, tool, state, answer, report...}. NULL
 * when there is none. A run whose session is gone is "lost". */
cJSON *pm__run_read(const PmTools *t, const char *handle);
void pm__run_free(PmToolRun *r);

/* ---- whole evaluations ---- */

/* The built object of a whole evaluation (r->so) is kept as it is now, below .runs, and `turn` is called when
 * no other one runs: at once, or once those that were asked for before have ended. A failure ends the run. */
void pm__queue(PmTools *t, PmToolRun *r, PmRunTurn turn);
/* Calls the next one's turn where it has come. */
void pm__queue_step(PmTools *t);
/* 1 when pm__queue_step has something to begin. */
int pm__queue_ready(const PmTools *t);
/* Where a whole evaluation keeps its object, as a path of the workspace; appended. */
void pm__kept_object(const PmToolRun *r, PmStr *rel);
/* Its object was built there: it is the pass's object in the workspace too, unless the sources in `folder`
 * are newer than `newest`. */
PmStatus pm__publish_object(const PmTools *t, const PmToolRun *r, const char *folder, double newest,
			    PmErr *err);
/* Keeps the sources of a folder ("" = the workspace) as they are, below .runs; of its .c files `only` this
 * one (NULL = all). */
PmStatus pm__keep_sources(const PmTools *t, const PmToolRun *r, const char *folder, const char *only,
			  PmErr *err);

/* The file of a whole evaluation for `passmith eval --progress`, in the workspace. */
void pm__so_far_path(const PmToolRun *r, char path[64]);
/* Reads what was added to it: 1 when something was, and how far the run is in words is appended. */
int pm__so_far_read(const PmTools *t, PmToolRun *r, PmStr *words);
/* Seconds that a whole evaluation still takes, at the time `now`: the work of what is left, at the pace of
 * what was evaluated (work over its seconds). NAN = not known: fewer than two were evaluated, none is left,
 * or it takes longer than that. */
double pm__seconds_left(const PmToolRun *r, double now);
/* Adds `progress`, `so_far` and `seconds_left`; nothing when nothing is known. */
void pm__so_far_add(const PmTools *t, const PmToolRun *r, cJSON *j);

/* ---- the workspace ---- */

/* Opens a file of the workspace by a path that does not leave it, with the flags of open(2). -1 and a
 * sentence. */
int pm__ws_open(const PmTools *t, const char *path, int flags, PmErr *err);
/* PM_OK when it may be a path of the workspace. */
PmStatus pm__ws_path(const char *path, PmErr *err);
PmStatus pm__ws_read(const PmTools *t, const char *path, PmStr *out, PmErr *err);
/* Makes the folders that are missing. */
PmStatus pm__ws_write(const PmTools *t, const char *path, const void *p, size_t n, int *is_new, PmErr *err);
/* 1 a file, 2 a folder, 0 none or not to be reached. */
int pm__ws_kind(const PmTools *t, const char *path);
/* The modification time of a file or folder, and of the newest source in a folder ("" = the workspace); 0 =
 * none. */
double pm__ws_time(const PmTools *t, const char *path);
double pm__ws_sources_time(const PmTools *t, const char *folder);
/* Names of the sources in a folder: C and CUDA, and their headers. Release with pm_names_release. */
PmStatus pm__ws_sources(const PmTools *t, const char *folder, PmNames *out, PmErr *err);

/* ---- targets ---- */

/* What `task` and `variant`, or `model`, of the arguments name, into r->target, r->label, r->key and r->task.
 * `whole`: all variants of a task (a pack), else the one variant as a file. */
PmStatus pm__target(PmTools *t, PmToolRun *r, int whole, PmErr *err);
/* Makes another variant of the run's task that which r->target, r->label, r->key and r->variant name. */
PmStatus pm__target_variant(PmTools *t, PmToolRun *r, int64_t number, PmErr *err);
/* "variant 3 (shape 1, float) of graph 0; ...": what of the task was looked at and what was not; "" when the
 * caller named a variant or a model. Appended. */
void pm__say_looked_at(const PmToolRun *r, PmStr *out);
/* The file of a model: of the workspace, or bundled ("llama_block.gpt"); appended. */
PmStatus pm__model_path(const PmTools *t, const char *name, PmStr *out, PmErr *err);
PmStatus pm__task_id(const PmTools *t, const char *task, int64_t *id, PmErr *err);
/* The pass of the arguments: a source, or a built object; its object is r->so. A source that is newer is
 * built, which ends the run when it fails, and then `then` is called with j = NULL. With `always` it is built
 * in any case, and `then` gets what the build said. */
PmStatus pm__with_pass(PmTools *t, PmToolRun *r, int always, PmRunNext then, PmErr *err);

/* ---- what can be read ---- */

/* A text that is a resource of the installation; borrowed. */
typedef struct PmShelved {
	const char *as, *name; /* its URI is passmith://, these two: "docs/guide/", "agents.md" */
	const char *mime, *what;
	const char *text; /* "" where it is longer than PM__FILE_MAX */
} PmShelved;
/* Calls fn for each, always in the same order: guides, reference, design, headers, models, passes, and by
 * name among these. */
typedef void (*PmShelfFn)(void *arg, const PmShelved *x);
void pm__shelf_each(const PmTools *t, PmShelfFn fn, void *arg);

/* ---- the tools ---- */

cJSON *pm__tool_list_tasks(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error);
cJSON *pm__tool_show_task(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error);
cJSON *pm__tool_show_graph(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error);
cJSON *pm__tool_search_docs(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error);
cJSON *pm__tool_show_api(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error);
cJSON *pm__tool_exemplars(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error);
cJSON *pm__tool_list_files(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error);
cJSON *pm__tool_read_file(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error);
cJSON *pm__tool_write_file(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error);
cJSON *pm__tool_edit_file(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error);
cJSON *pm__tool_new_pass(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error);
cJSON *pm__tool_build(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error);
cJSON *pm__tool_check(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error);
cJSON *pm__tool_explain(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error);
cJSON *pm__tool_evaluate(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error);
cJSON *pm__tool_profile(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error);
cJSON *pm__tool_disassemble(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error);
cJSON *pm__tool_submit(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error);
cJSON *pm__tool_get_run(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error);
cJSON *pm__tool_cancel_run(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error);
cJSON *pm__tool_compare(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error);
cJSON *pm__tool_leaderboard(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error);

/* What the answer to `passmith eval --json` says to an author (eval_answer.c). Returns owned. */
cJSON *pm__eval_answer(PmTools *t, PmToolRun *r, const cJSON *report);

/* Of a list of records; borrowed from it. */
typedef struct PmEvalSum {
	int n;
	const cJSON *wrong, *slowest; /* what has to be mended first; the least speedup of what is right */
	int wrong_at, slowest_at;     /* their places in the list */
	double log_speed;             /* of what is right and timed */
	int n_speed;
} PmEvalSum;
void pm__eval_sum(const cJSON *records, PmEvalSum *s);
/* How bad a verdict is: 0 = OK. */
int pm__weight(const char *verdict);
/* What moving inputs and outputs once would take, over what a record's variant takes; 0 = its time is not of
 * the model that this is of, or not known. */
double pm__roofline_share(const PmTools *t, const PmToolRun *r, const cJSON *rec, int number);
/* Takes from `score_terms` of an answer what the variants' own rooflines do not allow, and says in `next`
 * when all are there (limits.c). `records`: of the report. */
void pm__eval_limits(const PmTools *t, const PmToolRun *r, const cJSON *records, cJSON *answer);
/* The number of a record's variant. `at`: its place. */
int pm__eval_number(const PmToolRun *r, const cJSON *rec, int at);
/* The first wrong element and the worst, and how far beyond what rounding explains the worst is. NULL = the
 * record has no failure. */
cJSON *pm__failure(const PmToolRun *r, const cJSON *rec);
/* Records by what they say, the worst first: what says the same has one, with the numbers of its `variants`.
 * `said` is a reason that need not be said again. Returns owned. */
cJSON *pm__eval_records(const PmTools *t, const PmToolRun *r, const cJSON *records, const char *said);
/* How many end in each way. Returns owned. */
cJSON *pm__eval_verdicts(const cJSON *records);
cJSON *pm__eval_slowest(const PmTools *t, const PmToolRun *r, const PmEvalSum *s);

/* ---- the best so far (best.c) ---- */

/* Adds `best_so_far` to an answer, and keeps what is better. */
void pm__best_compare(PmTools *t, const PmToolRun *r, const cJSON *records, cJSON *answer);
/* The handle of the best of what an answer is of; "" = none. */
const char *pm__best_run(const PmTools *t, const cJSON *answer);
/* 1 better, 0 the same within what a re-run of either may differ by, -1 worse. Noise: half the width of the
 * interval of a value's logarithm; 0 = it has none, and what is the same to three digits is the same. */
int pm__best_change(double before, double noise_before, double value, double noise);
/* Half the width of the interval of the logarithm of a record's speedup, and of the value of an answer that
 * has these records; 0 = nothing was measured. */
double pm__record_noise(const cJSON *rec);
double pm__best_noise(const cJSON *records);
/* Keeps how long a whole evaluation took; and how long the last one of the same took, 0 = none. */
void pm__best_put_seconds(PmTools *t, const PmToolRun *r, double seconds);
double pm__best_seconds(const PmTools *t, const PmToolRun *r);
/* What the records that are finished say, which have a member `number`. Returns owned. */
cJSON *pm__eval_so_far(const PmTools *t, const PmToolRun *r, const cJSON *records);
/* The same of `passmith build`; *ok may be NULL. */
cJSON *pm__build_answer(const PmTools *t, const cJSON *j, int *ok);
/* What a graph's time is and could be (tool_tasks.c): launches, bytes, roofline. NULL when it cannot be
 * planned.
 */
cJSON *pm__worth(const PmGraph *g, int dtype);
/* The distinct graphs of a task as an array, each with its variants and what differs from the first
 * (task_graphs.c; members in tools.json). `uri` says where all texts are. The graph and the element type of
 * the first variant go to *first (owned; NULL when there is none) and *dtype; the array is owned, also after
 * an error. */
PmStatus pm__task_graphs(const PmTools *t, int64_t task, const char *uri, cJSON **out, PmGraph **first,
			 int *dtype, PmErr *err);
/* Where one variant stands for the run's task, r->graphs: the distinct graphs in the order of
 * pm__task_graphs,
 * [{"graph": place, "variants": "0-2,7", "number"}]. The number is that of one variant of the graph:
 * r->variant in the one that has it, else the first. To be called after pm__target. */
PmStatus pm__run_graphs(const PmTools *t, PmToolRun *r, PmErr *err);
/* The same as text, with a line for each variant: number, element type, shapes of the inputs. Appended. */
PmStatus pm__task_text(const PmTools *t, int64_t task, PmStr *out, PmErr *err);
/* The graph of the arguments: a task's variant (0 unless one is named), or a model. Returns owned in *out. */
PmStatus pm__graph_of(const PmTools *t, const cJSON *args, PmGraph **out, PmErr *err);
/* Seconds that the best pass takes on a variant of what the run is of, by the same model; 0 = not known. */
double pm__roofline(const PmTools *t, const PmToolRun *r, int number);
/* Ends a run whose pass does not compile; takes that answer. */
void pm__not_built(PmTools *t, PmToolRun *r, cJSON *build);
/* The rules of one result of `passmith explain`: what matched, declined, and came near. Returns owned. */
cJSON *pm__rules_answer(const cJSON *one);
/* Starts `passmith explain` for the built pass on what the run is of; `next` gets what it printed. */
void pm__explain_start(PmTools *t, PmToolRun *r, PmRunNext next);
/* The pass of a run of explain is built: it goes on. `j` is not read. */
void pm__explain_built(PmTools *t, PmToolRun *r, const cJSON *j);

#endif
