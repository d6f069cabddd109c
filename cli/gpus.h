/* SPDX-License-Identifier: Apache-2.0 */
/* gpus.h - the option --gpus of commands that evaluate on several GPUs. */
#ifndef CLI_GPUS_H
#define CLI_GPUS_H

#include "app/gpus/seats.h"
#include "base/sys/rwlock.h"
#include "cli/args.h"

/* 0, or the exit code after a sentence: `gpus` (NULL = not given) is no list, or the device is not cuda. */
int pm_cli_gpus_usage(const PmCmd *cmd, const char *gpus, const char *device);
/* The seats of the option (app/gpus/seats.h), told of on stderr; owned. From here on this process sees the
 * first of them alone, for what it asks the driver once. */
PmStatus pm_cli_gpus(const char *gpus, PmSeats **out, PmErr *err);
/* For a command that gives the option on to others: it and what it starts see these GPUs alone. *n: how many
 * there are. */
PmStatus pm_cli_gpus_limit(const char *gpus, int *n, PmErr *err);
/* The locks of their clocks (cli/device_lock.h), by seat; each owned. */
PmStatus pm_cli_gpu_locks(const PmSeats *s, PmRwlock **out, PmErr *err);
/* {"index", "uuid"} of the seat of this process; owned. */
cJSON *pm_cli_gpu_json(const PmSeats *s);

#endif
