/* SPDX-License-Identifier: Apache-2.0 */
/* need.c - skipping test cases with a reason. */
#include "tests/lib/need.h"

#include "base/core/str.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"
#include "runtime/device/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

void pm_test_skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	printf("# reason: ");
	vprintf(fmt, ap);
	printf("\n");
	fflush(stdout);
	va_end(ap);
	skip();
}

void pm_test_need_path(const char *path)
{
	if (!pm_path_exists(path))
		pm_test_skip("%s is not here", path);
}

void pm_test_need_program(const char *name)
{
	const char *dir = getenv("PATH");
	PmStr path = PM_STR_INIT;
	int found = 0;

	while (dir && *dir && !found) {
		size_t n = strcspn(dir, ":");

		pm_str_clear(&path);
		pm_str_addf(&path, "%.*s/%s", (int)n, dir, name);
		found = access(path.s, X_OK) == 0;
		dir += n + (dir[n] == ':');
	}
	pm_str_release(&path);
	if (!found)
		pm_test_skip("the program %s is not installed", name);
}

static int try_device(void *arg, PmStr *out)
{
	PmDevice *d = NULL;
	PmErr err;

	pm_err_init(&err);
	if (pm_device_open(arg, &d, &err)) {
		pm_str_add(out, err.text);
		return 1;
	}
	d->ops->close(d);
	return 0;
}

void pm_test_need_device(const char *name)
{
	PmLimits lim = { .seconds = 60, .file_size = -1 };
	char device[16];
	PmProcResult r;
	PmErr err;

	pm_err_init(&err);
	snprintf(device, sizeof device, "%s", name);
	if (pm_fork_call(try_device, device, &lim, &r, &err))
		fail_msg("%s", err.text);
	if (r.end == PM_PROC_EXITED && r.code == 1)
		pm_test_skip("%s", r.out.s);
	if (r.end != PM_PROC_EXITED || r.code)
		fail_msg("the process that opens the device \"%s\" died: %s", name, r.errtext.s);
	pm_proc_result_release(&r);
}

void pm_test_need_sandbox(const char *program)
{
	const char *const doctor[] = { program, "doctor", NULL };
	PmLimits lim = { .seconds = 300, .file_size = -1 };
	PmProcResult r = { 0 };
	const char *line;
	int lacks = 0;

	assert_int_equal(pm_run(doctor, NULL, 0, &lim, &r, NULL), PM_OK);
	for (line = r.out.s; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		lacks |= !strncmp(line, "no ", 3) && strstr(line, "sandbox") != NULL &&
			 strstr(line, "sandbox") < strchr(line, '\n');
	pm_proc_result_release(&r);
	if (lacks)
		pm_test_skip("a layer of the sandbox is missing here");
}
