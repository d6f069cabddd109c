/* SPDX-License-Identifier: Apache-2.0 */
/* ort_probe.c - a library of custom operators that calls each function of ort/api.h in a real ONNX Runtime,
 * and sees by what it does that it is the one that stands at that place. tools/check/check_ort_library.py
 * runs it.
 *
 * The operator passmith.probe:Probe has an operand float[2,3] and a result of that type, twice the operand.
 * It runs on the CPU, where a kernel has no stream of a GPU and scratch is the CPU's. A function that does
 * something else ends the run with a status that names it.
 */
#include "ort/api.h"

#include <string.h>

static PmOrtApi api;
static char seen[64]; /* what the entry of the session says */

#define NEED(ok, name)                                                                                       \
	do {                                                                                                 \
		if (!(ok))                                                                                   \
			return api.CreateStatus(ORT_FAIL, "probe: " name " does something else");            \
	} while (0)

static const char *name(const OrtCustomOp *op)
{
	(void)op;
	return "Probe";
}

static const char *provider(const OrtCustomOp *op)
{
	(void)op;
	return "CPUExecutionProvider";
}

static int type(const OrtCustomOp *op, size_t i)
{
	(void)op, (void)i;
	return 1;
}

static size_t one_value(const OrtCustomOp *op)
{
	(void)op;
	return 1;
}

static int zero(const OrtCustomOp *op, size_t i)
{
	(void)op, (void)i;
	return 0;
}

static int one(const OrtCustomOp *op)
{
	(void)op;
	return 1;
}

static OrtStatus *create(const OrtCustomOp *op, const void *table, const OrtKernelInfo *info, void **kernel)
{
	(void)op, (void)table, (void)info;
	*kernel = &api;
	return NULL;
}

static void destroy(void *kernel)
{
	(void)kernel;
}

/* Memory of the run's allocator. */
static OrtStatus *scratch(OrtKernelContext *c)
{
	OrtMemoryInfo *place = NULL;
	OrtAllocator *allocator = NULL;
	void *p = NULL;

	NEED(!api.CreateMemoryInfo("Cpu", ORT_DEVICE_ALLOCATOR, 0, ORT_MEMORY_DEFAULT, &place) && place,
	     "CreateMemoryInfo");
	NEED(!api.KernelContext_GetAllocator(c, place, &allocator) && allocator,
	     "KernelContext_GetAllocator");
	NEED(!api.KernelContext_GetScratchBuffer(c, place, 4096, &p) && p, "KernelContext_GetScratchBuffer");
	memset(p, 1, 4096);
	NEED(!api.AllocatorFree(allocator, p), "AllocatorFree");
	api.ReleaseAllocator(allocator);
	api.ReleaseMemoryInfo(place);
	return NULL;
}

static OrtStatus *compute(void *kernel, OrtKernelContext *c)
{
	OrtTensorTypeAndShapeInfo *info = NULL;
	const OrtValue *in = NULL;
	OrtValue *out = NULL;
	OrtStatus *s;
	int64_t dim[2] = { 0 };
	size_t n_in = 0, n_out = 0, rank = 0;
	void *from = NULL, *to = NULL, *stream = &api;
	int got = 0;

	(void)kernel;
	NEED(!api.KernelContext_GetInputCount(c, &n_in) && n_in == 1, "KernelContext_GetInputCount");
	NEED(!api.KernelContext_GetOutputCount(c, &n_out) && n_out == 1, "KernelContext_GetOutputCount");
	NEED(!api.KernelContext_GetInput(c, 0, &in) && in, "KernelContext_GetInput");
	NEED(!api.GetTensorTypeAndShape(in, &info) && info, "GetTensorTypeAndShape");
	NEED(!api.GetTensorElementType(info, &got) && got == 1, "GetTensorElementType");
	NEED(!api.GetDimensionsCount(info, &rank) && rank == 2, "GetDimensionsCount");
	NEED(!api.GetDimensions(info, dim, 2) && dim[0] == 2 && dim[1] == 3, "GetDimensions");
	api.ReleaseTensorTypeAndShapeInfo(info);
	NEED(!api.KernelContext_GetOutput(c, 0, dim, 2, &out) && out, "KernelContext_GetOutput");
	NEED(!api.GetTensorMutableData((OrtValue *)(uintptr_t)in, &from) && from, "GetTensorMutableData");
	NEED(!api.GetTensorMutableData(out, &to) && to && to != from, "GetTensorMutableData");
	for (int i = 0; i < 6; i++)
		((float *)to)[i] = 2 * ((float *)from)[i];
	NEED(!api.KernelContext_GetGPUComputeStream(c, &stream) && !stream,
	     "KernelContext_GetGPUComputeStream");
	s = api.CreateStatus(ORT_FAIL, "a sentence");
	NEED(s && strcmp(api.GetErrorMessage(s), "a sentence") == 0, "GetErrorMessage");
	api.ReleaseStatus(s);
	return scratch(c);
}

static const OrtCustomOp probe = {
	.version = PM_ORT_API,
	.GetName = name,
	.GetExecutionProviderType = provider,
	.GetInputType = type,
	.GetInputTypeCount = one_value,
	.GetOutputType = type,
	.GetOutputTypeCount = one_value,
	.KernelDestroy = destroy,
	.GetInputCharacteristic = zero,
	.GetOutputCharacteristic = zero,
	.GetInputMemoryType = zero,
	.GetVariadicInputMinArity = one,
	.GetVariadicInputHomogeneity = one,
	.GetVariadicOutputMinArity = one,
	.GetVariadicOutputHomogeneity = one,
	.CreateKernelV2 = create,
	.KernelComputeV2 = compute,
};

__attribute__((visibility("default"))) OrtStatus *RegisterCustomOps(OrtSessionOptions *o,
								    const OrtApiBase *base);
OrtStatus *RegisterCustomOps(OrtSessionOptions *o, const OrtApiBase *base)
{
	OrtCustomOpDomain *domain = NULL;
	size_t bytes = sizeof seen;
	int has = 0;

	pm__ort_api_take(base->GetApi(PM_ORT_API), &api);
	NEED(!api.HasSessionConfigEntry(o, "passmith.probe", &has) && has == 1, "HasSessionConfigEntry");
	NEED(!api.GetSessionConfigEntry(o, "passmith.probe", seen, &bytes) && strcmp(seen, "found") == 0 &&
		     bytes == 6,
	     "GetSessionConfigEntry");
	NEED(!api.CreateCustomOpDomain("passmith.probe", &domain) && domain, "CreateCustomOpDomain");
	NEED(!api.CustomOpDomain_Add(domain, &probe), "CustomOpDomain_Add");
	return api.AddCustomOpDomain(o, domain);
}
