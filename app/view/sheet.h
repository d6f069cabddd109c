/* SPDX-License-Identifier: Apache-2.0 */
/* sheet.h - one level of a drawing: the items of a group as boxes, values between them as edges, and ports.
 */
#ifndef APP_VIEW_SHEET_H
#define APP_VIEW_SHEET_H

#include "app/view/fold.h"
#include "draw/layout/layout.h"
#include "draw/svg/svg.h"

enum { PM_SHEET_PORTS = 24 /* values that come in, or go out, at most; more are one port */ };

typedef enum { PM_BOX_NODE, PM_BOX_GROUP, PM_BOX_IN, PM_BOX_OUT } PmBoxKind;

typedef struct PmBox {
	PmBoxKind kind;
	uint32_t id; /* place of the node; group; value; PM_FOLD_NONE of a port that stands for many values */
	size_t times; /* of such a port: how many values */
} PmBox;

/* Values from one box to another. */
typedef struct PmWire {
	uint32_t from, to; /* boxes */
	PmValue value;     /* the first */
	size_t n;          /* how many */
} PmWire;

typedef struct PmSheet {
	const PmFold *f;
	uint32_t group;
	PM_VEC(PmBox) box; /* items in their order, then ports */
	PM_VEC(PmWire) wire;
} PmSheet;

/* What is drawn of a group. Release *out. */
void pm_sheet_make(const PmFold *f, uint32_t group, PmSheet *out);
void pm_sheet_release(PmSheet *s);

/* What is said of a node beside its operator. Colour is never the only sign: a mark has a tag. */
typedef struct PmSheetMark {
	uint64_t classes; /* of added, removed, changed, mark1 to mark8 (draw/svg/names.def); 0 = no mark */
	const char *tag;  /* short, drawn before the node's name: "kernel 2"; borrowed */
	const char *note; /* a line of its title; NULL = none; borrowed */
} PmSheetMark;

typedef struct PmSheetMarks {
	const PmSheetMark *of; /* by place */
	const char *word;      /* what a group says of how many of its nodes have a mark: "3 changed" */
} PmSheetMarks;

typedef struct PmSheetStyle {
	PmLayoutEngine engine;
	const char *opens;         /* by group, 1 for those that a link "#gN" opens; NULL = none */
	const PmSheetMarks *marks; /* NULL = none. Groups that are the same may be marked differently. */
	int alone;                 /* the drawing is a file of its own, with its style */
} PmSheetStyle;

/* Lays a sheet out and appends it as an <svg> element. A group whose marked nodes have the same classes is
 * drawn with these. */
PmStatus pm_sheet_draw(const PmSheet *s, const PmSheetStyle *style, PmStr *out, PmErr *err);

/* The first level of a sorted graph, for pages that have the same bytes on all machines: appends it as an
 * <svg> element. `marks` may be NULL. */
PmStatus pm_sheet_draw_first(const PmGraph *g, const PmSheetMarks *marks, PmStr *out, PmErr *err);
/* mark1 to mark8: the class of the colour of what has this number, from 0; after the last they begin again.
 */
enum { PM_SHEET_COLOURS = 8 };
uint64_t pm_sheet_colour(size_t number);

#endif
