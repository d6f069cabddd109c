/* SPDX-License-Identifier: Apache-2.0 */
/* test_package.c - packages that are cut, changed or foreign are refused with a sentence; SHA-256 is that of
 * others.
 */
#include "base/core/hash.h"
#include "base/sys/io.h"
#include "rt/package.h"
#include "rt/passmith_rt.h"
#include "rt/sha256.h"
#include "tests/lib/device/package_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static PmStr good = PM_STR_INIT;

/* Reads bytes as a package; they are copied to memory of exactly that size, so that a sanitizer sees what
 * lies outside. */
static PmStatus read_bytes(const char *p, size_t n, int digests, PmErr *err)
{
	void *own = malloc(n ? n : 1);
	PmRtPackage out;
	PmStatus st;

	memcpy(own, p, n);
	pm_err_init(err);
	st = pm_package_read(own, n, "t.pmz", digests, &out, err);
	free(own);
	return st;
}

static void is_refused(PmStatus st, const PmErr *err, const char *why, size_t at)
{
	size_t n = strlen(err->text);

	if (st != PM_E_INVALID || !n || err->text[n - 1] != '.' || strncmp(err->text, "t.pmz", 5) != 0)
		fail_msg("%s, %zu: status %d, '%s'", why, at, (int)st, err->text);
}

static int make(void **state)
{
	(void)state;
	test_package_bytes(&good);
	return 0;
}

static int drop(void **state)
{
	(void)state;
	pm_str_release(&good);
	return 0;
}

static void a_whole_package_is_read(void **state)
{
	PmRtPackage p;
	PmErr err;

	(void)state;
	if (pm_package_read(good.s, good.len, "t.pmz", 1, &p, &err) ||
	    pm_package_check_weights(&p, "t.pmz", &err))
		fail_msg("%s", err.text);
	assert_int_equal(p.n_value, 2);
	assert_int_equal(p.n_shape, 2);
	assert_int_equal(p.n_step, 4);
	assert_string_equal(pm_package_text(&p, p.value[1].name), "y");
	assert_int_equal(pm_package_value_bytes(&p, 1, 0), 128);
}

static void every_cut_is_refused(void **state)
{
	PmErr err;

	(void)state;
	for (int i = 0; i < PM_RTF_N_SECTIONS; i++) {
		PmRtfSection s = test_package_section(&good, i);
		size_t ends[] = { s.offset - 1, s.offset, s.offset + 1, s.offset + s.bytes / 2,
				  s.offset + s.bytes - 1 };

		for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
			is_refused(read_bytes(good.s, ends[k], 1, &err), &err, "cut", ends[k]);
	}
	for (size_t n = 0; n < sizeof(PmRtfHeader); n++)
		is_refused(read_bytes(good.s, n, 0, &err), &err, "cut header", n);
}

/* A cut file whose header was made to fit it: sections then lie outside. */
static void cuts_that_look_whole_are_refused(void **state)
{
	PmErr err;

	(void)state;
	for (int i = 0; i < PM_RTF_N_SECTIONS; i++) {
		PmRtfSection s = test_package_section(&good, i);
		PmStr cut = PM_STR_INIT;
		uint64_t n = s.offset + s.bytes / 2;

		pm_str_addn(&cut, good.s, n);
		memcpy(cut.s + offsetof(PmRtfHeader, file_bytes), &n, sizeof n);
		test_package_seal(&cut);
		is_refused(read_bytes(cut.s, cut.len, 1, &err), &err, "cut and sealed", n);
		assert_non_null(strstr(err.text, "lies outside of the file"));
		pm_str_release(&cut);
	}
}

/* Every byte of what is checked at open; and of the weights when that is asked. */
static void every_changed_byte_is_found(void **state)
{
	PmRtfSection w = test_package_section(&good, PM_RTF_WEIGHTS);
	char *own = malloc(good.len);
	PmErr err;

	(void)state;
	memcpy(own, good.s, good.len);
	for (int i = 0; i < PM_RTF_WEIGHTS; i++) {
		PmRtfSection s = test_package_section(&good, i);

		for (uint64_t at = s.offset; at < s.offset + s.bytes; at += 1 + s.bytes / 97) {
			own[at] ^= 0x10;
			is_refused(read_bytes(own, good.len, 1, &err), &err, "changed", at);
			own[at] ^= 0x10;
		}
	}
	for (size_t at = 0; at < sizeof(PmRtfHeader); at++) {
		own[at] ^= 0x10;
		is_refused(read_bytes(own, good.len, 1, &err), &err, "changed header", at);
		own[at] ^= 0x10;
	}
	for (uint64_t at = w.offset; at < w.offset + w.bytes; at++) {
		PmRtPackage p;

		own[at] ^= 0x10;
		assert_int_equal(pm_package_read(own, good.len, "t.pmz", 1, &p, &err), PM_OK);
		is_refused(pm_package_check_weights(&p, "t.pmz", &err), &err, "changed weights", at);
		own[at] ^= 0x10;
	}
	free(own);
}

/* Numbers that name places: the value of a field of record 0 (or another), and what the sentence says. */
typedef struct Wrong {
	int section;
	size_t record, offset, size;
	uint64_t value;
	const char *says;
} Wrong;
#define W(kind, i, field, v, says)                                                                           \
	{                                                                                                    \
		PM_RTF_##kind##S, i, offsetof(REC_##kind, field), sizeof(((REC_##kind *)0)->field),          \
			(uint64_t)(v), says                                                                  \
	}
#define REC_VALUE  PmRtfValue
#define REC_SHAPE  PmRtfShape
#define REC_EXTENT PmRtfExtent
#define REC_BUFFER PmRtfBuffer
#define REC_STEP   PmRtfStep
#define REC_ARG    PmRtfArg
#define REC_CONST  PmRtfConst
#define REC_FILE   PmRtfFile
#define REC_UNIT   PmRtfUnit
#define REC_IMAGE  PmRtfImage
#define REC_CALL   PmRtfCall
#define REC_CHOICE PmRtfChoice
static const Wrong wrong[] = {
	W(VALUE, 0, name, 1000, "VALUES has no known type"),
	W(VALUE, 0, type, 17, "VALUES has no known type"),
	W(VALUE, 0, type, 8, "VALUES has no known type"),
	W(VALUE, 1, rank, 9, "VALUES has no known type"),
	W(VALUE, 0, dim[0], -2, "VALUES has a size that is none"),
	W(VALUE, 0, symbol[0], 1000, "VALUES has a size that is none"),
	W(VALUE, 0, dim[1], 9, "EXTENTS is not a size of its value"),
	W(EXTENT, 0, dim[0], -1, "EXTENTS has a size that is none"),
	W(EXTENT, 0, dim[0], INT64_MAX, "EXTENTS has a size that is none"),
	W(EXTENT, 1, dim[0], 2, "BUFFERS is not as large as its output"),
	W(SHAPE, 0, first_buffer, 1, "SHAPES has buffers or steps that are not there"),
	W(SHAPE, 1, n_buffers, 5, "SHAPES has buffers or steps that are not there"),
	W(SHAPE, 1, n_steps, 3, "SHAPES has buffers or steps that are not there"),
	/* Nothing would have looked at the steps behind those of the last shape. */
	W(SHAPE, 1, n_steps, 1, "SHAPES leaves out buffers, steps or arguments"),
	W(SHAPE, 1, n_steps, 0, "SHAPES leaves out buffers, steps or arguments"),
	W(SHAPE, 0, arena, 0, "BUFFERS lies outside of the arena"),
	W(SHAPE, 0, arena, UINT64_MAX, "SHAPES has buffers or steps that are not there"),
	W(BUFFER, 0, place, 4, "BUFFERS lies nowhere"),
	W(BUFFER, 0, index, 1, "BUFFERS is not as large as its input"),
	W(BUFFER, 0, bytes, 64, "BUFFERS is not as large as its input"),
	W(BUFFER, 3, index, 1, "BUFFERS is not as large as its output"),
	W(BUFFER, 1, index, 2, "BUFFERS is not as large as its constant"),
	W(BUFFER, 1, bytes, 255, "BUFFERS is not as large as its constant"),
	W(BUFFER, 2, offset, 1, "BUFFERS lies outside of the arena"),
	W(BUFFER, 2, offset, 512, "BUFFERS lies outside of the arena"),
	W(BUFFER, 2, bytes, UINT64_MAX, "BUFFERS lies outside of the arena"),
	W(STEP, 0, label, 1000, "STEPS launches no kernel"),
	W(STEP, 0, entry, 1000, "STEPS launches no kernel"),
	W(STEP, 0, unit, 1, "STEPS launches no kernel"),
	W(STEP, 0, unit, 2, "STEPS launches no kernel"),
	W(STEP, 0, call, 2, "STEPS calls a library with other arguments"),
	W(STEP, 1, call, 0, "STEPS calls a library with other arguments"),
	W(STEP, 0, first_arg, 1, "STEPS has arguments that are not there"),
	W(STEP, 3, n_args, 5, "STEPS has arguments that are not there"),
	W(STEP, 3, n_args, UINT32_MAX, "STEPS has arguments that are not there"),
	W(STEP, 0, grid[0], 0, "STEPS has a grid that no device takes"),
	W(STEP, 0, grid[1], 65536, "STEPS has a grid that no device takes"),
	W(STEP, 0, block[0], 1025, "STEPS has a block that no device takes"),
	W(STEP, 0, block[1], 64, "STEPS has a block that no device takes"),
	W(STEP, 0, block[2], UINT32_MAX, "STEPS has a block that no device takes"),
	W(STEP, 0, smem, UINT32_MAX, "STEPS has a block that no device takes"),
	W(ARG, 3, kind, PM_RTF_N_KINDS, "ARGS is of no known kind"),
	W(ARG, 3, buffer, 4, "ARGS lies outside of its buffer"),
	W(ARG, 3, v.offset, 33, "ARGS lies outside of its buffer"),
	W(CONST, 0, name, 1000, "CONSTS lies outside of the weights"),
	W(CONST, 0, offset, 128, "CONSTS lies outside of the weights"),
	W(CONST, 0, bytes, 257, "CONSTS lies outside of the weights"),
	W(CONST, 0, offset, UINT64_MAX - 255, "CONSTS lies outside of the weights"),
	W(CONST, 1, file, 1, "CONSTS lies outside of the weights"),
	W(CONST, 1, offset, 1000, "CONSTS lies outside of the weights"),
	W(FILE, 0, path, 1000, "FILES names no file"),
	W(FILE, 0, bytes, UINT64_MAX, "FILES names no file"),
	W(UNIT, 0, label, 1000, "UNITS has no name or type"),
	W(UNIT, 0, type, 0, "UNITS has no name or type"),
	W(IMAGE, 0, unit, 2, "IMAGES lies outside of the code"),
	W(IMAGE, 0, form, PM_RTF_N_FORMS, "IMAGES lies outside of the code"),
	W(IMAGE, 0, offset, 256, "IMAGES lies outside of the code"),
	W(IMAGE, 0, offset, 1, "IMAGES lies outside of the code"),
	W(IMAGE, 0, bytes, 0, "IMAGES lies outside of the code"),
	W(IMAGE, 2, bytes, 65, "IMAGES lies outside of the code"),
	W(IMAGE, 2, bytes, UINT64_MAX, "IMAGES lies outside of the code"),
	W(CALL, 0, kind, 2, "CALLS is no call that libraries take"),
	W(CALL, 0, type, 7, "CALLS is no call that libraries take"),
	W(CALL, 0, align[0], 512, "CALLS is no call that libraries take"),
	W(CALL, 0, step[0], INT64_MIN, "CALLS is no call that libraries take"),
	W(CALL, 0, v[0], 0, "CALLS is no call that libraries take"),
	W(CALL, 0, v[10], 65, "CALLS is no call that libraries take"),
	W(CALL, 0, v[13], 3, "CALLS is no call that libraries take"),
	W(CALL, 1, v[0], 4, "CALLS is no call that libraries take"),
	W(CALL, 1, v[0], -1, "CALLS is no call that libraries take"),
	W(CALL, 1, v[4], 0, "CALLS is no call that libraries take"),
	W(CALL, 1, v[22], 0, "CALLS is no call that libraries take"),
	W(CALL, 1, v[28], 2, "CALLS is no call that libraries take"),
	W(CHOICE, 0, call, 2, "CHOICES is for no call"),
	W(CHOICE, 0, gpu, 1000, "CHOICES is for no call"),
};

/* Changed and sealed again: the digests are right, and the table is not. */
static void every_wrong_number_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		const Wrong *w = &wrong[i];
		PmRtfSection s = test_package_section(&good, w->section);
		PmStr own = PM_STR_INIT;
		PmErr err;

		pm_str_addn(&own, good.s, good.len);
		memcpy(own.s + s.offset + w->record * s.record + w->offset, &w->value, w->size);
		test_package_seal(&own);
		is_refused(read_bytes(own.s, own.len, 1, &err), &err, w->says, i);
		if (!strstr(err.text, w->says))
			fail_msg("number %zu: '%s' instead of '%s'", i, err.text, w->says);
		pm_str_release(&own);
	}
}

/* What is made once of weights that are not constant would be wrong in the next run. */
static void constant_weights_are_constants(void **state)
{
	PmRtfSection call = test_package_section(&good, PM_RTF_CALLS);
	PmRtfSection step = test_package_section(&good, PM_RTF_STEPS);
	PmRtfSection arg = test_package_section(&good, PM_RTF_ARGS);
	const int64_t is_constant = 1;
	const uint32_t convolution = 1, input = 0;
	PmStr own = PM_STR_INIT;
	PmErr err;

	(void)state;
	pm_str_addn(&own, good.s, good.len);
	memcpy(own.s + step.offset + offsetof(PmRtfStep, call), &convolution, sizeof convolution);
	memcpy(own.s + call.offset + call.record + offsetof(PmRtfCall, v) + 28 * sizeof(int64_t),
	       &is_constant, sizeof is_constant);
	test_package_seal(&own);
	if (read_bytes(own.s, own.len, 1, &err))
		fail_msg("%s", err.text);
	memcpy(own.s + arg.offset + 2 * arg.record + offsetof(PmRtfArg, buffer), &input, sizeof input);
	test_package_seal(&own);
	is_refused(read_bytes(own.s, own.len, 1, &err), &err, "constant", 0);
	assert_non_null(strstr(err.text, "calls a library with other arguments than it takes"));
	pm_str_release(&own);
}

/* The list of sections itself. */
static void wrong_sections_are_refused(void **state)
{
	(void)state;
	for (int i = 0; i < PM_RTF_N_SECTIONS; i++)
		for (int what = 0; what < 6; what++) {
			PmStr own = PM_STR_INIT;
			PmRtfHeader h;
			PmErr err;

			memcpy(&h, good.s, sizeof h);
			if (what == 0)
				h.section[i].kind ^= 1;
			else if (what == 1)
				h.section[i].record++;
			else if (what == 2)
				h.section[i].offset += 8; /* not aligned */
			else if (what == 3)
				h.section[i].offset = UINT64_MAX / 64 * 64;
			else if (what == 4)
				h.section[i].bytes = UINT64_MAX - 8;
			else
				h.section[i].offset = 0; /* in the header */
			pm_str_addn(&own, good.s, good.len);
			memcpy(own.s, &h, sizeof h);
			test_package_seal(&own);
			is_refused(read_bytes(own.s, own.len, 1, &err), &err, "section", (size_t)i);
			pm_str_release(&own);
		}
}

/* What is no package, by the public function. */
static void open_refuses(const char *name, const char *bytes, size_t n, int code, const char *says)
{
	char path[512];
	PmRtModel *m;
	PmRtError e;
	PmErr err;

	snprintf(path, sizeof path, "%s/%s", getenv("TMPDIR"), name);
	if (bytes && pm_write_file(path, bytes, n, &err))
		fail_msg("%s", err.text);
	assert_int_equal(pm_rt_open(path, "emu", &m, &e), code);
	assert_null(m);
	if (!strstr(e.text, says) || e.code != code)
		fail_msg("'%s' instead of '%s'", e.text, says);
	assert_int_equal(pm_rt_open(path, "emu", &m, NULL), code);
	unlink(path);
}

static void foreign_files_are_refused(void **state)
{
	PmStr other = PM_STR_INIT;
	uint32_t two = 2;
	char folder[512];
	PmRtModel *m;
	PmRtError e;

	(void)state;
	open_refuses("missing.pmz", NULL, 0, PM_RT_INPUT, "Cannot open");
	open_refuses("empty.pmz", "", 0, PM_RT_INPUT, "is no file, or empty");
	open_refuses("text.pmz", "no package at all", 17, PM_RT_INPUT, "is not a package of Passmith");
	open_refuses("cut.pmz", good.s, 500, PM_RT_INPUT, "ends after 500 bytes, within its header");
	open_refuses("half.pmz", good.s, good.len - 1, PM_RT_INPUT, "copy the package again");
	pm_str_addn(&other, good.s, good.len);
	memcpy(other.s + offsetof(PmRtfHeader, version), &two, sizeof two);
	test_package_seal(&other);
	open_refuses("later.pmz", other.s, other.len, PM_RT_INPUT,
		     "has version 2 of the format, and this library reads version 1");
	pm_str_release(&other);
	snprintf(folder, sizeof folder, "%s", getenv("TMPDIR"));
	assert_int_equal(pm_rt_open(folder, "emu", &m, &e), PM_RT_INPUT);
	/* Right, but the file of weights beside it is not there; or of another size. */
	open_refuses("alone.pmz", good.s, good.len, PM_RT_INPUT, "has its weights in");
	assert_int_equal(pm_rt_open("x", "tpu", &m, &e), PM_RT_ENV);
	assert_int_equal(pm_rt_open(NULL, NULL, &m, &e), PM_RT_USAGE);
}

static void sha256_is_that_of_others(void **state)
{
	unsigned char got[32];
	char text[300], hex[65], want[PM_SHA256_HEX];

	(void)state;
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = (char)(i * 7);
	/* By the processor's instructions, where it has them, and without. */
	for (size_t n = 0; n < 2 * sizeof text; n++) {
		PmSha256 s;

		(n % 2 ? pm_sha256_begin : pm_sha256_begin_plain)(&s);
		pm_sha256_add(&s, text, n / 2 / 3);
		pm_sha256_add(&s, text + n / 2 / 3, n / 2 - n / 2 / 3);
		pm_sha256_end(&s, got);
		for (int i = 0; i < 32; i++)
			snprintf(hex + 2 * (size_t)i, 3, "%02x", got[i]);
		pm_sha256_hex(text, n / 2, want);
		assert_string_equal(hex, want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_package_is_read),
		cmocka_unit_test(every_cut_is_refused),
		cmocka_unit_test(cuts_that_look_whole_are_refused),
		cmocka_unit_test(every_changed_byte_is_found),
		cmocka_unit_test(every_wrong_number_is_refused),
		cmocka_unit_test(constant_weights_are_constants),
		cmocka_unit_test(wrong_sections_are_refused),
		cmocka_unit_test(foreign_files_are_refused),
		cmocka_unit_test(sha256_is_that_of_others),
	};

	return cmocka_run_group_tests(tests, make, drop);
}
