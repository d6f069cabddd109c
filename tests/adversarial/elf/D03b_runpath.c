/* D03b_runpath.c - says where its libraries are to be searched */
// build: -nostdlib -nostartfiles -Wl,-z,now -Wl,-z,noexecstack -Wl,-z,separate-code -Wl,--build-id=none
// -Wl,-rpath,$ORIGIN
#include "tests/adversarial/attack.h"

PM_RULE(silu, .pattern = SILU, .rewrite = honest);

PM_PLUGIN("D03b_runpath", "1", &silu)
