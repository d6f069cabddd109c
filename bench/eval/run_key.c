/* SPDX-License-Identifier: Apache-2.0 */
/* run_key.c - what decides the results of an evaluation, as text. */
#include "bench/eval/run_key.h"

#include "runtime/device/device.h"
#include "runtime/exec/exec.h"

#include <string.h>

/* What of pm_probe_all decides, by device. */
static const char *const of_emu[] = { "C++ compiler", "NVRTC", NULL };
static const char *const of_cuda[] = { "GPU", "CUDA driver", "NVRTC", "cuBLASLt", "cuDNN", NULL };

static const char *version_of(const PmFound *found, int n, const char *what)
{
	const PmFound *f = pm_probe_find(found, n, what);

	return f && *f->version ? f->version : "none";
}

static const char *const *decides(const char *device)
{
	return pm_device_kind(device) != PM_DEVICE_CUDA ? of_emu : of_cuda;
}

void pm_run_key_machine(const char *device, const PmFound *found, int n, const char *sandbox_lacks,
			PmStr *out)
{
	const char *const *what = decides(device);
	const PmFound *nvml = what == of_cuda ? pm_probe_find(found, n, "NVML") : NULL;

	for (size_t i = 0; what[i]; i++)
		pm_str_addf(out, "%s%s=%s", i ? "; " : "", what[i], version_of(found, n, what[i]));
	if (nvml && *nvml->clocks) /* not known of all drivers, nor of runs stored before */
		pm_str_addf(out, "; GPU clocks=%s", nvml->clocks);
	if (*sandbox_lacks)
		pm_str_addf(out, "; sandbox lacks %s", sandbox_lacks);
}

static void add_part(const char *machine, const char *name, PmStr *out)
{
	const char *p = strstr(machine, name);

	if (p)
		pm_str_addf(out, "%s%.*s", out->len ? "; " : "", (int)strcspn(p, ";"), p);
}

void pm_run_key_setting(const char *machine, PmStr *out)
{
	add_part(machine, "CUDA driver=", out);
	add_part(machine, "GPU clocks=", out);
}

void pm_run_key_ranking(const char *machine, PmStr *out)
{
	add_part(machine, "GPU=", out);
	pm_run_key_setting(machine, out);
}

const PmFound *pm_run_key_found(const char *device, int *n)
{
	static PmFound found[PM_MAX_PROBES];
	static const char *const *looked_for;
	static int n_found;

	if (looked_for != decides(device)) {
		looked_for = decides(device);
		n_found = pm_probe_some(looked_for, found);
	}
	*n = n_found;
	return found;
}

void pm_run_key_here(const char *device, const char *sandbox_lacks, PmStr *out)
{
	int n;
	const PmFound *found = pm_run_key_found(device, &n);

	pm_run_key_machine(device, found, n, sandbox_lacks, out);
}

/* Runs of before have modelled times by bytes and operations alone. */
static int times_are_of_accesses(const PmEvalOpts *o)
{
	return !o->check_only && o->device && pm_device_kind(o->device) == PM_DEVICE_EMU;
}

void pm_run_key_options(const PmEvalOpts *o, const char *preset, int tf32, int hidden, PmStr *out)
{
	pm_str_addf(out, "profile=%s preset=%s lane=%s seconds=%g hidden=%d",
		    o->profile ? o->profile : pm_profile(NULL)->name, preset, pm_tier_name(o->tier),
		    o->clock_seconds > 0 ? o->clock_seconds : (double)PM_CLOCK_SECONDS, hidden);
	if (o->confirm_above > 0)
		pm_str_addf(out, " confirm=%g", o->confirm_above);
	if (o->deadline != PM_EVAL_DEADLINE) /* with another one more may be checked, or less */
		pm_str_addf(out, " deadline=%g", o->deadline);
	if (o->only_rule)
		pm_str_addf(out, " rule=%s", o->only_rule);
	pm_str_addf(out, "%s%s%s%s secret", tf32 ? " tf32" : "", o->graphs ? " graphs" : "",
		    o->check_only ? " check" : "", times_are_of_accesses(o) ? " model=accesses" : "");
}

static int says_word(const char *options, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = strstr(options, word); p; p = strstr(p + 1, word))
		if ((p == options || p[-1] == ' ') && (!p[n] || p[n] == ' '))
			return 1;
	return 0;
}

PmPreset pm_run_key_preset(const char *options)
{
	return says_word(options, "preset=passnet") ? PM_PRESET_PASSNET : PM_PRESET_SOUND;
}
