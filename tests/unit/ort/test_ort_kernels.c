/* SPDX-License-Identifier: Apache-2.0 */
/* test_ort_kernels.c - files of kernels: what is written is read, and bytes that are not such a file are
 * refused. */
#include "ort/kernels.h"
#include "rt/sha256.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static PmOrtValue values[] = { { .type = 1, .rank = 2, .dim = { 3, 5 } },
			       { .type = 7, .rank = 0 },
			       { .type = 10, .rank = 3, .dim = { 0, 1, 2 } } };
static PmOrtArg args[] = { { PM_ORT_IN, 1, 0 },
			   { PM_ORT_OUT, 0, 0 },
			   { PM_ORT_SCRATCH, 1, 0 },
			   { PM_ORT_I64, 0, 0xfffffffffffffffdull },
			   { PM_ORT_F32, 0, 0x3f000000 } };
static PmOrtLaunch launches[] = {
	{ .entry = "one",
	  .grid = { 1, 2, 3 },
	  .block = { 32, 4, 1 },
	  .smem = 49152,
	  .n_args = 5,
	  .args = args },
	{ .entry = "two", .grid = { 9, 1, 1 }, .block = { 64, 1, 1 }, .n_args = 0, .args = args }
};
static PmOrtImage images[] = { { PM_ORT_EMU, 0, "object", 6 },
			       { PM_ORT_CUBIN, 90, "machine code", 12 },
			       { PM_ORT_PTX, 80, "ptx", 4 } };
static PmOrtKernel kernels[] = { { .name = "Kernel_1",
				   .label = "rule",
				   .n_in = 2,
				   .n_out = 1,
				   .n_scratch = 2,
				   .n_launches = 2,
				   .n_images = 3,
				   .in = values,
				   .out = &values[2],
				   .scratch = (uint64_t[]){ 16, 1 << 20 },
				   .launches = launches,
				   .images = (uint32_t[]){ 0, 1, 2 } },
				 { .name = "Kernel_2", .label = "empty" } };

static void write_all(PmStr *out)
{
	const PmOrtKernels k = { .n_images = 3, .n_kernels = 2, .image = images, .kernel = kernels };

	pm_ort_kernels_write(&k, out);
}

/* Reads; an error must be one sentence. */
static PmStatus read_all(const void *p, size_t n, PmArena *arena, PmOrtKernels *out, PmErr *err)
{
	/* Exactly as many bytes as are said, so that a read past them is found. */
	unsigned char *copy = malloc(n + !n);
	PmStatus st;

	assert_non_null(copy);
	memcpy(copy, p, n);
	pm_err_init(err);
	st = pm_ort_kernels_read(copy, n, "a.kernels", arena, out, err);
	if (st) {
		assert_int_equal(st, PM_E_INVALID);
		assert_int_equal(strncmp(err->text, "a.kernels cannot be used as a file of kernels: ", 47),
				 0);
		assert_int_equal(out->n_kernels, 0);
	}
	free(copy);
	return st;
}

static void what_is_written_is_read(void **state)
{
	PmArena *arena = pm_arena_new(0);
	PmStr bytes = PM_STR_INIT, again = PM_STR_INIT;
	const PmOrtKernel *k;
	PmOrtKernels out;

	(void)state;
	write_all(&bytes);
	assert_int_equal(pm_ort_kernels_read(bytes.s, bytes.len, "a.kernels", arena, &out, NULL), PM_OK);
	assert_int_equal(out.n_images, 3);
	assert_int_equal(out.n_kernels, 2);
	k = pm_ort_kernel_find(&out, "Kernel_1");
	assert_non_null(k);
	assert_string_equal(k->label, "rule");
	assert_int_equal(k->in[0].dim[1], 5);
	assert_int_equal(pm_ort_value_bytes(&k->in[0]), 60);
	assert_int_equal(pm_ort_value_bytes(&k->in[1]), 8);
	assert_int_equal(pm_ort_value_bytes(&k->out[0]), 0);
	assert_int_equal(k->scratch[1], 1 << 20);
	assert_string_equal(k->launches[1].entry, "two");
	assert_int_equal(k->launches[0].block[1], 4);
	assert_true(k->launches[0].args[3].bits == 0xfffffffffffffffdull);
	assert_memory_equal(out.image[k->images[1]].p, "machine code", 12);
	assert_ptr_equal(pm_ort_kernel_find(&out, "Kernel_2"), &out.kernel[1]);
	assert_null(pm_ort_kernel_find(&out, "Kernel_3"));
	pm_ort_kernels_write(&out, &again);
	assert_int_equal(again.len, bytes.len);
	assert_memory_equal(again.s, bytes.s, bytes.len);
	pm_str_release(&bytes);
	pm_str_release(&again);
	pm_arena_free(arena);
}

static void every_part_of_a_file_is_refused(void **state)
{
	PmStr bytes = PM_STR_INIT;
	PmErr err;

	(void)state;
	write_all(&bytes);
	for (size_t n = 0; n < bytes.len; n++) {
		PmArena *arena = pm_arena_new(0);
		PmOrtKernels out;

		assert_int_equal(read_all(bytes.s, n, arena, &out, &err), PM_E_INVALID);
		pm_arena_free(arena);
	}
	pm_str_release(&bytes);
}

static void every_changed_byte_is_found(void **state)
{
	PmStr bytes = PM_STR_INIT;
	PmErr err;

	(void)state;
	write_all(&bytes);
	for (size_t i = 0; i < bytes.len; i++) {
		PmArena *arena = pm_arena_new(0);
		PmOrtKernels out;

		bytes.s[i] ^= 0x10;
		assert_int_equal(read_all(bytes.s, bytes.len, arena, &out, &err), PM_E_INVALID);
		bytes.s[i] ^= 0x10;
		pm_arena_free(arena);
	}
	pm_str_release(&bytes);
}

static void sign(PmStr *bytes)
{
	unsigned char digest[PM_ORT_DIGEST];

	pm_sha256_of(bytes->s + PM_ORT_HEADER, bytes->len - PM_ORT_HEADER, digest);
	memcpy(bytes->s + PM_ORT_HEADER - PM_ORT_DIGEST, digest, sizeof digest);
}

/* A digest does not say that somebody wrote sense: each word of it is set to numbers that mean much. */
static void numbers_are_checked_where_the_digest_is_right(void **state)
{
	static const uint32_t numbers[] = { 0, 1, 2, 255, 256, 0x7fffffff, 0x80000000u, 0xffffffffu };
	size_t refused = 0, taken = 0;
	PmStr bytes = PM_STR_INIT;
	PmErr err;

	(void)state;
	write_all(&bytes);
	for (size_t at = PM_ORT_HEADER; at + 4 <= bytes.len; at++)
		for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
			PmArena *arena = pm_arena_new(0);
			PmOrtKernels out;
			char was[4];

			memcpy(was, bytes.s + at, 4);
			memcpy(bytes.s + at, &numbers[i], 4);
			sign(&bytes);
			if (read_all(bytes.s, bytes.len, arena, &out, &err))
				refused++;
			else
				taken++;
			memcpy(bytes.s + at, was, 4);
			pm_arena_free(arena);
		}
	assert_true(refused > 1000 && taken > 0);
	pm_str_release(&bytes);
}

static void refuses(const char *why)
{
	PmArena *arena = pm_arena_new(0);
	PmStr bytes = PM_STR_INIT;
	PmOrtKernels out;
	PmErr err;

	write_all(&bytes);
	assert_int_equal(read_all(bytes.s, bytes.len, arena, &out, &err), PM_E_INVALID);
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
	pm_str_release(&bytes);
	pm_arena_free(arena);
}

static void what_makes_no_sense_has_a_sentence(void **state)
{
	(void)state;
	values[0].type = 8;
	refuses("a tensor has a type or a size that no kernel has");
	values[0].type = 1;
	values[0].dim[0] = INT64_MAX;
	refuses("a tensor has a type or a size that no kernel has");
	values[0].dim[0] = -1;
	refuses("a tensor has a type or a size that no kernel has");
	values[0].dim[0] = 3;
	args[0].index = 2;
	refuses("an argument is a buffer that the kernel does not have");
	args[0].index = 1;
	args[2].kind = PM_ORT_N_ARGS;
	refuses("an argument is of an unknown kind");
	args[2].kind = PM_ORT_SCRATCH;
	kernels[0].images[1] = 3;
	refuses("a kernel names an image that is not there");
	kernels[0].images[1] = 1;
	images[2].n = 3;
	refuses("a text for GPUs has no end");
	images[2].n = 4;
	kernels[0].name = "Kernel_2";
	refuses("its kernels are not in the order of their names");
	kernels[0].name = "a b";
	refuses("a name has other characters than names have");
	kernels[0].name = "";
	refuses("a name is empty or has no end");
	kernels[0].name = "Kernel_1";
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(every_part_of_a_file_is_refused),
		cmocka_unit_test(every_changed_byte_is_found),
		cmocka_unit_test(numbers_are_checked_where_the_digest_is_right),
		cmocka_unit_test(what_makes_no_sense_has_a_sentence),
	};

	return cmocka_run_group_tests_name("ort_kernels", tests, NULL, NULL);
}
