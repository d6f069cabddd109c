/* SPDX-License-Identifier: Apache-2.0 */
/* chat_server.h - an HTTP server on loopback that answers as a script says, in a process of its own.
 *
 * A script is a list of rules, each a line of words that begins with "@" and the text behind it up to the
 * next. The first rule that fits a request answers it:
 *
 *   @ turn=0 contains=TEXT lacks=TEXT times=2 kind=content status=200 delay=0.5 usage=100,50 header=NAME:
 * VALUE
 *
 *   turn      how many answers of the assistant the request holds; without it any number
 *   contains  a text that the request holds (a blank is written "_"); lacks: that it does not
 *   times     how often the rule may answer, in all; then the next that fits does
 *   kind      content: the text is what the assistant says. tools: each line is "NAME {arguments}", a call;
 * "text": "@@FILE" is a file's. raw: the text is the body, \xNN are bytes. nest, big: "status" and "repeat"
 * say how deep, how many. repeat    of nest: levels; of big: bytes close     1: hang up without an answer.
 * hang: 1: never answer. cut: end after so many bytes of the body header    the rest of the line is a header
 * of the answer
 *
 * A line "<<FILE" of a content stands for a file of the source tree. What no rule fits gets status 418.
 */
#ifndef TESTS_CHAT_SERVER_H
#define TESTS_CHAT_SERVER_H

#include <stddef.h>

typedef struct ChatServer ChatServer;

/* Starts one; fails the test when it cannot. Requests are appended to the file `log`, NULL = none. */
ChatServer *chat_server_start(const char *script, const char *log);
/* The same with the script's text. */
ChatServer *chat_server_start_text(const char *text, const char *log);
/* "http://127.0.0.1:PORT/v1"; borrowed. */
const char *chat_server_url(const ChatServer *s);
/* Requests that came whole, and those that were answered with status 200 and a whole body. */
int chat_server_requests(const ChatServer *s);
int chat_server_paid(const ChatServer *s);
/* Ends it and frees all. */
void chat_server_stop(ChatServer *s);

#endif
