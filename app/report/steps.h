/* SPDX-License-Identifier: Apache-2.0 */
/* steps.h - the steps of a session in a report. */
#ifndef APP_REPORT_STEPS_H
#define APP_REPORT_STEPS_H

#include "app/trajectory/session.h"
#include "draw/html/html.h"

/* What one page holds; of what is left out the number is said. */
enum {
	PM_STEPS_MOST = 100,        /* steps of a session */
	PM_STEPS_FILES = 20,        /* of a step */
	PM_STEPS_DIFF_BYTES = 8000, /* of one file in one step */
	PM_STEPS_SAID_BYTES = 4000, /* of a message or an answer */
	PM_STEPS_LINE_BYTES = 400   /* of a line */
};

/* Scores over steps: each, and the best so far. Nothing where no step has a score. */
void pm_put_scores(const PmSession *s, PmHtml *h);
/* The steps: what was called or said, the verdict, the score, and how files changed. Stops where the page has
 * more than `most` bytes. Gives how many steps it wrote. */
size_t pm_put_steps(const PmSession *s, size_t most, PmHtml *h);

#endif
