/* SPDX-License-Identifier: Apache-2.0 */
/* emu_reuse.h - which sectors a block finds in the L1 cache again (private to runtime/emu). */
#ifndef RUNTIME_EMU_REUSE_H
#define RUNTIME_EMU_REUSE_H

#include <stddef.h>
#include <stdint.h>

/* The sectors that came last, as many as there is room for; the one that came first leaves first. */
typedef struct PmEmuReuse {
	uint64_t *sector, *came; /* owned; by place: a sector, and which arrival it was. came 0 = no sector */
	size_t places, used;     /* a power of two, or 0; those that hold a sector, also one that has left */
	uint64_t arrivals, room; /* so far; sectors */
} PmEmuReuse;

/* An empty cache for `room` sectors, at least one. */
void pm__emu_reuse_begin(PmEmuReuse *u, uint64_t room);
void pm__emu_reuse_release(PmEmuReuse *u);
/* A sector is read: 1 when it is there; else it comes, and 0. */
int pm__emu_reuse_read(PmEmuReuse *u, uint64_t sector);

#endif
