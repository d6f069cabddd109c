/* SPDX-License-Identifier: Apache-2.0 */
/* arch_list.c - reads --arch. */
#include "cli/arch_list.h"

#include "base/core/str.h"

#include <stdlib.h>
#include <string.h>

static int add(PmArchList *a, const char *name)
{
	int64_t cc;

	if (!strcmp(name, "emu")) {
		a->emu = 1;
		return 1;
	}
	if (strncmp(name, "sm_", 3) != 0 || !pm_parse_i64(name + 3, &cc) || cc < 50 || cc > 999)
		return 0;
	for (size_t i = 0; i < a->n_cc; i++)
		if (a->cc[i] == cc)
			return 1;
	if (a->n_cc == PM_MAX_ARCHS)
		return 0;
	a->cc[a->n_cc++] = (int)cc;
	return 1;
}

int pm_arch_list(const PmCmd *cmd, const char *text, PmArchList *out)
{
	char *own = pm_xstrdup(text ? text : "emu"), *rest = own;
	int ok = 1;

	memset(out, 0, sizeof *out);
	for (char *part; ok && (part = strsep(&rest, ","));)
		ok = add(out, part);
	free(own);
	return ok ? 0
		  : pm_cli_usage(cmd,
				 "--arch takes emu and up to %d names as sm_90 with commas between them, and "
				 "'%.60s' is not that.",
				 PM_MAX_ARCHS, text);
}
