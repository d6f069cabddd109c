/* SPDX-License-Identifier: Apache-2.0 */
/* test_mend.c - is what was written beside a buffer found and gone before the next call, whoever wrote it? */
#include "kernels/guard.cu.h"
#include "runtime/device/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

static const char kept[] =
	"extern \"C\" __global__ void keep(long long *a, const float *b) { a[0] = (long long)b; }\n"
	"extern \"C\" __global__ void use(const long long *a, long long at) { ((float *)a[0])[at] = 42.f; "
	"}\n";

static PmDevice *emu(const PmSource *s, PmModule *m)
{
	PmDevice *d = NULL;
	PmErr err;

	pm_err_init(&err);
	if (pm_device_open("emu", &d, &err) || d->ops->load(d, s, 1, m, &err))
		fail_msg("%s", err.text);
	return d;
}

static PmDevArg buffer(PmDevice *d, int64_t bytes)
{
	PmDevArg a = { .kind = PM_DARG_BUF };

	assert_int_equal(d->ops->alloc(d, bytes, PM_BUF_SCRATCH, &a.buf, NULL), PM_OK);
	return a;
}

/* A launch that was never given the buffer writes behind it, through an address that another one kept. */
static void what_a_kept_address_wrote_is_found(void **state)
{
	PmSource s = { "kept", kept, PM_F32 };
	PmModule m;
	PmDevice *d = emu(&s, &m);
	PmDevArg a = buffer(d, 64), b = buffer(d, 100), args[2] = { a, b };
	PmDevLaunch keep = { m, "keep", { 1, 1, 1 }, { 1, 1, 1 }, 0, args, 2 };
	PmDevArg given[2] = { a, { .kind = PM_DARG_I64, .i = 200 } };
	PmDevLaunch use = { m, "use", { 1, 1, 1 }, { 1, 1, 1 }, 0, given, 2 };
	PmErr err;

	(void)state;
	pm_err_init(&err);
	args[1].readonly = given[0].readonly = 1;
	assert_int_equal(d->ops->launch(d, &keep, &err), PM_OK);
	assert_int_equal(d->ops->mend(d, &err), PM_OK);
	assert_int_equal(d->ops->fill(d, b.buf, 0, 100, 0, &err), PM_OK); /* writable again */
	assert_int_equal(d->ops->launch(d, &use, &err), PM_OK);
	assert_int_equal(d->ops->mend(d, &err), PM_E_OOB);
	assert_non_null(strstr(err.text, "past the end of buffer 2 (100 bytes) at byte 800"));
	d->ops->close(d);
}

/* The kernel that a GPU runs, on the emulated device: zones of any alignment and size. */
static void the_gpus_kernel_mends(void **state)
{
	enum { N = 4096, ZONES = 3 };
	static const uint64_t at[ZONES] = { 3, 1000, 2001 }, size[ZONES] = { 5, 777, 2000 };
	PmSource s = { "guard.cu", guard_cu, PM_F32 };
	PmModule m;
	PmDevice *d = emu(&s, &m);
	PmDevArg area = buffer(d, N), table = buffer(d, ZONES * 16), first = buffer(d, 8), args[2];
	PmDevLaunch l = { m, "mend", { ZONES, 4, 1 }, { 64, 1, 1 }, 0, args, 2 };
	PmModule km;
	PmSource ks = { "kept", kept, PM_F32 };
	PmDevArg ask[2] = { table, area };
	PmDevLaunch keep = { { 0 }, "keep", { 1, 1, 1 }, { 1, 1, 1 }, 0, ask, 2 };
	unsigned char bytes[N], want[N];
	uint64_t rows[2 * ZONES], base, found = UINT64_MAX;

	(void)state;
	assert_int_equal(d->ops->load(d, &ks, 1, &km, NULL), PM_OK);
	keep.module = km;
	ask[1].readonly = 1;
	assert_int_equal(d->ops->launch(d, &keep, NULL), PM_OK);
	assert_int_equal(d->ops->download(d, table.buf, 0, &base, 8, NULL), PM_OK);
	for (int i = 0; i < N; i++)
		want[i] = bytes[i] = (base + (uint64_t)i) & 1 ? 0xff : 0xc5;
	for (int z = 0; z < ZONES; z++) {
		rows[2 * z] = base + at[z];
		rows[2 * z + 1] = size[z];
	}
	bytes[0] = want[0] = 1; /* in no zone */
	bytes[1007] = bytes[1776] = bytes[2001] = bytes[4000] = 7;
	assert_int_equal(d->ops->upload(d, area.buf, 0, bytes, N, NULL), PM_OK);
	assert_int_equal(d->ops->upload(d, table.buf, 0, rows, sizeof rows, NULL), PM_OK);
	assert_int_equal(d->ops->upload(d, first.buf, 0, &found, 8, NULL), PM_OK);
	args[0] = table;
	args[1] = first;
	assert_int_equal(d->ops->fill(d, area.buf, 0, 4, 0, NULL), PM_OK); /* writable again */
	assert_int_equal(d->ops->upload(d, area.buf, 0, bytes, N, NULL), PM_OK);
	assert_int_equal(d->ops->launch(d, &l, NULL), PM_OK);
	assert_int_equal(d->ops->download(d, area.buf, 0, bytes, N, NULL), PM_OK);
	assert_memory_equal(bytes, want, N);
	assert_int_equal(d->ops->download(d, first.buf, 0, &found, 8, NULL), PM_OK);
	assert_int_equal(found, (uint64_t)1 << 32 | 7);
	d->ops->close(d);
}

/* Of a secret and its opposite one has every buffer where the other has it not; without one all are alike. */
static void a_layout_and_its_opposite(void **state)
{
	enum { N = 40 };
	PmSource s = { "kept", kept, PM_F32 };
	PmModule m;
	PmDevice *d = emu(&s, &m);
	PmDevArg to = buffer(d, 8), args[2] = { to };
	PmDevLaunch keep = { m, "keep", { 1, 1, 1 }, { 1, 1, 1 }, 0, args, 2 };
	int begins[2][N], sum = 0;

	(void)state;
	for (int run = 0; run < 2; run++) {
		d->ops->layout(d, 0x123456789abcdefeu ^ (uint64_t)run);
		for (int i = 0; i < N; i++) {
			uint64_t address;

			args[1] = buffer(d, 400);
			args[1].readonly = 1;
			assert_int_equal(d->ops->launch(d, &keep, NULL), PM_OK);
			assert_int_equal(d->ops->download(d, to.buf, 0, &address, 8, NULL), PM_OK);
			begins[run][i] = address % 4096 == 0;
			assert_true(begins[run][i] || (address + 400) % 4096 == 0);
			sum += begins[run][i];
		}
	}
	for (int i = 0; i < N; i++)
		assert_int_equal(begins[0][i], !begins[1][i]);
	assert_int_equal(sum, N);
	assert_true(memchr(begins[0], 1, sizeof begins[0]) && memchr(begins[1], 1, sizeof begins[1]));
	d->ops->close(d);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_kept_address_wrote_is_found),
		cmocka_unit_test(the_gpus_kernel_mends),
		cmocka_unit_test(a_layout_and_its_opposite),
	};

	return cmocka_run_group_tests_name("mend", tests, NULL, NULL);
}
