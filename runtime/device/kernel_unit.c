/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_unit.c - the text that a kernel is compiled as: prelude, element type, source. */
#include "runtime/device/kernel_unit.h"

#include <string.h>

PmStatus pm_kernel_source_check(const PmSource *s, PmErr *err)
{
	size_t n = strlen(s->source);

	if (!pm_dtype_cuda(s->type))
		return pm_err(err, PM_E_INVALID,
			      "Kernel '%s' has no element type (%d); give one of dtypes.def.", s->label,
			      (int)s->type);
	if (n > PM_KERNEL_MAX_SOURCE)
		return pm_err(err, PM_E_LIMIT,
			      "The source of kernel '%s' has %zu bytes, over the limit of %d.", s->label, n,
			      PM_KERNEL_MAX_SOURCE);
	return pm_kernel_lines_check(s, err);
}

void pm_kernel_unit_begin(const PmSource *s, PmStr *out)
{
	pm_str_add(out, "#include \"passmith/kernel.cuh\"\n");
	pm_str_addf(out, "typedef %s T;\n#line 1 \"", pm_dtype_cuda(s->type));
	pm_kernel_file_name(s->label, out);
	pm_str_add(out, "\"\n");
}
