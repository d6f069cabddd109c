/* SPDX-License-Identifier: Apache-2.0 */
/* test_ptx_mutants.c - the PTX that NVRTC makes of the tree's kernels, changed at random: the gate ends,
 * stays inside the text and has a sentence for every refusal, and what it accepts has nothing in it that no
 * kernel may have, by a reader that shares nothing with the gate. (What small kernels reach is executed by
 * fuzz_ptx.c.) */
#include "base/core/arena.h"
#include "base/core/rng.h"
#include "base/sys/io.h"
#include "integrity/ptx/ptx_gate.h"
#include "runtime/cuda/nvrtc/nvrtc.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CC = 90, MUTANTS = 300, NAME = 96 };

static const struct {
	const char *name;
	PmDType type;
} kernels[] = { { "atomic", PM_F32 }, { "half", PM_F16 },   { "index", PM_F32 },   { "math", PM_F32 },
		{ "mma", PM_F16 },    { "shared", PM_F32 }, { "vector", PM_BF16 }, { "warp", PM_F32 },
		{ "half", PM_BF16 },  { "pairs", PM_F32 } };

/* Instructions and registers that no kernel may have, as statements to put in and as words to look for. */
static const char *const statements[] = { "mov.u64 %rd1, %clock64;",
					  "mov.u32 %r1, %smid;",
					  "mov.u64 %rd1, %globaltimer;",
					  "mov.u64 %rd1, %gridid;",
					  "trap;",
					  "brkpt;",
					  "griddepcontrol.wait;",
					  "nanosleep.u32 100;",
					  "createpolicy.fractional.L2::evict_last.b64 %rd1, 1.0;",
					  "st.release.sys.global.u32 [%rd1], %r1;",
					  "ld.global.u32 %r1, [4096];",
					  "ld.param.u64 %rd1, [nobody];",
					  "ld.const.u32 %r1, [nobody];",
					  "call.uni nobody, ();" };
static const char *const words[] = { "%clock",       "%smid", "%globaltimer",   "%gridid",
				     "trap;",        "brkpt", "griddepcontrol", "nanosleep",
				     "createpolicy", ".sys.", "nobody",         "[4096]" };

static size_t count(const char *s, char c)
{
	size_t n = 0;

	for (; *s; s++)
		n += *s == c;
	return n;
}

/* The beginning of line number n. */
static size_t line_at(const char *s, size_t n)
{
	const char *p = s;

	while (n-- && strchr(p, '\n'))
		p = strchr(p, '\n') + 1;
	return (size_t)(p - s);
}

/* A line of a body that is one statement. */
static size_t any_statement(const char *s, PmRng *r)
{
	size_t lines = count(s, '\n'), at = 0;

	for (int tries = 0; tries < 1000; tries++) {
		at = line_at(s, (size_t)pm_rng_range(r, 0, (int64_t)lines - 1));
		if (s[at] == '\t' && s[at + 1] >= 'a' && s[at + 1] <= 'z')
			return at;
	}
	return at;
}

static size_t length_of_line(const char *s, size_t at)
{
	return strcspn(s + at, "\n") + (s[at + strcspn(s + at, "\n")] != 0);
}

/* `with` instead of n bytes at `at`. */
static void splice(PmStr *out, const char *s, size_t at, size_t n, const char *with)
{
	pm_str_clear(out);
	pm_str_addn(out, s, at);
	pm_str_add(out, with);
	pm_str_add(out, s + at + n);
}

/* A number at or after `at` becomes another. */
static void change_number(PmStr *out, const char *s, size_t at, PmRng *r)
{
	char with[32];

	at += strcspn(s + at, "0123456789");
	snprintf(with, sizeof with, "%d", (int)pm_rng_range(r, -4, 4) * (int)pm_rng_range(r, 1, 4096));
	splice(out, s, at, strspn(s + at, "0123456789"), with);
}

/* A state space on some line becomes another. */
static void change_space(PmStr *out, const char *s, PmRng *r)
{
	static const char *const space[] = { ".global", ".const", ".shared", ".local", ".param" };
	const char *from = space[pm_rng_range(r, 0, 4)], *at = strstr(s + any_statement(s, r), from);

	if (at)
		splice(out, s, (size_t)(at - s), strlen(from), space[pm_rng_range(r, 0, 4)]);
	else
		splice(out, s, 0, 0, "");
}

/* One change. Returns 1 when it put in what must be refused. */
static int change(PmStr *out, const char *s, PmRng *r)
{
	size_t at = any_statement(s, r), n = length_of_line(s, at), to;
	char *line;
	int kind = (int)pm_rng_range(r, 0, 7);

	switch (kind) {
	case 0:
	case 1:
		splice(out, s, at, 0,
		       statements[pm_rng_range(r, 0, (int64_t)(sizeof statements / sizeof *statements) - 1)]);
		return 1;
	case 2: /* left out */
		splice(out, s, at, n, "");
		return 0;
	case 3: /* once more, elsewhere */
		line = pm_xcalloc(n + 1, 1);
		memcpy(line, s + at, n);
		to = any_statement(s, r);
		splice(out, s, to, 0, line);
		free(line);
		return 0;
	case 4:
		change_number(out, s, at, r);
		return 0;
	case 5:
		change_space(out, s, r);
		return 0;
	case 6: /* cut off */
		splice(out, s, at, strlen(s + at), "");
		return 0;
	default: /* any byte */
		splice(out, s, at, 1, (char[2]){ (char)pm_rng_range(r, 1, 255), 0 });
		return 0;
	}
}

/* Bytes of the parameter of that name by its declaration; 0 when there is none. */
static long declared(const char *s, const char *name)
{
	for (const char *p = strstr(s, ".param ."); p; p = strstr(p + 1, ".param .")) {
		size_t n = strcspn(p, ",)\n");
		const char *at;
		char text[512];
		char *array;
		long bits;

		snprintf(text, sizeof text, "%.*s", (int)(n < 511 ? n : 511), p);
		array = strchr(text, '[');
		if (array)
			*array = 0;
		at = strrchr(text, ' ');
		if (!at || strcmp(at + 1, name))
			continue;
		bits = strtol(p + 9, NULL, 10); /* .param .u64 */
		return array ? strtol(array + 1, NULL, 10) : bits / 8;
	}
	return 0;
}

/* Every load of a parameter lies in one that is declared. */
static int parameters_are_kept(const char *s)
{
	for (const char *p = strstr(s, "\tld.param."); p; p = strstr(p + 1, "\tld.param.")) {
		const char *open = strchr(p, '['), *end = strchr(p, '\n');
		char name[NAME + 1];
		long off = 0;
		size_t n;

		if (!open || (end && open > end))
			return 0;
		n = strcspn(open + 1, "+]\n");
		snprintf(name, sizeof name, "%.*s", (int)(n < NAME ? n : NAME), open + 1);
		if (open[1 + n] == '+')
			off = strtol(open + 2 + n, NULL, 0);
		if (off < 0 || off >= declared(s, name))
			return 0;
	}
	return 1;
}

static void judge(const char *name, const char *s, size_t len, int refused, int *n_accepted)
{
	PmStr problems = PM_STR_INIT;
	char *copy = malloc(len ? len : 1); /* without a terminator */
	int n;

	assert_non_null(copy);
	memcpy(copy, s, len);
	n = pm_ptx_gate(copy, len, NULL, 0, &problems);
	free(copy);
	if ((n > 0) != (problems.len > 0))
		fail_msg("%s: %d problems and the text '%s'", name, n, problems.s ? problems.s : "");
	pm_str_release(&problems);
	if (n)
		return;
	++*n_accepted;
	if (refused)
		fail_msg("%s: accepted with what no kernel may have:\n%s", name, s);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strstr(s, words[i]))
			fail_msg("%s: accepted with '%s':\n%s", name, words[i], s);
	if (!parameters_are_kept(s))
		fail_msg("%s: accepted, and it reads beside its parameters:\n%s", name, s);
}

static void mutants_of(const char *name, const char *ptx, int *n_accepted)
{
	PmStr out = PM_STR_INIT, next = PM_STR_INIT;
	PmRng r;

	pm_rng_init_named(&r, 1, name);
	for (int i = 0; i < MUTANTS; i++) {
		int changes = (int)pm_rng_range(&r, 1, 3), refused = 0;

		pm_str_clear(&out);
		pm_str_add(&out, ptx);
		for (int k = 0; k < changes; k++) {
			/* Only the last change is still there for sure. */
			refused = change(&next, out.s, &r);
			pm_str_clear(&out);
			pm_str_addn(&out, next.s, next.len);
		}
		judge(name, out.s, out.len, refused, n_accepted);
	}
	pm_str_release(&out);
	pm_str_release(&next);
}

static void real_ptx_changed(void **state)
{
	int accepted = 0, used = 0;

	(void)state;
	for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
		PmStr source = PM_STR_INIT, ptx = PM_STR_INIT, problems = PM_STR_INIT;
		char path[64];
		PmErr err;
		PmStatus st;

		pm_err_init(&err);
		snprintf(path, sizeof path, "tests/kernels/%s.cu", kernels[i].name);
		assert_int_equal(pm_read_file(path, 1 << 20, &source, &err), PM_OK);
		st = pm_nvrtc_ptx(&(PmSource){ kernels[i].name, source.s, kernels[i].type }, CC, &ptx, &err);
		if (st == PM_E_ENV)
			pm_test_skip("no NVRTC: %s", err.text);
		if (st || pm_ptx_gate(ptx.s, ptx.len, NULL, 0, &problems))
			fail_msg("%s: %.400s", kernels[i].name, st ? err.text : problems.s);
		mutants_of(kernels[i].name, ptx.s, &accepted);
		used++;
		pm_str_release(&source);
		pm_str_release(&ptx);
		pm_str_release(&problems);
	}
	print_message("# %d mutants of %d kernels: %d accepted\n", used * MUTANTS, used, accepted);
	assert_true(accepted > 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(real_ptx_changed) };

	return cmocka_run_group_tests_name("ptx_mutants", tests, NULL, NULL);
}
