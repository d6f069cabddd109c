/* SPDX-License-Identifier: Apache-2.0 */
/* test_spool.c - pieces that several processes put into one temporary file. */
#include "base/sys/spool.h"

#include "base/core/arena.h"
#include "base/sys/io.h"
#include "base/sys/pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PIECES = 300, LIMIT = 1 << 20 };

static PmStatus put(void *arg, size_t item, void *result, PmErr *err)
{
	char bytes[PIECES];

	memset(bytes, (int)item, item);
	return pm_spool_put(arg, bytes, item, result, err);
}

/* A piece is read by the process that did not write it. */
static PmStatus check(void *arg, size_t item, PmPoolEnd end, const void *result, PmErr *err)
{
	const PmSpoolPlace *at = result;
	char bytes[PIECES];

	assert_int_equal(end, PM_POOL_DONE);
	assert_int_equal(at->size, item);
	assert_int_equal(pm_spool_get(arg, at, bytes, err), PM_OK);
	for (size_t i = 0; i < item; i++)
		assert_int_equal((unsigned char)bytes[i], item & 255);
	return PM_OK;
}

static void processes_put_at_the_same_time(void **state)
{
	PmSpool *s = NULL;

	(void)state;
	assert_int_equal(pm_spool_open(LIMIT, &s, NULL), PM_OK);
	for (int jobs = 1; jobs <= 4; jobs += 3) {
		PmPool pool = {
			PIECES, sizeof(PmSpoolPlace), jobs, NULL, NULL, put, check, s, NULL, NULL, 0
		};

		assert_int_equal(pm_pool_run(&pool, NULL), PM_OK);
	}
	pm_spool_close(s);
}

static void no_more_than_the_limit(void **state)
{
	PmSpool *s = NULL;
	PmSpoolPlace at;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_spool_open(10, &s, NULL), PM_OK);
	assert_int_equal(pm_spool_put(s, "123456", 6, &at, NULL), PM_OK);
	assert_int_equal(pm_spool_put(s, "12345", 5, &at, &err), PM_E_LIMIT);
	assert_non_null(strstr(err.text, "more than 10 bytes"));
	assert_int_equal(pm_spool_put(s, "1234", 4, &at, NULL), PM_OK);
	assert_int_equal(at.offset, 6);
	pm_spool_close(s);
}

static void what_was_not_put_there_is_not_read(void **state)
{
	PmSpool *s = NULL;
	PmSpoolPlace at, other;
	char bytes[8];

	(void)state;
	assert_int_equal(pm_spool_open(LIMIT, &s, NULL), PM_OK);
	assert_int_equal(pm_spool_put(s, "abcdef", 6, &at, NULL), PM_OK);
	other = at;
	other.offset = 1; /* beyond the end */
	assert_int_equal(pm_spool_get(s, &other, bytes, NULL), PM_E_IO);
	other = at;
	other.size = 5; /* other bytes */
	assert_int_equal(pm_spool_get(s, &other, bytes, NULL), PM_E_IO);
	assert_int_equal(pm_spool_get(s, &at, bytes, NULL), PM_OK);
	assert_memory_equal(bytes, "abcdef", 6);
	pm_spool_close(s);
}

static void the_file_has_no_name(void **state)
{
	PmStr dir = PM_STR_INIT;
	PmNames names = { 0 };
	const char *before = getenv("TMPDIR");
	char *kept = before ? pm_xstrdup(before) : NULL;
	PmSpool *s = NULL;

	(void)state;
	assert_int_equal(pm_temp_dir("spool", &dir, NULL), PM_OK);
	setenv("TMPDIR", dir.s, 1);
	assert_int_equal(pm_spool_open(LIMIT, &s, NULL), PM_OK);
	assert_int_equal(pm_list_dir(dir.s, &names, NULL), PM_OK);
	assert_int_equal(names.n, 0);
	pm_spool_close(s);
	pm_remove_tree(dir.s, NULL);
	assert_int_equal(pm_spool_open(LIMIT, &s, NULL), PM_E_IO);
	if (kept)
		setenv("TMPDIR", kept, 1);
	else
		unsetenv("TMPDIR");
	free(kept);
	pm_names_release(&names);
	pm_str_release(&dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_put_at_the_same_time),
		cmocka_unit_test(no_more_than_the_limit),
		cmocka_unit_test(what_was_not_put_there_is_not_read),
		cmocka_unit_test(the_file_has_no_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
