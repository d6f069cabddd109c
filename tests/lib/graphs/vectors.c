/* SPDX-License-Identifier: Apache-2.0 */
/* vectors.c - test vectors as JSON: finding the files and comparing numbers. */
#include "tests/lib/graphs/vectors.h"

#include "base/sys/io.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cJSON *vectors_load(VectorSet set, const char *name)
{
	const char *shared = getenv("PASSMITH_SHARED");
	PmStr text = PM_STR_INIT;
	char path[4096];
	cJSON *j = NULL;
	PmErr err;

	pm_err_init(&err);
	if (set == VECTORS_OWN)
		snprintf(path, sizeof path, "tests/golden/scoring/%s", name);
	else
		snprintf(path, sizeof path, "%s/spec/golden_scoring/%s",
			 shared && *shared ? shared : "../shared", name);
	if (set == VECTORS_SHARED && !pm_path_exists(path))
		pm_test_skip("%s is not here (PASSMITH_SHARED names the folder with spec/)", path);
	if (pm_read_file(path, 0, &text, &err) != PM_OK || pm_json_parse(text.s, text.len, &j, &err) != PM_OK)
		print_error("%s: %s\n", path, err.text);
	pm_str_release(&text);
	assert_non_null(j);
	return j;
}

double vectors_num(const cJSON *j)
{
	if (cJSON_IsNumber(j))
		return j->valuedouble;
	if (cJSON_IsString(j) && strcmp(j->valuestring, "inf") == 0)
		return INFINITY;
	if (cJSON_IsString(j) && strcmp(j->valuestring, "-inf") == 0)
		return -INFINITY;
	return NAN;
}

int vectors_close(double want, double got)
{
	if (isnan(want) || isnan(got))
		return isnan(want) && isnan(got);
	if (want == got)
		return 1;
	if (want == 0 || got == 0 || isinf(want) || isinf(got))
		return 0;
	return fabs(want - got) <= 1e-12 * fabs(want);
}
