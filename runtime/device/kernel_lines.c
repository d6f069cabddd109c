/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_lines.c - #line in the source of a kernel: it may say which .cu file a part of it was, and no more.
 *
 * A source that tools make of .cu files has `#line 1 "FOLDER/NAME.cu"` before each (tools/gen/embed-cu.sh,
 * matcher/host/build.c). Anything else that gives lines other numbers or files other names is refused, so
 * that a message names the kernel it is about. A directive is looked for as a preprocessor would find it, or
 * where one might: what only looks like one in a comment is refused too.
 */
#include "runtime/device/kernel_unit.h"

#include <ctype.h>
#include <string.h>

enum { MAX_NAME = 63 };
static const char form[] = "#line 1 \"";
static const char name_chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

/* The bytes of a line `#line 1 "FOLDER/NAME.cu"` at p, with its end; *name and *n are NAME.cu. 0 when it is
 * no such line. */
static size_t known_line(const char *p, const char **name, size_t *n)
{
	const char *from = p + sizeof form - 1, *end, *base;

	if (strncmp(p, form, sizeof form - 1) != 0)
		return 0;
	end = from + strcspn(from, "\"\n");
	if (end[0] != '"' || end[1] != '\n')
		return 0;
	for (base = end; base > from && base[-1] != '/'; base--)
		;
	*name = base;
	*n = (size_t)(end - base);
	if (*n < 4 || *n > MAX_NAME || memcmp(end - 3, ".cu", 3) != 0 || strspn(base, name_chars) < *n)
		return 0;
	return (size_t)(end + 2 - p);
}

/* Bytes of a backslash, blanks and the end of a line, which join two lines; 0 when p is no such. */
static size_t joint(const char *p)
{
	size_t n = *p == '\\' ? 1 : strncmp(p, "?\?/", 3) == 0 ? 3 : 0, blanks;

	if (!n)
		return 0;
	blanks = strspn(p + n, " \t\v\f\r");
	return p[n + blanks] == '\n' ? n + blanks + 1 : 0;
}

/* The character at p behind joints, and where the next one is. */
static int next(const char **p)
{
	size_t n;

	while ((n = joint(*p)) > 0)
		*p += n;
	if (strncmp(*p, "%:", 2) == 0 || strncmp(*p, "?\?=", 3) == 0) {
		*p += **p == '%' ? 2 : 3;
		return '#';
	}
	return **p ? (unsigned char)*(*p)++ : 0;
}

static int is_blank(int c)
{
	return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

/* Behind a '#': 1 when it numbers lines. Comments may stand between. */
static int numbers_lines(const char *p)
{
	static const char word[] = "line";
	size_t k = 0;
	int c = next(&p);

	for (;;) {
		const char *at = p;

		if (is_blank(c)) {
			c = next(&p);
		} else if (c == '/' && next(&at) == '*') {
			int last = 0;

			for (p = at; (c = next(&p)) != 0 && !(last == '*' && c == '/'); last = c)
				;
			c = c ? next(&p) : 0;
		} else {
			break;
		}
	}
	if (isdigit(c))
		return 1;
	for (; k < sizeof word - 1 && c == word[k]; k++)
		c = next(&p);
	return k == sizeof word - 1 && !isalnum(c) && c != '_';
}

/* Looks for a directive at the beginning of each line, or behind a comment. */
PmStatus pm_kernel_lines_check(const PmSource *s, PmErr *err)
{
	const char *p = s->source, *name;
	size_t n, known, line = 1;
	int first = 1, last = 0;

	while (*p) {
		const char *from = p;
		int c;

		if ((p == s->source || p[-1] == '\n') && (known = known_line(p, &name, &n)) > 0) {
			p += known;
			line++;
			first = 1;
			continue;
		}
		c = next(&p);
		for (const char *q = from; q < p; q++)
			line += *q == '\n';
		if (c == '#' && first && numbers_lines(p))
			return pm_err(
				err, PM_E_INVALID,
				"Kernel '%s' does not compile: line %zu has a #line, and messages count the "
				"lines of the source itself; remove it.",
				s->label, line);
		if (c == '\n' || c == '\r')
			first = 1;
		else if (c == '/' && last == '*')
			first = 1;
		else if (!is_blank(c))
			first = 0;
		last = c;
	}
	return PM_OK;
}

void pm_kernel_lines_add(const PmSource *s, const char *text, size_t n, PmStr *out)
{
	const char *p = text, *end = text + n;

	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p)), *name;
		size_t len = nl ? (size_t)(nl + 1 - p) : (size_t)(end - p), n_name;

		if (nl && known_line(p, &name, &n_name) == len) {
			pm_str_addn(out, form, sizeof form - 1);
			pm_kernel_file_name(s->label, out);
			pm_str_addf(out, "|%.*s\"\n", (int)n_name, name);
		} else {
			pm_str_addn(out, p, len);
		}
		p += len;
	}
}

const char *pm_kernel_lines_part(const char *message, const char *label, PmStr *part)
{
	PmStr file = PM_STR_INIT;
	const char *p = message;

	pm_kernel_file_name(label, &file);
	p = strncmp(message, file.s, file.len) == 0 ? message + file.len : NULL;
	pm_str_release(&file);
	if (p && *p == '|') {
		size_t n = strspn(p + 1, name_chars);

		pm_str_addf(part, " of %.*s", (int)n, p + 1);
		p += 1 + n;
	}
	return p;
}

void pm_kernel_file_name(const char *label, PmStr *out)
{
	for (; *label; label++)
		pm_str_addc(out,
			    *label == '"' || *label == '\\' || (unsigned char)*label < ' ' ? '_' : *label);
}
