/* SPDX-License-Identifier: Apache-2.0 */
/* emu_cuda.h - what the driver of emu_cuda.c counts, for tests that have loaded it. */
#ifndef TESTS_EMU_CUDA_H
#define TESTS_EMU_CUDA_H

/* Those that live now, and how often something was done. */
enum {
	EMU_CUDA_RETAINED,
	EMU_CUDA_MODULES,
	EMU_CUDA_MEMORY, /* pieces of memory */
	EMU_CUDA_STREAMS,
	EMU_CUDA_GRAPHS, /* captured and instantiated ones */

	EMU_CUDA_LAUNCHES,
	EMU_CUDA_CAPTURED, /* launches */
	EMU_CUDA_INSTANTIATED,
	EMU_CUDA_UPDATED,
	EMU_CUDA_GRAPH_LAUNCHES,
	EMU_CUDA_COPIES,
	EMU_CUDA_WAITS,
	EMU_CUDA_N
};

/* How many of them; found in the driver with dlsym. */
long emu_cuda_count(int what);
/* With 1, no graph takes another's arguments from here on. */
void emu_cuda_refuse_updates(int on);

#endif
