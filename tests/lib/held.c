/* SPDX-License-Identifier: Apache-2.0 */
/* held.c - what a test process holds. */
#include "tests/lib/held.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

int test_open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

int test_mappings(const char *word)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[4352]; /* a path of 4,096 bytes, and what stands before it */
	int n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof line, f))
		n += strstr(line, word) != NULL;
	fclose(f);
	return n;
}
