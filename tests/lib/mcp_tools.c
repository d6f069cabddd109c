/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_tools.c - tools for tests of the protocol. */
#include "tests/lib/mcp_tools.h"

#include "base/core/arena.h"

#include <stdlib.h>
#include <string.h>

typedef struct TestCall {
	TestTools *of;
	struct TestCall *next;
	cJSON *answer;
	int is_error;
	int64_t at, steps; /* steps < 0 = never done */
	int64_t told;
} TestCall;

static const char *const names[] = { "echo", "fail", "fail_more", "slow", "never", "bytes" };
enum { N_NAMES = sizeof names / sizeof *names };

static const cJSON *list(const void *tools)
{
	return ((const TestTools *)tools)->table;
}

static cJSON *answer_of(const char *name, const cJSON *args)
{
	cJSON *j = cJSON_CreateObject();

	if (!strncmp(name, "fail", 4))
		cJSON_AddStringToObject(j, "error", "The value is wrong; give another one.");
	if (!strcmp(name, "fail_more"))
		cJSON_AddStringToObject(j, "where", "here");
	if (!strcmp(name, "bytes"))
		cJSON_AddStringToObject(j, "text", "a\xff\xc3(z");
	if (!strcmp(name, "echo"))
		cJSON_AddItemToObject(j, "got", args ? cJSON_Duplicate(args, 1) : cJSON_CreateObject());
	return j;
}

static PmStatus begin(void *tools, const char *name, const cJSON *args, void **call, PmErr *err)
{
	TestTools *t = tools;
	TestCall *c;
	int i = 0;

	while (i < N_NAMES && strcmp(names[i], name) != 0)
		i++;
	if (i == N_NAMES)
		return pm_err(err, PM_E_NOT_FOUND, "There is no tool '%.60s'; tools/list names them.", name);
	c = pm_xcalloc(1, sizeof *c);
	c->of = t;
	c->answer = answer_of(name, args);
	c->is_error = !strncmp(name, "fail", 4);
	c->steps = !strcmp(name, "slow") ? pm_json_i64(args, "steps", 1) : !strcmp(name, "never") ? -1 : 0;
	c->next = t->first;
	t->first = c;
	t->begun++;
	*call = c;
	return PM_OK;
}

static int done(const void *call)
{
	const TestCall *c = call;

	return c->steps >= 0 && c->at >= c->steps;
}

static void forget(TestCall *c)
{
	TestCall **p = &c->of->first;

	while (*p != c)
		p = &(*p)->next;
	*p = c->next;
	free(c);
}

static cJSON *take(void *call, int *is_error)
{
	TestCall *c = call;
	cJSON *answer = c->answer;

	*is_error = c->is_error;
	c->of->taken++;
	forget(c);
	return answer;
}

static void cancel(void *call)
{
	TestCall *c = call;

	cJSON_Delete(c->answer);
	c->of->cancelled++;
	forget(c);
}

static int progress(void *call, double *got, double *total, const char **words)
{
	TestCall *c = call;
	int changed = c->told != c->at;

	c->told = c->at;
	*got = (double)c->at;
	*total = c->steps > 0 ? (double)c->steps : 0;
	*words = "stepping";
	return changed;
}

static int fds(const void *tools, struct pollfd *to, int max, int *wait_ms)
{
	const TestTools *t = tools;

	(void)to;
	(void)max;
	*wait_ms = t->first ? t->wait_ms : -1;
	return 0;
}

static void step(void *tools)
{
	for (TestCall *c = ((TestTools *)tools)->first; c; c = c->next)
		c->at++;
}

static cJSON *resources(const void *tools)
{
	cJSON *list_of = cJSON_CreateArray(), *r = cJSON_CreateObject();

	(void)tools;
	cJSON_AddItemToArray(list_of, r);
	cJSON_AddStringToObject(r, "uri", "passmith://test/text");
	cJSON_AddStringToObject(r, "name", "text");
	return list_of;
}

static PmStatus resource(const void *tools, const char *uri, PmStr *text, const char **mime, PmErr *err)
{
	(void)tools;
	if (strcmp(uri, "passmith://test/text") != 0)
		return pm_err(err, PM_E_NOT_FOUND, "There is no resource '%.60s'; resources/list names them.",
			      uri);
	pm_str_add(text, "A text.");
	*mime = "text/plain";
	return PM_OK;
}

PmMcpTools pm_test_tools(TestTools *t)
{
	memset(t, 0, sizeof *t);
	t->wait_ms = 1;
	t->table = cJSON_CreateArray();
	for (int i = 0; i < N_NAMES; i++) {
		cJSON *tool = cJSON_CreateObject(), *schema;

		cJSON_AddItemToArray(t->table, tool);
		cJSON_AddStringToObject(tool, "name", names[i]);
		schema = cJSON_AddObjectToObject(tool, "inputSchema");
		cJSON_AddStringToObject(schema, "type", "object");
	}
	return (PmMcpTools){ t, list, begin, done, take, cancel, progress, fds, step, resources, resource };
}

void pm_test_tools_release(TestTools *t)
{
	while (t->first)
		cancel(t->first);
	cJSON_Delete(t->table);
	t->table = NULL;
}
