/* SPDX-License-Identifier: Apache-2.0 */
/* tool_api.c - show_api: one operator, one verdict, or one name of the SDK with its comment. */
#include "app/tools/tools_priv.h"

#include "ir/core/op.h"
#include "matcher/host/verdict.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINES = 80, MAX_FOUND = 4, MAX_NEAR = 24, MAX_FILE_LINES = 4000 };

static const char *const headers[] = { "include/passmith/dsl.h",     "include/passmith/pass.h",
				       "include/passmith/target.h",  "include/passmith/kernel.cuh",
				       "include/passmith/types.h",   "include/passmith/errors.def",
				       "include/passmith/dtypes.def" };
enum { N_HEADERS = sizeof headers / sizeof *headers };

/* ---- operators ---- */

static const char *types_word(PmTypeClass c)
{
	static const char *const words[] = { "floating point", "floating point and integers", "bool",
					     "any type", "integers" };

	return words[c];
}

static void add_count(const char *what, int least, int most, PmStr *out)
{
	if (most < 0)
		pm_str_addf(out, "%s: %d or more\n", what, least);
	else if (least == most)
		pm_str_addf(out, "%s: %d\n", what, least);
	else
		pm_str_addf(out, "%s: %d to %d\n", what, least, most);
}

static void add_default(const PmAttrDesc *a, PmStr *out)
{
	pm_str_addf(out, "  %s", a->name);
	if (!a->has_default)
		pm_str_add(out, " (must be given)\n");
	else if (a->kind == PM_ATTR_INT)
		pm_str_addf(out, " = %lld\n", (long long)a->i);
	else if (a->kind == PM_ATTR_FLOAT)
		pm_str_addf(out, " = %.9g\n", a->f);
	else if (a->kind == PM_ATTR_STRING)
		pm_str_addf(out, " = \"%s\"\n", a->s);
	else
		pm_str_add(out, " = []\n");
}

static void describe_op(PmOp op, PmStr *out)
{
	enum { FEW_OPTIONAL = 8 };
	const PmOpDesc *d = pm_op_desc(op);
	static const struct {
		uint32_t flag;
		const char *text;
	} kinds[] = { { PM_OPF_EW, "element-wise with broadcasting" },
		      { PM_OPF_COMM, "operands 0 and 1 may be swapped" },
		      { PM_OPF_RED, "reduces over axes" },
		      { PM_OPF_VIEW, "the result can be a strided view" },
		      { PM_OPF_MOVE, "only moves elements" },
		      { PM_OPF_DOT, "contraction" },
		      { PM_OPF_NORM, "normalisation or softmax along axes" },
		      { PM_OPF_POOL, "window over spatial axes" },
		      { PM_OPF_FOLD, "folds over all operands" },
		      { PM_OPF_SHAPE, "depends on shapes only" },
		      { PM_OPF_DATA, "the result's shape depends on values" },
		      { PM_OPF_RANDOM, "random: never matched" } };
	const char *sep = "kind: ";

	pm_str_addf(out, "Operator %s (ONNX semantics)\n", d->name);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (d->flags & kinds[i].flag) {
			pm_str_addf(out, "%s%s", sep, kinds[i].text);
			sep = ", ";
		}
	pm_str_add(out, *sep == ',' ? "\n" : "");
	add_count("operands", d->in_min, d->in_max, out);
	add_count("results", d->out_min, d->out_max, out);
	pm_str_addf(out, "element types of operand 0: %s\n", types_word(d->types));
	if (d->n_attrs)
		pm_str_add(out, "attributes, with defaults (a pattern that does not name one wants its "
				"default; one that "
				"must be given is named with WITH or waived with ANYATTR):\n");
	for (int i = 0; i < d->n_attrs; i++)
		add_default(&d->attrs[i], out);
	if (d->expr)
		pm_str_addf(out, "a result's element, of operands a, b, c and attributes p0, p1: %s\n",
			    d->expr);
	pm_str_addf(out, "in a pattern: OP(%s, ...)\n", d->name);
	if (d->in_max > d->in_min && d->in_max - d->in_min < FEW_OPTIONAL)
		pm_str_add(out, "An operand that is left out at the end does not count: a pattern with fewer "
				"operands matches it, and one with REST matches both.\n");
	if (pm_op_note(op))
		pm_str_addf(out, "%s\n", pm_op_note(op));
}

/* ---- verdicts ---- */

/* What a score makes of it, in words; numbers are in docs/reference/scoring.md. */
static const char *scored_as(PmVerdict v)
{
	const char *status = pm_verdict_score_status(v);

	if (v == PM_VERDICT_OK)
		return "each output counts at the tolerance levels at which it is close, and the speedup "
		       "counts";
	if (v == PM_VERDICT_HARNESS_FAIL)
		return "it is left out";
	if (!strcmp(status, "correct"))
		return "the status is `correct`, which does not say that the pass is right: each output "
		       "counts at the "
		       "tolerance levels at which it is close (half of the score is at t = -5 to -3), and "
		       "the speedup counts "
		       "as 1 at most";
	if (!strcmp(status, "no_match"))
		return "the status is `no_match`: as little as for a wrong answer below t = 1, and 1 (no "
		       "gain, no loss) from there on";
	if (!strcmp(status, pm_verdict_name(v)))
		return "it is a broken rule, which is worth least and is never forgiven";
	return "it is an honest failure, which is forgiven at loose tolerance levels alone";
}

static void describe_verdict(PmVerdict v, PmStr *out)
{
	pm_str_addf(out,
		    "Verdict %s: %s.\nWhat to do: %s.\nIn a score of the preset sound: %s "
		    "(passmith://docs/reference/scoring.md).\n",
		    pm_verdict_name(v), pm_verdict_meaning(v), pm_verdict_advice(v), scored_as(v));
	if (v == PM_VERDICT_PRECISION)
		pm_str_add(out, "What is accepted, and what to do about long sums: "
				"passmith://docs/design/error-bounds.md.\n");
}

/* ---- names of the SDK ---- */

typedef struct Lines {
	PmStr text;
	PM_VEC(const char *) at; /* where each line begins; the end too */
} Lines;

static int read_lines(const PmTools *t, const char *header, Lines *out)
{
	PmStr path = PM_STR_INIT;
	const char *p;
	int ok;

	pm_str_init(&out->text);
	memset(&out->at, 0, sizeof out->at);
	pm_path_join(t->root, header, &path);
	ok = !pm_read_file(path.s, PM__FILE_MAX, &out->text, NULL);
	pm_str_release(&path);
	for (p = out->text.s; ok && *p && out->at.n < MAX_FILE_LINES;) {
		PM_VEC_PUSH(&out->at, p);
		p += strcspn(p, "\n");
		p += *p == '\n';
	}
	PM_VEC_PUSH(&out->at, p);
	return ok;
}

static void release_lines(Lines *l)
{
	pm_str_release(&l->text);
	PM_VEC_RELEASE(&l->at);
}

static int in_word(int c)
{
	return isalnum(c) || c == '_';
}

/* The place of a whole word in [p, end), or NULL. */
static const char *find_word(const char *p, const char *end, const char *word)
{
	size_t n = strlen(word);

	for (const char *hit = p; (hit = strstr(hit, word)) != NULL && hit + n <= end; hit++)
		if ((hit == p || !in_word((unsigned char)hit[-1])) && !in_word((unsigned char)hit[n]))
			return hit;
	return NULL;
}

/* Whether line i declares the word rather than uses it. */
static int declares(const Lines *l, size_t i, const char *word)
{
	const char *p = l->at.v[i], *end = l->at.v[i + 1], *hit = find_word(p, end, word), *after;
	size_t n = strlen(word);

	if (!hit)
		return 0;
	if (!strncmp(p, "typedef struct ", 15) && hit == p + 15 && find_word(hit + n, end, word))
		hit = find_word(hit + n, end, word); /* typedef struct NAME NAME; */
	after = hit + n + strspn(hit + n, " ");
	if (!strncmp(p, "#define ", 8))
		return hit == p + 8;
	if (*p == ' ' && p[1] == '*') /* within a comment */
		return 0;
	if (strstr(p, "/*") && strstr(p, "/*") < hit)
		return 0;
	if (!strncmp(p, "XX(", 3))
		return hit == p + 3;
	if (!strncmp(p, "} ", 2))
		return hit == p + 2;
	if (*p == '\t') /* a member, or a value of an enumeration */
		return *after == ',' || *after == '=' || *after == ';' || *after == '\n' || *after == '[' ||
		       (*after == ')' && hit - p > 2 && !strncmp(hit - 2, "(*", 2)); /* of PmHost */
	return *after == '(' || *after == '{' || *after == ';' || (*after == '\n' && p != hit);
}

/* Whether lines i and i + 1 are a structure's forward typedef and the structure. */
static int is_forward(const Lines *l, size_t i)
{
	static const char begins[] = "typedef struct ";
	const char *name = l->at.v[i] + strlen(begins), *next;
	size_t n;

	if (i + 2 >= l->at.n || strncmp(l->at.v[i], begins, strlen(begins)) != 0)
		return 0;
	for (n = 0; in_word((unsigned char)name[n]); n++)
		;
	next = l->at.v[i + 1];
	return !strncmp(next, "struct ", 7) && !strncmp(next + 7, name, n) && !strncmp(next + 7 + n, " {", 2);
}

/* The first line of the comment that ends just above line i, which it has to itself; i when there is none. */
static size_t comment_above(const Lines *l, size_t i)
{
	size_t k = i;

	if (!i || l->at.v[i] - l->at.v[i - 1] <= 2 || strncmp(l->at.v[i] - 3, "*/\n", 3) != 0)
		return i;
	while (k--) {
		const char *p = l->at.v[k] + strspn(l->at.v[k], " \t"), *begin = strstr(p, "/*");

		if (begin && begin < l->at.v[k + 1])
			return begin == p ? k : i; /* else it is about what that line declares */
	}
	return i;
}

/* The comment above, and the declaration to its end. A structure's comment may stand above its forward
 * typedef. */
static void add_declaration(const Lines *l, size_t i, PmStr *out)
{
	size_t first = i, last = i, n = l->at.n - 1;
	int depth = 0, macro = !strncmp(l->at.v[i], "#define", 7);

	if (is_forward(l, i))
		i = last = i + 1;
	if (!strncmp(l->at.v[i], "} ", 2)) /* the end of a struct: from its beginning */
		while (first && strncmp(l->at.v[first], "typedef", 7))
			first--;
	if (first && (find_word(l->at.v[first - 1], l->at.v[first], "template") || is_forward(l, first - 1)))
		first--;
	first = comment_above(l, first);
	for (; last < n && last - first < MAX_LINES; last++) {
		const char *end = l->at.v[last + 1];

		for (const char *p = l->at.v[last]; p < end; p++)
			depth += (*p == '{') - (*p == '}');
		if (macro && end - l->at.v[last] > 1 && end[-2] == '\\')
			continue;
		if (macro || (last >= i && depth <= 0 &&
			      (memchr(l->at.v[last], ';', (size_t)(end - l->at.v[last])) ||
			       memchr(l->at.v[last], ',', (size_t)(end - l->at.v[last])) ||
			       memchr(l->at.v[last], '}', (size_t)(end - l->at.v[last])) ||
			       !strncmp(l->at.v[last], "XX(", 3))))
			break;
	}
	if (last >= n)
		last = n - 1;
	pm_str_addn(out, l->at.v[first], (size_t)(l->at.v[last + 1] - l->at.v[first]));
}

/* ---- members of structures ---- */

/* The line where the structure begins whose member line i is; 0 = it is none of a structure. */
static size_t struct_of(const Lines *l, size_t i)
{
	if (*l->at.v[i] != '\t')
		return 0;
	while (i && (*l->at.v[i] == '\t' || *l->at.v[i] == '\n' || *l->at.v[i] == ' '))
		i--;
	return (!strncmp(l->at.v[i], "typedef struct ", 15) || !strncmp(l->at.v[i], "struct ", 7)) &&
			       l->at.v[i + 1] - l->at.v[i] > 2 && l->at.v[i + 1][-2] == '{'
		       ? i
		       : 0;
}

/* Whether [p, end) names the member as code: `word`, or X.word; without `code`, as a word at all. */
static int names_it(const char *p, const char *end, const char *word, int code)
{
	for (const char *hit = p; (hit = find_word(hit, end, word)) != NULL; hit++)
		if (!code || (hit > p && (hit[-1] == '`' || hit[-1] == '.')))
			return 1;
	return 0;
}

/* Where the part of a comment that begins in line i ends: at an item of a list, an empty line, the end. */
static size_t part_end(const Lines *l, size_t i, size_t end)
{
	for (i++; i < end; i++)
		if (!strncmp(l->at.v[i], " * - ", 5) || !strncmp(l->at.v[i], " *\n", 3))
			break;
	return i;
}

/* The paragraphs and items of lines [from, to) that name the member. 1 when there are any. */
static int add_parts(const Lines *l, size_t from, size_t to, const char *word, int code, PmStr *out)
{
	int any = 0;

	for (size_t i = from, end; i < to; i = end) {
		end = part_end(l, i, to);
		if (!names_it(l->at.v[i], l->at.v[end], word, code))
			continue;
		pm_str_addn(out, l->at.v[i], (size_t)(l->at.v[end] - l->at.v[i]));
		any = 1;
	}
	return any;
}

/* Of a member: its declaration, whose it is, and what the structure's comment says of it. */
static void add_member(const Lines *l, size_t i, const char *word, PmStr *out)
{
	size_t at = struct_of(l, i), top = at && is_forward(l, at - 1) ? at - 1 : at;
	size_t from = comment_above(l, top);
	const char *name = strstr(l->at.v[at], "struct ") + strlen("struct ");
	PmStr said = PM_STR_INIT;

	pm_str_addf(out, "Member of %.*s:\n", (int)strcspn(name, " {\n"), name);
	add_declaration(l, i, out);
	/* A word such as `in` or `type` stands for the member only where it is written as code. */
	if (add_parts(l, from, top, word, 1, &said) || add_parts(l, from, top, word, 0, &said))
		pm_str_addf(out, "Of the structure's comment:\n%s", said.s);
	pm_str_release(&said);
}

/* A struct is found by its beginning and by its end. */
static int said(const cJSON *list, const char *text)
{
	const cJSON *j;

	cJSON_ArrayForEach(j, list) if (!strcmp(pm_json_str(j, "text", ""), text)) return 1;
	return 0;
}

static void add_sdk(const PmTools *t, const char *name, cJSON *list)
{
	for (int h = 0; h < N_HEADERS; h++) {
		int found = 0;
		Lines l;

		if (!read_lines(t, headers[h], &l)) {
			release_lines(&l);
			continue;
		}
		for (size_t i = 0; i + 1 < l.at.n && found < MAX_FOUND; i++) {
			PmStr text = PM_STR_INIT;
			cJSON *j;

			if (!declares(&l, i, name))
				continue;
			if (struct_of(&l, i))
				add_member(&l, i, name, &text);
			else
				add_declaration(&l, i, &text);
			if (said(list, text.s)) {
				pm_str_release(&text);
				continue;
			}
			j = cJSON_CreateObject();
			cJSON_AddStringToObject(j, "kind", "sdk");
			cJSON_AddStringToObject(j, "file", headers[h]);
			cJSON_AddNumberToObject(j, "line", (double)i + 1);
			cJSON_AddStringToObject(j, "text", text.s);
			cJSON_AddItemToArray(list, j);
			pm_str_release(&text);
			found++;
		}
		release_lines(&l);
	}
}

/* ---- names that are near ---- */

static void add_near(cJSON *list, const char *name)
{
	const cJSON *old;

	cJSON_ArrayForEach(old, list) if (!strcmp(old->valuestring, name)) return;
	if (cJSON_GetArraySize(list) < MAX_NEAR)
		cJSON_AddItemToArray(list, cJSON_CreateString(name));
}

/* Operators, verdicts and declared names that have the text in them. */
static void find_near(const PmTools *t, const char *text, cJSON *list)
{
	for (int i = 1; i < PM_N_OPS; i++)
		if (strcasestr(pm_op_desc((PmOp)i)->name, text))
			add_near(list, pm_op_desc((PmOp)i)->name);
	if (pm_op_suggest(text))
		add_near(list, pm_op_suggest(text));
	for (int i = 0; i < PM_N_VERDICTS; i++)
		if (strcasestr(pm_verdict_name((PmVerdict)i), text))
			add_near(list, pm_verdict_name((PmVerdict)i));
	for (int h = 0; h < N_HEADERS; h++) {
		Lines l;

		read_lines(t, headers[h], &l);
		for (size_t i = 0; i + 1 < l.at.n; i++)
			for (const char *p = l.at.v[i]; p < l.at.v[i + 1];) {
				char word[80];
				size_t n = 0;

				while (p < l.at.v[i + 1] && in_word((unsigned char)*p))
					n < sizeof word - 1 ? (void)(word[n++] = *p++) : (void)p++;
				word[n] = '\0';
				if (n > 2 && strcasestr(word, text) && declares(&l, i, word))
					add_near(list, word);
				p += !n;
			}
		release_lines(&l);
	}
}

cJSON *pm__tool_show_api(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error)
{
	const char *name = pm__arg(args, "name");
	PmOp op = pm_op_from_name(name);
	PmVerdict v = pm_verdict_from_name(name);
	cJSON *j = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(j, "found"), *one;
	PmStr text = PM_STR_INIT;

	(void)run;
	(void)is_error;
	if (op != PM_OP_NONE) {
		describe_op(op, &text);
		one = cJSON_CreateObject();
		cJSON_AddStringToObject(one, "kind", "operator");
		cJSON_AddStringToObject(one, "text", text.s);
		cJSON_AddItemToArray(list, one);
	}
	if (v != PM_N_VERDICTS) {
		pm_str_clear(&text);
		describe_verdict(v, &text);
		one = cJSON_CreateObject();
		cJSON_AddStringToObject(one, "kind", "verdict");
		cJSON_AddStringToObject(one, "text", text.s);
		cJSON_AddItemToArray(list, one);
	}
	add_sdk(t, name, list);
	if (!list->child) {
		find_near(t, name, cJSON_AddArrayToObject(j, "near"));
		cJSON_AddStringToObject(j, "next",
					"There is nothing of exactly this name; near has names that are like "
					"it, and search_docs finds words.");
	}
	pm_str_release(&text);
	return j;
}
