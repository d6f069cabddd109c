/* SPDX-License-Identifier: Apache-2.0 */
/* test_mcp.c - lines in, lines out: both eras of the protocol, malformed messages, calls in flight. */
#include "app/mcp/mcp.h"

#include "base/core/arena.h"
#include "base/sys/io.h"
#include "tests/lib/mcp_tools.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define META                                                                                                 \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                             \
	"\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define META_TOKEN                                                                                           \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"progressToken\":\"p\","     \
	"\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define NEW(id, method) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\",\"params\":{" META "}}"
#define CALL(id, name, args)                                                                                 \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{" META ",\"name\":\"" name \
	"\",\"arguments\":" args "}}"
#define OLD(id, method, params)                                                                              \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\",\"params\":{" params "}}"
#define HELLO(version)                                                                                       \
	OLD("0", "initialize",                                                                               \
	    "\"protocolVersion\":\"" version "\",\"capabilities\":{},"                                       \
	    "\"clientInfo\":{\"name\":\"test\",\"version\":\"1\"}")
#define CANCEL(id)                                                                                           \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":" id "}}"

typedef struct Fixture {
	TestTools tools;
	PmMcp *m;
	int from_client, to_client; /* messages recorded */
} Fixture;

static void record(void *arg, PmMcpDirection direction, const cJSON *message)
{
	Fixture *f = arg;

	assert_true(cJSON_IsObject(message));
	*(direction == PM_MCP_FROM_CLIENT ? &f->from_client : &f->to_client) += 1;
}

static int setup(void **state)
{
	Fixture *f = pm_xcalloc(1, sizeof *f);
	PmMcpOpts o = { .record = record, .record_arg = f };

	o.tools = pm_test_tools(&f->tools);
	f->m = pm_mcp_new(&o);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	Fixture *f = *state;

	pm_mcp_free(f->m);
	assert_null(f->tools.first); /* nothing outlives the server */
	pm_test_tools_release(&f->tools);
	free(f);
	return 0;
}

static void say(Fixture *f, const char *line)
{
	pm_mcp_line(f->m, line, strlen(line));
}

/* The next message that the server gave, which the caller frees; NULL when there is none. */
static cJSON *heard(Fixture *f)
{
	const PmStr *o = pm_mcp_out(f->m);
	const char *end = o->len ? memchr(o->s, '\n', o->len) : NULL;
	cJSON *j = NULL;
	PmErr err;

	if (!end)
		return NULL;
	pm_err_init(&err);
	if (pm_json_parse(o->s, (size_t)(end - o->s), &j, &err))
		fail_msg("%s", err.text);
	assert_string_equal(pm_json_str(j, "jsonrpc", ""), "2.0");
	pm_mcp_wrote(f->m, (size_t)(end - o->s) + 1);
	return j;
}

static void nothing_heard(Fixture *f)
{
	assert_int_equal(pm_mcp_out(f->m)->len, 0);
}

static const cJSON *at(const cJSON *j, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(j, key);
}

/* Says the line; the one answer is an error with this code, and this id (NULL: null). */
static cJSON *refused(Fixture *f, const char *line, int code, const char *id)
{
	cJSON *j;

	say(f, line);
	j = heard(f);
	assert_non_null(j);
	nothing_heard(f);
	if (!at(j, "error"))
		fail_msg("no error for %s", line);
	assert_int_equal(pm_json_i64(at(j, "error"), "code", 0), code);
	assert_true(*pm_json_str(at(j, "error"), "message", ""));
	if (id) {
		PmStr s = PM_STR_INIT;

		pm_json_print(at(j, "id"), 0, &s);
		assert_int_equal(strncmp(s.s, id, strlen(id)), 0);
		pm_str_release(&s);
	} else {
		assert_true(cJSON_IsNull(at(j, "id")));
	}
	return j;
}

static void refuse(Fixture *f, const char *line, int code, const char *id)
{
	cJSON_Delete(refused(f, line, code, id));
}

/* Says the line; the one answer is a result, which is the caller's with its message in *whole. */
static const cJSON *result(Fixture *f, const char *line, cJSON **whole)
{
	say(f, line);
	*whole = heard(f);
	assert_non_null(*whole);
	nothing_heard(f);
	if (!at(*whole, "result"))
		fail_msg("no result for %s", line);
	return at(*whole, "result");
}

/* Every result of the newer era says what it is and who gave it. */
static void is_new(const cJSON *r, const char *scope)
{
	assert_string_equal(pm_json_str(r, "resultType", ""), "complete");
	assert_string_equal(pm_json_str(at(at(r, "_meta"), "io.modelcontextprotocol/serverInfo"), "name", ""),
			    "passmith");
	if (scope)
		assert_string_equal(pm_json_str(r, "cacheScope", ""), scope);
	assert_int_equal(at(r, "ttlMs") != NULL, scope != NULL);
}

static void is_old(const cJSON *r)
{
	assert_null(at(r, "resultType"));
	assert_null(at(r, "ttlMs"));
	assert_null(at(r, "cacheScope"));
	assert_null(at(r, "_meta"));
}

static void the_newer_era_needs_no_beginning(void **state)
{
	static const struct {
		const char *line, *key, *scope;
	} cases[] = {
		{ NEW("1", "server/discover"), "supportedVersions", "public" },
		{ NEW("\"a\"", "tools/list"), "tools", "public" },
		{ NEW("2", "resources/list"), "resources", "private" },
		{ NEW("3", "resources/templates/list"), "resourceTemplates", "public" },
		{ NEW("4", "prompts/list"), "prompts", "public" },
		{ CALL("5", "echo", "{\"a\":1}"), "structuredContent", NULL },
	};
	Fixture *f = *state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		cJSON *j;
		const cJSON *r = result(f, cases[i].line, &j);

		is_new(r, cases[i].scope);
		assert_non_null(at(r, cases[i].key));
		cJSON_Delete(j);
	}
	assert_int_equal(f->from_client, 6);
	assert_int_equal(f->to_client, 6);
}

static void discover_names_what_an_envelope_may_name(void **state)
{
	cJSON *j;
	const cJSON *r = result(*state, NEW("1", "server/discover"), &j), *v = at(r, "supportedVersions");

	assert_int_equal(cJSON_GetArraySize(v), 1);
	assert_string_equal(v->child->valuestring, "2026-07-28");
	assert_non_null(at(at(r, "capabilities"), "tools"));
	assert_non_null(at(at(r, "capabilities"), "resources"));
	assert_non_null(at(at(r, "capabilities"), "prompts"));
	assert_null(at(at(r, "capabilities"), "logging"));
	cJSON_Delete(j);
}

static void an_envelope_says_what_it_must(void **state)
{
	Fixture *f = *state;
	cJSON *j;

	refuse(f,
	       OLD("1", "tools/list",
		   "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}"),
	       -32602, "1");
	refuse(f, OLD("1", "tools/list", "\"_meta\":{\"io.modelcontextprotocol/clientCapabilities\":{}}"),
	       -32602, "1");
	refuse(f,
	       OLD("1", "tools/list",
		   "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":7,"
		   "\"io.modelcontextprotocol/clientCapabilities\":{}}"),
	       -32602, "1");
	refuse(f,
	       OLD("1", "tools/list",
		   "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
		   "\"io.modelcontextprotocol/clientCapabilities\":3}"),
	       -32602, "1");
	refuse(f, OLD("1", "tools/list", ""), -32602, "1");
	refuse(f, OLD("1", "server/discover", ""), -32602, "1");
	refuse(f, NEW("1", "ping"), -32601, "1");
	refuse(f, NEW("1", "subscriptions/listen"), -32601, "1");
	refuse(f, NEW("1", "no/such"), -32601, "1");
	j = refused(f,
		    OLD("9", "tools/list",
			"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2031-01-01\","
			"\"io.modelcontextprotocol/clientCapabilities\":{}}"),
		    -32022, "9");
	assert_string_equal(pm_json_str(at(at(j, "error"), "data"), "requested", ""), "2031-01-01");
	assert_int_equal(cJSON_GetArraySize(at(at(at(j, "error"), "data"), "supported")), 3);
	cJSON_Delete(j);
	j = refused(f,
		    OLD("9", "tools/list",
			"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2025-11-25\","
			"\"io.modelcontextprotocol/clientCapabilities\":{}}"),
		    -32022, "9");
	assert_int_equal(cJSON_GetArraySize(at(at(at(j, "error"), "data"), "supported")), 1);
	cJSON_Delete(j);
}

static void the_older_era_begins_with_initialize(void **state)
{
	static const struct {
		const char *line, *version;
	} hellos[] = {
		{ HELLO("2025-11-25"), "2025-11-25" }, { HELLO("2025-06-18"), "2025-06-18" },
		{ HELLO("2019-01-01"), "2025-11-25" }, { HELLO("2026-07-28"), "2025-11-25" },
		{ HELLO(""), "2025-11-25" },
	};
	static const char *const lines[] = {
		OLD("1", "ping", ""),
		OLD("2", "tools/list", ""),
		OLD("3", "resources/list", ""),
		OLD("4", "resources/templates/list", ""),
		OLD("5", "prompts/list", ""),
		OLD("6", "tools/call", "\"name\":\"echo\""),
		OLD("7", "resources/read", "\"uri\":\"passmith://test/text\""),
	};
	Fixture *f = *state;
	const cJSON *r;
	cJSON *j;

	is_old(result(f, OLD("1", "ping", ""), &j)); /* which may be asked before */
	cJSON_Delete(j);
	refuse(f, OLD("0", "initialize", ""), -32602, "0");
	refuse(f, OLD("0", "initialize", "\"protocolVersion\":\"2025-11-25\""), -32602, "0");
	for (size_t i = 0; i < sizeof hellos / sizeof *hellos; i++) {
		r = result(f, hellos[i].line, &j);
		is_old(r);
		assert_string_equal(pm_json_str(r, "protocolVersion", ""), hellos[i].version);
		assert_string_equal(pm_json_str(at(r, "serverInfo"), "name", ""), "passmith");
		cJSON_Delete(j);
	}
	say(f, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
	nothing_heard(f);
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		is_old(result(f, lines[i], &j));
		cJSON_Delete(j);
	}
	refuse(f, OLD("8", "server/discover", ""), -32601, "8");
	refuse(f, OLD("8", "logging/setLevel", "\"level\":\"info\""), -32601, "8");
	refuse(f, OLD("8", "resources/subscribe", "\"uri\":\"x\""), -32601, "8");
	is_new(result(f, NEW("9", "tools/list"), &j), "public"); /* each request is of its own era */
	cJSON_Delete(j);
}

static void what_is_not_there_has_the_code_of_its_era(void **state)
{
	Fixture *f = *state;
	cJSON *j;

	j = refused(f, OLD("1", "resources/read", META ",\"uri\":\"passmith://no\""), -32602, "1");
	assert_string_equal(pm_json_str(at(at(j, "error"), "data"), "uri", ""), "passmith://no");
	cJSON_Delete(j);
	refuse(f, OLD("1", "resources/read", META), -32602, "1");
	refuse(f, OLD("1", "resources/read", META ",\"uri\":5"), -32602, "1");
	refuse(f, CALL("1", "no_such_tool", "{}"), -32602, "1");
	refuse(f, CALL("1", "echo", "[1]"), -32602, "1");
	refuse(f, OLD("1", "tools/call", META ",\"arguments\":{}"), -32602, "1");
	refuse(f, OLD("1", "tools/list", META ",\"cursor\":\"2\""), -32602, "1");
	refuse(f, OLD("1", "resources/list", META ",\"cursor\":\"2\""), -32602, "1");
	refuse(f, OLD("1", "resources/templates/list", META ",\"cursor\":\"2\""), -32602, "1");
	refuse(f, OLD("1", "prompts/list", META ",\"cursor\":\"\""), -32602, "1");
	refuse(f, OLD("1", "prompts/get", META ",\"name\":\"no\""), -32602, "1");
	refuse(f, OLD("1", "prompts/get", META ",\"name\":\"write_a_pass\""), -32602, "1");
	refuse(f, OLD("1", "prompts/get", META ",\"name\":\"write_a_pass\",\"arguments\":{\"task\":3}"),
	       -32602, "1");
	say(f, HELLO("2025-11-25"));
	cJSON_Delete(heard(f));
	refuse(f, OLD("1", "resources/read", "\"uri\":\"passmith://no\""), -32002, "1");
	refuse(f, OLD("1", "tools/call", "\"name\":\"no_such_tool\""), -32602, "1");
}

static void lines_that_are_no_messages_are_answered(void **state)
{
	static const struct {
		const char *line;
		int code;
		const char *id;
	} cases[] = {
		{ "no JSON", -32700, NULL },
		{ "{\"jsonrpc\":\"2.0\",", -32700, NULL },
		{ "{} {}", -32700, NULL },
		{ "\xff\xfe", -32700, NULL },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xc3(\"}", -32700, NULL },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xed\xa0\x80\"}", -32700, NULL },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\ud800\"}", -32700, NULL },
		{ "[]", -32600, NULL },
		{ "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600, NULL },
		{ "3", -32600, NULL },
		{ "\"text\"", -32600, NULL },
		{ "null", -32600, NULL },
		{ "{}", -32600, NULL },
		{ "{\"id\":1,\"method\":\"ping\"}", -32600, "1" },
		{ "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", -32600, "1" },
		{ "{\"jsonrpc\":2.0,\"id\":\"x\",\"method\":\"ping\"}", -32600, "\"x\"" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600, NULL },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", -32600, NULL },
		{ "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", -32600, NULL },
		{ "{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"ping\"}", -32600, NULL },
		{ "{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"ping\"}", -32600, NULL },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1}", -32600, "1" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", -32600, "1" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}", -32600, "1" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":3}", -32600, "1" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"x\":\"\\u0000\"}", -32600, "1" },
		{ CALL("12345678901234567890", "no", "{}"), -32602, "12345678901234567890" },
		{ CALL("-7", "no", "{}"), -32602, "-7" },
	};
	static const char nul[] = "{\"jsonrpc\":\"2.0\",\0\"id\":1,\"method\":\"ping\"}";
	static const char *const silent[] = {
		"",
		"  \t\r",
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/no_such\"}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
		"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1,\"message\":\"x\"}}",
		CANCEL("1"),
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}",
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":{}}}",
		"{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":\"echo\"}}",
	};
	Fixture *f = *state;
	PmStr deep = PM_STR_INIT;
	cJSON *j;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		refuse(f, cases[i].line, cases[i].code, cases[i].id);
	pm_mcp_line(f->m, nul, sizeof nul - 1);
	j = heard(f);
	assert_int_equal(pm_json_i64(at(j, "error"), "code", 0), -32700);
	cJSON_Delete(j);
	for (int i = 0; i < 100000; i++)
		pm_str_addc(&deep, '[');
	refuse(f, deep.s, -32700, NULL);
	pm_str_release(&deep);
	for (size_t i = 0; i < sizeof silent / sizeof *silent; i++) {
		say(f, silent[i]);
		nothing_heard(f);
	}
	assert_int_equal(f->tools.begun, 0);
	is_old(result(f, OLD("1", "ping", ""), &j)); /* and the server goes on */
	cJSON_Delete(j);
}

static void a_message_of_5_mb_is_refused(void **state)
{
	PmStr s = PM_STR_INIT;

	pm_str_add(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"");
	for (int i = 0; i < 5 << 20; i++)
		pm_str_addc(&s, 'x');
	pm_str_add(&s, "\"}");
	refuse(*state, s.s, -32600, NULL);
	pm_str_release(&s);
}

static const char *text_of(const cJSON *r, int i)
{
	return pm_json_str(cJSON_GetArrayItem(at(r, "content"), i), "text", "");
}

static void an_answer_is_structured_and_text(void **state)
{
	Fixture *f = *state;
	PmStr s = PM_STR_INIT;
	cJSON *j;
	const cJSON *r = result(f, CALL("1", "echo", "{\"a\":[1,\"\xc3\xa4\"]}"), &j);

	assert_true(cJSON_IsFalse(at(r, "isError")));
	pm_json_print(at(r, "structuredContent"), 0, &s);
	assert_int_equal(strncmp(text_of(r, 0), s.s, s.len - 1), 0);
	assert_string_equal(text_of(r, 0), "{\"got\":{\"a\":[1,\"\xc3\xa4\"]}}");
	cJSON_Delete(j);
	r = result(f, CALL("1", "fail", "{}"), &j);
	assert_true(cJSON_IsTrue(at(r, "isError")));
	assert_null(at(r, "structuredContent"));
	assert_int_equal(cJSON_GetArraySize(at(r, "content")), 1);
	assert_string_equal(text_of(r, 0), "The value is wrong; give another one.");
	cJSON_Delete(j);
	r = result(f, CALL("1", "fail_more", "{}"), &j);
	assert_null(at(r, "structuredContent"));
	assert_string_equal(text_of(r, 0), "The value is wrong; give another one.");
	assert_non_null(strstr(text_of(r, 1), "\"where\":\"here\""));
	cJSON_Delete(j);
	r = result(f, CALL("1", "bytes", "{}"), &j); /* what is no UTF-8 becomes U+FFFD */
	assert_string_equal(pm_json_str(at(r, "structuredContent"), "text", ""),
			    "a\xef\xbf\xbd\xef\xbf\xbd(z");
	cJSON_Delete(j);
	pm_str_release(&s);
}

/* Answers come in the order in which calls are done. */
static void calls_run_side_by_side(void **state)
{
	static const char *const order[] = { "3", "1", "2" };
	Fixture *f = *state;

	say(f, CALL("\"1\"", "slow", "{\"steps\":2}"));
	say(f, CALL("\"2\"", "slow", "{\"steps\":3}"));
	say(f, CALL("\"3\"", "echo", "{}"));
	for (int i = 0; i < 3; i++) {
		cJSON *j = heard(f);

		while (!j) {
			pm_mcp_step(f->m);
			j = heard(f);
		}
		assert_string_equal(pm_json_str(j, "id", ""), order[i]);
		cJSON_Delete(j);
	}
	nothing_heard(f);
	assert_int_equal(pm_mcp_in_flight(f->m), 0);
}

static void progress_rises_and_ends_with_the_answer(void **state)
{
	Fixture *f = *state;
	double last = -1;
	int told = 0;
	cJSON *j;

	say(f, OLD("1", "tools/call", META_TOKEN ",\"name\":\"slow\",\"arguments\":{\"steps\":5}"));
	say(f, OLD("2", "tools/call", META ",\"name\":\"slow\",\"arguments\":{\"steps\":9}")); /* no token */
	for (int i = 0; i < 20; i++)
		pm_mcp_step(f->m);
	while ((j = heard(f)) != NULL && !at(j, "id")) {
		const cJSON *p = at(j, "params");

		assert_string_equal(pm_json_str(j, "method", ""), "notifications/progress");
		assert_string_equal(pm_json_str(p, "progressToken", ""), "p");
		assert_true(pm_json_num(p, "progress", -2) > last);
		assert_true(pm_json_num(p, "total", -2) == 5);
		last = pm_json_num(p, "progress", -2);
		told++;
		cJSON_Delete(j);
	}
	assert_int_equal(told, 4);
	assert_int_equal(pm_json_i64(j, "id", 0), 1);
	cJSON_Delete(j);
	j = heard(f);
	assert_int_equal(pm_json_i64(j, "id", 0), 2);
	cJSON_Delete(j);
	nothing_heard(f);
	refuse(f,
	       OLD("3", "tools/call",
		   "\"_meta\":{\"progressToken\":{},\"io.modelcontextprotocol/"
		   "protocolVersion\":\"2026-07-28\","
		   "\"io.modelcontextprotocol/clientCapabilities\":{}},\"name\":\"echo\""),
	       -32602, "3");
}

static void a_cancelled_call_is_not_answered(void **state)
{
	Fixture *f = *state;

	say(f, CANCEL("7")); /* before it is asked: nothing to end */
	say(f, CALL("7", "never", "{}"));
	pm_mcp_step(f->m);
	nothing_heard(f);
	say(f, CANCEL("\"7\"")); /* another id */
	assert_int_equal(pm_mcp_in_flight(f->m), 1);
	say(f, CANCEL("7"));
	assert_int_equal(f->tools.cancelled, 1);
	assert_int_equal(pm_mcp_in_flight(f->m), 0);
	say(f, CANCEL("7"));
	assert_int_equal(f->tools.cancelled, 1);
	/* A call that is done and not answered yet. */
	say(f, CALL("8", "slow", "{\"steps\":1}"));
	f->tools.wait_ms = 0;
	say(f, CANCEL("8"));
	pm_mcp_step(f->m);
	nothing_heard(f);
	assert_int_equal(f->tools.cancelled, 2);
	assert_int_equal(f->tools.taken, 0);
}

static void ids_in_flight_and_their_number_are_bounded(void **state)
{
	Fixture *f = *state;
	char line[512];

	say(f, CALL("0", "never", "{}"));
	refuse(f, CALL("0", "never", "{}"), -32600, "0");
	assert_int_equal(f->tools.begun, 1);
	for (int i = 1; i < PM_MCP_MAX_CALLS; i++) {
		snprintf(line, sizeof line, CALL("%d", "never", "{}"), i);
		say(f, line);
	}
	nothing_heard(f);
	refuse(f, CALL("1000", "echo", "{}"), -32003, "1000");
	assert_int_equal(pm_mcp_in_flight(f->m), PM_MCP_MAX_CALLS);
	say(f, CANCEL("5"));
	say(f, CALL("1000", "echo", "{}"));
	cJSON_Delete(heard(f));
	assert_int_equal(pm_mcp_in_flight(f->m), PM_MCP_MAX_CALLS - 1);
}

/* Results wait while a client does not read. */
static void a_full_output_keeps_answers_back(void **state)
{
	Fixture *f = *state;
	size_t len;

	say(f, CALL("1", "slow", "{\"steps\":1}"));
	while (pm_mcp_out(f->m)->len < PM_MCP_OUT_FULL)
		say(f, NEW("2", "tools/list"));
	len = pm_mcp_out(f->m)->len;
	for (int i = 0; i < 5; i++)
		pm_mcp_step(f->m);
	assert_int_equal(pm_mcp_out(f->m)->len, len);
	pm_mcp_wrote(f->m, len / 2);
	assert_int_equal(pm_mcp_out(f->m)->len, len - len / 2);
	pm_mcp_step(f->m);
	assert_true(pm_mcp_out(f->m)->len > len - len / 2);
	assert_int_equal(f->tools.taken, 1);
}

static void a_prompt_is_a_file_with_its_argument(void **state)
{
	Fixture *f = *state;
	PmMcpOpts o = { 0 };
	PmStr dir = PM_STR_INIT, path = PM_STR_INIT, prompts = PM_STR_INIT;
	static const char text[] = "Do {{task}}, and {{task}} again.\n";
	const cJSON *r;
	cJSON *j;

	pm_test_tools_release(&f->tools); /* the fixture's table */
	o.tools = pm_test_tools(&f->tools);
	pm_mcp_free(f->m);
	assert_int_equal(pm_temp_dir("prompts", &dir, NULL), PM_OK);
	o.root = dir.s;
	f->m = pm_mcp_new(&o);
	refuse(f, OLD("1", "prompts/get", META ",\"name\":\"write_a_pass\",\"arguments\":{\"task\":\"7\"}"),
	       -32603, "1"); /* no such file */
	pm_path_join(dir.s, "prompts/mcp-write-a-pass.md", &path);
	pm_str_add(&prompts, dir.s);
	pm_str_add(&prompts, "/prompts");
	assert_int_equal(pm_mkdirs(prompts.s, NULL), PM_OK);
	assert_int_equal(pm_write_file(path.s, text, strlen(text), NULL), PM_OK);
	r = result(f,
		   OLD("1", "prompts/get", META ",\"name\":\"write_a_pass\",\"arguments\":{\"task\":\"7\"}"),
		   &j);
	is_new(r, NULL);
	r = cJSON_GetArrayItem(at(r, "messages"), 0);
	assert_string_equal(pm_json_str(r, "role", ""), "user");
	assert_string_equal(pm_json_str(at(r, "content"), "text", ""), "Do 7, and 7 again.\n");
	cJSON_Delete(j);
	pm_remove_tree(dir.s, NULL);
	pm_str_release(&dir);
	pm_str_release(&path);
	pm_str_release(&prompts);
}

/* The word is a tool, or an argument of one. */
static int is_known(const char *word)
{
	const cJSON *t;
	int known = 0;

	cJSON_ArrayForEach(t, pm_tools_table())
		known |= !strcmp(pm_json_str(t, "name", ""), word) ||
			 at(at(at(t, "inputSchema"), "properties"), word) != NULL;
	return known;
}

/* What stands between backticks in the prompts' texts is there. */
static void prompts_name_what_there_is(void **state)
{
	static const char *const files[] = { "prompts/mcp-write-a-pass.md", "prompts/mcp-why-is-it-slow.md" };

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		PmStr text = PM_STR_INIT;
		int words = 0;

		assert_int_equal(pm_read_file(files[i], 0, &text, NULL), PM_OK);
		for (char *p = text.s, *end;
		     (p = strchr(p, '`')) != NULL && (end = strchr(p + 1, '`')) != NULL;
		     p = end + 1, words++) {
			*end = '\0';
			if (!is_known(p + 1))
				fail_msg("%s speaks of '%s', which is neither a tool nor an argument",
					 files[i], p + 1);
		}
		assert_true(words >= 5);
		pm_str_release(&text);
	}
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_newer_era_needs_no_beginning),
		CASE(discover_names_what_an_envelope_may_name),
		CASE(an_envelope_says_what_it_must),
		CASE(the_older_era_begins_with_initialize),
		CASE(what_is_not_there_has_the_code_of_its_era),
		CASE(lines_that_are_no_messages_are_answered),
		CASE(a_message_of_5_mb_is_refused),
		CASE(an_answer_is_structured_and_text),
		CASE(calls_run_side_by_side),
		CASE(progress_rises_and_ends_with_the_answer),
		CASE(a_cancelled_call_is_not_answered),
		CASE(ids_in_flight_and_their_number_are_bounded),
		CASE(a_full_output_keeps_answers_back),
		CASE(a_prompt_is_a_file_with_its_argument),
		cmocka_unit_test(prompts_name_what_there_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
