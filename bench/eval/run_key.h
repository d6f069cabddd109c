/* SPDX-License-Identifier: Apache-2.0 */
/* run_key.h - what decides the results of an evaluation, beside the task, the pass, the seed and the version.
 *
 * A run in a database is found again, and its missing results are filled in, when all of that is the same
 * (dataset/store/results.h). What differs from look to look (heat, the clock of the moment, paths of
 * libraries) is left out. Two GPUs of one model are one machine, as long as their clocks are set alike.
 */
#ifndef BENCH_RUN_KEY_H
#define BENCH_RUN_KEY_H

#include "base/core/str.h"
#include "bench/eval/runner.h"
#include "runtime/device/probe.h"

/* Appends what of a machine decides what `device` gives, one line: on cuda the GPU, its driver, NVRTC, the
 * libraries and, where NVML says it, what the GPU's clocks are set to; on emu the C++ compiler and NVRTC; and
 * the layers that its sandbox lacks ("" = none). */
void pm_run_key_machine(const char *device, const PmFound *found, int n, const char *sandbox_lacks,
			PmStr *out);

/* Appends of such a line what times are compared within: "GPU=...; CUDA driver=...; GPU clocks=...", as far
 * as it has them; nothing where times are modelled. */
void pm_run_key_ranking(const char *machine, PmStr *out);
/* The same without the GPU. */
void pm_run_key_setting(const char *machine, PmStr *out);

/* pm_run_key_machine of this machine, which is asked once in a process. */
void pm_run_key_here(const char *device, const char *sandbox_lacks, PmStr *out);

/* What was found of this machine that may decide what `device` gives, and of NVML; *n entries, static. */
const PmFound *pm_run_key_found(const char *device, int *n);

/* Appends the options: profile, preset, TF32, precision tier (as lane=, the name in stored keys), graphs,
 * confirming runs, seconds of a measurement, the number of hidden shapes and, on emu, that modelled times are
 * of accesses. "secret" stands for the inputs, which no option decides. */
void pm_run_key_options(const PmEvalOpts *o, const char *preset, int tf32, int hidden, PmStr *out);

/* The preset that options say, as pm_run_key_options wrote them. */
PmPreset pm_run_key_preset(const char *options);

#endif
