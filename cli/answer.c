/* SPDX-License-Identifier: Apache-2.0 */
/* answer.c - what a command says at its end. */
#include "cli/answer.h"

#include "base/core/arena.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int pm_cli_json;

static struct {
	const char *stage, *failed_in; /* where the first error was said; NULL = none */
	cJSON *answer, *errors;
	pid_t pid;
} said = { .stage = "arguments" };

/* PM_BUG aborts. The children of this process abort too, but the object is not theirs to write. */
static void last_words(int signal)
{
	static const char head[] =
		"{\"error\": \"This is a bug of passmith, which the lines on stderr name; please "
		"report them.\", \"stage\": \"",
			  tail[] = "\"}\n";

	if (getpid() == said.pid && write(STDOUT_FILENO, head, sizeof head - 1) > 0 &&
	    write(STDOUT_FILENO, said.stage, strlen(said.stage)) > 0 &&
	    write(STDOUT_FILENO, tail, sizeof tail - 1) > 0)
		said.pid = 0;
	(void)signal; /* abort() goes on when this returns */
}

/* No value of an option begins with two hyphens (args.c), so that the word is the option wherever it stands.
 */
void pm_cli_begin(int argc, char **argv)
{
	struct sigaction on_abort = { .sa_handler = last_words };

	for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
		pm_cli_json |= !strcmp(argv[i], "--json");
	if (!pm_cli_json)
		return;
	said.pid = getpid();
	said.errors = cJSON_CreateArray();
	sigemptyset(&on_abort.sa_mask);
	sigaction(SIGABRT, &on_abort, NULL);
}

void pm_cli_stage(const char *stage)
{
	said.stage = stage;
}

void pm_cli_put_json(cJSON *j)
{
	if (!pm_cli_json || !j) {
		cJSON_Delete(j);
		return;
	}
	if (said.answer)
		PM_BUG("a command gave two answers");
	said.answer = j;
}

void pm_cli_put_text(const char *key, const char *value)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, key, value);
	pm_cli_put_json(j);
}

void pm_cli_complain(const char *fmt, ...)
{
	char text[2 * PM_ERR_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	fprintf(stderr, "passmith: %s\n", text);
	if (!said.failed_in)
		said.failed_in = said.stage;
	if (said.errors)
		cJSON_AddItemToArray(said.errors, cJSON_CreateString(text));
}

int pm_cli_fail(const PmErr *err)
{
	pm_cli_complain("%s", err->text);
	return pm_status_exit_code(err->code);
}

/* error, errors and stage come first, then the answer's members. */
static cJSON *whole_answer(void)
{
	cJSON *j = cJSON_CreateObject(), *first = cJSON_GetArrayItem(said.errors, 0), *m, *next;

	if (first)
		cJSON_AddStringToObject(j, "error", first->valuestring);
	else
		cJSON_AddNullToObject(j, "error");
	cJSON_AddStringToObject(j, "stage", said.failed_in ? said.failed_in : "done");
	if (cJSON_GetArraySize(said.errors) > 1)
		cJSON_AddItemToObject(j, "errors", said.errors);
	else
		cJSON_Delete(said.errors);
	said.errors = NULL;
	if (!cJSON_IsObject(said.answer)) {
		if (said.answer)
			cJSON_AddItemToObject(j, "results", said.answer);
		return j;
	}
	for (m = said.answer->child; m; m = next) {
		next = m->next;
		if (cJSON_HasObjectItem(j, m->string))
			PM_BUG("the answer has a member '%s' of its own", m->string);
		cJSON_DetachItemViaPointer(said.answer, m);
		cJSON_AddItemToObject(j, m->string, m);
	}
	cJSON_Delete(said.answer);
	return j;
}

int pm_cli_end(int code)
{
	PmStr s = PM_STR_INIT;
	cJSON *j;

	if (pm_cli_json) {
		j = whole_answer();
		pm_json_print(j, 1, &s);
		fwrite(s.s, 1, s.len, stdout);
		cJSON_Delete(j);
		pm_str_release(&s);
		said.pid = 0;
	}
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "passmith: Standard output could not be written.\n");
		return 3;
	}
	return code;
}
