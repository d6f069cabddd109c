/* SPDX-License-Identifier: Apache-2.0 */
/* test_gpus.c - which GPUs a list names, and which command has one. */
#include "runtime/gpus/gpu_claim.h"
#include "runtime/gpus/gpus.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static PmGpus machine(void)
{
	static const char *const uuid[] = { "GPU-aaaa0000-1", "GPU-aaaa1111-2", "GPU-bbbb2222-3" };
	PmGpus all = { .n = 3 };

	for (int i = 0; i < all.n; i++) {
		all.gpu[i].index = i * 2; /* some are hidden */
		snprintf(all.gpu[i].uuid, sizeof all.gpu[i].uuid, "%s", uuid[i]);
		snprintf(all.gpu[i].info.name, sizeof all.gpu[i].info.name, "%s", "Model");
	}
	return all;
}

static void lists_are_told_from_others(void **state)
{
	static const char *const good[] = { "all", "0", "0,2", "12,3", "GPU-aaaa", "GPU-aaaa0000-1,2" };
	static const char *const bad[] = {
		"",  ",",    "0,",      ",0",         "0,,1",         "-1",    "0-2", "All",
		"x", "GPU-", "GPU-aaa", "GPU-zzzzzz", "MIG-aaaaaaaa", "12345", "0 1", "GPU-aaaa/../x"
	};

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		assert_true(pm_gpus_is_list(good[i]));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(pm_gpus_is_list(bad[i]));
}

static void names_are_found(void **state)
{
	PmGpus all = machine(), some;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_gpus_select(&all, "all", &some, &err), PM_OK);
	assert_int_equal(some.n, 3);
	assert_int_equal(pm_gpus_select(&all, "4,GPU-aaaa0,4,0", &some, &err), PM_OK);
	assert_true(some.n == 2 && some.gpu[0].index == 4 && some.gpu[1].index == 0);
	assert_int_equal(pm_gpus_select(&all, "1", &some, &err), PM_E_NOT_FOUND);
	assert_non_null(strstr(err.text, "it can use 0, 2, 4"));
	pm_err_init(&err);
	assert_int_equal(pm_gpus_select(&all, "GPU-aaaa", &some, &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, "two UUIDs"));
}

static void models_are_not_mixed(void **state)
{
	PmGpus all = machine(), some;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	snprintf(all.gpu[2].info.name, sizeof all.gpu[2].info.name, "Other");
	assert_int_equal(pm_gpus_select(&all, "0,2", &some, &err), PM_OK);
	assert_int_equal(pm_gpus_select(&all, "4", &some, &err), PM_OK);
	assert_int_equal(pm_gpus_select(&all, "0,4", &some, &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, "GPU 0 is Model and GPU 4 is Other"));
}

/* ---- claims ---- */

static char folder[] = "/tmp/passmith-claims-XXXXXX";

/* A process of the command `owner` that does what it is told, a letter at a time: t takes, l leaves, and q
 * ends it. It answers 1 or 0 to the first. */
typedef struct Other {
	pid_t pid;
	int ask, answer;
} Other;

static Other start(uint64_t owner)
{
	int ask[2], answer[2];
	Other o;

	assert_int_equal(pipe(ask) | pipe(answer), 0);
	o.pid = fork();
	if (!o.pid) {
		PmGpuClaim *c = NULL;
		char what;
		int pid;

		close(ask[1]);
		close(answer[0]);
		if (pm_gpu_claim_open(folder, "GPU-x", owner, &c, NULL))
			_exit(1);
		while (read(ask[0], &what, 1) == 1 && what != 'q') {
			char said = what == 't' ? (char)('0' + pm_gpu_claim_take(c, &pid)) : '-';

			if (what == 'l')
				pm_gpu_claim_leave(c);
			if (write(answer[1], &said, 1) != 1)
				break;
		}
		_exit(0);
	}
	close(ask[0]);
	close(answer[1]);
	o.ask = ask[1];
	o.answer = answer[0];
	return o;
}

static char tell(const Other *o, char what)
{
	char said = '?';

	assert_int_equal(write(o->ask, &what, 1), 1);
	assert_int_equal(read(o->answer, &said, 1), 1);
	return said;
}

static void end(const Other *o, int by_signal)
{
	if (by_signal)
		kill(o->pid, SIGKILL);
	else
		assert_int_equal(write(o->ask, "q", 1), 1);
	close(o->ask);
	waitpid(o->pid, NULL, 0);
	close(o->answer);
}

static void a_command_shares_and_others_wait(void **state)
{
	Other a = start(5), b = start(5), x = start(9);
	PmGpuClaim *c = NULL;
	int pid;

	(void)state;
	assert_int_equal(pm_gpu_claim_open(folder, "GPU-x", 4, &c, NULL), PM_OK);
	assert_int_equal(tell(&a, 't'), '1');
	assert_int_equal(tell(&b, 't'), '1'); /* of the same command */
	assert_int_equal(pm_gpu_claim_take(c, &pid), 0);
	assert_true(pid == a.pid || pid == b.pid);
	assert_int_equal(tell(&x, 't'), '0');
	tell(&a, 'l');
	assert_int_equal(pm_gpu_claim_take(c, &pid), 0);
	assert_int_equal(pid, b.pid);
	end(&b, 1); /* killed: it has nothing any more */
	assert_int_equal(pm_gpu_claim_take(c, &pid), 1);
	assert_int_equal(tell(&a, 't'), '0');
	assert_int_equal(tell(&x, 't'), '0');
	pm_gpu_claim_leave(c);
	end(&a, 0);
	end(&x, 0);
	pm_gpu_claim_free(c);
}

/* Who had it lets one that waits go first, and is not held up by one that waits no more. */
static void turns_are_taken(void **state)
{
	Other a = start(5), x = start(9);

	(void)state;
	assert_int_equal(tell(&a, 't'), '1');
	assert_int_equal(tell(&x, 't'), '0');
	tell(&a, 'l');
	assert_int_equal(tell(&a, 't'), '0');
	assert_int_equal(tell(&x, 't'), '1');
	assert_int_equal(tell(&a, 't'), '0');
	tell(&x, 'l');
	assert_int_equal(tell(&x, 't'), '0'); /* a waits now */
	assert_int_equal(tell(&a, 't'), '1');
	tell(&a, 'l');
	assert_int_equal(tell(&a, 't'), '0'); /* x still waits */
	end(&x, 1);
	assert_int_equal(tell(&a, 't'), '1');
	end(&a, 0);
}

/* One that waits and never comes, being stopped, does not hold up the others for ever. */
static void patience_ends(void **state)
{
	Other a = start(5), x = start(9);
	int n = 0;

	(void)state;
	assert_int_equal(tell(&a, 't'), '1');
	assert_int_equal(tell(&x, 't'), '0');
	tell(&a, 'l');
	while (n < 10000 && tell(&a, 't') == '0')
		n++;
	assert_in_range(n, 1, 1000);
	end(&a, 0);
	end(&x, 0);
}

static void what_is_no_lock_file_is_refused(void **state)
{
	char path[256], target[256];
	PmGpuClaim *c = NULL;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	snprintf(path, sizeof path, "%s/GPU-link.lock", folder);
	snprintf(target, sizeof target, "%s/target", folder);
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(pm_gpu_claim_open(folder, "GPU-link", 1, &c, &err), PM_E_ENV);
	assert_int_not_equal(access(target, F_OK), 0);
	unlink(path);
	assert_int_equal(mkdir(path, 0777), 0);
	assert_int_equal(pm_gpu_claim_open(folder, "GPU-link", 1, &c, NULL), PM_E_ENV);
	rmdir(path);
	assert_int_equal(mkfifo(path, 0666), 0);
	assert_int_equal(pm_gpu_claim_open(folder, "GPU-link", 1, &c, NULL), PM_E_ENV);
	unlink(path);
	assert_int_equal(pm_gpu_claim_open("/nowhere", "GPU-x", 1, &c, NULL), PM_E_ENV);
	assert_null(c);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char path[256];

	(void)state;
	snprintf(path, sizeof path, "%s/GPU-x.lock", folder);
	unlink(path);
	return rmdir(folder);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_told_from_others),
		cmocka_unit_test(names_are_found),
		cmocka_unit_test(models_are_not_mixed),
		cmocka_unit_test(a_command_shares_and_others_wait),
		cmocka_unit_test(turns_are_taken),
		cmocka_unit_test(patience_ends),
		cmocka_unit_test(what_is_no_lock_file_is_refused),
	};

	return cmocka_run_group_tests_name("gpus", tests, make_folder, remove_folder);
}
