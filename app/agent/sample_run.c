/* SPDX-License-Identifier: Apache-2.0 */
/* sample_run.c - the loop: ask, do what the answer says, tell what came of it. */
#include "app/agent/observe.h"
#include "app/agent/sample_priv.h"
#include "base/sys/io.h"

#include <stdio.h>
#include <string.h>

enum { NUDGES = 2 }; /* answers with nothing to do, one after the other, that are not the end */

static PmStatus replay(void *arg, const cJSON *event, PmErr *err)
{
	return pm__sample_apply(arg, event, err);
}

static PmStatus end(PmSample *s, const char *outcome, PmErr *err)
{
	PmStatus st = pm__sample_last_evaluation(s, err);
	cJSON *e = pm__event("end");

	cJSON_AddStringToObject(e, "outcome", outcome);
	if (st)
		cJSON_Delete(e);
	else
		st = pm__sample_add(s, e, err);
	return st ? st : pm__sample_add(s, pm__event("kept"), err);
}

/* ---- asking ---- */

static cJSON *reply_event(const PmSample *s, PmChatReply *r)
{
	double money = 1e-6 *
		       ((double)r->tokens_in * s->o->price_in + (double)r->tokens_out * s->o->price_out);
	cJSON *e = pm__event("reply");

	cJSON_AddItemToObject(e, "message", r->message);
	r->message = NULL;
	if (r->thoughts.len)
		cJSON_AddStringToObject(e, "thoughts", r->thoughts.s);
	pm_json_add_i64(e, "tokens_in", r->tokens_in);
	pm_json_add_i64(e, "tokens_out", r->tokens_out);
	cJSON_AddBoolToObject(e, "estimated", r->estimated);
	cJSON_AddNumberToObject(e, "money", money);
	cJSON_AddNumberToObject(e, "seconds", r->seconds);
	cJSON_AddNumberToObject(e, "tries", r->tries);
	cJSON_AddStringToObject(e, "finish", r->finish);
	return e;
}

/* A request that came to nothing: without tools again, the end of this sample, or of the run. */
static PmStatus not_answered(PmSample *s, const PmChatReply *r, PmErr *why, PmErr *err)
{
	cJSON *e = pm__event("failed");
	PmStatus st;

	cJSON_AddStringToObject(e, "why", why->text);
	st = pm__sample_add(s, e, err);
	if (st)
		return st;
	if (r->tools_refused && !s->turns && s->o->tools == PM_AGENT_AUTO)
		return pm__sample_start(s, 1, err);
	/* Refused in the middle: the conversation has become too long for the model, or is not to its liking.
	 */
	if (s->turns && (r->http == 400 || r->http == 413 || r->http == 422))
		return end(s, "refused", err);
	if (err)
		*err = *why;
	return why->code;
}

static void waiting(void *arg, const char *why, double seconds)
{
	const PmSample *s = arg;
	char text[PM_ERR_MAX + 64];

	snprintf(text, sizeof text, "%s Waiting %.1f s.", why, seconds);
	pm_watch_complain(s->o->parallel > 1 ? NULL : s->o->watch, text);
}

/* What was paid is counted when the journal has it: what it has from before was counted at the start. */
static PmStatus answered(PmSample *s, PmChatReply *r, PmErr *err)
{
	cJSON *e = reply_event(s, r);
	double money = pm_json_num(e, "money", 0);
	PmStatus st = pm__sample_add(s, e, err);

	if (!st)
		pm_budget_use(s->setup->budget, r->tokens_in + r->tokens_out, money);
	return st;
}

static PmStatus ask(PmSample *s, PmErr *err)
{
	PmChat c = { .base_url = s->o->base_url,
		     .model = s->o->model,
		     .key = s->o->key,
		     .temperature = s->o->temperature,
		     .seed = s->o->seed < 0 ? -1 : s->o->seed + s->setup->number,
		     .max_tokens = s->o->max_tokens,
		     .seconds = s->o->seconds,
		     .retry = { .tries = s->o->tries, .first = s->o->first_wait },
		     .waiting = waiting,
		     .arg = s };
	cJSON *tools = s->text ? NULL : pm_offered_tools(s->o->feedback);
	PmStatus st = pm__sample_add(s, pm__event("ask"), err);
	PmChatReply r;
	PmErr why;

	if (!st) {
		pm_err_init(&why);
		st = pm_chat_ask(&c, s->messages, tools, &s->rng, &r, &why);
		st = st ? not_answered(s, &r, &why, err) : answered(s, &r, err);
		pm_chat_reply_release(&r);
	}
	cJSON_Delete(tools);
	return st;
}

/* ---- the loop ---- */

/* What is next is a function of the state alone, so that it is the same after a kill. */
static PmStatus next(PmSample *s, int *spent, PmErr *err)
{
	int n = cJSON_GetArraySize(s->actions);
	const cJSON *last = cJSON_GetArrayItem(s->messages, cJSON_GetArraySize(s->messages) - 1);

	if (!s->messages)
		return pm__sample_start(s,
					s->o->tools == PM_AGENT_TEXT ||
						(s->o->tools == PM_AGENT_AUTO && s->o->iterations == 1),
					err);
	if (s->n_done < n)
		return pm__sample_act(s, err);
	if (s->turns >= s->o->iterations)
		return end(s, s->o->iterations == 1 ? "done" : "iterations", err);
	if (s->turns && !n && !s->cut && (s->right || s->nudges > NUDGES))
		return end(s, "done", err);
	if (!strcmp(pm_json_str(last, "role", ""), "assistant"))
		return pm__sample_tell(s, err);
	if (pm_budget_is_spent(s->setup->budget)) {
		*spent = 1;
		return pm__sample_last_evaluation(s, err);
	}
	return ask(s, err);
}

static PmStatus open_recorder(PmSample *s, PmErr *err)
{
	const char *secrets[] = { s->o->key, NULL };
	char instance[64];
	cJSON *options = cJSON_CreateObject();
	PmRecorderOpts o = { .db = s->o->db,
			     .kind = "agent",
			     .task = s->setup->task,
			     .model = s->o->model,
			     .seed = (uint64_t)(s->o->seed < 0 ? 0 : s->o->seed + s->setup->number),
			     .experiment = s->setup->experiment,
			     .instance = instance,
			     .options = options,
			     .workspace = s->workspace.s,
			     .secrets = s->o->key && *s->o->key ? secrets : NULL };
	PmStatus st;

	snprintf(instance, sizeof instance, "sample %d", s->setup->number);
	cJSON_AddNumberToObject(options, "iterations", (double)s->o->iterations);
	cJSON_AddNumberToObject(options, "feedback", s->o->feedback);
	if (s->o->temperature >= 0)
		cJSON_AddNumberToObject(options, "temperature", s->o->temperature);
	st = pm_recorder_open(&o, &s->recorder, err);
	if (!st)
		s->recorded = pm_recorder_steps(s->recorder);
	cJSON_Delete(options);
	return st;
}

/* A journal that has its end needs no more; only the trajectory may lack its last steps. */
static PmStatus peek(void *arg, const cJSON *event, PmErr *err)
{
	const char *e = pm_json_str(event, "e", "");
	int *seen = arg;

	(void)err;
	seen[0] |= !strcmp(e, "end");
	seen[1] |= !strcmp(e, "kept");
	return PM_OK;
}

static PmStatus open_all(PmSample *s, int ended, PmErr *err)
{
	PmToolsOpts tools = { .db = s->o->db,
			      .workspace = s->workspace.s,
			      .device = s->o->device,
			      .gpus = s->o->gpus,
			      .steps = -1,
			      .deadline_s = s->o->deadline };
	PmStr path = PM_STR_INIT;
	PmStatus st;

	s->files = cJSON_CreateObject();
	pm_rng_init_named(&s->rng, (uint64_t)s->setup->number, s->setup->task);
	st = open_recorder(s, err);
	if (st == PM_E_INVALID && ended) /* it has ended there, too: only the last line was lost */
		st = PM_OK;
	pm_sample_journal(s->o->out, s->setup->task, s->setup->number, &path);
	st = st ? st : pm_journal_open(path.s, replay, s, &s->journal, err);
	if (!st && !s->ended) {
		st = pm_tools_open(&tools, &s->tools, err);
		st = st ? st : pm__sample_restore(s, err);
	}
	pm_str_release(&path);
	return st;
}

PmStatus pm_sample_run(const PmSampleSetup *setup, int *ended, PmErr *err)
{
	PmSample s = { .setup = setup, .o = setup->opts };
	PmStr path = PM_STR_INIT;
	int seen[2] = { 0, 0 }, spent = 0;
	PmStatus st;

	pm_str_init(&s.workspace);
	pm_str_init(&s.observed);
	pm_sample_workspace(s.o->out, setup->task, setup->number, &s.workspace);
	pm_sample_journal(s.o->out, setup->task, setup->number, &path);
	st = pm_journal_read(path.s, peek, seen, err);
	if (!st && !seen[1]) {
		st = open_all(&s, seen[0], err);
		while (!st && !s.ended && !spent)
			st = next(&s, &spent, err);
		if (!st && s.ended && !s.kept)
			st = pm__sample_add(&s, pm__event("kept"), err);
	}
	*ended = seen[1] || s.ended;
	pm_tools_close(s.tools);
	pm_recorder_close(s.recorder);
	pm_journal_close(s.journal);
	cJSON_Delete(s.messages);
	cJSON_Delete(s.actions);
	cJSON_Delete(s.files);
	pm_str_release(&s.observed);
	pm_str_release(&s.workspace);
	pm_str_release(&path);
	return st;
}
