/* SPDX-License-Identifier: Apache-2.0 */
/* test_pattern.c - patterns: copied from a plugin's tree, printed, parsed, refused. */
#include "matcher/pattern/rules.h"

#include "ir/core/op.h"

#include "passmith/dsl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *text_of(const PmPat *p)
{
	static char buf[2048];
	PmPattern *c = NULL;
	PmStr s = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	if (pm_pattern_copy(p, &c, &err) != PM_OK) {
		snprintf(buf, sizeof buf, "%s", err.text);
		return buf;
	}
	pm_pattern_print(c, &s);
	snprintf(buf, sizeof buf, "%s", s.s);
	pm_str_release(&s);
	pm_pattern_free(c);
	return buf;
}

enum { X, MASK, WIDE, EPS };

#define NUMBERS     (FLOATS | 1u << PM_I64)
#define RAW_MASK    TYPED(V(MASK), 1u << PM_I64, 2)
#define COLUMN(p)   WITH(OP(Unsqueeze, p), INTS(axes, 2))
#define WIDE_MASK   OPT(Expand, TYPED(OPT(Cast, COLUMN(TYPED(OPT(Cast, RAW_MASK), NUMBERS, 2))), FLOATS, 3))
#define OVER_SEQ(p) WITH(OP(ReduceSum, p), INTS(axes, 1), INTS(keepdims, 0))

static void every_word_prints(void **state)
{
	(void)state;
	assert_string_equal(text_of(OP(Mul, V(X), OP(Sigmoid, V(X)))), "(Mul ?0 (Sigmoid ?0))");
	assert_string_equal(
		text_of(OP(Div, OVER_SEQ(OP(Mul, TYPED(V(X), FLOATS, 3), AS(WIDE, WIDE_MASK))),
			   ALT(OP(Max, OVER_SEQ(V(WIDE)), V(EPS)), OP(Clip, OVER_SEQ(V(WIDE)), V(EPS))))),
		"(Div (ReduceSum (Mul ?0{float,r3} ?2:(Expand? (Cast? (Unsqueeze (Cast? ?1{i64,r2}){num,r2})"
		"{axes=2}){float,r3}))){axes=1}{keepdims=0} (| (Max (ReduceSum ?2){axes=1}{keepdims=0} ?3) "
		"(Clip (ReduceSum ?2){axes=1}{keepdims=0} ?3)))");
	assert_string_equal(text_of(OP(Concat, V(X), REST)), "(Concat ?0 ...)");
	assert_string_equal(text_of(KEEP(ORDERED(ANYATTR(OP(Add, ANY, NUM(0.5)))))),
			    "(Add _ 0.5){anyattr}{ordered}{keep}");
	assert_string_equal(text_of(RESULT(1, WITH(OP(Split, V(X)), INT(axis, -1), NO_INTS(split)))),
			    "(Split ?0){#1}{axis=-1}{split=}");
	assert_string_equal(
		text_of(WITH(OP(Gelu, V(X)), STR(approximate, "a\"b"), FLOAT(k, 1), FLOAT(j, 1e-5))),
		"(Gelu ?0){approximate=\"a\\\"b\"}{k=1.0}{j=1e-05}");
	assert_string_equal(text_of(TYPED(TYPED(V(X), INTEGERS, -1), TYPE(I64) | TYPE(F16), 2)),
			    "?0{i64,r2}");
	assert_string_equal(text_of(TYPED(V(X), TYPE(F16) | TYPE(BOOL), -1)), "?0{f16|bool}");
	assert_string_equal(text_of(TYPED(V(X), 0, 4)), "?0{r4}");
	assert_string_equal(text_of(OP(Add, NUM(0.1), NUM(1))), "(Add 0.1 1)");
	assert_string_equal(text_of(OP(Add, NUM(0.10000000000000001234), NUM(1.0 / 3))),
			    "(Add 0.1 0.33333333333333331)");
}

/* At file scope, where compound literals live for ever. */
static const PmPat bad_kind = { .struct_size = sizeof(PmPat), .kind = 99 };
static const PmPat short_pat = { .struct_size = 12, .kind = PM_PAT_ANY };
static const PmPat no_list = { .struct_size = sizeof(PmPat), .kind = PM_PAT_OP, .op = "Add" };
static const PmPat any = { .struct_size = sizeof(PmPat), .kind = PM_PAT_ANY };
static const PmPat no_name = { .struct_size = sizeof(PmPat),
			       .kind = PM_PAT_OP,
			       .in = (const PmPat *const[]){ &any, NULL } };
static const PmPat loop = { .struct_size = sizeof(PmPat),
			    .kind = PM_PAT_OP,
			    .op = "Neg",
			    .in = (const PmPat *const[]){ &loop, NULL } };
static const PmPat wrapped_loop = { .struct_size = sizeof(PmPat),
				    .kind = PM_PAT_KEEP,
				    .in = (const PmPat *const[]){ &wrapped_loop, NULL } };

static void copying_refuses_what_has_no_meaning(void **state)
{
	(void)state;
	assert_non_null(strstr(text_of(&bad_kind), "unknown kind 99"));
	assert_non_null(strstr(text_of(&short_pat), "says it has 12 bytes"));
	assert_non_null(strstr(text_of(&no_list), "no operand list"));
	assert_non_null(strstr(text_of(&no_name), "name of an operator"));
	assert_non_null(strstr(text_of(&loop), "64"));
	assert_non_null(strstr(text_of(&wrapped_loop), "no pattern inside"));
	assert_non_null(strstr(text_of(NULL), "no pattern"));
	assert_non_null(strstr(text_of(V(PM_MAX_SLOTS)), "over the limit"));
	assert_non_null(strstr(text_of(AS(1, V(X))), "AS names an operator"));
	assert_non_null(strstr(text_of(AS(1, AS(2, OP(Neg, V(X))))), "Two AS"));
	assert_non_null(strstr(text_of(WITH(V(X), INT(axis, 1))), "only an operator has attributes"));
	assert_non_null(strstr(text_of(ORDERED(ALT(V(X), ANY))), "stand around an OP"));
	assert_non_null(strstr(text_of(KEEP(V(X))), "not part of the match"));
	assert_non_null(
		strstr(text_of(TYPED(TYPED(V(X), TYPE(I64), 2), TYPE(F16), 2)), "exclude each other"));
	assert_non_null(strstr(text_of(TYPED(V(X), 1u << PM_N_DTYPES, 2)), "unknown element types"));
	assert_non_null(strstr(text_of(TYPED(V(X), FLOATS, 9)), "rank"));
}

static void text_round_trips(void **state)
{
	static const char *const texts[] = {
		"(Mul ?0{float} (Sigmoid ?0))",
		"(Add _ 0.5){anyattr}{ordered}{keep}",
		"(Split ?0){#1}{axis=-1}{split=}",
		"(Gelu ?0){approximate=\"t\\x01\\n\\t\\r\\\\h\"}{k=1.0}{j=-inf}{l=nan}",
		"(| (Relu ?0) ?31:(Cast? _){num})",
		"(Max -1 inf nan ...){f32|f64,r0}",
		"?2",
		"_{int,r8}",
		"0.33333333333333331",
		"-0",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		PmPattern *p = NULL, *q = NULL;
		PmStr s = PM_STR_INIT;
		PmErr err;

		pm_err_init(&err);
		assert_int_equal(pm_pattern_parse(texts[i], strlen(texts[i]), &p, &err), PM_OK);
		pm_pattern_print(p, &s);
		assert_string_equal(s.s, texts[i]);
		assert_int_equal(pm_pattern_parse(s.s, s.len, &q, &err), PM_OK);
		assert_true(pm_pattern_hash(p) == pm_pattern_hash(q));
		pm_pattern_free(p);
		pm_pattern_free(q);
		pm_str_release(&s);
	}
}

static void junk_text_is_refused_with_a_column(void **state)
{
	static const char *const texts[] = { "",
					     "(",
					     "(Add",
					     "(Add)",
					     "()",
					     "(|)",
					     "?",
					     "?32",
					     "?01",
					     "(Add ?0))",
					     "(Add ?0){",
					     "?0{}",
					     "?0{axis=1}",
					     "(Relu ?0){#}",
					     "(Relu ?0){a=\"}",
					     "(Relu ?0){a=1,2.5}",
					     "?0{r9}",
					     "?0{float,int8}",
					     "0x10",
					     "1e",
					     "(Cast? ?0 ?1)",
					     "...{keep}",
					     "?0:?1",
					     "(Relu ?0){a=99999999999999999999}" };

	(void)state;
	{ /* a zero byte ends nothing: it is junk like any other */
		PmPattern *p = NULL;

		assert_true(pm_pattern_parse("-1\0", 3, &p, NULL) < 0);
		assert_true(pm_pattern_parse("\0", 1, &p, NULL) < 0);
	}
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		PmPattern *p = NULL;
		PmErr err;

		pm_err_init(&err);
		assert_true(pm_pattern_parse(texts[i], strlen(texts[i]), &p, &err) < 0);
		assert_null(p);
		assert_true(err.text[0] != 0);
	}
}

static void a_pattern_has_at_most_64_nodes(void **state)
{
	PmStr s = PM_STR_INIT;
	PmPattern *p = NULL;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	pm_str_add(&s, "(Max");
	for (int k = 0; k < 63; k++)
		pm_str_add(&s, " _");
	pm_str_addc(&s, ')');
	assert_int_equal(pm_pattern_parse(s.s, s.len, &p, &err), PM_OK);
	assert_int_equal(p->n, 64);
	pm_pattern_free(p);
	p = NULL;
	s.s[s.len - 1] = ' ';
	pm_str_add(&s, "_)");
	assert_int_equal(pm_pattern_parse(s.s, s.len, &p, &err), PM_E_LIMIT);
	pm_str_clear(&s);
	for (int k = 0; k < 100; k++)
		pm_str_add(&s, "(Neg ");
	assert_int_equal(pm_pattern_parse(s.s, s.len, &p, &err), PM_E_LIMIT);
	pm_str_release(&s);
}

static size_t lint(const char *text, const char *expect)
{
	PmPattern *p = NULL;
	PmStr out = PM_STR_INIT;
	PmErr err;
	size_t n;

	pm_err_init(&err);
	assert_int_equal(pm_pattern_parse(text, strlen(text), &p, &err), PM_OK);
	n = pm_pattern_lint(p, 0, "p: r", &out);
	if (expect)
		assert_string_equal(out.s, expect);
	pm_str_release(&out);
	pm_pattern_free(p);
	return n;
}

static void lint_accepts_good_and_names_bad(void **state)
{
	(void)state;
	assert_int_equal(lint("(Mul ?0{float} (Sigmoid ?0))", ""), 0);
	assert_int_equal(lint("(Add (Cast? ?0) (Expand? ?1))", ""), 0);
	assert_int_equal(lint("(Relu (| (Add ?0 ?1) (Sub ?0 ?1)))", ""), 0);
	assert_int_equal(lint("(Kernel ?0)", "p: r: Kernel nodes cannot be matched\n"), 1);
	assert_int_equal(lint("(RandomUniformLike ?0)", "p: r: RandomUniformLike nodes cannot be matched\n"),
			 1);
	assert_int_equal(
		lint("(Relu (Softmx ?0))", "p: r: unknown operator 'Softmx'; did you mean 'Softmax'?\n"), 1);
	assert_int_equal(lint("(Relu ?0){#1}", "p: r: Relu has no result 1\n"), 1);
	assert_int_equal(
		lint("(Relu (ConstantOfShape ?0))",
		     "p: r: attribute 'value' of ConstantOfShape has no default and must be mentioned "
		     "(WITH), or waived (ANYATTR)\n"),
		1);
	assert_int_equal(lint("(| ... ?0)", NULL), 3);
	assert_int_equal(lint("(Relu (Reshape? ?0)){keep}",
			      "p: r: KEEP around the root: the root is what the kernel "
			      "replaces\n"),
			 1);
	assert_int_equal(lint("(ReduceSum ?0){axes=1.5}{axes=1}", NULL), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_word_prints),
		cmocka_unit_test(copying_refuses_what_has_no_meaning),
		cmocka_unit_test(text_round_trips),
		cmocka_unit_test(junk_text_is_refused_with_a_column),
		cmocka_unit_test(a_pattern_has_at_most_64_nodes),
		cmocka_unit_test(lint_accepts_good_and_names_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
