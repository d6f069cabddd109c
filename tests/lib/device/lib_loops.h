/* SPDX-License-Identifier: Apache-2.0 */
/* lib_loops.h - what a library call says, by plain loops in double on a device's buffers. */
#ifndef TESTS_LIB_LIB_LOOPS_H
#define TESTS_LIB_LIB_LOOPS_H

#include "runtime/device/device.h"

/* Runs the call on its arguments, as library.h lays them out; the case fails when they are not as it says. */
void lib_loops_run(PmDevice *d, const PmLibCall *c, const PmDevArg *args);

#endif
