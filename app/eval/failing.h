/* SPDX-License-Identifier: Apache-2.0 */
/* failing.h - writes the variants that a pass fails on as files, each with the line that runs it again. */
#ifndef APP_FAILING_H
#define APP_FAILING_H

#include "bench/eval/runner.h"

typedef struct PmFailing {
	const char *dir;    /* made when missing; borrowed, as all here */
	const char *preset; /* its name */
	const char *pass;   /* the path of the pass at hand: pm_eval_task sets it */
	int tf32, confirm;  /* as given to eval */
	size_t n;           /* written so far: numbers the files */
} PmFailing;

/* When a record of the report r says that the pass failed on graph g, writes DIR/PASS-N.gpt (the graph as
 * text), DIR/PASS-N.json (a report of this record alone, whose secret --replay draws by) and adds the line
 * that evaluates the one with the other, in any folder of this machine, to DIR/replay.sh. `f` NULL: does
 * nothing. */
PmStatus pm_failing_save(PmFailing *f, const PmGraph *g, const PmEvalReport *r, const PmEvalRecord *rec,
			 PmErr *err);

#endif
