/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_guard.c - finds writes around buffers and into inputs, by the device's own kernels.
 *
 * Every buffer lies between two zones filled with a pattern that reads as NaN. After launches one kernel
 * looks at all zones, and the inputs that were arguments are hashed and compared with their hash from before.
 * This costs one pass over those inputs and two waits per sync, nothing per launch but the first one's hash.
 */
#include "runtime/cuda/cuda_priv.h"

#include "kernels/guard.cu.h"
#include "runtime/cuda/nvrtc/nvrtc.h"

#include <string.h>

enum { PATTERN = 0xffc5, THREADS = 256, MEND_BLOCKS = 4, MAX_BLOCKS = 1024 };

static PmStatus alloc_tables(const PmCuda *cu, PmCudaGuard *g, PmErr *err)
{
	int rc = cu->mem_alloc(&g->report, 256);

	if (!rc)
		rc = cu->mem_alloc(&g->slots, (size_t)CU_MAX_BUFS * 16);
	if (!rc)
		rc = cu->mem_alloc(&g->table, (size_t)CU_MAX_BUFS * 32);
	return rc ? pm__cuda_fail(cu, PM_E_ENV, "make room for its own tables", rc, err) : PM_OK;
}

PmStatus pm__guard_open(const PmCuda *cu, int cc, int max_smem, PmCudaGuard *g, PmErr *err)
{
	PmSource source = { .label = "guard.cu", .source = guard_cu, .type = PM_F32 };
	PmStr ptx = PM_STR_INIT, cubin = PM_STR_INIT;
	PmStatus st = pm_nvrtc_compile(&source, cc, &ptx, &cubin, err);
	int rc;

	if (!st) {
		rc = cu->module_load(&g->module, cubin.len ? cubin.s : ptx.s);
		if (!rc)
			rc = cu->module_function(&g->zones, g->module, "zones");
		if (!rc)
			rc = cu->module_function(&g->hash, g->module, "hash");
		if (!rc)
			rc = cu->module_function(&g->scrub, g->module, "scrub");
		if (!rc)
			rc = cu->module_function(&g->mend, g->module, "mend");
		g->scrub_smem = max_smem;
		if (!rc)
			rc = cu->fn_set_attr(g->scrub, CU_FN_MAX_DYNAMIC_SMEM, max_smem);
		if (rc)
			st = pm__cuda_fail(cu, PM_E_ENV,
					   "load the code that NVRTC made (is the driver older than the "
					   "CUDA toolkit?)",
					   rc, err);
	}
	pm_str_release(&ptx);
	pm_str_release(&cubin);
	if (!st)
		st = alloc_tables(cu, g, err);
	if (!st) {
		g->host = pm_xcalloc((size_t)CU_MAX_BUFS * 4, sizeof *g->host);
		g->zone_buf = pm_xcalloc(CU_MAX_BUFS, sizeof *g->zone_buf);
		g->stale = 1;
	}
	return st;
}

void pm__guard_close(const PmCuda *cu, PmCudaGuard *g)
{
	if (g->report)
		cu->mem_free(g->report);
	if (g->slots)
		cu->mem_free(g->slots);
	if (g->table)
		cu->mem_free(g->table);
	if (g->module)
		cu->module_unload(g->module);
	free(g->host);
	free(g->zone_buf);
	memset(g, 0, sizeof *g);
}

PmStatus pm__guard_fill(const PmCuda *cu, CuStream *s, const PmCudaBuf *b, PmErr *err)
{
	int rc = cu->set16(b->base, PATTERN, (size_t)b->total / 2, s);

	return rc ? pm__cuda_fail(cu, PM_E_DEVICE, "fill a new buffer", rc, err) : PM_OK;
}

int pm__guard_scrub(const PmCuda *cu, CuStream *s, const PmCudaGuard *g, int n_sm, uint32_t pattern)
{
	int words = g->scrub_smem / 4;
	void *params[] = { &words, &pattern };

	return cu->launch(g->scrub, (unsigned)n_sm, 1, 1, 1024, 1, 1, (unsigned)g->scrub_smem, s, params,
			  NULL);
}

static int enqueue_hash(const PmCuda *cu, CuStream *s, const PmCudaGuard *g, const PmCudaBuf *b, CuPtr slot)
{
	int64_t blocks = (b->bytes / 8 + THREADS - 1) / THREADS, n = b->bytes;
	CuPtr p = b->p;
	void *params[] = { &p, &n, &slot };
	int rc = cu->set32(slot, 0, 2, s);

	if (rc)
		return rc;
	if (blocks < 1)
		blocks = 1;
	if (blocks > MAX_BLOCKS)
		blocks = MAX_BLOCKS;
	return cu->launch(g->hash, (unsigned)blocks, 1, 1, THREADS, 1, 1, 0, s, params, NULL);
}

PmStatus pm__guard_input(const PmCuda *cu, CuStream *s, PmCudaGuard *g, PmCudaBuf *b, size_t i, PmErr *err)
{
	int rc;

	if (b->hashed || !b->bytes)
		return PM_OK;
	rc = enqueue_hash(cu, s, g, b, g->slots + 16 * i);
	if (rc)
		return pm__cuda_fail(cu, PM_E_DEVICE, "hash an input", rc, err);
	b->hashed = 1;
	return PM_OK;
}

/* Bytes of the allocation before and behind a buffer: all of them are looked at. */
static int64_t before(const PmCudaBuf *b)
{
	return (int64_t)(b->p - b->base);
}

static int64_t behind(const PmCudaBuf *b)
{
	return b->total - (int64_t)(b->p - b->base) - b->bytes;
}

/* Describes the zones of all live buffers to the device. */
static int renew_table(const PmCuda *cu, CuStream *s, PmCudaGuard *g, const PmCudaBufs *bufs)
{
	size_t i, n = 0;
	int rc;

	for (i = 0; i < bufs->n; i++) {
		const PmCudaBuf *b = &bufs->v[i];

		if (!b->base)
			continue;
		g->zone_buf[n] = (uint32_t)i;
		g->host[4 * n] = b->p - (uint64_t)before(b);
		g->host[4 * n + 1] = (uint64_t)before(b);
		g->host[4 * n + 2] = b->p + (uint64_t)b->bytes;
		g->host[4 * n + 3] = (uint64_t)behind(b);
		n++;
	}
	g->n_zones = 2 * n;
	rc = n ? cu->copy_to(g->table, g->host, n * 32, s) : 0;
	if (!rc)
		rc = cu->stream_sync(s); /* the host's copy is used for something else afterwards */
	if (!rc)
		g->stale = 0;
	return rc;
}

/* Enqueues both checks and waits; the report is in host[0], the hashes follow. */
static int run_checks(const PmCuda *cu, CuStream *s, PmCudaGuard *g, const PmCudaBufs *bufs)
{
	void *params[] = { &g->table, &g->report };
	size_t i, last = 0;
	int rc = g->stale ? renew_table(cu, s, g, bufs) : 0;

	if (!rc && !g->mended)
		rc = cu->set8(g->report, 0xff, 8, s);
	g->mended = 0;
	if (!rc && g->n_zones)
		rc = cu->launch(g->zones, (unsigned)g->n_zones, 1, 1, THREADS, 1, 1, 0, s, params, NULL);
	for (i = 0; i < bufs->n && !rc; i++) {
		const PmCudaBuf *b = &bufs->v[i];

		if (!b->base || !b->hashed || !b->launches)
			continue;
		rc = enqueue_hash(cu, s, g, b, g->slots + 16 * i + 8);
		last = i + 1;
	}
	if (!rc)
		rc = cu->copy_from(g->host, g->report, 8, s);
	if (!rc && last)
		rc = cu->copy_from(g->host + 1, g->slots, last * 16, s);
	return rc ? rc : cu->stream_sync(s);
}

int pm__guard_mend(const PmCuda *cu, CuStream *s, PmCudaGuard *g, const PmCudaBufs *bufs)
{
	void *params[] = { &g->table, &g->report };
	int rc = g->stale ? renew_table(cu, s, g, bufs) : 0;

	if (!rc && !g->mended)
		rc = cu->set8(g->report, 0xff, 8, s);
	g->mended = 1;
	if (rc || !g->n_zones)
		return rc;
	return cu->launch(g->mend, (unsigned)g->n_zones, MEND_BLOCKS, 1, THREADS, 1, 1, 0, s, params, NULL);
}

static PmStatus say_damage(const PmCudaGuard *g, const PmCudaBufs *bufs, PmErr *err)
{
	uint64_t zone = g->host[0] >> 32;
	const PmCudaBuf *b = &bufs->v[g->zone_buf[zone / 2]];
	long long at = (long long)(g->host[0] & 0xffffffffu) +
		       (zone % 2 ? (long long)b->bytes : -(long long)before(b));
	const char *where = zone % 2 ? "past the end" : "before the start";
	unsigned id = g->zone_buf[zone / 2] + 1;

	if (!b->launches)
		return pm_err(
			err, PM_E_OOB,
			"A kernel wrote %s of buffer %u (%lld bytes), which is none of its arguments, at "
			"byte %lld.",
			where, id, (long long)b->bytes, at);
	return pm_err(err, PM_E_OOB,
		      "Kernel '%s'%s wrote %s of buffer %u (argument %d, %lld bytes) at byte %lld.",
		      b->kernel, b->launches > 1 ? " or one before it" : "", where, id, b->arg,
		      (long long)b->bytes, at);
}

PmStatus pm__guard_check(const PmCuda *cu, CuStream *s, PmCudaGuard *g, PmCudaBufs *bufs, int *cu_error,
			 PmErr *err)
{
	PmStatus st = PM_OK;
	size_t i;

	*cu_error = run_checks(cu, s, g, bufs);
	if (*cu_error)
		return PM_E_DEVICE;
	if (g->host[0] != UINT64_MAX)
		st = say_damage(g, bufs, err);
	for (i = 0; i < bufs->n; i++) {
		PmCudaBuf *b = &bufs->v[i];

		if (!st && b->base && b->hashed && b->launches && g->host[1 + 2 * i] != g->host[2 + 2 * i])
			st = pm_err(err, PM_E_MUTATED,
				    "Kernel '%s'%s changed buffer %zu (argument %d, %lld bytes), which is an "
				    "input and may only be read.",
				    b->kernel, b->launches > 1 ? " or one before it" : "", i + 1, b->arg,
				    (long long)b->bytes);
		b->launches = 0;
	}
	return st;
}
