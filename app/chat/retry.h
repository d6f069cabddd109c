/* SPDX-License-Identifier: Apache-2.0 */
/* retry.h - what to do with an answer that is none: try again, when, or stop.
 *
 * The wait before try n + 1 is the server's Retry-After where it gives one, else min(60 s, first 2^(n-1))
 * times a random number of [0.5, 1), so that workers which were refused together do not come back together.
 */
#ifndef CHAT_RETRY_H
#define CHAT_RETRY_H

#include "base/core/err.h"
#include "base/core/rng.h"

enum { PM_RETRY_MOST = 60, PM_RETRY_AFTER_MOST = 900 }; /* seconds: of our own wait, of a server's */

typedef struct PmRetry {
	int tries;    /* requests for one answer, in all; at least 1 */
	double first; /* seconds */
} PmRetry;

/* 1 when another try may go better: a status of PM_E_IO or PM_E_TIMEOUT without an answer (http = 0), or
 * 408, 409, 425, 429 and 500 to 599 but 501 and 505. */
int pm_retry_helps(PmStatus st, int http);

/* Seconds before the next try after `tried` of them (from 1); < 0: do not try again, because all tries were
 * made or the server asks for more than PM_RETRY_AFTER_MOST seconds. `retry_after` < 0 = not given. */
double pm_retry_wait(const PmRetry *r, int tried, double retry_after, PmRng *rng);

#endif
