/* nvrtc.c - CUDA source to PTX through NVRTC, opened at run time. */
#include "runtime/nvrtc.h"

#include "base/arena.h"
#include "base/io.h"
#include "runtime/kernel_unit.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Program Program; /* NVRTC's own */

/* The functions that are used, by the signatures of NVRTC's documentation. 0 is success. */
typedef struct Api {
	void *so;
	int (*version)(int *major, int *minor);
	int (*create)(Program **p, const char *source, const char *name, int n, const char *const *headers,
		      const char *const *names);
	int (*compile)(Program *p, int n, const char *const *options);
	int (*log_size)(Program *p, size_t *n);
	int (*log)(Program *p, char *text);
	int (*ptx_size)(Program *p, size_t *n);
	int (*ptx)(Program *p, char *text);
	int (*destroy)(Program **p);
} Api;

static const char *cuda_home(void)
{
	const char *home = getenv("CUDA_HOME");

	return home && *home ? home : "/usr/local/cuda";
}

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
			pm_str_addf(&path, "%s%s%s", *folders[i] ? cuda_home() : "", folders[i], names[k]);
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

/* Opened once and never closed: NVRTC keeps what it allocates for the life of the process. */
static PmStatus open_api(Api *out, PmErr *err)
{
	static Api api;
	Api *a = &api;

	if (a->so) {
		*out = api;
		return PM_OK;
	}
	a->so = open_library();
	if (!a->so)
		return pm_err(err, PM_E_ENV,
			      "NVRTC is not there (libnvrtc.so, also looked for below %s); install the CUDA "
			      "toolkit "
			      "or set CUDA_HOME to it.",
			      cuda_home());
	if (find(a->so, "nvrtcVersion", &a->version) && find(a->so, "nvrtcCreateProgram", &a->create) &&
	    find(a->so, "nvrtcCompileProgram", &a->compile) &&
	    find(a->so, "nvrtcGetProgramLogSize", &a->log_size) &&
	    find(a->so, "nvrtcGetProgramLog", &a->log) && find(a->so, "nvrtcGetPTXSize", &a->ptx_size) &&
	    find(a->so, "nvrtcGetPTX", &a->ptx) && find(a->so, "nvrtcDestroyProgram", &a->destroy)) {
		*out = api;
		return PM_OK;
	}
	dlclose(a->so);
	a->so = NULL;
	return pm_err(err, PM_E_ENV,
		      "The NVRTC library that was found lacks functions; install CUDA 11.2 or newer.");
}

/* Folder of cuda_fp16.h. */
static PmStatus find_headers(PmStr *out, PmErr *err)
{
	const char *const tries[] = { "/include", "/targets/x86_64-linux/include" };
	PmStr file = PM_STR_INIT;
	size_t i;

	for (i = 0; i < 2 && !out->len; i++) {
		pm_str_clear(&file);
		pm_str_addf(&file, "%s%s/cuda_fp16.h", cuda_home(), tries[i]);
		if (pm_path_exists(file.s))
			pm_str_addf(out, "-I%s%s", cuda_home(), tries[i]);
	}
	if (!out->len && pm_path_exists("/usr/include/cuda_fp16.h"))
		pm_str_add(out, "-I/usr/include");
	pm_str_release(&file);
	if (!out->len)
		return pm_err(err, PM_E_ENV,
			      "NVRTC needs CUDA's header cuda_fp16.h, which is not below %s/include; install "
			      "the CUDA "
			      "toolkit's headers or set CUDA_HOME.",
			      cuda_home());
	return PM_OK;
}

/* The first error of the log: "label(12): error: text" becomes "line 12: text". */
static PmStatus report(const PmSource *s, const char *log, PmErr *err)
{
	const char *mark = strstr(log, "error"), *line = mark, *text;
	PmStr file = PM_STR_INIT;
	size_t n;
	PmStatus rc;

	if (!mark)
		return pm_err(err, PM_E_INVALID, "Kernel '%s' does not compile: %.600s", s->label,
			      *log ? log : "NVRTC gave no message");
	while (line > log && line[-1] != '\n')
		line--;
	text = mark + strcspn(mark, ":\n");
	text += *text == ':' ? 1 + strspn(text + 1, " ") : 0;
	pm_kernel_file_name(s->label, &file);
	n = file.len;
	if (strncmp(line, file.s, n) == 0 && line[n] == '(')
		rc = pm_err(err, PM_E_INVALID, "Kernel '%s' does not compile: line %d: %.*s", s->label,
			    atoi(line + n + 1), (int)strcspn(text, "\n"), text);
	else
		rc = pm_err(err, PM_E_INVALID, "Kernel '%s' does not compile: %.*s", s->label,
			    (int)strcspn(line, "\n"), line);
	pm_str_release(&file);
	return rc;
}

static PmStatus fetch(const Api *a, Program *p, int failed, const PmSource *s, PmStr *ptx, PmErr *err)
{
	size_t n = 0;
	char *text;
	PmStatus rc = PM_OK;

	if ((failed ? a->log_size : a->ptx_size)(p, &n) != 0 || n > ((size_t)1 << 30))
		return pm_err(err, PM_E_INTERNAL, "NVRTC compiled kernel '%s' but gives no result.",
			      s->label);
	text = pm_xcalloc(n + 1, 1);
	if ((failed ? a->log : a->ptx)(p, text) != 0)
		rc = pm_err(err, PM_E_INTERNAL, "NVRTC compiled kernel '%s' but gives no result.", s->label);
	else if (failed)
		rc = report(s, text, err);
	else
		pm_str_add(ptx, text);
	free(text);
	return rc;
}

PmStatus pm_nvrtc_ptx(const PmSource *s, int cc, PmStr *ptx, PmErr *err)
{
	PmStr unit = PM_STR_INIT, arch = PM_STR_INIT, cuda = PM_STR_INIT, own = PM_STR_INIT,
	      root = PM_STR_INIT;
	Program *p = NULL;
	Api a;
	PmStatus rc = pm_kernel_source_check(s, err);

	if (rc || (rc = open_api(&a, err)))
		return rc;
	rc = find_headers(&cuda, err);
	if (!rc)
		rc = pm_root_dir(&root, err);
	if (!rc) {
		const char *options[] = { arch.s, own.s, cuda.s, "--std=c++17", "-w" };

		pm_str_addf(&arch, "--gpu-architecture=compute_%d", cc);
		pm_str_addf(&own, "-I%s/include", root.s);
		options[0] = arch.s;
		options[1] = own.s;
		pm_kernel_unit_begin(s, &unit);
		pm_str_add(&unit, s->source);
		if (a.create(&p, unit.s, "kernel.cu", 0, NULL, NULL) != 0)
			rc = pm_err(err, PM_E_ENV,
				    "NVRTC cannot start on kernel '%s'; check the CUDA toolkit.", s->label);
		else
			rc = fetch(&a, p, a.compile(p, 5, options) != 0, s, ptx, err);
		if (p)
			a.destroy(&p);
	}
	pm_str_release(&unit);
	pm_str_release(&arch);
	pm_str_release(&cuda);
	pm_str_release(&own);
	pm_str_release(&root);
	return rc;
}

PmStatus pm_nvrtc_version(PmStr *out, PmErr *err)
{
	int major = 0, minor = 0;
	Api a;
	PmStatus rc = open_api(&a, err);

	if (rc)
		return rc;
	if (a.version(&major, &minor) != 0)
		rc = pm_err(err, PM_E_ENV, "NVRTC does not tell its version; check the CUDA toolkit.");
	else
		pm_str_addf(out, "%d.%d", major, minor);
	return rc;
}
