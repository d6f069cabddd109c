/* SPDX-License-Identifier: Apache-2.0 */
/* api.c - functions out of ONNX Runtime's table. */
#include "ort/api.h"

#include <string.h>

void pm__ort_api_take(const void *table, PmOrtApi *out)
{
	const unsigned char *p = table;

#define XX(place, member, result, parameters)                                                                \
	_Static_assert(place < PM_ORT_PLACES, #member);                                                      \
	memcpy(&out->member, p + place * sizeof(void *), sizeof(void *));
	PM_ORT_FUNCTIONS(XX)
#undef XX
}
