/* SPDX-License-Identifier: Apache-2.0 */
/* schema.h - whether a JSON value is what a JSON Schema says, by the words that schemas here use: type, enum,
 * required, properties, additionalProperties, items, anyOf, minimum, maximum, minLength, maxLength, minItems,
 * maxItems. Other words are annotations. */
#ifndef APP_SCHEMA_H
#define APP_SCHEMA_H

#include "base/core/json.h"

enum {
	/* Beyond JSON Schema: a member that an object with `properties` and without `additionalProperties`
	 * does not list is an error: it is not documented. */
	PM_SCHEMA_CLOSED = 1 << 0,
};

/* 1 when it conforms. Else what is wrong is appended to *why, each as a clause that names the place ("limit
 * is "ten", a string, and must be an integer; "); `where` is the name of j itself. */
int pm_schema_check(const cJSON *schema, const cJSON *j, const char *where, unsigned flags, PmStr *why);

#endif
