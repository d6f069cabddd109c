/* SPDX-License-Identifier: Apache-2.0 */
/* err.h - status codes and error sentences.
 *
 * A fallible function returns PmStatus and takes `PmErr *err` last. The place of failure writes one
 * complete sentence with pm_err(); callers may prefix context with pm_err_ctx(). On success `err`
 * is untouched. `err` may be NULL everywhere: the status still says what kind of failure it was.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "passmith/types.h" /* PmStatus and the PM_E_ codes, shared with plugins */

#include <stdint.h>

#if defined(__GNUC__)
#define PM_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define PM_NORETURN     __attribute__((noreturn))
#else
#define PM_PRINTF(f, a)
#define PM_NORETURN
#endif

enum { PM_ERR_MAX = 1024 }; /* bytes of one sentence, terminator included; longer text is cut */

typedef struct PmErr {
	PmStatus code;
	char text[PM_ERR_MAX];
} PmErr;

/* Resets `err` to success with an empty sentence. */
void pm_err_init(PmErr *err);

/* Writes the sentence and the code into `err` (when not NULL) and returns `code`. */
PmStatus pm_err(PmErr *err, PmStatus code, const char *fmt, ...) PM_PRINTF(3, 4);

/* Prefixes "<text>: " to the sentence already in `err` and returns the code in `err`
 * (PM_E_INTERNAL when err is NULL). */
PmStatus pm_err_ctx(PmErr *err, const char *fmt, ...) PM_PRINTF(2, 3);

/* "E_TYPE" for PM_E_TYPE; "E_UNKNOWN" for a number not in passmith/errors.def. Static storage. */
const char *pm_status_name(PmStatus st);

/* The exit code of architecture section 8 for a status: 0 done, 3 environment, 4 bad input, 5 internal. */
int pm_status_exit_code(PmStatus st);

/* Our own broken invariant: prints file, line and text to stderr and aborts. Never for outside data. */
#define PM_BUG(...) pm_bug_at(__FILE__, __LINE__, __VA_ARGS__)
PM_NORETURN void pm_bug_at(const char *file, int line, const char *fmt, ...) PM_PRINTF(3, 4);

#endif
