/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_error.c - what a call of the driver that failed is told as. */
#include "runtime/cuda/cuda_priv.h"

#include <string.h>

static const struct {
	int error;
	PmStatus st;
	const char *what;
} kernel_errors[] = {
	{ CU_ILLEGAL_ADDRESS, PM_E_OOB,
	  "accessed memory outside its buffers, or wrote what it may only read (illegal address)" },
	{ CU_INVALID_ADDRESS_SPACE, PM_E_OOB, "accessed memory outside its buffers (wrong address space)" },
	{ CU_MISALIGNED_ADDRESS, PM_E_DEVICE, "used a misaligned address (vector accesses need alignment)" },
	{ CU_ASSERT, PM_E_DEVICE, "stopped at an assertion" },
	{ CU_ILLEGAL_INSTRUCTION, PM_E_DEVICE, "ran into an illegal instruction (such as __trap)" },
	{ CU_HARDWARE_STACK_ERROR, PM_E_DEVICE, "overflowed its stack" },
	{ CU_INVALID_PC, PM_E_DEVICE, "jumped to an invalid address" },
	{ CU_LAUNCH_FAILED, PM_E_DEVICE, "failed (shared memory out of bounds, or a trap)" },
	{ CU_LAUNCH_TIMEOUT, PM_E_TIMEOUT, "was stopped by the driver's watchdog" },
};

const char *pm__cuda_keep_name(PmCudaDevice *d, const char *s)
{
	return pm_intern_text(d->names, pm_intern(d->names, s, strlen(s)));
}

/* Remembers err as what every later call returns. */
PmStatus pm__cuda_fail_with(PmCudaDevice *d, PmStatus st, const PmErr *why, PmErr *err)
{
	d->failed = *why;
	if (err)
		*err = *why;
	return st;
}

PmStatus pm__cuda_failed(const PmCudaDevice *d, PmErr *err)
{
	if (d->failed.code && err)
		*err = d->failed;
	return d->failed.code;
}

/* The sentence about an error that the driver reports some time after a launch. */
PmStatus pm__cuda_kernel_error(PmCudaDevice *d, int error, PmErr *err)
{
	const char *what = NULL, *name = NULL;
	PmStatus st = PM_E_DEVICE;
	PmErr why;
	size_t i;

	pm_err_init(&why);
	for (i = 0; i < sizeof kernel_errors / sizeof kernel_errors[0]; i++)
		if (kernel_errors[i].error == error) {
			st = kernel_errors[i].st;
			what = kernel_errors[i].what;
		}
	if (!d->n_pending || !what) {
		d->cu->error_string(error, &what);
		d->cu->error_name(error, &name);
		pm_err(&why, st, "The GPU failed: %s (%s).", what ? what : "the driver gives no reason",
		       name ? name : "unknown error");
	} else if (d->n_pending == 1) {
		pm_err(&why, st, "Kernel '%s' (entry '%s') %s.", d->last_label, d->last_entry, what);
	} else {
		pm_err(&why, st,
		       "One of %llu kernels, from '%s' to '%s', %s; run with CUDA_LAUNCH_BLOCKING=1 to learn "
		       "which.",
		       (unsigned long long)d->n_pending, d->first_label, d->last_label, what);
	}
	return pm__cuda_fail_with(d, st, &why, err);
}
