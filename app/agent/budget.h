/* SPDX-License-Identifier: Apache-2.0 */
/* budget.h - what all samples together have used, counted by all processes of an experiment. */
#ifndef AGENT_BUDGET_H
#define AGENT_BUDGET_H

#include "base/core/err.h"

#include <stdint.h>

typedef struct PmBudget PmBudget;

/* Shared with the processes that are forked from now on. Limits of 0 are none. */
PmStatus pm_budget_new(int64_t tokens, double usd, PmBudget **out, PmErr *err);
void pm_budget_free(PmBudget *b);
void pm_budget_use(PmBudget *b, int64_t tokens, double usd);
/* 1 when nothing more may be asked. A request that is in flight then is still paid: each process may go over
 * by one. */
int pm_budget_is_spent(const PmBudget *b);

#endif
