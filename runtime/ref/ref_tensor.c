/* SPDX-License-Identifier: Apache-2.0 */
/* ref_tensor.c - tensors of the reference device: elements as doubles. */
#include "runtime/ref/ref_priv.h"

#include <stdlib.h>
#include <string.h>

PmStatus pm_ref_tensor_init(PmRefTensor *t, const PmType *type, PmErr *err)
{
	PmType wide = *type;
	int64_t bytes = 0;
	size_t room;
	void *p;
	PmStatus st;

	memset(t, 0, sizeof *t);
	t->type = pm_type_unknown();
	wide.dtype = PM_I64; /* elements are held in 8 bytes whatever the dtype */
	st = pm_type_bytes(&wide, &bytes, err);
	if (st)
		return st;
	if (bytes > (int64_t)1 << 40)
		return pm_err(err, PM_E_LIMIT,
			      "A tensor of %lld elements is over the limit of 1 TiB; use smaller dimensions.",
			      (long long)(bytes / 8));
	room = (size_t)bytes;
	p = room ? calloc(room / 8, 8) : NULL;
	if (room && !p)
		return pm_err(err, PM_E_LIMIT,
			      "There is no memory for a tensor of %lld elements; use smaller dimensions.",
			      (long long)(bytes / 8));
	t->type = *type;
	t->numel = bytes / 8;
	if (pm_dtype_is_float(type->dtype))
		t->f = p;
	else
		t->i = p;
	return PM_OK;
}

void pm_ref_tensor_release(PmRefTensor *t)
{
	free(t->f);
	free(t->i);
	memset(t, 0, sizeof *t);
	t->type = pm_type_unknown();
}
