/* SPDX-License-Identifier: Apache-2.0 */
/* vectors.h - test vectors as JSON: finding the files and comparing numbers.
 *
 * Two sets with one schema: the small one of this repository (tests/golden/scoring) and the large one of
 * the shared folder ($PASSMITH_SHARED, else ../shared), which a plain clone does not have. Tests run from
 * the repository root.
 */
#ifndef TESTS_LIB_VECTORS_H
#define TESTS_LIB_VECTORS_H

#include "base/core/json.h"

typedef enum VectorSet { VECTORS_OWN, VECTORS_SHARED } VectorSet;

/* Parses NAME of a set. A missing or broken own file fails the running cmocka test; a missing shared file
 * skips it with the reason. Returns owned. */
cJSON *vectors_load(VectorSet set, const char *name);

/* The value of a JSON number; "inf", "-inf", "nan" and null give the obvious ones. */
double vectors_num(const cJSON *j);
/* Both NaN, or equal, or within relative 1e-12; zero only equals zero. */
int vectors_close(double want, double got);

#endif
