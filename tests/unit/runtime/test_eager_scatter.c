/* SPDX-License-Identifier: Apache-2.0 */
/* test_eager_scatter.c - scatters on the emulated device give, to the bit, what joining the updates one after
 * the other in the type of sums gives. Each is made by tiles that look through the updates, and by tiles of
 * sorted ones: on a target where all but sorting is dear, and on one where sorting is. */
#include "base/core/arena.h"
#include "passmith/scatter.h"
#include "runtime/worker/run.h"
#include "targets/targets.h"
#include "tests/lib/device/bound_check.h"
#include "tests/lib/graphs/eval.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Where updates go: all to one place, each to its own, anywhere, from the last place down. Every third index
 * is negative. */
typedef enum Pattern { ONE, EACH, ANY, DOWN } Pattern;

/* ROWS, LINES: ScatterElements along the first and the last of two axes. SAME: along the first, all lines
 * having the same indices, which are repeated. ND, TUPLES: ScatterND by one index, and by two, of which the
 * second is below 3. */
typedef enum Form { ROWS, LINES, ND, SAME, TUPLES } Form;

typedef struct Case {
	Form form;
	int dtype;
	const char *how;
	int64_t places, updates, lines;
	Pattern pattern;
	int launches; /* where sorting is cheap; 2: sorted */
} Case;

typedef enum Way { LOOKED, SORTED, N_WAYS } Way;

static int64_t place_of(const Case *c, int64_t i, int64_t line)
{
	uint64_t mixed;

	if (c->form >= ND) /* all lines have the same indices */
		line = 0;
	mixed = ((uint64_t)i * 2654435761u + (uint64_t)line * 40503u) * 0x9e3779b97f4a7c15u >> 33;
	switch (c->pattern) {
	case ONE:
		return c->places / 2;
	case EACH:
		return (i * 7919 + line) % c->places; /* a prime that no number of places has as a factor */
	case DOWN:
		return c->places - 1 - (i + line) % c->places;
	default:
		return (int64_t)(mixed % (uint64_t)c->places);
	}
}

/* The element (place or update, line) of a tensor of that many lines. */
static int64_t at(const Case *c, int64_t along, int64_t n, int64_t line)
{
	return c->form == LINES ? line * n + along : along * c->lines + line;
}

static PmGraph *graph_of(const Case *c, char *text, size_t size)
{
	const char *t = pm_dtype_name((PmDType)c->dtype);
	long long p = c->places, k = c->updates, l = c->lines;
	int n;

	switch (c->form) {
	case ROWS:
		n = snprintf(text, size,
			     "g (%s[%lld,%lld] x, int64[%lld,%lld] i, %s[%lld,%lld] u) => (%s[%lld,%lld] y) "
			     "{ y = ScatterElements <axis = 0, reduction = \"%s\"> (x, i, u) }",
			     t, p, l, k, l, t, k, l, t, p, l, c->how);
		break;
	case LINES:
		n = snprintf(text, size,
			     "g (%s[%lld,%lld] x, int32[%lld,%lld] i, %s[%lld,%lld] u) => (%s[%lld,%lld] y) "
			     "{ y = ScatterElements <axis = 1, reduction = \"%s\"> (x, i, u) }",
			     t, l, p, l, k, t, l, k, t, l, p, c->how);
		break;
	case ND:
		n = snprintf(text, size,
			     "g (%s[%lld,%lld] x, int64[%lld,1] i, %s[%lld,%lld] u) => (%s[%lld,%lld] y) "
			     "{ y = ScatterND <reduction = \"%s\"> (x, i, u) }",
			     t, p, l, k, t, k, l, t, p, l, c->how);
		break;
	case SAME:
		n = snprintf(
			text, size,
			"g (%s[%lld,%lld] x, int64[%lld,1] i, %s[%lld,%lld] u) => (%s[%lld,%lld] y) "
			"<int64[2] e = {%lld, %lld}> { j = Expand (i, e)\n y = ScatterElements <axis = 0, "
			"reduction = \"%s\"> (x, j, u) }",
			t, p, l, k, t, k, l, t, p, l, k, l, c->how);
		break;
	default:
		n = snprintf(text, size,
			     "g (%s[%lld,3,%lld] x, int64[%lld,2] i, %s[%lld,%lld] u) => (%s[%lld,3,%lld] y) "
			     "{ y = ScatterND <reduction = \"%s\"> (x, i, u) }",
			     t, p / 3, l, k, t, k, l, t, p / 3, l, c->how);
	}
	assert_true(n > 0 && (size_t)n < size);
	return pm_test_graph(text);
}

/* Numbers of many magnitudes, whose sums depend on their order; factors near one, or odd, which no product of
 * integers takes to 0. */
static void put_number(const Case *c, PmTensor *t, int64_t i, int64_t seed)
{
	int64_t k = (i * 37 + seed * 11 + i / 101) % 101 - 50;

	if (!pm_dtype_is_float(c->dtype))
		pm_tensor_set_i(t, i, 2 * k + 1);
	else if (!strcmp(c->how, "mul"))
		pm_tensor_set(t, i, (k < 0 ? -1 : 1) * (1 + (double)k / 1024));
	else
		pm_tensor_set(t, i, (double)k / 25 * (double)(1 << i % 7) / 8);
}

static void fill(const Case *c, PmTensor in[3])
{
	for (int k = 0; k < 3; k += 2)
		for (int64_t i = 0; i < pm_tensor_numel(&in[k]); i++)
			put_number(c, &in[k], i, k);
	for (int64_t i = 0; i < c->updates; i++)
		for (int64_t line = 0; line < c->lines; line++) {
			int64_t to = place_of(c, i, line);
			int64_t sign = (i + line) % 3 ? 0 : 1;

			if (c->form == TUPLES) {
				pm_tensor_set_i(&in[1], 2 * i, to / 3 - (i % 3 ? 0 : c->places / 3));
				pm_tensor_set_i(&in[1], 2 * i + 1, to % 3 - (i % 2 ? 0 : 3));
			} else if (c->form >= ND) {
				pm_tensor_set_i(&in[1], i, to - (i % 3 ? 0 : c->places));
			} else {
				pm_tensor_set_i(&in[1], at(c, i, c->updates, line), to - sign * c->places);
			}
		}
}

/* One update joined with what is there, in float, double, or 64 bits. */
static double join_float(const Case *c, double a, double v)
{
	int single = c->dtype != PM_F64;

	if (!strcmp(c->how, "add"))
		return single ? (double)((float)a + (float)v) : a + v;
	if (!strcmp(c->how, "mul"))
		return single ? (double)((float)a * (float)v) : a * v;
	if (!strcmp(c->how, "max"))
		return v > a ? v : a;
	if (!strcmp(c->how, "min"))
		return v < a ? v : a;
	return v;
}

static int64_t join_int(const Case *c, int64_t a, int64_t v)
{
	if (!strcmp(c->how, "add"))
		return (int64_t)((uint64_t)a + (uint64_t)v);
	if (!strcmp(c->how, "mul"))
		return (int64_t)((uint64_t)a * (uint64_t)v);
	if (!strcmp(c->how, "max"))
		return v > a ? v : a;
	if (!strcmp(c->how, "min"))
		return v < a ? v : a;
	return v;
}

/* Places of one line, each rounded to its type at the end. */
static void join_line(const Case *c, const PmTensor in[3], int64_t line, double *f, int64_t *w,
		      PmTensor *want)
{
	int is_float = pm_dtype_is_float(c->dtype);

	for (int64_t j = 0; j < c->places; j++) {
		int64_t k = at(c, j, c->places, line);

		f[j] = is_float ? pm_tensor_get(&in[0], k) : 0;
		w[j] = is_float ? 0 : pm_tensor_get_i(&in[0], k);
	}
	for (int64_t i = 0; i < c->updates; i++) {
		int64_t j = place_of(c, i, line), k = at(c, i, c->updates, line);

		if (is_float)
			f[j] = join_float(c, f[j], pm_tensor_get(&in[2], k));
		else
			w[j] = join_int(c, w[j], pm_tensor_get_i(&in[2], k));
	}
	for (int64_t j = 0; j < c->places; j++)
		if (is_float)
			pm_tensor_set(want, at(c, j, c->places, line), f[j]);
		else
			pm_tensor_set_i(want, at(c, j, c->places, line), w[j]);
}

static const char *name_of(void *arg, size_t k)
{
	(void)k;
	return arg;
}

/* Tuples are sorted, or the result is a copy which is then changed. */
static int launches_of(const Case *c, Way way)
{
	return way == LOOKED && c->form != TUPLES ? 1 : c->launches;
}

static void check(const Case *c, Way way, PmWorker *w)
{
	PmRunOpts opts = { .device = "emu", .deadline = 100, .poison = 0x7fc1d00d, .worker = w };
	PmTensor in[3], want;
	char text[512];
	PmGraph *g = graph_of(c, text, sizeof text);
	double *f = pm_xmalloc((size_t)(c->places + 1) * sizeof *f);
	int64_t *i = pm_xmalloc((size_t)(c->places + 1) * sizeof *i);
	PmRunResult r;
	PmErr err;

	pm_err_init(&err);
	for (size_t k = 0; k < 3; k++)
		assert_int_equal(pm_tensor_init(&in[k], pm_value_type(g, pm_graph_input(g, k)), NULL), PM_OK);
	assert_int_equal(pm_tensor_init(&want, &in[0].type, NULL), PM_OK);
	fill(c, in);
	for (int64_t line = 0; line < c->lines; line++)
		join_line(c, in, line, f, i, &want);
	if (pm_run_graph(g, in, 3, &opts, &r, &err))
		fail_msg("%s: %s", text, err.text);
	if (r.stats.n_launches != launches_of(c, way))
		fail_msg("%s: %d launches, way %d", text, r.stats.n_launches, way);
	bound_check(g, in, r.out, 1, name_of, text);
	eval_same(r.out[0], want, 0, text);
	memset(&r.out[0], 0, sizeof r.out[0]);
	pm_run_result_release(&r);
	for (size_t k = 0; k < 3; k++)
		pm_tensor_release(&in[k]);
	free(f);
	free(i);
	pm_graph_free(g);
}

static void check_all(const Case *c, size_t n)
{
	static const char *const dear[N_WAYS] = { "{\"scatter_sort_us\": 1e9}",
						  "{\"scatter_step_us\": 1e3, \"scatter_wait_us\": 1e-6, "
						  "\"scatter_sort_us\": 1e-6, \"launch_us\": 1e-6}" };

	pm_test_need_device("emu");
	for (int way = 0; way < N_WAYS; way++) {
		cJSON *changes = cJSON_Parse(dear[way]);
		PmTarget *t;
		PmWorker *w;
		PmErr err;

		pm_err_init(&err);
		assert_int_equal(pm_target_changed(pm_target_at(0), changes, &t, &err), PM_OK);
		pm_target_set(t);
		w = pm_worker_new("emu");
		for (size_t k = 0; k < n; k++)
			/* A result that is changed update by update is rounded to half types as often. */
			if (way == SORTED || c[k].form != TUPLES || c[k].dtype != PM_F16)
				check(&c[k], (Way)way, w);
		pm_worker_free(w);
		pm_target_set(pm_target_at(0));
		free(t);
		cJSON_Delete(changes);
	}
}
#define CHECK_ALL(cases) check_all(cases, sizeof(cases) / sizeof *(cases))

static void few_and_prime_numbers(void **state)
{
	static const Case cases[] = {
		{ ROWS, PM_F32, "add", 1, 1, 1, ONE, 2 },
		{ ROWS, PM_F32, "add", 1, 2, 1, ONE, 2 },
		{ ROWS, PM_F32, "none", 1, 1, 7, ONE, 1 },
		{ ROWS, PM_F32, "add", 13, 0, 3, ONE, 1 },
		{ ROWS, PM_F32, "none", 13, 0, 3, ONE, 1 },
		{ ND, PM_F32, "add", 13, 0, 3, ONE, 1 },
		{ LINES, PM_F32, "add", 97, 101, 31, ANY, 2 },
		{ ROWS, PM_F32, "none", 97, 89, 37, EACH, 1 },
		{ ROWS, PM_F32, "add", 1, 997, 1, ONE, 2 },
		{ ROWS, PM_F32, "add", 2, 997, 1, ANY, 2 },
		{ ROWS, PM_F32, "add", 1021, 499, 1, ANY, 2 },
		{ ROWS, PM_F32, "add", 1021, 499, 33, ANY, 2 },
		{ LINES, PM_F32, "add", 1021, 499, 37, DOWN, 2 },
		{ ND, PM_F32, "add", 1021, 1031, 3, DOWN, 2 },
		{ ROWS, PM_F32, "none", 100003, 499, 31, EACH, 2 },
		{ LINES, PM_F32, "none", 100003, 499, 31, ANY, 2 },
		{ ND, PM_U8, "none", 250007, 10007, 5, ANY, 2 },
		{ ROWS, PM_F32, "none", 4099, 3001, 33, ANY, 1 },
	};

	(void)state;
	CHECK_ALL(cases);
}

/* A warp has places of 32 to 128 lines: places that warps do not divide, lines that they do not, several
 * pieces of indices, more updates of a place than are under way together, none. */
static void rows_of_the_same_indices(void **state)
{
	static const Case cases[] = {
		{ SAME, PM_F32, "add", 1, 1, 32, ONE, 2 },
		{ SAME, PM_F32, "add", 13, 1, 37, ONE, 2 },
		{ SAME, PM_F32, "add", 523, 1031, 33, ANY, 2 },
		{ SAME, PM_F32, "add", 61, 2503, 67, ANY, 2 },
		{ SAME, PM_F16, "add", 97, 1999, 131, DOWN, 2 },
		{ SAME, PM_BF16, "max", 61, 67, 257, ANY, 2 },
		{ SAME, PM_F32, "mul", 1021, 499, 65, EACH, 2 },
		{ SAME, PM_F64, "add", 97, 1031, 33, ANY, 2 },
		{ SAME, PM_I64, "min", 97, 499, 40, ANY, 2 },
		{ SAME, PM_F32, "add", 17, 1500, 32, ONE, 2 },
		{ ND, PM_F32, "add", 523, 1511, 130, ANY, 2 },
		{ ND, PM_U8, "add", 61, 67, 64, DOWN, 2 },
		{ SAME, PM_F32, "none", 61, 67, 64, DOWN, 1 },
	};

	(void)state;
	CHECK_ALL(cases);
}

static void updates_that_meet(void **state)
{
	static const Case cases[] = {
		{ ROWS, PM_F32, "add", 1021, 499, 5, ONE, 2 },
		{ ROWS, PM_F32, "add", 1021, 2003, 5, DOWN, 2 },
		{ LINES, PM_F32, "add", 523, 499, 5, EACH, 2 },
		{ ND, PM_F32, "add", 523, 1511, 40, ANY, 2 },
		{ ROWS, PM_F32, "none", 4099, 1999, 33, ONE, 1 },
		{ ROWS, PM_F32, "none", 1021, 2003, 33, DOWN, 1 },
		{ LINES, PM_F16, "none", 100003, 499, 31, ONE, 2 },
		{ ROWS, PM_F32, "add", 61, 67, 5, ONE, 2 },
		{ ROWS, PM_F32, "add", 61, 67, 5, DOWN, 2 },
		/* turns of a tile that joins: of more updates than are under way together */
		{ ROWS, PM_F32, "add", 31, 4999, 3, ANY, 2 },
		{ LINES, PM_F64, "add", 31, 2503, 3, DOWN, 2 },
	};

	(void)state;
	CHECK_ALL(cases);
}

static void all_types_and_joins(void **state)
{
	static const int types[] = { PM_F32, PM_F16, PM_BF16, PM_F64, PM_I32, PM_I64, PM_U8 };
	static const char *const how[] = { "add", "mul", "max", "min", "none" };
	Case c[2 * 7 * 5];
	size_t n = 0;

	(void)state;
	for (size_t t = 0; t < sizeof types / sizeof *types; t++)
		for (size_t h = 0; h < sizeof how / sizeof *how; h++) {
			Form form = (Form)((t + h) % 3);
			int replaces = !strcmp(how[h], "none");

			c[n++] = (Case){ form, types[t], how[h], 61, 67, 5, ANY, replaces ? 1 : 2 };
			c[n++] = (Case){ form, types[t], how[h], 523, 499, 5, ANY, replaces ? 1 : 2 };
		}
	check_all(c, n);
}

/* By tuples, which only a sort brings to tiles; more places than ranges of one tile each. */
static void places_of_other_kinds(void **state)
{
	static const Case cases[] = {
		{ TUPLES, PM_F32, "add", 3 * 337, 499, 3, ANY, 2 },
		{ TUPLES, PM_F16, "add", 3 * 337, 499, 3, ONE, 2 },
		{ TUPLES, PM_F32, "add", 3 * 337, 5, 3, ANY, 2 /* a copy, and the updates one by one */ },
		{ TUPLES, PM_F32, "none", 3 * 337, 337, 3, EACH, 2 /* the same */ },
		{ ROWS, PM_F32, "add", 70001, 1009, 1, ANY, 2 },
		{ ROWS, PM_F16, "none", 70001, 1009, 32, ANY, 2 },
	};

	(void)state;
	CHECK_ALL(cases);
}

/* A result that is too large to be looked through. */
static void too_large_to_look(void **state)
{
	static const Case large = { ROWS, PM_F32, "add", 65537, 101, 65, ANY, 2 };
	PmWorker *w;

	(void)state;
	pm_test_need_device("emu");
	w = pm_worker_new("emu");
	check(&large, SORTED, w);
	pm_worker_free(w);
}

static PmScatter one_of_many(int64_t places, int64_t updates, int64_t lines, int joins)
{
	return (PmScatter){ .places = places,
			    .updates = updates,
			    .lines = lines,
			    .index_lines = lines,
			    .tuple = 1,
			    .joins = joins,
			    .place_bytes = 4,
			    .index_bytes = 8 };
}

/* Tiles hold all places and lines, threads have whole places, and more of anything never takes less. */
static void shapes_and_costs(void **state)
{
	static const int64_t sizes[] = { 1, 3, 17, 250, 1000, 4096, 30011 };
	enum { N = sizeof sizes / sizeof *sizes };
	PmScatter messages = one_of_many(1000, 1100, 256, 1);
	PmScatterCosts c;

	(void)state;
	assert_null(pm_scatter_costs(pm_target_at(0), &c));
	assert_false(pm_scatter_tiles(&c, &messages).by_rows);
	messages.index_lines = 1;
	assert_true(pm_scatter_tiles(&c, &messages).by_rows);
	for (int k = 0; k < 2 * N * N * N; k++) {
		int joins = k % 2, a = k / 2 % N, b = k / 2 / N % N, d = k / 2 / N / N;
		PmScatter s = one_of_many(sizes[a], sizes[b], sizes[d], joins);
		PmScatterTiles g = pm_scatter_tiles(&c, &s), look = pm_scatter_look(&c, &s),
			       sort = pm_scatter_sort(&c, &s);

		assert_true(g.us <= look.us && g.us <= sort.us && g.us > 0);
		assert_true(g.rows * g.columns % PM_SCATTER_THREADS == 0);
		assert_true(g.rows * g.columns <= PM_SCATTER_PLACES * PM_SCATTER_THREADS);
		assert_true(g.along * g.rows >= s.places && g.across * g.columns >= s.lines);
		assert_true((int64_t)sort.ranges << sort.shift >= s.places && 1 << sort.shift >= sort.rows);
		if (b + 1 < N) {
			PmScatter more = one_of_many(sizes[a], sizes[b + 1], sizes[d], joins);

			assert_true(pm_scatter_look(&c, &more).us >= look.us);
			assert_true(pm_scatter_sort(&c, &more).us >= sort.us);
		}
		s.index_lines = 1;
		assert_int_equal(pm_scatter_has_rows(&s), joins && s.lines >= PM_SCATTER_ROW);
		if (pm_scatter_has_rows(&s)) {
			PmScatter more = s;

			g = pm_scatter_by_rows(&c, &s);
			assert_true(g.along * g.rows >= s.places && g.across * g.columns >= s.lines);
			assert_true(pm_scatter_tiles(&c, &s).us <= g.us && g.us > 0);
			assert_true(pm_scatter_tiles(&c, &s).by_rows || pm_scatter_sort(&c, &s).us < g.us);
			more.updates = 2 * s.updates;
			assert_true(pm_scatter_by_rows(&c, &more).us >= g.us);
			s.update_along = 1;
			assert_false(pm_scatter_has_rows(&s));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_and_prime_numbers), cmocka_unit_test(rows_of_the_same_indices),
		cmocka_unit_test(updates_that_meet),     cmocka_unit_test(all_types_and_joins),
		cmocka_unit_test(places_of_other_kinds), cmocka_unit_test(too_large_to_look),
		cmocka_unit_test(shapes_and_costs),
	};

	return cmocka_run_group_tests_name("eager_scatter", tests, NULL, NULL);
}
