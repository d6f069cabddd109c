/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_bytes.c - serialised ONNX models for tests, from a line-by-line description. */
#include "tests/lib/graphs/onnx_bytes.h"

#include "base/core/arena.h"
#include "base/core/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREVIEW "ai.onnx.preview" /* its opset is 1 where a node is of it */

enum { MAX_WORDS = 64 };

static void varint(PmStr *b, uint64_t v)
{
	while (v >= 0x80) {
		pm_str_addc(b, (char)((v & 0x7f) | 0x80));
		v >>= 7;
	}
	pm_str_addc(b, (char)v);
}

void pm_ob_int(PmStr *b, int field, int64_t v)
{
	varint(b, (uint64_t)field << 3);
	varint(b, (uint64_t)v);
}

void pm_ob_bytes(PmStr *b, int field, const void *p, size_t n)
{
	varint(b, (uint64_t)field << 3 | 2);
	varint(b, n);
	pm_str_addn(b, p, n);
}

void pm_ob_str(PmStr *b, int field, const char *s)
{
	pm_ob_bytes(b, field, s, strlen(s));
}

void pm_ob_msg(PmStr *b, int field, PmStr *sub)
{
	pm_ob_bytes(b, field, sub->s, sub->len);
	pm_str_release(sub);
}

static void float_field(PmStr *b, int field, const char *text)
{
	float f = strtof(text, NULL);

	varint(b, (uint64_t)field << 3 | 5);
	pm_str_addn(b, &f, sizeof f);
}

static int elem_type(const char *name)
{
	static const char *const names[] = { "undefined",  "float",   "uint8",  "int8",   "uint16",
					     "int16",      "int32",   "int64",  "string", "bool",
					     "float16",    "double",  "uint32", "uint64", "complex64",
					     "complex128", "bfloat16" };
	size_t i;

	for (i = 0; i < sizeof names / sizeof *names; i++) {
		if (strcmp(names[i], name) == 0)
			return (int)i;
	}
	PM_BUG("no element type is called '%s'", name);
}

/* Splits at `sep` in place; returns the number of parts. */
static int split(char *s, char sep, char **out, int max)
{
	int n = 0;

	while (s && n < max) {
		char *end = strchr(s, sep);

		out[n++] = s;
		if (end)
			*end++ = '\0';
		s = end;
	}
	return n;
}

static void shape(PmStr *tensor, char *dims)
{
	PmStr sh = PM_STR_INIT;
	char *d[16];
	int n = strcmp(dims, "-") == 0 ? 0 : split(dims, ',', d, 16), k;

	for (k = 0; k < n; k++) {
		PmStr dim = PM_STR_INIT;

		if (d[k][0] == '-' || (d[k][0] >= '0' && d[k][0] <= '9'))
			pm_ob_int(&dim, 1, strtoll(d[k], NULL, 10));
		else
			pm_ob_str(&dim, 2, d[k]);
		pm_ob_msg(&sh, 1, &dim);
	}
	pm_ob_msg(tensor, 2, &sh);
}

static PmStr value(char **w, int n)
{
	PmStr v = PM_STR_INIT, type = PM_STR_INIT, tensor = PM_STR_INIT;

	pm_ob_str(&v, 1, w[1]);
	if (n < 4)
		return v;
	pm_ob_int(&tensor, 1, elem_type(w[2]));
	if (strcmp(w[3], "?") != 0)
		shape(&tensor, w[3]);
	pm_ob_msg(&type, 1, &tensor);
	pm_ob_msg(&v, 2, &type);
	return v;
}

static void element(PmStr *t, int type, const char *text)
{
	if (type == 1)
		float_field(t, 4, text);
	else if (type == 7)
		pm_ob_int(t, 7, strtoll(text, NULL, 10));
	else
		pm_ob_int(t, 5, strtoll(text, NULL, 10));
}

static PmStr tensor(char **w, int n)
{
	PmStr t = PM_STR_INIT;
	char *d[16];
	int rank = strcmp(w[3], "-") == 0 ? 0 : split(w[3], ',', d, 16), k;

	for (k = 0; k < rank; k++)
		pm_ob_int(&t, 1, strtoll(d[k], NULL, 10));
	pm_ob_int(&t, 2, elem_type(w[2]));
	for (k = 4; k < n; k++)
		element(&t, elem_type(w[2]), w[k]);
	pm_ob_str(&t, 8, w[1]);
	return t;
}

/* [1,2], [0.5f,1f] or ['a','b']; an empty list is one of ints. */
static void list(PmStr *a, char *text)
{
	char *v[32];
	int n, k, kind = 7;

	text[strlen(text) - 1] = '\0';
	n = *text ? split(text, ',', v, 32) : 0;
	for (k = 0; k < n; k++) {
		if (*v[k] == '\'') {
			kind = 8;
			pm_ob_bytes(a, 9, v[k] + 1, strlen(v[k]) - 2);
		} else if (v[k][strlen(v[k]) - 1] == 'f') {
			kind = 6;
			float_field(a, 7, v[k]);
		} else {
			pm_ob_int(a, 8, strtoll(v[k], NULL, 10));
		}
	}
	pm_ob_int(a, 20, kind);
}

/* {i~x~float~2;o~y;n~Neg~x~->~y}: a graph, with other marks for the spaces and the ends of lines. */
static void graph_of(PmStr *a, char *text)
{
	PmStr g = PM_STR_INIT;

	text[strlen(text) - 1] = '\0';
	for (char *p = text; *p; p++)
		*p = *p == '~' ? ' ' : *p == ';' ? '\n' : *p;
	pm_ob_str(&g, 2, "nested");
	pm_ob_graph(&g, text);
	pm_ob_msg(a, 6, &g);
	pm_ob_int(a, 20, 5);
}

static PmStr attribute(char *word)
{
	PmStr a = PM_STR_INIT, t = PM_STR_INIT;
	char *eq = strchr(word, '='), *v = eq + 1;
	char *one[5] = { NULL, NULL, v, NULL, NULL };

	*eq = '\0';
	pm_ob_str(&a, 1, word);
	if (*v == '[') {
		list(&a, v + 1);
	} else if (*v == '{') {
		graph_of(&a, v + 1);
	} else if (*v == '\'') {
		pm_ob_bytes(&a, 4, v + 1, strlen(v) - 2);
		pm_ob_int(&a, 20, 3);
	} else if (strchr(v, ':')) {
		char name[1] = "", dims[2] = "1";

		one[4] = strchr(v, ':') + 1;
		one[4][-1] = '\0';
		one[1] = name;
		one[3] = dims;
		t = tensor(one, 5);
		pm_ob_msg(&a, 5, &t);
		pm_ob_int(&a, 20, 4);
	} else if (v[strlen(v) - 1] == 'f') {
		float_field(&a, 2, v);
		pm_ob_int(&a, 20, 1);
	} else {
		pm_ob_int(&a, 3, strtoll(v, NULL, 10));
		pm_ob_int(&a, 20, 2);
	}
	return a;
}

static void names(PmStr *node, int field, char *list)
{
	char *v[32];
	int n = strcmp(list, "-") == 0 ? 0 : split(list, ',', v, 32), k;

	for (k = 0; k < n; k++)
		pm_ob_str(node, field, v[k]);
}

static PmStr node(char **w, int n)
{
	PmStr b = PM_STR_INIT;
	char *colon = strchr(w[1], ':');
	int k;

	if (n < 5 || strcmp(w[3], "->") != 0)
		PM_BUG("the node '%s' is described wrongly", w[1]);
	if (colon) {
		*colon = '\0';
		pm_ob_str(&b, 7, w[1]);
	}
	names(&b, 1, w[2]);
	names(&b, 2, w[4]);
	pm_ob_str(&b, 4, colon ? colon + 1 : w[1]);
	for (k = 5; k < n; k++) {
		PmStr a = attribute(w[k]);

		pm_ob_msg(&b, 5, &a);
	}
	return b;
}

static void line(PmStr *graph, char *text)
{
	char *w[MAX_WORDS];
	int n = split(text, ' ', w, MAX_WORDS);
	PmStr s = PM_STR_INIT;

	switch (n > 1 ? w[0][0] : 0) {
	case 'i':
		s = value(w, n);
		pm_ob_msg(graph, 11, &s);
		break;
	case 'o':
		s = value(w, n);
		pm_ob_msg(graph, 12, &s);
		break;
	case 'v':
		s = value(w, n);
		pm_ob_msg(graph, 13, &s);
		break;
	case 'w':
		s = tensor(w, n);
		pm_ob_msg(graph, 5, &s);
		break;
	case 'n':
		s = node(w, n);
		pm_ob_msg(graph, 1, &s);
		break;
	default:
		PM_BUG("the line '%s' describes nothing", text);
	}
}

void pm_ob_graph(PmStr *graph, const char *spec)
{
	char *copy = pm_xstrdup(spec), *at = copy;

	while (*at) {
		char *end = strchr(at, '\n');

		if (end)
			*end = '\0';
		if (*at)
			line(graph, at);
		at = end ? end + 1 : at + strlen(at);
	}
	free(copy);
}

PmStr pm_ob_model(int64_t opset, PmStr *graph)
{
	PmStr m = PM_STR_INIT, set = PM_STR_INIT;

	pm_ob_int(&m, 1, 8);
	pm_ob_str(&set, 1, "");
	pm_ob_int(&set, 2, opset);
	pm_ob_msg(&m, 8, &set);
	pm_ob_msg(&m, 7, graph);
	return m;
}

PmStr pm_ob_spec(int64_t opset, const char *spec)
{
	PmStr g = PM_STR_INIT, m, set = PM_STR_INIT;

	pm_ob_str(&g, 2, "g");
	pm_ob_graph(&g, spec);
	m = pm_ob_model(opset, &g);
	if (strstr(spec, PREVIEW ":")) {
		pm_ob_str(&set, 1, PREVIEW);
		pm_ob_int(&set, 2, 1);
		pm_ob_msg(&m, 8, &set);
	}
	return m;
}
