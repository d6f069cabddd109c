/* SPDX-License-Identifier: Apache-2.0 */
/* held.h - what this process holds of the machine. */
#ifndef APP_SERVE_HELD_H
#define APP_SERVE_HELD_H

#include "app/serve/serve.h"

/* Of the GPU's memory nothing is said: see serve_gpu.h. */
void pm__held_now(PmServeHeld *out);

#endif
