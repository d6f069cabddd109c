/* SPDX-License-Identifier: Apache-2.0 */
/* chat_script.h - the rules of a script (tests/lib/chat/chat_server.h says how they are written). */
#ifndef TESTS_CHAT_SCRIPT_H
#define TESTS_CHAT_SCRIPT_H

#include "base/core/str.h"

enum { CHAT_RULES = 64 };

typedef struct ChatRule {
	int turn, times, status, close, hang, cut, repeat;
	double delay;
	int tokens_in, tokens_out; /* -1 = the answer has no usage */
	char kind[16], contains[128], lacks[128], header[256];
	PmStr text;
} ChatRule;

typedef struct ChatScript {
	ChatRule rule[CHAT_RULES];
	size_t n;
} ChatScript;

/* Reads a script; fails the test when it is not one. */
void chat_script_read(const char *text, ChatScript *out);
void chat_script_release(ChatScript *s);
/* 1 when the rule is for this request. */
int chat_rule_fits(const ChatRule *r, const char *request);
/* The body of its answer; NULL: of none that fits. */
void chat_rule_body(const ChatRule *r, PmStr *out);

#endif
