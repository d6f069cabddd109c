/* SPDX-License-Identifier: Apache-2.0 */
/* bench_integrity.c - what an evaluation costs, and what each layer around strangers' code adds to it.
 *
 * One pass (silu), one subgraph, small shapes, the device emu, kernels in the cache: the bar is 2 s. Times
 * are the least and the median of ROUNDS, so that a busy machine shows as a wide gap; below them the layers,
 * each tried alone in a forked child, less what forking alone takes.
 */
#include "base/sandbox/sandbox_priv.h"
#include "base/sys/proc.h"
#include "bench/eval/runner.h"
#include "integrity/cubin/cubin_gate.h"
#include "integrity/gates/compile_gate.h"
#include "integrity/ptx/ptx_gate.h"
#include "ir/text/text.h"
#include "matcher/host/pass_host.h"
#include "runtime/cuda/nvrtc/nvrtc.h"
#include "runtime/cuda/nvrtc/nvrtc_box.h"
#include "runtime/exec/exec.h"
#include "tests/plugin/paths.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

enum { ROUNDS = 15, CC = 90, N_LINES = 32 };

static const char text[] = "g (float[5,67] x) => (float[5,67] y) { s = Sigmoid(x)\n y = Mul(x, s) }";
static const char kernel[] = "extern \"C\" __global__ void k(const T *x, T *y, long long n)\n{\n"
			     "long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
			     "if (i < n) y[i] = st(ld(x[i]) / (1.f + expf(-ld(x[i]))));\n}\n";

static void die(const PmErr *err)
{
	fprintf(stderr, "bench_integrity: %s\n", err->text);
	exit(1);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

typedef struct Spent {
	double least, median;
} Spent;

/* Calls fn ROUNDS times, after once that does not count. */
static Spent spent(void (*fn)(void))
{
	double t[ROUNDS];

	fn();
	for (int i = 0; i < ROUNDS; i++) {
		double t0 = pm_now();

		fn();
		t[i] = pm_now() - t0;
	}
	qsort(t, ROUNDS, sizeof *t, by_value);
	return (Spent){ t[0], t[ROUNDS / 2] };
}

static Spent put(const char *what, void (*fn)(void), const Spent *less)
{
	Spent s = spent(fn);

	if (less) {
		s.least -= less->least;
		s.median -= less->median;
	}
	printf("  %-58s %9.2f %9.2f\n", what, s.least * 1e3, s.median * 1e3);
	fflush(stdout);
	return s;
}

/* ---- whole things ---- */

static PmGraph *graph;

static void evaluate(void)
{
	PmEvalOpts o = { .device = "emu", .preset = PM_PRESET_SOUND };
	PmEvalVariant m = { .label = "silu", .g = graph };
	PmEvalRecord r;
	PmErr err;

	pm_err_init(&err);
	if (pm_eval_variant(built("passes/silu.so"), &m, &o, &r, &err))
		die(&err);
	if (r.verdict != PM_VERDICT_OK) {
		fprintf(stderr, "bench_integrity: silu is %s (%s)\n", pm_verdict_name(r.verdict), r.why);
		exit(1);
	}
	pm_eval_record_release(&r);
}

static void run_host(void)
{
	PmPassOpts o = { .seconds = 10 };
	PmPassOutcome out;
	PmErr err;

	pm_err_init(&err);
	if (pm_pass_apply(built("passes/silu.so"), graph, &o, &out, &err))
		die(&err);
	pm_pass_outcome_release(&out);
}

static PmDevice *dev;
static PmExec *exec;
static PmTensor input;

static void run_here(void)
{
	PmTensor out;
	PmErr err;

	pm_err_init(&err);
	if (pm_exec_run(exec, &input, 1, 0x7fc17fc1, &out, 1, &err))
		die(&err);
	pm_tensor_release(&out);
}

static void run_isolated(void)
{
	PmTensor out;
	PmErr err;

	pm_err_init(&err);
	if (pm_exec_run_isolated(exec, &input, 1, 0x7fc17fc1, &out, 1, NULL, &err))
		die(&err);
	pm_tensor_release(&out);
}

/* ---- layers ---- */

static void in_child(PmForkFn fn)
{
	PmLimits lim = { .seconds = 10, .file_size = -1 };
	PmProcResult r;
	PmErr err;

	pm_err_init(&err);
	if (pm_fork_call(fn, NULL, &lim, &r, &err))
		die(&err);
	pm_proc_result_release(&r);
}

#define LAYER(name, ...)                                                                                     \
	static int name##_child(void *arg, PmStr *out)                                                       \
	{                                                                                                    \
		(void)arg;                                                                                   \
		(void)out;                                                                                   \
		__VA_ARGS__;                                                                                 \
		return 0;                                                                                    \
	}                                                                                                    \
	static void name(void)                                                                               \
	{                                                                                                    \
		in_child(name##_child);                                                                      \
	}

LAYER(fork_alone, )
LAYER(namespaces,
      unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWPID))
LAYER(landlock, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); pm__landlock(NULL))
LAYER(filter, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); pm__filter_install(PM__CALLS_KERNEL))
LAYER(no_clock, prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0))
LAYER(all_layers, pm_sandbox_close(pm_sandbox_load(NULL, 0), 0))

/* ---- compilers ---- */

static char source[1024];
static int serial;
static PmSource src = { "bench", source, PM_F32 };
static PmStr ptx, cubin;

/* Another text each time, so that it does not come from a cache. */
static void fresh_source(void)
{
	snprintf(source, sizeof source, "/* %ld %d */ %s", (long)getpid(), serial++, kernel);
}

static void compile_plain(void)
{
	PmErr err;

	pm_err_init(&err);
	fresh_source();
	pm_str_clear(&ptx);
	pm_str_clear(&cubin);
	if (pm_nvrtc_compile(&src, CC, &ptx, &cubin, &err))
		die(&err);
}

static void enter(void)
{
	pm_sandbox_enter_compiler();
}

static void compile_boxed(void)
{
	PmBoxOpts o = { .cc = CC, .enter = enter };
	PmBoxed b;
	PmErr err;

	pm_err_init(&err);
	fresh_source();
	if (pm_nvrtc_boxed(&src, 1, &o, &b, &err))
		die(&err);
	pm_boxed_release(&b);
}

static void compile_emu(void)
{
	PmErr err;

	pm_err_init(&err);
	fresh_source();
	if (pm_emu_compile(&src, 1, 1, &err))
		die(&err);
}

static void gates(void)
{
	static const char *const entry[] = { "k" };
	PmStr problems = PM_STR_INIT;

	if (pm_ptx_gate(ptx.s, ptx.len, entry, 1, &problems) ||
	    pm_cubin_gate(cubin.s, cubin.len, entry, 1, NULL, 0, NULL, &problems)) {
		fprintf(stderr, "bench_integrity: %s", problems.s);
		exit(1);
	}
	pm_str_release(&problems);
}

static void prepare(void)
{
	PmPlan *p;
	PmErr err;

	pm_err_init(&err);
	if (pm_graph_parse(text, strlen(text), &graph, &err) || pm_device_open("emu", &dev, &err) ||
	    pm_plan_new(graph, NULL, 0, &p, &err) || pm_exec_new(p, dev, &exec, &err) ||
	    pm_tensor_init(&input, pm_value_type(graph, pm_graph_input(graph, 0)), &err))
		die(&err);
	memset(input.data, 0, input.bytes);
}

int main(void)
{
	Spent whole, base;
	PmStr version = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	prepare();
	printf("  %-58s %9s %9s\n", "ms", "least", "median");
	whole = put("an evaluation: silu on float[5,67], emu, cached kernels", evaluate, NULL);
	put("  of it twice: the pass in its process", run_host, NULL);
	base = put("a run of two kernels, apart (each input class and poison)", run_isolated, NULL);
	put("  the same in this process", run_here, NULL);
	base = put("forking a child and taking its answer", fork_alone, NULL);
	put("  namespaces, on top of that", namespaces, &base);
	put("  landlock", landlock, &base);
	put("  system call filter", filter, &base);
	put("  no clock", no_clock, &base);
	put("  all of them", all_layers, &base);
	put("g++ in its box, a new kernel", compile_emu, NULL);
	if (pm_nvrtc_version(&version, NULL) == PM_OK) {
		put("NVRTC in this process, a new kernel", compile_plain, NULL);
		put("NVRTC in its box (and an empty kernel first)", compile_boxed, NULL);
		put("PTX gate and cubin gate", gates, NULL);
	}
	if (whole.least >= 2)
		printf("An evaluation takes over 2 s here.\n");
	return whole.least >= 2;
}
