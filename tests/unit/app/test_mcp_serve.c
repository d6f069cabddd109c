/* SPDX-License-Identifier: Apache-2.0 */
/* test_mcp_serve.c - the server between two pipes: all requests at once, clients that read late, vanish or
 * stop in the middle of a line. */
#include "app/mcp/mcp.h"

#include "base/core/arena.h"
#include "tests/lib/mcp_tools.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define META                                                                                                 \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                             \
	"\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define CALL                                                                                                 \
	"{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{" META                         \
	",\"name\":\"%s\",\"arguments\":{}}}\n"
#define PING "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"

typedef struct Peer {
	pid_t pid;
	int to, from; /* the client's ends */
	PmStr got;
} Peer;

/* The server in a child, which exits with the number of calls that it ended; 100 when it failed. */
static void start(Peer *p, int with_sockets)
{
	int in[2], out[2];

	if (with_sockets) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, in), 0);
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, out), 0);
	} else {
		assert_int_equal(pipe(in), 0);
		assert_int_equal(pipe(out), 0);
	}
	p->pid = fork();
	assert_true(p->pid >= 0);
	if (!p->pid) {
		TestTools tools;
		PmMcpOpts o = { .tools = pm_test_tools(&tools) };
		PmMcp *m = pm_mcp_new(&o);
		PmStatus st;

		close(in[1]);
		close(out[0]);
		st = pm_mcp_serve(m, in[0], out[1], NULL);
		pm_mcp_free(m);
		_exit(st || tools.first ? 100 : tools.cancelled);
	}
	close(in[0]);
	close(out[1]);
	p->to = in[1];
	p->from = out[0];
	pm_str_init(&p->got);
	signal(SIGPIPE, SIG_IGN);
}

static void say(const Peer *p, const char *text, size_t n)
{
	while (n) {
		ssize_t k = write(p->to, text, n);

		assert_true(k > 0);
		text += k;
		n -= (size_t)k;
	}
}

/* Reads until the output has `lines` lines or ends; returns how many there are. */
static int hear(Peer *p, int lines)
{
	char bytes[1 << 16];
	int n = 0;
	ssize_t k;

	for (size_t i = 0; i < p->got.len; i++)
		n += p->got.s[i] == '\n';
	while (n < lines && (k = read(p->from, bytes, sizeof bytes)) > 0) {
		for (ssize_t i = 0; i < k; i++)
			n += bytes[i] == '\n';
		pm_str_addn(&p->got, bytes, (size_t)k);
	}
	return n;
}

/* Waits for the server's end: how many calls it ended. */
static int ended(Peer *p)
{
	int status;

	assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void finish(Peer *p)
{
	if (p->to >= 0)
		close(p->to);
	if (p->from >= 0)
		close(p->from);
	pm_str_release(&p->got);
}

/* Calls that are in flight when something else is answered. */
static void begin_calls(Peer *p, int n)
{
	char line[512];

	for (int i = 0; i < n; i++) {
		snprintf(line, sizeof line, CALL, i + 100, "never");
		say(p, line, strlen(line));
	}
	say(p, PING "\n", strlen(PING) + 1);
	assert_int_equal(hear(p, 1), 1);
}

enum { REQUESTS = 10000, PAD = 2000 };

static void all_requests(PmStr *out)
{
	for (int i = 0; i < REQUESTS; i++) {
		pm_str_addf(out, CALL, i, i % 7 ? "echo" : "fail");
		out->len--; /* the newline goes behind the blanks */
		for (int k = 0; k < PAD; k++)
			pm_str_addc(out, ' ');
		pm_str_addc(out, '\n');
	}
}

static void each_was_answered_once(const PmStr *got)
{
	char *seen = pm_xcalloc(REQUESTS, 1);
	const char *line = got->s, *end;
	int n = 0;

	for (; (end = strchr(line, '\n')) != NULL; line = end + 1, n++) {
		cJSON *j = NULL;
		int64_t id;

		assert_int_equal(pm_json_parse(line, (size_t)(end - line), &j, NULL), PM_OK);
		id = pm_json_i64(j, "id", -1);
		assert_true(id >= 0 && id < REQUESTS && !seen[id]);
		assert_non_null(cJSON_GetObjectItemCaseSensitive(j, "result"));
		seen[id] = 1;
		cJSON_Delete(j);
	}
	assert_int_equal(n, REQUESTS);
	free(seen);
}

/* A client that writes all before it reads gets stuck after what the pipes and the server's own bound hold:
 * the server takes no more. Then it reads, and all are answered. */
static void ten_thousand_requests(int with_sockets)
{
	PmStr all = PM_STR_INIT;
	Peer p;
	size_t sent = 0, stuck;
	ssize_t k;

	all_requests(&all);
	start(&p, with_sockets);
	assert_int_equal(fcntl(p.to, F_SETFL, O_NONBLOCK), 0);
	for (;;) { /* stuck: nothing is taken for a while */
		struct pollfd w = { p.to, POLLOUT, 0 };

		if (poll(&w, 1, 300) == 0)
			break;
		k = write(p.to, all.s + sent, all.len - sent);
		assert_true(k > 0 || errno == EAGAIN);
		sent += k > 0 ? (size_t)k : 0;
		if (sent == all.len)
			break;
	}
	stuck = sent;
	while (sent < all.len) {
		struct pollfd f[2] = { { p.to, POLLOUT, 0 }, { p.from, POLLIN, 0 } };
		char bytes[1 << 16];

		assert_true(poll(f, 2, -1) > 0);
		if (f[1].revents && (k = read(p.from, bytes, sizeof bytes)) > 0)
			pm_str_addn(&p.got, bytes, (size_t)k);
		if (f[0].revents && (k = write(p.to, all.s + sent, all.len - sent)) > 0)
			sent += (size_t)k;
	}
	close(p.to);
	p.to = -1;
	assert_int_equal(hear(&p, REQUESTS), REQUESTS);
	each_was_answered_once(&p.got);
	assert_int_equal(hear(&p, REQUESTS + 1), REQUESTS);
	assert_int_equal(ended(&p), 0);
	assert_true(stuck < all.len); /* it was not all read into memory */
	finish(&p);
	pm_str_release(&all);
}

static void ten_thousand_requests_are_answered_once_through_pipes(void **state)
{
	(void)state;
	ten_thousand_requests(0);
}

static void ten_thousand_requests_are_answered_once_through_sockets(void **state)
{
	(void)state;
	ten_thousand_requests(1);
}

static void it_ends_with_its_input_and_ends_calls(void **state)
{
	Peer p;

	(void)state;
	start(&p, 0);
	begin_calls(&p, 5);
	close(p.to);
	p.to = -1;
	assert_int_equal(ended(&p), 5);
	assert_int_equal(hear(&p, 2), 1); /* nothing more was said */
	finish(&p);
}

static void it_ends_when_nobody_reads(void **state)
{
	(void)state;
	for (int with_sockets = 0; with_sockets < 2; with_sockets++) {
		Peer p;

		start(&p, with_sockets);
		begin_calls(&p, 3);
		close(p.from);
		p.from = -1;
		assert_int_equal(ended(&p), 3); /* its input is open still */
		finish(&p);
	}
}

static void it_ends_when_told_by_a_signal(void **state)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP };

	(void)state;
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
		Peer p;

		start(&p, 0);
		begin_calls(&p, 2);
		kill(p.pid, signals[i]);
		assert_int_equal(ended(&p), 2);
		finish(&p);
	}
}

/* What a client leaves unread does not keep the server. */
static void a_client_that_stops_reading_and_leaves_does_not_keep_it(void **state)
{
	char line[512];
	Peer p;

	(void)state;
	start(&p, 0);
	begin_calls(&p, 2);
	assert_int_equal(fcntl(p.to, F_SETFL, O_NONBLOCK), 0);
	snprintf(line, sizeof line, CALL, 7, "echo");
	for (struct pollfd w = { p.to, POLLOUT, 0 }; poll(&w, 1, 200) > 0;)
		if (write(p.to, line, strlen(line)) < 0)
			break;
	close(p.from);
	p.from = -1;
	assert_int_equal(ended(&p), 2);
	finish(&p);
}

static void lines_may_come_in_pieces(void **state)
{
	Peer p;

	(void)state;
	start(&p, 0);
	for (size_t i = 0; i < strlen(PING); i++)
		say(&p, PING + i, 1);
	say(&p, "\r\n\n  \n" PING, strlen(PING) + 6); /* and the last without a newline */
	close(p.to);
	p.to = -1;
	assert_int_equal(hear(&p, 3), 2);
	assert_int_equal(ended(&p), 0);
	finish(&p);
}

static void a_line_that_is_too_long_is_passed_over(void **state)
{
	PmStr s = PM_STR_INIT;
	Peer p;

	(void)state;
	start(&p, 0);
	for (int i = 0; i < 9 << 20; i++)
		pm_str_addc(&s, i % 3 ? 'x' : '"');
	say(&p, s.s, s.len);
	say(&p, "\n" PING "\n", strlen(PING) + 2);
	assert_int_equal(hear(&p, 2), 2);
	assert_non_null(strstr(p.got.s, "-32600"));
	assert_non_null(strstr(p.got.s, "\"id\":1"));
	close(p.to);
	p.to = -1;
	assert_int_equal(hear(&p, 3), 2);
	assert_int_equal(ended(&p), 0);
	finish(&p);
	pm_str_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ten_thousand_requests_are_answered_once_through_pipes),
		cmocka_unit_test(ten_thousand_requests_are_answered_once_through_sockets),
		cmocka_unit_test(it_ends_with_its_input_and_ends_calls),
		cmocka_unit_test(it_ends_when_nobody_reads),
		cmocka_unit_test(it_ends_when_told_by_a_signal),
		cmocka_unit_test(a_client_that_stops_reading_and_leaves_does_not_keep_it),
		cmocka_unit_test(lines_may_come_in_pieces),
		cmocka_unit_test(a_line_that_is_too_long_is_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
