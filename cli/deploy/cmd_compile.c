/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_compile.c - passmith compile: a rewritten model as a package that runs without this program. */
#include "cli/cmds.h"

#include "app/compile/compile.h"
#include "base/sys/cpus.h"
#include "cli/arch_list.h"
#include "cli/pass_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SHAPES = 1024, MAX_DIMS = 64 };

typedef struct Shape {
	PmDimSize dim[MAX_DIMS];
	size_t n;
	char *text; /* owned; names lie in it */
} Shape;

typedef struct Args {
	const char *folder, *arch_text, *out, *pieces;
	PmStrList given, shapes;
	double deadline;
	int external, made_up, tune;
	int64_t jobs;
	PmArchList archs;
	PmPassList pass;
	PM_VEC(Shape) shape;
} Args;

/* "batch=4,seq=128"; 0 when it is not of that form. */
static int add_shape(Args *a, const char *text)
{
	Shape s = { .text = pm_xstrdup(text) };
	char *rest = s.text;
	int ok = 1;

	for (char *part; (part = strsep(&rest, ",")) && ok;) {
		char *eq = strrchr(part, '=');
		int64_t size = 0;

		ok = eq && eq > part && s.n < MAX_DIMS && pm_parse_i64(eq + 1, &size) && size >= 0;
		if (!ok)
			break;
		*eq = '\0';
		s.dim[s.n++] = (PmDimSize){ part, size };
	}
	PM_VEC_PUSH(&a->shape, s);
	return ok;
}

/* ---- what is printed ---- */

static void put_json(const Args *a, const char *model, const PmCompiled *c)
{
	cJSON *o = cJSON_CreateObject(), *list;

	cJSON_AddStringToObject(o, "model", model);
	cJSON_AddStringToObject(o, "out", a->out);
	cJSON_AddStringToObject(o, "digest", c->digest);
	pm_json_add_i64(o, "bytes", c->bytes);
	pm_json_add_i64(o, "weight_bytes", c->weight_bytes);
	pm_json_add_i64(o, "external_bytes", c->external_bytes);
	pm_json_add_i64(o, "constants", (int64_t)c->n_constants);
	pm_json_add_i64(o, "made_up_weights", (int64_t)c->n_made_up);
	pm_json_add_i64(o, "kernels", (int64_t)c->n_units);
	pm_json_add_i64(o, "tuned", (int64_t)c->n_tuned);
	list = cJSON_AddArrayToObject(o, "shapes");
	for (size_t k = 0; k < c->shape.n; k++) {
		cJSON *s = cJSON_CreateObject(), *sizes = cJSON_AddObjectToObject(s, "sizes");

		for (size_t i = 0; k < a->shape.n && i < a->shape.v[k].n; i++)
			pm_json_add_i64(sizes, a->shape.v[k].dim[i].name, a->shape.v[k].dim[i].size);
		pm_json_add_i64(s, "fused", c->shape.v[k].applied);
		pm_json_add_i64(s, "launches", (int64_t)c->shape.v[k].launches);
		pm_json_add_i64(s, "arena_bytes", c->shape.v[k].arena);
		cJSON_AddItemToArray(list, s);
	}
	pm_cli_put_json(o);
}

static void put_text(const Args *a, const PmCompiled *c)
{
	for (size_t k = 0; k < c->shape.n; k++) {
		const PmCompiledShape *s = &c->shape.v[k];

		printf("  shape");
		for (size_t i = 0; k < a->shape.n && i < a->shape.v[k].n; i++)
			printf("%s %s=%lld", i ? "," : "", a->shape.v[k].dim[i].name,
			       (long long)a->shape.v[k].dim[i].size);
		printf("%s: %lld fused node%s, %zu launch%s, %.2f MB of intermediates\n",
		       a->shape.n ? "" : " of the model", (long long)s->applied,
		       pm_plural((uint64_t)s->applied), s->launches, s->launches == 1 ? "" : "es",
		       (double)s->arena / 1e6);
	}
	printf("%s: %.2f MB, %zu kernel%s, %zu constant%s of %.2f MB", a->out, (double)c->bytes / 1e6,
	       c->n_units, pm_plural(c->n_units), c->n_constants, pm_plural(c->n_constants),
	       (double)(c->weight_bytes + c->external_bytes) / 1e6);
	if (c->n_made_up)
		printf(", %zu of them made up", c->n_made_up);
	if (a->tune)
		printf(", %zu call%s of libraries tuned", c->n_tuned, pm_plural(c->n_tuned));
	printf("\nsha256:%.16s\n", c->digest);
}

/* ---- the command ---- */

/* Reading is over when the first other work begins. */
static void (*show_work)(void *arg, const char *what, int64_t total);

static void begin_work(void *arg, const char *what, int64_t total)
{
	pm_cli_stage("working");
	if (show_work)
		show_work(arg, what, total);
}

static PmStatus run(Args *a, const char *model, PmCompiled *c, PmErr *err)
{
	PmCompileShape *shapes = pm_xcalloc(a->shape.n + 1, sizeof *shapes);
	PmProgress bar = { 0 };
	PmCompileAsk ask = { .model = model,
			     .deadline = a->deadline,
			     .shape = shapes,
			     .n_shapes = a->shape.n,
			     .emu = a->archs.emu,
			     .cc = a->archs.cc,
			     .n_cc = a->archs.n_cc,
			     .external = a->external,
			     .made_up = a->made_up,
			     .tune = a->tune,
			     .pieces = a->pieces,
			     .jobs = a->jobs ? (int)a->jobs : pm_cpus_unpinned_count(),
			     .watch = pm_cli_watch(&bar) };
	PmStatus st = PM_OK;

	for (size_t k = 0; k < a->shape.n; k++)
		shapes[k] = (PmCompileShape){ a->shape.v[k].dim, a->shape.v[k].n };
	if (a->folder || a->given.list.n)
		st = pm_pass_list_make(&a->given, a->folder, &a->pass, err);
	ask.pass = (const char *const *)a->pass.path.v;
	ask.n_pass = a->pass.path.n;
	show_work = ask.watch.begin;
	ask.watch.begin = begin_work;
	pm_cli_stage("reading");
	if (!st)
		st = pm_compile(&ask, a->out, c, err);
	free(shapes);
	return st;
}

/* What is wrong with the line; 0 when nothing is. */
static int check_args(const PmCmd *cmd, Args *a, const PmStrList *files)
{
	int code;

	if (files->list.n != 1 || !a->out)
		return pm_cli_usage(cmd, "compile takes one model and -o OUT.pmz.");
	code = pm_arch_list(cmd, a->arch_text, &a->archs);

	if (code)
		return code;
	if (a->tune && !a->archs.n_cc)
		return pm_cli_usage(cmd, "--tune is for GPUs; give --arch sm_90 or the like, too.");
	if (a->shapes.list.n > MAX_SHAPES)
		return pm_cli_usage(cmd, "compile takes at most %d shapes.", MAX_SHAPES);
	for (size_t i = 0; i < a->shapes.list.n; i++)
		if (!add_shape(a, a->shapes.list.v[i]))
			return pm_cli_usage(cmd, "'--shape %.60s' is not NAME=SIZE, or several with commas.",
					    a->shapes.list.v[i]);
	return 0;
}

static void release(Args *a)
{
	for (size_t i = 0; i < a->shape.n; i++)
		free(a->shape.v[i].text);
	PM_VEC_RELEASE(&a->shape);
	pm_pass_list_release(&a->pass);
	PM_VEC_RELEASE(&a->given.list);
	PM_VEC_RELEASE(&a->shapes.list);
}

int pm_cmd_compile(const PmCmd *cmd, int argc, char **argv)
{
	Args args = { .deadline = 60 };
	const PmOpt opts[] = {
		{ "--passes", PM_OPT_STR, &args.folder, "a folder of passes: every *.so in it, by name" },
		{ "--pass", PM_OPT_LIST, &args.given,
		  "a pass (may be given several times); these come first" },
		{ "--arch", PM_OPT_STR, &args.arch_text,
		  "LIST  what to compile kernels for: emu, sm_80, sm_90, ... (default emu)" },
		{ "--shape", PM_OPT_LIST, &args.shapes,
		  "NAME=SIZE,...  sizes to specialise for (may be given several times)" },
		{ "--pieces", PM_OPT_STR, &args.pieces,
		  "SYMBOL  make runs of other sizes of it of runs of the shapes" },
		{ "-o", PM_OPT_STR, &args.out, "where to write the package" },
		{ "--external-weights", PM_OPT_FLAG, &args.external,
		  "leave weights in the files of the model that hold them" },
		{ "--made-up-weights", PM_OPT_FLAG, &args.made_up,
		  "pack made-up numbers for weights that are not at hand" },
		{ "--tune", PM_OPT_FLAG, &args.tune,
		  "try algorithms of libraries on this machine's GPU and keep which is the fastest" },
		PM_OPT_TARGET_ROW(NULL),
		{ "--deadline", PM_OPT_NUM, &args.deadline, "seconds each pass may take (default 60)" },
		{ "-j", PM_OPT_COUNT, &args.jobs,
		  "processes that compile kernels (default: one per processor)" },
		{ 0 },
	};
	PmStrList files = { 0 };
	PmCompiled c = { 0 };
	PmErr err;
	int code = 0;

	pm_err_init(&err);
	if (pm_args_parse(cmd, opts, argc, argv, &files, &code)) {
		code = check_args(cmd, &args, &files);
		if (!code && run(&args, files.list.v[0], &c, &err))
			code = pm_cli_fail(&err);
		else if (!code && pm_cli_json)
			put_json(&args, files.list.v[0], &c);
		else if (!code)
			put_text(&args, &c);
	}
	pm_compiled_release(&c);
	release(&args);
	PM_VEC_RELEASE(&files.list);
	return code;
}
