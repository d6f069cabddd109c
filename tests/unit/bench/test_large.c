/* SPDX-License-Identifier: Apache-2.0 */
/* test_large.c - an evaluation of a large graph: judged by rows, in the memory that this takes, and told
 * where. */
#include "base/sys/proc.h"
#include "bench/eval/memory.h"
#include "bench/eval/runner.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/passes/secret.h"
#include "tests/plugin/paths.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

enum { ROWS = 2100, COLS = 2048 };

/* What the process that evaluates says: shared with the test. */
typedef struct Seen {
	double peak; /* bytes of that process, without those that it starts */
	char why[PM_ERR_MAX];
} Seen;

/* As soon as something is wrong; other inputs would only take time. */
static void told(void *arg, const char *kind, const char *label, const char *why)
{
	Seen *s = arg;
	struct rusage u;

	(void)kind;
	(void)label;
	getrusage(RUSAGE_SELF, &u);
	s->peak = (double)u.ru_maxrss * 1024;
	snprintf(s->why, sizeof s->why, "%s", why);
	_exit(0);
}

typedef struct Job {
	const PmGraph *g;
	Seen *seen;
} Job;

/* In a process of its own: its peak is of nothing else. */
static int evaluate(void *arg, PmStr *out)
{
	const Job *j = arg;
	PmEvalOpts o = { .device = "emu",
			 .preset = PM_PRESET_SOUND,
			 .secret = test_secret(7),
			 .check_only = 1,
			 .found = told,
			 .found_arg = j->seen,
			 .pass_deadline = 60,
			 .device_deadline = 100 };
	PmEvalVariant m = { .label = "large", .g = j->g };
	PmEvalRecord r;
	PmErr err;

	(void)out;
	pm_err_init(&err);
	if (!pm_eval_variant(built("tests/plugin/wrong_silu.so"), &m, &o, &r, &err))
		snprintf(j->seen->why, sizeof j->seen->why, "nothing is told: %.300s", r.why);
	return 1;
}

/* The references and the bound of all elements would take some 17 times the inputs and outputs. */
static void a_wrong_kernel_is_told_where_in_little_memory(void **state)
{
	PmGraph *g = pm_test_graphf(
		"g (float[%d,%d] x) => (float[%d,%d] y) { s = Sigmoid(x)\n y = Mul(x, s) }", ROWS, COLS, ROWS,
		COLS);
	Seen *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	PmLimits lim = { .file_size = -1 };
	double x, wrong = 0, right = 0;
	const char *at;
	long long i = 0;
	PmMemoryNeed n;
	PmProcResult r;
	PmErr err;

	(void)state;
	assert_true(s != MAP_FAILED);
	pm_err_init(&err);
	pm_memory_need(g, &n);
	assert_int_equal(pm_fork_call(evaluate, &(Job){ g, s }, &lim, &r, &err), PM_OK);
	at = strstr(s->why, "element ");
	if (r.end != PM_PROC_EXITED || r.code || !at ||
	    sscanf(at, "element %lld is %lg where the reference has %lg", &i, &wrong, &right) != 3)
		fail_msg("%s", s->why);
	assert_true(i >= 0 && i < (long long)ROWS * COLS);
	/* x / (1 + exp x) and x / (1 + exp -x) are x together. */
	x = right + wrong;
	assert_true(fabs(x / (1 + exp(-x)) - right) <= 1e-4 * fabs(x));
	if (s->peak > 1.2 * (double)pm_memory_of_host(&n, 0) + (64 << 20))
		fail_msg("%.0f MB were taken, and %.0f are said", s->peak / 1e6,
			 (double)pm_memory_of_host(&n, 0) / 1e6);
	pm_proc_result_release(&r);
	munmap(s, sizeof *s);
	pm_graph_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wrong_kernel_is_told_where_in_little_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
