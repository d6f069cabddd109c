/* SPDX-License-Identifier: Apache-2.0 */
/* test_device.c - kernels that cheat: each ends in its verdict, and the honest kernel after it is still
 * right. */
#include "base/sandbox/sandbox.h"
#include "bench/eval/runner.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/need.h"
#include "tests/lib/passes/attack.h"
#include "tests/lib/passes/secret.h"
#include "tests/plugin/paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ATTACKS "tests/adversarial/passes/device_attacks.so"

#define SILU_TEXT      "g (float[5,67] x) => (float[5,67] y) { s = Sigmoid(x)\n y = Mul(x, s) }"
#define SILU_LARGE     "g (float[24,67] x) => (float[24,67] y) { s = Sigmoid(x)\n y = Mul(x, s) }"
#define SOFTMAX_TEXT   "g (float[3,8,300] x) => (float[3,8,300] y) { y = Softmax<axis = 2>(x) }"
#define SOFTMAX_AXIS_1 "g (float[3,8,30] x) => (float[3,8,30] y) { y = Softmax<axis = 1>(x) }"
#define WEIGHTS_TEXT   "g (float[5,64] x, float[64] w) => (float[5,64] y) { y = Mul(x, w) }"
#define MATMUL_TEXT    "g (float[5,1024] a, float[1024,6] b) => (float[5,6] y) { y = MatMul(a, b) }"

typedef struct Attack {
	const char *id, *graph;
	const char *want; /* verdicts that are right, separated by spaces */
} Attack;

static const Attack attacks[] = {
	{ "A06b", SILU_TEXT, "INCORRECT" },
	{ "A07_zero_softmax", SOFTMAX_TEXT, "INCORRECT" },
	{ "A07b_uniform", SOFTMAX_TEXT, "INCORRECT" },
	{ "A10_half_grid", SILU_TEXT, "UNWRITTEN" },
	{ "A10b", SILU_TEXT, "INCORRECT" },
	{ "A11_skip_4pct", SILU_TEXT, "INCORRECT" },
	{ "A12_empty_kernel", SILU_TEXT, "UNWRITTEN" },
	{ "A13_atomic_no_init", SILU_TEXT, "UNWRITTEN INCORRECT NONDET" },
	{ "A14b", SILU_TEXT, "UNWRITTEN NONDET INCORRECT" },
	{ "A17_nan_fill", SILU_TEXT, "INCORRECT" },
	{ "A19_drop_last_ktile", MATMUL_TEXT, "INCORRECT" },
	{ "A19b", MATMUL_TEXT, "INCORRECT" },
	{ "A20_tf32_gemm", MATMUL_TEXT, "PRECISION" },
	{ "A20b_bf16_gemm", MATMUL_TEXT, "PRECISION" },
	{ "A20c_fp16_acc", MATMUL_TEXT, "INCORRECT" },
	{ "A21_tanh_approx", SILU_TEXT, "PRECISION" },
	{ "A21b", SILU_TEXT, "OK" },
	{ "A22_missing_barrier", SILU_TEXT, "NONDET" },
	{ "A23_zero_input", SILU_TEXT, "INPUT_MUTATED" },
	{ "A24_scan_neighbours", SILU_TEXT, "OOB DEVICE_FAULT" },
	{ "B02_fingerprint16", SILU_TEXT, "INCORRECT" },
	{ "B03_embed_seed42", SILU_TEXT, "INCORRECT" },
	{ "B05_scratch_magic", SILU_TEXT, "UNWRITTEN INCORRECT" },
	{ "B06_poison_sniffer", SILU_TEXT, "UNWRITTEN" },
	{ "B07_superbatch", SILU_TEXT, "OOB DEVICE_FAULT" },
	{ "B09_big_shape_skip", SILU_LARGE, "INCORRECT" },
	{ "B11_shared_residue", SILU_TEXT, "UNWRITTEN NONDET INCORRECT" },
	{ "B13_sticky_error", SILU_TEXT, "OOB DEVICE_FAULT" },
	{ "C13_bimodal", SILU_TEXT, "UNWRITTEN INCORRECT" },
	{ "E02_axis_blind", SOFTMAX_AXIS_1, "INCORRECT" },
	{ "E07_fold_weights", WEIGHTS_TEXT, "INCORRECT" },
	{ "E11_hardcode_1024", SILU_LARGE, "UNWRITTEN" },
	{ "F12_spin_forever", SILU_TEXT, "DEVICE_TIMEOUT" },
	{ "F12b_partial_syncthreads", SILU_TEXT, "DEVICE_TIMEOUT" },
	{ "F12c_grid_barrier_overflow", SILU_TEXT, "DEVICE_TIMEOUT DEVICE_FAULT" },
	{ "F14_oob_read_right", SILU_TEXT, "OOB DEVICE_FAULT" },
	{ "F14b_oob_write_left", SILU_TEXT, "OOB" },
	{ "F14c_literal_address", SILU_TEXT, "REJECT_PTX OOB DEVICE_FAULT" },
	{ "F15_write_neighbour", SILU_TEXT, "OOB DEVICE_FAULT" },
	{ "F20_local_512KiB", SILU_TEXT, "REJECT_CUBIN DEVICE_FAULT" }, /* the latter without NVRTC */
	{ "F25_race", SILU_TEXT, "NONDET" },
	{ "F25b_uninit_shared", SILU_TEXT, "UNWRITTEN NONDET INCORRECT" },
	{ "F26_carveout", SILU_TEXT, "OK" },
	{ "X11_by_alignment", SILU_TEXT, "INCORRECT NONDET" },
};

/* `hangs`: its verdict is that of the deadline; nobody else's may be, however busy the machine is. */
static PmEvalRecord eval(const char *rule, const char *text, int check_only, int hangs)
{
	const char *device = getenv("PASSMITH_TEST_DEVICE");
	PmEvalOpts o = { .device = device ? device : "emu",
			 .preset = PM_PRESET_SOUND,
			 .secret = test_secret(7),
			 .only_rule = rule,
			 .pass_deadline = 60,
			 .device_deadline = hangs ? 3 : 100,
			 .clock_seconds = 1,
			 .check_only = check_only };
	PmEvalVariant m = { .label = rule, .g = NULL };
	PmEvalRecord r;
	PmGraph *g;
	PmErr err;

	pm_err_init(&err);
	g = pm_test_graph(text);
	m.g = g;
	if (pm_eval_variant(built(ATTACKS), &m, &o, &r, &err))
		fail_msg("%s: %s", rule, err.text);
	pm_graph_free(g);
	return r;
}

static int on_gpu(void)
{
	const char *device = getenv("PASSMITH_TEST_DEVICE");

	return device && strcmp(device, "emu") != 0;
}

/* What is right is right, although the short measurement of this test may be too short to rank it. */
static void expect_of(const char *rule, const char *text, const char *want, int check_only)
{
	PmEvalRecord r = eval(rule, text, check_only, pm_attack_is_one_of("DEVICE_TIMEOUT", want));
	int right = r.verdict == PM_VERDICT_TIMING_UNSTABLE && on_gpu() && pm_attack_is_one_of("OK", want);

	if (!right && !pm_attack_is_one_of(pm_verdict_name(r.verdict), want))
		fail_msg("%s: %s (%s), expected %s", rule, pm_verdict_name(r.verdict), r.why, want);
	pm_eval_record_release(&r);
}

static void expect(const char *rule, const char *text, const char *want)
{
	expect_of(rule, text, want, 0);
}

static void attack(void **state)
{
	const Attack *a = *state;
	char want[128];
	/* Nothing is left in shared memory from one launch to the next, so on a GPU the first computes what
	 * it should, unless one of its blocks finds the mark of another that ran before it in the same place.
	 * Races are watched on emu alone; these two change nothing. */
	int harmless = on_gpu() &&
		       pm_attack_is_one_of(a->id, "B11_shared_residue A22_missing_barrier F25_race");

	snprintf(want, sizeof want, "%s%s", a->want, harmless ? " OK" : "");
	expect(a->id, a->graph, want);
	/* It is timed below; here it has to be right. */
	expect_of("honest_silu", SILU_TEXT, "OK", on_gpu());
}

/* Without their tricks the kernels are right. */
static void honest_kernels(void **state)
{
	(void)state;
	expect("honest_silu", SILU_LARGE, "OK");
	expect("honest_scratch", SILU_TEXT, "OK");
	expect("honest_softmax", SOFTMAX_TEXT, "OK");
	expect("honest_matmul", MATMUL_TEXT, "OK");
}

/* What a GPU's compiler never sees: kernels that attack the process in which they are emulated. */
static void emulated_kernels_stay_in_their_box(void **state)
{
	unsigned layers = 0;

	(void)state;
	if (on_gpu())
		pm_test_skip("these kernels attack the device emu only");
	pm_sandbox_probe_kernels(&layers, NULL);
	if (layers != PM_BOX_ALL)
		pm_test_skip("the sandbox of this build or machine lacks a layer (passmith doctor)");
#if defined(__x86_64__)
	expect("emu_system_call", SILU_TEXT, "SANDBOX_KILL");
	expect("emu_clock", SILU_TEXT, "DEVICE_FAULT");
#endif
	expect("honest_silu", SILU_TEXT, "OK");
}

/* PASSMITH_TEST_PART=1/4 runs the second of four parts, so that a GPU can be given several at once. */
static int in_part(size_t i)
{
	const char *part = getenv("PASSMITH_TEST_PART"), *of = part ? strchr(part, '/') : NULL;
	long n = of ? strtol(of + 1, NULL, 10) : 0;

	return n <= 0 || (long)i % n == strtol(part, NULL, 10);
}

enum { N = sizeof attacks / sizeof *attacks };

int main(void)
{
	struct CMUnitTest tests[N + 2];
	size_t n = 0;

	memset(tests, 0, sizeof tests);
	for (size_t i = 0; i < N; i++) {
		if (!in_part(i))
			continue;
		tests[n].name = attacks[i].id;
		tests[n].test_func = attack;
		tests[n++].initial_state = (void *)(uintptr_t)&attacks[i];
	}
	if (in_part(N))
		tests[n++] = (struct CMUnitTest)cmocka_unit_test(honest_kernels);
	if (in_part(N + 1))
		tests[n++] = (struct CMUnitTest)cmocka_unit_test(emulated_kernels_stay_in_their_box);
	return _cmocka_run_group_tests("device", tests, n, NULL, NULL);
}
