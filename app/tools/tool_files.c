/* SPDX-License-Identifier: Apache-2.0 */
/* tool_files.c - list_files, read_file, write_file, edit_file, new_pass. */
#include "app/tools/tools_priv.h"

#include "matcher/host/build.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_DEPTH = 8 };

/* ---- list ---- */

typedef struct Found {
	char *path;
	int64_t bytes;
} Found;
typedef struct List {
	PM_VEC(Found) list;
} List;

static int by_path(const void *a, const void *b)
{
	return strcmp(((const Found *)a)->path, ((const Found *)b)->path);
}

/* Hidden entries (runs, among them) and links are no files of the author. Takes fd. */
static void walk(int fd, const char *prefix, int depth, List *out)
{
	DIR *d = fdopendir(fd);
	struct dirent *e;
	struct stat st;

	if (!d) {
		close(fd);
		return;
	}
	while ((e = readdir(d)) != NULL && out->list.n < PM__FILES_MAX) {
		PmStr path = PM_STR_INIT;

		if (e->d_name[0] == '.' || fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		pm_str_addf(&path, "%s%s", prefix, e->d_name);
		if (S_ISDIR(st.st_mode) && depth < MAX_DEPTH) {
			int sub = openat(dirfd(d), e->d_name,
					 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

			pm_str_addc(&path, '/');
			if (sub >= 0)
				walk(sub, path.s, depth + 1, out);
		} else if (S_ISREG(st.st_mode)) {
			Found f = { pm_str_detach(&path, NULL), st.st_size };

			PM_VEC_PUSH(&out->list, f);
		}
		pm_str_release(&path);
	}
	closedir(d);
}

cJSON *pm__tool_list_files(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error)
{
	List found = { 0 };
	cJSON *j = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(j, "files");
	/* Not a duplicate: its place in the folder would be the one of t->dir. */
	int fd = openat(t->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)args;
	(void)run;
	if (fd < 0) {
		cJSON_Delete(j);
		return pm__error(is_error, "Cannot list the workspace: %s.", strerror(errno));
	}
	walk(fd, "", 0, &found);
	if (found.list.n)
		qsort(found.list.v, found.list.n, sizeof *found.list.v, by_path);
	for (size_t i = 0; i < found.list.n; i++) {
		cJSON *f = cJSON_CreateObject();

		cJSON_AddStringToObject(f, "path", found.list.v[i].path);
		pm_json_add_i64(f, "bytes", found.list.v[i].bytes);
		cJSON_AddItemToArray(list, f);
		free(found.list.v[i].path);
	}
	PM_VEC_RELEASE(&found.list);
	return j;
}

/* ---- read ---- */

static const char *line_start(const char *s, int64_t line)
{
	while (line-- > 1 && *s) {
		s += strcspn(s, "\n");
		s += *s == '\n';
	}
	return s;
}

static int64_t lines_of(const char *s)
{
	int64_t n = 0;

	for (; *s; n++) {
		s += strcspn(s, "\n");
		s += *s == '\n';
	}
	return n;
}

/* 1 when all of it is UTF-8 without NUL: what JSON can hold. */
static int is_text(const PmStr *s)
{
	const unsigned char *p = (const unsigned char *)s->s, *end = p + s->len;

	while (p < end) {
		int more = *p < 0x80 ? 0 : *p >= 0xc2 && *p < 0xe0 ? 1 : *p >= 0xe0 && *p < 0xf0 ? 2 : 3;

		if (!*p || (*p >= 0x80 && *p < 0xc2) || *p > 0xf4)
			return 0;
		for (p++; more; more--, p++)
			if (p >= end || (*p & 0xc0) != 0x80)
				return 0;
	}
	return 1;
}

/* One answer holds whole lines, as many as leave room for the rest of it once they are escaped. */
static size_t fitting(const char *s, const char *end, int64_t count)
{
	enum { ROOM = PM__ANSWER_MAX - 1024 };
	size_t used = 0, whole = 0;
	const char *p = s;

	for (; p < end && count; p++) {
		used += (unsigned char)*p < ' ' ? (*p == '\n' || *p == '\t' ? 2 : 6) : 1;
		used += *p == '"' || *p == '\\';
		if (used > ROOM)
			return whole ? whole : (size_t)(p - s);
		if (*p == '\n') {
			whole = (size_t)(p + 1 - s);
			count--;
		}
	}
	return (size_t)(p - s);
}

cJSON *pm__tool_read_file(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error)
{
	const char *path = pm__arg(args, "path"), *from;
	int64_t first = pm_json_i64(args, "from_line", 1), count = pm_json_i64(args, "lines", -1), all;
	PmStr text = PM_STR_INIT, part = PM_STR_INIT;
	cJSON *j = NULL;
	PmErr err;

	(void)run;
	pm_err_init(&err);
	if (pm__ws_read(t, path, &text, &err)) {
		j = pm__error_of(is_error, &err);
	} else if (!is_text(&text)) {
		j = pm__error(is_error, "%.80s is not text in UTF-8; only text can be read.", path);
	} else {
		all = lines_of(text.s);
		from = line_start(text.s, first);
		pm_str_addn(&part, from, fitting(from, text.s + text.len, count));
		while (part.len && part.len < text.len && ((unsigned char)from[part.len] & 0xc0) == 0x80)
			part.s[--part.len] = '\0'; /* never half a character */
		j = cJSON_CreateObject();
		cJSON_AddStringToObject(j, "path", path);
		pm_json_add_i64(j, "from_line", first);
		pm_json_add_i64(j, "lines", lines_of(part.s));
		pm_json_add_i64(j, "lines_in_file", all);
		cJSON_AddStringToObject(j, "text", part.s);
		if (first - 1 + lines_of(part.s) < all)
			pm_json_add_i64(j, "next_line", first + lines_of(part.s));
	}
	pm_str_release(&text);
	pm_str_release(&part);
	return j;
}

/* ---- write ---- */

static cJSON *wrote(const char *path, const PmStr *text, int is_new)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "path", path);
	pm_json_add_i64(j, "bytes", (int64_t)text->len);
	pm_json_add_i64(j, "lines", lines_of(text->s));
	cJSON_AddBoolToObject(j, "new", is_new);
	return j;
}

/* Names that are ours: runs and what is made for them. */
static PmStatus may_write(const char *path, PmErr *err)
{
	PmStatus st = pm__ws_path(path, err);

	if (!st && (*path == '.' || strstr(path, "/.")))
		return pm_err(err, PM_E_INVALID,
			      "The path %.80s has a part that begins with '.', and such names are not for "
			      "your files; begin it with a letter.",
			      path);
	if (!st && (pm_str_ends(path, ".so") || pm_str_ends(path, ".new")))
		return pm_err(err, PM_E_INVALID,
			      "%.80s would be taken for something that was built; write a source (.c, .h, "
			      ".cu) or a graph (.gpt), and build makes the object.",
			      path);
	return st;
}

cJSON *pm__tool_write_file(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error)
{
	const char *path = pm__arg(args, "path"), *s = pm__arg(args, "text");
	PmStr text = PM_STR_INIT;
	cJSON *j;
	int is_new;
	PmErr err;

	(void)run;
	pm_err_init(&err);
	pm_str_add(&text, s);
	if (may_write(path, &err) || pm__ws_write(t, path, text.s, text.len, &is_new, &err))
		j = pm__error_of(is_error, &err);
	else
		j = wrote(path, &text, is_new);
	pm_str_release(&text);
	return j;
}

static size_t count_of(const char *text, const char *what)
{
	size_t n = 0;

	while ((text = strstr(text, what)) != NULL) {
		n++;
		text += strlen(what);
	}
	return n;
}

cJSON *pm__tool_edit_file(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error)
{
	const char *path = pm__arg(args, "path"), *old = pm__arg(args, "old_text"),
		   *new = pm__arg(args, "new_text"), *at;
	PmStr text = PM_STR_INIT, out = PM_STR_INIT;
	cJSON *j = NULL;
	size_t n;
	PmErr err;

	(void)run;
	pm_err_init(&err);
	if (may_write(path, &err) || pm__ws_read(t, path, &text, &err)) {
		j = pm__error_of(is_error, &err);
	} else if ((n = count_of(text.s, old)) != 1) {
		j = n ? pm__error(
				is_error,
				"old_text is found %zu times in %.80s; give more of the lines around it, so "
				"that it is found once.",
				n, path)
		      : pm__error(is_error,
				  "old_text is not found in %.80s; read_file shows what is there. Spaces and "
				  "tabs must be the same.",
				  path);
	} else {
		at = strstr(text.s, old);
		pm_str_addn(&out, text.s, (size_t)(at - text.s));
		pm_str_add(&out, new);
		pm_str_add(&out, at + strlen(old));
		if (pm__ws_write(t, path, out.s, out.len, NULL, &err)) {
			j = pm__error_of(is_error, &err);
		} else {
			int64_t line = 1;

			for (const char *p = text.s; p < at; p++)
				line += *p == '\n';
			j = wrote(path, &out, 0);
			pm_json_add_i64(j, "at_line", line);
		}
	}
	pm_str_release(&text);
	pm_str_release(&out);
	return j;
}

cJSON *pm__tool_new_pass(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error)
{
	PmStr path = PM_STR_INIT, text = PM_STR_INIT;
	const char *name;
	cJSON *j;
	PmErr err;

	(void)run;
	pm_err_init(&err);
	if (pm_pass_new(pm__arg(args, "name"), t->workspace, &path, &err)) {
		j = pm__error_of(is_error, &err);
	} else {
		name = pm_path_base(path.s);
		pm__ws_read(t, name, &text, NULL);
		j = wrote(name, &text, 1);
		cJSON_AddStringToObject(j, "text", text.s);
	}
	pm_str_release(&path);
	pm_str_release(&text);
	return j;
}
