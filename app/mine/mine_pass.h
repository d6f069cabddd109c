/* SPDX-License-Identifier: Apache-2.0 */
/* mine_pass.h - for a structure that is worth a pass: the pass to start from, and files of both. */
#ifndef APP_MINE_PASS_H
#define APP_MINE_PASS_H

#include "base/core/str.h"
#include "bench/report/mine.h"

typedef struct PmMinePass {
	char name[32]; /* "mined_0c1d2e3f": a C identifier, and the name of its files */
	PmStr source;  /* the pass in C; empty when a pattern cannot say it, */
	PmStr why;     /* and then one sentence why not */
} PmMinePass;

/* Proposes a pass for the graph of the structure that the database has most of. Release *out in every case.
 */
PmStatus pm_mine_pass(PmDb *db, const PmMined *x, PmMinePass *out, PmErr *err);
void pm_mine_pass_release(PmMinePass *p);

/* Writes DIR/NAME.c, when there is a pass, and DIR/NAME.gpt, the graph it is from. The folder is made when
 * missing; files of these names are replaced. */
PmStatus pm_mine_pass_write(PmDb *db, const PmMined *x, const PmMinePass *p, const char *dir, PmErr *err);

#endif
