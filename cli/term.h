/* SPDX-License-Identifier: Apache-2.0 */
/* term.h - a terminal's whole screen, and the keys and signals that come meanwhile.
 *
 * Escape sequences are those of ECMA-48 and of xterm that every terminal of the last thirty years knows. What
 * was on the screen before comes back with pm_term_leave, as do the modes of the terminal.
 */
#ifndef CLI_TERM_H
#define CLI_TERM_H

#include "base/core/str.h"

#include <signal.h>

typedef enum {
	PM_TERM_TIME,   /* nothing came */
	PM_TERM_QUIT,   /* q, the end of the keys, or a signal that asks to end */
	PM_TERM_REDRAW, /* another size, or back from a stop */
	PM_TERM_UP,
	PM_TERM_DOWN,
	PM_TERM_OTHER
} PmTermEvent;

typedef struct PmTerm {
	int is_screen; /* it has the whole screen; else there are signals alone */
	int has_keys;
	sigset_t before; /* signals that were blocked */
	char keys[64];   /* that came and are no event yet */
	size_t n_keys;
} PmTerm;

/* 1 when stdout is a terminal that can move its cursor (TERM is not "dumb"). */
int pm_term_has_screen(void);
/* 1 when it may be coloured: a screen, and NO_COLOR is empty or not set. */
int pm_term_has_colour(void);

/* Takes the signals that ask to end (SIGINT, SIGTERM, SIGHUP, SIGQUIT), which are then events of
 * pm_term_wait; with screen the whole screen, too, and keys when stdin is a terminal. */
void pm_term_enter(PmTerm *t, int screen);
/* Gives all of it back. */
void pm_term_leave(PmTerm *t);
/* Columns and lines of the screen; 80 and 24 where nobody knows. */
void pm_term_size(int *width, int *height);
/* Waits for an event, at most so many seconds. */
PmTermEvent pm_term_wait(PmTerm *t, double seconds);
/* Writes all; 0 when that cannot be done any more. */
int pm_term_write(const char *s, size_t n);

#endif
