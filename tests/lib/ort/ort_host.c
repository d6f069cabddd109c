/* SPDX-License-Identifier: Apache-2.0 */
/* ort_host.c - a host of custom operators with ONNX Runtime's interface. */
#include "tests/lib/ort/ort_host.h"

#include "ort/api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPS = 4096, HOST_FAIL = 1 };

struct OrtStatus {
	int code;
	char text[ORT_HOST_TEXT];
};

struct OrtCustomOpDomain {
	char name[32];
	const OrtCustomOp *op[MAX_OPS];
	size_t n;
};

struct OrtSessionOptions {
	const char *entry;
	OrtCustomOpDomain *domain;
};

struct OrtTensorTypeAndShapeInfo {
	const OrtHostTensor *t;
};

struct OrtMemoryInfo {
	char name[16];
	int id;
};

struct OrtKernelContext {
	const OrtHostPlace *place;
	const OrtHostTensor *in;
	OrtHostTensor *out;
	size_t n_in, n_out;
};

/* Of the context's memory. */
struct OrtAllocator {
	const OrtHostPlace *place;
};

struct OrtHost {
	void *so;
	unsigned long long (*launches)(void);
	OrtSessionOptions options;
	pthread_mutex_t lock;
	void *kernel[MAX_OPS]; /* of each operator, once it was created */
};

static atomic_int scratch_out, scratch_taken;

/* --- the table -------------------------------------------------------------------------------------------
 */

static OrtStatus *CreateStatus(int code, const char *text)
{
	OrtStatus *s = calloc(1, sizeof *s);

	if (!s)
		abort();
	s->code = code;
	snprintf(s->text, sizeof s->text, "%s", text);
	return s;
}

static const char *GetErrorMessage(const OrtStatus *s)
{
	return s->text;
}

static void ReleaseStatus(OrtStatus *s)
{
	free(s);
}

static OrtStatus *CreateCustomOpDomain(const char *name, OrtCustomOpDomain **out)
{
	*out = calloc(1, sizeof **out);
	if (!*out)
		abort();
	snprintf((*out)->name, sizeof(*out)->name, "%s", name);
	return NULL;
}

static OrtStatus *CustomOpDomain_Add(OrtCustomOpDomain *d, const OrtCustomOp *op)
{
	if (d->n == MAX_OPS)
		return CreateStatus(HOST_FAIL, "There are too many operators.");
	d->op[d->n++] = op;
	return NULL;
}

static OrtStatus *AddCustomOpDomain(OrtSessionOptions *o, OrtCustomOpDomain *d)
{
	o->domain = d;
	return NULL;
}

static OrtStatus *HasSessionConfigEntry(const OrtSessionOptions *o, const char *key, int *has)
{
	*has = o->entry && strcmp(key, "passmith.kernels") == 0;
	return NULL;
}

static OrtStatus *GetSessionConfigEntry(const OrtSessionOptions *o, const char *key, char *value,
					size_t *bytes)
{
	int has;

	HasSessionConfigEntry(o, key, &has);
	if (!has || strlen(o->entry) >= *bytes)
		return CreateStatus(HOST_FAIL, "The entry is not there, or the room is too small.");
	*bytes = strlen(o->entry) + 1;
	memcpy(value, o->entry, *bytes);
	return NULL;
}

static OrtStatus *GetTensorMutableData(OrtValue *v, void **data)
{
	*data = ((OrtHostTensor *)v)->data;
	return NULL;
}

static OrtStatus *GetTensorTypeAndShape(const OrtValue *v, OrtTensorTypeAndShapeInfo **out)
{
	*out = calloc(1, sizeof **out);
	if (!*out)
		abort();
	(*out)->t = (const OrtHostTensor *)v;
	return NULL;
}

static void ReleaseTensorTypeAndShapeInfo(OrtTensorTypeAndShapeInfo *t)
{
	free(t);
}

static OrtStatus *GetTensorElementType(const OrtTensorTypeAndShapeInfo *t, int *type)
{
	*type = t->t->type;
	return NULL;
}

static OrtStatus *GetDimensionsCount(const OrtTensorTypeAndShapeInfo *t, size_t *rank)
{
	*rank = t->t->rank;
	return NULL;
}

static OrtStatus *GetDimensions(const OrtTensorTypeAndShapeInfo *t, int64_t *dim, size_t rank)
{
	memcpy(dim, t->t->dim, rank * sizeof *dim);
	return NULL;
}

static OrtStatus *KernelContext_GetInputCount(const OrtKernelContext *c, size_t *n)
{
	*n = c->n_in;
	return NULL;
}

static OrtStatus *KernelContext_GetOutputCount(const OrtKernelContext *c, size_t *n)
{
	*n = c->n_out;
	return NULL;
}

static OrtStatus *KernelContext_GetInput(const OrtKernelContext *c, size_t i, const OrtValue **out)
{
	*out = (const OrtValue *)&c->in[i];
	return NULL;
}

static OrtStatus *KernelContext_GetOutput(OrtKernelContext *c, size_t i, const int64_t *dim, size_t rank,
					  OrtValue **out)
{
	if (i >= c->n_out || rank != c->out[i].rank ||
	    (rank && memcmp(dim, c->out[i].dim, rank * sizeof *dim)))
		return CreateStatus(HOST_FAIL, "A result has other sizes than the model says.");
	*out = (OrtValue *)&c->out[i];
	return NULL;
}

static OrtStatus *KernelContext_GetGPUComputeStream(const OrtKernelContext *c, void **stream)
{
	*stream = c->place->stream;
	return NULL;
}

static OrtStatus *CreateMemoryInfo(const char *name, int allocator, int id, int memory, OrtMemoryInfo **out)
{
	if (allocator != ORT_DEVICE_ALLOCATOR || memory != ORT_MEMORY_DEFAULT)
		return CreateStatus(HOST_FAIL, "The memory is of a kind that kernels do not have.");
	*out = calloc(1, sizeof **out);
	if (!*out)
		abort();
	snprintf((*out)->name, sizeof(*out)->name, "%s", name);
	(*out)->id = id;
	return NULL;
}

static void ReleaseMemoryInfo(OrtMemoryInfo *m)
{
	free(m);
}

static OrtStatus *KernelContext_GetScratchBuffer(const OrtKernelContext *c, const OrtMemoryInfo *m,
						 size_t bytes, void **out)
{
	if (strcmp(m->name, "Cuda") != 0 || m->id != 0)
		return CreateStatus(HOST_FAIL, "The scratch is not of the GPU that the kernel runs on.");
	*out = c->place->alloc(bytes);
	scratch_out++;
	scratch_taken++;
	return NULL;
}

static OrtStatus *KernelContext_GetAllocator(const OrtKernelContext *c, const OrtMemoryInfo *m,
					     OrtAllocator **out)
{
	(void)m;
	*out = calloc(1, sizeof **out);
	if (!*out)
		abort();
	(*out)->place = c->place;
	return NULL;
}

static OrtStatus *AllocatorFree(OrtAllocator *a, void *p)
{
	a->place->free(p);
	scratch_out--;
	return NULL;
}

static void ReleaseAllocator(OrtAllocator *a)
{
	free(a);
}

/* What a library that takes another place than it should comes to. */
static void not_ours(void)
{
	fprintf(stderr, "ort_host: a function was called that libpassmith_ort does not use\n");
	abort();
}

static void *table[PM_ORT_PLACES];
static uint32_t newest_version;

static const void *GetApi(uint32_t version)
{
	void (*other)(void) = not_ours;

	for (size_t i = 0; i < PM_ORT_PLACES; i++)
		memcpy(&table[i], &other, sizeof other);
#define XX(place, member, result, parameters)                                                                \
	{                                                                                                    \
		result(*f) parameters = member;                                                              \
		memcpy(&table[place], &f, sizeof f);                                                         \
	}
	PM_ORT_FUNCTIONS(XX)
#undef XX
	return version <= newest_version ? table : NULL;
}

static const char *GetVersionString(void)
{
	static char text[32];

	snprintf(text, sizeof text, "1.%u.0", newest_version);
	return text;
}

/* --- the host --------------------------------------------------------------------------------------------
 */

static int take(OrtStatus *s, char why[ORT_HOST_TEXT])
{
	int code = s ? s->code : 0;

	snprintf(why, ORT_HOST_TEXT, "%s", s ? s->text : "");
	free(s);
	return code;
}

static void *symbol(void *so, const char *name)
{
	void *p = dlsym(so, name);

	if (!p) {
		fprintf(stderr, "ort_host: the library lacks %s\n", name);
		abort();
	}
	return p;
}

OrtHost *ort_host_open(const char *library, const char *entry, uint32_t newest, char why[ORT_HOST_TEXT])
{
	static const OrtApiBase base = { GetApi, GetVersionString };
	OrtStatus *(*add)(OrtSessionOptions *, const OrtApiBase *);
	OrtHost *h = calloc(1, sizeof *h);
	void *p;

	if (!h)
		abort();
	newest_version = newest;
	h->so = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (!h->so) {
		fprintf(stderr, "ort_host: %s\n", dlerror());
		abort();
	}
	p = symbol(h->so, "passmith_ort_launches");
	memcpy(&h->launches, &p, sizeof p);
	p = symbol(h->so, "RegisterCustomOps");
	memcpy(&add, &p, sizeof p);
	pthread_mutex_init(&h->lock, NULL);
	h->options.entry = entry;
	if (take(add(&h->options, &base), why) == 0)
		return h;
	ort_host_close(h);
	return NULL;
}

void ort_host_close(OrtHost *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < MAX_OPS; i++)
		if (h->kernel[i])
			h->options.domain->op[i]->KernelDestroy(h->kernel[i]);
	dlclose(h->so);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

size_t ort_host_n_ops(const OrtHost *h)
{
	return h->options.domain->n;
}

const char *ort_host_name(const OrtHost *h, size_t i)
{
	const OrtCustomOp *op = h->options.domain->op[i];

	return op->GetName(op);
}

const char *ort_host_provider(const OrtHost *h, size_t i)
{
	const OrtCustomOp *op = h->options.domain->op[i];

	return op->GetExecutionProviderType(op);
}

int ort_host_fits(const OrtHost *h, size_t i, const OrtHostTensor *in, size_t n_in, const OrtHostTensor *out,
		  size_t n_out)
{
	const OrtCustomOp *op = h->options.domain->op[i];
	int fits = op->version == PM_ORT_API && op->GetInputTypeCount(op) == n_in &&
		   op->GetOutputTypeCount(op) == n_out;

	for (size_t k = 0; k < n_in && fits; k++)
		fits = op->GetInputType(op, k) == in[k].type && !op->GetInputCharacteristic(op, k) &&
		       !op->GetInputMemoryType(op, k);
	for (size_t k = 0; k < n_out && fits; k++)
		fits = op->GetOutputType(op, k) == out[k].type && !op->GetOutputCharacteristic(op, k);
	return fits;
}

static int create(OrtHost *h, size_t i, char why[ORT_HOST_TEXT])
{
	const OrtCustomOp *op = h->options.domain->op[i];
	int code = 0;

	pthread_mutex_lock(&h->lock);
	if (!h->kernel[i])
		code = take(op->CreateKernelV2(op, table, NULL, &h->kernel[i]), why);
	if (code)
		h->kernel[i] = NULL;
	pthread_mutex_unlock(&h->lock);
	return code;
}

int ort_host_run(OrtHost *h, const char *name, const OrtHostPlace *place, const OrtHostTensor *in,
		 size_t n_in, OrtHostTensor *out, size_t n_out, char why[ORT_HOST_TEXT])
{
	OrtKernelContext c = { place, in, out, n_in, n_out };
	size_t i = 0, n = ort_host_n_ops(h);
	int code;

	while (i < n && (strcmp(ort_host_name(h, i), name) != 0 ||
			 strcmp(ort_host_provider(h, i), place->provider) != 0))
		i++;
	if (i == n)
		return -1;
	code = create(h, i, why);
	return code ? code : take(h->options.domain->op[i]->KernelComputeV2(h->kernel[i], &c), why);
}

int ort_host_scratch_out(void)
{
	return scratch_out;
}

int ort_host_scratch_taken(void)
{
	return scratch_taken;
}

unsigned long long ort_host_launches(const OrtHost *h)
{
	return h->launches();
}
