/* SPDX-License-Identifier: Apache-2.0 */
/* cast_priv.h - what deciding and casting share. */
#ifndef APP_CAST_CAST_PRIV_H
#define APP_CAST_CAST_PRIV_H

#include "app/cast/cast.h"

typedef struct PmCast {
	PmGraph *g;
	int to, keep_io;
	unsigned char *kept; /* owned; by node id: the PmCastReason for which it stays; 0 = it is cast */
} PmCast;

/* 1 for a type that is cast. */
int pm__cast_is_from(const PmCast *c, int dtype);
/* 1 when operand k or result k of a node that is cast stays in its type all the same. */
PmCastReason pm__cast_keeps_operand(const PmCast *c, PmNode n, size_t k);
PmCastReason pm__cast_keeps_result(const PmCast *c, PmNode n, size_t k);
/* Fills in c->kept. */
void pm__cast_decide(PmCast *c);
/* 1 when the half type holds the constant: no number beyond its largest, and a single one does not become
 * zero. What has no data at hand is held. */
int pm__cast_holds(const PmCast *c, PmValue v);

#endif
