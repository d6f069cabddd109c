/* SPDX-License-Identifier: Apache-2.0 */
/* emu_abi.h - what a kernel compiled for the emulated device and the program that runs it agree on.
 *
 * Read by both: as C by runtime/emu/emu_*.c and as C++ at the top of every compiled kernel (cuda_host.h). The
 * layout is part of the key under which compiled kernels are cached, so it may change freely.
 */
#ifndef RUNTIME_EMU_EMU_ABI_H
#define RUNTIME_EMU_EMU_ABI_H

enum { PM_EMU_ABI = 2 };

#ifdef __cplusplus
struct uint3 {
	unsigned int x, y, z;
};
typedef uint3 PmEmu3;
#else
typedef struct PmEmu3 {
	unsigned int x, y, z;
} PmEmu3;
#endif

/* Barriers of a whole block. */
enum { PM_EMU_BAR_SYNC, PM_EMU_BAR_COUNT, PM_EMU_BAR_AND, PM_EMU_BAR_OR };

/* Collectives of a warp. */
enum {
	PM_EMU_WARP_SYNC,
	PM_EMU_WARP_SHFL, /* value of lane `arg` */
	PM_EMU_WARP_BALLOT,
	PM_EMU_WARP_MATCH, /* the lanes that hold the same value */
	PM_EMU_WARP_ADD,
	PM_EMU_WARP_MIN,
	PM_EMU_WARP_UMIN,
	PM_EMU_WARP_MAX,
	PM_EMU_WARP_UMAX,
	PM_EMU_WARP_AND,
	PM_EMU_WARP_OR,
	PM_EMU_WARP_XOR,
	PM_EMU_WARP_SHARE, /* `arg` bytes at address `value` of every lane: where they are, PM_EMU_SHARE apart
			    */
	PM_EMU_WARP_ACTIVE /* the lanes that are at the same line */
};

enum { PM_EMU_SHARE = 32 }; /* most bytes that a lane shares */

/* An argument of printf: an integer, the bits of a double, or an address. */
enum { PM_EMU_PRINT_INT = 1, PM_EMU_PRINT_DOUBLE, PM_EMU_PRINT_POINTER };
typedef struct PmEmuPrintArg {
	unsigned long long bits;
	int kind;
} PmEmuPrintArg;

/* Functions of the program that a running kernel calls. `line` and `file` are the author's place. */
typedef struct PmEmuCalls {
	int (*barrier)(int kind, int pred, int line, const char *file);
	unsigned long long (*warp)(int op, unsigned int mask, unsigned long long value, int arg, int line);
	/* Ends the launch; what is "called __trap()" or the like. */
	void (*trap)(const char *what, int line, const char *file);
	/* What compilers call for copies and fills. */
	void *(*copy)(void *to, const void *from, __SIZE_TYPE__ n);
	void *(*move)(void *to, const void *from, __SIZE_TYPE__ n);
	void *(*set)(void *to, int byte, __SIZE_TYPE__ n);
	/* printf with n arguments; ends the launch where kernels do not print. */
	int (*print)(const char *format, const PmEmuPrintArg *v, int n);
} PmEmuCalls;

/* The running thread, kept up to date by the program whenever it changes threads. */
typedef struct PmEmuCtx {
	PmEmu3 thread, block, block_dim, grid_dim;
	unsigned int lane;  /* of the warp, 0..31 */
	unsigned char *dyn; /* dynamic shared memory of the block */
	const PmEmuCalls *calls;
} PmEmuCtx;

/* Kinds of kernel parameters. */
enum { PM_EMU_POINTER, PM_EMU_INT64, PM_EMU_INT32, PM_EMU_FLOAT, PM_EMU_DOUBLE, PM_EMU_OTHER };

typedef struct PmEmuEntry {
	const char *name;                /* NULL ends the table */
	void (*call)(void *const *args); /* args[i] points at the value of parameter i */
	const unsigned char *kind;       /* n_params of them */
	int n_params;
	int max_threads; /* of __launch_bounds__; 0 = not given */
} PmEmuEntry;

typedef struct PmEmuModule {
	int abi;
	PmEmuCtx *ctx;
	unsigned char *shared, *shared_end; /* all static shared memory of the module */
	const PmEmuEntry *entries;
} PmEmuModule;

#endif
