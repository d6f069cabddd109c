/* SPDX-License-Identifier: Apache-2.0 */
/* eval_options.h - options that commands which evaluate have in common. */
#ifndef CLI_EVAL_OPTIONS_H
#define CLI_EVAL_OPTIONS_H

#include "cli/args.h"

/* 0, or the exit code after a sentence about the first that is no word of its option; NULL = not an option of
 * the command. */
int pm_cli_eval_words(const PmCmd *cmd, const char *preset, const char *reference);
/* Processes for the variants of one task: `asked` (0 = not asked), else all processors on emu; on a GPU
 * three, for the graph and two hidden shapes, each of which holds a part of the device. */
int pm_cli_eval_jobs(int64_t asked, const char *device);

#endif
