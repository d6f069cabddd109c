/* SPDX-License-Identifier: Apache-2.0 */
/* emu_dnn.c - a cuDNN that has a version and nothing else, and counts who asks for it: whoever opens it. */
#include "tests/machine/emu_cuda.h"

#include <stddef.h>

static long asked;

__attribute__((visibility("default"))) size_t cudnnGetVersion(void);
size_t cudnnGetVersion(void)
{
	asked++;
	return 91300;
}

__attribute__((visibility("default"))) long emu_dnn_asked(void)
{
	return asked;
}
