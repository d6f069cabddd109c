/* SPDX-License-Identifier: Apache-2.0 */
/* redact.h - takes secrets and absolute paths out of what a trajectory holds.
 *
 * It is done twice, by the same rules: when a step is stored, so that a database never holds them, and when
 * trajectories are shown or exported, for databases from elsewhere.
 *
 * Taken out everywhere, also in sources, and replaced by <secret>:
 *   - values that were named: the driver's key, and the environment's variables whose names end in KEY,
 * TOKEN, SECRET, PASSWORD, PASSWD or CREDENTIALS (8 bytes or more)
 *   - tokens by their form: sk-..., ghp_..., github_pat_..., hf_..., xoxb-..., glpat-..., AKIA..., AIza...
 *   - headers: Authorization, Proxy-Authorization, X-API-Key, API-Key, Cookie, Set-Cookie; "Bearer TOKEN"
 *   - private keys in PEM; user and password in an address
 *   - members of JSON, also of JSON inside a text, whose name is one of secret, seed_secret, password,
 * passwd, token, api_key, apikey, access_token, refresh_token, client_secret, private_key or that of a
 * header: thus the secrets by which variants and hidden shapes are drawn
 *   - 64 hexadecimal digits after the word "secret"
 * Absolute paths:
 *   - folders that were named (workspace) and the home folder, the cache, the current folder, the folder of
 *     temporary files, the program's own: <workspace>, <home>, <cache>, <cwd>, <tmp>, <root>; what is below
 *     them stays
 *   - any other absolute path of two names or more: <path>/LAST-NAME; /dev and /proc stay, as do addresses
 */
#ifndef TRAJECTORY_REDACT_H
#define TRAJECTORY_REDACT_H

#include "base/core/json.h"

typedef struct PmRedact PmRedact;

/* The rules above with this process's environment and folders. */
PmRedact *pm_redact_new(void);
/* Frees it; NULL is allowed. */
void pm_redact_free(PmRedact *r);
/* One more secret, of 4 bytes or more; shorter ones would take words apart. */
void pm_redact_add_secret(PmRedact *r, const char *value);
/* One more folder, an absolute path, known as <name>. */
void pm_redact_add_folder(PmRedact *r, const char *path, const char *name);

/* Appends `text` without them. */
void pm_redact_text(const PmRedact *r, const char *text, PmStr *out);
/* A copy, owned, in which every string and every name of a member is without them. */
cJSON *pm_redact_json(const PmRedact *r, const cJSON *j);

#endif
