/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_wire.h - the fields of a serialised protobuf message, one after the other, without building anything.
 *
 * What is read here is at most as lenient as protobuf-c: a key has at most 5 bytes and a field number from 1
 * on, a number at most 10, a length at most 5 and no more bytes than are left, groups do not exist.
 */
#ifndef IR_ONNX_WIRE_H
#define IR_ONNX_WIRE_H

#include <stddef.h>
#include <stdint.h>

typedef enum { PM_WIRE_VARINT = 0, PM_WIRE_64BIT = 1, PM_WIRE_BYTES = 2, PM_WIRE_32BIT = 5 } PmWireType;

typedef struct PmWire {
	const uint8_t *at, *end; /* borrowed */
} PmWire;

typedef struct PmWireField {
	uint32_t id;
	PmWireType type;
	uint64_t number;  /* VARINT */
	const uint8_t *p; /* others: the content, without its length */
	size_t n;
} PmWireField;

/* The next field: 1, and w->at is behind it; 0 at the end of the message; -1 when the bytes at w->at, which
 * stays, are no field. */
int pm__wire_next(PmWire *w, PmWireField *f);
/* Whether n bytes are numbers, one after the other, each complete. */
int pm__wire_is_numbers(const uint8_t *p, size_t n);

#endif
