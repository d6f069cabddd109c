/* kernel_unit.h - the text that a kernel is compiled as: prelude, element type, source. */
#ifndef RUNTIME_KERNEL_UNIT_H
#define RUNTIME_KERNEL_UNIT_H

#include "base/str.h"
#include "runtime/device.h"

enum { PM_KERNEL_MAX_SOURCE = 1 << 20 }; /* bytes of one source */

/* An element type in C: "__half"; NULL when kernels cannot have it. */
const char *pm_kernel_ctype(PmDType t);
/* Checks a source: an element type, a size within the limit. */
PmStatus pm_kernel_source_check(const PmSource *s, PmErr *err);
/* Appends what goes before the source: the prelude, `typedef <type> T;` and a #line that makes messages name
 * the label and count lines from there. The source must have been checked. */
void pm_kernel_unit_begin(const PmSource *s, PmStr *out);
/* Appends the label as it appears in messages: characters that #line cannot take become '_'. */
void pm_kernel_file_name(const char *label, PmStr *out);

#endif
