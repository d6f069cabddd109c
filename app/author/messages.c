/* SPDX-License-Identifier: Apache-2.0 */
/* messages.c - compilers' messages, from lines of text. */
#include "app/author/messages.h"

#include "base/sys/io.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINE = 1 << 20, MAX_FILE = 4 << 20 };

/* "FILE:LINE:COLUMN: severity: text", "FILE(LINE): severity: text". */
typedef struct Line {
	const char *p, *end; /* the whole line */
	size_t n_file;       /* from p */
	int line, column;
	const char *severity, *text; /* NULL: "FILE:LINE:" with something else behind */
} Line;

static const char *const severities[] = { "fatal error",    "catastrophic error",
					  "internal error", "error",
					  "warning",        "note" };
enum { N_SEVERITIES = sizeof severities / sizeof *severities, N_ERRORS = 4 };

/* "error: ", "warning #177-D: "; "" of another line is the whole of it. */
static int read_severity(const char *p, Line *l)
{
	for (int i = 0; i < N_SEVERITIES; i++) {
		size_t n = strlen(severities[i]);
		const char *q = p + n;

		if (strncmp(p, severities[i], n) != 0 || (*q != ':' && strncmp(q, " #", 2) != 0))
			continue;
		q += strcspn(q, ":\n");
		if (*q != ':')
			return 0;
		l->severity = i < N_ERRORS ? "error" : severities[i];
		l->text = q + 1 + strspn(q + 1, " ");
		return 1;
	}
	return 0;
}

static int number(const char **p)
{
	int v = 0;

	for (; isdigit((unsigned char)**p); ++*p)
		v = v < MAX_LINE ? v * 10 + (**p - '0') : v;
	return v;
}

/* 1 when the line names a place. */
static int read_line(const char *p, Line *l)
{
	const char *q = p, *end = p + strcspn(p, "\n");

	*l = (Line){ .p = p, .end = end };
	if (isspace((unsigned char)*p))
		return 0;
	for (; q < end; q++) {
		const char *r = q + 1;

		if ((*q != ':' && *q != '(') || !isdigit((unsigned char)*r))
			continue;
		l->line = number(&r);
		if (*q == '(' && strncmp(r, "):", 2) == 0) {
			r += 2;
		} else if (*q == ':' && *r == ':') {
			r++;
			if (isdigit((unsigned char)*r)) {
				l->column = number(&r);
				if (*r++ != ':')
					continue;
			}
		} else {
			continue;
		}
		l->n_file = (size_t)(q - p);
		read_severity(r + strspn(r, " "), l);
		return 1;
	}
	return 0;
}

void pm_messages_add(PmMessages *m, const char *file, int line, int column, const char *severity,
		     const char *text, size_t n)
{
	PmStr s = PM_STR_INIT;
	PmMessage one = { file ? pm_xstrdup(file) : NULL, line, column, severity, NULL };

	for (size_t i = 0; i < n; i++)
		pm_str_addc(&s, (unsigned char)text[i] < ' ' || text[i] == 0x7f ? text[i] == '\t' ? ' ' : '?'
										: text[i]);
	one.text = pm_str_detach(&s, NULL);
	PM_VEC_PUSH(&m->v, one);
}

static void add_line(PmMessages *m, const Line *l, const char *file_end_with)
{
	PmStr file = PM_STR_INIT;

	pm_str_addn(&file, l->p, l->n_file);
	pm_messages_add(m, file_end_with ? file_end_with : file.s, l->line, l->column, l->severity, l->text,
			(size_t)(l->end - l->text));
	pm_str_release(&file);
}

/* ---- C ---- */

static int in_sdk(const Line *l)
{
	static const char *const headers[] = { "passmith/dsl.h", "passmith/pass.h", "passmith/ops.h",
					       "passmith/types.h" };

	for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
		size_t n = strlen(headers[i]);

		if (l->n_file >= n && !memcmp(l->p + l->n_file - n, headers[i], n))
			return 1;
	}
	return 0;
}

static int is_note_of(const Line *l, const char *words)
{
	return l->severity && !strcmp(l->severity, "note") && !strncmp(l->text, words, strlen(words));
}

/* gcc's chain goes from the outermost macro inwards: the last use that the author wrote is the nearest. */
static void move_to_use(PmMessages *m, const Line *l)
{
	PmMessage *last = &m->v.v[m->v.n - 1];
	PmStr file = PM_STR_INIT;

	pm_str_addn(&file, l->p, l->n_file);
	free(last->file);
	last->file = pm_str_detach(&file, NULL);
	last->line = l->line;
	last->column = l->column;
}

/* Of a line that names no place: what a linker or the compiler's driver says. */
static int may_be_error(const char *p, size_t n)
{
	PmStr s = PM_STR_INIT;
	int is;

	pm_str_addn(&s, p, n);
	is = !isspace((unsigned char)*p) && !strstr(s.s, "ld returned") && !strstr(s.s, ": in function ") &&
	     (strstr(s.s, "error") || strstr(s.s, "undefined reference") || strstr(s.s, "cannot find") ||
	      strstr(s.s, "multiple definition"));
	pm_str_release(&s);
	return is;
}

void pm_messages_of_c(const char *log, PmMessages *out)
{
	int from_sdk = 0; /* the last message stands in a header of the SDK, and no use was named */
	Line l;

	for (const char *p = log; *p; p = *l.end ? l.end + 1 : l.end) {
		int placed = read_line(p, &l);

		if (is_note_of(&l, "in expansion of macro")) {
			if (from_sdk && !in_sdk(&l) && out->v.n)
				move_to_use(out, &l);
			continue;
		}
		if (is_note_of(&l, "in definition of macro") || is_note_of(&l, "expanded from macro") ||
		    is_note_of(&l, "each undeclared identifier"))
			continue;
		if (placed && l.severity) {
			from_sdk = in_sdk(&l);
			add_line(out, &l, NULL);
		} else if (may_be_error(p, (size_t)(l.end - p))) {
			from_sdk = 0;
			pm_messages_add(out, NULL, 0, 0, "error", p, (size_t)(l.end - p));
		}
	}
}

/* ---- kernels ---- */

static int is_file(const Line *l, const char *label)
{
	return l->n_file == strlen(label) && !memcmp(l->p, label, l->n_file);
}

/* NVRTC's "... at line 6 of LABEL" below a message about a header. */
static int user_line(const Line *l, const char *label)
{
	PmStr text = PM_STR_INIT;
	const char *p, *q;
	int line = 0;

	pm_str_addn(&text, l->p, (size_t)(l->end - l->p));
	p = strstr(text.s, " at line ");
	if (p) {
		q = p + strlen(" at line ");
		line = number(&q);
		if (strncmp(q, " of ", 4) != 0 ||
		    strncmp(q + 4 + strspn(q + 4, "\""), label, strlen(label)) != 0)
			line = 0;
	}
	pm_str_release(&text);
	return line;
}

/* NVRTC's line with the mark under the place: two blanks, then as far in as the place. 0 for another. */
static int caret(const Line *l)
{
	size_t n = strspn(l->p, " \t");

	return n >= 2 && l->p[n] == '^' && l->p + n + 1 == l->end ? (int)n - 1 : 0;
}

void pm_messages_of_kernel(const char *log, const char *label, PmMessages *out)
{
	int used = 0, open = 0; /* line that used a header; 1: of the last error the place is not whole */
	PmMessage *last;
	Line l;

	for (const char *p = log; *p; p = *l.end ? l.end + 1 : l.end) {
		int placed = read_line(p, &l);

		last = open ? &out->v.v[out->v.n - 1] : NULL;
		if (placed && !l.severity) {
			if (is_file(&l, label))
				used = l.line;
		} else if (placed && strcmp(l.severity, "error") != 0) {
			open = 0;
		} else if (placed) {
			int ours = is_file(&l, label);

			if (!ours)
				l.line = used, l.column = 0;
			add_line(out, &l, label);
			last = &out->v.v[out->v.n - 1];
			open = 1;
			used = 0;
			if (!ours && !l.line) {
				free(last->file);
				last->file = NULL;
			}
		} else if (last && last->file && !last->column) {
			last->column = caret(&l);
		} else if (last && !last->file && user_line(&l, label)) {
			last->file = pm_xstrdup(label);
			last->line = user_line(&l, label);
		}
	}
}

/* ---- out ---- */

size_t pm_messages_errors(const PmMessages *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->v.n; i++)
		n += !strcmp(m->v.v[i].severity, "error");
	return n;
}

/* The author's line, or nothing. */
static void add_excerpt(const PmMessage *one, PmStr *out)
{
	PmStr text = PM_STR_INIT;
	const char *p;
	int line = 1;

	if (!one->file || !one->line || pm_read_file(one->file, MAX_FILE, &text, NULL)) {
		pm_str_release(&text);
		return;
	}
	for (p = text.s; p && line < one->line; line++) {
		p = strchr(p, '\n');
		p = p ? p + 1 : NULL;
	}
	if (p)
		pm_str_addf(out, "    %.*s\n", (int)strcspn(p + strspn(p, " \t"), "\r\n"),
			    p + strspn(p, " \t"));
	pm_str_release(&text);
}

void pm_messages_print(const PmMessages *m, PmStr *out)
{
	for (size_t i = 0; i < m->v.n; i++) {
		const PmMessage *one = &m->v.v[i];

		if (one->file)
			pm_str_addf(out, "%s:", one->file);
		if (one->file && one->line)
			pm_str_addf(out, "%d:", one->line);
		if (one->file && one->line && one->column)
			pm_str_addf(out, "%d:", one->column);
		pm_str_addf(out, "%s%s: %s\n", one->file ? " " : "", one->severity, one->text);
		add_excerpt(one, out);
	}
}

static void add_number(cJSON *j, const char *key, int v)
{
	if (v)
		cJSON_AddNumberToObject(j, key, v);
	else
		cJSON_AddNullToObject(j, key);
}

cJSON *pm_messages_json(const PmMessages *m)
{
	cJSON *list = cJSON_CreateArray();

	for (size_t i = 0; i < m->v.n; i++) {
		const PmMessage *one = &m->v.v[i];
		cJSON *j = cJSON_CreateObject();

		if (one->file)
			cJSON_AddStringToObject(j, "file", one->file);
		else
			cJSON_AddNullToObject(j, "file");
		add_number(j, "line", one->line);
		add_number(j, "column", one->column);
		cJSON_AddStringToObject(j, "severity", one->severity);
		cJSON_AddStringToObject(j, "text", one->text);
		cJSON_AddItemToArray(list, j);
	}
	return list;
}

void pm_messages_release(PmMessages *m)
{
	for (size_t i = 0; i < m->v.n; i++) {
		free(m->v.v[i].file);
		free(m->v.v[i].text);
	}
	PM_VEC_RELEASE(&m->v);
}
