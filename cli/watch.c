/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c - shows what work in libpassmith says as it goes on: a bar, and complaints. */
#include "base/sys/progress.h"
#include "cli/cmds.h"

void pm_cli_step(void *bar, const char *item)
{
	pm_progress_step(bar, item);
}

static void begin(void *bar, const char *what, int64_t total)
{
	if (!pm_cli_quiet)
		pm_progress_start(bar, what, total);
}

static void end(void *bar)
{
	pm_progress_end(bar);
}

static void complain(void *bar, const char *sentence)
{
	(void)bar;
	pm_cli_complain("%s", sentence);
}

PmWatch pm_cli_watch(PmProgress *bar)
{
	return (PmWatch){ begin, pm_cli_step, end, complain, bar };
}
