/* SPDX-License-Identifier: Apache-2.0 */
/* messages.h - what compilers say, as fields: gcc, clang, g++ and NVRTC.
 *
 * A message about what a macro of the SDK wrote is one about the place where the author used it. The chain of
 * macros and of files is left out.
 */
#ifndef APP_MESSAGES_H
#define APP_MESSAGES_H

#include "base/core/json.h"
#include "base/core/str.h"
#include "base/core/vec.h"

#include <stddef.h>

typedef struct PmMessage {
	char *file;           /* owned; NULL = none is named */
	int line, column;     /* from 1; 0 = not known */
	const char *severity; /* "error", "warning", "note" */
	char *text;           /* owned */
} PmMessage;

typedef struct PmMessages {
	PM_VEC(PmMessage) v;
} PmMessages;

/* Takes nothing; bytes that are no text become '?'. `file` NULL = none. */
void pm_messages_add(PmMessages *m, const char *file, int line, int column, const char *severity,
		     const char *text, size_t n);
/* What a C compiler wrote on stderr. What is not understood and may be an error is a message without a file.
 */
void pm_messages_of_c(const char *log, PmMessages *out);
/* What a kernel's compiler wrote about a source that was labelled `label`: errors only. Lines count the
 * source that was compiled; the file is `label`, or NULL where no line of the source is to blame. */
void pm_messages_of_kernel(const char *log, const char *label, PmMessages *out);
size_t pm_messages_errors(const PmMessages *m);
/* "file:line:column: severity: text", and below it the line of the file. */
void pm_messages_print(const PmMessages *m, PmStr *out);
/* A list of {file, line, column, severity, text}; what is not known is null. */
cJSON *pm_messages_json(const PmMessages *m);
void pm_messages_release(PmMessages *m);

#endif
