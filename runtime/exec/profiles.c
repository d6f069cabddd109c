/* SPDX-License-Identifier: Apache-2.0 */
/* profiles.c - the GPUs whose time is modelled, by name and by compute capability. */
#include "runtime/exec/exec.h"

#include <string.h>

static const PmProfile profiles[] = {
#define XX(name, full, cc, n_sm, l2, memory, launch, bandwidth, f64, f32, f16, integer)                      \
	{ name, launch, bandwidth, { f64, f32, f16, integer }, full, cc, n_sm, l2, memory },
#include "runtime/exec/profiles.def"
#undef XX
};

const char *pm_profile_names(void)
{
#define XX(name, ...) " " name
	return
#include "runtime/exec/profiles.def"
		;
#undef XX
}

const PmProfile *pm_profile_of_cc(int cc)
{
	for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++)
		if (profiles[i].cc == cc)
			return &profiles[i];
	return NULL;
}

const PmProfile *pm_profile(const char *name)
{
	if (!name)
		return &profiles[0];
	for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++)
		if (!strcmp(profiles[i].name, name))
			return &profiles[i];
	return NULL;
}
