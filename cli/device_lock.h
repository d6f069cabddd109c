/* SPDX-License-Identifier: Apache-2.0 */
/* device_lock.h - the lock between all commands of a machine that evaluate on the same GPU. */
#ifndef CLI_DEVICE_LOCK_H
#define CLI_DEVICE_LOCK_H

#include "base/sys/rwlock.h"
#include "runtime/device/device.h"

/* For PmEvalOpts.lock: owned, to be freed with pm_rwlock_free; NULL on `emu`, which times nothing.
 * Evaluations of this command and of others then take turns with their clocks on this GPU. Once a command
 * says on stderr, unless --quiet was given, that it waits for another. PM_E_ENV when the lock file cannot be
 * opened. */
PmStatus pm_cli_device_lock(const char *device, const PmDeviceInfo *info, PmRwlock **out, PmErr *err);

#endif
