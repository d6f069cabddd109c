/* SPDX-License-Identifier: Apache-2.0 */
/* emu.c - runs kernels of tests/kernels on the emulated device from a test case. */
#include "tests/lib/device/emu.h"

#include "base/sys/io.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void must(PmStatus rc, const PmErr *err)
{
	if (rc)
		fail_msg("%s: %s", pm_status_name(rc), err->text);
}

PmDevice *emu_open(void)
{
	PmDevice *dev = NULL;
	PmErr err;

	pm_err_init(&err);
	must(pm_device_open("emu", &dev, &err), &err);
	return dev;
}

PmModule emu_load(PmDevice *dev, const char *file, PmDType type)
{
	PmStr root = PM_STR_INIT, path = PM_STR_INIT, text = PM_STR_INIT;
	PmModule m = { 0 };
	PmSource s;
	PmErr err;

	pm_err_init(&err);
	must(pm_root_dir(&root, &err), &err);
	pm_str_addf(&path, "%s/tests/kernels/%s", root.s, file);
	must(pm_read_file(path.s, 1 << 20, &text, &err), &err);
	s = (PmSource){ .label = file, .source = text.s, .type = type };
	must(dev->ops->load(dev, &s, 1, &m, &err), &err);
	pm_str_release(&root);
	pm_str_release(&path);
	pm_str_release(&text);
	return m;
}

PmStatus emu_load_text(PmDevice *dev, const char *label, const char *source, PmModule *out, PmErr *err)
{
	PmSource s = { .label = label, .source = source, .type = PM_F32 };

	return dev->ops->load(dev, &s, 1, out, err);
}

PmBuf emu_buf(PmDevice *dev, PmBufUse use, const void *data, int64_t bytes)
{
	PmBuf b = { 0 };
	PmErr err;

	pm_err_init(&err);
	must(dev->ops->alloc_guarded(dev, bytes, use, &b, &err), &err);
	if (data)
		must(dev->ops->upload(dev, b, 0, data, bytes, &err), &err);
	else
		must(dev->ops->fill(dev, b, 0, bytes, 0xdeadbeefu, &err), &err);
	return b;
}

void emu_get(PmDevice *dev, PmBuf b, void *data, int64_t bytes)
{
	PmErr err;

	pm_err_init(&err);
	must(dev->ops->download(dev, b, 0, data, bytes, &err), &err);
}

PmDevArg emu_arg(PmBuf b)
{
	return (PmDevArg){ .kind = PM_DARG_BUF, .buf = b };
}

PmDevArg emu_i64(int64_t v)
{
	return (PmDevArg){ .kind = PM_DARG_I64, .i = v };
}

PmDevArg emu_i32(int32_t v)
{
	return (PmDevArg){ .kind = PM_DARG_I32, .i = v };
}

PmDevArg emu_f32(double v)
{
	return (PmDevArg){ .kind = PM_DARG_F32, .f = v };
}

PmDevArg emu_f64(double v)
{
	return (PmDevArg){ .kind = PM_DARG_F64, .f = v };
}

PmStatus emu_launch(PmDevice *dev, PmModule m, const char *entry, uint32_t n_blocks, uint32_t n_threads,
		    uint32_t smem, const PmDevArg *args, int n_args, PmErr *err)
{
	PmDevLaunch l = { .module = m,
			  .entry = entry,
			  .grid = { n_blocks, 1, 1 },
			  .block = { n_threads, 1, 1 },
			  .smem = smem,
			  .args = args,
			  .n_args = n_args };
	PmStatus rc = dev->ops->launch(dev, &l, err);

	return rc ? rc : dev->ops->sync(dev, err);
}

void emu_call(PmDevice *dev, PmModule m, const char *entry, uint32_t n_blocks, uint32_t n_threads,
	      uint32_t smem, const PmDevArg *args, int n_args)
{
	PmErr err;

	pm_err_init(&err);
	must(emu_launch(dev, m, entry, n_blocks, n_threads, smem, args, n_args, &err), &err);
}

PmLaunchCounts emu_counts(const char *source, int floats, int32_t v, uint32_t n_blocks, uint32_t n_threads,
			  uint32_t smem)
{
	float *zeros = calloc((size_t)floats, sizeof *zeros);
	PmLaunchCounts counts;
	PmDevArg args[3];
	PmDevice *dev;
	PmModule m;
	PmErr err;

	pm_err_init(&err);
	must(pm_device_open(PM_DEVICE_COUNTS, &dev, &err), &err);
	dev->counts->n = 1;
	dev->counts->source[0] = source;
	args[0] = emu_arg(emu_buf(dev, PM_BUF_INPUT, zeros, floats * (int64_t)sizeof *zeros));
	args[0].readonly = 1;
	args[1] = emu_arg(emu_buf(dev, PM_BUF_OUTPUT, zeros, floats * (int64_t)sizeof *zeros));
	args[2] = emu_i32(v);
	free(zeros);
	must(emu_load_text(dev, "count", source, &m, &err), &err);
	must(emu_launch(dev, m, "k", n_blocks, n_threads, smem, args, 3, &err), &err);
	counts = dev->counts->of[0];
	dev->ops->close(dev);
	return counts;
}
