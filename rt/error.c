/* SPDX-License-Identifier: Apache-2.0 */
/* error.c - errors as the public interface says them, and memory whose size outsiders decide. */
#include "rt/rt_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int status_of(PmStatus st)
{
	switch (st) {
	case PM_OK:
		return PM_RT_OK;
	case PM_E_SHAPE:
		return PM_RT_SHAPE;
	case PM_E_LIMIT:
		return PM_RT_MEMORY;
	case PM_E_DEVICE:
	case PM_E_OOB:
		return PM_RT_DEVICE;
	case PM_E_INVALID:
	case PM_E_TYPE:
	case PM_E_NOT_FOUND:
		return PM_RT_INPUT;
	case PM_E_IO:
	case PM_E_ENV:
	case PM_E_UNSUPPORTED:
		return PM_RT_ENV;
	default:
		return PM_RT_INTERNAL;
	}
}

int pm_rt_fail(const PmErr *err, PmRtError *to)
{
	int code = status_of(err->code);

	if (to) {
		to->code = code;
		snprintf(to->text, sizeof to->text, "%s", err->text);
	}
	return code;
}

int pm_rt_usage(PmRtError *to, const char *fmt, ...)
{
	va_list ap;

	if (!to)
		return PM_RT_USAGE;
	to->code = PM_RT_USAGE;
	va_start(ap, fmt);
	vsnprintf(to->text, sizeof to->text, fmt, ap);
	va_end(ap);
	return PM_RT_USAGE;
}

PmStatus pm_rt_take(uint64_t bytes, void **out, PmErr *err)
{
	uint64_t all = (bytes + 255) / 256 * 256;

	*out = all <= SIZE_MAX ? aligned_alloc(256, all ? (size_t)all : 256) : NULL;
	if (!*out)
		return pm_err(err, PM_E_LIMIT,
			      "There is no memory for %llu bytes; use fewer sessions, or a package with "
			      "smaller shapes.",
			      (unsigned long long)bytes);
	memset(*out, 0, all ? (size_t)all : 256);
	return PM_OK;
}
