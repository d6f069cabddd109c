/* test_noise.c - what an exporter left behind goes; outputs stay bit for bit. */
#include "bench/inputs.h"
#include "ir/canon.h"
#include "ir/infer.h"
#include "ir/noise.h"
#include "ir/text.h"
#include "runtime/ref.h"
#include "tests/lib/gen_graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static PmGraph *parse(const char *text)
{
	PmGraph *g = NULL;
	PmErr err;

	pm_err_init(&err);
	if (pm_graph_parse(text, strlen(text), &g, &err))
		fail_msg("%s\n%s", err.text, text);
	return g;
}

static void same_graph(const char *noisy, const char *clean)
{
	PmGraph *a = parse(noisy), *b = parse(clean);
	PmStr x = PM_STR_INIT, y = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	pm_graph_drop_noise(a);
	if (pm_verify(a, &err))
		fail_msg("%s", err.text);
	assert_int_equal(pm_canon_text(a, PM_CANON_FULL, &x, NULL), PM_OK);
	assert_int_equal(pm_canon_text(b, PM_CANON_FULL, &y, NULL), PM_OK);
	assert_string_equal(x.s, y.s);
	assert_int_equal(pm_graph_drop_noise(a), 0); /* nothing is left to do */
	pm_str_release(&x);
	pm_str_release(&y);
	pm_graph_free(a);
	pm_graph_free(b);
}

static void two_exports_of_one_model_are_one_graph(void **state)
{
	(void)state;
	same_graph("m (float[2,4] x, float[4,4] w) => (float[2,4] y)\n"
		   "<int64[2] sh = {2, 4}, int64[2] again = {2, 4}, float k = {3}, float l = {3}> {\n"
		   " xi = Identity (x)\n m = MatMul (xi, w)\n c = Cast <to = 1> (m)\n r = Reshape (c, sh)\n"
		   " t = Transpose <perm = [0, 1]> (r)\n e = Expand (t, again)\n o = Concat <axis = 0> (e)\n"
		   " s = Slice <starts = [0], ends = [9], axes = [0], steps = [1]> (o)\n a = Mul (k, s)\n"
		   " b = Mul (a, l)\n q = Relu (b)\n y = Identity (q) }",
		   "m (float[2,4] x, float[4,4] w) => (float[2,4] y)\n<float k = {3}> {\n"
		   " m = MatMul (x, w)\n a = Mul (m, k)\n b = Mul (a, k)\n y = Relu (b) }");
}

static void what_changes_something_stays(void **state)
{
	static const char text[] = "m (float[2,2] x, float[2,1] z) => (float[2,2] a, float[4] b, float[2,2] "
				   "c, float[2,2] d, double[2,2] "
				   "e, float[2,2] f)\n<int64[1] four = {4}, int64[2] two = {2, 2}> {\n"
				   " a = Transpose <perm = [1, 0]> (x)\n b = Reshape (x, four)\n"
				   " c = Slice <starts = [-1], ends = [-9], axes = [0], steps = [-1]> (x)\n "
				   "d = Expand (z, two)\n"
				   " e = Cast <to = 11> (x)\n f = Identity (x) }"; /* f would be an input */
	PmGraph *g = parse(text);

	(void)state;
	assert_int_equal(pm_graph_drop_noise(g), 0);
	assert_int_equal(pm_graph_n_nodes(g), 6);
	pm_graph_free(g);
}

/* The reference holds doubles, and a Cast rounds them; on a device a Cast to the type it has does nothing. */
static int has_void_cast(const PmGraph *g)
{
	size_t i;

	for (i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode n = pm_graph_node_at(g, i);

		if (pm_node_op(g, n) == PM_OP_Cast && pm_value_type(g, pm_node_in(g, n, 0))->dtype ==
							      pm_value_type(g, pm_node_out(g, n, 0))->dtype)
			return 1;
	}
	return 0;
}

static void outputs_keep_their_bits(void **state)
{
	size_t dropped = 0, compared = 0;
	int k, exact;

	(void)state;
	for (k = 0; k < 150; k++) {
		GenOpts gen = { (uint64_t)k + 1, 40, 2, 0, 0, k % 2, 0 };
		PmGraph *g = gen_graph(&gen), *h = NULL;
		size_t n_in = pm_graph_n_inputs(g), n_out = pm_graph_n_outputs(g), i;
		PmTensor *in = pm_xcalloc(n_in + 1, sizeof *in), *a = pm_xcalloc(n_out + 1, sizeof *a),
			 *b = pm_xcalloc(n_out + 1, sizeof *b);

		assert_int_equal(pm_graph_clone(g, &h, NULL), PM_OK);
		exact = !has_void_cast(g);
		compared += (size_t)exact;
		dropped += pm_graph_drop_noise(h);
		assert_int_equal(pm_verify(h, NULL), PM_OK);
		assert_int_equal(pm_graph_n_inputs(h), n_in);
		assert_int_equal(pm_graph_n_outputs(h), n_out);
		assert_int_equal(pm_inputs_make(g, 1, PM_INPUTS_NORMAL, in, NULL), PM_OK);
		if (pm_ref_run(g, in, n_in, a, n_out, NULL) == PM_OK) {
			assert_int_equal(pm_ref_run(h, in, n_in, b, n_out, NULL), PM_OK);
			for (i = 0; i < n_out; i++) {
				assert_int_equal(a[i].bytes, b[i].bytes);
				if (a[i].bytes && exact)
					assert_memory_equal(a[i].data, b[i].data, a[i].bytes);
			}
			pm_tensors_release(a, n_out);
			pm_tensors_release(b, n_out);
		}
		pm_tensors_release(in, n_in);
		free(in);
		free(a);
		free(b);
		pm_graph_free(g);
		pm_graph_free(h);
	}
	assert_true(dropped > 20 && compared > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_exports_of_one_model_are_one_graph),
		cmocka_unit_test(what_changes_something_stays),
		cmocka_unit_test(outputs_keep_their_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
