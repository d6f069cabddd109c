/* SPDX-License-Identifier: Apache-2.0 */
/* test_trajectory.c - what an agent does becomes steps: messages, calls, files as diffs; secrets and paths do
 * not. */
#include "app/trajectory/diff.h"
#include "app/trajectory/files.h"
#include "app/trajectory/protocol.h"
#include "app/trajectory/recorder.h"
#include "app/trajectory/redact.h"
#include "base/core/rng.h"
#include "base/sys/io.h"
#include "dataset/store/trajectories.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static int set_up(void **state)
{
	PmStr *dir = calloc(1, sizeof *dir);

	pm_str_init(dir);
	assert_int_equal(pm_temp_dir("trajectory", dir, NULL), PM_OK);
	*state = dir;
	return 0;
}

static int tear_down(void **state)
{
	PmStr *dir = *state;

	assert_int_equal(pm_remove_tree(dir->s, NULL), PM_OK);
	pm_str_release(dir);
	free(dir);
	return 0;
}

static PmStr path_in(const PmStr *dir, const char *name)
{
	PmStr p = PM_STR_INIT;

	pm_path_join(dir->s, name, &p);
	return p;
}

static cJSON *parse(const char *text)
{
	cJSON *j = NULL;
	PmErr err;

	pm_err_init(&err);
	if (pm_json_parse(text, strlen(text), &j, &err))
		fail_msg("%s: %s", err.text, text);
	return j;
}

/* ---- diffs ---- */

static void round_trip(const char *a, const char *b, const char *want)
{
	PmStr diff = PM_STR_INIT, made = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	assert_true(pm_diff_unified(a, b, &diff));
	if (want)
		assert_string_equal(diff.s, want);
	if (pm_diff_apply(a, diff.s, &made, &err))
		fail_msg("%s\n%s", err.text, diff.s);
	assert_string_equal(made.s, b);
	pm_str_release(&diff);
	pm_str_release(&made);
}

static void diffs_are_unified_and_apply(void **state)
{
	(void)state;
	round_trip("", "", "");
	round_trip("a\n", "a\n", "");
	round_trip("", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n");
	round_trip("a\nb\n", "", "@@ -1,2 +0,0 @@\n-a\n-b\n");
	round_trip("a\nb\nc\n", "a\nx\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
	round_trip("a", "a\n", "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n");
	round_trip("a\nb", "a\nb\nc", NULL);
	round_trip("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n", "1\nx\n3\n4\n5\n6\n7\n8\n9\n10\ny\n12\n",
		   "@@ -1,5 +1,5 @@\n 1\n-2\n+x\n 3\n 4\n 5\n@@ -8,5 +8,5 @@\n 8\n 9\n 10\n-11\n+y\n 12\n");
	round_trip("-- a\n+b\n@@ -1,2 +3,4 @@\n\\ c\n", "@@ -1,2 +3,4 @@\n\\ d\n-- a\n", NULL);
}

static void random_texts_are_diffed_and_made_again(void **state)
{
	PmRng rng;

	(void)state;
	pm_rng_init(&rng, 7);
	for (int k = 0; k < 3000; k++) {
		PmStr t[2] = { PM_STR_INIT, PM_STR_INIT };

		for (int i = 0; i < 2; i++) {
			int64_t n = pm_rng_range(&rng, 0, 24);

			while (n--)
				pm_str_addf(&t[i], "%lld%s", (long long)pm_rng_range(&rng, 0, 5),
					    n || pm_rng_range(&rng, 0, 3) ? "\n" : "");
		}
		round_trip(t[0].s, t[1].s, NULL);
		pm_str_release(&t[0]);
		pm_str_release(&t[1]);
	}
}

static void a_diff_of_another_text_is_refused(void **state)
{
	static const char *const wrong[] = { "@@ -1,3 +1,3 @@\n a\n-z\n+x\n c\n",
					     "@@ -9,1 +9,1 @@\n-a\n",
					     "@@ x\n",
					     "+a\n",
					     "nonsense",
					     "@@ -1,1 +1,1 @@\nnonsense\n",
					     "@@ -2,1 +2,1 @@\n-b\n@@ -1,1 +1,1 @@\n-a\n" };

	(void)state;
	for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
		PmStr made = PM_STR_INIT;

		assert_int_equal(pm_diff_apply("a\nb\nc\n", wrong[k], &made, NULL), PM_E_INVALID);
		pm_str_release(&made);
	}
}

/* ---- files ---- */

static void changes_of_files_lead_to_the_same_files(void **state)
{
	PmFiles a = { 0 }, b = { 0 };
	cJSON *changes = cJSON_CreateArray();
	char da[PM_SHA256_HEX], db[PM_SHA256_HEX];
	PmStr big = PM_STR_INIT, other = PM_STR_INIT;

	(void)state;
	for (int k = 0; k < 1500; k++) {
		pm_str_addf(&big, "line %d\n", k);
		pm_str_addf(&other, "another %d\n", k);
	}
	pm_files_set(&a, "z.c", big.s, big.len, changes);
	assert_int_equal(cJSON_GetArraySize(changes), 1);
	pm_files_set(&a, "z.c", big.s, big.len, changes);
	assert_int_equal(cJSON_GetArraySize(changes), 1); /* as it was */
	pm_files_set(&a, "a.c", "x\n", 2, changes);
	memcpy(big.s + 50, "LINE", 4);
	pm_files_set(&a, "z.c", big.s, big.len, changes);
	assert_non_null(pm_json_str(cJSON_GetArrayItem(changes, 2), "diff", NULL));
	assert_true(strlen(pm_json_str(cJSON_GetArrayItem(changes, 2), "diff", "")) < 200);
	pm_files_set(&a, "z.c", other.s, other.len, changes); /* too different for a diff */
	assert_null(pm_json_str(cJSON_GetArrayItem(changes, 3), "diff", NULL));
	pm_files_set(&a, "a.c", NULL, 0, changes);
	pm_files_set(&a, "b.bin", "a\0b", 3, changes);
	assert_int_equal(pm_files_apply(&b, changes, NULL), PM_OK);
	pm_files_digest(&a, da);
	pm_files_digest(&b, db);
	assert_string_equal(da, db);
	assert_null(pm_files_get(&b, "a.c"));
	assert_string_equal(pm_files_get(&b, "z.c")->text, other.s);
	assert_true(pm_files_get(&b, "b.bin")->too_long);
	pm_files_release(&b);
	cJSON_ReplaceItemInObject(cJSON_GetArrayItem(changes, 2), "diff", cJSON_CreateString(""));
	assert_int_equal(pm_files_apply(&b, changes, NULL), PM_E_INVALID);
	pm_files_release(&a);
	pm_files_release(&b);
	cJSON_Delete(changes);
	pm_str_release(&big);
	pm_str_release(&other);
}

/* ---- recorder ---- */

static PmRecorder *open_recorder(const PmStr *dir, const char *instance, const char *const *secrets)
{
	PmStr db = path_in(dir, "t.db"), ws = path_in(dir, "work");
	PmRecorderOpts o = { .db = db.s,
			     .kind = "agent",
			     .model = "m-1",
			     .seed = 3,
			     .machine = "test",
			     .instance = instance,
			     .workspace = ws.s,
			     .secrets = secrets };
	PmRecorder *r = NULL;
	PmErr err;

	pm_err_init(&err);
	assert_int_equal(pm_mkdirs(ws.s, NULL), PM_OK);
	if (pm_recorder_open(&o, &r, &err))
		fail_msg("%s", err.text);
	pm_str_release(&db);
	pm_str_release(&ws);
	return r;
}

static void call(PmRecorder *r, const char *tool, const char *args, const char *answer)
{
	cJSON *a = parse(args), *b = parse(answer);
	PmRecordedCall c = { .tool = tool, .args = a, .answer = b, .began = 1000, .seconds = 0.5 };
	PmErr err;

	pm_err_init(&err);
	if (pm_recorder_call(r, &c, &err))
		fail_msg("%s", err.text);
	cJSON_Delete(a);
	cJSON_Delete(b);
}

static void write_in(const PmStr *dir, const char *name, const char *text)
{
	PmStr p = path_in(dir, name);

	assert_int_equal(pm_write_file(p.s, text, strlen(text), NULL), PM_OK);
	pm_str_release(&p);
}

static PmStatus add_step_text(void *arg, const PmStepRow *s, PmErr *err)
{
	(void)err;
	pm_str_addf(arg, "%lld %s %s %s %g %lld %s %s\n", (long long)s->ordinal, s->role, s->name, s->verdict,
		    s->score, (long long)s->tokens_out, s->json, s->files);
	return PM_OK;
}

static void stored(const PmStr *dir, int64_t id, PmStr *out)
{
	PmStr path = path_in(dir, "t.db");
	PmDb *db = NULL;

	assert_int_equal(pm_db_open(path.s, PM_DB_READ_ONLY, &db, NULL), PM_OK);
	assert_int_equal(pm_steps_each(db, id, add_step_text, out, NULL), PM_OK);
	pm_db_close(db);
	pm_str_release(&path);
}

static void a_session_becomes_steps(void **state)
{
	PmRecorder *r = open_recorder(*state, "sample 1", NULL);
	cJSON *calls = parse("[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"write_file\","
			     "\"arguments\":\"{\\\"path\\\":\\\"p.c\\\"}\"}}]");
	PmRecordedMessage m = { "assistant", "I write.", "hm", calls, 1000, 2.5, 100, 20, 0.01 };
	PmStr s = PM_STR_INIT;
	int64_t id = pm_recorder_id(r);

	assert_int_equal(pm_recorder_message(r, &m, NULL), PM_OK);
	write_in(*state, "work/p.c", "int a;\nint b;\n");
	call(r, "write_file", "{\"path\":\"p.c\",\"text\":\"int a;\\nint b;\\n\"}", "{\"path\":\"p.c\"}");
	call(r, "evaluate", "{\"task\":\"t\"}", "{\"run\":\"r1\",\"state\":\"running\"}");
	pm_recorder_close(r); /* cut off, and gone on with */
	r = open_recorder(*state, "sample 1", NULL);
	assert_int_equal(pm_recorder_id(r), id);
	assert_int_equal(pm_recorder_steps(r), 3);
	call(r, "get_run", "{\"run\":\"r1\"}", "{\"run\":\"r1\",\"verdict\":\"OK\",\"score\":1.5}");
	write_in(*state, "work/p.c", "int a;\nint c;\n");
	call(r, "edit_file", "{\"path\":\"p.c\",\"old_text\":\"b\",\"new_text\":\"c\"}",
	     "{\"path\":\"p.c\"}");
	assert_int_equal(pm_recorder_end(r, "done", NULL), PM_OK);
	pm_recorder_close(r);
	stored(*state, id, &s);
	assert_non_null(strstr(
		s.s, "0 assistant   nan 20 {\"content\":\"I write.\",\"reasoning\":\"hm\",\"tool_calls\":[{"
		     "\"id\":\"c1\",\"name\":\"write_file\",\"arguments\":{\"path\":\"p.c\"}}]} []\n"));
	assert_non_null(strstr(s.s, "1 tool write_file  nan -1 {\"id\":\"call_1\","));
	assert_non_null(strstr(s.s, "[{\"path\":\"p.c\",\"text\":\"int a;\\nint b;\\n\",\"sha256\":"));
	assert_non_null(strstr(s.s, "3 tool get_run OK 1.5 "));
	assert_non_null(strstr(s.s, "\"text\":\"int a;\\nint c;\\n\"")); /* shorter than its diff */
	pm_str_release(&s);
	cJSON_Delete(calls);
}

/* ---- messages of the protocol ---- */

/* What is on the wire, "<" from the client and ">" to it. */
static const char *const wire[] = {
	"<{\"id\":1,\"method\":\"initialize\",\"params\":{\"clientInfo\":{\"name\":\"c\",\"version\":\"2\"}}"
	"}",
	">{\"id\":1,\"result\":{}}",
	"<{\"method\":\"notifications/initialized\"}",
	"<{\"id\":2,\"method\":\"tools/list\"}",
	">{\"id\":2,\"result\":{\"tools\":[]}}",
	"<{\"id\":3,\"method\":\"prompts/get\",\"params\":{\"name\":\"p\"}}",
	">{\"id\":3,\"result\":{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":"
	"\"Write it.\"}}]}}",
	"<{\"id\":\"a\",\"method\":\"tools/call\",\"params\":{\"name\":\"check\",\"arguments\":{\"x\":1}}}",
	"<{\"id\":5,\"method\":\"tools/call\",\"params\":{\"name\":\"build\"}}",
	">{\"method\":\"notifications/progress\",\"params\":{\"progressToken\":5}}",
	">{\"id\":5,\"result\":{\"structuredContent\":{\"ok\":true},\"content\":[]}}",
	"<{\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"a\"}}",
	"<{\"id\":6,\"method\":\"resources/read\",\"params\":{\"uri\":\"passmith://x\",\"_meta\":{}}}",
	">{\"id\":6,\"result\":{\"contents\":[{\"uri\":\"passmith://x\",\"text\":\"t\"}]}}",
	"<{\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"no\"}}",
	">{\"id\":7,\"error\":{\"code\":-32602,\"message\":\"no tool\"}}",
	">{\"id\":99,\"result\":{}}",
	"<{\"id\":8,\"method\":\"tools/call\",\"params\":{\"name\":\"evaluate\"}}",
};

static void messages_of_the_protocol_become_steps(void **state)
{
	static const char want[] =
		"0 user   nan -1 {\"content\":\"Write it.\"} []\n"
		"1 tool build  nan -1 "
		"{\"id\":\"call_1\",\"arguments\":{},\"answer\":{\"ok\":true},\"is_error\":false} []\n"
		"2 tool check  nan -1 "
		"{\"id\":\"call_2\",\"arguments\":{\"x\":1},\"answer\":{\"error\":\"cancelled by the "
		"client\"},\"is_error\":true} []\n"
		"3 tool read_resource  nan -1 "
		"{\"id\":\"call_3\",\"arguments\":{\"uri\":\"passmith://x\"},\"answer\":{"
		"\"content\":[{\"uri\":\"passmith://x\",\"text\":\"t\"}]},\"is_error\":false} []\n"
		"4 tool no  nan -1 {\"id\":\"call_4\",\"arguments\":{},\"answer\":{\"error\":\"no "
		"tool\"},\"is_error\":true} []\n"
		"5 tool evaluate  nan -1 {\"id\":\"call_5\",\"arguments\":{},\"answer\":{\"error\":\"the "
		"session ended "
		"first\"},\"is_error\":true} []\n";
	PmStr db = path_in(*state, "t.db"), s = PM_STR_INIT;
	PmProtocolRecorder *r = pm_protocol_recorder_new(db.s, NULL, "emu");

	for (size_t k = 0; k < sizeof wire / sizeof *wire; k++) {
		cJSON *j = parse(wire[k] + 1);

		pm_protocol_recorder_message(r, *wire[k] == '<', j);
		cJSON_Delete(j);
	}
	pm_protocol_recorder_end(r);
	stored(*state, 1, &s);
	assert_string_equal(s.s, want);
	pm_str_release(&db);
	pm_str_release(&s);
}

/* Serving goes on when nothing can be stored. */
static void a_database_that_cannot_be_written_stops_nothing(void **state)
{
	PmStr db = path_in(*state, "no/such/folder/t.db");
	PmProtocolRecorder *r = pm_protocol_recorder_new(db.s, NULL, "emu");

	for (size_t k = 0; k < sizeof wire / sizeof *wire; k++) {
		cJSON *j = parse(wire[k] + 1);

		pm_protocol_recorder_message(r, *wire[k] == '<', j);
		cJSON_Delete(j);
	}
	pm_protocol_recorder_end(r);
	assert_int_equal(pm_path_exists(db.s), 0);
	pm_str_release(&db);
}

/* ---- secrets and paths ---- */

static const struct {
	const char *text, *want;
} forms[] = {
	{ "nothing to take out: a/b/c, 1/2, x // y, task-kernel, passmith://runs/r1, https://host/a/b",
	  "nothing to take out: a/b/c, 1/2, x // y, task-kernel, passmith://runs/r1, https://host/a/b" },
	{ "#include \"../a/b.h\" /* ./a/b ${X}/a/b */ <sys/types.h> /dev/null",
	  "#include \"../a/b.h\" /* ./a/b ${X}/a/b */ <sys/types.h> /dev/null" },
	{ "sk-proj-0123456789abcdef, (ghp_0123456789abcdefghij) hf_0123456789abcdefghijklmn",
	  "<secret>, (<secret>) <secret>" },
	{ "Authorization: Bearer ab.cd\nnext", "Authorization: <secret>\nnext" },
	{ "{\"authorization\": \"Basic dXNlcg==\", \"x\": 1}",
	  "{\"authorization\": \"<secret>\", \"x\": 1}" },
	{ "{\\\"secret\\\":\\\"00ff\\\"}", "{\\\"secret\\\":\\\"<secret>\\\"}" },
	{ "x-api-key: abc; token Bearer 0123456789", "x-api-key: <secret>" },
	{ "curl -H 'Bearer 0123456789'", "curl -H 'Bearer <secret>'" },
	{ "https://user:pass@host/x", "https://<secret>@host/x" },
	{ "secret 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.", "secret <secret>." },
	{ "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\nx", "<secret>\nx" },
	{ "in /srv/bob/x.c:3, '/home/bob', (/home/bob) /home/bob. >/opt/a/b",
	  "in <path>/x.c:3, '<path>', (<path>) <path> ><path>/b" },
	{ "file:///srv/a/b and a=\\/srv\\/a\\/b", "file://<path>/b and a=\\<path>/b" },
	{ "<home>/a/b <path>/c/d", "<home>/a/b <path>/c/d" },
	{ "a\xff\xc3z", "a\xef\xbf\xbd\xef\xbf\xbdz" },
	{ "int token = cookie[1]; /* secret of it */", "int token = cookie[1]; /* secret of it */" },
};

static void secrets_and_paths_are_known_by_their_form(void **state)
{
	PmRedact *r = pm_redact_new();

	(void)state;
	for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
		PmStr once = PM_STR_INIT, twice = PM_STR_INIT;

		pm_redact_text(r, forms[k].text, &once);
		assert_string_equal(once.s, forms[k].want);
		pm_redact_text(r, once.s, &twice);
		assert_string_equal(twice.s, once.s); /* taking out again changes nothing */
		pm_str_release(&once);
		pm_str_release(&twice);
	}
	pm_redact_free(r);
}

/* What must be found nowhere. */
static const char *const planted[] = { "hunter2-hunter2",
				       "quo\"te\\d-key",
				       "environment-secret-1",
				       "sk-ant-0123456789abcdef",
				       "dXNlcjpwYXNz",
				       "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00",
				       "/home/bob",
				       "/srv/private" };

/* All of it, with the folders of this test, as one text. */
static void plant(const PmStr *dir, PmStr *out)
{
	char *cwd = getcwd(NULL, 0);

	pm_str_addf(out, "%s/x %s/work/y %s/z ", dir->s, dir->s, cwd);
	pm_str_add(out, "Authorization: Basic dXNlcjpwYXNz\n{\"secret\": \"");
	pm_str_addf(out, "%s\"} %s %s %s %s %s/notes.txt '%s/models/a.onnx'", planted[5], planted[0],
		    planted[1], planted[2], planted[3], planted[6], planted[7]);
	free(cwd);
}

static void nothing_planted(const char *what, const char *text, const PmStr *dir)
{
	char *cwd = getcwd(NULL, 0);

	for (size_t k = 0; k < sizeof planted / sizeof *planted; k++)
		if (strstr(text, planted[k]))
			fail_msg("%s has \"%s\": %s", what, planted[k], text);
	if (strstr(text, dir->s) || strstr(text, cwd) || strstr(text, "te\\\\d-key") ||
	    strstr(text, "te\\\\\\\\d-key"))
		fail_msg("%s names a folder, or a key: %s", what, text);
	free(cwd);
}

/* One of everything that can be said, with `text` wherever a text may be. */
static void say_everything(const PmStr *dir, const char *text)
{
	PmStr db = path_in(dir, "t.db"), ws = path_in(dir, "work"), nested = PM_STR_INIT;
	const char *const secrets[] = { planted[0], planted[1], NULL };
	cJSON *j = cJSON_CreateObject(), *calls = cJSON_CreateArray(), *c = cJSON_CreateObject();
	PmRecorderOpts o = { db.s, "agent", NULL, text, 1, text, text, text, j, 0, ws.s, secrets };
	PmRecordedMessage m = { "assistant", text, text, calls, 0, NAN, -1, -1, NAN };
	PmRecordedCall call = { text, "write_file", j, j, 0, 0, NAN };
	PmRecorder *r = NULL;

	cJSON_AddStringToObject(j, "a", text);
	cJSON_AddStringToObject(j, text, "b");
	cJSON_AddStringToObject(cJSON_AddObjectToObject(j, "hidden"), "secret", planted[5]);
	pm_json_print(j, 0, &nested);
	cJSON_AddStringToObject(j, "nested", nested.s);
	cJSON_AddStringToObject(c, "id", text);
	cJSON_AddStringToObject(c, "name", text);
	cJSON_AddStringToObject(c, "arguments", nested.s);
	cJSON_AddItemToArray(calls, c);
	assert_int_equal(pm_mkdirs(ws.s, NULL), PM_OK);
	assert_int_equal(pm_recorder_open(&o, &r, NULL), PM_OK);
	write_in(dir, "work/sk-ant-0123456789abcdef.c", text);
	assert_int_equal(pm_recorder_message(r, &m, NULL), PM_OK);
	assert_int_equal(pm_recorder_call(r, &call, NULL), PM_OK);
	call.tool = text;
	call.is_error = 1;
	assert_int_equal(pm_recorder_call(r, &call, NULL), PM_OK);
	pm_recorder_file(r, text, text);
	call.tool = "evaluate";
	assert_int_equal(pm_recorder_call(r, &call, NULL), PM_OK);
	pm_recorder_close(r);
	cJSON_Delete(j);
	cJSON_Delete(calls);
	pm_str_release(&db);
	pm_str_release(&ws);
	pm_str_release(&nested);
}

static void what_is_planted_everywhere_is_stored_nowhere(void **state)
{
	const PmStr *dir = *state;
	PmStr text = PM_STR_INIT, db = path_in(dir, "t.db"), all = PM_STR_INIT;

	assert_int_equal(setenv("PLANTED_BY_TEST_TOKEN", planted[2], 1), 0);
	plant(dir, &text);
	say_everything(dir, text.s);
	stored(dir, 1, &all);
	assert_true(all.len > 2000);
	assert_non_null(strstr(all.s, "<secret>"));
	assert_non_null(strstr(all.s, "<workspace>/y"));
	assert_non_null(strstr(all.s, "<path>/notes.txt"));
	nothing_planted("a step", all.s, dir);
	pm_str_clear(&all);
	assert_int_equal(pm_read_file(db.s, 0, &all, NULL), PM_OK); /* every byte of the file */
	for (size_t k = 0; k < all.len; k++)
		if (!all.s[k])
			all.s[k] = ' ';
	nothing_planted("the database", all.s, dir);
	assert_int_equal(unsetenv("PLANTED_BY_TEST_TOKEN"), 0);
	pm_str_release(&text);
	pm_str_release(&db);
	pm_str_release(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(diffs_are_unified_and_apply),
		cmocka_unit_test(random_texts_are_diffed_and_made_again),
		cmocka_unit_test(a_diff_of_another_text_is_refused),
		cmocka_unit_test(changes_of_files_lead_to_the_same_files),
		cmocka_unit_test_setup_teardown(a_session_becomes_steps, set_up, tear_down),
		cmocka_unit_test_setup_teardown(messages_of_the_protocol_become_steps, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_database_that_cannot_be_written_stops_nothing, set_up,
						tear_down),
		cmocka_unit_test(secrets_and_paths_are_known_by_their_form),
		cmocka_unit_test_setup_teardown(what_is_planted_everywhere_is_stored_nowhere, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
