/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_wire.c - protobuf's wire format, field by field. */
#include "ir/onnx/onnx_wire.h"

enum { KEY_BYTES = 5, NUMBER_BYTES = 10, LENGTH_BYTES = 5 };

/* A number of at most `most` bytes; bits past the 64th are dropped, as protobuf does. NULL: it is cut or too
 * long. Returns where it ends. */
static const uint8_t *varint(const uint8_t *p, const uint8_t *end, int most, uint64_t *out)
{
	uint64_t v = 0;
	int k;

	for (k = 0; k < most && p < end; k++) {
		uint8_t c = *p++;

		if (7 * k < 64)
			v |= (uint64_t)(c & 0x7f) << (7 * k);
		if (!(c & 0x80)) {
			*out = v;
			return p;
		}
	}
	return NULL;
}

int pm__wire_next(PmWire *w, PmWireField *f)
{
	const uint8_t *p = w->at;
	uint64_t key, n = 0;

	if (p == w->end)
		return 0;
	if (!(p = varint(p, w->end, KEY_BYTES, &key)) || key >> 3 == 0 || key > UINT32_MAX)
		return -1;
	f->id = (uint32_t)(key >> 3);
	f->type = (PmWireType)(key & 7);
	f->number = 0;
	switch (f->type) {
	case PM_WIRE_VARINT:
		p = varint(p, w->end, NUMBER_BYTES, &f->number);
		break;
	case PM_WIRE_BYTES:
		if (!(p = varint(p, w->end, LENGTH_BYTES, &n)) || n > INT32_MAX)
			return -1;
		break;
	case PM_WIRE_64BIT:
		n = 8;
		break;
	case PM_WIRE_32BIT:
		n = 4;
		break;
	default:
		return -1;
	}
	if (!p || n > (uint64_t)(w->end - p))
		return -1;
	f->p = p;
	f->n = (size_t)n;
	w->at = p + n;
	return 1;
}

int pm__wire_is_numbers(const uint8_t *p, size_t n)
{
	const uint8_t *end = p + n;
	uint64_t unused;

	while (p && p < end)
		p = varint(p, end, NUMBER_BYTES, &unused);
	return p != NULL;
}
