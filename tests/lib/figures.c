/* SPDX-License-Identifier: Apache-2.0 */
/* figures.c - what a measuring test measured. */
#include "tests/lib/figures.h"

#include "base/core/str.h"
#include "base/sys/io.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static PmStr all = PM_STR_INIT;

void pm_figure(const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	print_message("# %s\n", line);
	pm_str_addf(&all, "%s%s", all.len ? ",\n" : "", line);
}

int pm_figures_write(const char *name)
{
	const char *folder = getenv("PASSMITH_FIGURES");
	PmStr path = PM_STR_INIT, text = PM_STR_INIT;
	PmErr err;
	int bad;

	pm_err_init(&err);
	pm_str_addf(&path, "%s/%s.json", folder ? folder : "", name);
	pm_str_addf(&text, "[\n%s\n]\n", all.s ? all.s : "");
	bad = folder && pm_write_file(path.s, text.s, text.len, &err) != PM_OK;
	if (bad)
		print_error("%s\n", err.text);
	pm_str_release(&path);
	pm_str_release(&text);
	pm_str_release(&all);
	return bad;
}
