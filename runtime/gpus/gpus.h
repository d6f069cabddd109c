/* SPDX-License-Identifier: Apache-2.0 */
/* gpus.h - the GPUs of this machine: which there are, which of them an option names, and how each is now.
 *
 * The CUDA driver says which there are, and so honours CUDA_VISIBLE_DEVICES; NVML (libnvidia-ml.so.1, opened
 * at run time) says what they are called and how they are. Nothing is changed on a GPU, and this process
 * opens none.
 */
#ifndef RUNTIME_GPUS_H
#define RUNTIME_GPUS_H

#include "runtime/device/device.h"

#include <sched.h>

enum { PM_GPUS_MAX = 32 };

/* NVML's reasons for clocks below the highest with which nothing is measured: hardware slowdown, heat, heat
 * as the hardware sees it, power brake. A power cap is how many GPUs run all the time. */
#define PM_GPU_SLOWED_BITS ((uint64_t)(0x8 | 0x20 | 0x40 | 0x80))

typedef struct PmGpu {
	int index;     /* as nvidia-smi counts */
	char uuid[96]; /* "GPU-..." */
	PmDeviceInfo info;
	cpu_set_t near; /* processors nearest to it; empty = not known */
	int n_near;
} PmGpu;

typedef struct PmGpus {
	int n;
	PmGpu gpu[PM_GPUS_MAX];
} PmGpus;

/* Why a GPU is left. */
typedef enum {
	PM_GPU_WELL,
	PM_GPU_SLOWED,    /* by heat, a power brake or its hardware */
	PM_GPU_STRANGERS, /* processes of other programs are there */
	PM_GPU_MEMORY,    /* errors that memory could not correct, or rows that cannot be replaced */
	PM_GPU_LOST,      /* NVML gets no answer */
	PM_GPU_FAILING    /* a new process cannot use it either */
} PmGpuFault;

/* "slowed", "strangers", ...: part of answers in JSON. */
const char *pm_gpu_fault_name(PmGpuFault f);

/* 1 when a text may name GPUs: "all", or numbers and UUIDs with commas. */
int pm_gpus_is_list(const char *text);

/* The GPUs that the driver leaves to this process, asked in a process of its own. PM_E_ENV when there is no
 * driver, no GPU or no NVML. Kept until the process ends. */
PmStatus pm_gpus_find(PmGpus *out, PmErr *err);
/* Those of `all` that `text` names, in its order, each once: "all", numbers as nvidia-smi counts, UUIDs or
 * unmistakable beginnings of them. PM_E_NOT_FOUND for one that is not there, PM_E_INVALID for one that is
 * ambiguous, or when they are of different models. */
PmStatus pm_gpus_select(const PmGpus *all, const char *text, PmGpus *out, PmErr *err);

/* Errors that its memory could not correct since the driver was loaded; 0 where NVML does not say. */
uint64_t pm_gpu_memory_errors(const PmGpu *g);
/* How it is now. `errors`: those of its memory that are known already. `why` (of `room` bytes) gets half a
 * sentence about a fault: "it is slowed down (heat)". Other processes of Passmith are no strangers; nor are
 * those that this machine does not show. */
PmGpuFault pm_gpu_look(const PmGpu *g, uint64_t errors, char *why, int room);

/* From here on this process, and what it starts, runs on the processors nearest to the GPU, as far as it may
 * run there now. Where none is known or allowed, nothing changes. */
void pm_gpu_pin(const PmGpu *g);

#endif
