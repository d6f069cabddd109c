/* SPDX-License-Identifier: Apache-2.0 */
/* test_svg.c - whatever a text holds, a drawing made of it has the elements that its maker wrote and no
 * others.
 *
 * How it is known: by exact expected bytes, and by counting '<' and '"' in what random bytes become.
 */
#include "base/core/rng.h"
#include "draw/svg/columns.h"
#include "draw/svg/svg.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static size_t count(const PmStr *s, char c)
{
	size_t n = 0;

	for (size_t i = 0; i < s->len; i++)
		n += s->s[i] == c;
	return n;
}

static void test_elements(void **state)
{
	static const PmPoint curve[] = { { 0, 0 }, { 0, 5 }, { 10, 5.25 }, { 10, -10.04 } };
	PmStr out = PM_STR_INIT;
	PmSvg s;

	(void)state;
	pm_svg_begin(&s, &out);
	pm_svg_open(&s, 20, 10.5);
	pm_svg_class(&s, PM_SVG_CLASS(edge) | PM_SVG_CLASS(pg));
	pm_svg_el(&s, PM_SVG_path);
	pm_svg_curve(&s, curve, 4);
	pm_svg_end(&s, PM_SVG_path);
	pm_svg_el(&s, PM_SVG_a);
	pm_svg_ref(&s, PM_SVG_AT_href, "g\"<", 7);
	pm_svg_at(&s, PM_SVG_AT_aria_label, "a \"b\" <c> & 'd'");
	pm_svg_label(&s, 0, NAN, INFINITY, "</text><script>");
	pm_svg_end(&s, PM_SVG_a);
	pm_svg_end(&s, PM_SVG_svg);
	assert_string_equal(out.s, "\n<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 20 10.5\" "
				   "class=\"pg edge\"><path d=\"M0 0C0 5 10 5.3 10 -10\"/><a href=\"#g7\" "
				   "aria-label=\"a &quot;b&quot; &lt;c&gt; &amp; &#39;d&#39;\"><text x=\"0\" "
				   "y=\"0\">&lt;/text&gt;&lt;script&gt;</text></a></svg>");
	pm_str_release(&out);
}

static void test_random_bytes(void **state)
{
	PmRng rng;

	(void)state;
	pm_rng_init(&rng, 5);
	for (int i = 0; i < 2000; i++) {
		PmStr out = PM_STR_INIT;
		char text[200];
		size_t n = (size_t)pm_rng_range(&rng, 0, 199);
		PmSvg s;

		for (size_t k = 0; k < n; k++)
			text[k] = (char)pm_rng_range(&rng, 1, 255);
		text[n] = 0;
		pm_svg_begin(&s, &out);
		pm_svg_el(&s, PM_SVG_g);
		pm_svg_at(&s, PM_SVG_AT_aria_label, text);
		pm_svg_title(&s, text);
		pm_svg_end(&s, PM_SVG_g);
		assert_int_equal(count(&out, '<'), 4);
		assert_int_equal(count(&out, '>'), 4);
		assert_int_equal(count(&out, '"'), 2);
		for (size_t k = 1; k < out.len; k++)
			assert_true((unsigned char)out.s[k] >= ' ' || out.s[k] == '\n');
		pm_str_release(&out);
	}
}

static void test_columns(void **state)
{
	char out[64];

	(void)state;
	assert_int_equal(pm_columns("abc"), 3);
	assert_int_equal(pm_columns("\xe4\xb8\xad\xe6\x96\x87"), 4);
	assert_int_equal(pm_columns("a\xff"), 2);
	assert_int_equal(pm_columns_cut("layer", 5, out, sizeof out), 0);
	assert_string_equal(out, "layer");
	assert_int_equal(pm_columns_cut("encoder.layer.11.weight", 11, out, sizeof out), 1);
	assert_string_equal(out, "enco...ight");
	assert_int_equal(
		pm_columns_cut("\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87", 7, out, sizeof out), 1);
	assert_string_equal(out, "\xe4\xb8\xad...\xe6\x96\x87");
}

/* No text becomes wider than was asked for, or leaves its buffer. */
static void test_columns_random(void **state)
{
	PmRng rng;

	(void)state;
	pm_rng_init(&rng, 6);
	for (int i = 0; i < 2000; i++) {
		char text[100], out[40];
		size_t n = (size_t)pm_rng_range(&rng, 0, 99), most = (size_t)pm_rng_range(&rng, 4, 30);
		size_t size = (size_t)pm_rng_range(&rng, 8, 40);

		for (size_t k = 0; k < n; k++)
			text[k] = (char)pm_rng_range(&rng, 1, 255);
		text[n] = 0;
		memset(out, 'x', sizeof out);
		if (!pm_columns_cut(text, most, out, size))
			assert_int_equal(pm_columns(out), pm_columns(text));
		assert_true(strnlen(out, size) < size);
		assert_true(pm_columns(out) <= most);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_elements),
		cmocka_unit_test(test_random_bytes),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_columns_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
