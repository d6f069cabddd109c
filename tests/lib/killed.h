/* SPDX-License-Identifier: Apache-2.0 */
/* killed.h - processes of a pool (base/sys/pool.h) that are killed from outside, each while it works. */
#ifndef TESTS_LIB_KILLED_H
#define TESTS_LIB_KILLED_H

/* From now on each process that a pool of this one starts is killed (SIGKILL) when it has used a processor
 * for `cpu_us` microseconds, or, when that is 0, `us` microseconds after its start. */
void pm_test_kill_pool(int cpu_us, int us);
/* None are any more. Returns how many were. */
int pm_test_kill_pool_end(void);

#endif
