/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_claim.h - which command has a GPU: a lock file by UUID that all users of the machine see.
 *
 * A command's processes share what one of them has, and keep other commands away. The locks are the system's:
 * a process that ends, however that happens, has nothing any more. Nobody waits here: who gets nothing asks
 * again, and holds nothing else meanwhile, so that commands cannot wait for each other in a circle.
 */
#ifndef RUNTIME_GPU_CLAIM_H
#define RUNTIME_GPU_CLAIM_H

#include "base/core/err.h"

#include <stdint.h>

typedef struct PmGpuClaim PmGpuClaim;

/* Once in the process that forks those that use it. `folder`: NULL = /tmp/passmith-gpus, which is made for
 * everybody where it is not there. `owner`: the same number for all processes of a command, and of no other
 * (pm_gpu_claim_owner). Returns owned. PM_E_ENV when the file cannot be opened, or the folder is not one that
 * all may use safely. */
PmStatus pm_gpu_claim_open(const char *folder, const char *uuid, uint64_t owner, PmGpuClaim **out,
			   PmErr *err);
void pm_gpu_claim_free(PmGpuClaim *c); /* NULL is allowed */
/* Drawn at random. */
uint64_t pm_gpu_claim_owner(void);

/* 1 when the GPU is this command's until this process leaves it or ends. 0 when another command has it: then
 * *pid is one of its processes (0 = of another container). A command that had it last lets one that waits go
 * first.
 */
int pm_gpu_claim_take(PmGpuClaim *c, int *pid);
void pm_gpu_claim_leave(PmGpuClaim *c);

#endif
