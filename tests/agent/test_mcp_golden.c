/* SPDX-License-Identifier: Apache-2.0 */
/* test_mcp_golden.c - transcripts of tests/golden/mcp said to passmith mcp: it answers as it is written
 * there.
 *
 * Each line of a transcript is an object of one member: "client", a message that is said; "raw", a text that
 * is said as it is; "server", what is answered then. What is written in other places stands there as "...":
 * tables of tools, lists of resources, versions, and texts of more than 200 bytes. PM_GOLDEN_UPDATE=1 writes
 * the answers anew (make golden-update).
 */
#include "base/sys/io.h"
#include "tests/lib/mcp_client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Needs what stands above. */
#include <cmocka.h>

enum { LONG_TEXT = 200 };

static void elsewhere(cJSON *parent, const char *key)
{
	cJSON_ReplaceItemInObjectCaseSensitive(parent, key, cJSON_CreateString("..."));
}

static int is_of_the_tools(const char *message)
{
	return !strncmp(message, "There is no tool", 16) || !strncmp(message, "There is no resource", 20);
}

/* What changes for reasons of its own becomes "...". */
static void normalise(cJSON *j)
{
	cJSON *child, *next;

	if (cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(j, "tools")))
		elsewhere(j, "tools");
	if (cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(j, "resources")))
		elsewhere(j, "resources");
	if (cJSON_IsString(cJSON_GetObjectItemCaseSensitive(j, "version")))
		elsewhere(j, "version");
	if (is_of_the_tools(pm_json_str(j, "message", "")))
		elsewhere(j, "message");
	if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(j, "isError")))
		elsewhere(cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(j, "content"), 0), "text");
	for (child = j->child; child; child = next) {
		next = child->next;
		if (cJSON_IsString(child) && strlen(child->valuestring) > LONG_TEXT)
			cJSON_SetValuestring(child, "...");
		else
			normalise(child);
	}
}

static void add_line(const char *key, cJSON *value, PmStr *out)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddItemToObject(j, key, value);
	pm_json_print(j, 0, out);
	cJSON_Delete(j);
}

/* Says a line of the transcript; 1 when it is one that has an answer. */
static int say(McpClient *c, const cJSON *line)
{
	const cJSON *m = cJSON_GetObjectItemCaseSensitive(line, "client");
	const char *raw = pm_json_str(line, "raw", NULL);
	PmStr s = PM_STR_INIT;

	if (raw) {
		mcp_say(c, raw);
		return 1;
	}
	pm_json_print(m, 0, &s);
	s.s[s.len - 1] = '\0';
	mcp_say(c, s.s);
	pm_str_release(&s);
	return cJSON_GetObjectItemCaseSensitive(m, "id") != NULL;
}

/* Says the transcript's lines and appends to *now what it is with the answers that came. */
static void replay(const char *text, const char *workspace, PmStr *now)
{
	McpClient c;

	mcp_start(&c, (const char *const[]){ "--workspace", workspace, NULL });
	for (const char *p = text, *end; (end = strchr(p, '\n')) != NULL; p = end + 1) {
		cJSON *line = NULL, *answer;

		assert_int_equal(pm_json_parse(p, (size_t)(end - p), &line, NULL), PM_OK);
		if (!cJSON_HasObjectItem(line, "server")) {
			pm_str_addn(now, p, (size_t)(end - p) + 1);
			if (say(&c, line)) {
				answer = mcp_message(&c);
				normalise(answer);
				add_line("server", answer, now);
			}
		}
		cJSON_Delete(line);
	}
	mcp_finish(&c); /* and nothing more was said */
}

static void differ(const char *name, const char *want, const char *got)
{
	size_t line = 1, at = 0;

	while (want[at] && want[at] == got[at])
		line += want[at++] == '\n';
	while (at && want[at - 1] != '\n')
		at--;
	fail_msg("%s:%zu: expected %.*s, got %.*s", name, line, (int)strcspn(want + at, "\n"), want + at,
		 (int)strcspn(got + at, "\n"), got + at);
}

static void transcripts_are_answered_as_written(void **state)
{
	static const char folder[] = "tests/golden/mcp";
	PmNames names = { 0 };

	(void)state;
	assert_int_equal(pm_list_dir(folder, &names, NULL), PM_OK);
	assert_true(names.n >= 5);
	for (size_t i = 0; i < names.n; i++) {
		PmStr path = PM_STR_INIT, text = PM_STR_INIT, now = PM_STR_INIT, dir = PM_STR_INIT;

		pm_path_join(folder, names.v[i], &path);
		assert_int_equal(pm_read_file(path.s, 0, &text, NULL), PM_OK);
		assert_int_equal(pm_temp_dir("mcp", &dir, NULL), PM_OK);
		replay(text.s, dir.s, &now);
		if (getenv("PM_GOLDEN_UPDATE"))
			assert_int_equal(pm_write_file(path.s, now.s, now.len, NULL), PM_OK);
		else if (strcmp(text.s, now.s) != 0)
			differ(names.v[i], text.s, now.s);
		pm_remove_tree(dir.s, NULL);
		pm_str_release(&path);
		pm_str_release(&text);
		pm_str_release(&now);
		pm_str_release(&dir);
	}
	pm_names_release(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(transcripts_are_answered_as_written) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
