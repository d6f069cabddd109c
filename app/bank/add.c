/* SPDX-License-Identifier: Apache-2.0 */
/* add.c - putting an accepted pass into a bank. */
#include "app/bank/add.h"

#include "base/core/version.h"
#include "base/sys/io.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static const size_t largest_source = (size_t)1 << 26;

typedef struct Add {
	const char *dir;
	const PmObject *object;
	const cJSON *evidence;
	const PmBankFiles *files;
	PmBank bank;
	PmStr folder; /* path */
	char *name;   /* of the pass */
	cJSON *json;  /* the new entry.json */
	PmBankAdded *out;
} Add;

/* The file's name without .so, as far as it makes a name of a folder. */
static char *pass_name(const char *path)
{
	const char *base = pm_path_base(path);
	size_t n = strlen(base) - (pm_str_ends(base, ".so") ? 3 : 0);
	PmStr s = PM_STR_INIT;

	for (size_t i = 0; i < n && s.len < 64; i++) {
		char c = base[i];

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		    strchr("_-.", c))
			pm_str_addc(&s, c);
	}
	return pm_str_detach(&s, NULL);
}

static PmStatus put_file(const Add *a, const char *file, const char *bytes, size_t n, PmErr *err)
{
	PmStr path = PM_STR_INIT, dir = PM_STR_INIT;
	PmStatus st;

	pm_path_join(a->folder.s, file, &path);
	pm_path_dir(path.s, &dir);
	st = pm_mkdirs(dir.s, err);
	if (!st)
		st = pm_write_file(path.s, bytes, n, err);
	pm_str_release(&path);
	pm_str_release(&dir);
	return st;
}

/* ---- files ---- */

static void set_pass(Add *a)
{
	cJSON *o = cJSON_CreateObject();
	PmStr file = PM_STR_INIT;

	pm_str_addf(&file, "%s.so", a->name);
	cJSON_AddStringToObject(o, "name", a->name);
	cJSON_AddStringToObject(o, "file", file.s);
	cJSON_AddStringToObject(o, "sha256", a->object->sha256);
	pm_json_add_i64(o, "bytes", (int64_t)a->object->bytes.len);
	cJSON_DeleteItemFromObject(a->json, "pass");
	cJSON_AddItemToObject(a->json, "pass", o);
	pm_str_release(&file);
}

/* {"file", "sha256"} in `list`, in the place of one with that name. */
static void list_file(cJSON *list, const char *file, const char *bytes, size_t n)
{
	cJSON *o = cJSON_CreateObject();
	char hex[PM_SHA256_HEX];
	int at = 0;

	pm_sha256_hex(bytes, n, hex);
	cJSON_AddStringToObject(o, "file", file);
	cJSON_AddStringToObject(o, "sha256", hex);
	while (at < cJSON_GetArraySize(list) &&
	       strcmp(pm_json_str(cJSON_GetArrayItem(list, at), "file", ""), file) != 0)
		at++;
	if (at < cJSON_GetArraySize(list))
		cJSON_ReplaceItemInArray(list, at, o);
	else
		cJSON_AddItemToArray(list, o);
}

static cJSON *array_of(cJSON *o, const char *key)
{
	cJSON *list = cJSON_GetObjectItem(o, key);

	return cJSON_IsArray(list) ? list : cJSON_AddArrayToObject(o, key);
}

static PmStatus put_sources(Add *a, PmErr *err)
{
	cJSON *list = array_of(a->json, "sources");
	PmStatus st = PM_OK;

	for (size_t i = 0; i < a->files->n_sources && !st; i++) {
		PmStr text = PM_STR_INIT, file = PM_STR_INIT;

		pm_str_addf(&file, "source/%s", pm_path_base(a->files->source[i]));
		st = pm_read_file(a->files->source[i], largest_source, &text, err);
		if (!st)
			st = put_file(a, file.s, text.s, text.len, err);
		if (!st)
			list_file(list, file.s, text.s, text.len);
		pm_str_release(&text);
		pm_str_release(&file);
	}
	return st;
}

/* *file becomes its name in the entry; "" when there is none. */
static PmStatus put_record(Add *a, PmStr *file, PmErr *err)
{
	PmStr text = PM_STR_INIT;
	char hex[PM_SHA256_HEX];
	PmStatus st;

	if (!a->files->record)
		return PM_OK;
	st = pm_read_file(a->files->record, 0, &text, err);
	if (!st) {
		pm_sha256_hex(text.s, text.len, hex);
		pm_str_addf(file, "records/%.12s.record", hex);
		st = put_file(a, file->s, text.s, text.len, err);
	}
	if (!st)
		list_file(array_of(a->json, "records"), file->s, text.s, text.len);
	pm_str_release(&text);
	return st;
}

/* ---- evidence ---- */

static void put_evidence(Add *a, const char *record)
{
	cJSON *list = array_of(a->json, "evidence");
	const cJSON *e;

	cJSON_ArrayForEach(e, a->evidence)
	{
		cJSON *copy = cJSON_Duplicate(e, 1);
		int at = 0;

		if (*record)
			cJSON_AddStringToObject(copy, "record", record);
		pm_bank_seal(copy);
		while (at < cJSON_GetArraySize(list) &&
		       strcmp(pm_json_str(cJSON_GetArrayItem(list, at), "key", ""),
			      pm_json_str(copy, "key", "")) != 0)
			at++;
		if (at < cJSON_GetArraySize(list)) {
			cJSON_ReplaceItemInArray(list, at, copy);
		} else {
			cJSON_AddItemToArray(list, copy);
			a->out->n_new++;
		}
	}
	a->out->n = cJSON_GetArraySize(list);
}

static PmStatus put_json(Add *a, PmErr *err)
{
	PmStr text = PM_STR_INIT;
	PmStatus st;

	cJSON_DeleteItemFromObject(a->json, "passmith");
	cJSON_DeleteItemFromObject(a->json, "above");
	cJSON_AddNumberToObject(a->json, "above", a->files->above);
	cJSON_AddStringToObject(a->json, "passmith", PM_VERSION);
	pm_bank_seal(a->json);
	pm_json_print(a->json, 1, &text);
	st = put_file(a, "entry.json", text.s, text.len, err);
	pm_str_release(&text);
	return st;
}

/* ---- the whole ---- */

/* A lock of the folder that ends with the process. */
static PmStatus lock_bank(const char *dir, int *fd, PmErr *err)
{
	PmStatus st = pm_mkdirs(dir, err);

	*fd = -1;
	if (st)
		return st;
	*fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*fd < 0 || flock(*fd, LOCK_EX))
		return pm_path_error("lock", dir, 1, err);
	return PM_OK;
}

static void begin_entry(Add *a)
{
	const PmBankEntry *e = pm_bank_find(&a->bank, a->object->sha256);
	PmStr folder = PM_STR_INIT;

	a->out->is_new = !e;
	if (e) {
		a->json = cJSON_Duplicate(e->json, 1);
		a->name = pm_xstrdup(pm_bank_name(e));
		pm_str_add(&folder, e->folder);
	} else {
		a->json = cJSON_CreateObject();
		cJSON_AddStringToObject(a->json, "format", PM_BANK_FORMAT);
		a->name = pass_name(a->object->path);
		pm_str_addf(&folder, "%s-%.12s", a->name, a->object->sha256);
	}
	pm_path_join(a->dir, folder.s, &a->folder);
	a->out->folder = pm_str_detach(&folder, NULL);
}

static PmStatus put_all(Add *a, PmErr *err)
{
	PmStr so = PM_STR_INIT, record = PM_STR_INIT;
	PmStatus st;

	begin_entry(a);
	set_pass(a);
	pm_str_addf(&so, "%s.so", a->name);
	st = put_file(a, so.s, a->object->bytes.s, a->object->bytes.len, err);
	if (!st)
		st = put_sources(a, err);
	if (!st)
		st = put_record(a, &record, err);
	if (!st) {
		put_evidence(a, record.len ? record.s : "");
		st = put_json(a, err);
	}
	pm_str_release(&so);
	pm_str_release(&record);
	return st;
}

PmStatus pm_bank_add(const char *dir, const PmObject *object, const cJSON *evidence, const PmBankFiles *files,
		     PmBankAdded *out, PmErr *err)
{
	Add a = { .dir = dir,
		  .object = object,
		  .evidence = evidence,
		  .files = files,
		  .folder = PM_STR_INIT,
		  .out = out };
	int fd;
	PmStatus st = lock_bank(dir, &fd, err);

	*out = (PmBankAdded){ 0 };
	if (!st)
		st = pm_bank_open(dir, &a.bank, err);
	if (!st)
		st = put_all(&a, err);
	if (fd >= 0)
		close(fd);
	if (st) {
		free(out->folder);
		*out = (PmBankAdded){ 0 };
	}
	pm_bank_release(&a.bank);
	pm_str_release(&a.folder);
	free(a.name);
	cJSON_Delete(a.json);
	return st;
}
