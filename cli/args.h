/* SPDX-License-Identifier: Apache-2.0 */
/* args.h - command lines: options by table, positional arguments, help. */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include "base/core/err.h"
#include "base/core/vec.h"
#include "cli/answer.h"

#include <stdint.h>

typedef enum {
	PM_OPT_FLAG,
	PM_OPT_STR,
	PM_OPT_INT,   /* any integer: a seed */
	PM_OPT_COUNT, /* an integer from 0 */
	PM_OPT_NUM,   /* seconds: a number from 0 */
	PM_OPT_LIST,
	PM_OPT_DEVICE,     /* text: a device that runs kernels */
	PM_OPT_ANY_DEVICE, /* or ref */
	PM_OPT_TARGET, /* text: a name of pm_target_choose, which is called; `to` may be NULL, and gets the
			* name of the target that it is */
	PM_OPT_TYPES   /* stated (0) or infer (1) */
} PmOptKind;

typedef struct PmStrList {
	PM_VEC(const char *) list; /* borrowed: from argv, or of pm_args_words */
} PmStrList;

typedef struct PmOpt {
	const char *name; /* "--device"; a one-letter "-o" stands alone */
	PmOptKind kind;
	void *to;         /* int *, const char **, int64_t *, double *, PmStrList * */
	const char *help; /* "DEVICE  where to run: ..." */
} PmOpt;

typedef struct PmCmd {
	const char *name, *args, *summary, *example;
	int (*run)(const struct PmCmd *cmd, int argc, char **argv); /* argv without the command's name */
} PmCmd;

/* What every command understands, beside --json (cli/answer.h). */
extern int pm_cli_quiet;

/* Parses argv into the table's places; the rest goes to `positional`. --help prints and gives 0 in
 * *exit_code. Returns 1 to go on, 0 to leave with *exit_code (2 after a usage error, whose sentence was
 * printed). */
int pm_args_parse(const PmCmd *cmd, const PmOpt *opts, int argc, char **argv, PmStrList *positional,
		  int *exit_code);

/* The GPU that a command rewrites for: as a row of its options. Without the option a command that has
 * --device takes what that device is (pm_target_choose). */
#define PM_OPT_TARGET_ROW(to_)                                                                               \
	{                                                                                                    \
		"--target", PM_OPT_TARGET, (to_),                                                            \
			"GPU that kernels are written for and times are modelled of: h200 (default; with "   \
			"--device cuda that GPU), h100, a100, rtx4090, l4, or device: this machine's"        \
	}

/* Adds the words of "A,B" (NULL = none) to *out; they lie in the text that is returned, which is owned. */
char *pm_args_words(const char *text, PmStrList *out);

/* A usage error: says one sentence and how to get help; returns 2. */
int pm_cli_usage(const PmCmd *cmd, const char *fmt, ...) PM_PRINTF(2, 3);
/* PM_E_NOT_FOUND for a file that is not there, which is no verdict on a pass. */
PmStatus pm_cli_pass_is_there(const char *so, PmErr *err);

#endif
