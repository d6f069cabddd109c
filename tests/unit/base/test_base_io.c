/* SPDX-License-Identifier: Apache-2.0 */
/* test_base_io.c - files, folders and paths. */
#include "base/sys/io.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static PmStr dir; /* a fresh folder per case */
static PmErr err;

static int setup(void **state)
{
	(void)state;
	pm_str_init(&dir);
	pm_err_init(&err);
	return pm_temp_dir("io", &dir, &err) == PM_OK ? 0 : -1;
}

static int teardown(void **state)
{
	int bad = pm_remove_tree(dir.s, &err) != PM_OK || pm_path_exists(dir.s);

	(void)state;
	pm_str_release(&dir);
	return bad ? -1 : 0;
}

/* Borrowed until the next call. */
static const char *at(const char *name)
{
	static char path[4][4096];
	static unsigned turn;
	char *p = path[turn++ % 4];

	snprintf(p, sizeof path[0], "%s/%s", dir.s, name);
	return p;
}

static void written_bytes_are_read_back(void **state)
{
	PmStr s = PM_STR_INIT;

	(void)state;
	assert_int_equal(pm_write_file(at("f"), "a\0b", 3, &err), PM_OK);
	pm_str_add(&s, ">");
	assert_int_equal(pm_read_file(at("f"), 0, &s, &err), PM_OK);
	assert_int_equal(s.len, 4);
	assert_memory_equal(s.s, ">a\0b", 5);
	assert_int_equal(pm_file_size(at("f")), 3);
	pm_str_release(&s);
}

static void reading_stops_at_the_limit_and_adds_nothing(void **state)
{
	PmStr s = PM_STR_INIT;

	(void)state;
	pm_write_file(at("f"), "12345", 5, &err);
	pm_str_add(&s, "kept");
	assert_int_equal(pm_read_file(at("f"), 4, &s, &err), PM_E_LIMIT);
	assert_string_equal(s.s, "kept");
	assert_non_null(strstr(err.text, "4 bytes"));
	assert_int_equal(pm_read_file(at("f"), 5, &s, &err), PM_OK);
	assert_string_equal(s.s, "kept12345");
	pm_str_release(&s);
}

static void errors_name_the_file(void **state)
{
	PmStr s = PM_STR_INIT;
	PmMap m;

	(void)state;
	assert_int_equal(pm_read_file(at("none"), 0, &s, &err), PM_E_NOT_FOUND);
	assert_non_null(strstr(err.text, "/none\": No such file or directory; check the path."));
	assert_int_equal(pm_read_file(dir.s, 0, &s, &err), PM_E_INVALID);
	assert_int_equal(pm_map_file(dir.s, &m, &err), PM_E_INVALID);
	assert_int_equal(mkfifo(at("pipe"), 0600), 0);
	assert_int_equal(pm_read_file(at("pipe"), 0, &s, &err), PM_E_INVALID);
	assert_int_equal(pm_write_file(at("no/such/f"), "x", 1, &err), PM_E_IO);
	assert_non_null(strstr(err.text, "/no/such/f\": No such file or directory; make its folder first."));
	assert_int_equal(pm_write_file(dir.s, "x", 1, &err), PM_E_IO);
	assert_non_null(strstr(err.text, "Is a directory; give the path of a file."));
	pm_str_release(&s);
}

static void writing_replaces_at_once_and_leaves_no_other_file(void **state)
{
	PmNames names = { 0 };
	PmMap old;

	(void)state;
	pm_write_file(at("f"), "old content", 11, &err);
	assert_int_equal(pm_map_file(at("f"), &old, &err), PM_OK);
	assert_int_equal(pm_write_file(at("f"), "new", 3, &err), PM_OK);
	assert_memory_equal(old.p, "old content", 11); /* a reader of the old file is not disturbed */
	pm_unmap(&old);
	assert_int_equal(pm_write_file(dir.s, "x", 1, &err), PM_E_IO);
	assert_int_equal(pm_list_dir(dir.s, &names, &err), PM_OK);
	assert_int_equal(names.n, 1);
	assert_string_equal(names.v[0], "f");
	pm_names_release(&names);
}

static void writing_goes_through_links_and_devices(void **state)
{
	PmStr s = PM_STR_INIT;
	struct stat st;

	(void)state;
	pm_write_file(at("f"), "old", 3, &err);
	assert_int_equal(symlink("f", at("link")), 0);
	assert_int_equal(pm_write_file(at("link"), "new!", 4, &err), PM_OK);
	assert_int_equal(lstat(at("link"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(pm_read_file(at("f"), 0, &s, &err), PM_OK);
	assert_string_equal(s.s, "new!");
	assert_int_equal(pm_write_file("/dev/null", "x", 1, &err), PM_OK);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	pm_str_release(&s);
}

/* The largest file that is copied, and the smallest that is mapped. */
static void small_files_are_copied_and_others_mapped(void **state)
{
	char *bytes = malloc(PM_MAP_LEAST);
	PmMap m;

	(void)state;
	for (int i = 0; i < PM_MAP_LEAST; i++)
		bytes[i] = (char)(i % 251);
	for (size_t n = PM_MAP_LEAST - 1; n <= PM_MAP_LEAST; n++) {
		pm_write_file(at("f"), bytes, n, &err);
		assert_int_equal(pm_map_file(at("f"), &m, &err), PM_OK);
		assert_int_equal(m.n, n);
		assert_int_equal(m.copied, n < PM_MAP_LEAST);
		assert_memory_equal(m.p, bytes, n);
		pm_unmap(&m);
		assert_null(m.p);
	}
	free(bytes);
}

static void empty_files_map_to_nothing(void **state)
{
	PmMap m = { .p = "x", .n = 1 };

	(void)state;
	pm_write_file(at("f"), NULL, 0, &err);
	assert_int_equal(pm_map_file(at("f"), &m, &err), PM_OK);
	assert_null(m.p);
	assert_int_equal(m.n, 0);
	pm_unmap(&m);
}

static void folders_are_made_listed_in_order_and_removed(void **state)
{
	PmNames names = { 0 };

	(void)state;
	assert_int_equal(pm_mkdirs(at("a/b//c/"), &err), PM_OK);
	assert_int_equal(pm_mkdirs(at("a/b/c"), &err), PM_OK);
	assert_true(pm_path_is_dir(at("a/b/c")));
	pm_write_file(at("a/z"), "", 0, &err);
	pm_write_file(at("a/B"), "", 0, &err);
	pm_write_file(at("a/.hidden"), "", 0, &err);
	assert_int_equal(pm_list_dir(at("a"), &names, &err), PM_OK);
	assert_int_equal(names.n, 4);
	assert_string_equal(names.v[0], ".hidden");
	assert_string_equal(names.v[1], "B");
	assert_string_equal(names.v[2], "b");
	assert_string_equal(names.v[3], "z");
	pm_names_release(&names);
	assert_int_equal(pm_mkdirs(at("a/z/y"), &err), PM_E_IO);
	/* The reason is mkdir's, not that of looking whether it is there. */
	assert_int_equal(symlink("nowhere", at("a/dangling")), 0);
	assert_int_equal(pm_mkdirs(at("a/dangling"), &err), PM_E_IO);
	assert_non_null(strstr(err.text, "dangling\": File exists; give the path of a folder."));
	assert_int_equal(pm_remove_tree(at("a"), &err), PM_OK);
	assert_false(pm_path_exists(at("a")));
	assert_int_equal(pm_remove_tree(at("a"), &err), PM_OK);
}

static void removing_never_follows_links_nor_takes_roots(void **state)
{
	static const char *const refused[] = { "", "/", "//", ".", "./", "..", "../", "a/..", "a/.", "/." };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof refused / sizeof *refused; i++)
		assert_int_equal(pm_remove_tree(refused[i], &err), PM_E_INVALID);
	pm_mkdirs(at("keep"), &err);
	pm_mkdirs(at("gone"), &err);
	pm_write_file(at("keep/f"), "x", 1, &err);
	assert_int_equal(symlink("../keep", at("gone/link")), 0);
	assert_int_equal(pm_remove_tree(at("gone"), &err), PM_OK);
	assert_int_equal(pm_file_size(at("keep/f")), 1);
	assert_int_equal(pm_file_size(at("keep")), -1);
}

static void paths_split_and_join(void **state)
{
	PmStr s = PM_STR_INIT;

	(void)state;
	assert_string_equal(pm_path_base("a/b.c"), "b.c");
	assert_string_equal(pm_path_base("b.c"), "b.c");
	pm_path_dir("a/b/c", &s);
	assert_string_equal(s.s, "a/b");
	pm_str_clear(&s);
	pm_path_dir("c", &s);
	assert_string_equal(s.s, ".");
	pm_str_clear(&s);
	pm_path_dir("/c", &s);
	assert_string_equal(s.s, "/");
	pm_str_clear(&s);
	pm_path_join("a", "b", &s);
	pm_str_addc(&s, ' ');
	pm_path_join("a/", "b", &s);
	assert_string_equal(s.s, "a/b a/b");
	pm_str_release(&s);
}

static void own_folders_follow_the_environment(void **state)
{
	PmStr s = PM_STR_INIT;
	const char *cache = at("cache/deep"), *old_cache = getenv("PASSMITH_CACHE");
	char *keep = old_cache ? strdup(old_cache) : NULL, *root = strdup(getenv("PASSMITH_ROOT"));

	(void)state;
	setenv("PASSMITH_CACHE", cache, 1);
	assert_int_equal(pm_cache_dir(&s, &err), PM_OK);
	assert_string_equal(s.s, cache);
	assert_true(pm_path_is_dir(cache));
	pm_str_clear(&s);
	/* Children work in other folders: the path must lead there from anywhere. */
	setenv("PASSMITH_CACHE", "tests", 1);
	assert_int_equal(pm_cache_dir(&s, &err), PM_OK);
	assert_true(s.s[0] == '/' && pm_path_is_dir(s.s));
	pm_str_clear(&s);
	setenv("PASSMITH_ROOT", dir.s, 1);
	assert_int_equal(pm_root_dir(&s, &err), PM_E_ENV);
	pm_mkdirs(at("include/passmith"), &err);
	pm_mkdirs(at("runtime"), &err);
	assert_int_equal(pm_root_dir(&s, &err), PM_OK);
	assert_string_equal(s.s, dir.s);
	setenv("PASSMITH_ROOT", root, 1);
	if (keep)
		setenv("PASSMITH_CACHE", keep, 1);
	else
		unsetenv("PASSMITH_CACHE");
	free(root);
	free(keep);
	pm_str_release(&s);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(written_bytes_are_read_back),
		CASE(reading_stops_at_the_limit_and_adds_nothing),
		CASE(errors_name_the_file),
		CASE(writing_replaces_at_once_and_leaves_no_other_file),
		CASE(writing_goes_through_links_and_devices),
		CASE(small_files_are_copied_and_others_mapped),
		CASE(empty_files_map_to_nothing),
		CASE(folders_are_made_listed_in_order_and_removed),
		CASE(removing_never_follows_links_nor_takes_roots),
		CASE(paths_split_and_join),
		CASE(own_folders_follow_the_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
