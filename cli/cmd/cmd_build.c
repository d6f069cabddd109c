/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_build.c - passmith build: a pass and its kernels, compiled. */
#include "cli/cmds.h"

#include "app/author/build_kernels.h"
#include "app/author/messages.h"
#include "base/core/str.h"
#include "base/sys/io.h"
#include "matcher/host/build.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct Build {
	const char *source;
	int no_kernels, sandbox;
	PmStr so;
	PmMessages messages;
	PmBuiltKernels kernels;
} Build;

/* The object first: what it holds says which texts are carried. */
static PmStatus compile(Build *b, PmErr *err)
{
	PmStr log = PM_STR_INIT;
	PmStatus st = b->sandbox ? pm_pass_build_boxed(b->source, b->so.s, &log, err)
				 : pm_pass_build(b->source, b->so.s, &log, err);
	size_t n;

	pm_messages_of_c(log.s, &b->messages);
	if (st == PM_E_INVALID && !pm_messages_errors(&b->messages))
		pm_messages_add(&b->messages, NULL, 0, 0, "error", log.s, strcspn(log.s, "\n"));
	pm_str_release(&log);
	n = pm_messages_errors(&b->messages);
	if (!st && !b->no_kernels) {
		pm_cli_stage("compiling kernels");
		st = pm_build_kernels(b->source, b->so.s, &b->messages, &b->kernels, err);
	}
	n = pm_messages_errors(&b->messages) - n;
	if (!st && n)
		st = pm_err(err, PM_E_INVALID,
			    "%zu error%s in the kernels of %s, by %s; the messages are above.", n,
			    n == 1 ? "" : "s", b->source, b->kernels.by.s);
	return st;
}

static void say_kernels(const Build *b)
{
	const PmBuiltKernels *k = &b->kernels;

	if (k->compiled)
		printf("kernels: %d source%s compiled, by %s\n", k->compiled, k->compiled == 1 ? "" : "s",
		       k->by.s);
	if (k->unknown)
		printf("kernels: of %d text%s it is not known before a match what source %s part of; eval "
		       "compiles "
		       "that\n",
		       k->unknown, k->unknown == 1 ? "" : "s", k->unknown == 1 ? "it is" : "they are");
}

static cJSON *answer(const Build *b, int ok)
{
	cJSON *j = cJSON_CreateObject(), *k;

	cJSON_AddBoolToObject(j, "ok", ok);
	cJSON_AddStringToObject(j, "file", b->so.s);
	cJSON_AddItemToObject(j, "messages", pm_messages_json(&b->messages));
	k = cJSON_AddObjectToObject(j, "kernels");
	cJSON_AddNumberToObject(k, "compiled", b->kernels.compiled);
	cJSON_AddNumberToObject(k, "unknown", b->kernels.unknown);
	if (b->kernels.by.len)
		cJSON_AddStringToObject(k, "compiler", b->kernels.by.s);
	else
		cJSON_AddNullToObject(k, "compiler");
	return j;
}

static int build(Build *b)
{
	PmStr text = PM_STR_INIT;
	PmStatus st;
	PmErr err;
	int code = 0, had = pm_path_exists(b->so.s);

	pm_err_init(&err);
	pm_cli_stage("compiling");
	st = compile(b, &err);
	pm_messages_print(&b->messages, &text);
	fputs(text.s, stderr);
	if (st) {
		/* A pass that does not compile is the answer "no", not a broken input of ours. */
		pm_cli_complain("%s", err.text);
		/* An object of the source before would be taken for one of this source. */
		if (st == PM_E_INVALID && !unlink(b->so.s) && had)
			fprintf(stderr, "%s of an earlier build is removed.\n", b->so.s);
		code = st == PM_E_INVALID ? 1 : pm_status_exit_code(st);
	}
	if (pm_cli_json) {
		pm_cli_put_json(answer(b, st == PM_OK));
	} else if (!st) {
		printf("%s\n", b->so.s);
		say_kernels(b);
		printf("next: passmith check %s\n", b->so.s);
	}
	pm_str_release(&text);
	return code;
}

int pm_cmd_build(const PmCmd *cmd, int argc, char **argv)
{
	const char *out = NULL;
	Build b = { .so = PM_STR_INIT, .kernels = { .by = PM_STR_INIT } };
	const PmOpt opts[] = {
		{ "-o", PM_OPT_STR, &out,
		  "shared object to write (default: PASS.so beside PASS.c, or beside the folder PASS)" },
		{ "--no-kernels", PM_OPT_FLAG, &b.no_kernels, "leave the kernels for eval to compile" },
		{ "--sandbox", PM_OPT_FLAG, &b.sandbox,
		  "compile where only the SDK, system headers and the pass's own folder can be read" },
		{ 0 },
	};
	PmStrList files = { 0 };
	int code = 0;

	if (pm_args_parse(cmd, opts, argc, argv, &files, &code)) {
		if (files.list.n != 1) {
			code = pm_cli_usage(cmd, "build takes one pass.");
		} else {
			b.source = files.list.v[0];
			if (out)
				pm_str_add(&b.so, out);
			else
				pm_str_addf(&b.so, "%.*s.so",
					    (int)(strlen(b.source) - (pm_str_ends(b.source, ".c") ? 2 : 0)),
					    b.source);
			code = build(&b);
		}
	}
	pm_messages_release(&b.messages);
	pm_str_release(&b.so);
	pm_str_release(&b.kernels.by);
	PM_VEC_RELEASE(&files.list);
	return code;
}
