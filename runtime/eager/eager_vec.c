/* SPDX-License-Identifier: Apache-2.0 */
/* eager_vec.c - launches of one result element per element of its operands: how wide, and how each is read.
 *
 * A thread makes U vectors of V neighbouring results, each stored in one access. An operand is read in one of
 * four ways, the first that is possible: FLAT  it lies like the result: one access at the same position ROW
 * its rows are aligned and the last dimension is a multiple of V: one access at its own position SAME  it
 * does not change along the last dimension: one element EACH  element by element, each at its own position V
 * is the largest number for which no large operand has to be read by elements; where there is none, V is 1
 * and neighbouring threads take neighbouring elements, which is how a GPU likes to read what has no order.
 */
#include "runtime/exec/plan_priv.h"

#include <stdio.h>
#include <string.h>

typedef enum { FLAT, ROW, SAME, EACH } Way;

enum {
	ACCESS = 16, /* bytes of the widest access */
	/* Threads of a block. On an H200, copies of 256 MB take 127.9 us with one vector for each thread and
	 * blocks of 128 or 256, 128.7 with 512, 131.2 with two vectors. */
	BLOCK = 128,
	/* Results for each thread that there is room for, from which on a thread makes several where that
	   pays: */
	LARGE = 4,
	HEAVY = 8 /* operations for each element; Gelu in float16: 180 us with one vector, 147 with four */
};

static int is_flat(const PmSpace *s, int i)
{
	int64_t want = 1;

	for (int d = s->rank - 1; d >= 0; d--) {
		if (s->stride[i][d] != want && s->dim[d] != 1)
			return 0;
		want *= s->dim[d];
	}
	return 1;
}

static int is_constant(const PmSpace *s, int i)
{
	for (int d = 0; d < s->rank; d++)
		if (s->stride[i][d] && s->dim[d] != 1)
			return 0;
	return 1;
}

static Way way(const PmSpace *s, int i, const PmVecIn *in, int v)
{
	if (is_constant(s, i))
		return SAME;
	if (is_flat(s, i) && in->loc->off % v == 0)
		return FLAT;
	if (v > 1 && s->dim[s->rank - 1] % v == 0 && s->stride[i][s->rank - 1] == 0)
		return SAME;
	return v > 1 && pm__space_width(s, i, in->loc->off, v) == v ? ROW : EACH;
}

static int width(const PmSpace *s, const PmVecIn *in, int widest)
{
	for (int v = ACCESS / widest; v > 1; v /= 2) {
		int large = 0;

		for (int i = 0; i < s->n; i++)
			large |= in[i].numel > s->total / 4 && way(s, i, &in[i], v) == EACH;
		if (!large)
			return v;
	}
	return 1;
}

int pm__vectors(const PmTarget *t, int64_t total, int v, int widest, int64_t flops)
{
	if (total < (int64_t)t->sm_count * t->sm_threads * LARGE)
		return 1;
	if (v * widest < 8)
		return 4;
	if (flops < HEAVY * total)
		return 1;
	return widest <= 2 ? 4 : 2;
}

static const char *offset(Way w, int i, char out[48])
{
	if (w == FLAT)
		return "t";
	snprintf(out, 48, "OFF_o_%d(t)", i);
	return out;
}

/* The loads of vector u, then what is done with them. */
static void add_vectors(PmStr *text, const PmVecIn *in, const Way *w, int n, const char *body)
{
	char off[48];

	for (int i = 0; i < n; i++)
		pm_str_addf(text, w[i] == SAME ? "\t%s v%d[U];\n" : "\tpm_vec<%s, V> v%d[U];\n",
			    pm__ctype(in[i].dtype), i);
	pm_str_add(text, "#pragma unroll\n\tfor (int u = 0; u < U; u++) {\n"
			 "\t\tconst I t = first + u * (B * V);\n\n\t\tif (t + V <= N_o) {\n");
	for (int i = 0; i < n; i++) {
		if (w[i] == SAME)
			pm_str_addf(text, "\t\t\tv%d[u] = x%d[OFF_o_%d(t)];\n", i, i, i);
		else if (w[i] == EACH)
			pm_str_addf(text,
				    "#pragma unroll\n\t\t\tfor (int j = 0; j < V; j++)\n"
				    "\t\t\t\tv%d[u].v[j] = x%d[OFF_o_%d(t + j)];\n",
				    i, i, i);
		else
			pm_str_addf(text, "\t\t\tv%d[u] = pm_get<V>(x%d + %s);\n", i, i,
				    offset(w[i], i, off));
	}
	pm_str_add(text, "\t\t}\n\t}\n#pragma unroll\n\tfor (int u = 0; u < U; u++) {\n"
			 "\t\tconst I t = first + u * (B * V);\n\n\t\tif (t + V <= N_o) {\n"
			 "\t\t\tpm_vec<Y, V> r;\n#pragma unroll\n\t\t\tfor (int j = 0; j < V; j++) {\n");
	for (int i = 0; i < n; i++)
		pm_str_addf(text, "\t\t\t\tconst %s e%d = v%d[u]%s;\n", pm__ctype(in[i].dtype), i, i,
			    w[i] == SAME ? "" : ".v[j]");
	pm_str_addf(text, "\t\t\t\tY &q = r.v[j];\n%s\t\t\t}\n\t\t\tpm_put(y + t, r);\n\t\t}\n", body);
}

/* What is left when the results are no multiple of V. */
static void add_rest(PmStr *text, const PmVecIn *in, int n, const char *body)
{
	pm_str_add(text, "\t\telse\n\t\t\tfor (I s = t; s < N_o; s++) {\n");
	for (int i = 0; i < n; i++)
		pm_str_addf(text, "\t\t\t\tconst %s e%d = x%d[OFF_o_%d(s)];\n", pm__ctype(in[i].dtype), i, i,
			    i);
	pm_str_addf(text, "\t\t\t\tY &q = y[s];\n%s\t\t\t}\n", body);
}

PmStatus pm__vec_launch(KGen *k, const char *label, const PmVecOut *out, const PmVecIn *in, int n,
			const char *body, int64_t flops, PmErr *err)
{
	const int64_t *rows[PM_MAX_OPERANDS];
	int widest = (int)pm_dtype_size(out->dtype), v, u;
	Way w[PM_MAX_OPERANDS];
	PmStr text = PM_STR_INIT;
	char name[24];
	PmStatus st;
	PmSpace s;

	for (int i = 0; i < n; i++) {
		int size = (int)pm_dtype_size(in[i].dtype);

		rows[i] = in[i].stride;
		widest = size > widest ? size : widest;
	}
	pm__space(&s, out->dim, out->rank, rows, n);
	v = width(&s, in, widest);
	for (int i = 0; i < n; i++)
		w[i] = way(&s, i, &in[i], v);
	u = pm__vectors(k->p->target, s.total, v, widest, flops);
	pm_str_addf(&k->head, "#define V %d\n#define U %d\ntypedef %s Y;\n", v, u, pm__ctype(out->dtype));
	pm__kg_out(k, "y", out->loc, out->dtype, s.total);
	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof name, "x%d", i);
		pm__kg_in(k, name, in[i].loc, in[i].dtype, in[i].numel);
	}
	pm__kg_put_space(k, "o", &s);
	pm_str_add(&text, "KERNEL\n{\n"
			  "\tconst I first = (I)(blockIdx.x * (long long)(B * V * U) + threadIdx.x * V);\n");
	add_vectors(&text, in, w, n, body);
	if (s.total % v)
		add_rest(&text, in, n, body);
	pm_str_add(&text, "\t}\n}\n");
	st = pm__kg_launch_grid(k, label, text.s,
				(PmGrid){ (s.total + BLOCK * v * u - 1) / (BLOCK * v * u), 1, BLOCK }, flops,
				err);
	pm_str_release(&text);
	return st;
}
