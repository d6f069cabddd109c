/* SPDX-License-Identifier: Apache-2.0 */
/* ix_flat.c - places of coordinates in memory, and what of a place the lane decides. */
#include "ix.h"

int ix_split_lane(Index *c, Ix a, Ix *lane, Ix *rest)
{
	int64_t vec = c->vec, first = ((c->lin[a].c % vec) + vec) % vec;
	Lin l = c->lin[a];
	int i;

	*lane = ix_const(c, first);
	*rest = ix_const(c, l.c - first);
	for (i = 0; i < l.n; i++) {
		int by_lane = c->atom[l.t[i].atom].deps == DEP_LANE;
		Ix *x = by_lane ? lane : rest;

		if (!by_lane && ((c->atom[l.t[i].atom].deps & DEP_LANE) || l.t[i].k % vec))
			return 0;
		*x = ix_add(c, *x, ix_scale(c, ix_of_atom(c, l.t[i].atom), l.t[i].k));
	}
	return c->lin[*lane].lo >= 0 && c->lin[*lane].hi < vec;
}

Ix ix_flat(Index *c, const Ix *co, const int64_t *dim, int rank)
{
	Ix x = ix_const(c, 0);
	int64_t stride = 1;
	int d;

	for (d = rank - 1; d >= 0; d--) {
		x = ix_add(c, x, ix_scale(c, co[d], stride));
		stride *= dim[d];
	}
	return x;
}

void ix_unflat(Index *c, Ix flat, const int64_t *dim, int rank, Ix *co)
{
	int d, first = 0;

	while (first < rank && dim[first] == 1)
		first++;
	for (d = rank - 1; d >= 0; d--) {
		co[d] = d <= first ? (dim[d] == 1 ? ix_const(c, 0) : flat) : ix_mod(c, flat, dim[d]);
		if (d > first)
			flat = ix_div(c, flat, dim[d]);
	}
}
