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
	EMU_CUDA_CALLS, /* of any function of a context, or about it */
	EMU_CUDA_LOADS, /* modules that were loaded */
	EMU_CUDA_ALLOCS,
	EMU_CUDA_FUNCTIONS, /* looked up */
	EMU_CUDA_N
};

/* What a driver may do and this one does not until it is told: */
enum {
	/* While a thread captures, calls of others that take memory, load code, copy or wait do not return.
	 */
	EMU_CUDA_CAPTURES_HOLD,
	/* Loading a module and making a graph take 20 ms each, in which no other call of the context returns.
	 */
	EMU_CUDA_SLOW,
	EMU_CUDA_N_MANNERS
};

/* How many of them; found in the driver with dlsym. */
long emu_cuda_count(int what);
/* One of the manners above, on or off. */
void emu_cuda_behave(int manner, int on);
/* For libraries: has f called with a copy of n bytes at arg (at most 256) when the stream comes to it. As a
 * library that loads a kernel when it is first wanted, it waits where EMU_CUDA_CAPTURES_HOLD says so. */
int emu_cuda_enqueue(void *stream, void (*f)(void *arg), const void *arg, unsigned long n);
/* Of the cuDNN beside the driver: how often its version was asked for. */
long emu_dnn_asked(void);
/* With 1, no graph takes another's arguments from here on. */
void emu_cuda_refuse_updates(int on);

#endif
