/* SPDX-License-Identifier: Apache-2.0 */
/* point.h - a point of a drawing. */
#ifndef DRAW_SVG_POINT_H
#define DRAW_SVG_POINT_H

/* x grows to the right and y downwards, in the units of the drawing (pixels when nothing is zoomed). */
typedef struct PmPoint {
	double x, y;
} PmPoint;

#endif
