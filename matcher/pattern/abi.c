/* SPDX-License-Identifier: Apache-2.0 */
/* abi.c - reading the structures of a plugin, of any version. */
#include "matcher/pattern/abi.h"

#include <string.h>

enum { UNIT = 8 };

uint32_t pm__abi_size(const void *src)
{
	uint32_t n;

	memcpy(&n, src, sizeof n);
	return n;
}

int pm__abi_read(const void *src, void *dst, size_t size)
{
	uint32_t n = pm__abi_size(src);

	if (!n || n % UNIT)
		return 0;
	memset(dst, 0, size);
	memcpy(dst, src, n < size ? n : size);
	return 1;
}
