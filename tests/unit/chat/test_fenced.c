/* SPDX-License-Identifier: Apache-2.0 */
/* test_fenced.c - files and calls of tools in plain text. */
#include "app/chat/fenced.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* What was read, one word for each: "path=content;" and "name(arguments)" or "name!" for an error. */
static void is(const char *text, const char *want)
{
	cJSON *files = cJSON_CreateArray(), *calls = cJSON_CreateArray(), *j;
	PmStr got = PM_STR_INIT;

	assert_int_equal(pm_fenced_read(text, files, calls), 0);
	cJSON_ArrayForEach(j, files)
		pm_str_addf(&got, "%s=%s;", pm_json_str(j, "path", "?"), pm_json_str(j, "content", "?"));
	cJSON_ArrayForEach(j, calls)
	{
		const cJSON *args = cJSON_GetObjectItemCaseSensitive(j, "arguments");

		pm_str_add(&got, pm_json_str(j, "name", "?"));
		assert_true(!args == !!pm_json_str(j, "error", NULL));
		if (args)
			pm_json_print(args, 0, &got);
		else
			pm_str_add(&got, "!");
	}
	assert_string_equal(got.s, want);
	pm_str_release(&got);
	cJSON_Delete(files);
	cJSON_Delete(calls);
}

static void files_are_found(void **state)
{
	(void)state;
	is("", "");
	is("no block", "");
	is("text\n```c pass.c\nint x;\n```\nmore", "pass.c=int x;\n;");
	is("```c:pass.c\nint x;\n```", "pass.c=int x;\n;");
	is("```c name=pass.c\n1\n```\n```cuda file=\"k.cu\"\n2\n```", "pass.c=1\n;k.cu=2\n;");
	is("```src/pass.c\n1\n```", "src/pass.c=1\n;");
	is("  ~~~c {name=pass.c}\n1\n  ~~~", "pass.c=1\n;");
	is("```c pass.c\r\n1\r\n```\r\n", "pass.c=1\r\n;");
	is("````c pass.c\n```\ninside\n```\n````", "pass.c=```\ninside\n```\n;");
	is("```c pass.c\nnobody ends it", "pass.c=nobody ends it;");
	is("```c pass.c", "pass.c=;");
	is("```c ../../etc/passwd\nx\n```", "../../etc/passwd=x\n;"); /* the tool refuses it */
}

static void a_block_without_a_name(void **state)
{
	(void)state;
	is("```c\n1\n```", "pass.c=1\n;");
	is("```C\n1\n```\n```sh\nls\n```", "pass.c=1\n;");
	is("```c\n1\n```\n```c\n2\n```", "");
	is("```c\n1\n```\n```c pass.c\n2\n```", "pass.c=2\n;");
	is("```\n1\n```", "");
}

static void calls_are_found(void **state)
{
	(void)state;
	is("```tool\n{\"name\": \"build\", \"arguments\": {\"a\": 1}}\n```", "build{\"a\":1}\n");
	is("```tool\n{\"name\": \"build\"}\n```", "build{}\n");
	is("```tool\n{\"name\": \"build\", \"arguments\": 3}\n```", "build!");
	is("```tool\nbuild\n```", "!");
	is("```tool\n[]\n```", "!");
	is("```tool\n", "!");
}

static void there_is_a_bound(void **state)
{
	cJSON *files = cJSON_CreateArray(), *calls = cJSON_CreateArray();
	PmStr text = PM_STR_INIT;

	(void)state;
	for (int i = 0; i < PM_FENCED_MAX + 5; i++)
		pm_str_addf(&text, "```c f%d.c\n%d\n```\n", i, i);
	assert_int_equal(pm_fenced_read(text.s, files, calls), 5);
	assert_int_equal(cJSON_GetArraySize(files), PM_FENCED_MAX);
	pm_str_release(&text);
	cJSON_Delete(files);
	cJSON_Delete(calls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_found),
		cmocka_unit_test(a_block_without_a_name),
		cmocka_unit_test(calls_are_found),
		cmocka_unit_test(there_is_a_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
