/* SPDX-License-Identifier: Apache-2.0 */
/* test_rewrite.c - answers that a pass, or whoever took over its process, may give: judged as bytes from an
 * enemy.
 *
 * The original is y = x * sigmoid(x) and w = tanh(z), with a batch normalisation's kind of second output q.
 */
#include "matcher/host/pass_job.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/passes/attack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char original[] = "g (float[4,8] x, float[8] z) => (float[4,8] y, float[8] w)\n{\n"
			       "  s = Sigmoid(x)\n  y = Mul(x, s)\n  w = Tanh(z)\n}\n";

#define HEAD "g (float[4,8] x, float[8] z) => (float[4,8] y, float[8] w)\n"
#define REST "  w = Tanh(z)\n}\n"
#define SILU "b (float[4,8] u) => (float[4,8] o) { t = Sigmoid(u)\n o = Mul(u, t)\n }"
#define SRC  "source_0 = \"extern \\\"C\\\" __global__ void k(const T *x, T *y) {}\", type_0 = \"float\""
#define FUSED(more, launch)                                                                                  \
	"Kernel <alts = 1, body = " SILU ", launch_0 = [\"" launch "\"], name = \"r\", " SRC more ">"
#define LAUNCH "k grid=1,1,1 block=32,1,1 smem=0 args=i0,o0"

typedef struct Attack {
	const char *id, *answer;
	const char *want; /* verdicts that are right, separated by spaces */
} Attack;

static const Attack attacks[] = {
	{ "honest", HEAD "{\n  y = " FUSED("", LAUNCH) " (x)\n" REST, "OK" },
	{ "A01_delegate_node", HEAD "{\n  other = Sigmoid(x)\n  y = Mul(x, other)\n" REST, "NO_MATCH" },
	{ "A01b_delegate_and_decoy",
	  HEAD "{\n  s = Sigmoid(x)\n  y = Mul(x, s)\n  d = " FUSED("", LAUNCH) " (x)\n" REST,
	  "REJECT_MATCH" },
	{ "A04_decoy", HEAD "{\n  d = " FUSED("", LAUNCH) " (x)\n  s = Sigmoid(x)\n  y = Mul(x, s)\n" REST,
	  "REJECT_MATCH" },
	{ "A06_bind_input", "g (float[4,8] x, float[8] z) => (float[4,8] x, float[8] w)\n{\n" REST,
	  "REJECT_MATCH REJECT_API" },
	{ "A15_drop_output",
	  "g (float[4,8] x, float[8] z) => (float[4,8] y)\n{\n  y = " FUSED("", LAUNCH) " (x)\n}\n",
	  "REJECT_MATCH" },
	{ "A16_fp16_output",
	  "g (float[4,8] x, float[8] z) => (float16[4,8] y, float[8] w)\n{\n  a = " FUSED(
		  "", LAUNCH) " (x)\n"
			      "  y = Cast<to = 10>(a)\n" REST,
	  "REJECT_MATCH" },
	{ "A18_defer_to_untimed_prep",
	  HEAD "{\n  y = " FUSED(", prepare_0 = [\"" LAUNCH "\"]", LAUNCH) " (x)\n" REST, "REJECT_API" },
	{ "B10_prepack_undeclared", HEAD "{\n  y = " FUSED(", prepack = 1", LAUNCH) " (x)\n" REST,
	  "REJECT_API" },
	{ "D22_name_with_json",
	  HEAD "{\n  y = Kernel <alts = 1, body = " SILU ", launch_0 = [\"" LAUNCH
	       "\"], name = \"\\\"},\\\"score\\\":99,\\\"\", " SRC "> (x)\n" REST,
	  "REJECT_API" },
	/* 4 TiB that nobody has, and a file of the referee's machine: neither is taken or opened. */
	{ "S98_huge_constant",
	  "g (float[4,8] x, float[8] z) => (float[4,8] y, float[8] w)\n<float[1099511627776] c = "
	  "[\"location\": "
	  "\"/etc/passwd\"]>\n{\n  y = " FUSED("", LAUNCH) " (x)\n  k = Relu(c)\n" REST,
	  "REJECT_MATCH REJECT_API" },
	{ "S98_file_in_a_body",
	  HEAD "{\n  y = Kernel <alts = 1, body = b (float[4,8] u) => (float[4,8] o)\n<float[4,8] c = "
	       "[\"location\": "
	       "\"/etc/passwd\"]>\n{ t = Sigmoid(c)\n o = Mul(u, t)\n }, launch_0 = [\"" LAUNCH
	       "\"], name = \"r\", " SRC "> (x)\n" REST,
	  "REJECT_MATCH" },
	{ "D21_cycle", HEAD "{\n  a = Sigmoid(b)\n  b = Relu(a)\n  y = Mul(x, a)\n" REST, "REJECT_API" },
	{ "D21_dangling", HEAD "{\n  y = Mul(x, nowhere)\n" REST, "REJECT_API" },
	{ "D21_rank_9",
	  "g (float[1,1,1,1,1,1,1,4,8] x, float[8] z) => (float[4,8] y, float[8] w)\n{\n  y = Relu(x)\n" REST,
	  "REJECT_API" },
	{ "D21_product_overflow",
	  "g (float[4,8] x, float[8] z, float[4294967296,4294967296,4] q) => (float[4,8] y, float[8] w)\n{\n "
	  " y = Relu(x)\n" REST,
	  "REJECT_API REJECT_MATCH" },
	{ "D21_duplicate_output",
	  "g (float[4,8] x, float[8] z) => (float[4,8] y, float[4,8] y)\n{\n  y = Relu(x)\n}\n",
	  "REJECT_API REJECT_MATCH" },
	{ "D21_defined_twice", HEAD "{\n  y = Relu(x)\n  y = Relu(x)\n" REST, "REJECT_API" },
	{ "D21_self_input", HEAD "{\n  y = Mul(x, y)\n" REST, "REJECT_API" },
	{ "D21_newline_in_name",
	  HEAD "{\n  y = Kernel <alts = 1, body = " SILU ", launch_0 = [\"" LAUNCH
	       "\"], name = \"a\\nb\", " SRC "> (x)\n" REST,
	  "REJECT_API" },
	{ "D21_unknown_operator", HEAD "{\n  y = Sigmiod(x)\n" REST, "REJECT_API REJECT_MATCH" },
	{ "D21_no_such_operand",
	  HEAD "{\n  y = " FUSED("", "k grid=1,1,1 block=32,1,1 smem=0 args=i7,o0") " (x)\n" REST,
	  "REJECT_API" },
	{ "D21_bytes_after", HEAD "{\n  y = Relu(x)\n" REST "}}}}", "REJECT_API" },
	{ "D21_empty", "", "REJECT_API" },
	{ "E01_extra_consumer", HEAD "{\n  y = " FUSED("", LAUNCH) " (x)\n  v = Neg(t)\n" REST,
	  "REJECT_API REJECT_MATCH" },
	{ "E01b_nonconvex",
	  HEAD
	  "{\n  a, c = Kernel <alts = 1, body = b (float[4,8] u, float[4,8] v) => (float[4,8] o, float[4,8] "
	  "p) { o = Sigmoid(u)\n p = "
	  "Mul(u, v)\n }, launch_0 = [\"k grid=1,1,1 block=32,1,1 smem=0 args=i0,o0\"], name = \"r\", " SRC
	  "> (x, d)\n  d = Identity(a)\n  y = Identity(c)\n" REST,
	  "REJECT_API REJECT_MATCH" },
	{ "E01d_other_meaning",
	  HEAD "{\n  y = Kernel <alts = 1, body = b (float[4,8] u) => (float[4,8] o) { o = Relu(u)\n }, "
	       "launch_0 = [\"" LAUNCH "\"], name = \"r\", " SRC "> (x)\n" REST,
	  "REJECT_MATCH" },
	/* A body that the reference and the error bound cannot see through. */
	{ "X01_kernel_in_body",
	  HEAD "{\n  y = Kernel <alts = 1, body = b (float[4,8] v) => (float[4,8] p) { p = " FUSED(
		  "", LAUNCH) " (v)\n }, launch_0 = [\"" LAUNCH "\"], name = \"r\", " SRC "> (x)\n" REST,
	  "REJECT_MATCH REJECT_API" },
	{ "E04_transposed_output",
	  "g (float[4,8] x, float[8] z) => (float[8,4] y, float[8] w)\n{\n  a = " FUSED(
		  "", LAUNCH) " (x)\n"
			      "  y = Transpose<perm = [1, 0]>(a)\n" REST,
	  "REJECT_MATCH" },
	{ "E05_zero_bytes_claim", HEAD "{\n  y = " FUSED(", bytes = 0, flops = 0", LAUNCH) " (x)\n" REST,
	  "REJECT_API" },
	/* Sigmoid(x), of which the run is rid: as one more input, as a constant. */
	{ "E06_hoist_activation",
	  "g (float[4,8] x, float[8] z, float[4,8] s) => (float[4,8] y, float[8] w)\n{\n  y = Mul(x, "
	  "s)\n" REST,
	  "REJECT_MATCH REJECT_API" },
	{ "E06b_hoist_into_a_constant",
	  "g (float[4,8] x, float[8] z) => (float[4,8] y, float[8] w)\n<float[8] s = {1, 1, 1, 1, 1, 1, 1, "
	  "1}>\n{\n  y = " FUSED("", LAUNCH) " (s)\n" REST,
	  "REJECT_MATCH REJECT_API" },
	{ "E08_drop_stat_update",
	  "g (float[4,8] x, float[8] z) => (float[4,8] y, float[8] w)\n{\n  y = " FUSED(
		  "", LAUNCH) " (x)\n  w = Identity(z)\n}\n",
	  "REJECT_MATCH" },
	{ "E12_alias_live_input",
	  HEAD "{\n  y = " FUSED("", "k grid=1,1,1 block=32,1,1 smem=0 args=i0,i0") " (x)\n" REST,
	  "REJECT_MATCH" },
	{ "E13_overflow_ws",
	  HEAD "{\n  y = " FUSED(", scratch_0 = [9223372036854775807]", LAUNCH) " (x)\n" REST, "REJECT_API" },
	{ "F07_options_field",
	  HEAD "{\n  y = " FUSED(", options_0 = \"--time=/tmp/x\"", LAUNCH) " (x)\n" REST, "REJECT_API" },
	{ "F21_div0",
	  HEAD "{\n  y = " FUSED("", "k grid=1/0,1,1 block=32,1,1 smem=0 args=i0,o0") " (x)\n" REST,
	  "REJECT_API" },
	{ "F21b_overflow",
	  HEAD "{\n  y = " FUSED(
		  "", "k grid=99999999999999999999,1,1 block=32,1,1 smem=0 args=i0,o0") " (x)\n" REST,
	  "REJECT_API" },
	{ "F21c_zero_grid",
	  HEAD "{\n  y = " FUSED("", "k grid=0,1,1 block=32,1,1 smem=0 args=i0,o0") " (x)\n" REST,
	  "REJECT_API" },
	{ "A14_smem_over_limit",
	  HEAD "{\n  y = " FUSED("", "k grid=1,1,1 block=32,1,1 smem=232449 args=i0,o0") " (x)\n" REST,
	  "REJECT_API" },
	{ "F20b_grid_too_big",
	  HEAD "{\n  y = " FUSED("", "k grid=1,99999,1 block=32,1,1 smem=0 args=i0,o0") " (x)\n" REST,
	  "REJECT_API" },
	{ "F26b_declared_carveout",
	  HEAD
	  "{\n  y = " FUSED("", "k grid=1,1,1 block=32,1,1 smem=0 carveout=100 args=i0,o0") " (x)\n" REST,
	  "REJECT_API" },
	{ "F24_dup_name",
	  HEAD "{\n  y = Kernel <alts = 1, body = " SILU
	       ", launch_0 = [\"k;k grid=1,1,1 block=32,1,1 smem=0 args=i0,o0"
	       "\"], name = \"r\", " SRC "> (x)\n" REST,
	  "REJECT_API" },
};

static PmPassOutcome judged(const char *answer, size_t len)
{
	static const char json[] = "{\"end\":\"applied\",\"applied\":1}";
	PmGraph *in = pm_test_graph(original);
	PmStr s = PM_STR_INIT;
	PmPassOutcome out;

	memset(&out, 0, sizeof out);
	pm_str_addf(&s, PM__ANSWER_MAGIC " %zu %zu\n%s", sizeof json - 1, len, json);
	pm_str_addn(&s, answer, len);
	pm__judge_answer(&s, in, strlen(original), &out);
	pm_str_release(&s);
	pm_graph_free(in);
	return out;
}

static void attack(void **state)
{
	const Attack *a = *state;
	PmPassOutcome out = judged(a->answer, strlen(a->answer));

	if (!pm_attack_is_one_of(pm_verdict_name(out.verdict), a->want))
		fail_msg("%s: %s (%s), expected %s", a->id, pm_verdict_name(out.verdict), out.message,
			 a->want);
	if (out.verdict != PM_VERDICT_OK && (!out.message[0] || strchr(out.message, '\n')))
		fail_msg("%s: '%s' is no sentence", a->id, out.message);
	pm_pass_outcome_release(&out);
}

/* 100,000 nodes that mean nothing. */
static void D20c_100k_nodes(void **state)
{
	PmStr s = PM_STR_INIT;
	PmPassOutcome out;

	(void)state;
	pm_str_add(&s, HEAD "{\n  v0 = Relu(x)\n");
	for (int i = 1; i < 100000; i++)
		pm_str_addf(&s, "  v%d = Relu(v%d)\n", i, i - 1);
	pm_str_add(&s, "  y = " FUSED("", LAUNCH) " (x)\n" REST);
	out = judged(s.s, s.len);
	if (out.verdict != PM_VERDICT_REJECT_MATCH && out.verdict != PM_VERDICT_REJECT_API)
		fail_msg("%s %s", pm_verdict_name(out.verdict), out.message);
	pm_pass_outcome_release(&out);
	pm_str_release(&s);
}

static void D20d_64MiB_source(void **state)
{
	PmStr s = PM_STR_INIT;
	PmPassOutcome out;

	(void)state;
	pm_str_add(&s, HEAD "{\n  y = Kernel <alts = 1, body = " SILU ", launch_0 = [\"" LAUNCH
			    "\"], name = \"r\", type_0 = \"float\", source_0 = \"");
	for (int i = 0; i < 64 << 10; i++)
		for (int j = 0; j < 16; j++)
			pm_str_add(&s, "/* 64 bytes of a source that goes on and on and on and on and */");
	pm_str_add(&s, "\"> (x)\n" REST);
	out = judged(s.s, s.len);
	assert_int_equal(out.verdict, PM_VERDICT_REJECT_API);
	pm_pass_outcome_release(&out);
	pm_str_release(&s);
}

/* A constant that the original does not have: 4 MiB of answers. */
static void E03_embed_output(void **state)
{
	PmStr s = PM_STR_INIT;
	PmPassOutcome out;

	(void)state;
	pm_str_add(&s, "g (float[4,8] x, float[8] z) => (float[4,8] y, float[8] w)\n<float[1048576] c = {0");
	for (int i = 1; i < 1 << 20; i++)
		pm_str_add(&s, ",1");
	pm_str_add(&s, "}>\n{\n  y = " FUSED("", LAUNCH) " (x)\n  k = Relu(c)\n" REST);
	out = judged(s.s, s.len);
	if (out.verdict != PM_VERDICT_REJECT_MATCH && out.verdict != PM_VERDICT_REJECT_API)
		fail_msg("%s %s", pm_verdict_name(out.verdict), out.message);
	pm_pass_outcome_release(&out);
	pm_str_release(&s);
}

/* A process may end at any byte of its answer: the whole is accepted, and nothing shorter. */
static void G14_cut_answers(void **state)
{
	static const char json[] = "{\"end\":\"applied\",\"applied\":1}";
	const char *text = attacks[0].answer;
	PmGraph *in = pm_test_graph(original);
	PmStr whole = PM_STR_INIT;

	(void)state;
	pm_str_addf(&whole, PM__ANSWER_MAGIC " %zu %zu\n%s%s", sizeof json - 1, strlen(text), json, text);
	for (size_t n = 0; n <= whole.len; n++) {
		PmPassOutcome out;
		PmStr cut = PM_STR_INIT;

		memset(&out, 0, sizeof out);
		pm_str_addn(&cut, whole.s, n);
		pm__judge_answer(&cut, in, strlen(original), &out);
		if ((out.verdict == PM_VERDICT_OK) != (n == whole.len) ||
		    (out.verdict != PM_VERDICT_OK && !out.message[0]))
			fail_msg("cut after %zu of %zu bytes: %s", n, whole.len,
				 pm_verdict_name(out.verdict));
		pm_pass_outcome_release(&out);
		pm_str_release(&cut);
	}
	pm_str_release(&whole);
	pm_graph_free(in);
}

enum { N = sizeof attacks / sizeof *attacks };

int main(void)
{
	struct CMUnitTest tests[N + 4];

	memset(tests, 0, sizeof tests);
	for (size_t i = 0; i < N; i++) {
		tests[i].name = attacks[i].id;
		tests[i].test_func = attack;
		tests[i].initial_state = (void *)(uintptr_t)&attacks[i];
	}
	tests[N] = (struct CMUnitTest)cmocka_unit_test(D20c_100k_nodes);
	tests[N + 1] = (struct CMUnitTest)cmocka_unit_test(D20d_64MiB_source);
	tests[N + 2] = (struct CMUnitTest)cmocka_unit_test(E03_embed_output);
	tests[N + 3] = (struct CMUnitTest)cmocka_unit_test(G14_cut_answers);
	return _cmocka_run_group_tests("rewrite", tests, N + 4, NULL, NULL);
}
