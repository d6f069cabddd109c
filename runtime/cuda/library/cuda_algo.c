/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_algo.c - algorithms (lib_algo.h) on a GPU: their calls prepared, their kernels loaded, all of it
 * enqueued.
 */
#include "runtime/cuda/library/cuda_algo.h"

#include "runtime/cuda/library/cuda_calls.h"

#include <string.h>

/* At most. Products in the frequency domain, the fastest for 3x3 windows of large batches, hold all three
 * operands as spectra: 1.1 GB for 384 channels of 1,024 images of 13x13. */
static const int64_t gemm_workspace = 32 << 20, conv_workspace = (int64_t)4 << 30;

/* --- preparing -------------------------------------------------------------------------------------------
 */

void pm__algo_drop(PmCudaAlgo *a)
{
	for (int i = 0; i < a->algo.n; i++)
		if (a->call[i])
			(a->algo.stage[i].call.kind == PM_LIB_GEMM ? pm__gemm_drop
								   : pm__conv_drop)(a->call[i]);
	memset(a, 0, sizeof *a);
}

PmStatus pm__algo_prepare(const PmCudaSite *on, const PmAlgo *algo, int pick, PmCudaAlgo *out, PmErr *err)
{
	PmStatus st = PM_OK;
	int64_t most = 0;

	memset(out, 0, sizeof *out);
	out->algo = *algo;
	out->pick = pick;
	for (int i = 0; i < algo->n && !st; i++) {
		const PmAlgoStage *s = &algo->stage[i];
		int64_t bytes = 0;

		if (s->entry)
			st = on->kernel(on->arg, algo->dtype, s->entry, &out->kernel[i], err);
		else
			st = s->call.kind == PM_LIB_GEMM
				     ? pm__gemm_prepare(on->dev, &s->call, gemm_workspace, &out->pick,
							&out->call[i], &bytes, err)
				     : pm__conv_prepare(on->dev, &s->call, conv_workspace, &out->pick,
							&out->call[i], &bytes, err);
		if (bytes > most)
			most = bytes;
	}
	out->workspace = algo->scratch + most;
	return st;
}

/* --- running ---------------------------------------------------------------------------------------------
 */

void pm__algo_unplace(PmCudaPlaced *p)
{
	for (int i = 0; i < PM_ALGO_STAGES; i++)
		if (p->placed[i])
			pm__conv_unplace(p->placed[i]);
	memset(p, 0, sizeof *p);
}

/* The addresses of a stage's operands. */
static void find(const PmAlgoStage *s, const CuPtr base[PM_ALGO_N_ARGS], CuPtr *p)
{
	for (int k = 0; k < s->n_places; k++)
		p[k] = base[s->place[k].arg] + (uint64_t)s->place[k].offset;
}

PmStatus pm__algo_place(const PmCudaAlgo *a, const CuPtr p[4], CuPtr workspace, CuPtr kept, PmCudaPlaced *out,
			PmErr *err)
{
	const CuPtr base[PM_ALGO_N_ARGS] = { p[0], p[1], p[2], p[3], workspace, kept };
	PmStatus st = PM_OK;

	memset(out, 0, sizeof *out);
	out->workspace = workspace + (uint64_t)a->algo.scratch;
	for (int i = 0; i < a->algo.n && !st; i++) {
		const PmAlgoStage *s = &a->algo.stage[i];

		find(s, base, out->p[i]);
		if (a->call[i] && s->call.kind == PM_LIB_CONV)
			st = pm__conv_place(a->call[i], out->p[i], out->workspace, &out->placed[i], err);
	}
	return st;
}

static PmStatus run_kernel(const PmCudaSite *on, const PmAlgoStage *s, CuFn *f, const CuPtr *p, PmErr *err)
{
	void *params[PM_ALGO_PLACES + PM_ALGO_INTS];
	int rc, n = 0;

	for (int i = 0; i < s->n_places; i++)
		params[n++] = (void *)(uintptr_t)&p[i];
	for (int i = 0; i < s->n_ints; i++)
		params[n++] = (void *)(uintptr_t)&s->v[i];
	rc = on->cu->launch(f, s->blocks, 1, 1, PM_ALGO_BLOCK, 1, 1, 0, on->stream, params, NULL);
	return rc ? pm__cuda_fail(on->cu, PM_E_DEVICE, "launch a kernel around a library's call", rc, err)
		  : PM_OK;
}

PmStatus pm__algo_run_once(const PmCudaSite *on, const PmCudaAlgo *a, CuPtr weights, CuPtr kept, PmErr *err)
{
	const CuPtr base[PM_ALGO_N_ARGS] = { [2] = weights, [PM_ALGO_KEPT] = kept };
	PmStatus st = PM_OK;

	for (int i = 0; i < a->algo.n_once && !st; i++) {
		CuPtr p[PM_ALGO_PLACES];

		find(&a->algo.stage[i], base, p);
		st = run_kernel(on, &a->algo.stage[i], a->kernel[i], p, err);
	}
	return st;
}

PmStatus pm__algo_run(const PmCudaSite *on, const PmCudaAlgo *a, const PmCudaPlaced *p, PmErr *err)
{
	PmStatus st = PM_OK;

	for (int i = a->algo.n_once; i < a->algo.n && !st; i++) {
		const PmAlgoStage *s = &a->algo.stage[i];

		if (a->kernel[i])
			st = run_kernel(on, s, a->kernel[i], p->p[i], err);
		else if (s->call.kind == PM_LIB_GEMM)
			st = pm__gemm_run(a->call[i], p->p[i], p->workspace, a->workspace - a->algo.scratch,
					  on->stream, err);
		else
			st = pm__conv_run(a->call[i], p->placed[i], p->p[i], on->stream, err);
	}
	return st;
}
