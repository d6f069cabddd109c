/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_pack.c - elements of fewer than 8 bits as ONNX files pack them: the first in the lowest bits, one
 * right behind the other, over the borders of bytes too (6 bits). */
#include "ir/core/element.h"
#include "ir/onnx/onnx_priv.h"

#include <string.h>

int64_t pm__onnx_packed_bytes(int dtype, int64_t numel)
{
	int64_t bits = pm_dtype_bits(dtype);

	return bits % 8 ? numel / 8 * bits + (numel % 8 * bits + 7) / 8 : numel * (bits / 8);
}

void pm__onnx_unpack_bits(int dtype, const unsigned char *from, int64_t numel, unsigned char *to)
{
	int64_t bits = pm_dtype_bits(dtype), last = pm__onnx_packed_bytes(dtype, numel) - 1;

	for (int64_t i = 0; i < numel; i++) {
		int64_t at = i * bits / 8;
		unsigned two = from[at] | (at < last ? (unsigned)from[at + 1] << 8 : 0);
		unsigned v = two >> i * bits % 8 & ((1u << bits) - 1);

		to[i] = (unsigned char)v;
		if (pm_dtype_is_int(dtype)) /* with the sign in the upper bits */
			pm_int_store(dtype, to + i, (int64_t)v);
	}
}

void pm__onnx_pack_bits(int dtype, const unsigned char *from, int64_t numel, unsigned char *to)
{
	int64_t bits = pm_dtype_bits(dtype), bytes = pm__onnx_packed_bytes(dtype, numel);

	memset(to, 0, (size_t)bytes);
	for (int64_t i = 0; i < numel; i++) {
		int64_t at = i * bits / 8;
		unsigned v = (from[i] & ((1u << bits) - 1)) << i * bits % 8;

		to[at] |= (unsigned char)v;
		if (v >> 8)
			to[at + 1] |= (unsigned char)(v >> 8);
	}
}
