/* SPDX-License-Identifier: Apache-2.0 */
/* ops.c - custom operators of ONNX Runtime: one for each kernel of a file and each provider that it has code
 * for.
 *
 * ONNX Runtime takes an operator that is registered before a function of the model with the same name. It
 * asks for operators as long as a session lives and does not say when that ends; so what was registered stays
 * until the process ends, once for each file's content.
 */
#include "ort/ops.h"

#include "base/core/arena.h"
#include "base/core/str.h"
#include "ort/ort_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILE = 1 << 30, MAX_PATH_BYTES = 4096 };

typedef struct Library Library;

typedef struct Op {
	OrtCustomOp base; /* first: ONNX Runtime has its address */
	Library *library;
	const PmOrtKernel *kernel;
	int gpu;
} Op;

/* A file, registered with one ONNX Runtime. */
struct Library {
	Library *next;
	const void *table; /* of that ONNX Runtime */
	PmOrtApi api;
	unsigned char *bytes;
	PmArena *arena;
	PmOrtLoaded loaded;
	OrtCustomOpDomain *domain;
	Op *op;
	size_t n_ops;
};

static Library *libraries;
static pthread_mutex_t libraries_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_ullong n_launches;

unsigned long long passmith_ort_launches(void)
{
	return atomic_load(&n_launches);
}

static void say(const char *fmt, ...) PM_PRINTF(1, 2);
static void say(const char *fmt, ...)
{
	const char *log = getenv("PASSMITH_ORT_LOG");
	char text[PM_ERR_MAX];
	va_list ap;

	if (!log || !*log || strcmp(log, "0") == 0)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	fprintf(stderr, "passmith_ort: %s\n", text);
}

/* --- tensors ---------------------------------------------------------------------------------------------
 */

static OrtStatus *status(const PmOrtApi *api, PmStatus st, const PmErr *err)
{
	return api->CreateStatus(st == PM_E_NOT_FOUND ? ORT_NO_SUCHFILE
				 : st == PM_E_INVALID ? ORT_INVALID_ARGUMENT
						      : ORT_FAIL,
				 err->text);
}

static void put_sizes(PmStr *out, uint32_t type, const int64_t *dim, size_t rank)
{
	pm_str_addf(out, "type %u [", type);
	for (size_t i = 0; i < rank; i++)
		pm_str_addf(out, "%s%" PRId64, i ? "," : "", dim[i]);
	pm_str_add(out, "]");
}

static PmStatus compare(const Op *op, size_t i, int type, const int64_t *dim, size_t rank, PmErr *err)
{
	const PmOrtValue *want = &op->kernel->in[i];
	PmStr is = PM_STR_INIT, was = PM_STR_INIT;
	PmStatus st;

	if ((uint32_t)type == want->type && rank == want->rank &&
	    (!rank || memcmp(dim, want->dim, rank * sizeof *dim) == 0))
		return PM_OK;
	put_sizes(&was, want->type, want->dim, want->rank);
	put_sizes(&is, (uint32_t)type, dim, rank);
	st = pm_err(
		err, PM_E_INVALID,
		"%s (kernel '%s') was compiled for %s as operand %zu and gets %s; bind the original model to "
		"these sizes (passmith bind) and apply the passes again.",
		op->kernel->name, op->kernel->label, was.s, i, is.s);
	pm_str_release(&was);
	pm_str_release(&is);
	return st;
}

/* The data of operand i, once its type and sizes are those of the kernel. */
static OrtStatus *take_input(const Op *op, OrtKernelContext *c, size_t i, void **data)
{
	const PmOrtApi *api = &op->library->api;
	OrtTensorTypeAndShapeInfo *info = NULL;
	int64_t dim[PM_ORT_MAX_RANK] = { 0 };
	const OrtValue *v = NULL;
	OrtStatus *s = api->KernelContext_GetInput(c, i, &v);
	size_t rank = 0;
	int type = 0;
	PmErr err;

	if (!s)
		s = api->GetTensorTypeAndShape(v, &info);
	if (!s)
		s = api->GetTensorElementType(info, &type);
	if (!s)
		s = api->GetDimensionsCount(info, &rank);
	if (!s && rank <= PM_ORT_MAX_RANK)
		s = api->GetDimensions(info, dim, rank);
	if (info)
		api->ReleaseTensorTypeAndShapeInfo(info);
	if (s)
		return s;
	if (compare(op, i, type, dim, rank, &err))
		return status(api, PM_E_INVALID, &err);
	return api->GetTensorMutableData((OrtValue *)(uintptr_t)v, data);
}

static OrtStatus *take_tensors(const Op *op, OrtKernelContext *c, PmOrtCall *call)
{
	const PmOrtApi *api = &op->library->api;
	const PmOrtKernel *k = op->kernel;
	size_t n_in = 0, n_out = 0;
	OrtStatus *s = api->KernelContext_GetInputCount(c, &n_in);

	if (!s)
		s = api->KernelContext_GetOutputCount(c, &n_out);
	if (!s && (n_in != k->n_in || n_out != k->n_out))
		s = api->CreateStatus(ORT_INVALID_GRAPH,
				      "A node has other numbers of operands or results than its kernel.");
	for (uint32_t i = 0; i < k->n_in && !s; i++)
		s = take_input(op, c, i, &call->in[i]);
	for (uint32_t i = 0; i < k->n_out && !s; i++) {
		OrtValue *v = NULL;

		s = api->KernelContext_GetOutput(c, i, k->out[i].dim, k->out[i].rank, &v);
		if (!s)
			s = api->GetTensorMutableData(v, &call->out[i]);
	}
	return s;
}

static int aligned(const void *p, const PmOrtValue *v)
{
	return (uintptr_t)p % PM_ORT_ALIGN == 0 || pm_ort_value_bytes(v) == 0;
}

/* --- the CPU ---------------------------------------------------------------------------------------------
 */

enum { LINE = 64 };

static size_t rounded(uint64_t bytes)
{
	return (size_t)((bytes + LINE - 1) / LINE * LINE);
}

/* Scratch, and copies of tensors that begin where vectors cannot be read, out of one piece of memory. */
static void *take_memory(const PmOrtKernel *k, PmOrtCall *call)
{
	size_t bytes = LINE, at = 0;
	unsigned char *p;

	for (uint32_t i = 0; i < k->n_scratch; i++)
		bytes += rounded(k->scratch[i]);
	for (uint32_t i = 0; i < k->n_in; i++)
		bytes += aligned(call->in[i], &k->in[i]) ? 0 : rounded(pm_ort_value_bytes(&k->in[i]));
	for (uint32_t i = 0; i < k->n_out; i++)
		bytes += aligned(call->out[i], &k->out[i]) ? 0 : rounded(pm_ort_value_bytes(&k->out[i]));
	p = aligned_alloc(LINE, bytes);
	if (!p)
		return NULL;
	for (uint32_t i = 0; i < k->n_scratch; at += rounded(k->scratch[i++]))
		call->scratch[i] = p + at;
	for (uint32_t i = 0; i < k->n_in; i++) {
		if (aligned(call->in[i], &k->in[i]))
			continue;
		memcpy(p + at, call->in[i], (size_t)pm_ort_value_bytes(&k->in[i]));
		call->in[i] = p + at;
		at += rounded(pm_ort_value_bytes(&k->in[i]));
	}
	for (uint32_t i = 0; i < k->n_out; i++) {
		if (aligned(call->out[i], &k->out[i]))
			continue;
		call->out[i] = p + at;
		at += rounded(pm_ort_value_bytes(&k->out[i]));
	}
	return p;
}

static PmStatus run_cpu(const Op *op, PmOrtCall *call, PmErr *err)
{
	const PmOrtKernel *k = op->kernel;
	void *out[PM_ORT_MAX_VALUES], *memory;
	PmStatus st;

	memcpy(out, call->out, sizeof out);
	memory = take_memory(k, call);
	if (!memory)
		return pm_err(err, PM_E_LIMIT, "There is no memory for the scratch buffers of kernel '%s'.",
			      k->label);
	st = pm__ort_cpu_run(&op->library->loaded, call, err);
	for (uint32_t i = 0; i < k->n_out && !st; i++)
		if (out[i] != call->out[i])
			memcpy(out[i], call->out[i], (size_t)pm_ort_value_bytes(&k->out[i]));
	free(memory);
	return st;
}

/* --- a GPU -----------------------------------------------------------------------------------------------
 */

static PmStatus check_places(const PmOrtKernel *k, const PmOrtCall *call, PmErr *err)
{
	int ok = 1;

	for (uint32_t i = 0; i < k->n_in; i++)
		ok &= aligned(call->in[i], &k->in[i]);
	for (uint32_t i = 0; i < k->n_out; i++)
		ok &= aligned(call->out[i], &k->out[i]);
	return ok ? PM_OK
		  : pm_err(err, PM_E_INVALID,
			   "A tensor of kernel '%s' begins at an address that is no multiple of %d bytes; "
			   "bind "
			   "tensors that begin at one.",
			   k->label, PM_ORT_ALIGN);
}

/* Scratch of the run's allocator, in the order of the stream: it may be given back as soon as the launches
 * are enqueued. */
static OrtStatus *take_scratch(const Op *op, OrtKernelContext *c, const OrtMemoryInfo *place, PmOrtCall *call,
			       uint32_t *taken)
{
	OrtStatus *s = NULL;

	for (*taken = 0; *taken < op->kernel->n_scratch; ++*taken) {
		call->scratch[*taken] = NULL;
		s = op->library->api.KernelContext_GetScratchBuffer(c, place, op->kernel->scratch[*taken],
								    &call->scratch[*taken]);
		if (s)
			break;
	}
	return s;
}

static void give_scratch_back(const Op *op, OrtKernelContext *c, const OrtMemoryInfo *place,
			      const PmOrtCall *call, uint32_t taken)
{
	const PmOrtApi *api = &op->library->api;
	OrtAllocator *allocator = NULL;
	OrtStatus *s = api->KernelContext_GetAllocator(c, place, &allocator);

	for (uint32_t i = 0; i < taken && !s; i++)
		if (call->scratch[i])
			s = api->AllocatorFree(allocator, call->scratch[i]);
	if (s)
		api->ReleaseStatus(s);
	if (allocator)
		api->ReleaseAllocator(allocator);
}

static OrtStatus *run_gpu(const Op *op, OrtKernelContext *c, PmOrtCall *call)
{
	const PmOrtApi *api = &op->library->api;
	OrtMemoryInfo *place = NULL;
	void *stream = NULL;
	OrtStatus *s = api->KernelContext_GetGPUComputeStream(c, &stream);
	uint32_t taken = 0;
	int ordinal = 0;
	PmErr err;
	PmStatus st;

	if (s)
		return s;
	st = check_places(op->kernel, call, &err);
	if (!st && op->kernel->n_scratch) {
		st = pm__ort_gpu_device(stream, &ordinal, &err);
		if (!st)
			s = api->CreateMemoryInfo("Cuda", ORT_DEVICE_ALLOCATOR, ordinal, ORT_MEMORY_DEFAULT,
						  &place);
		if (!st && !s)
			s = take_scratch(op, c, place, call, &taken);
	}
	if (!st && !s)
		st = pm__ort_gpu_run(&op->library->loaded, call, stream, &err);
	if (taken)
		give_scratch_back(op, c, place, call, taken);
	if (place)
		api->ReleaseMemoryInfo(place);
	return s ? s : st ? status(api, st, &err) : NULL;
}

/* --- what ONNX Runtime asks of an operator ---------------------------------------------------------------
 */

static const Op *of(const OrtCustomOp *base)
{
	return (const Op *)base;
}

static const char *op_name(const OrtCustomOp *base)
{
	return of(base)->kernel->name;
}

static const char *op_provider(const OrtCustomOp *base)
{
	return of(base)->gpu ? "CUDAExecutionProvider" : "CPUExecutionProvider";
}

static size_t op_n_in(const OrtCustomOp *base)
{
	return of(base)->kernel->n_in;
}

static size_t op_n_out(const OrtCustomOp *base)
{
	return of(base)->kernel->n_out;
}

static int op_in(const OrtCustomOp *base, size_t i)
{
	return (int)of(base)->kernel->in[i].type;
}

static int op_out(const OrtCustomOp *base, size_t i)
{
	return (int)of(base)->kernel->out[i].type;
}

static int op_required(const OrtCustomOp *base, size_t i)
{
	(void)base;
	(void)i;
	return ORT_IO_REQUIRED;
}

static int op_memory(const OrtCustomOp *base, size_t i)
{
	(void)base;
	(void)i;
	return ORT_MEMORY_DEFAULT;
}

/* Nothing is variadic. */
static int op_one(const OrtCustomOp *base)
{
	(void)base;
	return 1;
}

static OrtStatus *op_create(const OrtCustomOp *base, const void *table, const OrtKernelInfo *info,
			    void **kernel)
{
	const Op *op = of(base);
	PmOrtLoaded *l = &op->library->loaded;
	PmErr err;
	PmStatus st = op->gpu ? pm__ort_gpu_load(l, op->kernel, &err) : pm__ort_cpu_load(l, op->kernel, &err);

	(void)table;
	(void)info;
	*kernel = (void *)(uintptr_t)op;
	if (st)
		return status(&op->library->api, st, &err);
	say("%s runs the kernel '%s' on %s", op->kernel->name, op->kernel->label,
	    op->gpu ? "a GPU" : "the CPU");
	return NULL;
}

static OrtStatus *op_compute(void *kernel, OrtKernelContext *c)
{
	const Op *op = kernel;
	PmOrtCall call = { .kernel = op->kernel };
	OrtStatus *s = take_tensors(op, c, &call);
	PmErr err;

	if (!s && op->gpu) {
		s = run_gpu(op, c, &call);
	} else if (!s) {
		PmStatus st = run_cpu(op, &call, &err);

		s = st ? status(&op->library->api, st, &err) : NULL;
	}
	if (!s)
		atomic_fetch_add(&n_launches, op->kernel->n_launches);
	return s;
}

static void op_destroy(void *kernel)
{
	(void)kernel;
}

static const OrtCustomOp op_functions = {
	.version = PM_ORT_API,
	.GetName = op_name,
	.GetExecutionProviderType = op_provider,
	.GetInputType = op_in,
	.GetInputTypeCount = op_n_in,
	.GetOutputType = op_out,
	.GetOutputTypeCount = op_n_out,
	.KernelDestroy = op_destroy,
	.GetInputCharacteristic = op_required,
	.GetOutputCharacteristic = op_required,
	.GetInputMemoryType = op_memory,
	.GetVariadicInputMinArity = op_one,
	.GetVariadicInputHomogeneity = op_one,
	.GetVariadicOutputMinArity = op_one,
	.GetVariadicOutputHomogeneity = op_one,
	.CreateKernelV2 = op_create,
	.KernelComputeV2 = op_compute,
};

/* --- registration ----------------------------------------------------------------------------------------
 */

static PmStatus read_file(const char *path, unsigned char **out, size_t *n, PmErr *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat s = { 0 };
	size_t done = 0;
	ssize_t got = 1;
	int known = fd >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_size <= MAX_FILE;

	*n = known ? (size_t)s.st_size : 0;
	*out = known ? pm_xmalloc(*n + 1) : NULL;
	while (known && done < *n && (got > 0 || (got < 0 && errno == EINTR))) {
		got = read(fd, *out + done, *n - done);
		done += got > 0 ? (size_t)got : 0;
	}
	if (fd >= 0)
		close(fd);
	if (known && done == *n)
		return PM_OK;
	free(*out);
	*out = NULL;
	return pm_err(err, PM_E_NOT_FOUND,
		      "The file of kernels \"%s\" cannot be read; check the path in the session's entry "
		      "passmith.kernels or in PASSMITH_ORT_KERNELS.",
		      path);
}

static void make_ops(Library *l)
{
	const PmOrtKernels *all = &l->loaded.all;

	l->op = pm_xcalloc((size_t)all->n_kernels * 2 + 1, sizeof *l->op);
	for (uint32_t i = 0; i < all->n_kernels; i++) {
		const PmOrtKernel *k = &all->kernel[i];

		for (int gpu = 0; gpu < 2; gpu++)
			if (gpu ? pm__ort_gpu_has(all, k) : pm__ort_cpu_has(all, k))
				l->op[l->n_ops++] = (Op){
					.base = op_functions, .library = l, .kernel = k, .gpu = gpu
				};
	}
}

static void free_library(Library *l)
{
	pm_arena_free(l->arena);
	free(l->bytes);
	free(l->op);
	free(l->loaded.host);
	free(l->loaded.module);
	free(l->loaded.gpu);
	pthread_mutex_destroy(&l->loaded.lock);
	free(l);
}

static PmStatus open_library(const char *path, Library **out, PmErr *err)
{
	Library *l = pm_xcalloc(1, sizeof *l);
	size_t n = 0;
	PmStatus st = read_file(path, &l->bytes, &n, err);

	l->arena = pm_arena_new(0);
	pthread_mutex_init(&l->loaded.lock, NULL);
	if (!st)
		st = pm_ort_kernels_read(l->bytes, n, path, l->arena, &l->loaded.all, err);
	if (st) {
		free_library(l);
		return st;
	}
	l->loaded.host = pm_xcalloc(l->loaded.all.n_images + 1, sizeof *l->loaded.host);
	l->loaded.module = pm_xcalloc(l->loaded.all.n_images + 1, sizeof *l->loaded.module);
	l->loaded.gpu = pm_xcalloc(l->loaded.all.n_kernels + 1, sizeof *l->loaded.gpu);
	make_ops(l);
	*out = l;
	return PM_OK;
}

/* A domain with all operators. One that is given up on an error stays: it may have been looked at. */
static OrtStatus *make_domain(Library *l)
{
	OrtStatus *s = l->api.CreateCustomOpDomain("passmith", &l->domain);

	for (size_t i = 0; i < l->n_ops && !s; i++)
		s = l->api.CustomOpDomain_Add(l->domain, &l->op[i].base);
	return s;
}

/* The library of this content that is there already takes the place of a new one. */
static OrtStatus *share(Library *l, const void *table, const PmOrtApi *api, Library **out)
{
	OrtStatus *s = NULL;
	Library *known;

	pthread_mutex_lock(&libraries_lock);
	for (known = libraries; known; known = known->next)
		if (known->table == table &&
		    memcmp(known->loaded.all.digest, l->loaded.all.digest, PM_ORT_DIGEST) == 0)
			break;
	if (!known) {
		l->table = table;
		l->api = *api;
		s = make_domain(l);
		if (!s) {
			l->next = libraries;
			libraries = l;
		}
	}
	pthread_mutex_unlock(&libraries_lock);
	if (known)
		free_library(l);
	*out = known ? known : l;
	return s;
}

/* The entry of the session's options, or the environment's. */
static OrtStatus *find_path(const PmOrtApi *api, const OrtSessionOptions *options, char path[MAX_PATH_BYTES])
{
	static const char key[] = "passmith.kernels";
	const char *variable = getenv("PASSMITH_ORT_KERNELS");
	size_t n = MAX_PATH_BYTES;
	int has = 0;
	OrtStatus *s = api->HasSessionConfigEntry(options, key, &has);

	if (!s && has)
		return api->GetSessionConfigEntry(options, key, path, &n);
	if (!s && (!variable || !*variable || strlen(variable) >= MAX_PATH_BYTES))
		return api->CreateStatus(
			ORT_INVALID_ARGUMENT,
			"libpassmith_ort does not know which kernels to run: add the session's entry "
			"passmith.kernels before the library is registered, or set PASSMITH_ORT_KERNELS, to "
			"the "
			"file that passmith apply --ort-kernels wrote.");
	if (!s)
		snprintf(path, MAX_PATH_BYTES, "%s", variable);
	return s;
}

/* The first version has CreateStatus too. */
static OrtStatus *too_old(const OrtApiBase *base)
{
	const void *table = base->GetApi(1);
	char text[256];
	PmOrtApi api;

	if (!table)
		return NULL;
	memcpy(&api.CreateStatus, table, sizeof api.CreateStatus);
	snprintf(text, sizeof text,
		 "libpassmith_ort needs ONNX Runtime 1.18 or newer, and this is %.40s; install a newer one.",
		 base->GetVersionString());
	return api.CreateStatus(ORT_FAIL, text);
}

OrtStatus *RegisterCustomOps(OrtSessionOptions *options, const OrtApiBase *base)
{
	const void *table = base->GetApi(PM_ORT_API);
	char path[MAX_PATH_BYTES];
	Library *l = NULL;
	OrtStatus *s;
	PmOrtApi api;
	PmErr err;
	PmStatus st;

	if (!table)
		return too_old(base);
	pm__ort_api_take(table, &api);
	s = find_path(&api, options, path);
	if (s)
		return s;
	st = open_library(path, &l, &err);
	if (st)
		return status(&api, st, &err);
	s = share(l, table, &api, &l);
	if (s)
		return s;
	say("%s has %u kernels", path, l->loaded.all.n_kernels);
	return api.AddCustomOpDomain(options, l->domain);
}
