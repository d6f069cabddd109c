/* SPDX-License-Identifier: Apache-2.0 */
/* test_retype.c - what a change of the element type keeps: the float variant is the original, a second change
 * does nothing, no cast is undone by the next, and halves compute what float computes, within their
 * tolerance.
 */
#include "base/core/vec.h"
#include "base/sys/io.h"
#include "bench/compare/tolerance.h"
#include "bench/inputs/inputs.h"
#include "extract/extract.h"
#include "extract/variants/variants.h"
#include "ir/canon/canon.h"
#include "runtime/ref/ref.h"
#include "tests/lib/graphs/graph_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct Variant {
	PmGraph *g;
	int shape, dtype;
} Variant;

typedef PM_VEC(Variant) Variants;

typedef struct Sum {
	size_t subgraphs, compared, elements, off[3]; /* beyond the tolerance at t = -1, -2, -3 */
} Sum;

static PmStatus take(void *arg, const PmGraph *g, const char *label, int shape, int dtype, PmErr *err)
{
	Variant v = { NULL, shape, dtype };
	PmStatus st = pm_graph_clone(g, &v.g, err);

	(void)label;
	if (!st)
		PM_VEC_PUSH((Variants *)arg, v);
	return st;
}

static void same_graph(const PmGraph *a, const PmGraph *b)
{
	char x[PM_SHA256_HEX], y[PM_SHA256_HEX];

	assert_int_equal(pm_canon_hash(a, PM_CANON_FULL, x, NULL), PM_OK);
	assert_int_equal(pm_canon_hash(b, PM_CANON_FULL, y, NULL), PM_OK);
	assert_string_equal(x, y);
}

/* A graph in its own type, again. */
static void changing_twice_is_changing_once(const Variant *v)
{
	PmVariantOpts same = { .n_shapes = 1, .dtypes = 1u << v->dtype };
	Variants again = { NULL, 0, 0 };

	assert_int_equal(pm_variants_make(v->g, &same, take, &again, NULL, NULL), PM_OK);
	assert_int_equal(again.n, 1);
	same_graph(v->g, again.v[0].g);
	pm_graph_free(again.v[0].g);
	PM_VEC_RELEASE(&again);
}

/* A cast to a type and back at once, which the original does not have. */
static size_t casts_undone(const PmGraph *g)
{
	size_t n = 0;

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode c = pm_graph_node_at(g, i), d;

		if (pm_node_op(g, c) != PM_OP_Cast)
			continue;
		d = pm_value_def(g, pm_node_in(g, c, 0), NULL);
		n += d.id && pm_node_op(g, d) == PM_OP_Cast &&
		     pm_value_type(g, pm_node_in(g, d, 0))->dtype ==
			     pm_value_type(g, pm_node_out(g, c, 0))->dtype;
	}
	return n;
}

static size_t cost(const PmGraph *g)
{
	size_t c = 0;

	for (uint32_t id = 1; id < pm_graph_value_limit(g); id++) {
		int64_t n = 0;

		if (!pm_type_numel(pm_value_type(g, (PmValue){ id }), &n, NULL))
			c += (size_t)n;
	}
	return c;
}

static const Variant *of_type(const Variants *v, int shape, int dtype)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->v[i].shape == shape && v->v[i].dtype == dtype)
			return &v->v[i];
	return NULL;
}

/* Float from the half's inputs, which it holds exactly, so that only the computation differs. */
static void compare(const Variant *wide, const Variant *half, Sum *s)
{
	size_t n_in = pm_graph_n_inputs(half->g), n_out = pm_graph_n_outputs(half->g);
	PmTensor *a = pm_xcalloc(n_in + 1, sizeof *a), *b = pm_xcalloc(n_in + 1, sizeof *b);
	PmTensor *x = pm_xcalloc(n_out + 1, sizeof *x), *y = pm_xcalloc(n_out + 1, sizeof *y);

	assert_int_equal(pm_inputs_make(half->g, 1, PM_INPUTS_NORMAL, a, NULL), PM_OK);
	for (size_t i = 0; i < n_in; i++) {
		assert_int_equal(
			pm_tensor_init(&b[i], pm_value_type(wide->g, pm_graph_input(wide->g, i)), NULL),
			PM_OK);
		for (int64_t k = 0; k < pm_tensor_numel(&b[i]); k++)
			pm_tensor_set(&b[i], k, pm_tensor_get(&a[i], k));
	}
	assert_int_equal(pm_ref_run(half->g, a, n_in, x, n_out, NULL), PM_OK);
	assert_int_equal(pm_ref_run(wide->g, b, n_in, y, n_out, NULL), PM_OK);
	for (size_t o = 0; o < n_out; o++)
		for (int64_t k = 0; k < pm_tensor_numel(&x[o]); k++) {
			double want = pm_tensor_get(&y[o], k), d = fabs(pm_tensor_get(&x[o], k) - want);

			s->elements++;
			for (int t = 0; t < 3; t++) {
				PmTol tol;

				pm_tol(half->dtype, -1 - t, &tol);
				s->off[t] += !(d <= tol.atol + tol.rtol * fabs(want));
			}
		}
	s->compared++;
	pm_tensors_release(a, n_in);
	pm_tensors_release(b, n_in);
	pm_tensors_release(x, n_out);
	pm_tensors_release(y, n_out);
	free(a);
	free(b);
	free(x);
	free(y);
}

static PmStatus look_at(void *arg, const PmExtracted *e, PmErr *err)
{
	PmVariantOpts few = { .n_shapes = 6, .max_elements = 4096 };
	Variants v = { NULL, 0, 0 };
	Sum *s = arg;
	size_t small = 0;

	(void)err;
	if (e->seen > 1)
		return PM_OK;
	assert_int_equal(pm_variants_make(e->sub, &few, take, &v, NULL, NULL), PM_OK);
	assert_int_equal(v.v[0].dtype, PM_F32);
	same_graph(v.v[0].g, e->sub);
	for (size_t i = 0; i < v.n; i++) {
		changing_twice_is_changing_once(&v.v[i]);
		assert_int_equal(casts_undone(v.v[i].g), casts_undone(e->sub));
		if (cost(v.v[i].g) < cost(v.v[small].g))
			small = i;
	}
	compare(of_type(&v, v.v[small].shape, PM_F32), of_type(&v, v.v[small].shape, PM_F16), s);
	compare(of_type(&v, v.v[small].shape, PM_F32), of_type(&v, v.v[small].shape, PM_BF16), s);
	for (size_t i = 0; i < v.n; i++)
		pm_graph_free(v.v[i].g);
	PM_VEC_RELEASE(&v);
	s->subgraphs++;
	return PM_OK;
}

static void bundled_subgraphs_keep_their_meaning(void **state)
{
	PmExtractOpts opts = { .kinds = 1u << PM_KIND_FUSIBLE };
	PmNames names = { NULL, 0, 0 };
	PmExtractSeen seen;
	Sum s = { 0 };

	(void)state;
	pm_extract_seen_init(&seen);
	assert_int_equal(pm_list_dir("models", &names, NULL), PM_OK);
	for (size_t i = 0; i < names.n; i++) {
		PmStr path = PM_STR_INIT, text = PM_STR_INIT;
		PmGraph *g = NULL;

		pm_path_join("models", names.v[i], &path);
		if (pm_str_ends(path.s, ".gpt")) {
			assert_int_equal(pm_read_file(path.s, 0, &text, NULL), PM_OK);
			g = pm_test_graph(text.s);
			assert_int_equal(pm_extract_model(g, &opts, &seen, look_at, &s, NULL, NULL), PM_OK);
			pm_graph_free(g);
		}
		pm_str_release(&path);
		pm_str_release(&text);
	}
	print_message("# %zu subgraphs, %zu runs, %zu elements; beyond t = -1, -2, -3: %zu, %zu, %zu\n",
		      s.subgraphs, s.compared, s.elements, s.off[0], s.off[1], s.off[2]);
	assert_true(s.subgraphs >= 25);
	assert_int_equal(s.off[0], 0);
	pm_names_release(&names);
	pm_extract_seen_release(&seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bundled_subgraphs_keep_their_meaning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
