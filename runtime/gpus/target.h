/* SPDX-License-Identifier: Apache-2.0 */
/* target.h - which target a process works for: by a name, or by the GPU of this machine. */
#ifndef RUNTIME_GPUS_TARGET_H
#define RUNTIME_GPUS_TARGET_H

#include "base/core/err.h"
#include "targets/targets.h"

/* What the GPU of this machine is as a target; NULL when none answers. It is asked once in a process, by a
 * child. */
const PmTarget *pm_target_here(void);

/* Makes a target the process's (pm_target_set). By `name`: one of targets/all.def, the name that this
 * machine's GPU has as a target, or "device" for whatever that is. NULL: what `device` is, for cuda the GPU
 * of this machine; for the others, for NULL, and where no GPU answers nothing is changed.
 * PM_E_NOT_FOUND for an unknown name, PM_E_ENV for "device" without a GPU. */
PmStatus pm_target_choose(const char *name, const char *device, PmErr *err);

/* Makes the first of the GPUs that --gpus names the process's target, as all of them are of one model. None
 * is opened. Nothing is changed where the list names none. */
void pm_target_choose_gpus(const char *gpus);

#endif
