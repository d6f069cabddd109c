/* SPDX-License-Identifier: Apache-2.0 */
/* nvrtc_priv.h - the NVRTC library as it was found; shared by nvrtc*.c. */
#ifndef RUNTIME_NVRTC_PRIV_H
#define RUNTIME_NVRTC_PRIV_H

#include "base/core/str.h"
#include "runtime/device/device.h"

#include <stddef.h>

enum { PM__NVRTC_MAX_ARCHS = 64 };

typedef struct PmNvrtcProgram PmNvrtcProgram; /* NVRTC's own */

/* Headers by the name they are included as. Made once, kept for the life of the process. */
typedef struct PmNvrtcHeaders {
	int n;
	char **name, **text;
} PmNvrtcHeaders;

/* Compiles for the machine code of capability `cc` without looking at the cache. `log` gets all that the
 * compiler says of what does not compile; may be NULL. */
PmStatus pm__nvrtc_compile_only(const PmSource *s, int cc, PmStr *ptx, PmStr *cubin, PmStr *log, PmErr *err);
/* Compiles an empty kernel, without the prelude: all files that a compilation needs have been read then. */
PmStatus pm__nvrtc_prime(int cc, PmErr *err);
/* 1, with the results appended, when the cache has them. */
int pm__nvrtc_cached(const PmSource *s, int cc, PmStr *ptx, PmStr *cubin);

/* Reads every header that kernels can reach, from the folders of the SDK and of CUDA. */
void pm__nvrtc_headers(PmNvrtcHeaders *out, const char *sdk, const char *cuda);

/* The functions that are used, by the signatures of NVRTC's documentation. 0 is success. */
typedef struct PmNvrtc {
	void *so;
	int (*version)(int *major, int *minor);
	int (*n_archs)(int *n);
	int (*archs)(int *archs);
	int (*create)(PmNvrtcProgram **p, const char *source, const char *name, int n,
		      const char *const *headers, const char *const *names);
	int (*compile)(PmNvrtcProgram *p, int n, const char *const *options);
	int (*log_size)(PmNvrtcProgram *p, size_t *n);
	int (*log)(PmNvrtcProgram *p, char *text);
	int (*ptx_size)(PmNvrtcProgram *p, size_t *n);
	int (*ptx)(PmNvrtcProgram *p, char *text);
	int (*cubin_size)(PmNvrtcProgram *p, size_t *n);
	int (*cubin)(PmNvrtcProgram *p, char *bytes);
	int (*destroy)(PmNvrtcProgram **p);
	/* What was found out about it. */
	int major, minor;
	int n_known;
	int known[PM__NVRTC_MAX_ARCHS]; /* architectures it compiles for, ascending: 75, 80, ... */
	PmStr headers;                  /* the folder of cuda_fp16.h */
} PmNvrtc;

/* Opened once and never closed: NVRTC keeps what it allocates for the life of the process. *out is borrowed.
 * PM_E_ENV says what is missing. */
PmStatus pm__nvrtc_open(const PmNvrtc **out, PmErr *err);

/* The architecture that code for a device of capability `cc` is compiled for; *real = 1 when the machine code
 * runs there as it is, 0 when the driver has to compile the PTX. PM_E_ENV when the device is too old. */
PmStatus pm__nvrtc_arch(const PmNvrtc *a, int cc, int *arch, int *real, PmErr *err);

#endif
