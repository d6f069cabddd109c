/* SPDX-License-Identifier: Apache-2.0 */
/* judgelab_pool.c - the pieces of the experiment by several processes, until time is up. */
#include "tests/lib/judgelab/judgelab_pool.h"

#include "base/core/arena.h"
#include "base/core/json.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { GRACE = 20 }; /* seconds for pieces that are under way when time is up */

static void die(const char *what, const char *path)
{
	fprintf(stderr, "judgelab: %s '%s'; choose another place for the results with --json.\n", what, path);
	exit(4);
}

static void part_name(char *to, size_t room, const char *path, int job)
{
	snprintf(to, room, "%s.%d", path, job);
}

/* A line for each piece: its number and its result. */
static void work(int n, double end, const char *part, int *next, JlPieceRun *run, void *user)
{
	FILE *f = fopen(part, "w");

	if (!f)
		die("Cannot write", part);
	for (;;) {
		int k = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED);
		cJSON *o;
		char *line;

		if (k >= n || (end > 0 && pm_now() >= end))
			break;
		o = run(k, user);
		line = cJSON_PrintUnformatted(o);
		fprintf(f, "%d %s\n", k, line);
		fflush(f);
		free(line);
		cJSON_Delete(o);
	}
	fclose(f);
}

static void collect(const char *part, int n, cJSON **result)
{
	PmStr text;
	PmErr err;

	pm_err_init(&err);
	pm_str_init(&text);
	if (pm_read_file(part, 1 << 28, &text, &err))
		die("Cannot read", part);
	for (char *at = text.len ? text.s : NULL, *end; at && *at; at = end ? end + 1 : NULL) {
		char *rest;
		long k = strtol(at, &rest, 10);

		end = strchr(at, '\n');
		/* A last line without an end is of a process that was ended. */
		if (end && k >= 0 && k < n)
			(void)pm_json_parse(rest, (size_t)(end - rest), &result[k], &err);
	}
	pm_str_release(&text);
	(void)unlink(part);
}

static int is_late(double end)
{
	return end > 0 && pm_now() >= end + GRACE;
}

/* Waits for the processes; ends those that are not done in time. */
static void await(pid_t *child, int jobs, double end)
{
	const struct timespec pause = { .tv_nsec = 100000000 };

	for (int k = 0; k < jobs; k++) {
		while (!is_late(end) && waitpid(child[k], NULL, WNOHANG) == 0)
			nanosleep(&pause, NULL);
		if (is_late(end)) {
			(void)kill(child[k], SIGKILL);
			(void)waitpid(child[k], NULL, 0);
		}
	}
}

void jl_pool(int n, int jobs, double seconds, const char *path, JlPieceRun *run, void *user, cJSON **result)
{
	int *next = mmap(NULL, sizeof *next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t *child = pm_xcalloc((size_t)jobs, sizeof *child);
	double end = seconds > 0 ? pm_now() + seconds : 0;
	char part[4200];

	if (next == MAP_FAILED)
		die("There is no memory for", "a counter");
	fflush(NULL);
	for (int k = 0; k < jobs; k++) {
		part_name(part, sizeof part, path, k);
		child[k] = fork();
		if (child[k] < 0)
			die("No process can be started for", part);
		if (!child[k]) {
			work(n, end, part, next, run, user);
			_exit(0);
		}
	}
	await(child, jobs, end);
	for (int k = 0; k < jobs; k++) {
		part_name(part, sizeof part, path, k);
		collect(part, n, result);
	}
	munmap(next, sizeof *next);
	free(child);
}
