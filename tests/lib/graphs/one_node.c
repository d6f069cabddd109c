/* SPDX-License-Identifier: Apache-2.0 */
/* one_node.c - graphs of one node from a line of text. */
#include "tests/lib/graphs/one_node.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_ITEMS = 64, MAX_WORD = 256 };

static int read_dtype(const char **p)
{
	char name[32];
	size_t n = strcspn(*p, "[{= ");
	int dtype;

	if (n >= sizeof name)
		return -1;
	memcpy(name, *p, n);
	name[n] = 0;
	dtype = pm_dtype_from_name(name);
	*p += n;
	return dtype;
}

const char *one_node_type(PmGraph *g, const char *text, PmType *out)
{
	const char *p = text;
	char name[2] = { 0, 0 };

	*out = pm_type_unknown();
	out->dtype = read_dtype(&p);
	if (out->dtype < 0)
		return NULL;
	out->rank = 0;
	if (*p != '[')
		return p;
	do {
		p++;
		if (*p == ']')
			return p + 1;
		if (out->rank == PM_MAX_RANK)
			return NULL;
		if (isalpha((unsigned char)*p)) {
			name[0] = *p++;
			out->dim[out->rank++] = pm_graph_symbol(g, name);
		} else {
			char *end;

			out->dim[out->rank++] = strtoll(p, &end, 10);
			p = end;
		}
	} while (*p == ',');
	return *p == ']' ? p + 1 : NULL;
}

/* Reads "1,-2,..." up to `stop`. */
static size_t read_ints(const char *p, char stop, int64_t *v)
{
	size_t n = 0;
	char *end;

	while (*p && *p != stop) {
		assert_true(n < MAX_ITEMS);
		v[n++] = strtoll(p, &end, 10);
		assert_true(end != p);
		p = *end == ',' ? end + 1 : end;
	}
	assert_int_equal(*p, stop);
	return n;
}

static PmBlob *pack(int dtype, const int64_t *v, size_t n)
{
	size_t size = pm_dtype_size(dtype), i;
	unsigned char bytes[MAX_ITEMS * 8] = { 0 };
	float f;

	for (i = 0; i < n; i++) {
		f = (float)v[i];
		memcpy(bytes + i * size, dtype == PM_F32 ? (const void *)&f : (const void *)&v[i], size);
	}
	return pm_blob_copy(bytes, n * size);
}

/* "int64{1,2}" or "int64=3": its type and data. */
static PmBlob *read_const(const char *w, PmType *t)
{
	int64_t v[MAX_ITEMS], n;
	int dtype = read_dtype(&w);

	assert_true(dtype >= 0);
	n = (int64_t)(*w == '{' ? read_ints(w + 1, '}', v) : read_ints(w + 1, 0, v));
	*t = pm_type((PmDType)dtype, *w == '{', &n);
	return pack(dtype, v, (size_t)n);
}

static PmValue read_operand(PmGraph *g, const char *w)
{
	PmValue v = { 0 };
	PmType t;

	if (strcmp(w, "-") == 0)
		return v;
	if (*w == '%') {
		v = pm_graph_find_value(g, w + 1);
		assert_true(v.id);
	} else if (strpbrk(w, "{=")) {
		PmBlob *b = read_const(w, &t);

		assert_int_equal(pm_graph_add_const(g, NULL, &t, b, &v, NULL), PM_OK);
	} else {
		const char *end = one_node_type(g, w, &t);

		assert_non_null(end);
		assert_int_equal(*end, 0);
		assert_int_equal(pm_graph_add_input(g, NULL, &t, &v, NULL), PM_OK);
	}
	return v;
}

static void read_attr(PmGraph *g, PmNode n, char *w)
{
	char *value = strchr(w, '=');
	int64_t v[MAX_ITEMS];
	size_t len;
	PmType t;
	PmBlob *b;
	PmStatus st;

	assert_non_null(value);
	*value++ = 0;
	len = strlen(value);
	if (*value == '[') {
		size_t cnt = read_ints(value + 1, ']', v);

		st = pm_node_set_ints(g, n, w, v, cnt, NULL);
	} else if (*value == '\'') {
		st = pm_node_set_s(g, n, w, value + 1, len - 2, NULL);
	} else if (isalpha((unsigned char)*value)) {
		b = read_const(value, &t);
		st = pm_node_set_tensor(g, n, w, &t, b, NULL);
	} else if (strchr(value, '.')) {
		st = pm_node_set_f(g, n, w, strtod(value, NULL), NULL);
	} else {
		st = pm_node_set_i(g, n, w, strtoll(value, NULL, 10), NULL);
	}
	assert_int_equal(st, PM_OK);
}

/* The next word of *p into w; 0 at the end. */
static int next_word(const char **p, char w[MAX_WORD])
{
	size_t n;

	while (**p == ' ')
		++*p;
	n = strcspn(*p, " ");
	assert_true(n < MAX_WORD);
	memcpy(w, *p, n);
	w[n] = 0;
	*p += n;
	return n > 0;
}

PmNode one_node_add(PmGraph *g, const char *op, const char *operands, const char *attrs, size_t n_out)
{
	PmValue in[MAX_ITEMS];
	size_t n_in = 0;
	char w[MAX_WORD];
	PmNode n;

	while (next_word(&operands, w)) {
		assert_true(n_in < MAX_ITEMS);
		in[n_in++] = read_operand(g, w);
	}
	assert_int_not_equal(pm_op_from_name(op), PM_OP_NONE);
	assert_int_equal(pm_graph_add_node(g, pm_op_from_name(op), in, n_in, n_out, &n, NULL), PM_OK);
	while (next_word(&attrs, w))
		read_attr(g, n, w);
	assert_int_equal(pm_node_fill_defaults(g, n, NULL), PM_OK);
	return n;
}

PmGraph *one_node(const char *op, const char *operands, const char *attrs, size_t n_out, PmNode *node)
{
	PmGraph *g = pm_graph_new(0);
	size_t k;

	*node = one_node_add(g, op, operands, attrs, n_out);
	for (k = 0; k < n_out; k++)
		assert_int_equal(pm_graph_add_output(g, pm_node_out(g, *node, k), NULL), PM_OK);
	return g;
}

void one_node_print_type(const PmGraph *g, const PmType *t, PmStr *out)
{
	int i;

	pm_str_add(out, pm_dtype_name(t->dtype));
	if (t->rank < 0)
		pm_str_add(out, "[...]");
	for (i = 0; i < t->rank; i++) {
		const char *name = pm_graph_symbol_name(g, t->dim[i]);

		pm_str_addc(out, i ? ',' : '[');
		if (name)
			pm_str_add(out, name[0] == '_' ? "?" : name);
		else
			pm_str_addf(out, "%lld", (long long)t->dim[i]);
	}
	if (t->rank > 0)
		pm_str_addc(out, ']');
}
