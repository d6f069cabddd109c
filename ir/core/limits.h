/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h - what a candidate may hold: the one table of limits on what a pass hands over and asks for.
 *
 * Those of a kernel are judged when it is decoded (ir/core/kernel.h), those of all kernels together from the
 * graph alone (runtime/device/limits.h), those of an answer when it arrives (matcher/host/pass_host.c): each
 * before memory of that size is taken or a line compiled. Grids and blocks have CUDA's own limits
 * (ir/core/kernel_launch.c), a pattern's are in passmith/pass.h.
 */
#ifndef IR_LIMITS_H
#define IR_LIMITS_H

/* Of one kernel: PM_E_LIMIT or PM_E_INVALID of pm_kernel_decode. */
enum {
	PM_MAX_ALTS = 8,
	PM_MAX_LAUNCHES = 16,     /* per alternative */
	PM_MAX_KERNEL_ARGS = 128, /* per launch */
	PM_MAX_SCRATCH = 16,      /* buffers per alternative */
	PM_MAX_KERNEL_NAME = 63,  /* bytes of the name: letters, digits, _ . - */
	PM_MAX_SOURCE = 1 << 20,  /* bytes of one source */
	PM_MAX_BLOCK_THREADS = 1024,
	PM_MAX_SMEM = 227 * 1024 /* bytes of dynamic shared memory (sm_90) */
};

/* Of all kernels of a candidate together. */
enum {
	PM_LIMIT_KERNELS = 1 << 14,      /* REJECT_API; the original's own kernels count too */
	PM_LIMIT_LAUNCHES = 1 << 16,     /* of all alternatives; REJECT_API */
	PM_LIMIT_SOURCES = 512,          /* different sources, alternatives included, */
	PM_LIMIT_SOURCE_BYTES = 8 << 20, /* and their bytes together; COMPILE_LIMIT */
	PM_LIMIT_SCRATCH_EMU = 64 << 20, /* bytes of scratch on emu; LAUNCH_FAIL; */
	PM_LIMIT_SCRATCH_CUDA = 1 << 30, /* on cuda that, or if it is less this share of what was free */
	PM_LIMIT_SCRATCH_SHARE = 4       /* when the device was opened */
};

/* Of a pass's object and of the answer of its process. */
enum {
	PM_LIMIT_OBJECT = 64 << 20,    /* bytes read of a shared object; the ELF gate allows fewer */
	PM_LIMIT_REPLY_JSON = 8 << 20, /* bytes beside the graph, which take thirty times as many when read */
	PM_LIMIT_REPLY_GRAPH = 24 << 20,   /* bytes of graph text and different sources, and */
	PM_LIMIT_REPLY_TIMES = 8,          /* so many times the original's text */
	PM_LIMIT_REPLY_MEMORY = 128 << 20, /* bytes that the graph may take when it is read, and */
	PM_LIMIT_REPLY_SHARE = 512         /* so many for each byte of the original's text */
};

#endif
