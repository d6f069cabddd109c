/* SPDX-License-Identifier: Apache-2.0 */
/* profiles.c - the modelled clock of a target. */
#include "runtime/exec/profiles.h"

#include "base/core/arena.h"

#include <pthread.h>

/* Those made so far: one for each target of the process, of which there are few. */
typedef struct Made {
	PmProfile p;
	struct Made *next;
} Made;

const PmProfile *pm_profile_of(const PmTarget *t)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static Made *all;
	Made *m;

	pthread_mutex_lock(&lock);
	for (m = all; m && m->p.target != t;)
		m = m->next;
	if (!m) {
		m = pm_xcalloc(1, sizeof *m);
		m->p = (PmProfile){
			.name = t->name,
			.start_seconds = pm_target_cost(t, "start_us") * 1e-6,
			.several_seconds = pm_target_cost(t, "several_us") * 1e-6,
			.launch_seconds = pm_target_cost(t, "launch_us") * 1e-6,
			.bytes_per_second = t->copy_bytes_per_second,
			.flops_per_second = { t->f64_flops_per_second, t->f32_flops_per_second,
					      t->f16_tensor_flops_per_second, t->i32_ops_per_second },
			.full_name = t->full_name,
			.cc = t->compute_capability,
			.n_sm = t->sm_count,
			.l2 = t->l2_bytes,
			.memory = t->memory_bytes,
			.target = t,
		};
		m->next = all;
		all = m;
	}
	pthread_mutex_unlock(&lock);
	return &m->p;
}

const PmProfile *pm_profile(const char *name)
{
	const PmTarget *t = pm_target_find(name);

	return t ? pm_profile_of(t) : NULL;
}

const PmProfile *pm_profile_of_cc(int cc)
{
	const PmTarget *t = pm_target_of_cc(cc);

	return t ? pm_profile_of(t) : NULL;
}

double pm_profile_start_seconds(const PmProfile *p, int64_t launches, double first_seconds)
{
	double hidden = first_seconds - p->launch_seconds,
	       more = p->several_seconds - (hidden > 0 ? hidden : 0);

	return launches ? p->start_seconds + (launches > 1 && more > 0 ? more : 0) : 0;
}

double pm_profile_launch_seconds(const PmProfile *p, int64_t bytes, int64_t flops, int flop_class)
{
	double mem = (double)bytes / p->bytes_per_second,
	       math = (double)flops / p->flops_per_second[flop_class];

	return p->launch_seconds + (mem > math ? mem : math);
}
