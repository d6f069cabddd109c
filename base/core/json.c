/* SPDX-License-Identifier: Apache-2.0 */
/* json.c - building and reading JSON over cJSON's tree.
 *
 * cJSON keeps numbers as doubles and prints them to 15 digits when that is "near enough". We print what
 * reads back as the same bits, and keep the source text of integers beyond 2^53 in `valuestring` (unused
 * by cJSON for numbers, but copied and freed with the item), so that 64-bit seeds and sizes survive.
 */
#include "base/core/json.h"

#include "base/core/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT 9007199254740992.0 /* 2^53: above it not every integer is a double */

/* The next number at or after p, outside strings; NULL at the end. Only for text that cJSON accepted. */
static const char *next_number(const char *p, size_t *len)
{
	for (; *p; p++) {
		if (*p == '"') {
			for (p++; *p && *p != '"'; p++)
				if (*p == '\\' && p[1])
					p++;
			if (!*p)
				return NULL;
		} else if (*p == '-' || (*p >= '0' && *p <= '9')) {
			*len = strspn(p, "+-.0123456789eE");
			return p;
		}
	}
	return NULL;
}

/* Walks the tree in document order beside the text and keeps the text of large integers. Recursion is
 * bounded by cJSON's own nesting limit (CJSON_NESTING_LIMIT). Returns where in the text it has got to. */
static const char *keep_integers(cJSON *j, const char *text)
{
	cJSON *child;
	const char *at;
	size_t n = 0;

	if (cJSON_IsNumber(j)) {
		at = next_number(text, &n);
		if (!at)
			return text;
		if (fabs(j->valuedouble) >= EXACT && strspn(at, "-0123456789") == n) {
			j->valuestring = cJSON_malloc(n + 1);
			if (!j->valuestring)
				PM_BUG("out of memory for a number of %zu digits", n);
			memcpy(j->valuestring, at, n);
			j->valuestring[n] = '\0';
		}
		return at + n;
	}
	cJSON_ArrayForEach(child, j) text = keep_integers(child, text);
	return text;
}

PmStatus pm_json_parse(const char *text, size_t n, cJSON **out, PmErr *err)
{
	PmStr copy = PM_STR_INIT; /* terminated: cJSON 1.7 looks one byte too far on some cut-off texts */
	const char *end = NULL, *p;
	size_t line = 1, column = 1;
	cJSON *j = NULL;
	PmStatus rc = PM_OK;

	pm_str_addn(&copy, text, n);
	end = copy.s;
	if (strlen(copy.s) == n) {
		j = cJSON_ParseWithLengthOpts(copy.s, n + 1, &end, 0);
		if (j)
			end += strspn(end, " \t\r\n");
	} else {
		end = copy.s + strlen(copy.s); /* a NUL byte: cJSON would take it for white space */
	}
	if (j && end == copy.s + n) {
		keep_integers(j, copy.s);
		*out = j;
		goto out;
	}
	for (p = copy.s; p < end && p < copy.s + n; p++) {
		column = *p == '\n' ? 1 : column + 1;
		line += *p == '\n';
	}
	rc = pm_err(err, PM_E_INVALID, "Malformed JSON at line %zu, column %zu%s.", line, column,
		    j ? ": something follows the value" : "");
	cJSON_Delete(j);
out:
	pm_str_release(&copy);
	return rc;
}

static void add_number(const cJSON *j, PmStr *out)
{
	char text[40];
	int digits;

	if (j->valuestring) {
		pm_str_add(out, j->valuestring);
		return;
	}
	if (!isfinite(j->valuedouble)) {
		pm_str_add(out, "null");
		return;
	}
	for (digits = 15; digits <= 17; digits++) { /* 17 always read back alike; fewer do for most */
		snprintf(text, sizeof text, "%.*g", digits, j->valuedouble);
		if (strtod(text, NULL) == j->valuedouble)
			break;
	}
	pm_str_add(out, text);
}

static void add_string(const char *s, PmStr *out)
{
	static const char plain[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";

	pm_str_addc(out, '"');
	for (; s && *s; s++) {
		const char *special = strchr(plain, *s);

		if (special)
			pm_str_addf(out, "\\%c", letter[special - plain]);
		else if ((unsigned char)*s < 0x20)
			pm_str_addf(out, "\\u%04x", (unsigned)*s);
		else
			pm_str_addc(out, *s);
	}
	pm_str_addc(out, '"');
}

static void new_line(int pretty, int depth, PmStr *out)
{
	if (!pretty)
		return;
	pm_str_addc(out, '\n');
	while (depth--)
		pm_str_add(out, "  ");
}

static void add_value(const cJSON *j, int pretty, int depth, PmStr *out)
{
	int object = cJSON_IsObject(j);
	const cJSON *child;

	if (cJSON_IsNumber(j)) {
		add_number(j, out);
	} else if (cJSON_IsString(j)) {
		add_string(j->valuestring, out);
	} else if (cJSON_IsRaw(j)) {
		pm_str_add(out, j->valuestring ? j->valuestring : "null");
	} else if (cJSON_IsBool(j)) {
		pm_str_add(out, cJSON_IsTrue(j) ? "true" : "false");
	} else if (object || cJSON_IsArray(j)) {
		pm_str_addc(out, object ? '{' : '[');
		cJSON_ArrayForEach(child, j)
		{
			if (child != j->child)
				pm_str_addc(out, ',');
			new_line(pretty, depth + 1, out);
			if (object) {
				add_string(child->string, out);
				pm_str_add(out, pretty ? ": " : ":");
			}
			add_value(child, pretty, depth + 1, out);
		}
		if (j->child)
			new_line(pretty, depth, out);
		pm_str_addc(out, object ? '}' : ']');
	} else {
		pm_str_add(out, "null");
	}
}

void pm_json_print(const cJSON *j, int pretty, PmStr *out)
{
	add_value(j, pretty, 0, out);
	pm_str_addc(out, '\n');
}

const cJSON *pm_json_get(const cJSON *obj, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(obj, key);
}

const char *pm_json_str(const cJSON *obj, const char *key, const char *dflt)
{
	const cJSON *j = pm_json_get(obj, key);

	return cJSON_IsString(j) && j->valuestring ? j->valuestring : dflt;
}

double pm_json_num(const cJSON *obj, const char *key, double dflt)
{
	const cJSON *j = pm_json_get(obj, key);
	double v;

	if (cJSON_IsRaw(j) && j->valuestring && pm_parse_f64(j->valuestring, &v))
		return v;
	return cJSON_IsNumber(j) ? j->valuedouble : dflt;
}

int64_t pm_json_i64(const cJSON *obj, const char *key, int64_t dflt)
{
	const cJSON *j = pm_json_get(obj, key);
	int64_t v;

	if ((cJSON_IsNumber(j) || cJSON_IsRaw(j)) && j->valuestring)
		return pm_parse_i64(j->valuestring, &v) ? v : dflt;
	if (!cJSON_IsNumber(j) || j->valuedouble != floor(j->valuedouble) || fabs(j->valuedouble) > EXACT)
		return dflt;
	return (int64_t)j->valuedouble;
}

void pm_json_add_i64(cJSON *obj, const char *key, int64_t v)
{
	char text[24];

	snprintf(text, sizeof text, "%lld", (long long)v);
	if (!cJSON_AddRawToObject(obj, key, text))
		PM_BUG("cannot add the member \"%s\" to a JSON value", key);
}

void pm_json_add_num(cJSON *obj, const char *key, double v)
{
	if (!(isfinite(v) ? cJSON_AddNumberToObject(obj, key, v) : cJSON_AddNullToObject(obj, key)))
		PM_BUG("cannot add the member \"%s\" to a JSON value", key);
}

void pm_json_add_element(cJSON *obj, const char *key, double v)
{
	if (isfinite(v))
		cJSON_AddNumberToObject(obj, key, v);
	else
		cJSON_AddStringToObject(obj, key, isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
}

double pm_json_element(const cJSON *obj, const char *key)
{
	const char *text = pm_json_str(obj, key, "");

	if (!strcmp(text, "inf") || !strcmp(text, "-inf"))
		return *text == '-' ? -INFINITY : INFINITY;
	return pm_json_num(obj, key, NAN);
}
