/* SPDX-License-Identifier: Apache-2.0 */
/* hardware.c - a GPU in words: profiles.def and archs.def as sentences. */
#include "app/profile/hardware.h"

#include "runtime/profile/occupancy.h"

static void put_numbers(const PmProfile *p, const PmArch *a, const char *name, int n_sm, int cc, cJSON *j)
{
	cJSON_AddStringToObject(j, "name", name);
	cJSON_AddNumberToObject(j, "compute_capability", cc);
	cJSON_AddNumberToObject(j, "multiprocessors", n_sm);
	if (a) {
		cJSON_AddNumberToObject(j, "warps", a->warps);
		cJSON_AddNumberToObject(j, "blocks", a->blocks);
		cJSON_AddNumberToObject(j, "registers", a->registers);
		cJSON_AddNumberToObject(j, "shared_bytes", a->shared);
		cJSON_AddNumberToObject(j, "shared_bytes_of_a_block", a->shared_block);
	}
	if (p) {
		cJSON_AddNumberToObject(j, "launch_seconds", p->launch_seconds);
		cJSON_AddNumberToObject(j, "bytes_per_second", p->bytes_per_second);
		cJSON_AddNumberToObject(j, "flops_f64", p->flops_per_second[PM_PEAK_DOUBLE]);
		cJSON_AddNumberToObject(j, "flops_f32", p->flops_per_second[PM_PEAK_SINGLE]);
		cJSON_AddNumberToObject(j, "flops_f16", p->flops_per_second[PM_PEAK_HALF]);
	}
}

void pm_profile_hardware(const PmDeviceInfo *d, const PmProfile *p, PmStr *words, cJSON *j)
{
	const char *name = d ? d->name : p->full_name;
	int cc = d ? d->cc : p->cc, n_sm = d ? d->n_sm : p->n_sm;
	double l2 = (double)(d ? d->l2 : p->l2) / 1048576;
	const PmArch *a = pm_arch(cc);

	pm_str_addf(words, "%s (sm_%d) has %d multiprocessors and %.0f MiB of L2 cache.", name, cc, n_sm, l2);
	if (a)
		pm_str_addf(
			words,
			" A multiprocessor holds %d warps of 32 threads in at most %d blocks, %d registers "
			"of 32 "
			"bits, and %d KiB of shared memory, of which a block may have %d KiB (48 KiB of them "
			"static).",
			a->warps, a->blocks, a->registers, a->shared / 1024, a->shared_block / 1024);
	if (p)
		pm_str_addf(words,
			    " A copy moves %.2f TB/s; the peaks are %.3g TFLOP/s in float, %.3g in double, "
			    "and %.3g in "
			    "half types on tensor cores. A launch costs about %.1f us: as long as %.1f MB of "
			    "traffic.",
			    p->bytes_per_second / 1e12, p->flops_per_second[PM_PEAK_SINGLE] / 1e12,
			    p->flops_per_second[PM_PEAK_DOUBLE] / 1e12,
			    p->flops_per_second[PM_PEAK_HALF] / 1e12, p->launch_seconds * 1e6,
			    p->launch_seconds * p->bytes_per_second / 1e6);
	if (j)
		put_numbers(p, a, name, n_sm, cc, j);
}
