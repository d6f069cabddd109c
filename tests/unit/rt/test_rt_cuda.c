/* SPDX-License-Identifier: Apache-2.0 */
/* test_rt_cuda.c - the device "cuda" of libpassmith_rt on a driver whose GPU is this processor (emu_cuda.c):
 * the bits of the device "emu", graphs, streams, contexts, threads, and nothing left behind. */
#include "tests/lib/device/rt_cases.h"
#include "tests/machine/emu_cuda.h"

#include "app/serve/serve.h"
#include "base/sys/io.h"
#include "bench/inputs/inputs.h"
#include "rt/format.h"
#include "rt/package.h"
#include "rt/sha256.h"
#include "runtime/cuda/library/lib_algo.h"
#include "tests/lib/device/package_bytes.h"
#include "tests/lib/sanitizer.h"

#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* A product that a library takes, between kernels of ours. */
static const char product_text[] = "<ir_version: 8, opset_import: [\"\" : 18]>\n"
				   "product (float[n,16] x, float[16,8] w) => (float[n,8] y)\n"
				   "{ a = Exp (x)\n t = MatMul (a, w)\n y = Softmax <axis = 1> (t) }\n";

static TestPackage head, small, product;
static long (*counted)(int what), (*dnn_asked)(void);
static void (*refuse_updates)(int on);
static void (*behave)(int manner, int on);

/* Names what was compiled for emu as code for a GPU of this capability: the driver runs it. */
static void as_cuda(TestPackage *p, uint32_t cc)
{
	PmStr bytes = PM_STR_INIT;
	PmRtfHeader h;
	PmRtfSection *s = &h.section[PM_RTF_IMAGES];
	PmErr err;

	assert_int_equal(pm_read_file(p->path, 0, &bytes, &err), PM_OK);
	memcpy(&h, bytes.s, sizeof h);
	for (uint64_t at = s->offset; at < s->offset + s->bytes; at += sizeof(PmRtfImage)) {
		PmRtfImage m;

		memcpy(&m, bytes.s + at, sizeof m);
		m.form = PM_RTF_CUBIN;
		m.cc = cc;
		memcpy(bytes.s + at, &m, sizeof m);
	}
	pm_sha256_of(bytes.s + s->offset, s->bytes, s->sha256);
	pm_package_digest(&h, h.sha256);
	memcpy(bytes.s, &h, sizeof h);
	assert_int_equal(pm_write_file(p->path, bytes.s, bytes.len, &err), PM_OK);
	pm_str_release(&bytes);
}

/* A library of tests/machine/emu, which from here on is found by its name. */
static void *open_machine(const char *name)
{
	char path[512];
	void *so;

	snprintf(path, sizeof path, "%s/tests/machine/emu/%s", getenv("PASSMITH_BUILD"), name);
	so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!so)
		fail_msg("%s", dlerror());
	return so;
}

static void take_libraries(int on)
{
	setenv("PASSMITH_LIBRARIES", on ? "first" : "off", 1);
}

/* A library adds in another order than our kernel: what one run with it gives is what is wanted of all. */
static void adopt(TestPackage *p)
{
	PmTensor out[TEST_VALUES];
	TestRun *r = &p->run[0];
	PmRtSession *s;
	PmRtModel *m;
	PmRtError e;

	assert_int_equal(pm_rt_open(p->path, "cuda", &m, &e), PM_RT_OK);
	assert_non_null(strstr(pm_rt_about(m), "\"workspace_bytes\":1024")); /* the library's */
	assert_non_null(strstr(pm_rt_about(m), "\"kept_bytes\":0,"));        /* a product keeps nothing */
	assert_int_equal(pm_rt_session_new(m, &s, &e), PM_RT_OK);
	test_bind(s, r, out);
	assert_int_equal(pm_rt_run(s, NULL, 0, &e), PM_RT_OK);
	for (size_t i = 0; i < r->n_out; i++)
		for (size_t k = 0; k < out[i].bytes / sizeof(float); k++)
			assert_true(fabsf(((float *)out[i].data)[k] - ((float *)r->want[i].data)[k]) < 1e-5f);
	pm_rt_session_free(s);
	pm_rt_close(m);
	pm_tensors_release(r->want, r->n_out);
	memcpy(r->want, out, r->n_out * sizeof *out);
}

/* Whatever forks comes first: then the driver is loaded, which from here on is found by its name. */
static int open_all(void **state)
{
	PmDimSize a[] = { { "batch", 2 }, { "tokens", 5 } }, b[] = { { "batch", 3 }, { "tokens", 16 } };
	const PmCompileShape shapes[] = { { a, 2 }, { b, 2 } };
	const PmCompileAsk open_head = { .model = "models/open/bge_pooling_head.gpt",
					 .deadline = 60,
					 .emu = 1,
					 .jobs = 2,
					 .shape = shapes,
					 .n_shapes = 2 };
	const PmCompileAsk swin = { .model = "models/swin_block.gpt", .deadline = 60, .emu = 1, .jobs = 2 };
	PmDimSize n[] = { { "n", 3 } };
	const PmCompileShape rows[] = { { n, 1 } };
	const PmCompileAsk products = { .model = test_model_file("product", product_text),
					.deadline = 60,
					.emu = 1,
					.jobs = 2,
					.shape = rows,
					.n_shapes = 1 };
	void *so, *p;

	(void)state;
	test_package_make(&open_head, "emu", 3, &head);
	test_package_make(&swin, "emu", 4, &small);
	test_package_make(&products, "emu", 5, &product);
	as_cuda(&head, 90);
	as_cuda(&small, 80);
	as_cuda(&product, 90);
	setenv("PASSMITH_LIBRARIES", "off", 1); /* they would want a real GPU, but for those that are ours */
	open_machine("libcublasLt.so.13");
	p = dlsym(open_machine("libcudnn.so.9"), "emu_dnn_asked");
	memcpy(&dnn_asked, &p, sizeof p);
	so = open_machine("libcuda.so.1");
	p = dlsym(so, "emu_cuda_count");
	memcpy(&counted, &p, sizeof p);
	p = dlsym(so, "emu_cuda_refuse_updates");
	memcpy(&refuse_updates, &p, sizeof p);
	p = dlsym(so, "emu_cuda_behave");
	memcpy(&behave, &p, sizeof p);
	rt_cases_open();
	take_libraries(1);
	adopt(&product);
	take_libraries(0);
	return 0;
}

static int close_all(void **state)
{
	(void)state;
	test_package_release(&head);
	test_package_release(&small);
	test_package_release(&product);
	return 0;
}

/* Of what lives: the context that the cases hold. */
static void nothing_is_left(void)
{
	assert_int_equal(counted(EMU_CUDA_RETAINED), 1);
	assert_int_equal(counted(EMU_CUDA_MODULES), 0);
	assert_int_equal(counted(EMU_CUDA_MEMORY), 0);
	assert_int_equal(counted(EMU_CUDA_STREAMS), 0);
	assert_int_equal(counted(EMU_CUDA_GRAPHS), 0);
}

static void host(void **state)
{
	(void)state;
	rt_case_host(&head);
	nothing_is_left();
}

static void device(void **state)
{
	long updated = counted(EMU_CUDA_UPDATED);

	(void)state;
	rt_case_device(&head);
	nothing_is_left();
	assert_true(counted(EMU_CUDA_UPDATED) > updated); /* other pointers: the same graphs */
	refuse_updates(1);                                /* or others, where a driver cannot */
	rt_case_device(&head);
	refuse_updates(0);
	nothing_is_left();
}

/* Machine code of the same kind of GPU with a smaller number is taken. */
static void older_code(void **state)
{
	PmRtModel *m;
	PmRtError e;

	(void)state;
	assert_int_equal(pm_rt_open(small.path, "cuda", &m, &e), PM_RT_ENV);
	assert_non_null(strstr(e.text, "has kernels for sm_80, and none for Emulated One (sm_90)"));
	assert_int_equal(pm_rt_open(head.path, "emu", &m, &e), PM_RT_ENV);
	assert_non_null(strstr(e.text, "has no kernels for the device emu"));
	assert_int_equal(pm_rt_open(head.path, "cuda:1", &m, &e), PM_RT_ENV);
	assert_non_null(strstr(e.text, "There is no GPU number 1"));
	nothing_is_left();
	as_cuda(&small, 90);
	assert_int_equal(pm_rt_open(small.path, NULL, &m, &e), PM_RT_OK);
	assert_non_null(strstr(pm_rt_about(m), "\"device\":\"cuda:0 Emulated One\""));
	pm_rt_close(m);
	rt_case_host(&small);
	nothing_is_left();
}

static void threads(void **state)
{
	(void)state;
	rt_case_threads(&head, 8, 30);
	nothing_is_left();
}

/* Products that cuBLASLt takes, also in graphs. */
static void library(void **state)
{
	(void)state;
	take_libraries(1);
	rt_case_host(&product);
	rt_case_device(&product);
	rt_case_threads(&product, 8, 30);
	take_libraries(0);
	nothing_is_left();
}

/* A driver that lets nobody load or copy while a thread captures, and one that is slow in what is rare: who
 * captures must not need what another holds meanwhile. */
static void threads_of_a_driver_that_waits(void **state)
{
	long made = counted(EMU_CUDA_INSTANTIATED);

	(void)state;
	take_libraries(1);
	behave(EMU_CUDA_CAPTURES_HOLD, 1);
	behave(EMU_CUDA_SLOW, 1);
	rt_case_threads(&product, 8, 30);
	rt_case_threads(&head, 8, 30);
	/* Each thread makes one graph of each shape. */
	assert_int_equal(counted(EMU_CUDA_INSTANTIATED), made + 8 + 8 * 2);
	behave(EMU_CUDA_SLOW, 0);
	behave(EMU_CUDA_CAPTURES_HOLD, 0);
	take_libraries(0);
	nothing_is_left();
}

/* In a process of its own, whose driver never lets anybody on. */
static void hang(int to)
{
	dup2(to, STDERR_FILENO);
	rt_threads_tell_s = 0.1;
	rt_threads_end_s = 2;
	behave(EMU_CUDA_CAPTURES_HOLD, 1);
	rt_case_threads_held(&head, 3, 5);
	_exit(0);
}

/* Threads that hang end the test, which says what they do. */
static void threads_that_hang(void **state)
{
	char text[32768];
	size_t n = 0;
	int end[2], status = 0;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(end), 0);
	pid = fork();
	if (pid == 0)
		hang(end[1]);
	close(end[1]);
	for (ssize_t got; n < sizeof text - 1 && (got = read(end[0], text + n, sizeof text - 1 - n)) > 0;)
		n += (size_t)got;
	text[n] = '\0';
	close(end[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 1)
		fail_msg("It ended with %d: %s", status, text);
	assert_non_null(strstr(text, "# models/open/bge_pooling_head.gpt, thread 1, after "));
	assert_non_null(strstr(text, "# thread 2 is in\n"));
	assert_non_null(strstr(text, "cuMemAlloc_v2"));
	assert_non_null(strstr(text,
			       "bge_pooling_head.gpt: no thread has begun a step for 2 s; they wait: thread "
			       "0 in run 0, pm_rt_session_new;"));
}

static long snapshot[3][EMU_CUDA_N];

static void note(int when)
{
	for (int i = 0; i < EMU_CUDA_N; i++)
		snapshot[when][i] = counted(i);
	if (when != RT_FIRST)
		return;
	/* The first run is what every later one is. */
	assert_int_equal(snapshot[RT_FIRST][EMU_CUDA_GRAPH_LAUNCHES],
			 snapshot[RT_WARM][EMU_CUDA_GRAPH_LAUNCHES] + 1);
	assert_int_equal(snapshot[RT_FIRST][EMU_CUDA_CALLS], snapshot[RT_WARM][EMU_CUDA_CALLS] + 3);
	/* What the session took for the warm runs is gone. */
	assert_true(snapshot[RT_WARM][EMU_CUDA_ALLOCS] > snapshot[RT_BOUND][EMU_CUDA_ALLOCS]);
	assert_int_equal(snapshot[RT_WARM][EMU_CUDA_MEMORY], snapshot[RT_BOUND][EMU_CUDA_MEMORY]);
	assert_int_equal(snapshot[RT_WARM][EMU_CUDA_INSTANTIATED],
			 snapshot[RT_BOUND][EMU_CUDA_INSTANTIATED] + 1);
}

static void warm(void **state)
{
	PmRtError e;

	(void)state;
	rt_case_warm(&head, note);
	take_libraries(1);
	rt_case_warm(&product, note);
	take_libraries(0);
	nothing_is_left();
	assert_int_equal(pm_rt_session_warm(NULL, 0, &e), PM_RT_USAGE);
	assert_non_null(strstr(e.text, "pm_rt_session_warm needs a session"));
}

/* n bytes at the end of a section of the package; all that comes behind moves on by a page. */
static void append(TestPackage *p, int section, const void *bytes, size_t n)
{
	static const char page[PM_RTF_PAGE];
	PmStr old = PM_STR_INIT, now = PM_STR_INIT;
	PmRtfHeader h;
	uint64_t end;
	PmErr err;

	assert_int_equal(pm_read_file(p->path, 0, &old, &err), PM_OK);
	memcpy(&h, old.s, sizeof h);
	end = h.section[section].offset + h.section[section].bytes;
	h.section[section].bytes += n;
	for (int i = section + 1; i < PM_RTF_N_SECTIONS; i++)
		h.section[i].offset += sizeof page;
	h.file_bytes += sizeof page;
	pm_str_addn(&now, old.s, end);
	pm_str_addn(&now, bytes, n);
	pm_str_addn(&now, page, sizeof page - n);
	pm_str_addn(&now, old.s + end, old.len - end);
	memcpy(now.s, &h, sizeof h);
	test_package_seal(&now);
	assert_int_equal(pm_write_file(p->path, now.s, now.len, &err), PM_OK);
	pm_str_release(&old);
	pm_str_release(&now);
}

static void about_has(const TestPackage *p, const char *text)
{
	PmRtModel *m;
	PmRtError err;

	assert_int_equal(pm_rt_open(p->path, "cuda", &m, &err), PM_RT_OK);
	assert_non_null(strstr(pm_rt_about(m), text));
	pm_rt_close(m);
}

/* A product that was tuned asks for nothing of cuDNN, which takes long to open. What was measured with
 * another version is not taken, and the model says so. */
static void only_what_is_wanted(void **state)
{
	static const char gpu[] = "Emulated One";
	PmRtfChoice choice = { .cublaslt = 120003, .cudnn = 12345 };
	PmRtPackage p;
	PmErr err;
	long asked;

	(void)state;
	assert_int_equal(pm_package_open(product.path, &p, &err), PM_OK);
	choice.gpu = (uint32_t)p.n_text;
	pm_package_close(&p);
	append(&product, PM_RTF_TEXTS, gpu, sizeof gpu);
	append(&product, PM_RTF_CHOICES, &choice, sizeof choice);
	take_libraries(1);
	asked = dnn_asked();
	about_has(&product,
		  "\"library_calls\":1,\"tuned_calls\":0,\"untuned\":\"1 of the 1 library calls of ");
	about_has(&product, "tuned on Emulated One with cuBLASLt 12.0.3, and this is Emulated One with "
			    "cuBLASLt 13.0.0; compile it");
	choice.cublaslt = 130000;
	append(&product, PM_RTF_CHOICES, &choice, sizeof choice);
	about_has(&product, "\"library_calls\":1,\"tuned_calls\":1,\"untuned\":null,");
	rt_case_host(&product);
	assert_int_equal(dnn_asked(), asked);
	take_libraries(0);
	nothing_is_left();
}

/* Writes a number into every record of a section. */
static void change(TestPackage *p, int section, size_t record, size_t at, uint32_t value)
{
	PmStr bytes = PM_STR_INIT;
	PmRtfHeader h;
	PmErr err;

	assert_int_equal(pm_read_file(p->path, 0, &bytes, &err), PM_OK);
	memcpy(&h, bytes.s, sizeof h);
	for (uint64_t i = 0; i < h.section[section].bytes; i += record)
		memcpy(bytes.s + h.section[section].offset + i + at, &value, sizeof value);
	test_package_seal(&bytes);
	assert_int_equal(pm_write_file(p->path, bytes.s, bytes.len, &err), PM_OK);
	pm_str_release(&bytes);
}

/* Kernels around calls are asked for by name and arguments, which another version may have other ones of:
 * they are not taken, the call runs another way, and the model says so. */
static void kernels_of_another_version(void **state)
{
	static const char another[] = "compiled by another version of Passmith; compile the model again.";
	PmRtfUnit around = { .around = 1, .type = 1, .mark = pm_algo_mark() + 1 };

	(void)state;
	change(&product, PM_RTF_CHOICES, sizeof(PmRtfChoice), offsetof(PmRtfChoice, algorithm), PM_ALGO_DOT);
	append(&product, PM_RTF_UNITS, &around, sizeof around);
	take_libraries(1);
	about_has(&product, another);
	about_has(&product, "\"library_calls\":1,\"tuned_calls\":0,");
	rt_case_host(&product);
	change(&product, PM_RTF_UNITS, sizeof(PmRtfUnit), offsetof(PmRtfUnit, mark), pm_algo_mark());
	about_has(&product, "\"untuned\":\"1 of the 1 library calls of ");
	take_libraries(0);
	nothing_is_left();
}

#if !SANITIZER
/* Every piece of memory that this process asks for, libraries included. A sanitizer has functions of its own.
 */
static atomic_long pieces;
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);

void *malloc(size_t n)
{
	atomic_fetch_add(&pieces, 1);
	return __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	atomic_fetch_add(&pieces, 1);
	return __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	atomic_fetch_add(&pieces, 1);
	return __libc_realloc(p, n);
}

static long pieces_asked_for(void)
{
	return atomic_load(&pieces);
}

/* A run of tensors that stay asks for no memory, as a graph. */
static void no_memory(void **state)
{
	PmTensor out[TEST_VALUES];
	PmRtModel *m;
	PmRtSession *s;
	PmRtError e;
	long before;

	(void)state;
	assert_int_equal(rt_case_host_calls(&head, pieces_asked_for), 0);
	before = pieces_asked_for();
	assert_int_equal(pm_rt_open(head.path, "cuda", &m, &e), PM_RT_OK);
	assert_true(pieces_asked_for() > before); /* the library's are counted */
	assert_int_equal(pm_rt_session_new(m, &s, &e), PM_RT_OK);
	test_bind(s, &head.run[0], out);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pm_rt_run(s, NULL, PM_RT_GRAPH, &e), PM_RT_OK);
	before = pieces_asked_for();
	for (int i = 0; i < 10; i++)
		assert_int_equal(pm_rt_run(s, NULL, PM_RT_GRAPH, &e), PM_RT_OK);
	assert_int_equal(pieces_asked_for(), before); /* with tensors of the host, too */
	pm_tensors_release(out, head.run[0].n_out);
	pm_rt_session_free(s);
	pm_rt_close(m);
	nothing_is_left();
}
#endif

static long calls_of_the_driver(void)
{
	return counted(EMU_CUDA_CALLS);
}

/* A run is one launch of a graph, in the context that it is for: that is what the host does in the driver. */
static void host_calls(void **state)
{
	(void)state;
	assert_int_equal(rt_case_host_calls(&head, calls_of_the_driver), 3);
	take_libraries(1);
	assert_int_equal(rt_case_host_calls(&product, calls_of_the_driver), 3);
	take_libraries(0);
	nothing_is_left();
}

/* What serve-bench does: a warm run and its graph; ten runs, those that are asked for, and 200 that are timed
 * in turn with as many bare launches of a graph of the same launches. */
static void host_cost(void **state)
{
	const PmServeAsk ask = { .package = head.path,
				 .device = "cuda",
				 .threads = 1,
				 .runs = 20,
				 .graph = 1,
				 .on_device = 1,
				 .warm = 1 };
	long launches = counted(EMU_CUDA_LAUNCHES), graphs = counted(EMU_CUDA_GRAPH_LAUNCHES);
	long captured = counted(EMU_CUDA_CAPTURED), made = counted(EMU_CUDA_INSTANTIATED), each;
	PmServed s;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	if (pm_serve(&ask, &s, &err))
		fail_msg("%s", err.text);
	assert_int_equal(s.host.runs, 200);
	assert_true(s.host.run > 0 && s.host.launch > 0 && s.warming > 0);
	assert_int_equal(counted(EMU_CUDA_GRAPH_LAUNCHES), graphs + 1 + 10 + 20 + 200 + 200);
	assert_int_equal(counted(EMU_CUDA_INSTANTIATED), made + 2);
	each = counted(EMU_CUDA_LAUNCHES) - launches; /* of the warm run alone */
	assert_true(each > 0);
	assert_int_equal(counted(EMU_CUDA_CAPTURED), captured + 3 * each);
	pm_served_release(&s);
	nothing_is_left();
}

/* Weights in one copy, each kernel looked up once however many steps launch it. */
static void opening(void **state)
{
	long copies = counted(EMU_CUDA_COPIES), functions = counted(EMU_CUDA_FUNCTIONS), wanted = 0;
	long loads = counted(EMU_CUDA_LOADS);
	PmRtPackage p;
	PmRtModel *m;
	PmRtError e;
	PmErr err;

	(void)state;
	assert_int_equal(pm_package_open(head.path, &p, &err), PM_OK);
	for (size_t i = 0; i < p.n_step; i++) {
		int seen = 0;

		for (size_t k = 0; k < i && !seen; k++)
			seen = p.step[k].unit == p.step[i].unit && p.step[k].entry == p.step[i].entry;
		wanted += !seen;
	}
	assert_true(p.n_constant > 1 && wanted < (long)p.n_step);
	assert_int_equal(pm_rt_open(head.path, "cuda", &m, &e), PM_RT_OK);
	assert_int_equal(counted(EMU_CUDA_COPIES), copies + 1);
	assert_int_equal(counted(EMU_CUDA_FUNCTIONS), functions + wanted);
	assert_int_equal(counted(EMU_CUDA_LOADS), loads + (long)p.n_unit);
	pm_rt_close(m);
	pm_package_close(&p);
	nothing_is_left();
}

/* With pointers that stay, a run is its launches or one graph, and nothing else. */
static void steady(void **state)
{
	long launches, captured, graph_launches, made;
	PmTensor out[TEST_VALUES];
	PmRtModel *m;
	PmRtSession *s;
	PmRtError e;

	(void)state;
	assert_int_equal(pm_rt_open(head.path, "cuda", &m, &e), PM_RT_OK);
	assert_int_equal(pm_rt_session_new(m, &s, &e), PM_RT_OK);
	test_bind(s, &head.run[0], out);
	launches = counted(EMU_CUDA_LAUNCHES);
	captured = counted(EMU_CUDA_CAPTURED);
	assert_int_equal(pm_rt_run(s, NULL, PM_RT_GRAPH, &e), PM_RT_OK); /* the first makes launches, */
	assert_true(counted(EMU_CUDA_LAUNCHES) > launches);
	assert_int_equal(counted(EMU_CUDA_CAPTURED), captured);
	launches = counted(EMU_CUDA_LAUNCHES);
	assert_int_equal(pm_rt_run(s, NULL, PM_RT_GRAPH, &e), PM_RT_OK); /* the second captures them */
	assert_int_equal(counted(EMU_CUDA_LAUNCHES), launches);
	assert_true(counted(EMU_CUDA_CAPTURED) > captured);
	captured = counted(EMU_CUDA_CAPTURED);
	graph_launches = counted(EMU_CUDA_GRAPH_LAUNCHES);
	made = counted(EMU_CUDA_MEMORY);
	for (int i = 0; i < 10; i++)
		assert_int_equal(pm_rt_run(s, NULL, PM_RT_GRAPH, &e), PM_RT_OK);
	assert_int_equal(counted(EMU_CUDA_GRAPH_LAUNCHES), graph_launches + 10);
	assert_int_equal(counted(EMU_CUDA_LAUNCHES), launches);
	assert_int_equal(counted(EMU_CUDA_CAPTURED), captured);
	assert_int_equal(counted(EMU_CUDA_MEMORY), made);
	pm_tensors_release(out, head.run[0].n_out);
	pm_rt_session_free(s);
	pm_rt_close(m);
	rt_case_growth(&head, 200);
	nothing_is_left();
}

static long captured_launches(void)
{
	return counted(EMU_CUDA_CAPTURED);
}

static void turns(void **state)
{
	(void)state;
	rt_case_turns(&head, captured_launches);
	nothing_is_left();
}

static void again(void **state)
{
	(void)state;
	rt_case_again(&head);
	refuse_updates(1);
	rt_case_again(&head);
	refuse_updates(0);
	take_libraries(1);
	rt_case_again(&product);
	take_libraries(0);
	nothing_is_left();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(host),
		cmocka_unit_test(device),
		cmocka_unit_test(older_code),
		cmocka_unit_test(threads),
		cmocka_unit_test(library),
		cmocka_unit_test(threads_of_a_driver_that_waits),
		cmocka_unit_test(warm),
		cmocka_unit_test(host_calls),
#if !SANITIZER
		cmocka_unit_test(no_memory),
#endif
		cmocka_unit_test(host_cost),
		cmocka_unit_test(opening),
		cmocka_unit_test(only_what_is_wanted),
		cmocka_unit_test(kernels_of_another_version),
		cmocka_unit_test(threads_that_hang),
		cmocka_unit_test(steady),
		cmocka_unit_test(turns),
		cmocka_unit_test(again),
	};

	return cmocka_run_group_tests(tests, open_all, close_all);
}
