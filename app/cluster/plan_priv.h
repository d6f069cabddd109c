/* SPDX-License-Identifier: Apache-2.0 */
/* plan_priv.h - what the files that make and read plans share. */
#ifndef APP_CLUSTER_PLAN_PRIV_H
#define APP_CLUSTER_PLAN_PRIV_H

#include "app/cluster/plan.h"

/* Publishes plan.json, which only its owner may read. */
PmStatus pm__cluster_plan_write(const PmClusterPlan *p, PmErr *err);

#endif
