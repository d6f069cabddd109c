/* SPDX-License-Identifier: Apache-2.0 */
/* emu_buf.c - memory that ends at an inaccessible page.
 *
 * A guarded buffer lies at the end of its pages, its start aligned to 16 bytes; any other at their beginning,
 * aligned as a GPU's are; which of the two, and how far from others, may be a secret (PmDeviceOps.layout).
 * What is left over on either side is filled with a pattern, so that a write there shows, and reads as NaN.
 */
#include "runtime/emu/emu_priv.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const int64_t max_bytes = (int64_t)1 << 40;

PmStatus pm__emu_buf_new(int64_t bytes, PmBufUse use, int guarded, unsigned gap, PmEmuBuf *out, PmErr *err)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t rounded, before, whole;
	unsigned char *first;
	void *map;

	if (bytes < 0)
		return pm_err(err, PM_E_INVALID,
			      "A buffer cannot have %lld bytes; ask for a size of 0 or more.",
			      (long long)bytes);
	if (bytes > max_bytes)
		return pm_err(
			err, PM_E_LIMIT,
			"A buffer of %lld bytes is over the emulated device's limit of %lld; use smaller "
			"shapes.",
			(long long)bytes, (long long)max_bytes);
	rounded = ((size_t)bytes + PM_EMU_ALIGN - 1) / PM_EMU_ALIGN * PM_EMU_ALIGN;
	out->pages = (rounded + page - 1) / page * page;
	out->front = PM_EMU_GUARD + gap * page;
	whole = out->front + out->pages + PM_EMU_GUARD;
	map = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED || (out->pages && mprotect((unsigned char *)map + out->front, out->pages,
							 PROT_READ | PROT_WRITE) != 0)) {
		if (map != MAP_FAILED)
			munmap(map, whole);
		return pm_err(
			err, PM_E_LIMIT,
			"The emulated device cannot get a buffer of %lld bytes (%s); use smaller shapes or "
			"raise the memory limit.",
			(long long)bytes, strerror(errno));
	}
	out->map = map;
	out->bytes = bytes;
	out->use = use;
	out->locked = 0;
	first = out->map + out->front;
	before = guarded ? out->pages - rounded : 0;
	out->p = first + before;
	pm__emu_poison(first, before, (uint32_t)PM_EMU_PATTERN);
	pm__emu_poison(out->p + bytes, out->pages - before - (size_t)bytes, (uint32_t)PM_EMU_PATTERN);
	return PM_OK;
}

void pm__emu_buf_free(PmEmuBuf *b)
{
	if (b->map)
		munmap(b->map, b->front + b->pages + PM_EMU_GUARD);
	b->map = NULL;
}

PmStatus pm__emu_buf_lock(PmEmuBuf *b, int locked, PmErr *err)
{
	if (b->locked == locked || !b->pages)
		return PM_OK;
	if (mprotect(b->map + b->front, b->pages, locked ? PROT_READ : PROT_READ | PROT_WRITE) != 0)
		return pm_err(err, PM_E_INTERNAL,
			      "The emulated device cannot change the protection of a buffer of %lld bytes "
			      "(%s); close other buffers and try again.",
			      (long long)b->bytes, strerror(errno));
	b->locked = locked;
	return PM_OK;
}

/* The first byte of [p, p + n) that is not the pattern, or n. The pattern starts anew at p. */
static size_t first_changed(const unsigned char *p, size_t n)
{
	const uint32_t pattern = (uint32_t)PM_EMU_PATTERN;
	size_t i;

	/* All of it is the pattern when it begins with it and each byte equals the one 4 further on. */
	if (n >= 4 && memcmp(p, &pattern, 4) == 0 && memcmp(p, p + 4, n - 4) == 0)
		return n;
	for (i = 0; i < n; i++)
		if (p[i] != ((const unsigned char *)&pattern)[i % 4])
			return i;
	return n;
}

int64_t pm__emu_buf_damage(const PmEmuBuf *b)
{
	const unsigned char *first = b->map + b->front, *end = first + b->pages;
	size_t before = (size_t)(b->p - first), after = (size_t)(end - b->p) - (size_t)b->bytes, at;

	at = first_changed(b->p + b->bytes, after);
	if (at < after)
		return b->bytes + (int64_t)at;
	at = first_changed(first, before);
	return at < before ? (int64_t)at - (int64_t)before : 0;
}

int pm__emu_buf_covers(const PmEmuBuf *b, const void *addr)
{
	uintptr_t a = (uintptr_t)addr, low = (uintptr_t)b->map;

	return b->map && a >= low && a < low + b->front + b->pages + PM_EMU_GUARD;
}
