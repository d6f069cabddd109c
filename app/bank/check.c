/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - whether a bank is as it was made. */
#include "app/bank/check.h"

#include "app/bank/evidence.h"
#include "base/sys/io.h"
#include "matcher/host/pass_host.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Check {
	const PmBank *b;
	const PmBankEntry *e;
	PmObject object; /* as it is now; sha256 "" when it cannot be read */
	cJSON *problems;
} Check;

static void say(Check *c, const char *fmt, ...) PM_PRINTF(2, 3);

static void say(Check *c, const char *fmt, ...)
{
	cJSON *o = cJSON_CreateObject();
	char text[PM_ERR_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	cJSON_AddStringToObject(o, "entry", c->e->folder);
	cJSON_AddStringToObject(o, "what", text);
	cJSON_AddItemToArray(c->problems, o);
}

/* ---- files ---- */

static void check_file(Check *c, const char *file, const char *sha256)
{
	PmStr path = PM_STR_INIT, bytes = PM_STR_INIT;
	char hex[PM_SHA256_HEX];

	pm_bank_path(c->b, c->e, file, &path);
	if (pm_read_file(path.s, 0, &bytes, NULL)) {
		say(c, "%s is missing or cannot be read.", file);
	} else {
		pm_sha256_hex(bytes.s, bytes.len, hex);
		if (strcmp(hex, sha256) != 0)
			say(c, "%s was changed: its SHA-256 is %.16s..., entry.json says %.16s...", file, hex,
			    sha256);
	}
	pm_str_release(&path);
	pm_str_release(&bytes);
}

static void check_list(Check *c, const char *key)
{
	const cJSON *f;

	cJSON_ArrayForEach(f, cJSON_GetObjectItem(c->e->json, key))
		check_file(c, pm_json_str(f, "file", ""), pm_json_str(f, "sha256", ""));
}

static int is_named(const PmBankEntry *e, const char *file)
{
	static const char *const lists[] = { "sources", "records" };
	const cJSON *f;

	if (!strcmp(file, "entry.json") ||
	    !strcmp(file, pm_json_str(cJSON_GetObjectItem(e->json, "pass"), "file", "")))
		return 1;
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		cJSON_ArrayForEach(f, cJSON_GetObjectItem(e->json, lists[i]))
		{
			if (!strcmp(pm_json_str(f, "file", ""), file))
				return 1;
		}
	}
	return 0;
}

/* Files below `folder` ("" = the entry) that entry.json does not name. */
static PmStatus find_strangers(Check *c, const char *folder, PmErr *err)
{
	PmStr path = PM_STR_INIT;
	PmNames names = { 0 };
	PmStatus st;

	pm_bank_path(c->b, c->e, folder, &path);
	st = pm_list_dir(path.s, &names, err);
	for (size_t i = 0; i < names.n && !st; i++) {
		PmStr file = PM_STR_INIT, whole = PM_STR_INIT;

		pm_str_addf(&file, "%s%s%s", folder, *folder ? "/" : "", names.v[i]);
		pm_bank_path(c->b, c->e, file.s, &whole);
		if (pm_path_is_dir(whole.s) && !pm_path_is_link(whole.s))
			st = find_strangers(c, file.s, err);
		else if (!is_named(c->e, file.s))
			say(c, "%s is no file of this entry.", file.s);
		pm_str_release(&file);
		pm_str_release(&whole);
	}
	pm_names_release(&names);
	pm_str_release(&path);
	return st;
}

/* ---- the object ---- */

static PmStatus check_object(Check *c, PmErr *err)
{
	PmStr path = PM_STR_INIT;
	PmPassOutcome o = { 0 };
	PmPassOpts po = { 0 };
	PmStatus st = PM_OK;

	pm_bank_object(c->b, c->e, &path);
	if (pm_object_read(path.s, &c->object, NULL)) {
		say(c, "The object %s is missing or cannot be read.", pm_path_base(path.s));
		c->object.sha256[0] = 0;
	} else if (strcmp(c->object.sha256, pm_bank_sha256(c->e)) != 0) {
		say(c, "The object %s was changed: its SHA-256 is %.16s..., entry.json says %.16s...",
		    pm_path_base(path.s), c->object.sha256, pm_bank_sha256(c->e));
	} else {
		po.object = &c->object;
		st = pm_pass_lint(path.s, &po, &o, err);
		if (!st && o.verdict != PM_VERDICT_OK)
			say(c, "passmith check refuses the object (%s): %s", pm_verdict_name(o.verdict),
			    o.message);
		pm_pass_outcome_release(&o);
	}
	pm_str_release(&path);
	return st;
}

/* ---- evidence ---- */

/* The same piece, apart from what only the bank has. */
static int same_piece(const cJSON *a, const cJSON *b)
{
	cJSON *x = cJSON_Duplicate(a, 1), *y = cJSON_Duplicate(b, 1);
	char hex[2][PM_SHA256_HEX];

	cJSON_DeleteItemFromObject(x, "record");
	cJSON_DeleteItemFromObject(y, "record");
	pm_bank_digest(x, hex[0]);
	pm_bank_digest(y, hex[1]);
	cJSON_Delete(x);
	cJSON_Delete(y);
	return !strcmp(hex[0], hex[1]);
}

/* The record says now what it said when the piece was made. */
static void check_record(Check *c, const cJSON *piece, const char *record)
{
	const char *key = pm_json_str(piece, "signed_by", "");
	cJSON *list = cJSON_CreateArray();
	PmStr path = PM_STR_INIT;
	const cJSON *e;
	PmErr err;
	int same = 0;

	pm_err_init(&err);
	pm_bank_path(c->b, c->e, record, &path);
	if (!*c->object.sha256)
		; /* said already */
	else if (pm_bank_from_record(path.s, *key ? key : NULL, &c->object, list, &err)) {
		say(c, "%s", err.text);
	} else {
		cJSON_ArrayForEach(e, list) same |= same_piece(e, piece);
		if (!same)
			say(c, "%s does not say what the evidence on '%s' says.", record,
			    pm_json_str(cJSON_GetObjectItem(piece, "task"), "name", ""));
	}
	cJSON_Delete(list);
	pm_str_release(&path);
}

static void check_evidence(Check *c)
{
	const cJSON *e;
	PmStr why = PM_STR_INIT;
	char hex[PM_SHA256_HEX];

	pm_bank_digest(c->e->json, hex);
	if (strcmp(hex, pm_json_str(c->e->json, "digest", "")) != 0)
		say(c, "entry.json was changed: its digest is %.16s..., it says %.16s...", hex,
		    pm_json_str(c->e->json, "digest", ""));
	if (!cJSON_GetArraySize(pm_bank_evidence(c->e)))
		say(c, "There is no evidence for the pass.");
	cJSON_ArrayForEach(e, pm_bank_evidence(c->e))
	{
		const char *task = pm_json_str(cJSON_GetObjectItem(e, "task"), "name", "");
		const char *record = pm_json_str(e, "record", "");

		pm_bank_digest(e, hex);
		if (strcmp(hex, pm_json_str(e, "digest", "")) != 0)
			say(c, "The evidence on task '%s' was changed.", task);
		if (strcmp(pm_json_str(e, "pass_sha256", ""), pm_bank_sha256(c->e)) != 0)
			say(c, "The evidence on task '%s' is about another object.", task);
		if (*record)
			check_record(c, e, record);
	}
	if (!pm_bank_accepts(pm_bank_evidence(c->e), pm_json_num(c->e->json, "above", 1), &why))
		say(c, "%s", why.s);
	pm_str_release(&why);
}

PmStatus pm_bank_check(const PmBank *b, cJSON *problems, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < b->entry.n && !st; i++) {
		Check c = {
			.b = b, .e = &b->entry.v[i], .object = { .bytes = PM_STR_INIT }, .problems = problems
		};

		st = check_object(&c, err);
		check_list(&c, "sources");
		check_list(&c, "records");
		if (!st)
			st = find_strangers(&c, "", err);
		check_evidence(&c);
		pm_object_release(&c.object);
	}
	return st;
}
