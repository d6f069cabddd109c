/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_unit.c - the text that a kernel is compiled as: prelude, element type, source. */
#include "runtime/device/kernel_unit.h"

#include <string.h>

const char *pm_kernel_ctype(PmDType t)
{
	switch (t) {
	case PM_F32:
		return "float";
	case PM_F16:
		return "__half";
	case PM_BF16:
		return "__nv_bfloat16";
	case PM_F64:
		return "double";
	case PM_I64:
		return "long long";
	case PM_I32:
		return "int";
	case PM_I8:
		return "signed char";
	case PM_U8:
		return "unsigned char";
	case PM_BOOL:
		return "bool";
	case PM_I16:
		return "short";
	case PM_U16:
		return "unsigned short";
	case PM_U32:
		return "unsigned int";
	case PM_U64:
		return "unsigned long long";
	default:
		return NULL;
	}
}

PmStatus pm_kernel_source_check(const PmSource *s, PmErr *err)
{
	size_t n = strlen(s->source);

	if (!pm_kernel_ctype(s->type))
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
	pm_str_addf(out, "typedef %s T;\n#line 1 \"", pm_kernel_ctype(s->type));
	pm_kernel_file_name(s->label, out);
	pm_str_add(out, "\"\n");
}
