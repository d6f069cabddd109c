/* SPDX-License-Identifier: Apache-2.0 */
/* serve_error.h - what libpassmith_rt says, as an error of this program. */
#ifndef APP_SERVE_SERVE_ERROR_H
#define APP_SERVE_SERVE_ERROR_H

#include "base/core/err.h"
#include "rt/passmith_rt.h"

/* PM_OK for PM_RT_OK; else the status that belongs to the code, with the sentence of *e. */
PmStatus pm__serve_error(int code, const PmRtError *e, PmErr *err);

#endif
