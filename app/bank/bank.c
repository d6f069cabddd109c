/* SPDX-License-Identifier: Apache-2.0 */
/* bank.c - reading a bank. */
#include "app/bank/bank.h"

#include "base/sys/io.h"

#include <stdlib.h>
#include <string.h>

static const size_t largest = (size_t)1 << 28; /* of an entry.json */

/* Names stay below the entry, whoever wrote them. */
static int is_below(const char *file)
{
	return *file && *file != '/' && strcmp(file, "..") != 0 && strncmp(file, "../", 3) != 0 &&
	       !strstr(file, "/../") && !pm_str_ends(file, "/..");
}

static int files_are_below(const cJSON *list)
{
	const cJSON *f;

	cJSON_ArrayForEach(f, list)
	{
		if (!is_below(pm_json_str(f, "file", "")))
			return 0;
	}
	return 1;
}

static PmStatus check_names(const cJSON *j, PmErr *err)
{
	const char *file = pm_json_str(cJSON_GetObjectItem(j, "pass"), "file", "");

	if (!is_below(file) || strchr(file, '/') || !files_are_below(cJSON_GetObjectItem(j, "sources")) ||
	    !files_are_below(cJSON_GetObjectItem(j, "records")))
		return pm_err(err, PM_E_INVALID,
			      "It names no object, or a file that is not below its folder; take the entry "
			      "out of the bank.");
	return PM_OK;
}

static PmStatus read_entry(PmBank *b, const char *folder, const char *path, PmErr *err)
{
	PmStr text = PM_STR_INIT;
	cJSON *j = NULL;
	PmStatus st = pm_read_file(path, largest, &text, err);

	if (!st)
		st = pm_json_parse(text.s, text.len, &j, err);
	if (!st && (strcmp(pm_json_str(j, "format", ""), PM_BANK_FORMAT) != 0 ||
		    !cJSON_IsArray(cJSON_GetObjectItem(j, "evidence"))))
		st = pm_err(err, PM_E_INVALID,
			    "It is no \"" PM_BANK_FORMAT
			    "\" with evidence; add the pass again with passmith bank add.");
	if (!st)
		st = check_names(j, err);
	pm_str_release(&text);
	if (st) {
		cJSON_Delete(j);
		return pm_err_ctx(err, "%s", path);
	}
	PM_VEC_PUSH(&b->entry, ((PmBankEntry){ pm_xstrdup(folder), j }));
	return PM_OK;
}

PmStatus pm_bank_open(const char *dir, PmBank *out, PmErr *err)
{
	PmNames names = { 0 };
	PmStatus st;

	*out = (PmBank){ .dir = pm_xstrdup(dir) };
	st = pm_list_dir(dir, &names, err);
	for (size_t i = 0; i < names.n && !st; i++) {
		PmStr folder = PM_STR_INIT, path = PM_STR_INIT;

		pm_path_join(dir, names.v[i], &folder);
		pm_path_join(folder.s, "entry.json", &path);
		if (pm_path_exists(path.s))
			st = read_entry(out, names.v[i], path.s, err);
		pm_str_release(&folder);
		pm_str_release(&path);
	}
	pm_names_release(&names);
	return st;
}

void pm_bank_release(PmBank *b)
{
	for (size_t i = 0; i < b->entry.n; i++) {
		free(b->entry.v[i].folder);
		cJSON_Delete(b->entry.v[i].json);
	}
	PM_VEC_RELEASE(&b->entry);
	free(b->dir);
	*b = (PmBank){ 0 };
}

const char *pm_bank_name(const PmBankEntry *e)
{
	return pm_json_str(cJSON_GetObjectItem(e->json, "pass"), "name", "");
}

const char *pm_bank_sha256(const PmBankEntry *e)
{
	return pm_json_str(cJSON_GetObjectItem(e->json, "pass"), "sha256", "");
}

void pm_bank_path(const PmBank *b, const PmBankEntry *e, const char *file, PmStr *out)
{
	PmStr folder = PM_STR_INIT;

	pm_path_join(b->dir, e->folder, &folder);
	if (*file)
		pm_path_join(folder.s, file, out);
	else
		pm_str_add(out, folder.s);
	pm_str_release(&folder);
}

void pm_bank_object(const PmBank *b, const PmBankEntry *e, PmStr *out)
{
	pm_bank_path(b, e, pm_json_str(cJSON_GetObjectItem(e->json, "pass"), "file", "pass.so"), out);
}

const cJSON *pm_bank_evidence(const PmBankEntry *e)
{
	return cJSON_GetObjectItem(e->json, "evidence");
}

const PmBankEntry *pm_bank_find(const PmBank *b, const char *sha256)
{
	for (size_t i = 0; i < b->entry.n; i++)
		if (!strcmp(pm_bank_sha256(&b->entry.v[i]), sha256))
			return &b->entry.v[i];
	return NULL;
}

/* Read back first: what is hashed is what a reader of the file will print. */
void pm_bank_digest(const cJSON *object, char hex[PM_SHA256_HEX])
{
	cJSON *copy = cJSON_Duplicate(object, 1), *back = NULL;
	PmStr text = PM_STR_INIT;

	cJSON_DeleteItemFromObject(copy, "digest");
	pm_json_print(copy, 0, &text);
	if (!pm_json_parse(text.s, text.len, &back, NULL)) {
		pm_str_clear(&text);
		pm_json_print(back, 0, &text);
	}
	pm_sha256_hex(text.s, text.len, hex);
	cJSON_Delete(copy);
	cJSON_Delete(back);
	pm_str_release(&text);
}

void pm_bank_seal(cJSON *object)
{
	char hex[PM_SHA256_HEX];

	pm_bank_digest(object, hex);
	cJSON_DeleteItemFromObject(object, "digest");
	cJSON_AddStringToObject(object, "digest", hex);
}
