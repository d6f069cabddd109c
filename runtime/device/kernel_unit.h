/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_unit.h - the text that a kernel is compiled as: prelude, element type, source. */
#ifndef RUNTIME_KERNEL_UNIT_H
#define RUNTIME_KERNEL_UNIT_H

#include "base/core/str.h"
#include "runtime/device/device.h"

enum { PM_KERNEL_MAX_SOURCE = 1 << 20 }; /* bytes of one source */

/* Checks a source: an element type, a size within the limit, no #line. */
PmStatus pm_kernel_source_check(const PmSource *s, PmErr *err);
/* Appends what goes before the source: the prelude, `typedef <type> T;` and a #line that makes messages name
 * the label and count lines from there. The source must have been checked. */
void pm_kernel_unit_begin(const PmSource *s, PmStr *out);
/* #line (kernel_lines.c). check: a source has none but `#line 1 "FOLDER/NAME.cu"`, which says what a part of
 * it was; the sentence has the line of another. add: appends text of a checked source; those lines name the
 * kernel and NAME.cu then. part: when a message of a compiler begins with the kernel's name, what follows,
 * and in `part` " of NAME.cu" where one is named; else NULL. */
PmStatus pm_kernel_lines_check(const PmSource *s, PmErr *err);
void pm_kernel_lines_add(const PmSource *s, const char *text, size_t n, PmStr *out);
const char *pm_kernel_lines_part(const char *message, const char *label, PmStr *part);
/* Appends the label as it appears in messages: characters that #line cannot take become '_'. */
void pm_kernel_file_name(const char *label, PmStr *out);

#endif
