/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_watch.h - what happens on a GPU while it is measured: clocks, heat, throttling and other processes.
 *
 * Read from NVML (libnvidia-ml.so.1, opened at run time, the driver's own), in the process that runs no
 * candidate. It changes nothing on the GPU. Where the library is not there, or does not answer, `known` is 0
 * and `why` says so; that is a label of the results, not an error.
 */
#ifndef RUNTIME_GPU_WATCH_H
#define RUNTIME_GPU_WATCH_H

#include <stdint.h>

typedef struct PmGpuSeen {
	int known;
	char why[160];                /* one sentence when not known */
	char driver[80];              /* the driver's own version, "580.159.03"; "" = NVML does not say */
	int index;                    /* as nvidia-smi counts; -1 = NVML does not say */
	char uuid[96];                /* of the GPU, "GPU-..."; "" = NVML does not say */
	char clocks[64];              /* what its clocks are set to (application clocks),
				       * "SM 1980 MHz, memory 3201 MHz"; "" = NVML does not say */
	int looks;                    /* how often it was looked at */
	int sm_mhz[2], memory_mhz[2]; /* lowest and highest */
	int celsius;                  /* highest */
	uint64_t slowed; /* NVML's reasons for clocks below the highest, all that were seen; idle and
			  * settings of the user are left out */
	int others;      /* most processes on the GPU beside ours */
	int persistence; /* the driver stays loaded between processes */
} PmGpuSeen;

typedef struct PmGpuWatch PmGpuWatch;

/* `pci`: "00000000:1B:00.0", as in PmDeviceInfo; "" = no GPU, to learn the driver's version alone. `library`:
 * NULL = libnvidia-ml.so.1. Always returns one (owned). */
PmGpuWatch *pm_gpu_watch_open(const char *library, const char *pci);
/* Waits until no process but `ours` holds the GPU, `seconds` at most: what a program that has ended leaves
 * there is taken back a while later. It counts as no look. 1 when it is so, or nothing is known. */
int pm_gpu_watch_wait(PmGpuWatch *w, int ours, double seconds);
/* Looks once; `ours` processes of this program hold the GPU now. */
void pm_gpu_watch_look(PmGpuWatch *w, int ours);
const PmGpuSeen *pm_gpu_watch_seen(const PmGpuWatch *w);
void pm_gpu_watch_close(PmGpuWatch *w);

/* "power cap, heat" or "nothing"; `room` bytes at `out` take as much as fits. */
void pm_gpu_slowed_text(uint64_t slowed, char *out, int room);

#endif
