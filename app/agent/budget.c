/* SPDX-License-Identifier: Apache-2.0 */
/* budget.c - tokens and money in shared memory. */
#include "app/agent/budget.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#define NANO 1e9 /* money is counted in billionths of a dollar */

struct PmBudget {
	int64_t tokens_max, money_max;
	atomic_llong tokens, money;
};

PmStatus pm_budget_new(int64_t tokens, double usd, PmBudget **out, PmErr *err)
{
	PmBudget *b = mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (b == MAP_FAILED)
		return pm_err(err, PM_E_LIMIT, "Cannot share memory between processes: %s.", strerror(errno));
	b->tokens_max = tokens;
	b->money_max = llround(fmin(usd, 1e9) * NANO);
	*out = b;
	return PM_OK;
}

void pm_budget_free(PmBudget *b)
{
	if (b)
		munmap(b, sizeof *b);
}

void pm_budget_use(PmBudget *b, int64_t tokens, double usd)
{
	atomic_fetch_add(&b->tokens, tokens);
	atomic_fetch_add(&b->money, llround(fmin(usd, 1e6) * NANO));
}

int pm_budget_is_spent(const PmBudget *b)
{
	return (b->tokens_max > 0 && atomic_load(&b->tokens) >= b->tokens_max) ||
	       (b->money_max > 0 && atomic_load(&b->money) >= b->money_max);
}
