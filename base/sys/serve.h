/* SPDX-License-Identifier: Apache-2.0 */
/* serve.h - a child process that answers requests until it is stopped, hangs or dies.
 *
 * Like pm_fork_call (base/sys/proc.h), but for many calls: the child keeps what it has built between them. A
 * request past its deadline, or a child that dies, costs the child; the caller starts another. Requests and
 * replies are byte strings; what they mean is the caller's business, who should trust a reply as far as the
 * child.
 */
#ifndef BASE_SERVE_H
#define BASE_SERVE_H

#include "base/sys/proc.h"

typedef struct PmServer PmServer;

/* In the child: answers one request by appending to *reply. `arg` is as it was when the server started, and
 * may be changed: it is the child's own copy. Returning other than 0 ends the child after the reply. The
 * first call of all, when the child starts, has no request (NULL) and its reply and its answer go nowhere:
 * what takes long and every request needs can be made there, while the parent does other things. */
typedef int (*PmServeFn)(void *arg, const char *request, size_t n, PmStr *reply);

/* In the child, while it answers: large data that follows a request or a reply, so that it is held once on
 * each side. What is not taken is passed over. */
size_t pm_serve_left(void);
int pm_serve_take(void *to, size_t n);     /* the next n bytes; 0 when there are fewer */
void pm_serve_give(void *owned, size_t n); /* sent behind the reply, in order; freed then */

/* Forks a child that holds nothing but its channel, with the limits of `lim` (seconds and max_output are for
 * each call and are given there). Returns owned. PM_E_ENV or PM_E_IO when no child can be had. */
PmStatus pm_server_start(PmServeFn fn, void *arg, const PmLimits *lim, PmServer **out, PmErr *err);

/* Sends a request; *reply becomes the answer. PM_E_TIMEOUT after `seconds` (0 = no deadline), PM_E_CRASH when
 * the child died or announced more than `most` bytes, PM_E_ENV when there is no memory for what it announced;
 * all have ended it, and pm_server_alive is 0 then. The sentence says "The <what> ..." and how it ended. */
PmStatus pm_server_call(PmServer *s, const char *what, const void *request, size_t n, double seconds,
			uint64_t most, PmStr *reply, PmErr *err);
/* Data behind a request (`send`) and room for that behind its reply (`take`); taken: it came. */
typedef struct PmServeBytes {
	const void *p;
	size_t n;
} PmServeBytes;
typedef struct PmServeRoom {
	void *p;
	size_t n;
} PmServeRoom;
typedef struct PmServeData {
	const PmServeBytes *send;
	size_t n_send;
	const PmServeRoom *take;
	size_t n_take;
	int taken;
} PmServeData;
/* The same with data behind the request and the reply. The reply's fills `take` from end to end, or there is
 * none of it and *taken = 0; another number of bytes ends the child (PM_E_CRASH). `most` is of the reply
 * itself. */
PmStatus pm_server_call_with(PmServer *s, const char *what, const void *request, size_t n, PmServeData *data,
			     double seconds, uint64_t most, PmStr *reply, PmErr *err);
/* 0 once the child has ended. */
int pm_server_alive(const PmServer *s);
/* 1 when something outside killed it (SIGKILL), which is nobody's mistake. */
int pm_server_killed(const PmServer *s);
/* Ends the child, reaps it and frees the handle; NULL is allowed. */
void pm_server_stop(PmServer *s);
/* The same, at once: for a child whose work is not needed. */
void pm_server_kill(PmServer *s);
/* Sends the child its end and does not wait for it: pm_server_kill does, later. Nothing of its program
 * happens any more; what the system still does for it (a driver that takes a device back) may take its time.
 * NULL is allowed. */
void pm_server_dismiss(PmServer *s);
/* The same, and frees the handle: nobody waits for the end of the child, which is reaped when this process
 * has ended. For the end of a command. NULL is allowed. */
void pm_server_abandon(PmServer *s);

#endif
