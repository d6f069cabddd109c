/* SPDX-License-Identifier: Apache-2.0 */
/* origin.h - where this process measures. */
#ifndef APP_EVAL_ORIGIN_H
#define APP_EVAL_ORIGIN_H

#include "dataset/store/measurements.h"

/* Where this process measures: host, batch job (Slurm's SLURM_ARRAY_JOB_ID or SLURM_JOB_ID,
 * SLURM_ARRAY_TASK_ID and SLURM_RESTART_COUNT) and, on cuda, the GPU with its UUID, driver and clocks. Texts
 * are static, or of the environment. */
void pm_origin_here(const char *device, PmOrigin *out);

#endif
