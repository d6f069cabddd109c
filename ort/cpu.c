/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.c - kernels of a file on this CPU. */
#include "ort/ort_priv.h"

static const PmOrtImage *image_of(const PmOrtKernels *all, const PmOrtKernel *k, uint32_t *number)
{
	for (uint32_t i = 0; i < k->n_images; i++) {
		*number = k->images[i];
		if (all->image[*number].kind == PM_ORT_EMU)
			return &all->image[*number];
	}
	return NULL;
}

int pm__ort_cpu_has(const PmOrtKernels *all, const PmOrtKernel *k)
{
	uint32_t number;

	return image_of(all, k, &number) != NULL;
}

PmStatus pm__ort_cpu_load(PmOrtLoaded *l, const PmOrtKernel *k, PmErr *err)
{
	uint32_t number = 0;
	const PmOrtImage *image = image_of(&l->all, k, &number);
	PmStatus st = PM_OK;

	pthread_mutex_lock(&l->lock);
	if (!l->host[number])
		st = pm_host_load(image->p, image->n, k->label, &l->host[number], err);
	pthread_mutex_unlock(&l->lock);
	return st;
}

void pm__ort_args(const PmOrtCall *c, const PmOrtLaunch *l, PmOrtArgs *out)
{
	for (uint32_t i = 0; i < l->n_args; i++) {
		const PmOrtArg *a = &l->args[i];

		out->at[i] = &out->v[i];
		if (a->kind == PM_ORT_IN)
			out->v[i].p = c->in[a->index];
		else if (a->kind == PM_ORT_OUT)
			out->v[i].p = c->out[a->index];
		else if (a->kind == PM_ORT_SCRATCH)
			out->v[i].p = c->scratch[a->index];
		else
			out->v[i].bits = a->bits;
	}
}

PmStatus pm__ort_cpu_run(PmOrtLoaded *l, const PmOrtCall *c, PmErr *err)
{
	static const unsigned char kind_of[PM_ORT_N_ARGS] = {
		[PM_ORT_IN] = PM_EMU_POINTER,      [PM_ORT_OUT] = PM_EMU_POINTER,
		[PM_ORT_SCRATCH] = PM_EMU_POINTER, [PM_ORT_I64] = PM_EMU_INT64,
		[PM_ORT_I32] = PM_EMU_INT32,       [PM_ORT_F32] = PM_EMU_FLOAT,
		[PM_ORT_F64] = PM_EMU_DOUBLE,
	};
	const PmOrtKernel *k = c->kernel;
	uint32_t number = 0;
	PmHostModule *host;
	PmStatus st = PM_OK;

	image_of(&l->all, k, &number);
	pthread_mutex_lock(&l->lock);
	host = l->host[number];
	pthread_mutex_unlock(&l->lock);
	for (uint32_t j = 0; j < k->n_launches && !st; j++) {
		const PmOrtLaunch *from = &k->launches[j];
		unsigned char kinds[PM_ORT_MAX_ARGS];
		PmOrtArgs args;
		PmHostLaunch launch = { .entry = from->entry,
					.grid = { from->grid[0], from->grid[1], from->grid[2] },
					.block = { from->block[0], from->block[1], from->block[2] },
					.smem = from->smem,
					.args = args.at,
					.kinds = kinds,
					.n_args = (int)from->n_args };

		pm__ort_args(c, from, &args);
		for (uint32_t i = 0; i < from->n_args; i++)
			kinds[i] = kind_of[from->args[i].kind];
		st = pm_host_launch(host, &launch, err);
	}
	return st;
}
