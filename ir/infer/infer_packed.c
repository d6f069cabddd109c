/* SPDX-License-Identifier: Apache-2.0 */
/* infer_packed.c - elements of integer values in as few bytes as they need.
 *
 * Index lists of graph networks have thousands of elements, half of them unknown, and a dozen nodes hand them
 * on: as PmElem they would take many times the model. Here each takes a quarter of a byte for its kind, when
 * kinds differ, and what the largest known element needs.
 */
#include "ir/infer/infer_fold_priv.h"

#include <stdlib.h>
#include <string.h>

enum { MIXED = 3, KINDS_PER_BYTE = 4 };

static uint8_t width_of(int64_t v)
{
	return v == (int8_t)v ? 1 : v == (int16_t)v ? 2 : v == (int32_t)v ? 4 : 8;
}

static void store(unsigned char *p, int64_t v, size_t width)
{
	for (size_t k = 0; k < width; k++)
		p[k] = (unsigned char)((uint64_t)v >> (8 * k));
}

static int64_t load(const unsigned char *p, size_t width)
{
	uint64_t v = p[width - 1] & 0x80 ? ~(uint64_t)0 : 0;

	for (size_t k = width; k-- > 0;)
		v = v << 8 | p[k];
	return (int64_t)v;
}

static size_t kind_bytes(const PmPacked *p)
{
	return p->kind == MIXED ? ((size_t)p->n + KINDS_PER_BYTE - 1) / KINDS_PER_BYTE : 0;
}

/* Kind, width and size that the elements need. */
static void measure(PmPacked *p, const PmElem *e)
{
	size_t known = 0;

	p->width = 1;
	p->kind = p->n ? e[0].kind : PM_ELEM_UNKNOWN;
	for (size_t i = 0; i < p->n; i++) {
		if (e[i].kind != p->kind)
			p->kind = MIXED;
		if (e[i].kind == PM_ELEM_UNKNOWN)
			continue;
		known++;
		if (width_of(e[i].v) > p->width)
			p->width = width_of(e[i].v);
	}
	p->size = p->n == 1 ? 0 : (uint16_t)(kind_bytes(p) + known * p->width);
}

PmPacked pm__pack(const PmElem *e, size_t n)
{
	PmPacked p = { .n = (uint16_t)n };
	unsigned char *v;

	measure(&p, e);
	if (n == 1)
		p.u.one = e->v;
	if (!p.size)
		return p;
	p.u.bytes = pm_xcalloc(p.size, 1);
	v = p.u.bytes + kind_bytes(&p);
	for (size_t i = 0; i < n; i++) {
		if (p.kind == MIXED)
			p.u.bytes[i / KINDS_PER_BYTE] |= (unsigned char)(e[i].kind
									 << 2 * (i % KINDS_PER_BYTE));
		if (e[i].kind == PM_ELEM_UNKNOWN)
			continue;
		store(v, e[i].v, p.width);
		v += p.width;
	}
	return p;
}

void pm__packed_release(PmPacked *p)
{
	if (p->size)
		free(p->u.bytes);
	memset(p, 0, sizeof *p);
}

void pm__unpack(const PmPacked *p, PmElem *out)
{
	const unsigned char *v = p->size ? p->u.bytes + kind_bytes(p) : NULL;

	if (p->n == 1) {
		*out = (PmElem){ p->kind, p->u.one };
		return;
	}
	for (size_t i = 0; i < p->n; i++) {
		uint8_t kind = p->kind;

		if (kind == MIXED)
			kind = p->u.bytes[i / KINDS_PER_BYTE] >> 2 * (i % KINDS_PER_BYTE) & 3;
		out[i] = (PmElem){ kind, 0 };
		if (kind == PM_ELEM_UNKNOWN)
			continue;
		out[i].v = load(v, p->width);
		v += p->width;
	}
}
