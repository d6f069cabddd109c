/* SPDX-License-Identifier: Apache-2.0 */
/* schema.c - whether a JSON value is what a JSON Schema says. */
#include "app/tools/schema.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *type_of(const cJSON *j)
{
	return cJSON_IsNull(j)                       ? "null"
	       : cJSON_IsBool(j)                     ? "boolean"
	       : cJSON_IsNumber(j) || cJSON_IsRaw(j) ? "number"
	       : cJSON_IsString(j)                   ? "string"
	       : cJSON_IsArray(j)                    ? "array"
						     : "object";
}

static double number_of(const cJSON *j)
{
	return cJSON_IsRaw(j) ? strtod(j->valuestring, NULL) : j->valuedouble;
}

static int is_type(const char *type, const cJSON *j)
{
	const char *is = type_of(j);

	if (!strcmp(type, "integer"))
		return !strcmp(is, "number") && number_of(j) == floor(number_of(j));
	return !strcmp(type, is);
}

static int has_type(const cJSON *type, const cJSON *j)
{
	const cJSON *t;

	if (!type)
		return 1;
	if (cJSON_IsString(type))
		return is_type(type->valuestring, j);
	cJSON_ArrayForEach(t, type) if (is_type(t->valuestring, j)) return 1;
	return 0;
}

/* "limit is "ten", a string, and must be ". */
static void begin(const cJSON *j, const char *where, PmStr *why)
{
	enum { SHOWN = 60 };
	PmStr value = PM_STR_INIT;

	if (cJSON_IsArray(j) || cJSON_IsObject(j)) {
		pm_str_addf(why, "%s is of type %s and must be ", where, type_of(j));
		return;
	}
	pm_json_print(j, 0, &value);
	pm_str_addf(why, "%s is %.*s%s, of type %s, and must be ", where,
		    (int)(value.len > SHOWN ? SHOWN : value.len - 1), value.s, value.len > SHOWN ? "..." : "",
		    type_of(j));
	pm_str_release(&value);
}

static void say_types(const cJSON *type, PmStr *why)
{
	const cJSON *t;
	const char *sep = "";

	if (cJSON_IsString(type))
		pm_str_add(why, type->valuestring);
	cJSON_ArrayForEach(t, type)
	{
		pm_str_addf(why, "%s%s", sep, t->valuestring);
		sep = " or ";
	}
}

static int check_enum(const cJSON *list, const cJSON *j, const char *where, PmStr *why)
{
	const cJSON *e;
	const char *sep = "";

	if (!list)
		return 1;
	cJSON_ArrayForEach(e, list) if (cJSON_Compare(e, j, 1)) return 1;
	begin(j, where, why);
	pm_str_add(why, "one of ");
	cJSON_ArrayForEach(e, list)
	{
		PmStr value = PM_STR_INIT;

		pm_json_print(e, 0, &value);
		pm_str_addf(why, "%s%.*s", sep, (int)value.len - 1, value.s);
		pm_str_release(&value);
		sep = ", ";
	}
	pm_str_add(why, "; ");
	return 0;
}

/* A least and a most of `is`, under the names that the kind of value has for them. */
static int check_limits(const cJSON *schema, const cJSON *j, double is, const char *least, const char *most,
			const char *what, const char *where, PmStr *why)
{
	const cJSON *lo = pm_json_get(schema, least), *hi = pm_json_get(schema, most);

	if (lo && is < lo->valuedouble) {
		begin(j, where, why);
		pm_str_addf(why, "%s at least %g; ", what, lo->valuedouble);
		return 0;
	}
	if (hi && is > hi->valuedouble) {
		begin(j, where, why);
		pm_str_addf(why, "%s at most %g; ", what, hi->valuedouble);
		return 0;
	}
	return 1;
}

static int check_range(const cJSON *schema, const cJSON *j, const char *where, PmStr *why)
{
	if (cJSON_IsNumber(j) || cJSON_IsRaw(j))
		return check_limits(schema, j, number_of(j), "minimum", "maximum", "a number of", where, why);
	if (cJSON_IsString(j))
		return check_limits(schema, j, (double)strlen(j->valuestring), "minLength", "maxLength",
				    "text with a length of", where, why);
	if (cJSON_IsArray(j))
		return check_limits(schema, j, cJSON_GetArraySize(j), "minItems", "maxItems",
				    "a list with a length of", where, why);
	return 1;
}

static int check_members(const cJSON *schema, const cJSON *j, const char *where, unsigned flags, PmStr *why)
{
	const cJSON *listed = pm_json_get(schema, "properties"),
		    *more = pm_json_get(schema, "additionalProperties"), *m;
	int ok = 1;

	cJSON_ArrayForEach(m, pm_json_get(schema, "required"))
	{
		if (pm_json_get(j, m->valuestring))
			continue;
		pm_str_addf(why, "%s has no member %s; ", where, m->valuestring);
		ok = 0;
	}
	cJSON_ArrayForEach(m, j)
	{
		const cJSON *s = pm_json_get(listed, m->string);
		PmStr name = PM_STR_INIT;

		pm_str_addf(&name, "%s.%s", where, m->string);
		if (!s && (cJSON_IsFalse(more) || ((flags & PM_SCHEMA_CLOSED) && listed && !more &&
						   !pm_json_get(schema, "anyOf")))) {
			pm_str_addf(why, "%s is not documented; ", name.s);
			ok = 0;
		}
		if (!s && cJSON_IsObject(more))
			s = more;
		ok &= !s || pm_schema_check(s, m, name.s, flags, why);
		pm_str_release(&name);
	}
	return ok;
}

int pm_schema_check(const cJSON *schema, const cJSON *j, const char *where, unsigned flags, PmStr *why)
{
	const cJSON *type = pm_json_get(schema, "type"), *items = pm_json_get(schema, "items"),
		    *any = pm_json_get(schema, "anyOf"), *s;
	PmStr reasons = PM_STR_INIT;
	int ok = has_type(type, j), one = !any, i = 0;

	if (!ok) {
		begin(j, where, why);
		say_types(type, why);
		pm_str_add(why, "; ");
		return 0;
	}
	ok = check_enum(pm_json_get(schema, "enum"), j, where, why) && check_range(schema, j, where, why);
	if (cJSON_IsObject(j))
		ok &= check_members(schema, j, where, flags, why);
	cJSON_ArrayForEach(s, j)
	{
		PmStr name = PM_STR_INIT;

		if (!items || !cJSON_IsArray(j))
			break;
		pm_str_addf(&name, "%s[%d]", where, i++);
		ok &= pm_schema_check(items, s, name.s, flags, why);
		pm_str_release(&name);
	}
	cJSON_ArrayForEach(s, any)
	{
		pm_str_addf(&reasons, "\n  not \"%s\": ", pm_json_str(s, "title", ""));
		one |= pm_schema_check(s, j, where, flags, &reasons);
	}
	if (!one)
		pm_str_addf(why, "%s is none of:%s", where, reasons.s);
	pm_str_release(&reasons);
	return ok && one;
}
