/* SPDX-License-Identifier: Apache-2.0 */
/* figures.h - what a measuring test measured: printed, and written to a file when the program ends. */
#ifndef TESTS_LIB_FIGURES_H
#define TESTS_LIB_FIGURES_H

#include "base/core/err.h"

/* One figure, a JSON object on one line. */
void pm_figure(const char *fmt, ...) PM_PRINTF(1, 2);
/* A cmocka group teardown: all figures as an array into $PASSMITH_FIGURES/NAME.json, if that is set; `state`
 * points to the name. Returns 0. */
int pm_figures_write(const char *name);

#endif
