/* SPDX-License-Identifier: Apache-2.0 */
/* heartbeat.c - an evaluation says that it goes on. */
#include "app/eval/heartbeat.h"

#include "base/sys/proc.h"

#include <stdio.h>
#include <unistd.h>

/* Between two writings that say something new, and before it is tried again. */
static const double soon = 0.25, again = 1;

static void beat(PmHeartbeat *b, double now)
{
	PmStatus st;

	b->row.heartbeat = pm_wall_clock();
	st = pm_running_put(b->db, &b->row, NULL);
	b->stored |= !st;
	b->next = now + (st ? again : PM_HEARTBEAT_SECONDS);
}

void pm_heartbeat_begin(PmHeartbeat *b, PmDb *db, const PmRunningRow *what)
{
	*b = (PmHeartbeat){ .db = db, .row = *what };
	if (!db)
		return;
	if (gethostname(b->host, sizeof b->host - 1))
		snprintf(b->host, sizeof b->host, "unknown");
	b->row.host = b->host;
	b->row.pid = getpid();
	b->row.began = pm_wall_clock();
	(void)pm_running_forget(db, b->row.began - PM_HEARTBEAT_FORGOTTEN, NULL);
	beat(b, pm_now());
}

/* What is new is to be seen soon, and many steps in a moment are one. */
static void news(PmHeartbeat *b)
{
	double now = pm_now();

	if (b->db && b->next > now + soon)
		b->next = now + soon;
}

void pm_heartbeat_stage(PmHeartbeat *b, const char *stage, int64_t done, int64_t total)
{
	b->row.stage = stage;
	b->row.done = done;
	b->row.total = total;
	news(b);
}

void pm_heartbeat_step(PmHeartbeat *b)
{
	b->row.done++;
	news(b);
}

void pm_heartbeat_tick(void *heartbeat)
{
	PmHeartbeat *b = heartbeat;
	double now = pm_now();

	if (b->db && now >= b->next)
		beat(b, now);
}

void pm_heartbeat_end(PmHeartbeat *b)
{
	if (b->db && b->stored)
		(void)pm_running_drop(b->db, &b->row, NULL);
	b->db = NULL;
}
