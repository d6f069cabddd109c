/* SPDX-License-Identifier: Apache-2.0 */
/* judgelab_pool.h - the cells of the experiment by several processes, until time is up. */
#ifndef TESTS_LIB_JUDGELAB_POOL_H
#define TESTS_LIB_JUDGELAB_POOL_H

#include <cjson/cJSON.h>

/* Runs cell `number`, which should be done at `until` (pm_now() seconds; a cell that is not stops at the next
 * seed); the result is owned by the caller. `user` is what jl_pool() was given. */
typedef cJSON *JlCellRun(int number, double until, void *user);

/* Runs cells 0 .. n-1 in this order in `jobs` processes, `seconds` in all. What is left of the time is dealt
 * out evenly to the cells that are left. result[k] is cell k's, owned by the caller, or NULL when time was up
 * before. Processes write to files `path`.0 and so on, which are removed. Ends the program with a sentence
 * when such a file cannot be written. */
void jl_pool(int n, int jobs, double seconds, const char *path, JlCellRun *run, void *user, cJSON **result);

#endif
