/* SPDX-License-Identifier: Apache-2.0 */
/* test_pass_host.c - whatever a pass does ends as a verdict of its own, and the next pass is not affected. */
#include "matcher/host/pass_host.h"

#include "base/sandbox/sandbox.h"

#include "base/sys/io.h"
#include "base/sys/proc.h"
#include "integrity/referee/referee.h"
#include "ir/text/text.h"
#include "matcher/rewrite/same.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/need.h"
#include "tests/plugin/paths.h"

#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#if defined(__SANITIZE_ADDRESS__)
#define ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#define ADDRESS_SANITIZER __has_feature(address_sanitizer)
#else
#define ADDRESS_SANITIZER 0
#endif

#define MISBEHAVES "tests/plugin/misbehaves.so"
#define SILU       "passes/silu.so"

static const char silu_text[] =
	"g (float[4,8] x) => (float[4,8] y)\n{\n  s = Sigmoid(x)\n  y = Mul(x, s)\n}\n";
/* Two places: for plugins that keep something from the first. */
static const char twice_text[] =
	"g (float[4,8] x, float[8] z) => (float[4,8] y, float[8] w)\n{\n  s = Sigmoid(x)\n"
	"  y = Mul(x, s)\n  t = Sigmoid(z)\n  w = Mul(z, t)\n}\n";

static PmPassOutcome apply(const char *so, const char *rule, const char *text, double seconds)
{
	PmGraph *g = pm_test_graph(text);
	PmPassOpts opts = { .seconds = seconds, .only_rule = rule, .memory = (int64_t)256 << 20 };
	PmPassOutcome out;
	PmErr err;

	pm_err_init(&err);
	if (pm_pass_apply(built(so), g, &opts, &out, &err) != PM_OK)
		fail_msg("%s", err.text);
	pm_graph_free(g);
	return out;
}

static void expect(const char *so, const char *rule, const char *text, double seconds, PmVerdict want,
		   const char *part)
{
	PmPassOutcome out = apply(so, rule, text, seconds), next;

	if (out.verdict != want || !strstr(out.message, part) ||
	    (out.graph != NULL) != (want == PM_VERDICT_OK))
		fail_msg("%s %s: %s: %s", so, rule ? rule : "", pm_verdict_name(out.verdict), out.message);
	pm_pass_outcome_release(&out);
	next = apply(SILU, NULL, silu_text, 10);
	assert_int_equal(next.verdict, PM_VERDICT_OK);
	assert_int_equal(next.applied, 1);
	pm_pass_outcome_release(&next);
}

static void a_good_pass_is_applied(void **state)
{
	PmPassOutcome out = apply(SILU, NULL, twice_text, 10);
	PmGraph *before = pm_test_graph(twice_text);
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(out.verdict, PM_VERDICT_OK);
	assert_string_equal(out.message, "");
	assert_string_equal(out.plugin, "silu");
	assert_string_equal(out.version, "1");
	assert_int_equal(out.applied, 2);
	assert_int_equal(out.n_rules, 1);
	assert_string_equal(out.rule[0].pattern, "(Mul ?0{float} (Sigmoid ?0))");
	assert_int_equal(out.rule[0].stats.applied, 2);
	assert_int_equal(pm_graph_n_nodes(out.graph), 2);
	assert_int_equal(pm_node_op(out.graph, pm_graph_node_at(out.graph, 0)), PM_OP_Kernel);
	assert_string_equal(pm_value_name(out.graph, pm_graph_output(out.graph, 1)), "w");
	assert_int_equal(pm_rewrite_check(before, out.graph, &err), PM_OK);
	pm_graph_free(before);
	pm_pass_outcome_release(&out);
}

static void large_constants_cross_by_reference(void **state)
{
	PmStr text = PM_STR_INIT;
	PmPassOutcome out;
	PmValue w;

	(void)state;
	pm_str_add(&text, "g (float[100] x) => (float[100] y)\n<float[100] w = {");
	for (int k = 0; k < 100; k++)
		pm_str_addf(&text, "%s%d", k ? ", " : "", k);
	pm_str_add(&text, "}>\n{\n  a = Add(x, w)\n  s = Sigmoid(a)\n  y = Mul(a, s)\n}\n");
	out = apply(SILU, NULL, text.s, 10);
	assert_int_equal(out.verdict, PM_VERDICT_OK);
	w = pm_graph_find_value(out.graph, "w");
	assert_true(pm_value_is_const(out.graph, w));
	assert_non_null(pm_value_blob(out.graph, w)->data);
	assert_true(((const float *)pm_value_blob(out.graph, w)->data)[99] == 99);
	pm_pass_outcome_release(&out);
	pm_str_release(&text);
}

static void no_match_says_how_close_it_came(void **state)
{
	static const char text[] = "g (float[4] x, float[4] z) => (float[4] y, float[4] w, float[4] s)\n{\n"
				   "  t = Tanh(z)\n  y = Mul(t, z)\n  s = Sigmoid(x)\n  w = Mul(s, x)\n}\n";
	PmGraph *g = pm_test_graph(text);
	PmPassOutcome out;
	PmStr report = PM_STR_INIT;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_pass_explain(built(SILU), g, NULL, &out, &report, &err), PM_OK);
	assert_int_equal(out.verdict, PM_VERDICT_NO_MATCH);
	assert_int_equal(out.rule[0].stats.n_misses, 2);
	assert_int_equal(out.rule[0].stats.miss[0].depth, 2);
	assert_string_equal(
		out.rule[0].stats.miss[0].text,
		"everything matched, but interior value 's' is an output of the graph; replace it too (AS) "
		"or keep its node (KEEP)");
	assert_int_equal(out.rule[0].stats.miss[1].depth, 1);
	assert_string_equal(
		out.rule[0].stats.miss[1].text,
		"operand 0 of node 2 (Mul -> 'y'): the pattern wants (Sigmoid ?0), this is 't', made by "
		"Tanh");
	assert_non_null(strstr(report.s, "silu 1: NO_MATCH"));
	assert_non_null(strstr(report.s, "near miss 1 of 2 operators: operand 0 of node 2"));
	pm_str_release(&report);
	pm_pass_outcome_release(&out);
	pm_graph_free(g);
	expect("tests/plugin/never_matches.so", NULL, silu_text, 10, PM_VERDICT_NO_MATCH, "No rule");
}

static void a_real_model_is_explained(void **state)
{
	PmStr text = PM_STR_INIT, report = PM_STR_INIT;
	PmPassOutcome out;
	PmGraph *g;
	PmErr err;

	(void)state;
	pm_test_need_path("models/mobilenetv3_se_block.gpt");
	pm_err_init(&err);
	assert_int_equal(pm_read_file("models/mobilenetv3_se_block.gpt", 0, &text, &err), PM_OK);
	g = pm_test_graph(text.s);
	assert_int_equal(pm_pass_explain(built(SILU), g, NULL, &out, &report, &err), PM_OK);
	assert_int_equal(out.verdict, PM_VERDICT_NO_MATCH);
	assert_non_null(strstr(report.s,
			       "(Mul -> 'gated'): the pattern wants (Sigmoid ?0), this is 'gate', made by "
			       "HardSigmoid\n"));
	pm_pass_outcome_release(&out);
	pm_str_clear(&report);
	assert_int_equal(
		pm_pass_explain(built("tests/plugin/never_matches.so"), g, NULL, &out, &report, &err), PM_OK);
	assert_non_null(strstr(report.s, "the graph has no Selu node"));
	pm_pass_outcome_release(&out);
	pm_graph_free(g);
	pm_str_release(&text);
	pm_str_release(&report);
}

static void declines_are_counted_by_reason(void **state)
{
	PmPassOutcome out = apply(
		SILU, NULL, "g (float[0,8] x) => (float[0,8] y)\n{\n  s = Sigmoid(x)\n  y = Mul(x, s)\n}\n",
		10);

	(void)state;
	assert_int_equal(out.verdict, PM_VERDICT_NO_MATCH);
	assert_int_equal(out.rule[0].stats.matched, 1);
	assert_int_equal(out.rule[0].stats.declined, 1);
	assert_int_equal(out.rule[0].stats.n_reasons, 1);
	assert_string_equal(out.rule[0].stats.reason[0].text, "x is empty or its size is not known");
	assert_int_equal(out.rule[0].stats.reason[0].count, 1);
	pm_pass_outcome_release(&out);
}

static void crashes_and_hangs_have_verdicts(void **state)
{
	(void)state;
	expect(MISBEHAVES, "endless", silu_text, 0.3, PM_VERDICT_PASS_TIMEOUT,
	       "did not come back within 0.3");
#if !ADDRESS_SANITIZER
	/* The sanitizer turns these into exits of its own, and cannot run below a memory limit. */
	expect(MISBEHAVES, "null_deref", silu_text, 10, PM_VERDICT_PASS_CRASH, "killed by signal 11");
	expect(MISBEHAVES, "deep", silu_text, 10, PM_VERDICT_SANDBOX_KILL, "overflowed its stack");
	expect(MISBEHAVES, "above", silu_text, 10, PM_VERDICT_PASS_CRASH, "killed by signal 11");
#else
	expect(MISBEHAVES, "null_deref", silu_text, 10, PM_VERDICT_PASS_CRASH, "");
#endif
}

static void wrong_abi_names_both_versions(void **state)
{
	(void)state;
	expect("tests/plugin/abi_newer.so", NULL, silu_text, 10, PM_VERDICT_REJECT_ABI,
	       "built for plugin interface 1.99, this program offers 1.4");
	expect("tests/plugin/abi_v2.so", NULL, silu_text, 10, PM_VERDICT_REJECT_ABI,
	       "built for plugin interface 2, this program offers 1.4");
	expect("tests/plugin/abi_none.so", NULL, silu_text, 10, PM_VERDICT_REJECT_ABI,
	       "exports no passmith_plugin_v1");
	expect("tests/plugin/missing.so", NULL, silu_text, 10, PM_VERDICT_REJECT_ELF, "missing.so");
}

static void misuse_of_the_interface_is_named(void **state)
{
	static const char *const cases[][2] = {
		{ "stale", "which is not of this match" },
		{ "invented", "which is not of this match" },
		{ "error_status", "failed with status -3 (E_SHAPE)" },
		{ "silent", "described no kernel" },
		{ "late", "outside its rewrite callback" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		expect(MISBEHAVES, cases[i][0], twice_text, 10, PM_VERDICT_REJECT_API, cases[i][1]);
}

static void malformed_kernels_are_named(void **state)
{
	static const char *const cases[][2] = {
		{ "no_source", "no source" },
		{ "no_entry", "no entry" },
		{ "wrong_entry", "no function `__global__ void g(...)`" },
		{ "missing_arg", "has 3 parameters, but 2 arguments" },
		{ "arg_too_many", "has 3 parameters, but 4 arguments" },
		{ "arg_kind", "Parameter 2 of kernel f is a 64-bit integer, but a float is passed" },
		{ "arg_width",
		  "Parameter 2 of kernel f is a 64-bit integer, but a 32-bit integer is passed" },
		{ "pointer_for_scalar",
		  "Parameter 2 of kernel f is a 64-bit integer, but a pointer is passed" },
		{ "no_such_input", "names input, output or scratch buffer 1, which does not exist" },
		{ "zero_grid", "The grid of kernel f" },
		{ "big_block", "The block of kernel f of rule 'big_block' is 32 x 64 x 1" },
		{ "big_smem", "1048576 bytes of shared memory" },
		{ "interior_input", "is not an operand that the matched nodes take from outside" },
		{ "no_root", "do not include the root" },
		{ "outside_output", "Output 1 of the kernel of rule 'outside_output' is not a result" },
		{ "none_input", "is no value" },
		{ "empty_scratch", "has 0 bytes" },
		{ "alternative_input", "only the first may" },
		{ "twice", "more than one kernel" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		expect("tests/plugin/bad_specs.so", cases[i][0], silu_text, 10, PM_VERDICT_REJECT_API,
		       cases[i][1]);
}

static void callbacks_have_a_step_budget(void **state)
{
	PmPassOutcome out = apply(MISBEHAVES, "busy", silu_text, 10);

	(void)state;
	assert_int_equal(out.verdict, PM_VERDICT_NO_MATCH);
	for (size_t i = 0; i < out.n_rules; i++)
		if (!strcmp(out.rule[i].stats.name, "busy"))
			assert_string_equal(out.rule[i].stats.reason[0].text,
					    "over the step budget of a callback");
	pm_pass_outcome_release(&out);
}

static void lint_reports_every_problem(void **state)
{
	static const char want[] =
		"bad_rules: root_is_alt: the root of the pattern is not an OP\n"
		"bad_rules: arity: Add takes at least 2 operands, the pattern has 1\n"
		"bad_rules: arity_over: Relu takes at most 1 operands, the pattern has 2\n"
		"bad_rules: attribute: Relu has no attribute 'axis'\n"
		"bad_rules: attribute_kind: attribute 'axis' of Softmax is an integer; use INT\n"
		"bad_rules: required: attribute 'axis' of Softmax has no default and must be mentioned "
		"(WITH), or "
		"waived (ANYATTR)\n"
		"bad_rules: one_alt: slot 1 is bound in one ALT only\n"
		"bad_rules: unbound: slot 0 is never bound\n"
		"bad_rules: unbound: slot 1 is never bound\n"
		"bad_rules: range: slot 1 is out of range: .n_slots is 1\n"
		"bad_rules: rest_first: REST must be the last operand of Concat\n"
		"bad_rules: rest_first: attribute 'axis' of Concat has no default and must be mentioned "
		"(WITH), or "
		"waived (ANYATTR)\n"
		"bad_rules: no_rewrite: there is no .rewrite\n"
		"bad_rules: both: a rule has either a .pattern or a .region\n"
		"bad_rules: neither: a rule has either a .pattern or a .region\n"
		"bad_rules: as_of_var: AS names an operator, an OPT or an ALT; use V for anything else.\n"
		"bad_rules: neither: two rules have this name\n"
		"bad_rules: misspelt: unknown operator 'Sigmiod'; did you mean 'Sigmoid'?\n"
		"bad_rules: rule 16: the name is missing, longer than 63 bytes, or has other characters than "
		"letters, digits, _ . -\n"
		"bad_rules: rule 17: the structure says it has 12 bytes, which no version of the interface "
		"has; define rules with PM_RULE\n";
	PmPassOutcome out;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_pass_lint(built("tests/plugin/bad_rules.so"), NULL, &out, &err), PM_OK);
	assert_int_equal(out.verdict, PM_VERDICT_REJECT_LINT);
	assert_string_equal(out.problems, want);
	pm_pass_outcome_release(&out);
	assert_int_equal(pm_pass_lint(built(SILU), NULL, &out, &err), PM_OK);
	assert_int_equal(out.verdict, PM_VERDICT_OK);
	assert_int_equal(out.n_rules, 1);
	assert_string_equal(out.problems, "");
	assert_null(out.graph);
	pm_pass_outcome_release(&out);
	expect("tests/plugin/bad_rules.so", NULL, silu_text, 10, PM_VERDICT_REJECT_LINT, "malformed");
}

/* In a user namespace that may hold no others: 1 where none can be made. */
static int without_namespaces(void *arg, PmStr *out)
{
	int fd = unshare(CLONE_NEWUSER) ? -1
					: open("/proc/sys/user/max_user_namespaces", O_WRONLY | O_CLOEXEC);
	PmPassOutcome o;
	PmErr err;

	if (fd < 0 || write(fd, "0", 1) != 1)
		return 1;
	close(fd);
	pm_err_init(&err);
	pm_sandbox_require(PM_BOX_NAMESPACES, 0);
	if (pm_pass_apply(built(SILU), arg, NULL, &o, &err) == PM_OK)
		return 2;
	pm_str_add(out, err.text);
	return 0;
}

/* The sentence names the layer that is missing, and the system's error. */
static void the_missing_layer_is_named(void **state)
{
	PmGraph *g = pm_test_graph(silu_text);
	PmProcResult r;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_fork_call(without_namespaces, g,
				      &(PmLimits){ .seconds = 300, .file_size = -1, .tries = 3 }, &r, &err),
			 PM_OK);
	pm_graph_free(g);
	if (r.end == PM_PROC_EXITED && r.code == 1)
		pm_test_skip("no namespace can be made here that may hold no others");
	assert_int_equal(r.end, PM_PROC_EXITED);
	assert_int_equal(r.code, 0);
	assert_non_null(strstr(r.out.s, "it lacks namespaces (error 28, No space left on device). Run"));
	pm_proc_result_release(&r);
}

/* A process whose sandbox lacks what its caller asks for never runs the pass. */
static void a_weaker_sandbox_runs_nothing(void **state)
{
	PmGraph *g = pm_test_graph(silu_text);
	PmPassOutcome out;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	pm_sandbox_require(PM_BOX_ALL + 1, 0); /* a layer that no machine has */
	assert_int_equal(pm_pass_apply(built(SILU), g, NULL, &out, &err), PM_E_ENV);
	pm_sandbox_require(0, 0);
	assert_non_null(strstr(err.text, "could not enter the sandbox"));
	assert_non_null(strstr(err.text, "it lacks a layer that it cannot name."));
	pm_pass_outcome_release(&out);
	pm_err_init(&err);
	assert_int_equal(pm_pass_apply(built(SILU), g, NULL, &out, &err), PM_OK);
	assert_int_equal(out.verdict, PM_VERDICT_OK);
	pm_pass_outcome_release(&out);
	pm_graph_free(g);
}

/* What the referee relies on to notice a pass that depends on addresses. */
static void both_variants_of_the_process_give_one_answer(void **state)
{
	PmGraph *g = pm_test_graph(twice_text);
	PmStr text[2] = { PM_STR_INIT, PM_STR_INIT };
	PmErr err;

	(void)state;
	pm_err_init(&err);
	for (unsigned v = 0; v < 2; v++) {
		PmPassOpts opts = { .variant = v };
		PmPassOutcome out;

		assert_int_equal(pm_pass_apply(built(SILU), g, &opts, &out, &err), PM_OK);
		assert_int_equal(out.verdict, PM_VERDICT_OK);
		assert_int_equal(pm_graph_print(out.graph, NULL, &text[v], &err), PM_OK);
		pm_pass_outcome_release(&out);
	}
	assert_string_equal(text[0].s, text[1].s);
	pm_str_release(&text[0]);
	pm_str_release(&text[1]);
	pm_graph_free(g);
}

static void many_words_work_together(void **state)
{
	static const char text[] =
		"g (float[4,8] x, float[4,8] z) => (float[4,8] y, float[4,8] w, float[4,4] p, float[4,4] "
		"q)\n{\n"
		"  s = Add(x, z)\n  r = Relu(s)\n  y = Mul(r, s)\n  e1 = Exp(z)\n  e2 = Sin(e1)\n  w = "
		"Cos(e2)\n"
		"  a, b = Split<axis = 1, split = [4, 4]>(z)\n  p = Tanh(b)\n  q = Mul(a, p)\n}\n";
	PmPassOutcome out = apply("tests/plugin/many_words.so", NULL, text, 10);
	int kernels = 0, splits = 0;

	(void)state;
	assert_int_equal(out.verdict, PM_VERDICT_OK);
	assert_int_equal(out.applied, 3);
	for (size_t i = 0; i < pm_graph_n_nodes(out.graph); i++) {
		PmOp op = pm_node_op(out.graph, pm_graph_node_at(out.graph, i));

		kernels += op == PM_OP_Kernel;
		splits += op == PM_OP_Split;
	}
	assert_int_equal(kernels, 3);
	assert_int_equal(splits, 1); /* KEEP: its first result is still used */
	pm_pass_outcome_release(&out);
}

static void outcomes_become_json(void **state)
{
	PmPassOutcome out = apply(SILU, NULL, silu_text, 10);
	cJSON *o = cJSON_CreateObject();

	(void)state;
	pm_pass_outcome_json(&out, o);
	assert_string_equal(pm_json_str(o, "verdict", ""), "OK");
	assert_int_equal(pm_json_i64(o, "applied", 0), 1);
	assert_string_equal(pm_json_str(cJSON_GetArrayItem(cJSON_GetObjectItem(o, "rules"), 0), "name", ""),
			    "silu");
	cJSON_Delete(o);
	pm_pass_outcome_release(&out);
}

static void verdicts_have_names(void **state)
{
	(void)state;
	for (int v = 0; v < PM_N_VERDICTS; v++) {
		assert_int_equal(pm_verdict_from_name(pm_verdict_name((PmVerdict)v)), v);
		assert_true(strlen(pm_verdict_meaning((PmVerdict)v)) > 10);
	}
	assert_int_equal(pm_verdict_from_name("nothing"), PM_N_VERDICTS);
	assert_string_equal(pm_verdict_name(PM_N_VERDICTS), "UNKNOWN");
}

/* Graphs of other sizes, every third without a match: each answer is that of its own graph. */
static void side_by_side_as_one_by_one(void **state)
{
	enum { N = 12 };
	PmGraph *g[N];
	PmCandidate all[N], one;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	for (int i = 0; i < N; i++) {
		PmStr text = PM_STR_INIT;

		pm_str_addf(&text,
			    "g (float[4,%d] x) => (float[4,%d] y)\n{\n  s = %s(x)\n  y = Mul(x, s)\n}\n",
			    i + 1, i + 1, i % 3 == 1 ? "Tanh" : "Sigmoid");
		g[i] = pm_test_graph(text.s);
		pm_str_release(&text);
	}
	if (pm_referee_rewrite_all(built(SILU), g, N, 60, all, &err))
		fail_msg("%s", err.text);
	for (int i = 0; i < N; i++) {
		PmStr a = PM_STR_INIT, b = PM_STR_INIT;

		assert_int_equal(pm_referee_rewrite(built(SILU), NULL, g[i], 60, &one, &err), PM_OK);
		assert_int_equal(one.verdict, i % 3 == 1 ? PM_VERDICT_NO_MATCH : PM_VERDICT_OK);
		assert_int_equal(all[i].verdict, one.verdict);
		if (one.g) {
			assert_int_equal(pm_graph_print(all[i].g, NULL, &a, NULL), PM_OK);
			assert_int_equal(pm_graph_print(one.g, NULL, &b, NULL), PM_OK);
			assert_string_equal(a.s, b.s);
		}
		pm_str_release(&a);
		pm_str_release(&b);
		pm_candidate_release(&one);
		pm_candidate_release(&all[i]);
		pm_graph_free(g[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_weaker_sandbox_runs_nothing),
		cmocka_unit_test(the_missing_layer_is_named),
		cmocka_unit_test(a_good_pass_is_applied),
		cmocka_unit_test(large_constants_cross_by_reference),
		cmocka_unit_test(no_match_says_how_close_it_came),
		cmocka_unit_test(a_real_model_is_explained),
		cmocka_unit_test(declines_are_counted_by_reason),
		cmocka_unit_test(crashes_and_hangs_have_verdicts),
		cmocka_unit_test(wrong_abi_names_both_versions),
		cmocka_unit_test(misuse_of_the_interface_is_named),
		cmocka_unit_test(malformed_kernels_are_named),
		cmocka_unit_test(callbacks_have_a_step_budget),
		cmocka_unit_test(lint_reports_every_problem),
		cmocka_unit_test(both_variants_of_the_process_give_one_answer),
		cmocka_unit_test(many_words_work_together),
		cmocka_unit_test(side_by_side_as_one_by_one),
		cmocka_unit_test(outcomes_become_json),
		cmocka_unit_test(verdicts_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
