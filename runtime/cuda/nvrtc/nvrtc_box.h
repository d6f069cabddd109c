/* SPDX-License-Identifier: Apache-2.0 */
/* nvrtc_box.h - compiling sources of strangers: in a child that is closed off before it reads them.
 *
 * The child opens NVRTC and compiles an empty kernel, after which NVRTC needs no more files; then it calls
 * enter(), which takes away files, descriptors and processes (base/sandbox/sandbox.h), and only then
 * compiles. What comes back is data: texts and machine code to be judged, and kept in the cache when they may
 * be used.
 */
#ifndef RUNTIME_NVRTC_BOX_H
#define RUNTIME_NVRTC_BOX_H

#include "base/core/str.h"
#include "runtime/device/device.h"

#include <stddef.h>

typedef struct PmBoxed {
	PmStatus st; /* PM_OK, or PM_E_INVALID: it does not compile, PM_E_LIMIT: over a limit; with the
			message */
	char why[PM_ERR_MAX];
	PmStr ptx, cubin; /* as pm_nvrtc_compile gives them */
	int cached;       /* it came from the cache */
} PmBoxed;

typedef struct PmBoxOpts {
	int cc;
	void (*enter)(void); /* in the child, before the first source; must leave descriptors 1 to 3 open */
	double seconds;      /* for all sources together; 0 = 60 */
	int jobs;            /* children at once, among which the sources are shared out; 0 = 1. The answer is
			      * that of one: where together they took longer, or one ended early, one does it all */
	int64_t memory;      /* bytes of address space; 0 = 4 GiB */
	int whole_log; /* for an author, nothing is judged: of what does not compile, ptx holds all that NVRTC
			* said; whether a source knows the time is not looked at */
} PmBoxOpts;

/* Gives out[i] for every source, from the cache where it is there. Nothing is written to the cache. A source
 * over a limit ends the child: it and those after it that were not done are PM_E_LIMIT. PM_E_ENV without
 * NVRTC. Release each out[i] in every case (pm_boxed_release). */
PmStatus pm_nvrtc_boxed(const PmSource *s, size_t n, const PmBoxOpts *o, PmBoxed *out, PmErr *err);
void pm_boxed_release(PmBoxed *b);

/* Puts what was judged into the cache, where pm_nvrtc_compile finds it. */
PmStatus pm_nvrtc_keep(const PmSource *s, int cc, const PmStr *ptx, const PmStr *cubin, PmErr *err);

#endif
