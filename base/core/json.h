/* SPDX-License-Identifier: Apache-2.0 */
/* json.h - building and reading JSON: thin helpers over cJSON so that every report is written alike. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/core/err.h"
#include "base/core/str.h"

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdint.h>

/* Parses exactly one JSON value of n bytes; the error names line and column. Returns owned in *out. */
PmStatus pm_json_parse(const char *text, size_t n, cJSON **out, PmErr *err);
/* Appends `j` as text ending in a newline. Numbers keep 17 digits; NaN and infinities become null.
 * pretty: 0 one line, 1 indented. */
void pm_json_print(const cJSON *j, int pretty, PmStr *out);
/* The member `key` of an object; NULL when it has none, or is no object. */
const cJSON *pm_json_get(const cJSON *obj, const char *key);
/* Member access with defaults for missing or mistyped members. */
const char *pm_json_str(const cJSON *obj, const char *key, const char *dflt);
double pm_json_num(const cJSON *obj, const char *key, double dflt);
int64_t pm_json_i64(const cJSON *obj, const char *key, int64_t dflt);
/* Adds an integer exactly (as a raw number), where doubles would round. */
void pm_json_add_i64(cJSON *obj, const char *key, int64_t v);
/* Adds a number, or null for one that has no value: NaN and the infinities. */
void pm_json_add_num(cJSON *obj, const char *key, double v);
/* Adds an element of a tensor: a number, or the text "inf", "-inf" or "nan". pm_json_element reads it back;
 * NaN for what is missing or no such thing. */
void pm_json_add_element(cJSON *obj, const char *key, double v);
double pm_json_element(const cJSON *obj, const char *key);

#endif
