/* SPDX-License-Identifier: Apache-2.0 */
/* opened.c - runs a command and counts how often it opens files: opened FILE... -- COMMAND...
 *
 * The kernel tells (inotify), so nothing in the command can hide an opening. A count for each file goes to
 * stderr behind "opened:", in the order given, when the command has ended; its exit status is ours.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_FILES = 64 };

int main(int argc, char **argv)
{
	/* Closing is watched so that two openings are never one event: equal events in a row are merged. */
	int count[MAX_FILES] = { 0 }, watch[MAX_FILES], fd = inotify_init1(IN_NONBLOCK), n = 0, status = 0, i;
	_Alignas(struct inotify_event) char buf[65536];
	const struct inotify_event *e;
	ssize_t got, at;
	pid_t pid;

	for (i = 1; i < argc && strcmp(argv[i], "--") && n < MAX_FILES; i++)
		watch[n++] = inotify_add_watch(fd, argv[i], IN_OPEN | IN_CLOSE);
	if (i + 1 >= argc || fd < 0 || (n && watch[n - 1] < 0))
		return 99;
	pid = fork();
	if (!pid) {
		close(fd);
		execvp(argv[i + 1], argv + i + 1);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 99;
	while ((got = read(fd, buf, sizeof buf)) > 0) {
		for (at = 0; at < got; at += (ssize_t)(sizeof *e + e->len)) {
			e = (const void *)(buf + at);
			if (e->mask & IN_Q_OVERFLOW)
				return 99;
			for (i = 0; i < n; i++)
				count[i] += e->wd == watch[i] && e->mask & IN_OPEN;
		}
	}
	fprintf(stderr, "opened:");
	for (i = 0; i < n; i++)
		fprintf(stderr, " %d", count[i]);
	fprintf(stderr, "\n");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}
