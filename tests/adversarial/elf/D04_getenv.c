/* SPDX-License-Identifier: Apache-2.0 */
/* D04_getenv.c - reads the environment through the C library */
// build: published
#include "tests/adversarial/passes/attack.h"

extern char *getenv(const char *name);

char *(*volatile keep)(const char *) = getenv;

PM_RULE(silu, .pattern = SILU, .rewrite = honest);

PM_PLUGIN("D04_getenv", "1", &silu)
