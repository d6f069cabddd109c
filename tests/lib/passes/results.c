/* SPDX-License-Identifier: Apache-2.0 */
/* results.c - what a command printed under --json. */
#include "tests/lib/passes/results.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

cJSON *pm_test_results(cJSON *answer)
{
	cJSON *list = cJSON_DetachItemFromObject(answer, "results");

	if (!cJSON_IsArray(list) || !cJSON_IsNull(cJSON_GetObjectItem(answer, "error")))
		fail_msg("no results: %s", pm_json_str(answer, "error", "the object has no such list"));
	cJSON_Delete(answer);
	return list;
}
