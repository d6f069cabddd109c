/* SPDX-License-Identifier: Apache-2.0 */
/* library.c - finds cuBLASLt and cuDNN at run time. */
#include "runtime/device/library.h"

#include "base/core/str.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_CUBLASLT = 110000, MIN_CUDNN = 8000 };

static int tf32, way = PM_LIBRARY_TRY;

void pm_library_allow_tf32(int on)
{
	tf32 = on;
}

int pm_library_tf32(void)
{
	return tf32;
}

int pm_library_allowed(void)
{
	return !pm_str_eq(getenv("PASSMITH_LIBRARIES"), "off");
}

void pm_library_set_algo(int w)
{
	way = w;
}

int pm_library_algo(void)
{
	return way == PM_LIBRARY_TRY && pm_str_eq(getenv("PASSMITH_LIBRARIES"), "first") ? PM_LIBRARY_FIRST
											 : way;
}

void *pm_library_symbol(const PmLibrary *l, const char *name)
{
	return l->so ? dlsym(l->so, name) : NULL;
}

/* What to look for: names for the loader's search, and for the same names below folders that variables name.
 */
typedef struct Wanted {
	const char *title, *names[4], *version_symbol, *hint;
	int minimum;
	void (*split)(int version, int out[3]);
} Wanted;

static void split_cublaslt(int v, int out[3])
{
	out[0] = v / 10000;
	out[1] = v / 100 % 100;
	out[2] = v % 100;
}

/* 9.13.0 is 91300, 8.9.2 is 8902. */
static void split_cudnn(int v, int out[3])
{
	int major = v >= 90000 ? 10000 : 1000;

	out[0] = v / major;
	out[1] = v % major / 100;
	out[2] = v % 100;
}

static void *open_one(const Wanted *w)
{
	static const char *const homes[] = { "CUDNN_HOME", "CUDA_HOME", NULL };
	static const char *const folders[] = { "lib64", "lib" };
	void *so = NULL;
	char path[1024];

	for (int i = 0; w->names[i] && !so; i++)
		so = dlopen(w->names[i], RTLD_NOW | RTLD_LOCAL);
	for (int h = 0; h < 3 && !so; h++) {
		const char *home = homes[h] ? getenv(homes[h]) : "/usr/local/cuda";

		for (int f = 0; f < 2 && home && *home; f++)
			for (int i = 0; w->names[i] && !so; i++) {
				snprintf(path, sizeof path, "%.800s/%s/%s", home, folders[f], w->names[i]);
				so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
			}
	}
	return so;
}

static void find(const Wanted *w, PmLibrary *out)
{
	size_t (*version)(void);
	int part[3];
	Dl_info info;
	void *s;

	out->so = open_one(w);
	s = pm_library_symbol(out, w->version_symbol);
	if (!s) {
		out->so = NULL;
		snprintf(out->text, sizeof out->text, "%s is not there; %s", w->names[0], w->hint);
		return;
	}
	memcpy(&version, &s, sizeof version);
	out->version = (int)version();
	w->split(out->version, part);
	if (!dladdr(s, &info) || !info.dli_fname)
		info.dli_fname = w->names[0];
	if (out->version < w->minimum) {
		out->so = NULL;
		snprintf(out->text, sizeof out->text, "%s %d.%d.%d (%.120s) is too old; %s", w->title,
			 part[0], part[1], part[2], info.dli_fname, w->hint);
		return;
	}
	snprintf(out->text, sizeof out->text, "%s %d.%d.%d, %.180s", w->title, part[0], part[1], part[2],
		 info.dli_fname);
}

static const Wanted cublaslt = {
	"cuBLASLt",           { "libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so", NULL },
	"cublasLtGetVersion", "install the CUDA toolkit, 11 or newer, or set CUDA_HOME",
	MIN_CUBLASLT,         split_cublaslt,
};
static const Wanted cudnn = {
	"cuDNN",           { "libcudnn.so.9", "libcudnn.so.8", "libcudnn.so", NULL },
	"cudnnGetVersion", "install cuDNN, 8 or newer, or set CUDNN_HOME",
	MIN_CUDNN,         split_cudnn,
};

const PmLibrary *pm_library_cublaslt(void)
{
	static PmLibrary found;

	if (!*found.text)
		find(&cublaslt, &found);
	return &found;
}

const PmLibrary *pm_library_cudnn(void)
{
	static PmLibrary found;

	if (!*found.text)
		find(&cudnn, &found);
	return &found;
}

void pm_library_version_text(PmLibKind kind, int version, char out[32])
{
	const Wanted *w = kind == PM_LIB_GEMM ? &cublaslt : &cudnn;
	int part[3];

	w->split(version, part);
	snprintf(out, 32, "%s %d.%d.%d", w->title, part[0], part[1], part[2]);
}
