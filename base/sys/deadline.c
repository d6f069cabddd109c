/* SPDX-License-Identifier: Apache-2.0 */
/* deadline.c - deadlines of children that count the time in which they could run.
 *
 * On a machine with other work a process that is ready waits for a processor, and a deadline on the wall
 * would blame it for that. Linux counts this time for each process (the second figure of /proc/PID/schedstat,
 * in nanoseconds). Where it does not, deadlines are those on the wall.
 */
#include "base/sys/proc_priv.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 4, LOOK_MS = 20 }; /* between two looks a process that runs uses some of its time */

/* What is known of the child's processes that live. */
typedef struct Look {
	double used;   /* seconds on a processor, all together */
	double waited; /* seconds that the one that waited most has waited, up to when it last ran */
	int ready;     /* of those that run or would */
} Look;

static void look_at(long pid, Look *l)
{
	char path[64];
	unsigned long long used, waited;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%ld/schedstat", pid);
	f = fopen(path, "re");
	if (f && fscanf(f, "%llu %llu", &used, &waited) == 2) {
		l->used += (double)used * 1e-9;
		l->waited = fmax(l->waited, (double)waited * 1e-9);
	}
	if (f)
		fclose(f);
}

/* 1 when the process is of the group, or was started by one that is, over up to `levels` processes: a child
 * of ours starts compilers, each in a group of its own. *ready: it runs, or would. */
static int belongs(long pid, pid_t group, int levels, int *ready)
{
	char path[64], text[512], state = 0;
	const char *end; /* of the name, which may hold anything */
	long parent = 0, own = 0;
	size_t n = 0;
	FILE *f;
	int of_parent;

	snprintf(path, sizeof path, "/proc/%ld/stat", pid);
	f = fopen(path, "re");
	if (f) {
		n = fread(text, 1, sizeof text - 1, f);
		fclose(f);
	}
	text[n] = '\0';
	end = strrchr(text, ')');
	if (!end || sscanf(end + 1, " %c %ld %ld", &state, &parent, &own) != 3)
		return 0;
	*ready = state == 'R';
	return own == group || (levels > 0 && parent > 1 && belongs(parent, group, levels - 1, &of_parent));
}

static Look look(pid_t group)
{
	Look l = { 0 };
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		long pid = strtol(entry->d_name, NULL, 10);
		int ready = 0;

		if (pid <= 0 || !belongs(pid, group, LEVELS, &ready))
			continue;
		look_at(pid, &l);
		l.ready += ready;
	}
	if (dir)
		closedir(dir);
	return l;
}

void pm__deadline_begin(PmDeadline *d, pid_t group, double seconds)
{
	Look l = { 0 };

	if (seconds > 0)
		look_at(group, &l);
	*d = (PmDeadline){ .group = group,
			   .seconds = seconds > 0 ? seconds : -1,
			   .began = pm_now(),
			   .before = l.waited,
			   .used = -1 };
}

/* How long a process has waited is known up to when it last ran. For the wait that lasts, two looks must find
 * the same time used: until the second, nobody knows, and LOOK_MS are given. */
static double wait_that_lasts(PmDeadline *d, const Look *l, double now)
{
	if (!l->ready)
		return 0;
	if (l->used != d->used) {
		double first = d->used < 0 ? LOOK_MS * 1e-3 : 0;

		d->used = l->used;
		d->stuck_since = now;
		return first;
	}
	return now - d->stuck_since + LOOK_MS * 1e-3;
}

double pm__deadline_rest(PmDeadline *d)
{
	double now = pm_now(), starved;
	Look l;

	if (d->seconds < 0)
		return -1;
	if (d->began + d->seconds + d->starved > now)
		return d->began + d->seconds + d->starved - now;
	l = look(d->group);
	starved = fmax(0, l.waited - d->before) + wait_that_lasts(d, &l, now);
	d->starved = fmin(fmax(d->starved, starved), PM__STARVED_TIMES * d->seconds);
	return fmax(0, d->began + d->seconds + d->starved - now);
}
