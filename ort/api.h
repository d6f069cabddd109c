/* SPDX-License-Identifier: Apache-2.0 */
/* api.h - what we use of the C interface of ONNX Runtime, in our own words: no header of it is needed.
 *
 * The interface is a table of functions that only grows: a version adds members behind those before it. So a
 * function is known by its place in the table and by its parameters. The places below are those of version
 * PM_ORT_API (ONNX Runtime 1.18) and of every later one; tools/check/check_ort_library.py calls each of them
 * in the real library.
 */
#ifndef ORT_API_H
#define ORT_API_H

#include <stddef.h>
#include <stdint.h>

/* The version that is asked for: the first one with all that is used (KernelContext_GetScratchBuffer). */
enum { PM_ORT_API = 18 };

/* Objects of ONNX Runtime, seen from outside. A status is NULL when all is well. */
typedef struct OrtStatus OrtStatus;
typedef struct OrtSessionOptions OrtSessionOptions;
typedef struct OrtCustomOpDomain OrtCustomOpDomain;
typedef struct OrtKernelInfo OrtKernelInfo;
typedef struct OrtKernelContext OrtKernelContext;
typedef struct OrtValue OrtValue;
typedef struct OrtTensorTypeAndShapeInfo OrtTensorTypeAndShapeInfo;
typedef struct OrtMemoryInfo OrtMemoryInfo;
typedef struct OrtAllocator OrtAllocator;
typedef struct OrtCustomOp OrtCustomOp;

/* The first and only symbol: GetApi gives the table of a version, NULL when the library is older. */
typedef struct OrtApiBase {
	const void *(*GetApi)(uint32_t version);
	const char *(*GetVersionString)(void);
} OrtApiBase;

enum { ORT_FAIL = 1, ORT_INVALID_ARGUMENT = 2, ORT_NO_SUCHFILE = 3, ORT_INVALID_GRAPH = 10 };
enum { ORT_DEVICE_ALLOCATOR = 0, ORT_MEMORY_DEFAULT = 0 };
enum { ORT_IO_REQUIRED = 0 };

/* XX(place, member, result, parameters), in the order of places. */
#define PM_ORT_FUNCTIONS(XX)                                                                                 \
	XX(0, CreateStatus, OrtStatus *, (int code, const char *text))                                       \
	XX(2, GetErrorMessage, const char *, (const OrtStatus *s))                                           \
	XX(26, CreateCustomOpDomain, OrtStatus *, (const char *domain, OrtCustomOpDomain **out))             \
	XX(27, CustomOpDomain_Add, OrtStatus *, (OrtCustomOpDomain * d, const OrtCustomOp *op))              \
	XX(28, AddCustomOpDomain, OrtStatus *, (OrtSessionOptions * o, OrtCustomOpDomain * d))               \
	XX(51, GetTensorMutableData, OrtStatus *, (OrtValue * v, void **data))                               \
	XX(60, GetTensorElementType, OrtStatus *, (const OrtTensorTypeAndShapeInfo *t, int *type))           \
	XX(61, GetDimensionsCount, OrtStatus *, (const OrtTensorTypeAndShapeInfo *t, size_t *rank))          \
	XX(62, GetDimensions, OrtStatus *, (const OrtTensorTypeAndShapeInfo *t, int64_t *dim, size_t rank))  \
	XX(65, GetTensorTypeAndShape, OrtStatus *, (const OrtValue *v, OrtTensorTypeAndShapeInfo **out))     \
	XX(68, CreateMemoryInfo, OrtStatus *,                                                                \
	   (const char *name, int allocator, int id, int memory, OrtMemoryInfo **out))                       \
	XX(76, AllocatorFree, OrtStatus *, (OrtAllocator * a, void *p))                                      \
	XX(88, KernelContext_GetInputCount, OrtStatus *, (const OrtKernelContext *c, size_t *n))             \
	XX(89, KernelContext_GetOutputCount, OrtStatus *, (const OrtKernelContext *c, size_t *n))            \
	XX(90, KernelContext_GetInput, OrtStatus *,                                                          \
	   (const OrtKernelContext *c, size_t i, const OrtValue **out))                                      \
	XX(91, KernelContext_GetOutput, OrtStatus *,                                                         \
	   (OrtKernelContext * c, size_t i, const int64_t *dim, size_t rank, OrtValue **out))                \
	XX(93, ReleaseStatus, void, (OrtStatus * s))                                                         \
	XX(94, ReleaseMemoryInfo, void, (OrtMemoryInfo * m))                                                 \
	XX(99, ReleaseTensorTypeAndShapeInfo, void, (OrtTensorTypeAndShapeInfo * t))                         \
	XX(132, ReleaseAllocator, void, (OrtAllocator * a))                                                  \
	XX(193, KernelContext_GetGPUComputeStream, OrtStatus *, (const OrtKernelContext *c, void **stream))  \
	XX(237, HasSessionConfigEntry, OrtStatus *, (const OrtSessionOptions *o, const char *key, int *has)) \
	XX(238, GetSessionConfigEntry, OrtStatus *,                                                          \
	   (const OrtSessionOptions *o, const char *key, char *value, size_t *bytes))                        \
	XX(253, KernelContext_GetAllocator, OrtStatus *,                                                     \
	   (const OrtKernelContext *c, const OrtMemoryInfo *m, OrtAllocator **out))                          \
	XX(277, KernelContext_GetScratchBuffer, OrtStatus *,                                                 \
	   (const OrtKernelContext *c, const OrtMemoryInfo *m, size_t bytes, void **out))
enum { PM_ORT_PLACES = 278 };

/* The functions of the table that are used. */
typedef struct PmOrtApi {
#define XX(place, member, result, parameters) result(*member) parameters;
	PM_ORT_FUNCTIONS(XX)
#undef XX
} PmOrtApi;

/* Takes them out of a table of PM_ORT_API. */
void pm__ort_api_take(const void *table, PmOrtApi *out);

/* A custom operator, as ONNX Runtime reads it in `version`: functions that it asks. Those that may be NULL
 * are the ones behind CreateKernelV2's group that say so. */
struct OrtCustomOp {
	uint32_t version;
	void *(*CreateKernel)(const OrtCustomOp *op, const void *api, const OrtKernelInfo *info);
	const char *(*GetName)(const OrtCustomOp *op);
	const char *(*GetExecutionProviderType)(const OrtCustomOp *op);
	int (*GetInputType)(const OrtCustomOp *op, size_t i); /* ONNX's number */
	size_t (*GetInputTypeCount)(const OrtCustomOp *op);
	int (*GetOutputType)(const OrtCustomOp *op, size_t i);
	size_t (*GetOutputTypeCount)(const OrtCustomOp *op);
	void (*KernelCompute)(void *kernel, OrtKernelContext *c); /* not called: KernelComputeV2 is there */
	void (*KernelDestroy)(void *kernel);
	int (*GetInputCharacteristic)(const OrtCustomOp *op, size_t i);
	int (*GetOutputCharacteristic)(const OrtCustomOp *op, size_t i);
	int (*GetInputMemoryType)(const OrtCustomOp *op, size_t i);
	int (*GetVariadicInputMinArity)(const OrtCustomOp *op);
	int (*GetVariadicInputHomogeneity)(const OrtCustomOp *op);
	int (*GetVariadicOutputMinArity)(const OrtCustomOp *op);
	int (*GetVariadicOutputHomogeneity)(const OrtCustomOp *op);
	OrtStatus *(*CreateKernelV2)(const OrtCustomOp *op, const void *api, const OrtKernelInfo *info,
				     void **kernel);
	OrtStatus *(*KernelComputeV2)(void *kernel, OrtKernelContext *c);
	OrtStatus *(*InferOutputShapeFn)(const OrtCustomOp *op, void *context); /* or NULL */
	int (*GetStartVersion)(const OrtCustomOp *op);                          /* or NULL: 1 */
	int (*GetEndVersion)(const OrtCustomOp *op);                            /* or NULL: all later ones */
	/* Which operands' memory a result may take; NULL: none. */
	size_t (*GetMayInplace)(int **input, int **output);
	void (*ReleaseMayInplace)(int *input, int *output);
	size_t (*GetAliasMap)(int **input, int **output);
	void (*ReleaseAliasMap)(int *input, int *output);
};

#endif
