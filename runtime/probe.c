/* probe.c - finds compilers, CUDA libraries and GPUs. */
#include "runtime/probe.h"

#include "base/proc.h"
#include "base/str.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static PmFound *add(PmFound *out, int *n, const char *what, const char *needed_for)
{
	PmFound *p = &out[(*n)++];

	memset(p, 0, sizeof *p);
	p->what = what;
	p->needed_for = needed_for;
	return p;
}

/* First line of what a program says about its version. */
static void probe_program(PmFound *p, const char *program, const char *hint)
{
	const char *argv[] = { program, "--version", NULL };
	PmLimits lim = { .seconds = 10, .file_size = -1 };
	PmProcResult r;
	PmErr err;

	pm_err_init(&err);
	if (pm_run(argv, NULL, 0, &lim, &r, &err)) {
		snprintf(p->detail, sizeof p->detail, "'%.80s' does not run; %s", program, hint);
		return;
	}
	p->found = r.end == PM_PROC_EXITED && r.code == 0;
	if (p->found)
		snprintf(p->detail, sizeof p->detail, "%.*s", (int)strcspn(r.out.s, "\n"), r.out.s);
	else
		snprintf(p->detail, sizeof p->detail, "'%.80s' does not run; %s", program, hint);
	pm_proc_result_release(&r);
}

/* Path of a loaded library, from any of its functions. */
static void say_path(PmFound *p, void *symbol, const char *version)
{
	Dl_info info;

	if (symbol && dladdr(symbol, &info) && info.dli_fname)
		snprintf(p->detail, sizeof p->detail, "%s%s%.180s", version, *version ? ", " : "",
			 info.dli_fname);
	else
		snprintf(p->detail, sizeof p->detail, "%s", version);
}

static void *open_any(const char *const *names)
{
	void *h = NULL;

	for (; *names && !h; names++)
		h = dlopen(*names, RTLD_LAZY | RTLD_LOCAL);
	return h;
}

/* A function of a library as a data pointer, kept apart because ISO C has no such conversion. */
static void *symbol(void *lib, const char *name)
{
	return lib ? dlsym(lib, name) : NULL;
}

static void probe_driver(PmFound *driver, PmFound *gpu)
{
	static const char *const names[] = { "libcuda.so.1", NULL };
	void *h = open_any(names);
	int (*init)(unsigned), (*version)(int *), (*count)(int *), (*name)(char *, int, int);
	void *s;
	int v = 0, n = 0;
	char text[64], gpu_name[128] = "";

	snprintf(driver->detail, sizeof driver->detail,
		 "libcuda.so.1 is not there; install the GPU's driver");
	snprintf(gpu->detail, sizeof gpu->detail, "no GPU that the driver can use");
	if (!h)
		return;
	s = symbol(h, "cuInit");
	memcpy(&init, &s, sizeof init);
	s = symbol(h, "cuDriverGetVersion");
	memcpy(&version, &s, sizeof version);
	s = symbol(h, "cuDeviceGetCount");
	memcpy(&count, &s, sizeof count);
	s = symbol(h, "cuDeviceGetName");
	memcpy(&name, &s, sizeof name);
	if (init && version && count && name && !version(&v)) {
		driver->found = 1;
		snprintf(text, sizeof text, "CUDA %d.%d", v / 1000, v % 1000 / 10);
		say_path(driver, symbol(h, "cuInit"), text);
		if (!init(0) && !count(&n) && n > 0) {
			gpu->found = 1;
			name(gpu_name, (int)sizeof gpu_name, 0);
			snprintf(gpu->detail, sizeof gpu->detail, "%d: %.120s", n, gpu_name);
		}
	}
	dlclose(h);
}

static void probe_nvrtc(PmFound *p)
{
	static const char *const names[] = { "libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12",
					     "/usr/local/cuda/lib64/libnvrtc.so", NULL };
	void *h = open_any(names), *s = symbol(h, "nvrtcVersion");
	int (*version)(int *, int *);
	int major = 0, minor = 0;
	char text[64];

	snprintf(p->detail, sizeof p->detail, "libnvrtc.so is not there; install the CUDA toolkit");
	memcpy(&version, &s, sizeof version);
	if (version && !version(&major, &minor)) {
		p->found = 1;
		snprintf(text, sizeof text, "NVRTC %d.%d", major, minor);
		say_path(p, s, text);
	}
	if (h)
		dlclose(h);
}

static void probe_lib(PmFound *p, const char *const *names, const char *entry, const char *hint)
{
	void *h = open_any(names);

	snprintf(p->detail, sizeof p->detail, "%s", hint);
	if (symbol(h, entry)) {
		p->found = 1;
		say_path(p, symbol(h, entry), "");
	}
	if (h)
		dlclose(h);
}

int pm_probe_all(PmFound *out)
{
	static const char *const cublas[] = { "libcublasLt.so", "libcublasLt.so.13", "libcublasLt.so.12",
					      "/usr/local/cuda/lib64/libcublasLt.so", NULL };
	static const char *const cudnn[] = { "libcudnn.so", "libcudnn.so.9",
					     "/usr/local/cuda/lib64/libcudnn.so", NULL };
	const char *cxx = getenv("PASSMITH_CXX"), *cc = getenv("CC");
	PmFound *p, *gpu;
	int n = 0;

	p = add(out, &n, "C compiler", "passmith build");
	probe_program(p, cc && *cc ? cc : "cc", "install gcc");
	p = add(out, &n, "C++ compiler", "the emu device");
	probe_program(p, cxx && *cxx ? cxx : "g++", "install g++");
	p = add(out, &n, "CUDA driver", "the cuda device");
	gpu = add(out, &n, "GPU", "measured times");
	probe_driver(p, gpu);
	p = add(out, &n, "NVRTC", "compiling kernels for GPUs");
	probe_nvrtc(p);
	p = add(out, &n, "cuBLASLt", "matrix products of the cuda baseline");
	probe_lib(p, cublas, "cublasLtCreate", "libcublasLt.so is not there; install the CUDA toolkit");
	p = add(out, &n, "cuDNN", "convolutions of the cuda baseline");
	probe_lib(p, cudnn, "cudnnCreate", "libcudnn.so is not there; install cuDNN");
	return n;
}
