/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_mem.c - buffers on a GPU: allocation, copies, fills. */
#include "runtime/cuda/cuda_priv.h"

#include <stdlib.h>
#include <string.h>

enum {
	ALIGN = 512,        /* of allocations: what the driver gives */
	MAX_STEP = 2 << 20, /* between size classes: more than that and a zone is never behind a buffer */
	KEEP_SHARE = 4,     /* released memory is kept up to this share of the device's */
	MAX_KEPT = 4096     /* blocks */
};

PmCudaBuf *pm__cuda_buf(PmCudaDevice *d, PmBuf b)
{
	if (b.id == 0 || b.id > d->bufs.n || !d->bufs.v[b.id - 1].base)
		return NULL;
	return &d->bufs.v[b.id - 1];
}

void pm__cuda_drop_kept(PmCudaDevice *d)
{
	size_t i;

	for (i = 0; i < d->kept.n; i++)
		d->cu->mem_free(d->kept.v[i].base);
	d->kept.n = 0;
	d->kept_bytes = 0;
}

/* Sizes come in classes, eight to each power of two up to 32 MiB, then every 2 MiB, so that released blocks
 * serve again; everything is enqueued on one stream, so they may at once. */
static int64_t size_class(int64_t bytes)
{
	int64_t step = ALIGN;

	while (step * 16 <= bytes && step < MAX_STEP)
		step *= 2;
	return (bytes + step - 1) / step * step;
}

/* A block of exactly that size: a released one, or a new one. 0 or the driver's error. */
static int take_block(PmCudaDevice *d, int64_t total, CuPtr *out)
{
	size_t i;
	int rc;

	for (i = d->kept.n; i-- > 0;)
		if (d->kept.v[i].total == total) {
			*out = d->kept.v[i].base;
			d->kept.v[i] = d->kept.v[--d->kept.n];
			d->kept_bytes -= total;
			return 0;
		}
	rc = d->cu->mem_alloc(out, (size_t)total);
	if (rc == CU_OUT_OF_MEMORY && d->kept.n) {
		pm__cuda_drop_kept(d);
		rc = d->cu->mem_alloc(out, (size_t)total);
	}
	return rc;
}

/* A block with a zone before and behind the buffer. */
static int take_zoned(PmCudaDevice *d, PmCudaBuf *b)
{
	int rc;

	b->total = size_class(b->bytes + 2 * CU_ZONE);
	rc = take_block(d, b->total, &b->base);
	b->p = b->base + CU_ZONE;
	return rc;
}

void pm__cuda_layout(PmDevice *dev, uint64_t secret)
{
	((PmCudaDevice *)dev)->layout = secret;
}

PmStatus pm__cuda_mend(PmDevice *dev, PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	PmStatus st = pm__cuda_failed(d, err);
	int rc = st ? 0 : pm__guard_mend(d->cu, d->stream, &d->guard, &d->bufs);

	return rc ? pm__cuda_kernel_error(d, rc, err) : st;
}

static PmStatus alloc(PmDevice *dev, int64_t bytes, PmBufUse use, int guarded, PmBuf *out, PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	PmCudaBuf b = { .bytes = bytes, .use = use };
	PmStatus st = pm__cuda_failed(d, err);
	size_t i;
	int rc;

	if (st)
		return st;
	if (d->layout)
		guarded = (int)((pm_mix64(d->layout >> 1) ^ d->layout) & 1);
	if (bytes < 0 || bytes > d->info.memory)
		return pm_err(err, PM_E_LIMIT,
			      "A buffer of %lld bytes does not fit on this device, which has %lld.",
			      (long long)bytes, (long long)d->info.memory);
	for (i = d->first_free; i < d->bufs.n && d->bufs.v[i].base; i++)
		;
	if (i >= CU_MAX_BUFS)
		return pm_err(err, PM_E_LIMIT, "This device already has %d buffers, which is the limit.",
			      CU_MAX_BUFS);
	rc = guarded && d->granule ? pm__vmm_map(d, &b) : take_zoned(d, &b);
	if (rc == CU_OUT_OF_MEMORY && guarded && d->kept.n) {
		pm__cuda_drop_kept(d);
		rc = pm__vmm_map(d, &b);
	}
	if (rc == CU_OUT_OF_MEMORY)
		return pm_err(
			err, PM_E_LIMIT,
			"The GPU has no room for a buffer of %lld bytes; use smaller sizes or end other "
			"programs on it.",
			(long long)bytes);
	if (rc)
		return pm__cuda_kernel_error(d, rc, err);
	if (i < d->bufs.n)
		d->bufs.v[i] = b;
	else
		PM_VEC_PUSH(&d->bufs, b);
	d->first_free = i + 1;
	d->guard.stale = 1;
	out->id = (uint32_t)i + 1;
	return pm__guard_fill(d->cu, d->stream, &b, err);
}

PmStatus pm__cuda_alloc(PmDevice *dev, int64_t bytes, PmBufUse use, PmBuf *out, PmErr *err)
{
	return alloc(dev, bytes, use, 0, out, err);
}

PmStatus pm__cuda_alloc_guarded(PmDevice *dev, int64_t bytes, PmBufUse use, PmBuf *out, PmErr *err)
{
	return alloc(dev, bytes, use, 1, out, err);
}

void pm__cuda_release(PmDevice *dev, PmBuf h)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	PmCudaBuf *b = pm__cuda_buf(d, h);

	if (!b)
		return;
	if (b->mapped) {
		pm__vmm_unmap(d, b);
	} else if (d->kept.n < MAX_KEPT && d->kept_bytes + b->total <= d->info.memory / KEEP_SHARE) {
		PM_VEC_PUSH(&d->kept, ((PmCudaBlock){ b->base, b->total }));
		d->kept_bytes += b->total;
	} else {
		d->cu->mem_free(b->base);
	}
	memset(b, 0, sizeof *b);
	if (h.id - 1 < d->first_free)
		d->first_free = h.id - 1;
	d->guard.stale = 1;
}

/* The buffer of a range that the program itself copies. */
static PmStatus range(PmCudaDevice *d, PmBuf h, int64_t offset, int64_t n, const char *what, PmCudaBuf **out,
		      PmErr *err)
{
	PmStatus st = pm__cuda_failed(d, err);

	*out = pm__cuda_buf(d, h);
	return st ? st : pm_device_range(h, *out ? (*out)->bytes : -1, offset, n, what, err);
}

PmStatus pm__cuda_upload(PmDevice *dev, PmBuf h, int64_t offset, const void *src, int64_t n, PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	PmCudaBuf *b;
	PmStatus st = range(d, h, offset, n, "write", &b, err);
	int rc = 0;

	if (st || !n)
		return st;
	b->hashed = 0;
	rc = pm__vmm_lock(d, b, 0);
	if (!rc)
		rc = d->cu->copy_to(b->p + (uint64_t)offset, src, (size_t)n, d->stream);
	if (!rc)
		rc = d->cu->stream_sync(d->stream);
	return rc ? pm__cuda_kernel_error(d, rc, err) : PM_OK;
}

PmStatus pm__cuda_download(PmDevice *dev, PmBuf h, int64_t offset, void *dst, int64_t n, PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	PmCudaBuf *b;
	PmStatus st = range(d, h, offset, n, "read", &b, err);
	int rc = 0;

	if (st || !n)
		return st;
	rc = d->cu->copy_from(dst, b->p + (uint64_t)offset, (size_t)n, d->stream);
	if (!rc)
		rc = d->cu->stream_sync(d->stream);
	return rc ? pm__cuda_kernel_error(d, rc, err) : PM_OK;
}

PmStatus pm__cuda_fill(PmDevice *dev, PmBuf h, int64_t offset, int64_t n, uint32_t pattern, PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	PmCudaBuf *b;
	PmStatus st = range(d, h, offset, n, "fill", &b, err);
	unsigned char bytes[4];
	int64_t i;
	CuPtr p;
	int rc = 0;

	if (st || !n)
		return st;
	b->hashed = 0;
	d->fresh = pattern;
	rc = pm__vmm_lock(d, b, 0);
	if (rc)
		return pm__cuda_kernel_error(d, rc, err);
	p = b->p + (uint64_t)offset;
	memcpy(bytes, &pattern, 4);
	if (p % 4 == 0) {
		rc = n / 4 ? d->cu->set32(p, pattern, (size_t)(n / 4), d->stream) : 0;
		for (i = n / 4 * 4; i < n && !rc; i++)
			rc = d->cu->set8(p + (uint64_t)i, bytes[i % 4], 1, d->stream);
	} else {
		unsigned char *text = pm_xcalloc((size_t)n, 1);

		for (i = 0; i < n; i++)
			text[i] = bytes[i % 4];
		rc = d->cu->copy_to(p, text, (size_t)n, d->stream);
		if (!rc)
			rc = d->cu->stream_sync(d->stream);
		free(text);
	}
	return rc ? pm__cuda_kernel_error(d, rc, err) : PM_OK;
}

PmStatus pm__cuda_copy(PmDevice *dev, PmBuf to, int64_t to_offset, PmBuf from, int64_t from_offset, int64_t n,
		       PmErr *err)
{
	PmCudaDevice *d = (PmCudaDevice *)dev;
	PmCudaBuf *a, *b;
	PmStatus st = range(d, to, to_offset, n, "write", &a, err);
	int rc;

	if (!st)
		st = range(d, from, from_offset, n, "read", &b, err);
	if (st || !n)
		return st;
	a->hashed = 0;
	rc = pm__vmm_lock(d, a, 0);
	if (!rc)
		rc = d->cu->copy(a->p + (uint64_t)to_offset, b->p + (uint64_t)from_offset, (size_t)n,
				 d->stream);
	return rc ? pm__cuda_kernel_error(d, rc, err) : PM_OK;
}
