/* SPDX-License-Identifier: Apache-2.0 */
/* board_run.c - which runs belong to a board. */
#include "app/report/board/board_priv.h"

#include <string.h>

int pm_board_run_is_external(const PmBoardRun *r)
{
	return !strncmp(r->options, "external=", 9);
}

const char *pm_board_run_kind(const PmBoardRun *r)
{
	return strncmp(r->device, "cuda", 4) == 0 ? "cuda" : "emu";
}

int pm_board_has_run(const PmBoard *b, const PmBoardRun *r)
{
	if (strcmp(pm_board_run_kind(r), b->device) != 0 || strcmp(r->gpu, b->gpu) != 0)
		return 0;
	return pm_board_run_is_external(r) ||
	       (!strcmp(r->setting, b->setting) && !strncmp(r->version, b->version, sizeof b->version - 1) &&
		!strcmp(r->options, b->options));
}
