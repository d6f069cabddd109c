/* SPDX-License-Identifier: Apache-2.0 */
/* devices.c - opens a device by name. */
#include "runtime/device/device.h"

/* The names are options and stand in results: a name is never reused. */
static const struct {
	const char *name;
	PmDeviceKind kind;
	int offered; /* an option may select it */
	PmStatus (*open)(PmDevice **out, PmErr *err);
} devices[] = {
	{ "ref", PM_DEVICE_REF, 0, NULL },
	{ "emu", PM_DEVICE_EMU, 1, pm_emu_open },
	{ "emu+races", PM_DEVICE_EMU_RACES, 0, pm_emu_open_races },
	{ PM_DEVICE_PRINT, PM_DEVICE_EMU_PRINT, 0, pm_emu_open_print },
	{ PM_DEVICE_COUNTS, PM_DEVICE_EMU_COUNTS, 0, pm_emu_open_counts },
	{ "cuda", PM_DEVICE_CUDA, 1, pm_cuda_open },
};

enum { N_DEVICES = sizeof devices / sizeof *devices };

/* Its place in the table, or N_DEVICES. */
static size_t find(const char *name)
{
	size_t k = 0;

	while (k < N_DEVICES && !pm_str_eq(name, devices[k].name))
		k++;
	return k;
}

PmDeviceKind pm_device_kind(const char *name)
{
	size_t k = find(name);

	return k < N_DEVICES ? devices[k].kind : PM_DEVICE_NONE;
}

int pm_device_is_known(const char *name)
{
	size_t k = find(name);

	return k < N_DEVICES && devices[k].offered;
}

PmStatus pm_device_open(const char *name, PmDevice **out, PmErr *err)
{
	size_t k = find(name);

	if (k < N_DEVICES && devices[k].open)
		return devices[k].open(out, err);
	return pm_err(err, PM_E_NOT_FOUND,
		      "There is no device \"%s\" that runs kernels; the devices are \"emu\" and \"cuda\".",
		      name ? name : "");
}
