/* SPDX-License-Identifier: Apache-2.0 */
/* show.c - trajectories for people, and as JSON. */
#include "app/trajectory/show.h"

#include "base/core/clean.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { KEY_DIGITS = 12, ARGUMENT_BYTES = 60 };

/* ---- one line ---- */

static void add_clean(PmStr *out, const char *text)
{
	size_t n = strlen(text) * 3 + 1;
	char *copy = pm_xmalloc(n);

	pm_clean(text, copy, n, 1);
	pm_str_add(out, copy);
	free(copy);
}

const char *pm_trajectory_outcome(const PmTrajectoryRow *r)
{
	return !r->ended ? "cut off" : *r->outcome ? r->outcome : "ended";
}

void pm_trajectory_line(const PmTrajectoryRow *r, PmStr *out)
{
	char task[KEY_DIGITS + 1];

	pm_str_addf(out, "%4lld  %.*s  %-5s  ", (long long)r->id, KEY_DIGITS, r->key, r->kind);
	snprintf(task, sizeof task, "%s", *r->task ? r->task : "-");
	add_clean(out, *r->task_name ? r->task_name : task);
	pm_str_add(out, "  ");
	add_clean(out, *r->model ? r->model : "-");
	pm_str_addf(out, "  %lld steps", (long long)r->n_steps);
	if (!isnan(r->best))
		pm_str_addf(out, "  AS %.4g", r->best);
	if (r->first_ok >= 0)
		pm_str_addf(out, "  right at #%lld", (long long)r->first_ok);
	pm_str_addf(out, "  %.1f s", r->last - r->started);
	if (r->tokens_in || r->tokens_out)
		pm_str_addf(out, "  %lld+%lld tokens", (long long)r->tokens_in, (long long)r->tokens_out);
	if (r->money > 0)
		pm_str_addf(out, "  $%.4f", r->money);
	pm_str_add(out, "  ");
	add_clean(out, pm_trajectory_outcome(r));
	pm_str_addc(out, '\n');
}

cJSON *pm_trajectory_json(const PmTrajectoryRow *r)
{
	cJSON *j = cJSON_CreateObject(), *options = NULL;
	char seed[32];

	pm_json_add_i64(j, "id", r->id);
	cJSON_AddStringToObject(j, "key", r->key);
	cJSON_AddStringToObject(j, "kind", r->kind);
	cJSON_AddStringToObject(j, "task", r->task);
	cJSON_AddStringToObject(j, "task_name", r->task_name);
	cJSON_AddStringToObject(j, "model", r->model);
	snprintf(seed, sizeof seed, "%llu", (unsigned long long)r->seed);
	cJSON_AddStringToObject(j, "seed", seed);
	cJSON_AddStringToObject(j, "version", r->version);
	cJSON_AddStringToObject(j, "machine", r->machine);
	cJSON_AddStringToObject(j, "experiment", r->experiment);
	cJSON_AddStringToObject(j, "instance", r->instance);
	if (pm_json_parse(r->options, strlen(r->options), &options, NULL))
		options = cJSON_CreateObject();
	cJSON_AddItemToObject(j, "options", options);
	cJSON_AddNumberToObject(j, "started", r->started);
	pm_json_add_num(j, "ended", r->ended ? r->ended : NAN);
	cJSON_AddStringToObject(j, "outcome", pm_trajectory_outcome(r));
	pm_json_add_i64(j, "steps", r->n_steps);
	pm_json_add_num(j, "best_as", r->best);
	pm_json_add_num(j, "first_success", r->first_ok < 0 ? NAN : (double)r->first_ok);
	cJSON_AddNumberToObject(j, "seconds", r->last - r->started);
	pm_json_add_i64(j, "tokens_in", r->tokens_in);
	pm_json_add_i64(j, "tokens_out", r->tokens_out);
	cJSON_AddNumberToObject(j, "money", r->money);
	return j;
}

/* ---- a session ---- */

/* Indents a text, at most `most` lines of it (0 = all); what `lead` begins each line with. */
static void add_lines(PmStr *out, const char *text, size_t most, const char *lead)
{
	size_t n = 0;

	while (*text) {
		size_t len = strcspn(text, "\n");
		char *line = pm_xmalloc(len + 1);

		if (most && n == most) {
			size_t more = 1;

			for (const char *p = text; *p; p++)
				more += *p == '\n' && p[1];
			pm_str_addf(out, "%s... %zu more lines\n", lead, more);
			free(line);
			return;
		}
		memcpy(line, text, len);
		line[len] = '\0';
		pm_str_add(out, lead);
		add_clean(out, line);
		pm_str_addc(out, '\n');
		free(line);
		text += len + (text[len] == '\n');
		n++;
	}
}

/* `path="p.c" text=(34 lines)`: long arguments stand in the diff, or under --json. */
void pm_step_arguments(const PmSessionStep *s, PmStr *out)
{
	const cJSON *a, *args = cJSON_GetObjectItemCaseSensitive(s->json, "arguments");

	cJSON_ArrayForEach(a, args)
	{
		PmStr value = PM_STR_INIT;

		if (cJSON_IsString(a) &&
		    (strlen(a->valuestring) > ARGUMENT_BYTES || strchr(a->valuestring, '\n'))) {
			pm_str_addf(&value, "(%zu bytes)", strlen(a->valuestring));
		} else {
			pm_json_print(a, 0, &value);
			value.s[--value.len] = '\0';
			if (value.len > 2 * ARGUMENT_BYTES) {
				pm_str_clear(&value);
				pm_str_add(&value, "(...)");
			}
		}
		pm_str_addc(out, ' ');
		add_clean(out, a->string ? a->string : "");
		pm_str_addc(out, '=');
		add_clean(out, value.s);
		pm_str_release(&value);
	}
}

static void add_answer(PmStr *out, const PmSessionStep *s, size_t most)
{
	const cJSON *answer = cJSON_GetObjectItemCaseSensitive(s->json, "answer"), *m;
	PmStr text = PM_STR_INIT;

	if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(s->json, "is_error"))) {
		pm_str_add(&text, "error: ");
		pm_str_add(&text, pm_json_str(answer, "error", ""));
		add_lines(out, text.s, most, "      ");
		pm_str_release(&text);
		return;
	}
	cJSON_ArrayForEach(m, answer)
	{
		PmStr value = PM_STR_INIT;

		if (cJSON_IsString(m))
			pm_str_add(&value, m->valuestring);
		else
			pm_json_print(m, most == 0, &value);
		while (value.len && value.s[value.len - 1] == '\n')
			value.s[--value.len] = '\0';
		if (most && value.len > 400) {
			size_t cut = 400;

			while (((unsigned char)value.s[cut] & 0xc0) == 0x80)
				cut--;
			value.s[value.len = cut] = '\0';
			pm_str_add(&value, " ...");
		}
		pm_str_addf(&text, "%s: %s%s\n", m->string ? m->string : "",
			    strchr(value.s, '\n') ? "\n" : "", value.s);
		pm_str_release(&value);
	}
	add_lines(out, text.s, most, "      ");
	pm_str_release(&text);
}

static void add_files(PmStr *out, const cJSON *files, size_t most)
{
	const cJSON *c;

	cJSON_ArrayForEach(c, files)
	{
		const char *diff = pm_json_str(c, "diff", NULL), *text = pm_json_str(c, "text", NULL);

		pm_str_add(out, "    file ");
		add_clean(out, pm_json_str(c, "path", ""));
		if (diff) {
			pm_str_add(out, " changed:\n");
			add_lines(out, diff, most ? 2 * most : 0, "      ");
		} else if (text) {
			pm_str_add(out, " is now:\n");
			add_lines(out, text, most ? 2 * most : 0, "      ");
		} else {
			pm_str_add(out, cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(c, "deleted"))
						? " is gone\n"
						: " changed, too long to be kept\n");
		}
	}
}

static void add_cost(PmStr *out, const PmStepRow *r)
{
	const char *lead = "  (";

	if (!isnan(r->seconds)) {
		pm_str_addf(out, "%s%.2f s", lead, r->seconds);
		lead = ", ";
	}
	if (r->tokens_in >= 0 || r->tokens_out >= 0) {
		pm_str_addf(out, "%s%lld tokens in, %lld out", lead,
			    (long long)(r->tokens_in < 0 ? 0 : r->tokens_in),
			    (long long)(r->tokens_out < 0 ? 0 : r->tokens_out));
		lead = ", ";
	}
	if (!isnan(r->money)) {
		pm_str_addf(out, "%s$%.4f", lead, r->money);
		lead = ", ";
	}
	pm_str_add(out, *lead == ',' ? ")\n" : "\n");
}

static void add_message(PmStr *out, const PmSessionStep *s, size_t most)
{
	const cJSON *c;

	if (*pm_json_str(s->json, "reasoning", "")) {
		pm_str_add(out, "    thinks:\n");
		add_lines(out, pm_json_str(s->json, "reasoning", ""), most, "      ");
	}
	add_lines(out, pm_json_str(s->json, "content", ""), most, "    ");
	cJSON_ArrayForEach(c, cJSON_GetObjectItemCaseSensitive(s->json, "tool_calls"))
	{
		pm_str_add(out, "    asks for ");
		add_clean(out, pm_json_str(c, "name", ""));
		pm_str_addc(out, '\n');
	}
}

void pm_step_said(const PmSessionStep *s, PmStr *out)
{
	if (strcmp(s->row.role, "tool") == 0)
		add_answer(out, s, PM_SHOW_LINES);
	else
		add_message(out, s, PM_SHOW_LINES);
}

static void add_step(PmStr *out, const PmSession *s, const PmSessionStep *p, size_t most)
{
	const PmStepRow *r = &p->row;
	int is_call = strcmp(r->role, "tool") == 0;

	pm_str_addf(out, "#%lld  +%.1f s  ", (long long)r->ordinal, r->at - s->row.started);
	add_clean(out, is_call ? r->name : r->role);
	if (is_call)
		pm_step_arguments(p, out);
	add_cost(out, r);
	if (!is_call)
		add_message(out, p, most);
	add_files(out, p->files, most);
	if (is_call)
		add_answer(out, p, most);
	if (*r->verdict) {
		pm_str_add(out, "    ==> ");
		add_clean(out, r->verdict);
		if (!isnan(r->score))
			pm_str_addf(out, ", AS %.4g", r->score);
		pm_str_add(out, r->ordinal == s->row.first_ok ? "    <== first success\n" : "\n");
	}
}

void pm_session_show(const PmSession *s, int all, PmStr *out)
{
	const PmTrajectoryRow *r = &s->row;

	pm_trajectory_line(r, out);
	pm_str_add(out, "      began ");
	pm_session_time(r->started, out);
	pm_str_add(out, ", passmith ");
	add_clean(out, r->version);
	pm_str_add(out, ", ");
	add_clean(out, r->machine);
	pm_str_addf(out, ", seed %llu", (unsigned long long)r->seed);
	if (*r->experiment) {
		pm_str_add(out, ", experiment ");
		add_clean(out, r->experiment);
	}
	pm_str_add(out, "\n\n");
	for (size_t i = 0; i < s->steps.n; i++)
		add_step(out, s, &s->steps.v[i], all ? 0 : PM_SHOW_LINES);
	if (!r->ended)
		pm_str_add(out, "(cut off here: the session has no end)\n");
}

static cJSON *step_json(const PmSessionStep *s)
{
	cJSON *j = cJSON_CreateObject();
	const PmStepRow *r = &s->row;

	pm_json_add_i64(j, "ordinal", r->ordinal);
	cJSON_AddStringToObject(j, "role", r->role);
	cJSON_AddStringToObject(j, "name", r->name);
	cJSON_AddStringToObject(j, "task", r->task);
	cJSON_AddStringToObject(j, "report", r->report);
	cJSON_AddStringToObject(j, "verdict", r->verdict);
	pm_json_add_num(j, "score", r->score);
	cJSON_AddNumberToObject(j, "at", r->at);
	pm_json_add_num(j, "seconds", r->seconds);
	pm_json_add_num(j, "tokens_in", r->tokens_in < 0 ? NAN : (double)r->tokens_in);
	pm_json_add_num(j, "tokens_out", r->tokens_out < 0 ? NAN : (double)r->tokens_out);
	pm_json_add_num(j, "money", r->money);
	cJSON_AddItemToObject(j, "content", cJSON_Duplicate(s->json, 1));
	cJSON_AddItemToObject(j, "files", cJSON_Duplicate(s->files, 1));
	return j;
}

cJSON *pm_session_json(const PmSession *s)
{
	cJSON *j = pm_trajectory_json(&s->row), *list;

	cJSON_DeleteItemFromObject(j, "steps");
	list = cJSON_AddArrayToObject(j, "steps");
	for (size_t i = 0; i < s->steps.n; i++)
		cJSON_AddItemToArray(list, step_json(&s->steps.v[i]));
	return j;
}
