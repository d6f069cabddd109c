/* SPDX-License-Identifier: Apache-2.0 */
/* prompt.h - texts for language models: files of the folder prompts/, with fields to fill.
 *
 * A field is {{name}}, of lower-case letters, digits and '_'. prompts/README.md lists the files, who uses
 * them, and their fields. Two braces that no such name follows are text.
 */
#ifndef EXEMPLAR_PROMPT_H
#define EXEMPLAR_PROMPT_H

#include "base/core/err.h"
#include "base/core/str.h"

#include <stddef.h>

typedef struct PmField {
	const char *name,
		*value; /* value NULL = the caller has none: an error where the file has the field */
} PmField;

/* Appends the file `name` of prompts/ ("system.md") with its fields filled. `root` as in folder.h. Values are
 * put in as they are and not looked at again. PM_E_NOT_FOUND: no such file, or `name` is none of that folder.
 * PM_E_INVALID names file and line of a field that is not among `field`, has no value, or does not end. A
 * field that is given and not in the file is left alone. *out is unchanged on error. */
PmStatus pm_prompt(const char *root, const char *name, const PmField *field, size_t n, PmStr *out,
		   PmErr *err);

/* The same for a text at hand; `name` is for messages. */
PmStatus pm_prompt_fill(const char *name, const char *text, const PmField *field, size_t n, PmStr *out,
			PmErr *err);

#endif
