/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_api.c - the CUDA driver, opened at run time. */
#include "runtime/cuda/cuda_api.h"

#include <dlfcn.h>
#include <string.h>

static const char *error_name(const PmCuda *cu, int error)
{
	const char *name = NULL;

	return cu->error_name && cu->error_name(error, &name) == 0 && name ? name : "an unknown error";
}

PmStatus pm__cuda_fail(const PmCuda *cu, PmStatus st, const char *what, int error, PmErr *err)
{
	const char *text = NULL;

	if (cu->error_string(error, &text) != 0 || !text)
		text = "the driver gives no reason";
	return pm_err(err, st, "The GPU cannot %s: %s (%s).", what, text, error_name(cu, error));
}

/* The name of the first function that the library lacks, NULL when all are there. */
static const char *find_functions(PmCuda *cu)
{
	void *p;

#define XX(member, symbol, parameters)                                                                       \
	p = dlsym(cu->so, #symbol);                                                                          \
	memcpy(&cu->member, &p, sizeof p);                                                                   \
	if (!p)                                                                                              \
		return #symbol;
	PM__CUDA_FUNCTIONS(XX)
#undef XX
	return NULL;
}

static PmStatus start(PmCuda *cu, PmErr *err)
{
	const char *missing = find_functions(cu);
	int rc, n = 0;

	if (missing)
		return pm_err(err, PM_E_ENV,
			      "The GPU's driver lacks %s; install a driver for CUDA 12 or newer.", missing);
	rc = cu->init(0);
	if (rc == CU_NO_DEVICE || (rc == 0 && cu->device_count(&n) == 0 && n == 0))
		return pm_err(err, PM_E_ENV,
			      "There is a GPU driver but no GPU that it can use; check CUDA_VISIBLE_DEVICES "
			      "and nvidia-smi.");
	if (rc)
		return pm_err(err, PM_E_ENV,
			      "The GPU's driver does not start (%s); check that nvidia-smi works.",
			      error_name(cu, rc));
	if (cu->driver_version(&cu->version) != 0 || cu->version < CU_MIN_DRIVER)
		return pm_err(err, PM_E_ENV,
			      "The GPU's driver is for CUDA %d.%d; install one for CUDA 12 or newer.",
			      cu->version / 1000, cu->version % 1000 / 10);
	return PM_OK;
}

PmStatus pm__cuda_open(const PmCuda **out, PmErr *err)
{
	static PmCuda cu;
	PmStatus rc;

	*out = &cu;
	if (cu.so)
		return PM_OK;
	memset(&cu, 0, sizeof cu);
	cu.so = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!cu.so)
		return pm_err(err, PM_E_ENV,
			      "The cuda device needs the GPU's driver (libcuda.so.1), which is not here; "
			      "install it (passmith doctor says what this machine has).");
	rc = start(&cu, err);
	if (rc) {
		dlclose(cu.so);
		cu.so = NULL;
	}
	return rc;
}
