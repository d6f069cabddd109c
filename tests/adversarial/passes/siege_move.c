/* SPDX-License-Identifier: Apache-2.0 */
/* siege_move.c - the pass of siege_host.c that moves its code over the C library's, alone: for `passmith
 * eval`. */
#define SIEGE_ONLY S19_move_over_library
#include "tests/adversarial/passes/siege_host.c"
