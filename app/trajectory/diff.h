/* SPDX-License-Identifier: Apache-2.0 */
/* diff.h - unified diffs of texts, line by line: making and applying them. */
#ifndef TRAJECTORY_DIFF_H
#define TRAJECTORY_DIFF_H

#include "base/core/err.h"
#include "base/core/str.h"

enum { PM_DIFF_EDITS = 1000 }; /* lines taken out or put in that are looked for; memory grows as its square */

/* Appends the hunks of a unified diff with 3 lines around each change ("@@ -1,4 +1,5 @@", no header lines); a
 * shortest one (Myers, "An O(ND) difference algorithm and its variations", 1986). Nothing is appended for
 * equal texts. 0 when the texts differ by more than PM_DIFF_EDITS lines, and nothing is appended then. */
int pm_diff_unified(const char *before, const char *after, PmStr *out);

/* Appends what `diff` makes of `before`. PM_E_INVALID when it is no diff, or one of another text; what was
 * appended by then is not to be used. */
PmStatus pm_diff_apply(const char *before, const char *diff, PmStr *out, PmErr *err);

#endif
