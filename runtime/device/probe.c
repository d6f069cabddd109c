/* SPDX-License-Identifier: Apache-2.0 */
/* probe.c - finds compilers, CUDA libraries and GPUs. */
#include "runtime/device/probe.h"

#include "base/core/str.h"
#include "base/sys/proc.h"
#include "runtime/device/device.h"
#include "runtime/device/gpu_watch.h"
#include "runtime/device/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a child that something else kills: what it was asked decides which stored results are resumed. */
enum { TRIES = 3 };

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
	PmLimits lim = { .seconds = 10, .file_size = -1, .tries = TRIES };
	PmProcResult r;
	PmErr err;

	pm_err_init(&err);
	if (pm_run(argv, NULL, 0, &lim, &r, &err)) {
		snprintf(p->detail, sizeof p->detail, "'%.80s' does not run; %s", program, hint);
		return;
	}
	p->found = r.end == PM_PROC_EXITED && r.code == 0;
	if (p->found) {
		snprintf(p->detail, sizeof p->detail, "%.*s", (int)strcspn(r.out.s, "\n"), r.out.s);
		snprintf(p->version, sizeof p->version, "%.127s", p->detail);
	} else
		snprintf(p->detail, sizeof p->detail, "'%.80s' does not run; %s", program, hint);
	pm_proc_result_release(&r);
}

/* Version and path of a loaded library, from any of its functions. */
static void say_path(PmFound *p, void *symbol, const char *version)
{
	Dl_info info;

	snprintf(p->version, sizeof p->version, "%s", version);
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

typedef struct GpuFacts {
	int version, n;
	char path[192], error[256];
	PmDeviceInfo info;
} GpuFacts;

/* In a child: a process that has used the driver cannot fork others that do. */
static int ask_driver(void *arg, PmStr *out)
{
	GpuFacts f = { 0 };
	void *h = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL), *s = symbol(h, "cuDriverGetVersion");
	int (*version)(int *);
	PmDevice *d = NULL;
	Dl_info info;
	PmErr err;

	(void)arg;
	if (!s)
		return 1;
	memcpy(&version, &s, sizeof version);
	version(&f.version);
	if (dladdr(s, &info) && info.dli_fname)
		snprintf(f.path, sizeof f.path, "%s", info.dli_fname);
	pm_err_init(&err);
	if (pm_cuda_open(&d, &err)) {
		snprintf(f.error, sizeof f.error, "%.250s", err.text);
	} else {
		f.n = 1;
		d->ops->info(d, &f.info);
		d->ops->close(d);
	}
	pm_str_addn(out, &f, sizeof f);
	return 0;
}

/* One look, now that no process of ours is on the GPU (NULL = there is none). Returns the driver's version,
 * "" when it is not known. */
static const char *probe_watch(PmFound *p, const PmDeviceInfo *gpu)
{
	static char driver[sizeof((PmGpuSeen *)0)->driver];
	PmGpuWatch *w = pm_gpu_watch_open(NULL, gpu ? gpu->pci : "");
	const PmGpuSeen *s = pm_gpu_watch_seen(w);
	char slowed[64];

	pm_gpu_watch_look(w, 0);
	snprintf(driver, sizeof driver, "%s", s->driver);
	p->found = gpu && s->known;
	snprintf(p->id, sizeof p->id, "%s", gpu ? s->uuid : "");
	snprintf(p->clocks, sizeof p->clocks, "%s", gpu ? s->clocks : "");
	pm_gpu_slowed_text(s->slowed, slowed, sizeof slowed);
	if (p->found)
		snprintf(p->detail, sizeof p->detail,
			 "SM %d MHz, memory %d MHz, %d C, slowed by %s, %d processes, persistence %s",
			 s->sm_mhz[0], s->memory_mhz[0], s->celsius, slowed, s->others,
			 s->persistence ? "on" : "off");
	else if (gpu)
		snprintf(p->detail, sizeof p->detail, "%s", s->why);
	pm_gpu_watch_close(w);
	return driver;
}

/* The driver's own version where NVML says it, and the CUDA it is for. */
static void say_driver(PmFound *p, const GpuFacts *f, const char *own)
{
	p->found = 1;
	snprintf(p->version, sizeof p->version, "%s%sCUDA %d.%d", own, *own ? ", " : "", f->version / 1000,
		 f->version % 1000 / 10);
	snprintf(p->detail, sizeof p->detail, "%.100s, %.150s", p->version, f->path);
}

static void say_gpu(PmFound *p, const PmDeviceInfo *i)
{
	snprintf(p->version, sizeof p->version,
		 "%.60s, compute capability %d.%d, %d multiprocessors, %.0f GB", i->name, i->cc / 10,
		 i->cc % 10, i->n_sm, (double)i->memory / 1e9);
	snprintf(p->detail, sizeof p->detail,
		 "%.100s, compute capability %d.%d, %d multiprocessors, %.1f GB, L2 %.0f MB", i->name,
		 i->cc / 10, i->cc % 10, i->n_sm, (double)i->memory / 1e9, (double)i->l2 / 1e6);
}

/* What the driver says, asked once in a process: how the child ended. */
static PmProcEnd ask_once(const GpuFacts **out)
{
	static GpuFacts known;
	static PmProcEnd how;
	static int asked;
	PmLimits lim = { .seconds = 60, .file_size = -1, .tries = TRIES };
	PmProcResult r;
	PmErr err;

	pm_err_init(&err);
	*out = &known;
	if (asked)
		return how;
	if (pm_fork_call(ask_driver, NULL, &lim, &r, &err))
		return PM_PROC_EXITED;
	asked = 1;
	how = r.end;
	if (r.end == PM_PROC_EXITED && r.code == 0 && r.out.len == sizeof known)
		memcpy(&known, r.out.s, sizeof known);
	pm_proc_result_release(&r);
	return how;
}

int pm_probe_gpu(PmDeviceInfo *out)
{
	const GpuFacts *f;

	if (ask_once(&f) != PM_PROC_EXITED || !f->n)
		return 0;
	*out = f->info;
	return 1;
}

static void probe_driver(PmFound *driver, PmFound *gpu, PmFound *watch)
{
	const GpuFacts *f;
	PmProcEnd how;

	snprintf(driver->detail, sizeof driver->detail,
		 "libcuda.so.1 is not there; install the GPU's driver");
	snprintf(gpu->detail, sizeof gpu->detail, "no GPU that the driver can use");
	snprintf(watch->detail, sizeof watch->detail, "no GPU to look at");
	how = ask_once(&f);
	if (f->path[0] || f->version) {
		gpu->found = f->n > 0;
		say_driver(driver, f, probe_watch(watch, f->n ? &f->info : NULL));
		if (f->n)
			say_gpu(gpu, &f->info);
		else
			snprintf(gpu->detail, sizeof gpu->detail, "%.250s", f->error);
	} else if (how != PM_PROC_EXITED) {
		snprintf(gpu->detail, sizeof gpu->detail, "the driver does not answer; check nvidia-smi");
	}
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

/* In a child, since the library stays in a process that has opened it. */
static int ask_cupti(void *arg, PmStr *out)
{
	(void)arg;
	return !pm_cuda_counters_probe(out);
}

static void probe_cupti(PmFound *p)
{
	const PmLimits lim = { .seconds = 60, .file_size = -1, .tries = TRIES };
	PmProcResult r;
	PmErr err;

	pm_err_init(&err);
	snprintf(p->detail, sizeof p->detail, "the library cannot be opened");
	if (pm_fork_call(ask_cupti, NULL, &lim, &r, &err))
		return;
	p->found = r.end == PM_PROC_EXITED && r.code == 0;
	if (r.end == PM_PROC_EXITED && r.out.len)
		snprintf(p->detail, sizeof p->detail, "%s", r.out.s);
	if (p->found)
		snprintf(p->version, sizeof p->version, "%.*s", (int)strcspn(p->detail, ","), p->detail);
	pm_proc_result_release(&r);
}

static void probe_library(PmFound *p, const PmLibrary *l)
{
	p->found = l->so != NULL;
	snprintf(p->detail, sizeof p->detail, "%s", l->text);
	if (p->found && pm_library_allowed())
		snprintf(p->version, sizeof p->version, "%.*s", (int)strcspn(l->text, ","), l->text);
	if (p->found && !pm_library_allowed())
		snprintf(p->detail, sizeof p->detail, "%.200s (not used: PASSMITH_LIBRARIES is off)",
			 l->text);
}

/* Whether this is among the wanted (NULL = everything is). */
static int is_wanted(const char *const *wanted, const char *what)
{
	for (; wanted && *wanted; wanted++)
		if (!strcmp(*wanted, what))
			return 1;
	return !wanted;
}

static void probe_compilers(const char *const *wanted, PmFound *out, int *n)
{
	const char *cxx = getenv("PASSMITH_CXX"), *cc = getenv("CC");

	if (is_wanted(wanted, "C compiler"))
		probe_program(add(out, n, "C compiler", "passmith build"), cc && *cc ? cc : "cc",
			      "install gcc");
	if (is_wanted(wanted, "C++ compiler"))
		probe_program(add(out, n, "C++ compiler", "the emu device"), cxx && *cxx ? cxx : "g++",
			      "install g++");
}

int pm_probe_some(const char *const *wanted, PmFound *out)
{
	PmFound *driver, *gpu, *watch;
	int n = 0;

	probe_compilers(wanted, out, &n);
	if (is_wanted(wanted, "CUDA driver") || is_wanted(wanted, "GPU") || is_wanted(wanted, "NVML")) {
		driver = add(out, &n, "CUDA driver", "the cuda device");
		gpu = add(out, &n, "GPU", "measured times");
		watch = add(out, &n, "NVML", "clocks, throttling and other processes beside measured times");
		probe_driver(driver, gpu, watch);
	}
	if (is_wanted(wanted, "NVRTC"))
		probe_nvrtc(add(out, &n, "NVRTC", "compiling kernels for GPUs"));
	if (is_wanted(wanted, "CUPTI"))
		probe_cupti(add(out, &n, "CUPTI", "hardware counters in passmith profile"));
	if (is_wanted(wanted, "cuBLASLt"))
		probe_library(add(out, &n, "cuBLASLt",
				  "matrix products of the cuda baseline; without it they run on our own "
				  "kernels"),
			      pm_library_cublaslt());
	if (is_wanted(wanted, "cuDNN"))
		probe_library(
			add(out, &n, "cuDNN",
			    "convolutions of the cuda baseline; without it they run on our own kernels"),
			pm_library_cudnn());
	return n;
}

int pm_probe_all(PmFound *out)
{
	return pm_probe_some(NULL, out);
}

const PmFound *pm_probe_find(const PmFound *found, int n, const char *what)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(found[i].what, what))
			return &found[i];
	return NULL;
}
