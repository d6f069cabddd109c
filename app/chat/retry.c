/* SPDX-License-Identifier: Apache-2.0 */
/* retry.c - try again, when, or stop. */
#include "app/chat/retry.h"

#include <math.h>

int pm_retry_helps(PmStatus st, int http)
{
	if (!http)
		return st == PM_E_IO || st == PM_E_TIMEOUT;
	return http == 408 || http == 409 || http == 425 || http == 429 ||
	       (http >= 500 && http < 600 && http != 501 && http != 505);
}

double pm_retry_wait(const PmRetry *r, int tried, double retry_after, PmRng *rng)
{
	double wait = fmin(PM_RETRY_MOST, ldexp(r->first, tried > 30 ? 30 : tried - 1));

	if (tried >= r->tries || retry_after > PM_RETRY_AFTER_MOST)
		return -1;
	if (retry_after >= 0)
		return retry_after;
	return wait * (0.5 + 0.5 * pm_rng_uniform(rng));
}
