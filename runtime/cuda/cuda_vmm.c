/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_vmm.c - buffers of checked runs: each in a mapping of its own between wide gaps, read-only to kernels
 * that may only read it.
 *
 * An access in a gap, or a write to a read-only mapping, ends the kernel with an illegal address and the
 * context with it. A buffer touches a gap with its end, every other one with its beginning (both up to the
 * alignment; what is left of the mapping is filled with the guard's pattern and looked at). Where a mapping
 * lies is random, so that an address from one run means nothing in the next.
 */
#include "runtime/cuda/cuda_priv.h"

#include <string.h>
#include <sys/random.h>

enum {
	ALIGN = 256,     /* of a buffer's start, as from the driver's own allocator */
	GAP_SHIFT = 30,  /* gaps have 1 GiB or more, */
	LOW_SHIFT = 25,  /* or 32 MiB when addresses run out */
	TYPE_PINNED = 1, /* of the driver API: a plain allocation on a device */
	AT_DEVICE = 1,
	MAY_READ = 1,
	MAY_WRITE = 3,
};

void pm__vmm_open(PmCudaDevice *d)
{
	CuMemProp prop = { .type = TYPE_PINNED, .where = { AT_DEVICE, d->dev } };
	int has = 0;

	d->granule = 0;
	if (d->cu->device_attr(&has, CU_DEV_HAS_VMM, d->dev) == 0 && has &&
	    d->cu->mem_granularity(&d->granule, &prop, 0) != 0)
		d->granule = 0;
}

static int set_access(PmCudaDevice *d, const PmCudaBuf *b, int flags)
{
	CuMemAccess a = { { AT_DEVICE, d->dev }, flags };

	return d->cu->mem_access(b->base, (size_t)b->total, &a, 1);
}

/* Reserves addresses for gap, mapping and gap; *at is where the mapping goes. */
static int reserve(PmCudaDevice *d, PmCudaBuf *b, int shift, CuPtr *at)
{
	size_t gap = (size_t)1 << shift, extra;
	uint32_t r = 0;
	int rc;

	if (getrandom(&r, sizeof r, 0) != sizeof r)
		r = (uint32_t)(uintptr_t)b;
	extra = r % (gap / d->granule) * d->granule; /* moves the mapping within twice the gap */
	b->reserved = 3 * gap + (size_t)b->total;
	rc = d->cu->mem_reserve(&b->reserve, b->reserved, d->granule, 0, 0);
	*at = b->reserve + gap + extra;
	return rc;
}

int pm__vmm_map(PmCudaDevice *d, PmCudaBuf *b)
{
	CuMemProp prop = { .type = TYPE_PINNED, .where = { AT_DEVICE, d->dev } };
	uint64_t rounded = ((uint64_t)b->bytes + ALIGN - 1) / ALIGN * ALIGN;
	size_t whole = (size_t)(rounded + (rounded == 0) + d->granule - 1) / d->granule * d->granule;
	CuPtr at = 0;
	int rc;

	b->total = (int64_t)whole;
	rc = reserve(d, b, GAP_SHIFT, &at);
	if (rc)
		rc = reserve(d, b, LOW_SHIFT, &at);
	if (rc)
		return rc;
	rc = d->cu->mem_create(&b->handle, whole, &prop, 0);
	if (rc) {
		d->cu->mem_unreserve(b->reserve, b->reserved);
		return rc;
	}
	b->base = at;
	b->mapped = 1;
	rc = d->cu->mem_map(at, whole, 0, b->handle, 0);
	if (!rc)
		rc = set_access(d, b, MAY_WRITE);
	if (rc) {
		pm__vmm_unmap(d, b);
		return rc;
	}
	b->p = d->n_mapped++ & 1 ? at : at + whole - rounded;
	return 0;
}

void pm__vmm_unmap(PmCudaDevice *d, PmCudaBuf *b)
{
	d->cu->stream_sync(d->stream); /* what was enqueued may still use it */
	d->cu->mem_unmap(b->base, (size_t)b->total);
	d->cu->mem_release(b->handle);
	d->cu->mem_unreserve(b->reserve, b->reserved);
	memset(b, 0, sizeof *b);
}

int pm__vmm_lock(PmCudaDevice *d, PmCudaBuf *b, int readonly)
{
	int rc;

	if (!b->mapped || b->readonly == readonly)
		return 0;
	rc = d->cu->stream_sync(d->stream);
	if (!rc)
		rc = set_access(d, b, readonly ? MAY_READ : MAY_WRITE);
	if (!rc)
		b->readonly = readonly;
	return rc;
}
