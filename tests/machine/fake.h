/* SPDX-License-Identifier: Apache-2.0 */
/* fake.h - GPUs that are made up: where their files are, for fake_cuda.c and fake_nvml.c.
 *
 * The folder that FAKE_GPUS names has a file `gpus` with a line for each GPU, "INDEX UUID PCI CPU NAME", and
 * a folder UUID for each, whose files say what happens to it (a file that is not there says nothing): slowed
 * NVML's reasons for low clocks, a number processes  process ids on it room  bytes of memory that a process
 * can have, a number errors     errors of its memory that could not be corrected, a number rows       a row
 * of its memory could not be replaced broken     no process can open it breaks     a kernel of anybody but
 * Passmith faults, and it is broken from then on faults     a kernel of anybody but Passmith faults gate who
 * opens it waits until this file is gone and whose file `log` gets a line for each process that opens it,
 * "PID CPUS".
 */
#ifndef TESTS_FAKE_H
#define TESTS_FAKE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAKE_GPUS_MAX = 8 };

typedef struct FakeGpu {
	int index, cpu;
	char uuid[64], pci[32], name[64];
} FakeGpu;

/* Reads the list of GPUs that are made up, at most FAKE_GPUS_MAX; how many they are. */
static inline int fake_read(FakeGpu *g)
{
	const char *dir = getenv("FAKE_GPUS");
	char path[512];
	int n = 0;
	FILE *f;

	snprintf(path, sizeof path, "%s/gpus", dir ? dir : ".");
	f = fopen(path, "re");
	while (f && n < FAKE_GPUS_MAX &&
	       fscanf(f, "%d %63s %31s %d %63[^\n]", &g[n].index, g[n].uuid, g[n].pci, &g[n].cpu,
		      g[n].name) == 5)
		n++;
	if (f)
		fclose(f);
	return n;
}

/* Opens a file of the GPU's folder; NULL when it cannot be opened. */
static inline FILE *fake_file(const FakeGpu *g, const char *name, const char *mode)
{
	const char *dir = getenv("FAKE_GPUS");
	char path[512];

	snprintf(path, sizeof path, "%s/%s/%s", dir ? dir : ".", g->uuid, name);
	return fopen(path, mode);
}

/* 1 when the GPU's folder has the file. */
static inline int fake_has(const FakeGpu *g, const char *name)
{
	FILE *f = fake_file(g, name, "re");

	if (f)
		fclose(f);
	return f != NULL;
}

#endif
