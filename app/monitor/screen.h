/* SPDX-License-Identifier: Apache-2.0 */
/* screen.h - a board as lines of text: for a terminal's screen, or for a log. */
#ifndef MONITOR_SCREEN_H
#define MONITOR_SCREEN_H

#include "app/monitor/monitor.h"

enum { PM_SCREEN_MIN_WIDTH = 20 }; /* of a narrower terminal the right edge is cut */

typedef struct PmScreenOpts {
	const char *path;   /* of the database */
	const char *notice; /* a sentence for the second line; NULL = none */
	int width;          /* columns; no line is longer */
	int colour;         /* with attributes by ECMA-48: they only repeat what the words say */
	/* Without what changes by itself as time goes on (clock, ages, time left): equal texts are of boards
	 * that say the same. */
	int timeless;
	double now, wall; /* pm_now(), pm_wall_clock() */
} PmScreenOpts;

typedef PM_VEC(char *) PmLines; /* owned */

/* Appends the lines, without ends of lines. Texts of strangers are cleaned and cut to their columns. */
void pm_screen_lines(const PmMonitor *b, const PmScreenOpts *o, PmLines *out);
void pm_screen_release(PmLines *lines);

#endif
