/* SPDX-License-Identifier: Apache-2.0 */
/* emu.h - runs kernels of tests/kernels on the emulated device from a test case. */
#ifndef TESTS_LIB_EMU_H
#define TESTS_LIB_EMU_H

#include "runtime/device/device.h"
#include "runtime/profile/counts.h"

/* A new device; the case fails when there is none. The caller closes it with dev->ops->close. */
PmDevice *emu_open(void);
/* Loads tests/kernels/<file>; the case fails with the compiler's message when it does not compile. */
PmModule emu_load(PmDevice *dev, const char *file, PmDType type);
/* Loads a source given as text. Returns the status, for tests of refusals. */
PmStatus emu_load_text(PmDevice *dev, const char *label, const char *source, PmModule *out, PmErr *err);
/* A buffer that holds a copy of `data`, or the pattern 0xdeadbeef when data is NULL. */
PmBuf emu_buf(PmDevice *dev, PmBufUse use, const void *data, int64_t bytes);
/* Copies `bytes` bytes of a buffer to `data`; the case fails when the device does. */
void emu_get(PmDevice *dev, PmBuf b, void *data, int64_t bytes);

/* Arguments of a launch: a buffer's address, or a number of that type. */
PmDevArg emu_arg(PmBuf b);
PmDevArg emu_i64(int64_t v);
PmDevArg emu_i32(int32_t v);
PmDevArg emu_f32(double v);
PmDevArg emu_f64(double v);

/* Launches `n_blocks` blocks of `n_threads` threads. */
PmStatus emu_launch(PmDevice *dev, PmModule m, const char *entry, uint32_t n_blocks, uint32_t n_threads,
		    uint32_t smem, const PmDevArg *args, int n_args, PmErr *err);
/* The same; the case fails unless the launch succeeds. EMU_CALL counts the arguments. */
void emu_call(PmDevice *dev, PmModule m, const char *entry, uint32_t n_blocks, uint32_t n_threads,
	      uint32_t smem, const PmDevArg *args, int n_args);
#define EMU_CALL(dev, m, entry, n_blocks, n_threads, smem, ...)                                              \
	emu_call(dev, m, entry, n_blocks, n_threads, smem, (PmDevArg[]){ __VA_ARGS__ },                      \
		 (int)(sizeof(PmDevArg[]){ __VA_ARGS__ } / sizeof(PmDevArg)))

/* What a fresh device counts of one launch of the kernel k(const float *x, float *y, int v) of a source; x
 * and y are `floats` zeros each. */
PmLaunchCounts emu_counts(const char *source, int floats, int32_t v, uint32_t n_blocks, uint32_t n_threads,
			  uint32_t smem);

#endif
