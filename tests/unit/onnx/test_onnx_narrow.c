/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_narrow.c - tensors of 8, 6, 4 and 2 bits in ONNX files: read from messages that the package onnx
 * wrote (tests/golden/narrow/tensors.txt), in both fields that may hold them, and written so that they are
 * read again. */
#include "ir/core/element.h"
#include "ir/core/onnx_dtype.h"
#include "ir/onnx/onnx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 64 };

static size_t from_hex(const char *hex, unsigned char *to)
{
	size_t n = strlen(hex) / 2;

	for (size_t i = 0; i < n; i++) {
		char two[3] = { hex[2 * i], hex[2 * i + 1], 0 };

		to[i] = (unsigned char)strtoul(two, NULL, 16);
	}
	return n;
}

/* Integers stand in memory with their sign in the upper bits. */
static unsigned char element(int dtype, unsigned bits)
{
	unsigned char byte = (unsigned char)bits;

	if (!pm_dtype_is_float(dtype))
		pm_int_store(dtype, &byte, (int64_t)bits);
	return byte;
}

static void check(const char *name, const unsigned char *message, size_t n, const unsigned char *want,
		  int count)
{
	PmType type, again_type;
	PmBlob *blob = NULL, *again = NULL;
	PmStr out = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	if (pm_onnx_tensor_read(message, n, NULL, 0, &type, &blob, &err))
		fail_msg("%s: %s", name, err.text);
	assert_string_equal(pm_dtype_name(type.dtype), name);
	assert_int_equal(blob->size, count);
	assert_memory_equal(blob->data, want, (size_t)count);
	assert_int_equal(pm_onnx_tensor_write("t", &type, blob, &out, &err), PM_OK);
	assert_int_equal(pm_onnx_tensor_read(out.s, out.len, NULL, 0, &again_type, &again, &err), PM_OK);
	assert_true(pm_type_equal(&type, &again_type));
	assert_int_equal(again->size, count);
	assert_memory_equal(again->data, want, (size_t)count);
	pm_blob_unref(blob);
	pm_blob_unref(again);
	pm_str_release(&out);
}

static void messages_of_others_are_read(void **state)
{
	static const char path[] = "tests/golden/narrow/tensors.txt";
	FILE *f = fopen(path, "r");
	char name[32], hex[256];
	int count, lines = 0;

	(void)state;
	if (!f)
		fail_msg("%s is missing; tools/gen/narrow_golden.py makes it", path);
	for (; fscanf(f, "%31s %d %255s", name, &count, hex) == 3; lines++) {
		unsigned char message[128], want[MOST];
		int dtype = pm_dtype_from_name(name);
		unsigned bits;

		assert_true(count <= MOST && dtype >= 0);
		for (int i = 0; i < count; i++) {
			assert_int_equal(fscanf(f, "%x", &bits), 1);
			want[i] = element(dtype, bits);
		}
		check(name, message, from_hex(hex, message), want, count);
	}
	fclose(f);
	assert_true(lines > 150);
}

/* A tensor of three int4 takes two bytes, four float6e2m3 three, in the file. */
static void the_file_has_no_more_bytes_than_it_needs(void **state)
{
	static const struct {
		PmDType dtype;
		int64_t count;
		size_t bytes;
	} rows[] = { { PM_I4, 3, 2 },     { PM_U4, 4, 2 },     { PM_I2, 5, 2 },     { PM_U2, 4, 1 },
		     { PM_F6E2M3, 4, 3 }, { PM_F6E3M2, 5, 4 }, { PM_F4E2M1, 1, 1 }, { PM_F8E4M3, 3, 3 } };

	(void)state;
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
		PmType none = pm_type(rows[k].dtype, 1, &(int64_t){ 0 });
		PmType type = pm_type(rows[k].dtype, 1, &rows[k].count);
		unsigned char zeros[8] = { 0 };
		PmBlob *empty = pm_blob_copy(zeros, 0), *blob = pm_blob_copy(zeros, (size_t)rows[k].count);
		PmStr a = PM_STR_INIT, b = PM_STR_INIT;
		size_t least;

		assert_int_equal(pm_onnx_tensor_write("t", &none, empty, &a, NULL), PM_OK);
		assert_int_equal(pm_onnx_tensor_write("t", &type, blob, &b, NULL), PM_OK);
		least = b.len - a.len;
		/* The empty tensor may have no field for elements at all: its tag and length. */
		assert_true(least == rows[k].bytes || least == rows[k].bytes + 2);
		pm_blob_unref(empty);
		pm_blob_unref(blob);
		pm_str_release(&a);
		pm_str_release(&b);
	}
}

/* A message of `want` int4 elements whose raw_data has `bytes` bytes. */
static size_t raw_int4(unsigned char *to, unsigned char count, unsigned char bytes)
{
	const unsigned char head[] = { 0x08, count, 0x10, 22, 0x4a, bytes };

	memcpy(to, head, sizeof head);
	memset(to + sizeof head, 0x21, bytes);
	return sizeof head + bytes;
}

static void a_wrong_number_of_bytes_is_refused(void **state)
{
	static const unsigned char wrong[][2] = { { 3, 1 }, { 3, 3 }, { 4, 3 }, { 4, 4 }, { 1, 0 } };
	unsigned char message[64];
	PmBlob *blob = NULL;
	PmType type;
	PmErr err;

	(void)state;
	assert_int_equal(pm_onnx_tensor_read(message, raw_int4(message, 3, 2), NULL, 0, &type, &blob, NULL),
			 PM_OK);
	pm_blob_unref(blob);
	for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
		size_t n = raw_int4(message, wrong[k][0], wrong[k][1]);

		pm_err_init(&err);
		assert_int_equal(pm_onnx_tensor_read(message, n, NULL, 0, &type, &blob, &err), PM_E_INVALID);
		assert_non_null(strstr(err.text, "is int4["));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_of_others_are_read),
		cmocka_unit_test(the_file_has_no_more_bytes_than_it_needs),
		cmocka_unit_test(a_wrong_number_of_bytes_is_refused),
	};

	return cmocka_run_group_tests_name("onnx_narrow", tests, NULL, NULL);
}
