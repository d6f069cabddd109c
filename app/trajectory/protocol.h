/* SPDX-License-Identifier: Apache-2.0 */
/* protocol.h - records a session of the Model Context Protocol from its messages.
 *
 * It is told every message of the wire, in order, and makes steps of those by which an agent does something:
 * a call of a tool with its result, a resource that was read, a prompt that was asked for (whose messages the
 * model sees), a call that was cancelled. The trajectory begins with the first of these, so that a client
 * that only looks leaves none, and has the client's name where a model would stand. When something cannot be
 * stored, that is said on stderr, and nothing more is stored, so that no call waits for the database again;
 * serving goes on, and the trajectory is one that was cut off.
 */
#ifndef TRAJECTORY_PROTOCOL_H
#define TRAJECTORY_PROTOCOL_H

#include "app/trajectory/recorder.h"

typedef struct PmProtocolRecorder PmProtocolRecorder;

/* Begins to listen; the strings are copied. `workspace` may be NULL. Returns owned. */
PmProtocolRecorder *pm_protocol_recorder_new(const char *db, const char *workspace, const char *device);
/* One message, an object (borrowed): from the client, or to it. */
void pm_protocol_recorder_message(PmProtocolRecorder *r, int from_client, const cJSON *message);
/* Ends the trajectory, when one began, and frees; NULL is allowed. */
void pm_protocol_recorder_end(PmProtocolRecorder *r);

#endif
