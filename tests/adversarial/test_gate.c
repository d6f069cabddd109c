/* SPDX-License-Identifier: Apache-2.0 */
/* test_gate.c - `passmith eval` judges the PTX of a candidate's kernels on a machine without a GPU, too: what
 * would run on one is refused on `emu`, with a sentence that names the instruction. */
#include "base/core/str.h"
#include "base/sys/io.h"
#include "runtime/cuda/nvrtc/nvrtc.h"
#include "tests/lib/need.h"
#include "tests/plugin/paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* What `passmith eval` says about x * op(x); owned. */
static PmStr said_of(const char *op)
{
	char file[256], line[4096];
	const char *tmp = getenv("TMPDIR");
	PmStr out = PM_STR_INIT, graph = PM_STR_INIT;
	PmErr err;
	FILE *f;

	pm_err_init(&err);
	if (pm_nvrtc_version(&graph, &err))
		pm_test_skip("%s", err.text);
	pm_str_clear(&graph);
	pm_str_addf(&graph, "g (float[5,67] x) => (float[5,67] y) { s = %s(x)\n y = Mul(x, s) }", op);
	snprintf(file, sizeof file, "%.200s/gate-%d.gpt", tmp ? tmp : "/tmp", (int)getpid());
	if (pm_write_file(file, graph.s, graph.len, &err))
		fail_msg("%s", err.text);
	snprintf(line, sizeof line, "%s eval %s --pass %s --hidden 0 --device emu --json --quiet 2>&1",
		 built("passmith"), file, built("tests/adversarial/passes/gate_attacks.so"));
	f = popen(line, "r");
	assert_non_null(f);
	while (fgets(line, sizeof line, f))
		pm_str_add(&out, line);
	pclose(f);
	unlink(file);
	pm_str_release(&graph);
	return out;
}

static void expect(const char *op, const char *verdict, const char *part)
{
	PmStr said = said_of(op);

	if (!strstr(said.s, verdict) || !strstr(said.s, part))
		fail_msg("x * %s(x): %s", op, said.s);
	pm_str_release(&said);
}

static void S70_eval_refuses_parameters_by_register(void **state)
{
	(void)state;
	expect("Tanh", "REJECT_PTX", "ld.param.u32 uses the register p as an address of parameters");
}

static void S72_eval_refuses_the_address_of_a_function(void **state)
{
	(void)state;
	expect("Relu", "REJECT_PTX", "mov.u64 takes the address of function k");
}

static void S73_eval_refuses_local_numbers(void **state)
{
	(void)state;
	expect("Abs", "REJECT_PTX", "ld.local.u32 uses the number 64 as an address");
}

static void S75_eval_refuses_time_limits(void **state)
{
	(void)state;
	expect("Neg", "REJECT_PTX", "ask with mbarrier.test_wait in a loop");
}

/* A kernel that nothing launches is judged like one that is. */
static void idle_kernels_are_judged(void **state)
{
	(void)state;
	expect("Exp", "REJECT_PTX", "%clock");
	expect("Sqrt", "REJECT_PTX", "made: The module has this kernel, which the source does not write out");
}

/* 17 KiB of local memory for each thread: the PTX is right, the machine code asks for too much. */
static void SC2_eval_refuses_machine_code(void **state)
{
	(void)state;
	expect("Erf", "REJECT_CUBIN", "bytes of local memory for each thread");
}

static void the_same_kernel_without_a_trick_is_right(void **state)
{
	PmStr said = said_of("Sigmoid");

	(void)state;
	if (!strstr(said.s, "\"OK\"") || strstr(said.s, "REJECT"))
		fail_msg("%s", said.s);
	pm_str_release(&said);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(S70_eval_refuses_parameters_by_register),
		cmocka_unit_test(S72_eval_refuses_the_address_of_a_function),
		cmocka_unit_test(S73_eval_refuses_local_numbers),
		cmocka_unit_test(S75_eval_refuses_time_limits),
		cmocka_unit_test(idle_kernels_are_judged),
		cmocka_unit_test(SC2_eval_refuses_machine_code),
		cmocka_unit_test(the_same_kernel_without_a_trick_is_right),
	};

	return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
