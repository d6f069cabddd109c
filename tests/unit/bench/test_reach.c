/* SPDX-License-Identifier: Apache-2.0 */
/* test_reach.c - what inputs reach in a large graph is found by rows as in the whole. */
#include "base/sys/threads.h"
#include "bench/inputs/inputs.h"
#include "bench/inputs/reach_priv.h"
#include "tests/lib/graphs/graph_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 2053, COLS = 512 };

/* A graph, and the same with one of its inputs as a further output: nobody's result, so that it has no rows.
 */
static const char *const bodies[] = {
	"a = Add(x, b)\n y = Softmax <axis = 1> (a)",
	"s = Less(x, b)\n t = Exp(x)\n y = Where(s, t, x)",
	"a = Abs(x)\n r = Sqrt(a)\n y = Mul(r, b)",
	"a = Relu(x)\n y = Div(b, a)",
	"a = Mul(x, x)\n m = ReduceMax <axes = [1], keepdims = 1> (a)\n y = Sub(x, m)",
	"c = Cast <to = 6> (x)\n d = Mul(c, c)\n y = Cast <to = 1> (d)",
	"l = Log(x)\n y = Sin(l)",
};

enum { N_BODIES = sizeof bodies / sizeof *bodies };

static PmGraph *graph(int k, int whole)
{
	return pm_test_graphf("g (float[%d,%d] x, float[%d] b) => (float[%d,%d] y%s) { %s }", ROWS, COLS,
			      COLS, ROWS, COLS, whole ? ", float[512] b" : "", bodies[k]);
}

typedef struct Found {
	PmStatus st;
	PmReached r;
	PmBranches b;
} Found;

static Found look(const PmGraph *g, const PmTensor *in, int how, int threads)
{
	Found f;
	PmErr err;

	memset(&f, 0, sizeof f);
	pm_err_init(&err);
	pm_branches_init(&f.b, g);
	pm_threads_limit(threads);
	f.st = pm_reach(g, in, how, &f.r, &f.b, &err);
	pm_threads_limit(0);
	return f;
}

static void same(const PmGraph *g, const Found *a, const PmGraph *h, const Found *b)
{
	assert_int_equal(a->st, b->st);
	assert_string_equal(a->r.why, b->r.why);
	assert_int_equal(a->r.measured, b->r.measured);
	if (!a->r.measured)
		return;
	assert_int_equal(a->r.in, b->r.in);
	assert_int_equal(a->r.inside, b->r.inside);
	assert_true(a->r.in_most == b->r.in_most && a->r.most == b->r.most);
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++)
		assert_int_equal(a->b.seen[pm_graph_node_at(g, i).id], b->b.seen[pm_graph_node_at(h, i).id]);
}

/* Returns how many runs were refused. */
static int compare(int k, PmInputClass cls, int how)
{
	PmGraph *g = graph(k, 0), *h = graph(k, 1);
	PmTensor in[2];
	Found one, some, whole;
	int refused;

	assert_true(pm__reach_is_by_rows(g) && !pm__reach_is_by_rows(h));
	assert_int_equal(pm_inputs_make(g, 9, cls, in, NULL), PM_OK);
	whole = look(h, in, how, 0);
	one = look(g, in, how, 1);
	some = look(g, in, how, 7);
	same(h, &whole, g, &one);
	same(g, &one, g, &some);
	refused = whole.st == PM_DECLINED;
	pm_branches_release(&whole.b);
	pm_branches_release(&one.b);
	pm_branches_release(&some.b);
	pm_tensors_release(in, 2);
	pm_graph_free(g);
	pm_graph_free(h);
	return refused;
}

static void rows_reach_what_the_whole_does(void **state)
{
	static const PmInputClass cls[] = { PM_INPUTS_NORMAL, PM_INPUTS_INTS, PM_INPUTS_SPECIAL,
					    PM_INPUTS_RANGE };
	int refused = 0, all = 0;

	(void)state;
	for (int k = 0; k < N_BODIES; k++)
		for (int c = 0; c < 4; c++)
			for (int how = 0; how < 4; how += 3, all++)
				refused += compare(k, cls[c], how);
	assert_true(refused >= 4 && refused < all - 4);
}

/* What one row has is the graph's: a NaN, and a share of the whole's elements. */
static void one_row_decides(void **state)
{
	PmGraph *g = graph(3, 0), *softmax = graph(0, 0);
	PmTensor in[2];
	Found f;
	float *x;

	(void)state;
	assert_int_equal(pm_inputs_make(g, 9, PM_INPUTS_UNIFORM, in, NULL), PM_OK);
	x = in[0].data;
	for (int i = 0; i < ROWS * COLS; i++)
		x[i] = 1;
	f = look(g, in, PM_REACH_DEFINED, 3);
	assert_int_equal(f.st, PM_OK);
	pm_branches_release(&f.b);
	x[ROWS * COLS - 7] = 0;
	f = look(g, in, PM_REACH_DEFINED, 3);
	assert_int_equal(f.st, PM_DECLINED);
	assert_non_null(strstr(f.r.why, "a divisor that is 0 of either sign"));
	pm_branches_release(&f.b);
	x[ROWS * COLS - 7] = NAN;
	f = look(softmax, in, PM_REACH_DEFINED, 3);
	assert_int_equal(f.st, PM_DECLINED);
	assert_non_null(strstr(f.r.why, "Softmax"));
	pm_branches_release(&f.b);
	x[ROWS * COLS - 7] = 1;
	/* One in 256 of all may be beyond the range; a part has 64 rows, and here 8 in all are. */
	for (int i = 0; i <= ROWS * COLS / 256; i++) {
		x[i] = 3.4e38F;
		if (i + 1 < ROWS * COLS / 256)
			continue;
		f = look(softmax, in, PM_REACH_FINITE, 3);
		assert_int_equal(f.st, i == ROWS * COLS / 256 ? PM_DECLINED : PM_OK);
		pm_branches_release(&f.b);
	}
	pm_tensors_release(in, 2);
	pm_graph_free(g);
	pm_graph_free(softmax);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_reach_what_the_whole_does),
		cmocka_unit_test(one_row_decides),
	};

	return cmocka_run_group_tests_name("reach", tests, NULL, NULL);
}
