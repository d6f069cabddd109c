/* D03_needed.c - brings another library along */
// build: -Wl,--no-as-needed -lm -Wl,-z,noexecstack
#include "tests/adversarial/attack.h"

extern double cos(double);

double (*volatile keep)(double) = cos;

PM_RULE(silu, .pattern = SILU, .rewrite = honest);

PM_PLUGIN("D03_needed", "1", &silu)
