/* SPDX-License-Identifier: Apache-2.0 */
/* serve_error.c - what libpassmith_rt says, as an error of this program. */
#include "app/serve/serve_error.h"

static PmStatus status_of(int code)
{
	switch (code) {
	case PM_RT_OK:
		return PM_OK;
	case PM_RT_ENV:
		return PM_E_ENV;
	case PM_RT_INPUT:
	case PM_RT_USAGE:
		return PM_E_INVALID;
	case PM_RT_SHAPE:
		return PM_E_SHAPE;
	case PM_RT_MEMORY:
		return PM_E_LIMIT;
	case PM_RT_DEVICE:
		return PM_E_DEVICE;
	default:
		return PM_E_INTERNAL;
	}
}

PmStatus pm__serve_error(int code, const PmRtError *e, PmErr *err)
{
	return code ? pm_err(err, status_of(code), "%s", e->text) : PM_OK;
}
