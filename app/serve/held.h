/* SPDX-License-Identifier: Apache-2.0 */
/* held.h - what this process holds of the machine. */
#ifndef APP_SERVE_HELD_H
#define APP_SERVE_HELD_H

#include <stdint.h>

/* What the process holds. */
typedef struct PmServeHeld {
	int64_t resident, device; /* bytes; device: taken of the GPU's memory, 0 without one */
	int64_t files, mappings;  /* open descriptors; lines of /proc/self/maps */
} PmServeHeld;

/* All of it but `device`, which is 0 (serve_gpu.h knows that). */
void pm__held_now(PmServeHeld *out);

#endif
