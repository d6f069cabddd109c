/* SPDX-License-Identifier: Apache-2.0 */
/* test_ahead.c - what the emulated device will need of a candidate is compiled before anything asks for it,
 * and nothing of it runs.
 */
#include "base/sys/io.h"
#include "bench/eval/runner_priv.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/plugin/paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { LOOKS = 9000, LOOK_US = 20000 }; /* three minutes, for a machine with other work */

static const char rows[] = "g (float[8,300] x, float[8,300] z) => (float[8,300] y) {\n"
			   "s = Add(x, z)\n y = Softmax<axis = 1> (s) }";

/* Objects in the cache. */
static size_t objects(const PmStr *cache)
{
	PmStr dir = PM_STR_INIT;
	PmNames names = { 0 };
	size_t n = 0;

	pm_path_join(cache->s, "emu", &dir);
	if (!pm_list_dir(dir.s, &names, NULL))
		for (size_t i = 0; i < names.n; i++)
			n += (size_t)pm_str_ends(names.v[i], ".so");
	pm_names_release(&names);
	pm_str_release(&dir);
	return n;
}

static size_t compiled(const char *device, size_t want)
{
	PmEvalOpts o = { .device = device, .preset = PM_PRESET_SOUND };
	PmGraph *g = pm_test_graph(rows);
	Eval e = { .o = &o };
	PmStr cache = PM_STR_INIT;
	PmErr err;
	size_t n = 0;

	pm_err_init(&err);
	assert_int_equal(pm_temp_dir("ahead", &cache, NULL), PM_OK);
	setenv("PASSMITH_CACHE", cache.s, 1);
	if (pm_referee_rewrite(built("passes/fuse.so"), NULL, g, 60, &e.cand, &err))
		fail_msg("%s", err.text);
	assert_int_equal(e.cand.verdict, PM_VERDICT_OK);
	pm__ahead_begin(&e);
	assert_int_equal(e.ahead != NULL, want > 0);
	for (int i = 0; i < LOOKS && e.ahead && (n = objects(&cache)) < want; i++)
		usleep(LOOK_US);
	pm__ahead_end(&e);
	assert_null(e.ahead);
	n = objects(&cache);
	pm_candidate_release(&e.cand);
	pm_graph_free(g);
	pm_remove_tree(cache.s, NULL);
	pm_str_release(&cache);
	return n;
}

/* The kernel of a row has shared memory: one object for ordinary runs, one that watches. */
static void both_objects_of_a_kernel_are_made(void **state)
{
	(void)state;
	assert_int_equal(compiled("emu", 2), 2);
}

static void a_gpu_needs_none(void **state)
{
	(void)state;
	assert_int_equal(compiled("cuda", 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_objects_of_a_kernel_are_made),
		cmocka_unit_test(a_gpu_needs_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
