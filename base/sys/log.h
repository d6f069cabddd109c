/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - messages for people on stderr. PASSMITH_LOG=matcher:debug,runtime:info sets levels by
 * category (= folder); default is warn. --quiet sets error. Off costs one load and a branch. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/core/err.h"

typedef enum { PM_LOG_ERROR, PM_LOG_WARN, PM_LOG_INFO, PM_LOG_DEBUG } PmLogLevel;

/* What is shown of categories that PASSMITH_LOG does not name: this level and all before it. */
void pm_log_set_level(PmLogLevel level);
/* 1 when a message of that level and category would be written. */
int pm_log_enabled(PmLogLevel level, const char *category);
/* One line "category: text" on stderr (prefixed "warning: " / "error: " where it applies). */
void pm_log(PmLogLevel level, const char *category, const char *fmt, ...) PM_PRINTF(3, 4);

#endif
