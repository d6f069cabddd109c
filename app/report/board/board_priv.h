/* SPDX-License-Identifier: Apache-2.0 */
/* board_priv.h - what the files of the boards share. */
#ifndef APP_REPORT_BOARD_PRIV_H
#define APP_REPORT_BOARD_PRIV_H

#include "app/report/board/board.h"

/* 1 for times that `results import` stored. */
int pm_board_run_is_external(const PmBoardRun *r);
/* "emu" or "cuda". */
const char *pm_board_run_kind(const PmBoardRun *r);
/* 1 when a run belongs to a board. */
int pm_board_has_run(const PmBoard *b, const PmBoardRun *r);
/* Reads the rows and cells of a board whose systems are known; counts the results of its runs. */
PmStatus pm_board_fill(PmDb *db, PmBoards *all, PmBoard *b, void (*step)(void *arg, const char *item),
		       void *arg, PmErr *err);

#endif
