/* SPDX-License-Identifier: Apache-2.0 */
/* profiles.h - the modelled clock of a target. */
#ifndef RUNTIME_EXEC_PROFILES_H
#define RUNTIME_EXEC_PROFILES_H

#include "targets/targets.h"

/* Numbers of the modelled clock, which is that of replays: time = start + sum over launches of
 * overhead + max(bytes / bandwidth, flops / peak), and of calls of libraries what library_time.h says. They
 * are those of a target (targets/targets.h). */
typedef struct PmProfile {
	const char *name;
	double start_seconds;   /* per run that launches anything */
	double several_seconds; /* more, per run of more than one launch */
	double launch_seconds;  /* per kernel */
	double bytes_per_second;
	double flops_per_second[4]; /* by PmDTypePeak: f64, f32, f16/bf16 (dot), integer */
	const char *full_name;      /* "NVIDIA H200" */
	int cc, n_sm;
	int64_t l2, memory;     /* bytes */
	const PmTarget *target; /* all that is known of it */
} PmProfile;
const PmProfile *pm_profile(const char *name);     /* NULL name = the process's target; NULL when unknown */
const PmProfile *pm_profile_of_cc(int cc);         /* the first of that compute capability; NULL = none */
const PmProfile *pm_profile_of(const PmTarget *t); /* of that target, which lives as long as the process */
/* Seconds of a run with so many launches, of which the first takes first_seconds, without them. What it takes
 * to begin the others is hidden behind the first one, as far as that is more than an overhead. */
double pm_profile_start_seconds(const PmProfile *p, int64_t launches, double first_seconds);
/* Seconds of a launch with so many bytes and operations: overhead + max(bytes / bandwidth, flops / peak). The
 * class of operations is an index of flops_per_second. */
double pm_profile_launch_seconds(const PmProfile *p, int64_t bytes, int64_t flops, int flop_class);

#endif
