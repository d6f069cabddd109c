/* SPDX-License-Identifier: Apache-2.0 */
/* range.c - ranges of device buffers that the program itself copies. */
#include "runtime/device/device.h"

PmStatus pm_device_range(PmBuf b, int64_t bytes, int64_t offset, int64_t n, const char *what, PmErr *err)
{
	if (bytes < 0)
		return pm_err(err, PM_E_INVALID,
			      "Cannot %s buffer %u: there is no such buffer on this device.", what, b.id);
	if (offset < 0 || n < 0 || offset > bytes || n > bytes - offset)
		return pm_err(err, PM_E_INVALID,
			      "Cannot %s %lld bytes at byte %lld of buffer %u, which has %lld bytes.", what,
			      (long long)n, (long long)offset, b.id, (long long)bytes);
	return PM_OK;
}
