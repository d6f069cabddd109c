/* SPDX-License-Identifier: Apache-2.0 */
/* wavering_nvrtc.c - an NVRTC that gives other code for the same source: WAVER=once the third time that it is
 * asked, WAVER=always each time. It stands before the real one, $REAL_NVRTC; compiler.sh puts it there. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Program Program;
typedef int (*Any)(void);

enum { MARK = 32 }; /* bytes of what is added to the PTX */

static void *real;
static int always, n_compiled;

/* Before the program clears its environment. */
__attribute__((constructor)) static void open_real(void)
{
	const char *path = getenv("REAL_NVRTC"), *how = getenv("WAVER");

	real = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	always = how && !strcmp(how, "always");
	if (!real)
		abort();
}

static Any find(const char *name)
{
	void *p = dlsym(real, name);
	Any fn;

	memcpy(&fn, &p, sizeof p);
	return fn;
}

int nvrtcVersion(int *major, int *minor)
{
	return ((int (*)(int *, int *))find(__func__))(major, minor);
}

int nvrtcGetNumSupportedArchs(int *n)
{
	return ((int (*)(int *))find(__func__))(n);
}

int nvrtcGetSupportedArchs(int *archs)
{
	return ((int (*)(int *))find(__func__))(archs);
}

int nvrtcCreateProgram(Program **p, const char *source, const char *name, int n, const char *const *headers,
		       const char *const *names)
{
	return ((int (*)(Program **, const char *, const char *, int, const char *const *,
			 const char *const *))find(__func__))(p, source, name, n, headers, names);
}

int nvrtcCompileProgram(Program *p, int n, const char *const *options)
{
	n_compiled++;
	return ((int (*)(Program *, int, const char *const *))find(__func__))(p, n, options);
}

int nvrtcGetProgramLogSize(Program *p, size_t *n)
{
	return ((int (*)(Program *, size_t *))find(__func__))(p, n);
}

int nvrtcGetProgramLog(Program *p, char *text)
{
	return ((int (*)(Program *, char *))find(__func__))(p, text);
}

int nvrtcGetPTXSize(Program *p, size_t *n)
{
	int rc = ((int (*)(Program *, size_t *))find(__func__))(p, n);

	*n += MARK;
	return rc;
}

int nvrtcGetPTX(Program *p, char *text)
{
	int rc = ((int (*)(Program *, char *))find(__func__))(p, text);

	if (always || n_compiled == 3)
		snprintf(text + strlen(text), MARK, "\n// %d\n", n_compiled);
	return rc;
}

int nvrtcGetCUBINSize(Program *p, size_t *n)
{
	return ((int (*)(Program *, size_t *))find(__func__))(p, n);
}

int nvrtcGetCUBIN(Program *p, char *bytes)
{
	return ((int (*)(Program *, char *))find(__func__))(p, bytes);
}

int nvrtcDestroyProgram(Program **p)
{
	return ((int (*)(Program **))find(__func__))(p);
}
