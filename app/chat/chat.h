/* SPDX-License-Identifier: Apache-2.0 */
/* chat.h - one turn of a language model behind an OpenAI-compatible endpoint: POST BASE/chat/completions.
 *
 * All that comes from the endpoint is a stranger's: it is bounded, made UTF-8 and stripped of the key before
 * anyone sees it, and a message is rebuilt from the members that are known.
 */
#ifndef CHAT_CHAT_H
#define CHAT_CHAT_H

#include "app/chat/retry.h"
#include "base/core/json.h"

#include <stdint.h>

enum { PM_CHAT_CALLS = 32, PM_CHAT_KEY_SHOWN = 8 }; /* calls of tools in one message; see pm_chat_hide */

typedef struct PmChat {
	const char *base_url, *model;
	const char *key;    /* NULL or "" = none */
	double temperature; /* < 0 = the endpoint's own */
	int64_t seed;       /* < 0 = none */
	int64_t max_tokens; /* of one answer; 0 = the endpoint's own */
	double seconds;     /* for one answer; 0 = 600 */
	PmRetry retry;
	/* Told before each wait: the sentence of what went wrong and the seconds; may be NULL. */
	void (*waiting)(void *arg, const char *why, double seconds);
	void *arg;
} PmChat;

typedef struct PmChatReply {
	cJSON *message; /* {"role": "assistant", "content", "tool_calls"}: to be sent back as it is */
	PmStr thoughts; /* what the endpoint gives of its reasoning; not to be sent back */
	int64_t tokens_in, tokens_out; /* pm_chat_read: tokens_in is -1 where the endpoint does not say */
	int estimated;                 /* the endpoint did not say: a token for four bytes */
	char finish[32];               /* "stop", "length", "tool_calls", ...; "" = not said */
	int cut;                       /* calls of tools over PM_CHAT_CALLS that were left out */
	int http;                      /* status of the last answer; 0 = none came */
	int tries;                     /* requests that were made */
	int tools_refused;             /* set with an error: the endpoint says that it has no tools */
	double seconds;                /* from the first try to the answer, waits too */
} PmChatReply;

/* The body of a request. `tools`: an array in the form of pm_tools_table, or NULL = none. Owned by *out. */
void pm_chat_request(const PmChat *c, const cJSON *messages, const cJSON *tools, PmStr *out);

/* Reads an answer of status 200. PM_E_INVALID: it is no JSON, or not in the form of a chat completion. */
PmStatus pm_chat_read(const char *text, size_t n, const char *key, PmChatReply *out, PmErr *err);

/* Asks, and tries again as c->retry says. `rng` draws the waits. Errors are those of the last try; one that
 * trying again cannot help (401, 400) is PM_E_INVALID, with what the endpoint said of it. `out` is the
 * caller's: pm_chat_reply_release in each case. */
PmStatus pm_chat_ask(const PmChat *c, const cJSON *messages, const cJSON *tools, PmRng *rng, PmChatReply *out,
		     PmErr *err);
/* Frees what a reply owns. */
void pm_chat_reply_release(PmChatReply *r);

/* Makes `s` valid UTF-8 without NUL bytes and puts "[key]" wherever the key stands. A key shorter than
 * PM_CHAT_KEY_SHOWN is none that anyone keeps secret, and is left: it may be a word. */
void pm_chat_hide(PmStr *s, const char *key);

#endif
