/* SPDX-License-Identifier: Apache-2.0 */
/* eval_options.c - options that commands which evaluate have in common. */
#include "cli/eval_options.h"

#include "base/sys/pool.h"
#include "runtime/device/device.h"

#include <string.h>

int pm_cli_eval_words(const PmCmd *cmd, const char *preset, const char *reference)
{
	if (preset && strcmp(preset, "passnet") && strcmp(preset, "sound"))
		return pm_cli_usage(cmd, "There is no preset '%.40s'; sound and passnet exist.", preset);
	if (reference && strcmp(reference, "auto") && strcmp(reference, "cpu"))
		return pm_cli_usage(cmd, "There is no reference '%.40s'; auto and cpu exist.", reference);
	return 0;
}

int pm_cli_eval_jobs(int64_t asked, const char *device)
{
	enum { ON_GPU = 3, MOST = 256 };

	if (asked)
		return asked < MOST ? (int)asked : MOST;
	return pm_device_kind(device) == PM_DEVICE_EMU ? pm_cpu_count() : ON_GPU;
}
