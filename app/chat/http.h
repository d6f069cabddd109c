/* SPDX-License-Identifier: Apache-2.0 */
/* http.h - one HTTP POST of JSON, by libcurl, which is opened at run time (docs/design/agents.md says why).
 *
 * Only http and https; a redirection is an answer and is not followed, so that a key goes nowhere else.
 */
#ifndef CHAT_HTTP_H
#define CHAT_HTTP_H

#include "base/core/err.h"
#include "base/core/str.h"

#include <stdint.h>

typedef struct PmHttpPost {
	const char *url;
	const char *key; /* sent as "Authorization: Bearer KEY"; NULL or "" = none */
	const char *body;
	size_t body_len;
	double seconds;   /* from the first byte of the connection to the last of the answer; 0 = 600 */
	int64_t max_body; /* bytes of an answer; 0 = 16 MiB */
} PmHttpPost;

typedef struct PmHttpReply {
	int status;         /* 200 and so on */
	double retry_after; /* seconds that the server asks to wait; < 0 = it does not say */
	double seconds;     /* that it took */
	PmStr body;         /* cut at a NUL byte nowhere: any bytes */
} PmHttpReply;

/* 1 when libcurl can be opened here; else 0, with a sentence about it in `err`. */
int pm_http_there(PmErr *err);

/* Posts and waits for the whole answer. PM_OK whenever an answer came, of any status. PM_E_TIMEOUT: no whole
 * answer in time. PM_E_IO: no connection, or it broke, also in the middle of the answer: trying again may
 * help. PM_E_LIMIT: the answer is over max_body. PM_E_INVALID: no such URL or a certificate that is not
 * trusted. PM_E_ENV: there is no libcurl. `reply` is the caller's; pm_http_reply_release in each case. */
PmStatus pm_http_post(const PmHttpPost *post, PmHttpReply *reply, PmErr *err);
/* Frees the body. */
void pm_http_reply_release(PmHttpReply *reply);

/* What the header Retry-After says (RFC 9110, 10.2.3): seconds, or an HTTP date, of which the seconds from
 * `now` (time(2)) are given, 0 for one that is past. -1 for what is neither. */
double pm_retry_after(const char *text, int64_t now);

#endif
