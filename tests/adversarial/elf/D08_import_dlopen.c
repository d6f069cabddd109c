/* SPDX-License-Identifier: Apache-2.0 */
/* D08_import_dlopen.c - opens libraries itself */
// build: published
#include "tests/adversarial/passes/attack.h"

extern void *dlopen(const char *name, int flags);

void *(*volatile keep)(const char *, int) = dlopen;

PM_RULE(silu, .pattern = SILU, .rewrite = honest);

PM_PLUGIN("D08_import_dlopen", "1", &silu)
