/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - messages for people on stderr, filtered by level and category. */
#include "base/sys/log.h"

#include "base/core/clean.h"
#include "base/core/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_CATEGORIES = 16, NAME_BYTES = 24 };

static struct {
	int ready; /* PASSMITH_LOG has been read */
	PmLogLevel level, most;
	struct {
		char name[NAME_BYTES];
		PmLogLevel level;
	} own[MAX_CATEGORIES]; /* categories with a level of their own */
	size_t n_own;
} log_ = { 0, PM_LOG_WARN, PM_LOG_DEBUG, { { { 0 }, PM_LOG_ERROR } }, 0 };

static const char *const names[] = { "error", "warn", "info", "debug" };

static void find_most(void)
{
	size_t i;

	log_.most = log_.level;
	for (i = 0; i < log_.n_own; i++)
		if (log_.own[i].level > log_.most)
			log_.most = log_.own[i].level;
}

/* "matcher:debug,runtime:info"; a level alone is for all categories. Unknown words are left out. */
static void read_env(void)
{
	const char *p = getenv("PASSMITH_LOG");

	log_.ready = 1;
	while (p && *p) {
		size_t n = strcspn(p, ","), name = strcspn(p, ":,"), i;
		const char *level = name < n ? p + name + 1 : p;
		size_t len = (size_t)(p + n - level);

		for (i = 0; i < sizeof names / sizeof *names; i++) {
			if (strlen(names[i]) != len || memcmp(names[i], level, len) != 0)
				continue;
			if (name == n) {
				log_.level = (PmLogLevel)i;
			} else if (name < NAME_BYTES && log_.n_own < MAX_CATEGORIES) {
				memcpy(log_.own[log_.n_own].name, p, name);
				log_.own[log_.n_own++].level = (PmLogLevel)i;
			}
		}
		p += n + (p[n] == ',');
	}
	find_most();
}

void pm_log_set_level(PmLogLevel level)
{
	if (!log_.ready)
		read_env();
	log_.level = level;
	find_most();
}

int pm_log_enabled(PmLogLevel level, const char *category)
{
	size_t i;

	if (level > log_.most)
		return 0;
	if (!log_.ready)
		read_env();
	for (i = 0; i < log_.n_own; i++)
		if (pm_str_eq(log_.own[i].name, category))
			return level <= log_.own[i].level;
	return level <= log_.level;
}

void pm_log(PmLogLevel level, const char *category, const char *fmt, ...)
{
	PmStr line = PM_STR_INIT;
	char text[2 * PM_ERR_MAX];
	va_list ap;

	if (!pm_log_enabled(level, category))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	pm_clean_sentence(text, text, sizeof text);
	if (isatty(2)) /* a progress bar may stand on the line */
		pm_str_add(&line, "\r\033[K");
	if (level == PM_LOG_ERROR)
		pm_str_add(&line, "error: ");
	else if (level == PM_LOG_WARN)
		pm_str_add(&line, "warning: ");
	pm_str_addf(&line, "%s: %s\n", category, text);
	fflush(stdout); /* keeps the order of results and messages when both go to one file */
	fwrite(line.s, 1, line.len, stderr);
	pm_str_release(&line);
}
