/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_priv.h - running Slurm's programs and keeping jobs.json, shared by slurm.c and slurm_file.c. */
#ifndef APP_CLUSTER_SLURM_PRIV_H
#define APP_CLUSTER_SLURM_PRIV_H

#include "app/cluster/slurm.h"

/* Publishes jobs.json. */
PmStatus pm__slurm_save(const PmSlurm *s, PmErr *err);

#endif
