/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_client.c - a client of `passmith mcp` for tests. */
#include "tests/lib/mcp_client.h"

#include "base/core/arena.h"
#include "tests/plugin/paths.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Needs what stands above. */
#include <cmocka.h>

enum { MAX_WORDS = 16, TICK_NS = 5000000 };

void mcp_start(McpClient *c, const char *const *words)
{
	const char *argv[MAX_WORDS] = { built("passmith"), "mcp", "--quiet" };
	int in[2], out[2], n = 3;

	while (words && *words) {
		assert_true(n < MAX_WORDS - 1);
		argv[n++] = *words++;
	}
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	signal(SIGPIPE, SIG_IGN);
	c->pid = fork();
	assert_true(c->pid >= 0);
	if (!c->pid) {
		signal(SIGPIPE, SIG_DFL);
		dup2(in[0], 0);
		dup2(out[1], 1);
		execv(argv[0], pm_unconst(argv));
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	c->to = in[1];
	c->from = out[0];
	c->ids = 0;
	pm_str_init(&c->got);
}

void mcp_say(McpClient *c, const char *line)
{
	PmStr s = PM_STR_INIT;
	size_t done = 0;

	pm_str_addf(&s, "%s\n", line);
	while (done < s.len) {
		ssize_t n = write(c->to, s.s + done, s.len - done);

		assert_true(n > 0);
		done += (size_t)n;
	}
	pm_str_release(&s);
}

char *mcp_hear(McpClient *c)
{
	char bytes[1 << 14], *newline, *line;
	ssize_t n;

	while (!c->got.len || !(newline = memchr(c->got.s, '\n', c->got.len))) {
		n = read(c->from, bytes, sizeof bytes);
		if (n <= 0)
			return NULL;
		pm_str_addn(&c->got, bytes, (size_t)n);
	}
	n = newline - c->got.s;
	line = pm_xmalloc((size_t)n + 1);
	memcpy(line, c->got.s, (size_t)n);
	line[n] = '\0';
	c->got.len -= (size_t)n + 1;
	memmove(c->got.s, newline + 1, c->got.len + 1);
	return line;
}

cJSON *mcp_message(McpClient *c)
{
	char *line = mcp_hear(c);
	cJSON *j = NULL;

	if (!line)
		fail_msg("the server ended");
	if (pm_json_parse(line, strlen(line), &j, NULL))
		fail_msg("the server said what is no JSON: %s", line);
	free(line);
	return j;
}

void mcp_initialize(McpClient *c)
{
	mcp_say(c,
		"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
		"\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"test\",\"version\":\"1\"}}}");
	cJSON_Delete(mcp_answer(c, 0));
}

int mcp_begin(McpClient *c, const char *tool, const char *args)
{
	PmStr s = PM_STR_INIT;

	pm_str_addf(&s,
		    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
		    "\"arguments\":%s}}",
		    ++c->ids, tool, args);
	mcp_say(c, s.s);
	pm_str_release(&s);
	return c->ids;
}

cJSON *mcp_answer(McpClient *c, int id)
{
	cJSON *j = mcp_message(c);

	if (pm_json_i64(j, "id", -1) != id || cJSON_GetObjectItemCaseSensitive(j, "method")) {
		PmStr s = PM_STR_INIT;

		pm_json_print(j, 0, &s);
		fail_msg("expected the answer to %d, got %.2000s", id, s.s);
	}
	return j;
}

cJSON *mcp_call(McpClient *c, const char *tool, const char *args)
{
	cJSON *j = mcp_answer(c, mcp_begin(c, tool, args)), *r, *content;

	r = cJSON_GetObjectItemCaseSensitive(j, "result");
	content = cJSON_DetachItemFromObjectCaseSensitive(r, "structuredContent");
	if (!content) {
		PmStr s = PM_STR_INIT;

		pm_json_print(j, 0, &s);
		fail_msg("%s went wrong: %.2000s", tool, s.s);
	}
	cJSON_Delete(j);
	return content;
}

void mcp_cancel(McpClient *c, int id)
{
	char line[128];

	snprintf(line, sizeof line,
		 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%d}}",
		 id);
	mcp_say(c, line);
}

void mcp_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int mcp_ended(McpClient *c)
{
	int status;

	assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
	mcp_close(&c->to);
	mcp_close(&c->from);
	pm_str_release(&c->got);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void mcp_finish(McpClient *c)
{
	char *more;

	mcp_close(&c->to);
	more = mcp_hear(c);
	if (more)
		fail_msg("the server said more: %s", more);
	assert_int_equal(mcp_ended(c), 0);
}

/* The parent of a process, and its state; 0 when it is not there. */
static pid_t parent_of(pid_t pid, char *state)
{
	char path[64], text[1024], *end;
	int parent = 0, fd;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	end = strrchr(text, ')'); /* the name may hold anything */
	if (!end || sscanf(end + 1, " %c %d", state, &parent) != 2)
		return 0;
	return (pid_t)parent;
}

static int has_word(pid_t pid, const char *word)
{
	char path[64], text[4096];
	ssize_t n, k;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	for (k = 0; k < n; k++)
		if (!text[k])
			text[k] = ' ';
	text[n > 0 ? n : 0] = '\0';
	return strstr(text, word) != NULL;
}

void mcp_adopt(void)
{
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
}

int mcp_descendants(pid_t pid, const char *word)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	int n = 0;

	assert_non_null(d);
	while ((e = readdir(d)) != NULL) {
		pid_t p = (pid_t)atoi(e->d_name), up = p;
		char state = 0, its = 0;

		if (p <= 0 || p == pid || !has_word(p, word) || !parent_of(p, &its) || its == 'Z')
			continue;
		while (up > 1 && up != pid)
			up = parent_of(up, &state);
		n += up == pid;
	}
	closedir(d);
	return n;
}

void mcp_all_gone(const char *word)
{
	const struct timespec tick = { 0, TICK_NS };

	while (mcp_descendants(getpid(), word))
		nanosleep(&tick, NULL);
}

void mcp_none_left(void)
{
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	assert_int_equal(errno, ECHILD);
}
