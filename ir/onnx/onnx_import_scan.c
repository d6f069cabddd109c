/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_import_scan.c - checks the bytes of a message before anything is built from them.
 *
 * protobuf-c recurses on nested messages without a bound and stops texts at their first NUL. One walk
 * along the descriptors answers both: fields are complete, nesting is at most PM_ONNX_MAX_DEPTH, texts are
 * UTF-8 without NUL. It refuses whatever protobuf-c would, so that messages that are never unpacked are held
 * to the same. The allocator bounds what unpacking may take.
 */
#include "ir/onnx/onnx_priv.h"
#include "ir/onnx/onnx_wire.h"

#include <stdlib.h>
#include <string.h>

typedef struct Scan {
	const uint8_t *start;
	PmErr *err;
} Scan;

int pm__utf8_ok(const char *text, size_t n)
{
	const uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
	const uint8_t *s = (const uint8_t *)text;
	size_t i = 0;

	while (i < n) {
		uint64_t eight;
		uint8_t c = s[i];
		size_t more = c < 0x80 ? 0 : c >= 0xc2 && c <= 0xdf ? 1 : (c & 0xf0) == 0xe0 ? 2 : 3;
		size_t k;

		if (n - i >= sizeof eight) {
			memcpy(&eight, s + i, sizeof eight);
			/* No byte has its top bit set or is zero: what ASCII looks like. */
			if (!(eight & high) && !((eight - ones) & high)) {
				i += sizeof eight;
				continue;
			}
		}
		if (c == 0 || (c >= 0x80 && c < 0xc2) || c > 0xf4 || n - i <= more)
			return 0;
		for (k = 1; k <= more; k++) {
			if ((s[i + k] & 0xc0) != 0x80)
				return 0;
		}
		if ((c == 0xe0 && s[i + 1] < 0xa0) || (c == 0xed && s[i + 1] > 0x9f) ||
		    (c == 0xf0 && s[i + 1] < 0x90) || (c == 0xf4 && s[i + 1] > 0x8f))
			return 0;
		i += more + 1;
	}
	return 1;
}

static PmStatus cut(const Scan *s, const ProtobufCMessageDescriptor *d, const uint8_t *at)
{
	return pm_err(
		s->err, PM_E_INVALID,
		"The bytes at offset %zu are not a valid %s: the file is damaged, truncated or not ONNX; "
		"fetch or export it again.",
		(size_t)(at - s->start), d->short_name);
}

static PmStatus given_twice(const Scan *s, const ProtobufCMessageDescriptor *d,
			    const ProtobufCFieldDescriptor *fd, const uint8_t *at)
{
	return pm_err(s->err, PM_E_INVALID,
		      "The message %s.%s is given a second time at offset %zu; give it once.", d->short_name,
		      fd->name, (size_t)(at - s->start));
}

static PmStatus message(const Scan *s, const ProtobufCMessageDescriptor *d, PmWire w, int depth);

/* Whether protobuf-c reads a field of this type from what is there. */
static int fits(const ProtobufCFieldDescriptor *d, const PmWireField *f)
{
	PmWireType alone;
	size_t size = 0;

	switch (d->type) {
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_BYTES:
	case PROTOBUF_C_TYPE_MESSAGE:
		return f->type == PM_WIRE_BYTES;
	case PROTOBUF_C_TYPE_FLOAT:
	case PROTOBUF_C_TYPE_FIXED32:
	case PROTOBUF_C_TYPE_SFIXED32:
		alone = PM_WIRE_32BIT;
		size = 4;
		break;
	case PROTOBUF_C_TYPE_DOUBLE:
	case PROTOBUF_C_TYPE_FIXED64:
	case PROTOBUF_C_TYPE_SFIXED64:
		alone = PM_WIRE_64BIT;
		size = 8;
		break;
	default:
		alone = PM_WIRE_VARINT;
	}
	if (d->label != PROTOBUF_C_LABEL_REPEATED || f->type != PM_WIRE_BYTES)
		return f->type == alone;
	return size ? f->n % size == 0 : pm__wire_is_numbers(f->p, f->n); /* a packed list */
}

static PmStatus check_text(const Scan *s, const ProtobufCMessageDescriptor *d,
			   const ProtobufCFieldDescriptor *fd, const PmWireField *f)
{
	size_t at = (size_t)(f->p - s->start);

	if (f->n > PM_ONNX_MAX_META)
		return pm_err(s->err, PM_E_LIMIT,
			      "The text %s.%s at offset %zu has %zu bytes; at most %d are read, so shorten "
			      "it.",
			      d->short_name, fd->name, at, f->n, PM_ONNX_MAX_META);
	if (!pm__utf8_ok((const char *)f->p, f->n))
		return pm_err(s->err, PM_E_INVALID,
			      "The text %s.%s at offset %zu is not UTF-8 without NUL; write it in UTF-8.",
			      d->short_name, fd->name, at);
	return PM_OK;
}

static PmStatus message(const Scan *s, const ProtobufCMessageDescriptor *d, PmWire w, int depth)
{
	const ProtobufCFieldDescriptor *fd = NULL;
	const uint8_t *at = w.at;
	uint64_t seen = 0; /* messages of which there is one, by field number; all are below 64 */
	PmStatus st = PM_OK;
	PmWireField f;
	int more;

	if (depth > PM_ONNX_MAX_DEPTH)
		return pm_err(s->err, PM_E_LIMIT,
			      "Messages are nested deeper than %d at offset %zu; flatten the nested graphs.",
			      PM_ONNX_MAX_DEPTH, (size_t)(w.at - s->start));
	for (; !st && (more = pm__wire_next(&w, &f)) != 0; at = w.at) {
		if (more < 0)
			return cut(s, d, at);
		if (!fd || fd->id != f.id) /* fields of a list follow each other */
			fd = protobuf_c_message_descriptor_get_field(d, f.id);
		if (!fd)
			continue;
		if (!fits(fd, &f))
			return cut(s, d, at);
		/* protobuf-c loses fields when it joins them, or fails; of a graph in pieces we join the
		 * lists. */
		if (fd->type == PROTOBUF_C_TYPE_MESSAGE && fd->label != PROTOBUF_C_LABEL_REPEATED &&
		    d != &onnx__model_proto__descriptor) {
			if (seen >> (f.id & 63) & 1)
				return given_twice(s, d, fd, at);
			seen |= UINT64_C(1) << (f.id & 63);
		}
		if (fd->type == PROTOBUF_C_TYPE_MESSAGE)
			st = message(s, fd->descriptor, (PmWire){ f.p, f.p + f.n }, depth + 1);
		else if (fd->type == PROTOBUF_C_TYPE_STRING)
			st = check_text(s, d, fd, &f);
	}
	return st;
}

PmStatus pm__onnx_scan(const ProtobufCMessageDescriptor *d, const void *p, size_t n, PmErr *err)
{
	static const uint8_t none[1];
	Scan s = { n ? p : none, err };

	return message(&s, d, (PmWire){ s.start, s.start + n }, 0);
}

enum { LARGE = 1024 }; /* bytes */

static int is_large(const void *p)
{
	return ((uintptr_t)p & 15) == 8;
}

static void unlink_large(PmOnnxLarge *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
}

static void *take(void *data, size_t size)
{
	PmOnnxAlloc *a = data;
	PmOnnxLarge *l;

	if (size > a->budget - a->used) {
		a->over = 1;
		return NULL;
	}
	a->used += size;
	if (size < LARGE)
		return pm_arena_alloc(a->arena, size);
	_Static_assert(sizeof *l % 16 == 8, "large blocks start at 8 modulo 16");
	l = pm_xmalloc(sizeof *l + size);
	l->prev = &a->large;
	l->next = a->large.next;
	l->next->prev = a->large.next = l;
	return l + 1;
}

static void give(void *data, void *p)
{
	(void)data;
	if (p && is_large(p)) {
		unlink_large((PmOnnxLarge *)p - 1);
		free((PmOnnxLarge *)p - 1);
	}
}

static void drop_large(PmBlob *b)
{
	free(b->owner);
}

PmBlob *pm__onnx_alloc_take(void *p, size_t n)
{
	PmBlob *b;

	if (!is_large(p))
		return NULL;
	unlink_large((PmOnnxLarge *)p - 1);
	b = pm_xcalloc(1, sizeof *b);
	b->refs = 1;
	b->data = p;
	b->size = n;
	b->owner = (PmOnnxLarge *)p - 1;
	b->drop = drop_large;
	return b;
}

void pm__onnx_alloc_release(PmOnnxAlloc *a)
{
	while (a->large.next != &a->large)
		give(a, a->large.next + 1);
	pm_arena_free(a->arena);
	a->arena = NULL;
}

static void *arena_take(void *data, size_t size)
{
	return pm_arena_alloc(data, size);
}

static void arena_give(void *data, void *p)
{
	(void)data;
	(void)p;
}

ProtobufCAllocator pm__onnx_arena_allocator(PmArena *a)
{
	return (ProtobufCAllocator){ arena_take, arena_give, a };
}

/* What unpacking a message of that many bytes may take. */
static size_t budget(size_t message_bytes)
{
	/* The densest message seen is a list of dimensions: 4 bytes each in the file, about 150 unpacked. */
	const size_t per_byte = 128, floor = (size_t)16 << 20, roof = (size_t)16 << 30;
	size_t extra;

	if (!pm_mul_size(message_bytes, per_byte, &extra) || extra > roof)
		extra = roof;
	return message_bytes + extra + floor;
}

void pm__onnx_alloc_init(PmOnnxAlloc *a, size_t message_bytes)
{
	memset(a, 0, sizeof *a);
	a->arena = pm_arena_new(0);
	a->large.prev = a->large.next = &a->large;
	a->base.alloc = take;
	a->base.free = give;
	a->base.allocator_data = a;
	a->budget = budget(message_bytes);
}

void pm__onnx_alloc_reset(PmOnnxAlloc *a, size_t message_bytes)
{
	while (a->large.next != &a->large)
		give(a, a->large.next + 1);
	pm_arena_reset(a->arena);
	a->used = 0;
	a->over = 0;
	a->budget = budget(message_bytes);
}

ProtobufCMessage *pm__onnx_unpack_scanned(const ProtobufCMessageDescriptor *d, const void *p, size_t n,
					  PmOnnxAlloc *a, PmErr *err)
{
	ProtobufCMessage *m = protobuf_c_message_unpack(d, &a->base, n, p);

	if (!m && a->over)
		pm_err(err, PM_E_LIMIT,
		       "Unpacking %zu bytes takes more than %zu bytes of memory; split the model.", n,
		       a->budget);
	else if (!m)
		pm_err(err, PM_E_INVALID,
		       "The %zu bytes are not a valid %s: the file is damaged or not ONNX; fetch or export "
		       "it again.",
		       n, d->short_name);
	return m;
}

ProtobufCMessage *pm__onnx_unpack(const ProtobufCMessageDescriptor *d, const void *p, size_t n,
				  PmOnnxAlloc *a, PmErr *err)
{
	ProtobufCMessage *m;

	if (pm__onnx_scan(d, p, n, err))
		return NULL;
	pm__onnx_alloc_init(a, n);
	m = pm__onnx_unpack_scanned(d, p, n, a, err);
	if (!m)
		pm__onnx_alloc_release(a);
	return m;
}
