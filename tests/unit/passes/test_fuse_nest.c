/* SPDX-License-Identifier: Apache-2.0 */
/* test_fuse_nest.c - loop nests of passes/fuse: their text is read back as the same nest, and what they cost
 * has the properties that a cost has. The nests are those that explain prints for thirteen graphs
 * (tests/golden/fuse). */
#define PM_SEVERAL_FILES
#include "base/core/str.h"
#include "base/sys/io.h"
#include "passes/fuse/codegen/gen.h"
#include "passes/fuse/cost/walk.h"
#include "passes/fuse/loop/print.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 64, TEXT = 256 << 10 };

static const char *const graphs[] = { "add_layer_norm",   "columns",     "convolution", "gelu_half",
				      "held_half",        "held_rows",   "long_rows",   "pieces",
				      "product",          "resize_pool", "row_tail",    "scatter",
				      "softmax_transpose" };

/* What the plugin's code asks of its host: memory, freed at the end of a test. */
static void *taken[4096];
static size_t n_taken;

static void *give(uint32_t size)
{
	assert_true(n_taken < sizeof taken / sizeof *taken);
	return taken[n_taken++] = calloc(1, size ? size : 1);
}

/* Shares as of any GPU: what is compared does not depend on them. */
static const Target target = {
	.again_share = 0.5, .beyond_share = 0.1, .sector_missed_share = 0.45, .unrolled_share = 0.25
};

static const PmHost host = { .alloc = give };
const PmHost *pm_host_ = &host;

static int give_back(void **state)
{
	(void)state;
	while (n_taken)
		free(taken[--n_taken]);
	return 0;
}

typedef struct Fresh {
	Nest n;
	Index ix;
	const char *fail;
} Fresh;

static Nest *fresh(void)
{
	Fresh *f = give(sizeof *f);

	f->n.ix = &f->ix;
	f->n.var = give(F_VARS * sizeof *f->n.var);
	assert_true(ix_new(&f->ix, &f->fail));
	return &f->n;
}

static Nest *parsed(const char *text)
{
	Nest *n = fresh();
	NestError e = nest_parse(n, text);

	if (e.why)
		fail_msg("line %d: %s", e.line, e.why);
	return n;
}

static char *printed(const Nest *n)
{
	PmText t = pm_text(TEXT);

	nest_print(n, &t);
	assert_false(t.full);
	return t.s;
}

static char *kernel_of(const Nest *n)
{
	PmText t = pm_text(TEXT);
	const Gen g = { .n = n, .t = &t };

	g_block(&g, &n->rows);
	g_block(&g, &n->body);
	assert_false(t.full);
	return t.s;
}

static char *golden(const char *name, const char *end)
{
	PmStr path = PM_STR_INIT, text = PM_STR_INIT;
	PmErr err;
	char *copy;

	pm_err_init(&err);
	pm_str_addf(&path, "tests/golden/fuse/%s.%s", name, end);
	pm_test_need_path(path.s);
	if (pm_read_file(path.s, 0, &text, &err))
		fail_msg("%s", err.text);
	copy = give((uint32_t)text.len + 1);
	memcpy(copy, text.s, text.len);
	pm_str_release(&path);
	pm_str_release(&text);
	return copy;
}

/* The texts of the nests of a graph, each from its "nest" line up to the next section. */
static size_t nests_of(const char *name, char *nest[MOST])
{
	char *text = golden(name, "nest"), *p, *next;
	size_t n = 0;

	for (p = strstr(text, "\nnest "); p && n < MOST; p = next ? strstr(next + 1, "\nnest ") : NULL) {
		nest[n++] = p + 1;
		next = strstr(p + 1, "\nsection ");
		if (next)
			next[1] = 0;
	}
	assert_true(n > 0);
	return n;
}

static void same_cost(Cost a, Cost b)
{
	assert_true(a.bytes == b.bytes && a.spread == b.spread && a.apart == b.apart && a.work == b.work);
	assert_true(a.across == b.across && a.along == b.along);
	assert_true(a.serial == b.serial && a.looks == b.looks);
	assert_true(a.fast_m == b.fast_m && a.fast_n == b.fast_n);
	assert_true(a.cached == b.cached && a.lane_loads == b.lane_loads && a.syncs == b.syncs);
}

/* parse(print(n)) prints the same, costs the same and has the same CUDA text, which is that of the kernel. */
static void text_is_the_nest(void **state)
{
	char *nest[MOST];

	(void)state;
	for (size_t g = 0; g < sizeof graphs / sizeof *graphs; g++) {
		char *kernel = golden(graphs[g], "kernel");
		size_t n = nests_of(graphs[g], nest);

		for (size_t i = 0; i < n; i++) {
			const Nest *a = parsed(nest[i]), *b = parsed(printed(a));

			assert_string_equal(printed(a), nest[i]);
			assert_string_equal(printed(b), nest[i]);
			same_cost(nest_cost(a, &target), nest_cost(b, &target));
			assert_string_equal(kernel_of(a), kernel_of(b));
			assert_true(strlen(kernel_of(a)) > 20);
			if (!strstr(kernel, kernel_of(a)))
				fail_msg("%s, nest %zu: not in the kernel:\n%s", graphs[g], i, kernel_of(a));
		}
		give_back(state);
	}
}

/* Any text that is cut or changed is read or refused, with a line; nothing else. */
static void other_texts_are_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} wrong[] = {
		{ "", "another word is expected here" },
		{ "nest rows 0 vec 0 wide 0 group 1 per_block 1 block 1 column 0 keep 0 hold 0 split 0 "
		  "elements 1\n",
		  "there are no threads" },
		{ "nest rows 0 vec 1 wide 0 group 1 per_block 1 block 1 column 0 keep 0 hold 0 split 0 "
		  "elements 1\n"
		  "atom m below 4 chunk\nlane 0\nrow 0\nbody {\n  fly v0\n}\n",
		  "this is no statement" },
		{ "nest rows 0 vec 1 wide 0 group 1 per_block 1 block 1 column 0 keep 0 hold 0 split 0 "
		  "elements 1\n"
		  "atom m below 4 chunk\nlane 0\nrow q\n",
		  "this index is no atom" },
		{ "nest rows 0 vec 1 wide 0 group 1 per_block 1 block 1 column 0 keep 0 hold 0 split 0 "
		  "elements 1\n"
		  "lane 0\nrow 0\nbody {\n  var v9999:float is zero\n}\n",
		  "a number is out of range" },
	};
	char *nest[MOST];
	size_t len, refused = 0;

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		NestError e = nest_parse(fresh(), wrong[i].text);

		assert_string_equal(e.why ? e.why : "nothing", wrong[i].why);
		assert_true(e.line >= 1);
		give_back(state);
	}
	nests_of("scatter", nest);
	len = strlen(nest[0]);
	for (size_t i = 0; i < len; i += 7) {
		char *copy = give((uint32_t)len + 1);

		memcpy(copy, nest[0], len);
		copy[i] = copy[i] == '9' ? '{' : '9';
		refused += nest_parse(fresh(), copy).why != NULL;
		copy[i] = 0;
		refused += nest_parse(fresh(), copy).why != NULL;
		free(taken[--n_taken]); /* the newest piece of memory */
		if (n_taken > 3000) {
			give_back(state);
			nests_of("scatter", nest);
		}
	}
	assert_true(refused > len / 14);
	give_back(state);
}

/* ---- properties of costs ---- */

/* A section of 4096 x 256 floats, its loads at `at`, stored in order, `extra` in its body. */
static Cost cost_of(int vec, const char *load, const char *extra)
{
	PmStr text = PM_STR_INIT;
	Cost k;

	pm_str_addf(&text,
		    "nest rows 0 vec %d wide 0 group 1 per_block 1 block 256 column 0 keep 0 hold 0 split 0 "
		    "elements %d\n"
		    "operand p0 float 1048576\nresult q0 float 1048576\n%satom m below %d chunk\natom (m) %% "
		    "%d\natom (m) "
		    "/ %d\nlane %s\nrow 0\nbody {\n  load %s\n%s  store q0[%d * m] by v0 as float%s\n}\n",
		    vec, 1048576 / vec, vec > 1 ? "atom j below 4 lane\n" : "", 1048576 / vec, 4096 / vec,
		    4096 / vec, vec > 1 ? "j" : "0", load, extra, vec, vec > 1 ? " vector lanes" : "");
	k = nest_cost(parsed(text.s), &target);
	pm_str_release(&text);
	return k;
}

static void more_bytes_never_cost_less(void **state)
{
	const Cost one = cost_of(1, "v0:float from p0[m] as float", "");
	const Cost two = cost_of(1, "v0:float from p0[m] as float",
				 "  load v1:float from p0[m] as float again\n");
	const Cost wide = cost_of(1, "v0:double from p0[m] as double", "");

	(void)state;
	assert_true(one.bytes == 2.0 * 4 * 1048576);
	assert_true(two.bytes > one.bytes);
	assert_true(two.bytes < one.bytes + 4.0 * 1048576); /* it is in the cache */
	assert_true(wide.bytes > one.bytes);
	assert_true(two.work > one.work);
	give_back(state);
}

/* A transposed access reads sectors for a part of them; vectors read the same bytes with fewer requests. */
static void transposed_costs_more_than_contiguous(void **state)
{
	const Cost in_order = cost_of(1, "v0:float from p0[m] as float", "");
	const Cost turned = cost_of(1, "v0:float from p0[256 * (m) % 4096 + (m) / 4096] as float", "");
	const Cost vectors = cost_of(4, "v0:float* from p0[4 * m] as float vector lanes", "");
	const Cost lanes = cost_of(
		4, "v0:float* from p0[1024 * (m) % 1024 + 256 * j + (m) / 1024] as float lanes", "");

	(void)state;
	assert_true(in_order.spread == 0 && vectors.spread == 0);
	assert_true(turned.bytes == in_order.bytes);
	assert_true(turned.spread > 0);
	assert_true(lanes.lane_loads == 1 && vectors.lane_loads == 0);
	assert_true(vectors.bytes == in_order.bytes);
	assert_true(vectors.work < in_order.work);
	give_back(state);
}

/* A section of 4096 rows of 64 elements, `per_block` rows of 256 / per_block threads in a block, whose body
 * is `store`. */
static Cost cost_of_rows(const char *type, int vec, int per_block, const char *store)
{
	PmStr text = PM_STR_INIT;
	Cost k;

	pm_str_addf(
		&text,
		"nest rows 4096 vec %d wide 0 group %d per_block %d block 256 column 0 keep 0 hold 0 split 0 "
		"elements 0\noperand p0 %s 262144\nresult q0 %s 262144\n%satom r below 4096 row\natom m0 "
		"below %d chunk\natom d below 64 chunk\nlane %s\nrow r\nloop 0 extent 64 by m0\nrows {\n  "
		"rows 0 "
		"{\n    %s}\n",
		vec, 256 / per_block, per_block, type, type, vec > 1 ? "atom j below 4 lane\n" : "", 64 / vec,
		vec > 1 ? "j" : "0", store);
	k = nest_cost(parsed(text.s), &target);
	pm_str_release(&text);
	return k;
}

/* A store writes a sector for each element that has no neighbour; through shared memory the rows of a block
 * fill sectors together. */
static void what_lies_apart_costs_sectors(void **state)
{
#define LOAD "load v0:float from p0[64 * r + m0] as float16\n    "
	static const char stage
		[] = LOAD "stage q0 at m0 of 64 by v0 as float16\n  }\n  drain q0[r + 4096 * d] elements "
			  "64 as float16 wait\n",
	   turned[] = LOAD "store q0[4096 * m0 + r] by v0 as float16\n  }\n",
	   ordered[] = LOAD "store q0[64 * r + m0] by v0 as float16\n  }\n",
	   vectors[] =
		   "load v0:double* from p0[64 * r + 4 * m0] as double vector lanes\n    store q0[64 * r + "
		   "4 * m0] by v0 as double vector lanes\n  }\n";
	const Cost order = cost_of_rows("float16", 1, 8, ordered),
		   wide = cost_of_rows("double", 4, 8, vectors);
	const Cost apart = cost_of_rows("float16", 1, 8, turned),
		   near = cost_of_rows("float16", 1, 32, turned);
	const Cost eight = cost_of_rows("float16", 1, 8, stage),
		   sixteen = cost_of_rows("float16", 1, 16, stage);

	(void)state;
	assert_true(order.apart == 0 && wide.apart == 0 && apart.bytes == order.bytes);
	assert_true(apart.apart == 15.0 * 2 * 262144); /* 2 of 32 bytes */
	assert_true(near.apart == 3.0 * 2 * 262144);   /* four rows of a warp beside each other */
	assert_true(eight.apart == 1.0 * 2 * 262144 && sixteen.apart == 0);
	assert_true(sixteen.bytes == order.bytes && sixteen.work > order.work &&
		    sixteen.syncs == order.syncs + 1);
	give_back(state);
#undef LOAD
}

/* Each lane of a load that is in a line of its own asks for one; rows of a warp that lie side by side share
 * them. */
static void lanes_apart_ask_for_lines(void **state)
{
#define STORE    "store q0[64 * r + m0] by v0 as float16\n  }\n"
#define LOAD(at) "load v0:float from p0[" at "] as float16\n    " STORE
	const Cost order = cost_of_rows("float16", 1, 8, LOAD("64 * r + m0"));
	const Cost apart = cost_of_rows("float16", 1, 8, LOAD("r + 4096 * m0"));
	const Cost two = cost_of_rows("float16", 1, 16, LOAD("r + 4096 * m0"));
	const Cost rows = cost_of_rows("float16", 1, 16, LOAD("4096 * m0 + 64 * r"));
	const Cost near = cost_of_rows("float16", 1, 8, LOAD("r + 32 * m0"));

	(void)state;
	assert_true(order.lines == 0);
	assert_true(apart.lines == 262144 && two.lines == 131072); /* two rows of a warp */
	assert_true(rows.lines == 262144);                         /* which are 128 bytes apart */
	assert_true(near.lines == 131072);                         /* two lanes in a line */
	give_back(state);
#undef LOAD
#undef STORE
}

static void work_and_turns_add_up(void **state)
{
	static const char cheap[] = "  ew v1:float is \"a + a\" of v0 _ _ in float as float\n",
			  dear[] = "  ew v1:float is \"erf(a)\" of v0 _ _ in float as float\n";
	static const char serial[] =
		"  for m below 64 by 1 serial {\n    ew v1:float is \"a + a\" of v0 _ _ in float as "
		"float\n  }\n";
	static const char unrolled[] =
		"  for m below 16 by 1 serial unrolled {\n    ew v1:float is \"a + a\" of v0 _ _ "
		"in float as float\n  }\n";
	const char *load = "v0:float from p0[m] as float";
	const Cost none = cost_of(1, load, ""), a = cost_of(1, load, cheap), b = cost_of(1, load, dear),
		   loop = cost_of(1, load, serial), small = cost_of(1, load, unrolled);

	(void)state;
	assert_true(a.work == none.work + 1048576);
	assert_true(b.work > a.work);
	assert_true(loop.work == none.work + 64.0 * 1048576);
	assert_true(loop.serial == 64 && small.serial == 4 && none.serial == 0);
	give_back(state);
}

/* A thread takes one arm: its parts are less than all of them one after another, and no branch costs nothing.
 */
static void an_arm_costs_its_part(void **state)
{
	static const char arms[] =
		"  var v1:float is none\n  choose {\n    arm part (0x1.p-1) when m < 524288 {\n      ew "
		"v2:float is "
		"\"a + a\" of v0 _ _ in float as float\n      move v1 is v2\n    }\n    arm part (0x1.p-1) "
		"{\n      ew "
		"v3:float is \"a + a\" of v0 _ _ in float as float\n      move v1 is v3\n    }\n  }\n";
	const char *load = "v0:float from p0[m] as float";
	const Cost none = cost_of(1, load, ""), both = cost_of(1, load, arms);

	(void)state;
	assert_true(both.work == none.work + 1048576);
	give_back(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(text_is_the_nest, give_back),
		cmocka_unit_test_teardown(other_texts_are_refused, give_back),
		cmocka_unit_test_teardown(more_bytes_never_cost_less, give_back),
		cmocka_unit_test_teardown(transposed_costs_more_than_contiguous, give_back),
		cmocka_unit_test_teardown(lanes_apart_ask_for_lines, give_back),
		cmocka_unit_test_teardown(what_lies_apart_costs_sectors, give_back),
		cmocka_unit_test_teardown(work_and_turns_add_up, give_back),
		cmocka_unit_test_teardown(an_arm_costs_its_part, give_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
