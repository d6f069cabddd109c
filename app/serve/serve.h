/* SPDX-License-Identifier: Apache-2.0 */
/* serve.h - how long a package takes to open and to run, alone and by several threads, and what it holds of
 * this process while it does. */
#ifndef APP_SERVE_SERVE_H
#define APP_SERVE_SERVE_H

#include "app/serve/held.h"
#include "app/serve/host_cost.h"
#include "app/watch/watch.h"
#include "base/core/err.h"
#include "base/core/hash.h"

#include <stddef.h>
#include <stdint.h>

typedef struct PmServeAsk {
	const char *package, *device; /* device NULL: as pm_rt_open chooses */
	size_t shape;                 /* which of its shapes */
	int threads;                  /* each with a session of its own */
	int64_t runs;                 /* of all threads together */
	int graph, on_device;         /* PM_RT_GRAPH; tensors stay on the GPU, a stream for each thread */
	int warm;                     /* pm_rt_session_warm, once tensors are bound */
	const char
		*inputs; /* folder of input_K.pb; NULL: seeded numbers, and zeros where they are integers */
	uint64_t seed;
	PmWatch watch;
} PmServeAsk;

enum { PM_SERVE_LEVELS = 5, PM_SERVE_OUTPUTS = 64 };

typedef struct PmServed {
	/* seconds: of pm_rt_open, of pm_rt_session_warm (0 without), of the first and of the tenth run of a
	 * session */
	double open, warming, first, tenth;
	double level[PM_SERVE_LEVELS]; /* of the latency of a run, at pm_serve_levels */
	double mean, most;             /* of the same */
	double seconds;                /* of all runs */
	int64_t runs;
	PmServeHeld before, opened, warm,
		after;   /* before opening, after it, after ten runs of every thread, at the end */
	PmHostCost host; /* with graph and on_device, of the first thread's session when all runs are over */
	char *about;     /* owned: pm_rt_about */
	size_t n_outputs;
	char output[PM_SERVE_OUTPUTS]
		   [PM_SHA256_HEX]; /* SHA-256 of the outputs of the last run of the first thread */
} PmServed;
extern const double pm_serve_levels[PM_SERVE_LEVELS]; /* 0.5, 0.9, 0.99, ... */

/* PM_E_NOT_FOUND, PM_E_ENV, ... as the package's sentences say; a thread that fails ends all. Release *out in
 * every case. */
PmStatus pm_serve(const PmServeAsk *ask, PmServed *out, PmErr *err);
void pm_served_release(PmServed *s);

#endif
