/* SPDX-License-Identifier: Apache-2.0 */
/* prompt.c - reading a prompt and filling its fields. */
#include "app/exemplar/prompt.h"

#include "app/exemplar/folder.h"
#include "base/sys/io.h"

#include <string.h>

enum { MAX_PROMPT = 256 * 1024 };

static int is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static int line_of(const char *text, const char *at)
{
	int line = 1;

	for (; text < at; text++)
		line += *text == '\n';
	return line;
}

static size_t find(const PmField *field, size_t n, const char *name, size_t len)
{
	size_t i = 0;

	while (i < n && (strlen(field[i].name) != len || memcmp(field[i].name, name, len)))
		i++;
	return i;
}

/* The field whose name begins at `at`: appends its value. */
static PmStatus put(const char *file, const char *text, const char *at, size_t len, const PmField *field,
		    size_t n, PmStr *out, PmErr *err)
{
	size_t i = find(field, n, at, len);
	int line = line_of(text, at);

	if (strncmp(at + len, "}}", 2))
		return pm_err(err, PM_E_INVALID,
			      "prompts/%s, line %d: the field {{%.*s does not end; close it with }}.", file,
			      line, (int)len, at);
	if (i == n)
		return pm_err(
			err, PM_E_INVALID,
			"prompts/%s, line %d: there is no field {{%.*s}} here; prompts/README.md lists the "
			"fields of each file.",
			file, line, (int)len, at);
	if (!field[i].value)
		return pm_err(
			err, PM_E_INVALID,
			"prompts/%s, line %d: the field {{%.*s}} has no value here; take it out of the file "
			"or give it one.",
			file, line, (int)len, at);
	pm_str_add(out, field[i].value);
	return PM_OK;
}

PmStatus pm_prompt_fill(const char *name, const char *text, const PmField *field, size_t n, PmStr *out,
			PmErr *err)
{
	PmStr made = PM_STR_INIT;
	const char *at = text, *open;
	PmStatus st = PM_OK;

	while (!st && (open = strstr(at, "{{"))) {
		size_t len = 0;

		while (is_name(open[2 + len]))
			len++;
		pm_str_addn(&made, at, (size_t)(open - at));
		at = open + (len ? 2 : 1);
		if (!len) {
			pm_str_addc(&made, '{');
			continue;
		}
		st = put(name, text, at, len, field, n, &made, err);
		if (!st)
			at += len + 2;
	}
	pm_str_add(&made, at);
	if (!st)
		pm_str_addn(out, made.s, made.len);
	pm_str_release(&made);
	return st;
}

PmStatus pm_prompt(const char *root, const char *name, const PmField *field, size_t n, PmStr *out, PmErr *err)
{
	PmStr path = PM_STR_INIT, text = PM_STR_INIT;
	PmStatus st = PM_OK;

	if (strchr(name, '/') || *name == '.')
		st = pm_err(err, PM_E_NOT_FOUND, "'%.80s' is no file of the folder prompts.", name);
	st = st ? st : pm_text_folder(root, "prompts", &path, err);
	if (!st) {
		pm_str_addf(&path, "/%s", name);
		st = pm_read_file(path.s, MAX_PROMPT, &text, err);
	}
	st = st ? st : pm_prompt_fill(name, text.s, field, n, out, err);
	pm_str_release(&path);
	pm_str_release(&text);
	return st;
}
