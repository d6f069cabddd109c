/* SPDX-License-Identifier: Apache-2.0 */
/* session.h - a stored trajectory in memory: what showing, exporting and replaying start from. */
#ifndef TRAJECTORY_SESSION_H
#define TRAJECTORY_SESSION_H

#include "app/trajectory/redact.h"
#include "base/core/hash.h"
#include "base/core/vec.h"
#include "dataset/store/trajectories.h"

typedef struct PmSessionStep {
	PmStepRow row; /* texts owned by `text`; json and files are below */
	char *text[6];
	cJSON *json;  /* an object */
	cJSON *files; /* an array */
} PmSessionStep;

typedef struct PmSession {
	PmTrajectoryRow row; /* texts owned by `text` */
	char *text[11];
	PM_VEC(PmSessionStep) steps;
} PmSession;

/* Loads one; secrets and paths are taken out by `redact`, NULL = as it is stored. PM_E_NOT_FOUND, or
 * PM_E_INVALID when a step holds no JSON. Release *out also after a failure. */
PmStatus pm_session_load(PmDb *db, int64_t id, const PmRedact *redact, PmSession *out, PmErr *err);
/* Frees all; *s is then empty. */
void pm_session_release(PmSession *s);

/* Forgets the steps after the first success, when there is one (row.first_ok); 1 when there was. */
int pm_session_cut(PmSession *s);
/* The digest of the author's files after the last step; "" when there are none, or when the changes do not
 * fit. */
void pm_session_digest(const PmSession *s, char hex[PM_SHA256_HEX]);

/* What a model said and what came of it: the unit of a conversation. */
typedef struct PmTurn {
	const PmSessionStep *message; /* NULL: calls of which no message is known */
	size_t first, n;              /* the calls with answers: steps [first, first + n) */
} PmTurn;
/* The turn that begins at step i; the next one begins at *next. A call belongs to the message before it when
 * that asked for it. */
PmTurn pm_session_turn(const PmSession *s, size_t i, size_t *next);
/* The call of a message that the step answers (borrowed); NULL when the message did not ask for it. */
const cJSON *pm_turn_call(const PmTurn *t, const PmSessionStep *answer);

/* "2026-11-23T12:00:00.500Z" of seconds since 1970, appended. */
void pm_session_time(double at, PmStr *out);

#endif
