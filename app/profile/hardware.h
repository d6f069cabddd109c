/* SPDX-License-Identifier: Apache-2.0 */
/* hardware.h - a GPU in words that a prompt can hold. */
#ifndef APP_PROFILE_HARDWARE_H
#define APP_PROFILE_HARDWARE_H

#include "base/core/json.h"
#include "runtime/device/device.h"
#include "runtime/exec/exec.h"

/* Appends a few sentences about a GPU: `d` is one that is there, `p` a row of profiles.def that describes it
 * or stands for it; either may be NULL, not both. Adds its numbers to `j` (may be NULL). */
void pm_profile_hardware(const PmDeviceInfo *d, const PmProfile *p, PmStr *words, cJSON *j);

#endif
