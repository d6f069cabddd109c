/* SPDX-License-Identifier: Apache-2.0 */
/* held.c - what this process holds of the machine. */
#include "app/serve/held.h"

#include "base/sys/io.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int64_t count_lines(const char *path)
{
	FILE *f = fopen(path, "re");
	int64_t n = 0;

	for (int c; f && (c = fgetc(f)) != EOF;)
		n += c == '\n';
	if (f)
		fclose(f);
	return n;
}

void pm__held_now(PmServeHeld *out)
{
	FILE *f = fopen("/proc/self/statm", "re");
	PmNames names = { 0 };
	long long pages = 0;

	memset(out, 0, sizeof *out);
	if (f && fscanf(f, "%*s %lld", &pages) == 1)
		out->resident = (int64_t)pages * sysconf(_SC_PAGESIZE);
	if (f)
		fclose(f);
	if (!pm_list_dir("/proc/self/fd", &names, NULL))
		out->files = (int64_t)names.n;
	pm_names_release(&names);
	out->mappings = count_lines("/proc/self/maps");
}
