/* SPDX-License-Identifier: Apache-2.0 */
/* files.c - the author's files: changes as diffs, and the files that changes lead to. */
#include "app/trajectory/files.h"

#include "app/trajectory/diff.h"

#include <string.h>

static void free_file(PmFile *f)
{
	free(f->path);
	free(f->text);
}

void pm_files_release(PmFiles *f)
{
	for (size_t i = 0; i < f->list.n; i++)
		free_file(&f->list.v[i]);
	PM_VEC_RELEASE(&f->list);
}

/* Where the path is, or would be. */
static size_t place(const PmFiles *f, const char *path, int *there)
{
	size_t i = 0;

	while (i < f->list.n && strcmp(f->list.v[i].path, path) < 0)
		i++;
	*there = i < f->list.n && strcmp(f->list.v[i].path, path) == 0;
	return i;
}

const PmFile *pm_files_get(const PmFiles *f, const char *path)
{
	int there;
	size_t i = place(f, path, &there);

	return there ? &f->list.v[i] : NULL;
}

static void take_out(PmFiles *f, const char *path)
{
	int there;
	size_t i = place(f, path, &there);

	if (!there)
		return;
	free_file(&f->list.v[i]);
	memmove(&f->list.v[i], &f->list.v[i + 1], (f->list.n - i - 1) * sizeof *f->list.v);
	f->list.n--;
}

/* text NULL: too long, of this digest. */
static void put(PmFiles *f, const char *path, const char *text, const char *sha256)
{
	PmFile new = { pm_xstrdup(path), pm_xstrdup(text ? text : ""), "", !text };
	int there;
	size_t i = place(f, path, &there);

	memcpy(new.sha256, sha256, PM_SHA256_HEX - 1);
	if (there) {
		free_file(&f->list.v[i]);
	} else {
		PM_VEC_RESERVE(&f->list, f->list.n + 1);
		memmove(&f->list.v[i + 1], &f->list.v[i], (f->list.n - i) * sizeof *f->list.v);
		f->list.n++;
	}
	f->list.v[i] = new;
}

/* The shorter of a diff and the text. */
static void add_content(cJSON *change, const PmFile *was, const char *text)
{
	PmStr diff = PM_STR_INIT;

	if (was && !was->too_long && pm_diff_unified(was->text, text, &diff) && diff.len < strlen(text))
		cJSON_AddStringToObject(change, "diff", diff.s);
	else
		cJSON_AddStringToObject(change, "text", text);
	pm_str_release(&diff);
}

void pm_files_set(PmFiles *f, const char *path, const char *text, size_t n, cJSON *changes)
{
	const PmFile *was = pm_files_get(f, path);
	char sha[PM_SHA256_HEX];
	int keep = text && n <= PM_FILES_MAX && !memchr(text, '\0', n);
	cJSON *c;

	if (!text && !was)
		return;
	if (text)
		pm_sha256_hex(text, n, sha);
	if (text && was && strcmp(was->sha256, sha) == 0)
		return;
	c = cJSON_CreateObject();
	cJSON_AddStringToObject(c, "path", path);
	if (!text) {
		cJSON_AddTrueToObject(c, "deleted");
		take_out(f, path);
	} else {
		char *copy = keep ? pm_xmalloc(n + 1) : NULL;

		if (copy) {
			memcpy(copy, text, n);
			copy[n] = '\0';
			add_content(c, was, copy);
		} else {
			pm_json_add_i64(c, "bytes", (int64_t)n);
		}
		cJSON_AddStringToObject(c, "sha256", sha);
		put(f, path, copy, sha);
		free(copy);
	}
	cJSON_AddItemToArray(changes, c);
}

static PmStatus apply_one(PmFiles *f, const cJSON *c, PmErr *err)
{
	const char *path = pm_json_str(c, "path", ""), *want = pm_json_str(c, "sha256", "");
	const char *text = pm_json_str(c, "text", NULL), *diff = pm_json_str(c, "diff", NULL);
	const PmFile *was = pm_files_get(f, path);
	PmStr made = PM_STR_INIT;
	char sha[PM_SHA256_HEX];
	PmStatus st = PM_OK;

	if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(c, "deleted"))) {
		take_out(f, path);
		return PM_OK;
	}
	if (!text && diff)
		st = pm_diff_apply(was ? was->text : "", diff, &made, err);
	else
		pm_str_add(&made, text ? text : "");
	pm_sha256_hex(made.s, made.len, sha);
	if (!st &&
	    (!*path || strlen(want) != PM_SHA256_HEX - 1 || ((text || diff) && strcmp(sha, want) != 0)))
		st = pm_err(err, PM_E_INVALID,
			    "What a step says of file '%s' does not give the digest that it says; the "
			    "trajectory was changed by hand or is not whole.",
			    path);
	if (!st)
		put(f, path, text || diff ? made.s : NULL, want);
	pm_str_release(&made);
	return st;
}

PmStatus pm_files_apply(PmFiles *f, const cJSON *changes, PmErr *err)
{
	const cJSON *c;
	PmStatus st = PM_OK;

	cJSON_ArrayForEach(c, changes) if (!st) st = apply_one(f, c, err);
	return st;
}

void pm_files_digest(const PmFiles *f, char hex[PM_SHA256_HEX])
{
	PmStr s = PM_STR_INIT;

	for (size_t i = 0; i < f->list.n; i++) {
		pm_str_add_quoted(&s, f->list.v[i].path, strlen(f->list.v[i].path));
		pm_str_addf(&s, " %s\n", f->list.v[i].sha256);
	}
	pm_sha256_hex(s.s, s.len, hex);
	pm_str_release(&s);
}
