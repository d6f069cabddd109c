/* SPDX-License-Identifier: Apache-2.0 */
/* abi.h - reading the structures of a plugin, which may be older and shorter than this program's, or longer.
 */
#ifndef MATCHER_ABI_H
#define MATCHER_ABI_H

#include <stddef.h>
#include <stdint.h>

/* Copies a structure of passmith/pass.h that begins with its size into `dst`, which has `size` bytes: as far
 * as the plugin's goes, and zeros for the fields that it lacks. What lies behind the plugin's structure is
 * not read. Returns 0 when the size that it states is none that a structure can have: every version ends at a
 * multiple of 8 bytes, and none is empty. */
int pm__abi_read(const void *src, void *dst, size_t size);

/* What is wrong then, for "%s ... %u": the end of a sentence that begins with what the structure is. */
#define PM__ABI_BAD_SIZE "says it has %u bytes, which no version of the interface has"

/* The size that a structure states. */
uint32_t pm__abi_size(const void *src);

#endif
