/* SPDX-License-Identifier: Apache-2.0 */
/* emu_reuse.c - the L1 cache of a block, by sectors: the one that came first leaves first.
 *
 * Nothing but which sectors are the same counts, and no address: a run in another process, whose buffers lie
 * elsewhere, has the same hits.
 */
#include "runtime/emu/emu_reuse.h"

#include "base/core/arena.h"

#include <stdlib.h>

enum { LEAST = 64 };

static size_t place_of(const PmEmuReuse *u, uint64_t sector)
{
	size_t k = (size_t)(sector * 0x9e3779b97f4a7c15u >> 32) & (u->places - 1);

	while (u->came[k] && u->sector[k] != sector)
		k = (k + 1) & (u->places - 1);
	return k;
}

static int is_there(const PmEmuReuse *u, uint64_t came)
{
	return came && u->arrivals - came < u->room;
}

static void put(PmEmuReuse *u, uint64_t sector, uint64_t came)
{
	size_t k = place_of(u, sector);

	u->used += !u->came[k];
	u->sector[k] = sector;
	u->came[k] = came;
}

/* Places for twice the sectors that are there and more; those that have left go. */
static void make_room(PmEmuReuse *u)
{
	PmEmuReuse was = *u;
	size_t live = 0;

	for (size_t k = 0; k < was.places; k++)
		live += (size_t)is_there(u, was.came[k]);
	u->places = LEAST;
	while (u->places < 4 * (live + 1))
		u->places *= 2;
	u->used = 0;
	u->sector = pm_xcalloc(u->places, sizeof *u->sector);
	u->came = pm_xcalloc(u->places, sizeof *u->came);
	for (size_t k = 0; k < was.places; k++)
		if (is_there(&was, was.came[k]))
			put(u, was.sector[k], was.came[k]);
	free(was.sector);
	free(was.came);
}

void pm__emu_reuse_begin(PmEmuReuse *u, uint64_t room)
{
	/* What came before is out of reach. */
	u->room = room ? room : 1;
	u->arrivals += u->room;
	u->used = u->places; /* the next sector makes room anew */
}

void pm__emu_reuse_release(PmEmuReuse *u)
{
	free(u->sector);
	free(u->came);
	*u = (PmEmuReuse){ 0 };
}

int pm__emu_reuse_read(PmEmuReuse *u, uint64_t sector)
{
	if (u->places && is_there(u, u->came[place_of(u, sector)]))
		return 1;
	if (2 * u->used >= u->places)
		make_room(u);
	put(u, sector, ++u->arrivals);
	return 0;
}
