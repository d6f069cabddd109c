/* SPDX-License-Identifier: Apache-2.0 */
/* arch_list.h - what to compile kernels for, as --arch names it: "emu,sm_90". */
#ifndef CLI_ARCH_LIST_H
#define CLI_ARCH_LIST_H

#include "cli/args.h"

#include <stddef.h>

enum { PM_MAX_ARCHS = 16 };

typedef struct PmArchList {
	int emu;              /* this machine's CPU */
	int cc[PM_MAX_ARCHS]; /* compute capabilities, 90 for sm_90, each once */
	size_t n_cc;
} PmArchList;

/* 0, or the exit code of a usage error, whose sentence was printed. NULL is "emu". */
int pm_arch_list(const PmCmd *cmd, const char *text, PmArchList *out);

#endif
