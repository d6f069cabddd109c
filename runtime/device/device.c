/* device.c - opens a device by name. */
#include "runtime/device/device.h"

#include "base/core/str.h"

int pm_device_is_known(const char *name)
{
	return pm_str_eq(name, "emu") || pm_str_eq(name, "emu+races") || pm_str_eq(name, "cuda");
}

PmStatus pm_device_open(const char *name, PmDevice **out, PmErr *err)
{
	if (pm_str_eq(name, "emu"))
		return pm_emu_open(out, err);
	if (pm_str_eq(name, "emu+races"))
		return pm_emu_open_races(out, err);
	if (pm_str_eq(name, PM_DEVICE_PRINT))
		return pm_emu_open_print(out, err);
	if (pm_str_eq(name, "cuda"))
		return pm_cuda_open(out, err);
	return pm_err(err, PM_E_NOT_FOUND,
		      "There is no device \"%s\" that runs kernels; the devices are \"emu\" and \"cuda\".",
		      name ? name : "");
}
