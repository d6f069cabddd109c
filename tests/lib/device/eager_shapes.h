/* SPDX-License-Identifier: Apache-2.0 */
/* eager_shapes.h - graphs whose shapes make the eager kernels take each of their ways.
 *
 * Vectors that fit, that leave a rest, that begin between two of them; rows and columns shared by one thread,
 * a warp, a block and several blocks; squares cut off at both ends. Everything fails the running cmocka test
 * when it cannot be done.
 */
#ifndef TESTS_LIB_EAGER_SHAPES_H
#define TESTS_LIB_EAGER_SHAPES_H

#include "ir/core/graph.h"

#include <stddef.h>

/* Number of graphs; graph number i in the element type, NULL when it is not meant for it. Owned by the
 * caller. */
size_t eager_shapes_count(void);
PmGraph *eager_shapes_graph(size_t i, int dtype);
/* Runs all graphs of the element type on `ref` and on the device and compares every output. */
void eager_shapes_run(const char *device, int dtype);

#endif
