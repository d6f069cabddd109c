/* SPDX-License-Identifier: Apache-2.0 */
/* nvrtc_open.c - finds the NVRTC library, its functions, its headers and the architectures it knows. */
#include "runtime/cuda/nvrtc/nvrtc_priv.h"

#include "base/sys/io.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void *open_library(void)
{
	static const char *const names[] = { "libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12",
					     "libnvrtc.so.11.2" };
	static const char *const folders[] = { "", "/lib64/", "/lib/", "/targets/x86_64-linux/lib/" };
	PmStr path = PM_STR_INIT;
	void *so = NULL;
	size_t i, k;

	for (i = 0; !so && i < sizeof folders / sizeof folders[0]; i++) {
		for (k = 0; !so && k < sizeof names / sizeof names[0]; k++) {
			pm_str_clear(&path);
			/* The first folder is where the system's own search looks. */
			pm_str_addf(&path, "%s%s%s", *folders[i] ? pm_cuda_home() : "", folders[i], names[k]);
			so = dlopen(path.s, RTLD_NOW | RTLD_LOCAL);
		}
	}
	pm_str_release(&path);
	return so;
}

static int find(void *so, const char *name, void *fn)
{
	void *p = dlsym(so, name);

	memcpy(fn, &p, sizeof p); /* from an object pointer to one to a function */
	return p != NULL;
}

static int find_functions(PmNvrtc *a)
{
	return find(a->so, "nvrtcVersion", &a->version) &&
	       find(a->so, "nvrtcGetNumSupportedArchs", &a->n_archs) &&
	       find(a->so, "nvrtcGetSupportedArchs", &a->archs) &&
	       find(a->so, "nvrtcCreateProgram", &a->create) &&
	       find(a->so, "nvrtcCompileProgram", &a->compile) &&
	       find(a->so, "nvrtcGetProgramLogSize", &a->log_size) &&
	       find(a->so, "nvrtcGetProgramLog", &a->log) && find(a->so, "nvrtcGetPTXSize", &a->ptx_size) &&
	       find(a->so, "nvrtcGetPTX", &a->ptx) && find(a->so, "nvrtcGetCUBINSize", &a->cubin_size) &&
	       find(a->so, "nvrtcGetCUBIN", &a->cubin) && find(a->so, "nvrtcDestroyProgram", &a->destroy);
}

static int try_headers(PmNvrtc *a, const char *dir, const char *sub)
{
	PmStr file = PM_STR_INIT;
	int found;

	pm_str_addf(&file, "%s%s/cuda_fp16.h", dir, sub);
	found = pm_path_exists(file.s);
	if (found)
		pm_str_addf(&a->headers, "%s%s", dir, sub);
	pm_str_release(&file);
	return found;
}

/* Headers of the library's own version come first: beside it in a toolkit, in a distribution's targets
 * folder, and in the Python packages that carry it. */
static int find_headers(PmNvrtc *a)
{
	static const char *const near[] = { "/../include", "/../../include", "/../../../include",
					    "/../../cuda_runtime/include" };
	static const char *const homes[] = { "/include", "/targets/x86_64-linux/include" };
	void *p = NULL;
	char path[PATH_MAX];
	PmStr dir = PM_STR_INIT;
	Dl_info info;
	int found = 0;
	size_t i;

	memcpy(&p, &a->version, sizeof p);
	if (dladdr(p, &info) && info.dli_fname && realpath(info.dli_fname, path)) {
		pm_path_dir(path, &dir);
		for (i = 0; !found && i < sizeof near / sizeof near[0]; i++)
			found = try_headers(a, dir.s, near[i]);
	}
	for (i = 0; !found && i < sizeof homes / sizeof homes[0]; i++)
		found = try_headers(a, pm_cuda_home(), homes[i]);
	if (!found)
		found = try_headers(a, "/usr/include", "");
	pm_str_release(&dir);
	return found;
}

static int by_number(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static PmStatus ask(PmNvrtc *a, PmErr *err)
{
	if (a->version(&a->major, &a->minor) != 0 || a->n_archs(&a->n_known) != 0 || a->n_known < 1 ||
	    a->n_known > PM__NVRTC_MAX_ARCHS || a->archs(a->known) != 0)
		return pm_err(err, PM_E_ENV,
			      "NVRTC does not tell its version and architectures; check the CUDA toolkit.");
	qsort(a->known, (size_t)a->n_known, sizeof a->known[0], by_number);
	if (!find_headers(a))
		return pm_err(err, PM_E_ENV,
			      "NVRTC needs CUDA's header cuda_fp16.h, which is neither beside the library "
			      "nor below %s/include; install the CUDA toolkit's headers or set CUDA_HOME.",
			      pm_cuda_home());
	return PM_OK;
}

PmStatus pm__nvrtc_open(const PmNvrtc **out, PmErr *err)
{
	static PmNvrtc api;
	PmStatus rc = PM_OK;

	*out = &api;
	if (api.so)
		return PM_OK;
	memset(&api, 0, sizeof api);
	pm_str_init(&api.headers);
	api.so = open_library();
	if (!api.so)
		return pm_err(err, PM_E_ENV,
			      "NVRTC is not there (libnvrtc.so, also looked for below %s); install the CUDA "
			      "toolkit or set CUDA_HOME to it.",
			      pm_cuda_home());
	if (!find_functions(&api))
		rc = pm_err(err, PM_E_ENV,
			    "The NVRTC library that was found lacks functions; install CUDA 11.2 or newer.");
	if (!rc)
		rc = ask(&api, err);
	if (rc) {
		dlclose(api.so);
		api.so = NULL;
	}
	return rc;
}

PmStatus pm__nvrtc_arch(const PmNvrtc *a, int cc, int *arch, int *real, PmErr *err)
{
	int i;

	*arch = 0;
	for (i = 0; i < a->n_known; i++)
		if (a->known[i] <= cc)
			*arch = a->known[i];
	if (!*arch)
		return pm_err(err, PM_E_ENV,
			      "NVRTC %d.%d compiles for compute capability %d.%d and up, but this device has "
			      "%d.%d; install an older CUDA toolkit.",
			      a->major, a->minor, a->known[0] / 10, a->known[0] % 10, cc / 10, cc % 10);
	/* Machine code runs on later devices of the same generation. */
	*real = *arch / 10 == cc / 10;
	return PM_OK;
}
