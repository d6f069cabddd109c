/* SPDX-License-Identifier: Apache-2.0 */
/* emu_count.h - counting what a launch does (device "emu+counts"; private to runtime/emu). */
#ifndef RUNTIME_EMU_COUNT_H
#define RUNTIME_EMU_COUNT_H

#include "runtime/emu/emu_priv.h"
#include "runtime/profile/counts.h"

/* Of a module whose object has these bytes; NULL when it was not compiled to be counted. */
PmEmuCounter *pm__emu_counter_new(void *so, const void *object, size_t n);
void pm__emu_counter_free(PmEmuCounter *c);

/* Before a launch of r->counter's module (r->module, dyn and smem are set): it is counted into *out, or not
 * when that is NULL. Then the memory of its arguments; and after it, with the label of its source. */
void pm__emu_count_begin(PmEmuRun *r, PmLaunchCounts *out, uint64_t blocks, int threads);
void pm__emu_count_buffer(PmEmuCounter *c, const void *p, int64_t bytes);
void pm__emu_count_end(PmEmuRun *r, const char *own);

/* Around block number k of the n that run. */
void pm__emu_count_block(PmEmuRun *r, uint64_t k, uint64_t n);
void pm__emu_count_block_end(PmEmuRun *r);
/* The running thread comes to a barrier, or to a collective of the lanes in `mask`. */
void pm__emu_count_wait(PmEmuRun *r, int collective, uint32_t mask, const void *pc);
/* Goes through what the threads have told, as far as it reaches; whether a thread still has no room to tell.
 */
void pm__emu_count_drain(PmEmuRun *r);
int pm__emu_count_full(const PmEmuRun *r, int thread);

#endif
