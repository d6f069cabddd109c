/* SPDX-License-Identifier: Apache-2.0 */
/* conform_peek.c - the operator and the element types of a serialised ONNX model, without importing it.
 *
 * Import normalises: the operator that a case is about may be gone afterwards. This reads the few fields that
 * name it straight from the protobuf wire format.
 */
#include "bench/conform/conform_priv.h"

#include "ir/onnx/onnx.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Field numbers of onnx.proto. */
enum { ONNX_UINT16 = 4, ONNX_STRING = 8, ONNX_BFLOAT16 = 16 };
enum {
	MODEL_GRAPH = 7,
	MODEL_OPSET = 8,
	OPSET_DOMAIN = 1,
	OPSET_VERSION = 2,
	GRAPH_NODE = 1,
	GRAPH_INPUT = 11,
	GRAPH_OUTPUT = 12,
	NODE_OP_TYPE = 4,
	NODE_DOMAIN = 7,
	VALUE_TYPE = 2,
	TYPE_TENSOR = 1,
	TYPE_SEQUENCE = 4,
	TYPE_MAP = 5,
	TYPE_OPTIONAL = 9,
	TENSOR_ELEM = 1,
	DATA_TYPE = 2
};

typedef struct Wire {
	const unsigned char *p, *end;
} Wire;

typedef struct Field {
	uint32_t number;
	uint64_t value; /* of a varint */
	Wire bytes;     /* of a length-delimited field */
} Field;

static int varint(Wire *w, uint64_t *v)
{
	int shift;

	*v = 0;
	for (shift = 0; shift < 64 && w->p < w->end; shift += 7) {
		unsigned char b = *w->p++;

		*v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return 1;
	}
	return 0;
}

/* The next field; 0 at the end or at anything malformed. */
static int next(Wire *w, Field *f)
{
	uint64_t tag, n = 0;

	memset(f, 0, sizeof *f);
	if (!varint(w, &tag))
		return 0;
	f->number = (uint32_t)(tag >> 3);
	switch (tag & 7) {
	case 0:
		return varint(w, &f->value);
	case 1:
		n = 8;
		break;
	case 2:
		if (!varint(w, &n))
			return 0;
		break;
	case 5:
		n = 4;
		break;
	default:
		return 0;
	}
	if (n > (uint64_t)(w->end - w->p))
		return 0;
	f->bytes.p = w->p;
	f->bytes.end = w->p += n;
	return 1;
}

/* The domains and operators that conformance does not count, with the word for why: the only list of them. A
 * name that ends with '*' stands for all that begin so. */
static const struct {
	const char *name, *why;
	int is_domain;
} outside[] = {
	{ "ai.onnx.preview.training", "training", 1 },
	{ "ai.onnx.training", "training", 1 },
	{ "ai.onnx.ml", "machine learning", 1 },
	{ "StringNormalizer", "string", 0 },
	{ "If", "control flow", 0 },
	{ "Loop", "control flow", 0 },
	{ "Scan", "control flow", 0 },
	{ "Sequence*", "sequence", 0 },
	{ "Optional*", "sequence", 0 },
	{ "SplitToSequence", "sequence", 0 },
	{ "ConcatFromSequence", "sequence", 0 },
};

static void note_outside(PmModelPeek *out, int is_domain, const void *text, size_t n)
{
	size_t k;

	for (k = 0; k < sizeof outside / sizeof *outside && !out->outside; k++) {
		size_t len = strlen(outside[k].name), prefix = outside[k].name[len - 1] == '*';

		len -= prefix;
		if (outside[k].is_domain == is_domain && (prefix ? n >= len : n == len) &&
		    memcmp(text, outside[k].name, len) == 0)
			out->outside = outside[k].why;
	}
}

static void peek_node(Wire w, PmModelPeek *out, int *count)
{
	Field f;

	while (next(&w, &f)) {
		size_t n = (size_t)(f.bytes.end - f.bytes.p);

		if (f.number == NODE_DOMAIN && f.bytes.p)
			note_outside(out, 1, f.bytes.p, n);
		if (f.number != NODE_OP_TYPE || !f.bytes.p)
			continue;
		note_outside(out, 0, f.bytes.p, n);
		if (n == 8 && memcmp(f.bytes.p, "Constant", 8) == 0 && *count)
			continue;
		if (++*count > 1 && strcmp(out->op, "Constant") != 0)
			snprintf(out->op, sizeof out->op, "(several)");
		else
			snprintf(out->op, sizeof out->op, "%.*s", (int)(n < 63 ? n : 63),
				 (const char *)f.bytes.p);
	}
}

static void peek_type(Wire w, PmModelPeek *out)
{
	Field f, e;

	while (next(&w, &f)) {
		if (f.number == TYPE_SEQUENCE || f.number == TYPE_OPTIONAL || f.number == TYPE_MAP)
			out->outside = "sequence";
		else if (f.number == TYPE_TENSOR)
			while (next(&f.bytes, &e))
				if (e.number == TENSOR_ELEM && e.value < 1000) {
					if (e.value == ONNX_STRING)
						out->outside = "string";
					else if (pm_dtype_from_onnx((int)e.value) < 0)
						out->bad_type = (int)e.value;
					out->has_bfloat16 |= e.value == ONNX_BFLOAT16;
				}
	}
}

static void peek_value(Wire w, PmModelPeek *out)
{
	Field f;

	while (next(&w, &f))
		if (f.number == VALUE_TYPE && f.bytes.p)
			peek_type(f.bytes, out);
}

void pm__model_peek(const void *p, size_t n, PmModelPeek *out)
{
	Wire model = { p, (const unsigned char *)p + n };
	int count = 0;
	Field f, g;

	memset(out, 0, sizeof *out);
	snprintf(out->op, sizeof out->op, "(none)");
	while (next(&model, &f)) {
		if (f.number != MODEL_GRAPH || !f.bytes.p)
			continue;
		while (next(&f.bytes, &g)) {
			if (g.number == GRAPH_NODE)
				peek_node(g.bytes, out, &count);
			else if (g.number == GRAPH_INPUT || g.number == GRAPH_OUTPUT)
				peek_value(g.bytes, out);
		}
	}
}

void pm__model_raise_opset(void *p, size_t n, unsigned char least)
{
	Wire model = { p, (const unsigned char *)p + n };
	Field f, g;

	while (next(&model, &f)) {
		size_t version = 0;
		int is_default = 1;

		if (f.number != MODEL_OPSET || !f.bytes.p)
			continue;
		while (next(&f.bytes, &g)) {
			if (g.number == OPSET_DOMAIN && g.bytes.p != g.bytes.end)
				is_default = 0;
			if (g.number == OPSET_VERSION && g.value < least) /* one byte, just read */
				version = (size_t)(f.bytes.p - (const unsigned char *)p) - 1;
		}
		if (is_default && version)
			((unsigned char *)p)[version] = least;
	}
}

void pm__tensor_uint16_is_bfloat16(void *p, size_t n)
{
	Wire tensor = { p, (const unsigned char *)p + n };
	Field f;

	while (next(&tensor, &f))
		if (f.number == DATA_TYPE && f.value == ONNX_UINT16)
			((unsigned char *)p)[tensor.p - (const unsigned char *)p - 1] = ONNX_BFLOAT16;
}
