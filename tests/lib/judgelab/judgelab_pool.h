/* SPDX-License-Identifier: Apache-2.0 */
/* judgelab_pool.h - the pieces of the experiment by several processes, until time is up. */
#ifndef TESTS_LIB_JUDGELAB_POOL_H
#define TESTS_LIB_JUDGELAB_POOL_H

#include <cjson/cJSON.h>

/* Runs piece `number`; the result is owned by the caller. `user` is what jl_pool() was given. */
typedef cJSON *JlPieceRun(int number, void *user);

/* Runs pieces 0 .. n-1 in this order in `jobs` processes; after `seconds` (0: whenever all are done) none is
 * begun, and one that is not done 20 seconds later is ended. result[k] is piece k's, owned by the caller, or
 * NULL when time was up before. Processes write to files `path`.0 and so on, which are removed. Ends the
 * program with a sentence when such a file cannot be written. */
void jl_pool(int n, int jobs, double seconds, const char *path, JlPieceRun *run, void *user, cJSON **result);

#endif
