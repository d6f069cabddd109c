/* SPDX-License-Identifier: Apache-2.0 */
/* compiler_box.h - the sandbox of the host's compilers: they see themselves, the folders that are given, and
 * one folder in which they write. A source can make a compiler read files (#include, .incbin) and is a
 * stranger's.
 */
#ifndef BASE_COMPILER_BOX_H
#define BASE_COMPILER_BOX_H

#include "base/sandbox/sandbox.h"
#include "base/sys/proc.h"

enum { PM_COMPILER_BOX_RUN = 12, PM_COMPILER_BOX_READ = 8, PM_COMPILER_BOX_ENV = 6 };

/* Points into itself: it must not be copied. */
typedef struct PmCompilerBox {
	PmSandboxPaths paths;
	const char *run[PM_COMPILER_BOX_RUN], *read[PM_COMPILER_BOX_READ];
	const char *env[PM_COMPILER_BOX_ENV +
			1]; /* for the front of a command: "env", "LC_ALL=C", ...; NULL ends it */
	PmStr prefix, path, tmp, home;
} PmCompilerBox;

/* A box for `compiler` (a path, or a name on PATH). `read`: at most PM_COMPILER_BOX_READ - 1 folders and
 * files, NULL at its end; `write`: a folder, which is also its TMPDIR and HOME. All are borrowed until the
 * box is closed. */
void pm_compiler_box_open(PmCompilerBox *b, const char *compiler, const char *const *read, const char *write);
/* Sets lim->enter and lim->enter_arg, so that pm_run enters the box. */
void pm_compiler_box_limit(const PmCompilerBox *b, PmLimits *lim);
/* Frees what the box made. */
void pm_compiler_box_close(PmCompilerBox *b);

/* The file of a program by its path or by its name on PATH, links resolved; the caller's. NULL when there is
 * none. */
char *pm_program_file(const char *name);

#endif
