/* SPDX-License-Identifier: Apache-2.0 */
/* test_sass_rows.c - the instructions of all that CUDA C offers are known to the cubin gate, and no changed
 * instruction passes it that a second reader refuses.
 *
 * With PASSMITH_CUBINS=FOLDER it judges the cubins of that folder instead, a line for each
 * (tools/judge/sass_list.py). */
#include "base/core/rng.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"
#include "integrity/cubin/cubin_gate.h"
#include "tests/lib/device/cubin_edit.h"
#include "tests/lib/device/sass_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N_ARCHS = 4, N_FILES = 4, CHANGES = 6000 };

static const int archs[N_ARCHS] = { 80, 90, 86, 89 };
static const char *const files[N_FILES] = { "tests/sass/scalar.cu", "tests/sass/block.cu",
					    "tests/sass/matrix.cu", "tests/sass/cluster.cu" };

static int judge(const PmStr *cubin, PmStr *problems)
{
	pm_str_clear(problems);
	return pm_cubin_gate(cubin->s, cubin->len, NULL, 0, NULL, 0, NULL, problems);
}

static PmStr compiled(const char *file, int arch)
{
	PmStr source = PM_STR_INIT, cubin;
	PmErr err;

	pm_err_init(&err);
	if (pm_read_file(file, 1 << 20, &source, &err))
		fail_msg("%s", err.text);
	cubin = pm_cubin_make(source.s, arch);
	pm_str_release(&source);
	return cubin;
}

static void what_cuda_offers_is_known(void **state)
{
	PmStr problems = PM_STR_INIT;

	(void)state;
	for (int a = 0; a < N_ARCHS; a++)
		for (int i = 0; i < N_FILES; i++) {
			PmStr cubin = compiled(files[i], archs[a]);
			double t0 = pm_now();

			if (judge(&cubin, &problems))
				fail_msg("sm_%d %s: %s", archs[a], files[i], problems.s);
			if (archs[a] == 90)
				print_message("# %s: %zu bytes in %.2f ms\n", files[i], cubin.len,
					      (pm_now() - t0) * 1e3);
			if (pm_sass_check(cubin.s, cubin.len))
				fail_msg("sm_%d %s: the second reader: %s", archs[a], files[i],
					 pm_sass_check(cubin.s, cubin.len));
			pm_str_release(&cubin);
		}
	pm_str_release(&problems);
}

/* One bit, an opcode, a field of addresses, or the whole word of another place. */
static void change(PmRng *rng, uint8_t *code, size_t size, size_t at)
{
	uint8_t *p = code + at;

	switch (pm_rng_range(rng, 0, 5)) {
	case 0:
		p[pm_rng_range(rng, 0, 15)] ^= (uint8_t)(1 << pm_rng_range(rng, 0, 7));
		break;
	case 1:
		pm_cubin_put(p, 0, 12, pm_rng_u64(rng));
		break;
	case 2:
		pm_cubin_put(p, 38, 21, pm_rng_u64(rng));
		break;
	case 3:
		pm_cubin_put(p, 24, 16, pm_rng_u64(rng));
		break;
	case 4:
		pm_cubin_put(p, 72, 20, pm_rng_u64(rng));
		break;
	default:
		memmove(p, code + (size_t)pm_rng_range(rng, 0, (int64_t)(size / 16) - 1) * 16, 16);
	}
}

/* Of each section of code in turn. */
static Elf64_Shdr *some_code(PmStr *cubin, PmRng *rng)
{
	Elf64_Ehdr *h = (Elf64_Ehdr *)(void *)cubin->s;
	Elf64_Shdr *s = (Elf64_Shdr *)(void *)(cubin->s + h->e_shoff);

	for (;;) {
		Elf64_Shdr *one = &s[pm_rng_range(rng, 1, h->e_shnum - 1)];

		if (!strncmp(cubin->s + s[h->e_shstrndx].sh_offset + one->sh_name, ".text.", 6))
			return one;
	}
}

static void no_changed_instruction_is_accepted_wrongly(void **state)
{
	PmStr problems = PM_STR_INIT;
	size_t accepted = 0, wrong = 0;
	PmRng rng;

	(void)state;
	pm_rng_init_named(&rng, 16, "sass");
	for (int a = 0; a < 2; a++)
		for (int i = 0; i < 2; i++) {
			PmStr cubin = compiled(files[1 + i], archs[a]);

			for (int n = 0; n < CHANGES / 4; n++) {
				Elf64_Shdr *s = some_code(&cubin, &rng);
				uint8_t *code = (uint8_t *)cubin.s + s->sh_offset, was[16];
				const char *why;
				size_t at = (size_t)pm_rng_range(&rng, 0, (int64_t)(s->sh_size / 16) - 1) *
					    16;

				memcpy(was, code + at, 16);
				change(&rng, code, s->sh_size, at);
				why = pm_sass_check(cubin.s, cubin.len);
				wrong += why != NULL;
				if (!judge(&cubin, &problems)) {
					accepted++;
					if (why)
						fail_msg("sm_%d %s, change %d at 0x%zx: %s", archs[a],
							 files[1 + i], n, at, why);
				}
				memcpy(code + at, was, 16);
			}
			pm_str_release(&cubin);
		}
	print_message("# %d changes: %zu accepted, %zu forbidden by the second reader\n", CHANGES, accepted,
		      wrong);
	/* It would prove nothing if one of the two saw nothing. */
	assert_in_range(accepted, CHANGES / 10, CHANGES * 9 / 10);
	assert_in_range(wrong, CHANGES / 100, CHANGES);
	pm_str_release(&problems);
}

static int judge_folder(const char *folder)
{
	PmStr path = PM_STR_INIT, cubin = PM_STR_INIT, problems = PM_STR_INIT;
	PmNames names = { 0 };

	if (pm_list_dir(folder, &names, NULL))
		return 1;
	for (size_t i = 0; i < names.n; i++) {
		pm_str_clear(&path);
		pm_str_clear(&cubin);
		pm_path_join(folder, names.v[i], &path);
		if (!pm_str_ends(names.v[i], ".cubin") ||
		    pm_read_file(path.s, PM_CUBIN_MAX_BYTES, &cubin, NULL))
			continue;
		if (judge(&cubin, &problems))
			printf("refused %s %.*s\n", names.v[i], (int)strcspn(problems.s, "\n"), problems.s);
		else
			printf("accepted %s\n", names.v[i]);
	}
	pm_names_release(&names);
	pm_str_release(&path);
	pm_str_release(&cubin);
	pm_str_release(&problems);
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_cuda_offers_is_known),
		cmocka_unit_test(no_changed_instruction_is_accepted_wrongly),
	};

	if (getenv("PASSMITH_CUBINS"))
		return judge_folder(getenv("PASSMITH_CUBINS"));
	return cmocka_run_group_tests_name("sass_rows", tests, NULL, NULL);
}
