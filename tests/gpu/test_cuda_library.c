/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda_library.c - every algorithm of a convolution or product on a GPU against the reference, and the
 * choice between them: made once, the same bits each time. */
#include "base/sys/io.h"
#include "bench/compare/agree.h"
#include "bench/inputs/inputs.h"
#include "ir/text/text.h"
#include "runtime/exec/exec.h"
#include "runtime/ref/ref.h"
#include "tests/lib/device/gpu_case.h"
#include "tests/lib/device/lib_cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_VALUES = 4 };

/* The device with its library calls counted: a call that a library declines runs on our own kernel, and says
 * nothing about the algorithm. */
static PmDeviceOps counted;
static PmStatus (*prepare)(PmDevice *d, const PmLibCall *c, const char *label, PmLib *out, PmErr *err);
static int taken, declined;

static PmStatus count(PmDevice *d, const PmLibCall *c, const char *label, PmLib *out, PmErr *err)
{
	PmStatus st = prepare(d, c, label, out, err);

	taken += st == PM_OK;
	declined += st == PM_DECLINED;
	return st;
}

static void count_calls(PmDevice *d)
{
	counted = *d->ops;
	prepare = counted.lib_prepare;
	counted.lib_prepare = count;
	d->ops = &counted;
}

/* A graph as it is run here; one result. */
typedef struct Run {
	PmGraph *g;
	PmPlan *plan;
	PmExec *x;
	PmTensor in[MAX_VALUES], got;
} Run;

static void start(PmDevice *d, const char *text, Run *r)
{
	PmErr err;

	pm_err_init(&err);
	memset(r, 0, sizeof *r);
	MUST(pm_graph_parse(text, strlen(text), &r->g, &err));
	MUST(pm_inputs_make(r->g, 5, PM_INPUTS_NORMAL, r->in, &err));
	MUST(pm_plan_new(r->g, NULL, 0, &r->plan, &err));
	MUST(pm_exec_new(r->plan, d, &r->x, &err));
	MUST(pm_exec_run(r->x, r->in, pm_graph_n_inputs(r->g), 0xffc5ffc5u, &r->got, 1, &err));
}

static void finish(Run *r)
{
	pm_tensors_release(r->in, pm_graph_n_inputs(r->g));
	pm_tensors_release(&r->got, 1);
	pm_exec_free(r->x);
	pm_plan_free(r->plan);
	pm_graph_free(r->g);
}

static void agrees(PmDevice *d, const char *text, const char *algo)
{
	PmTensor want;
	PmAgreement a;
	PmErr err;
	Run r;

	pm_err_init(&err);
	start(d, text, &r);
	MUST(pm_ref_run(r.g, r.in, pm_graph_n_inputs(r.g), &want, 1, &err));
	MUST(pm_agree(r.g, r.in, &r.got, &want, 1, 1, &a, &err));
	if (!a.agrees)
		gpu_bad("%s, %s: element %lld is %.9g, expected %.9g", text, algo, (long long)a.c.worst.index,
			a.c.worst.got, a.c.worst.expected);
	pm_tensors_release(&want, 1);
	finish(&r);
}

/* All algorithms of all cases in one type. The plain one is the library's first candidate. */
static void every_algo(PmDevice *d, const char *type)
{
	int tried[PM_N_ALGOS] = { 0 }, took[PM_N_ALGOS] = { 0 };
	const LibCase *c;
	char text[LIB_CASE_TEXT];

	count_calls(d);
	for (size_t i = 0; (c = lib_case(i)); i++)
		for (int w = 0; w < PM_N_ALGOS; w++)
			if (lib_case_has(c, (PmAlgoKind)w, type)) {
				taken = 0;
				pm_library_set_algo(w);
				agrees(d, lib_case_text(c, type, text), pm_algo_name((PmAlgoKind)w));
				tried[w]++;
				took[w] += taken;
			}
	for (int w = 0; w < PM_N_ALGOS; w++) {
		fprintf(stderr, "# %s, %s: %d of %d taken\n", type, pm_algo_name((PmAlgoKind)w), took[w],
			tried[w]);
		CHECK(took[w] > 0 || !tried[w]);
	}
}

CASE(every_algo_agrees_in_float)
{
	every_algo(d, "float");
}

CASE(every_algo_agrees_in_float16)
{
	every_algo(d, "float16");
}

CASE(every_algo_agrees_in_bfloat16)
{
	every_algo(d, "bfloat16");
}

CASE(every_algo_agrees_in_double)
{
	every_algo(d, "double");
}

/* With an empty cache everything is tried, then read: a file for each call, and the same bits. */
CASE(a_choice_is_made_once)
{
	PmStr dir = PM_STR_INIT, kept = PM_STR_INIT;
	PmNames names = { 0 };
	const LibCase *c;
	char text[LIB_CASE_TEXT];
	size_t calls = 0;
	PmErr err;
	Run a, b;

	count_calls(d);
	pm_err_init(&err);
	MUST(pm_temp_dir("library", &dir, &err));
	setenv("PASSMITH_CACHE", dir.s, 1);
	pm_path_join(dir.s, "library", &kept);
	for (size_t i = 0; (c = lib_case(i)); i++) {
		const char *now = lib_case_text(c, "float16", text);

		agrees(d, now, "tried");
		calls++;
		CHECK(!declined);
		MUST(pm_list_dir(kept.s, &names, &err));
		if (names.n != calls)
			gpu_bad("%s: %zu files after %zu calls", now, names.n, calls);
		pm_names_release(&names);
		start(d, now, &a);
		start(d, now, &b);
		CHECK(a.got.bytes == b.got.bytes && !memcmp(a.got.data, b.got.data, a.got.bytes));
		finish(&a);
		finish(&b);
		MUST(pm_list_dir(kept.s, &names, &err));
		CHECK(names.n == calls);
		pm_names_release(&names);
	}
	MUST(pm_remove_tree(dir.s, &err));
	pm_str_release(&kept);
	pm_str_release(&dir);
}

/* cuDNN takes no 2^31 results; as a product they are made. Nothing is computed here. */
CASE(what_is_refused_as_it_stands_is_made_another_way)
{
	PmLibCall c = { .kind = PM_LIB_CONV, .dtype = PM_F16, .align = { 256, 256, 256, 256 } };
	PmErr err;
	PmLib l;

	pm_err_init(&err);
	c.conv = (PmLibConv){ .spatial = 2,
			      .x = { 16, 64, 1024, 1024 },
			      .w = { 128, 64, 1, 1 },
			      .y = { 16, 128, 1024, 1024 },
			      .stride = { 1, 1 },
			      .dilation = { 1, 1 },
			      .groups = 1 };
	pm_library_set_algo(PM_LIBRARY_FIRST);
	MUST(d->ops->lib_prepare(d, &c, "of 2^31 results", &l, &err));
	d->ops->lib_drop(d, l);
}

/* PASSMITH_TEST_PART=1/4 runs the second of four parts, so that a GPU can be given several at once. */
static int in_part(size_t i)
{
	const char *part = getenv("PASSMITH_TEST_PART"), *of = part ? strchr(part, '/') : NULL;
	long n = of ? strtol(of + 1, NULL, 10) : 0;

	return n <= 0 || (long)i % n == strtol(part, NULL, 10);
}

int main(void)
{
	static const struct CMUnitTest all[] = {
		cmocka_unit_test(every_algo_agrees_in_float),
		cmocka_unit_test(every_algo_agrees_in_float16),
		cmocka_unit_test(every_algo_agrees_in_bfloat16),
		cmocka_unit_test(every_algo_agrees_in_double),
		cmocka_unit_test(a_choice_is_made_once),
		cmocka_unit_test(what_is_refused_as_it_stands_is_made_another_way),
	};
	struct CMUnitTest tests[sizeof all / sizeof *all];
	size_t n = 0;

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (in_part(i))
			tests[n++] = all[i];
	return _cmocka_run_group_tests("cuda library", tests, n, NULL, NULL);
}
