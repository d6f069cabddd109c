/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda_guard.c - buffers of checked runs: gaps, read-only inputs, on-chip memory between launches, and
 * what all that costs. */
#include "base/sys/proc.h"
#include "ir/text/text.h"
#include "runtime/exec/exec.h"
#include "tests/lib/device/emu.h"
#include "tests/lib/device/gpu_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char kernels[] =
	"extern \"C\" __global__ void poke(char *p, long long at) { p[at] = 1; }\n"
	"extern \"C\" __global__ void peek(const char *p, long long at, char *y) { y[0] = p[at]; }\n"
	"extern \"C\" __global__ void add(const T *x, T *y, long long n)\n"
	"{\n"
	"	long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
	"	if (i < n) y[i] = st(ld(x[i]) + 1.f);\n"
	"}\n"
	"extern \"C\" __global__ void leave(unsigned v, long long n)\n"
	"{\n"
	"	extern __shared__ unsigned s[];\n"
	"	for (int i = threadIdx.x; i < n; i += blockDim.x) *(volatile unsigned *)&s[i] = v;\n"
	"}\n"
	"extern \"C\" __global__ void find(unsigned v, long long n, unsigned *count)\n"
	"{\n"
	"	extern __shared__ unsigned s[];\n"
	"	unsigned c = 0;\n"
	"	for (int i = threadIdx.x; i < n; i += blockDim.x) c += *(volatile unsigned *)&s[i] == v;\n"
	"	atomicAdd(count, c);\n"
	"}\n";

enum { FAR = 3 << 20 };

static const char outside[] = "accessed memory outside its buffers";

static PmDevArg readable(PmBuf b)
{
	return (PmDevArg){ .kind = PM_DARG_BUF, .buf = b, .readonly = 1 };
}

/* Buffers alternate: the first touches the gap behind it, the second the one before it. */
CASE(a_read_past_the_end_faults)
{
	PmBuf x = gpu_alloc_guarded(d, 1 << 20, PM_BUF_SCRATCH), y = gpu_alloc_guarded(d, 4, PM_BUF_OUTPUT);

	gpu_fails(d, gpu_load(d, kernels), "peek", 1, 0, ARGS(emu_arg(x), emu_i64(1 << 20), emu_arg(y)),
		  PM_E_OOB, outside);
}

CASE(a_read_before_the_beginning_faults)
{
	PmBuf y = gpu_alloc_guarded(d, 4, PM_BUF_OUTPUT), x = gpu_alloc_guarded(d, 1 << 20, PM_BUF_SCRATCH);

	gpu_fails(d, gpu_load(d, kernels), "peek", 1, 0, ARGS(emu_arg(x), emu_i64(-1), emu_arg(y)), PM_E_OOB,
		  outside);
}

CASE(far_reads_fault_on_both_sides)
{
	PmBuf x = gpu_alloc_guarded(d, 100, PM_BUF_SCRATCH), y = gpu_alloc_guarded(d, 4, PM_BUF_OUTPUT);

	gpu_fails(d, gpu_load(d, kernels), "peek", 1, 0, ARGS(emu_arg(x), emu_i64(-FAR), emu_arg(y)),
		  PM_E_OOB, outside);
}

CASE(a_write_to_an_input_faults)
{
	PmBuf x = gpu_alloc_guarded(d, 4096, PM_BUF_INPUT);

	gpu_fails(d, gpu_load(d, kernels), "poke", 1, 0, ARGS(emu_arg(x), emu_i64(5)), PM_E_OOB, outside);
}

CASE(a_write_to_what_the_launch_may_only_read_faults)
{
	PmBuf x = gpu_alloc_guarded(d, 4096, PM_BUF_SCRATCH);

	gpu_fails(d, gpu_load(d, kernels), "poke", 1, 0, ARGS(readable(x), emu_i64(5)), PM_E_OOB, outside);
}

/* Between the last element and the gap, and on the far side, the pattern is looked at. */
CASE(writes_beside_a_buffer_have_a_name)
{
	PmBuf x = gpu_alloc_guarded(d, 4099, PM_BUF_OUTPUT);

	gpu_fails(d, gpu_load(d, kernels), "poke", 1, 0, ARGS(emu_arg(x), emu_i64(4099)), PM_E_OOB,
		  "wrote past the end of buffer 1 (argument 0, 4099 bytes) at byte 4099");
}

CASE(writes_on_the_other_side_have_a_name)
{
	PmBuf x = gpu_alloc_guarded(d, 4096, PM_BUF_OUTPUT);

	gpu_fails(d, gpu_load(d, kernels), "poke", 1, 0, ARGS(emu_arg(x), emu_i64(-30000)), PM_E_OOB,
		  "wrote before the start of buffer 1 (argument 0, 4096 bytes) at byte -30000");
}

CASE(right_kernels_run_and_protection_follows_the_launch)
{
	enum { N = 1000 };
	PmModule m = gpu_load(d, kernels);
	PmBuf a = gpu_alloc_guarded(d, N * 4, PM_BUF_INPUT), b = gpu_alloc_guarded(d, N * 4, PM_BUF_SCRATCH),
	      c = gpu_alloc_guarded(d, N * 4, PM_BUF_OUTPUT);
	float x[N], y[N];
	PmErr err;

	pm_err_init(&err);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < N; i++)
			x[i] = (float)(i * 3 + round);
		MUST(d->ops->upload(d, a, 0, x, sizeof x, &err));
		MUST(d->ops->fill(d, b, 0, sizeof x, 0x7fc1d00d, &err));
		MUST(gpu_launch(d, m, "add", 8, 128, 0, ARGS(readable(a), emu_arg(b), emu_i64(N)), &err));
		MUST(gpu_launch(d, m, "add", 8, 128, 0, ARGS(readable(b), emu_arg(c), emu_i64(N)), &err));
		MUST(gpu_launch(d, m, "add", 8, 128, 0, ARGS(readable(c), emu_arg(b), emu_i64(N)), &err));
		MUST(d->ops->sync(d, &err));
		MUST(d->ops->download(d, b, 0, y, sizeof y, &err));
		for (int i = 0; i < N; i++)
			CHECK(y[i] == x[i] + 3);
	}
	d->ops->release(d, b);
	b = gpu_alloc_guarded(d, N * 4, PM_BUF_SCRATCH); /* the handle serves again */
	MUST(gpu_launch(d, m, "add", 8, 128, 0, ARGS(readable(a), emu_arg(b), emu_i64(N)), &err));
	MUST(d->ops->sync(d, &err));
}

CASE(hundreds_of_buffers_fit)
{
	enum { N = 600 };
	PmBuf b[N];

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < N; i++)
			b[i] = gpu_alloc_guarded(d, i * 11, PM_BUF_SCRATCH);
		for (int i = 0; i < N; i++)
			d->ops->release(d, b[i]);
	}
}

/* How many words of all multiprocessors' shared memory a kernel finds as another left them. */
static unsigned residue(PmDevice *d, int guarded)
{
	PmModule m = gpu_load(d, kernels);
	PmBuf count = (guarded ? gpu_alloc_guarded : gpu_alloc)(d, 4, PM_BUF_OUTPUT);
	PmDeviceInfo info;
	unsigned n = 0;
	int words;
	PmErr err;

	pm_err_init(&err);
	d->ops->info(d, &info);
	words = info.max_smem / 4;
	MUST(d->ops->fill(d, count, 0, 4, 0, &err));
	MUST(gpu_launch(d, m, "leave", (uint32_t)info.n_sm, 1024, (uint32_t)info.max_smem,
			ARGS(emu_i32(0x1234abc), emu_i64(words)), &err));
	MUST(gpu_launch(d, m, "find", (uint32_t)info.n_sm, 1024, (uint32_t)info.max_smem,
			ARGS(emu_i32(0x1234abc), emu_i64(words), emu_arg(count)), &err));
	MUST(d->ops->sync(d, &err));
	MUST(d->ops->download(d, count, 0, &n, 4, &err));
	fprintf(stderr, "# %s: %u of %d words of shared memory are as another kernel left them\n",
		guarded ? "scrubbed" : "plain", n, words * info.n_sm);
	return n;
}

CASE(shared_memory_is_scrubbed_between_launches)
{
	residue(d, 0);
	CHECK(residue(d, 1) == 0);
}

/* --- what it costs --- */

static double seconds_of(PmDevice *d, PmModule m, const char *entry, uint32_t blocks, uint32_t smem,
			 const PmDevArg *args, int n, int quiet)
{
	double best = 1, t = 0;
	PmErr err;

	pm_err_init(&err);
	if (quiet)
		MUST(d->ops->clock->quiet(d, 1, &err));
	for (int i = 0; i < 20; i++) {
		MUST(d->ops->event_record(d, 0, &err));
		MUST(gpu_launch(d, m, entry, blocks, 256, smem, args, n, &err));
		MUST(d->ops->event_record(d, 1, &err));
		MUST(d->ops->sync(d, &err));
		MUST(d->ops->event_elapsed(d, 0, 1, &t, &err));
		best = t < best ? t : best;
	}
	if (quiet)
		MUST(d->ops->clock->quiet(d, 0, &err));
	return best;
}

CASE(what_mapping_costs)
{
	static const int64_t sizes[] = { 1 << 20, 16 << 20, 256 << 20, 1 << 30 };
	PmModule m = gpu_load(d, kernels);
	PmErr err;

	pm_err_init(&err);
	for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
		int64_t bytes = sizes[k], n = bytes / 4;
		double t[2], t0, alloc[2];

		for (int g = 0; g < 2; g++) {
			PmBuf x, y;

			t0 = pm_now();
			x = (g ? gpu_alloc_guarded : gpu_alloc)(d, bytes, PM_BUF_INPUT);
			y = (g ? gpu_alloc_guarded : gpu_alloc)(d, bytes, PM_BUF_OUTPUT);
			MUST(d->ops->sync(d, &err));
			alloc[g] = pm_now() - t0;
			t[g] = seconds_of(d, m, "add", (uint32_t)((n + 255) / 256), 0,
					  ARGS(readable(x), emu_arg(y), emu_i64(n)), !g);
			/* A guarded launch has a scrub before it: the same kernel in quiet mode does too. */
			d->ops->release(d, x);
			d->ops->release(d, y);
		}
		fprintf(stderr,
			"# add one to %lld KiB: plain %.2f us, guarded with its scrub %.2f us; two buffers: "
			"plain %.0f us, "
			"guarded %.0f us\n",
			(long long)(bytes >> 10), t[0] * 1e6, t[1] * 1e6, alloc[0] * 1e6, alloc[1] * 1e6);
	}
}

CASE(what_a_checked_run_costs)
{
	static const char text[] =
		"g (float[64,1024] x) => (float[64,1024] y) { a = Sigmoid(x)\n b = Mul(x, a)\n c = Tanh(b)\n"
		" e = Softmax<axis = 1>(c)\n f = Mul(e, b)\n y = Add(f, x) }";
	PmTensor in, out;
	PmPlan *p;
	PmExec *x;
	PmGraph *g;
	double t[2] = { 1, 1 };
	PmErr err;

	pm_err_init(&err);
	MUST(pm_graph_parse(text, strlen(text), &g, &err));
	MUST(pm_plan_new(g, NULL, 0, &p, &err));
	MUST(pm_exec_new(p, d, &x, &err));
	MUST(pm_tensor_init(&in, pm_value_type(g, pm_graph_input(g, 0)), &err));
	memset(in.data, 0, in.bytes);
	for (int i = 0; i < 20; i++) {
		double t0 = pm_now(), s;

		pm_exec_plain(x, i & 1);
		MUST(pm_exec_run(x, &in, 1, 0x7fc1d00d, &out, 1, &err));
		s = pm_now() - t0;
		t[i & 1] = s < t[i & 1] ? s : t[i & 1];
		pm_tensor_release(&out);
	}
	fprintf(stderr, "# a run of %d launches: guarded %.2f ms, plain %.2f ms\n", pm_exec_launches(x),
		t[0] * 1e3, t[1] * 1e3);
	pm_exec_free(x);
	pm_plan_free(p);
	pm_tensor_release(&in);
	pm_graph_free(g);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_read_past_the_end_faults),
		cmocka_unit_test(a_read_before_the_beginning_faults),
		cmocka_unit_test(far_reads_fault_on_both_sides),
		cmocka_unit_test(a_write_to_an_input_faults),
		cmocka_unit_test(a_write_to_what_the_launch_may_only_read_faults),
		cmocka_unit_test(writes_beside_a_buffer_have_a_name),
		cmocka_unit_test(writes_on_the_other_side_have_a_name),
		cmocka_unit_test(right_kernels_run_and_protection_follows_the_launch),
		cmocka_unit_test(hundreds_of_buffers_fit),
		cmocka_unit_test(shared_memory_is_scrubbed_between_launches),
		cmocka_unit_test(what_mapping_costs),
		cmocka_unit_test(what_a_checked_run_costs),
	};

	return cmocka_run_group_tests_name("cuda_guard", tests, NULL, NULL);
}
