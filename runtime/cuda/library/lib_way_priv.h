/* lib_way_priv.h - what descriptions of ways are put together from; shared by lib_way*.c. */
#ifndef RUNTIME_LIB_WAY_PRIV_H
#define RUNTIME_LIB_WAY_PRIV_H

#include "runtime/cuda/library/lib_way.h"

/* The sizes that every way needs. */
typedef struct PmWaySize {
	int64_t n, ci, co, taps;
	int64_t px, py; /* places of x and y */
	int64_t k;      /* ci * taps */
	int64_t batch;  /* of products: images or groups; 0 when there are several of both */
	int64_t bytes;  /* of an element */
} PmWaySize;

PmWaySize pm__way_size_of(const PmLibCall *c); /* of a convolution */

/* At most PM_WAY_HUGE, which stands for all that is more: no call has so many elements. Sizes are not
 * negative. */
#define PM_WAY_HUGE ((int64_t)1 << 56)
int64_t pm__way_product(const int64_t *v, int n);
int pm__way_is_half(int dtype);
/* Argument i of the call. */
PmWayPlace pm__way_arg(int i);
/* Room for so many elements; too much for any way where that is more than PM_WAY_HUGE bytes. */
PmWayPlace pm__way_room(PmWay *w, int64_t elements, int64_t bytes);

/* A further stage: a kernel by its name. Its pointers and then its numbers are added in order. */
PmWayStage *pm__way_stage(PmWay *w, const char *entry);
void pm__way_pointer(PmWayStage *s, PmWayPlace p);
void pm__way_number(PmWayStage *s, int64_t v);
/* Lists over three dimensions; missing ones in front get `unit`. */
void pm__way_three(PmWayStage *s, const int64_t *v, int spatial, int64_t unit);
/* Threads of a block that walk along that many places: 32 to all of them. */
int64_t pm__way_lanes_for(int64_t places);

/* A further stage: the bias of each of `channels` planes of that many places, over and over up to `total`. */
void pm__way_fill(PmWay *w, PmWayPlace y, int64_t places, int64_t channels, int64_t total);
/* Blocks that fill so many. */
int64_t pm__way_fill_blocks(int64_t total);

/* A further stage: a call, to be filled in, of operands that are aligned as buffers are. */
PmLibCall *pm__way_call_stage(PmWay *w, PmLibKind kind, int dtype);
/* Its result and factors; arguments of the call `from` are aligned as they are there. */
void pm__way_operands(PmWay *w, const PmLibCall *from, PmWayPlace y, PmWayPlace a, PmWayPlace b);

/* The ways of a convolution, as lib_way.h lists them. 0 when it cannot be done so. */
int pm__way_as_product(PmWay *w, const PmLibCall *c, const PmWaySize *z);
int pm__way_as_gathered(PmWay *w, const PmLibCall *c, const PmWaySize *z);
int pm__way_as_last(PmWay *w, const PmLibCall *c, const PmWaySize *z);
int pm__way_as_last_product(PmWay *w, const PmLibCall *c, const PmWaySize *z);
int pm__way_as_interleaved(PmWay *w, const PmLibCall *c, const PmWaySize *z);
int pm__way_as_folded(PmWay *w, const PmLibCall *c, const PmWaySize *z);
int pm__way_as_dot_of_pixels(PmWay *w, const PmLibCall *c, const PmWaySize *z);
/* Of a product. */
int pm__way_as_dot(PmWay *w, const PmLibCall *c);

#endif
