/* SPDX-License-Identifier: Apache-2.0 */
/* chat_server.c - answers by script: a process that accepts, and one for each connection. */
#include "tests/lib/chat/chat_server.h"

#include "base/core/arena.h"
#include "base/core/json.h"
#include "base/sys/io.h"
#include "tests/lib/chat/chat_script.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { REQUEST_MOST = 64 << 20 };

typedef struct Shared {
	atomic_int requests, paid, used[CHAT_RULES];
} Shared;

struct ChatServer {
	ChatScript script;
	Shared *shared;
	PmStr log;
	char url[64];
	int fd;
	pid_t pid;
};

/* The whole request: 0 when the client leaves before its end. *body is where its body begins. */
static int read_request(int fd, PmStr *r, size_t *body)
{
	char piece[65536];
	const char *end, *length;
	size_t want = 0;
	ssize_t n;

	for (;;) {
		end = strstr(r->s, "\r\n\r\n");
		if (end && !want) {
			length = strcasestr(r->s, "content-length:");
			*body = (size_t)(end - r->s) + 4;
			want = *body + (length && length < end ? (size_t)atoll(length + 15) : 0);
		}
		if (want && r->len >= want)
			return 1;
		n = read(fd, piece, sizeof piece);
		if (n <= 0 || r->len > REQUEST_MOST)
			return 0;
		pm_str_addn(r, piece, (size_t)n);
	}
}

static int write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t k = send(fd, p, n, MSG_NOSIGNAL);

		if (k <= 0)
			return 0;
		p += k;
		n -= (size_t)k;
	}
	return 1;
}

static const ChatRule *pick(ChatServer *s, const char *body)
{
	for (size_t i = 0; i < s->script.n; i++) {
		const ChatRule *r = &s->script.rule[i];

		if (!chat_rule_fits(r, body))
			continue;
		if (!r->times || atomic_fetch_add(&s->shared->used[i], 1) < r->times)
			return r;
	}
	return NULL;
}

static void answer(ChatServer *s, int fd, const ChatRule *r)
{
	PmStr head = PM_STR_INIT, body = PM_STR_INIT;
	size_t n;

	if (r && r->close)
		return;
	if (r && r->hang)
		pause();
	if (r)
		usleep((useconds_t)(1e6 * r->delay));
	chat_rule_body(r, &body);
	pm_str_addf(&head,
		    "HTTP/1.1 %d Scripted\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
		    "Connection: close\r\n%s%s\r\n",
		    r ? r->status : 418, body.len, r ? r->header : "", r && *r->header ? "\r\n" : "");
	n = r && r->cut > 0 && (size_t)r->cut < body.len ? (size_t)r->cut : body.len;
	/* Counted before the last byte leaves: who has the answer finds it counted. */
	if (r && r->status == 200 && n == body.len)
		atomic_fetch_add(&s->shared->paid, 1);
	if (write_all(fd, head.s, head.len))
		write_all(fd, body.s, n);
	pm_str_release(&head);
	pm_str_release(&body);
}

static void serve_one(ChatServer *s, int fd)
{
	PmStr request = PM_STR_INIT;
	size_t body = 0;
	int log;

	if (read_request(fd, &request, &body)) {
		atomic_fetch_add(&s->shared->requests, 1);
		log = s->log.len ? open(s->log.s, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
		if (log >= 0) {
			pm_str_addc(&request, '\n');
			if (write(log, request.s, request.len) < 0)
				_exit(1);
			close(log);
		}
		answer(s, fd, pick(s, request.s + body));
	}
	shutdown(fd, SHUT_RDWR);
	_exit(0);
}

static void serve(ChatServer *s)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int fd = accept(s->fd, NULL, NULL);

		if (fd < 0)
			continue;
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			serve_one(s, fd);
		}
		close(fd);
	}
}

ChatServer *chat_server_start_text(const char *text, const char *log)
{
	ChatServer *s = pm_xcalloc(1, sizeof *s);
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof at;

	chat_script_read(text, &s->script);
	pm_str_init(&s->log);
	pm_str_add(&s->log, log ? log : "");
	s->shared = mmap(NULL, sizeof *s->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(s->shared != MAP_FAILED);
	s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(s->fd >= 0);
	assert_int_equal(bind(s->fd, (struct sockaddr *)&at, sizeof at), 0);
	assert_int_equal(listen(s->fd, 64), 0);
	assert_int_equal(getsockname(s->fd, (struct sockaddr *)&at, &len), 0);
	snprintf(s->url, sizeof s->url, "http://127.0.0.1:%d/v1", ntohs(at.sin_port));
	/* A proxy of the machine's is none for the loopback. */
	setenv("no_proxy", "127.0.0.1", 1);
	s->pid = fork();
	assert_true(s->pid >= 0);
	if (s->pid == 0)
		serve(s);
	return s;
}

ChatServer *chat_server_start(const char *script, const char *log)
{
	PmStr text = PM_STR_INIT;
	ChatServer *s;
	PmErr err;

	pm_err_init(&err);
	if (pm_read_file(script, 0, &text, &err))
		fail_msg("%s", err.text);
	s = chat_server_start_text(text.s, log);
	pm_str_release(&text);
	return s;
}

const char *chat_server_url(const ChatServer *s)
{
	return s->url;
}

int chat_server_requests(const ChatServer *s)
{
	return atomic_load(&s->shared->requests);
}

int chat_server_paid(const ChatServer *s)
{
	return atomic_load(&s->shared->paid);
}

void chat_server_stop(ChatServer *s)
{
	if (!s)
		return;
	kill(s->pid, SIGKILL);
	while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(s->fd);
	munmap(s->shared, sizeof *s->shared);
	chat_script_release(&s->script);
	pm_str_release(&s->log);
	free(s);
}
