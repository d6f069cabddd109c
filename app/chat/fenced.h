/* SPDX-License-Identifier: Apache-2.0 */
/* fenced.h - files and calls of tools in plain text, for models that have no calls of tools.
 *
 * A block begins with a line of three or more back quotes (or tildes) and ends with such a line of at least
 * as many. Its first line says what it is:
 *
 *   ```c pass.c          a file: the last word has a dot or a slash ("name=pass.c" and "c:pass.c" too)
 *   ```tool              a call: {"name": ..., "arguments": {...}}
 *
 * A block of C without a name is the file pass.c, when the text has one such block. Others are text.
 */
#ifndef CHAT_FENCED_H
#define CHAT_FENCED_H

#include "base/core/json.h"

enum { PM_FENCED_MAX = 32 }; /* blocks that are taken of one text */

/* Adds the files of `text` to `files` as {"path", "content"} in order, and calls to `calls` as {"name",
 * "arguments"}; a call that is no such object has the member "error", a sentence. Paths are the model's and
 * have not been looked at. Returns how many blocks were left out because there were more than PM_FENCED_MAX.
 */
int pm_fenced_read(const char *text, cJSON *files, cJSON *calls);

#endif
