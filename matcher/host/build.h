/* SPDX-License-Identifier: Apache-2.0 */
/* build.h - compiling a pass with the published line, and starting one from the template. */
#ifndef MATCHER_BUILD_H
#define MATCHER_BUILD_H

#include "base/core/err.h"
#include "base/core/str.h"

/* Compiles `source` (a .c file; NAME.cu beside it becomes the header NAME.cu.h; or a folder, of which every
 * .c file is a part, and those of the folders in it) into the shared object `out`. Compiler messages are
 * appended to *messages whether or not it succeeds. PM_E_INVALID when it does not compile, PM_E_ENV when
 * there is no compiler. $CC chooses the compiler (default cc). */
PmStatus pm_pass_build(const char *source, const char *out, PmStr *messages, PmErr *err);

/* Writes `dir`/`name`.c from the template; refuses a name that is no C identifier and a file that exists.
 * The path is appended to *path. */
PmStatus pm_pass_new(const char *name, const char *dir, PmStr *path, PmErr *err);
/* The same from another text, in which the word `old` becomes the name, wherever it stands. */
PmStatus pm_pass_new_from(const char *text, const char *old, const char *name, const char *dir, PmStr *path,
			  PmErr *err);

#endif
