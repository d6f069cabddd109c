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

/* Lays a sheet out and appends it as an <svg> element. `opens`: by group, 1 for those that a link "#gN"
 * opens; NULL = none. `alone`: the drawing is a file of its own, with its style. */
PmStatus pm_sheet_draw(const PmSheet *s, PmLayoutEngine engine, const char *opens, int alone, PmStr *out,
		       PmErr *err);

#endif
