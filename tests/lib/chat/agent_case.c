/* SPDX-License-Identifier: Apache-2.0 */
/* agent_case.c - a database with tasks, and runs of the program. */
#include "tests/lib/chat/agent_case.h"

#include "base/core/arena.h"
#include "base/sys/io.h"
#include "tests/plugin/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { MAX_ARGS = 64 };

static void must(PmStatus st, const PmErr *err)
{
	if (st)
		fail_msg("%s", err->text);
}

static char *in_folder(const AgentCase *c, const char *name, const char *ending)
{
	PmStr path = PM_STR_INIT;

	pm_str_addf(&path, "%s/%s%s", c->dir.s, name, ending);
	return pm_str_detach(&path, NULL);
}

static void copy_file(const char *from, const char *to)
{
	PmStr bytes = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	must(pm_read_file(from, 0, &bytes, &err), &err);
	must(pm_write_file(to, bytes.s, bytes.len, &err), &err);
	pm_str_release(&bytes);
}

void agent_case_open(AgentCase *c)
{
	static const char *const passes[] = { "passes/silu.so", "passes/add_rms_norm.so" }, *const names[] = {
		"t", "u"
	};
	PmErr err;

	pm_err_init(&err);
	memset(c, 0, sizeof *c);
	pm_str_init(&c->dir);
	pm_str_init(&c->db);
	must(pm_temp_dir("agent", &c->dir, &err), &err);
	pm_path_join(c->dir.s, "tasks.db", &c->db);
	assert_int_equal(agent_case_run(c, "extract",
					(const char *[]){ "extract", built("models/llama_block.onnx"), "--db",
							  c->db.s, "--quiet", NULL }),
			 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(agent_case_run(c, "make",
						(const char *[]){ "task", "make", "--db", c->db.s, "--for",
								  built(passes[i]), "--top", "1", "--shapes",
								  "1", "--max-elements", "2000", "--name",
								  names[i], "--quiet", NULL }),
				 0);
}

void agent_case_close(AgentCase *c)
{
	pm_remove_tree(c->dir.s, NULL);
	pm_str_release(&c->dir);
	pm_str_release(&c->db);
}

char *agent_case_db(const AgentCase *c, const char *name)
{
	char *path = in_folder(c, name, ".db");

	copy_file(c->db.s, path);
	return path;
}

pid_t agent_case_start(const AgentCase *c, const char *name, const char *const *args)
{
	const char *argv[MAX_ARGS] = { built("passmith") };
	char *out = in_folder(c, name, ".out"), *errors = in_folder(c, name, ".err");
	pid_t pid;
	int n = 0;

	while (args[n]) {
		assert_true(n + 2 < MAX_ARGS);
		argv[n + 1] = args[n];
		n++;
	}
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		setsid();
		dup2(open("/dev/null", O_RDONLY), 0);
		dup2(open(out, O_WRONLY | O_CREAT | O_TRUNC, 0666), 1);
		dup2(open(errors, O_WRONLY | O_CREAT | O_TRUNC, 0666), 2);
		execv(argv[0], (char *const *)(uintptr_t)argv);
		_exit(126);
	}
	free(out);
	free(errors);
	return pid;
}

int agent_case_run(const AgentCase *c, const char *name, const char *const *args)
{
	pid_t pid = agent_case_start(c, name, args);
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status))
		fail_msg("passmith %s ends with status 0x%x", args[0], (unsigned)status);
	return WEXITSTATUS(status);
}

char *agent_case_text(const AgentCase *c, const char *file)
{
	char *path = in_folder(c, file, "");
	PmStr text = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	must(pm_read_file(path, 0, &text, &err), &err);
	free(path);
	pm_str_addc(&text, '\n');
	return pm_str_detach(&text, NULL);
}

cJSON *agent_case_json(const AgentCase *c, const char *name)
{
	char *path = in_folder(c, name, ".out");
	PmStr text = PM_STR_INIT;
	cJSON *j = NULL;
	PmErr err;

	pm_err_init(&err);
	must(pm_read_file(path, 0, &text, &err), &err);
	if (pm_json_parse(text.s, text.len, &j, &err))
		fail_msg("%s: %s\n%.500s", path, err.text, text.s);
	free(path);
	pm_str_release(&text);
	return j;
}
