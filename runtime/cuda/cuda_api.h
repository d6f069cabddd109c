/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_api.h - the CUDA driver, opened at run time: its types, its functions, its numbers. */
#ifndef RUNTIME_CUDA_API_H
#define RUNTIME_CUDA_API_H

#include "base/core/err.h"

#include <stddef.h>
#include <stdint.h>

/* The driver's own types, by the signatures of the driver API's documentation. 0 is success. */
typedef uint64_t CuPtr;
typedef struct CuCtx CuCtx;
typedef struct CuMod CuMod;
typedef struct CuFn CuFn;
typedef struct CuStream CuStream;
typedef struct CuEvent CuEvent;
typedef struct CuGraph CuGraph;
typedef struct CuGraphExec CuGraphExec;
typedef struct CuMemPlace {
	int type, id;
} CuMemPlace;
typedef struct CuMemProp {
	int type, handle_types;
	CuMemPlace where;
	void *unused;
	unsigned char flags[8];
} CuMemProp;
typedef struct CuMemAccess {
	CuMemPlace where;
	int flags;
} CuMemAccess;

/* What a graph that cannot take another's place says of itself. */
typedef struct CuGraphUpdate {
	int result;
	void *node, *from;
} CuGraphUpdate;

/* XX(member, symbol, parameters). All return int. */
#define PM__CUDA_FUNCTIONS(XX)                                                                               \
	XX(init, cuInit, (unsigned flags))                                                                   \
	XX(driver_version, cuDriverGetVersion, (int *v))                                                     \
	XX(error_name, cuGetErrorName, (int error, const char **name))                                       \
	XX(error_string, cuGetErrorString, (int error, const char **text))                                   \
	XX(device_count, cuDeviceGetCount, (int *n))                                                         \
	XX(device_get, cuDeviceGet, (int *dev, int ordinal))                                                 \
	XX(device_name, cuDeviceGetName, (char *name, int n, int dev))                                       \
	XX(device_attr, cuDeviceGetAttribute, (int *value, int attr, int dev))                               \
	XX(device_pci, cuDeviceGetPCIBusId, (char *id, int n, int dev))                                      \
	XX(device_memory, cuDeviceTotalMem_v2, (size_t * bytes, int dev))                                    \
	XX(ctx_retain, cuDevicePrimaryCtxRetain, (CuCtx * *ctx, int dev))                                    \
	XX(ctx_release, cuDevicePrimaryCtxRelease_v2, (int dev))                                             \
	XX(ctx_set, cuCtxSetCurrent, (CuCtx * ctx))                                                          \
	XX(ctx_current, cuCtxGetCurrent, (CuCtx * *ctx))                                                     \
	XX(ctx_device, cuCtxGetDevice, (int *dev))                                                           \
	XX(ctx_push, cuCtxPushCurrent_v2, (CuCtx * ctx))                                                     \
	XX(ctx_pop, cuCtxPopCurrent_v2, (CuCtx * *ctx))                                                      \
	XX(module_load, cuModuleLoadData, (CuMod * *m, const void *image))                                   \
	XX(module_unload, cuModuleUnload, (CuMod * m))                                                       \
	XX(module_function, cuModuleGetFunction, (CuFn * *f, CuMod * m, const char *name))                   \
	XX(fn_attr, cuFuncGetAttribute, (int *value, int attr, CuFn *f))                                     \
	XX(fn_set_attr, cuFuncSetAttribute, (CuFn * f, int attr, int value))                                 \
	XX(mem_info, cuMemGetInfo_v2, (size_t * free, size_t * total))                                       \
	XX(mem_alloc, cuMemAlloc_v2, (CuPtr * p, size_t bytes))                                              \
	XX(mem_free, cuMemFree_v2, (CuPtr p))                                                                \
	XX(copy_to, cuMemcpyHtoDAsync_v2, (CuPtr to, const void *from, size_t bytes, CuStream *s))           \
	XX(copy_from, cuMemcpyDtoHAsync_v2, (void *to, CuPtr from, size_t bytes, CuStream *s))               \
	XX(set8, cuMemsetD8Async, (CuPtr p, unsigned char v, size_t n, CuStream *s))                         \
	XX(set16, cuMemsetD16Async, (CuPtr p, unsigned short v, size_t n, CuStream *s))                      \
	XX(set32, cuMemsetD32Async, (CuPtr p, unsigned v, size_t n, CuStream *s))                            \
	XX(copy, cuMemcpyDtoDAsync_v2, (CuPtr to, CuPtr from, size_t bytes, CuStream * s))                   \
	XX(mem_granularity, cuMemGetAllocationGranularity, (size_t * bytes, const CuMemProp *p, int which))  \
	XX(mem_reserve, cuMemAddressReserve,                                                                 \
	   (CuPtr * p, size_t bytes, size_t align, CuPtr at, unsigned long long flags))                      \
	XX(mem_unreserve, cuMemAddressFree, (CuPtr p, size_t bytes))                                         \
	XX(mem_create, cuMemCreate,                                                                          \
	   (unsigned long long *handle, size_t bytes, const CuMemProp *p, unsigned long long flags))         \
	XX(mem_release, cuMemRelease, (unsigned long long handle))                                           \
	XX(mem_map, cuMemMap,                                                                                \
	   (CuPtr p, size_t bytes, size_t offset, unsigned long long handle, unsigned long long flags))      \
	XX(mem_unmap, cuMemUnmap, (CuPtr p, size_t bytes))                                                   \
	XX(mem_access, cuMemSetAccess, (CuPtr p, size_t bytes, const CuMemAccess *a, size_t n))              \
	XX(launch, cuLaunchKernel,                                                                           \
	   (CuFn * f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,          \
	    unsigned smem, CuStream *s, void **params, void **extra))                                        \
	XX(stream_create, cuStreamCreate, (CuStream * *s, unsigned flags))                                   \
	XX(stream_destroy, cuStreamDestroy_v2, (CuStream * s))                                               \
	XX(stream_ctx, cuStreamGetCtx, (CuStream * s, CuCtx * *ctx))                                         \
	XX(stream_sync, cuStreamSynchronize, (CuStream * s))                                                 \
	XX(event_create, cuEventCreate, (CuEvent * *e, unsigned flags))                                      \
	XX(event_destroy, cuEventDestroy_v2, (CuEvent * e))                                                  \
	XX(event_record, cuEventRecord, (CuEvent * e, CuStream * s))                                         \
	XX(event_sync, cuEventSynchronize, (CuEvent * e))                                                    \
	XX(event_elapsed, cuEventElapsedTime, (float *ms, CuEvent *from, CuEvent *to))                       \
	XX(ctx_reset_l2, cuCtxResetPersistingL2Cache, (void))                                                \
	XX(capture_begin, cuStreamBeginCapture_v2, (CuStream * s, int mode))                                 \
	XX(capture_end, cuStreamEndCapture, (CuStream * s, CuGraph * *g))                                    \
	XX(graph_make, cuGraphInstantiateWithFlags,                                                          \
	   (CuGraphExec * *x, CuGraph * g, unsigned long long flags))                                        \
	XX(graph_update, cuGraphExecUpdate_v2, (CuGraphExec * x, CuGraph * g, CuGraphUpdate * why))          \
	XX(graph_launch, cuGraphLaunch, (CuGraphExec * x, CuStream * s))                                     \
	XX(graph_destroy, cuGraphDestroy, (CuGraph * g))                                                     \
	XX(graph_exec_destroy, cuGraphExecDestroy, (CuGraphExec * x))

typedef struct PmCuda {
	void *so;
#define XX(member, symbol, parameters) int(*member) parameters;
	PM__CUDA_FUNCTIONS(XX)
#undef XX
	int version; /* of CUDA that the driver knows: 13000 */
} PmCuda;

/* Numbers of the driver API that are used. */
enum {
	CU_OUT_OF_MEMORY = 2,
	CU_NO_DEVICE = 100,
	CU_INVALID_IMAGE = 200,
	CU_NO_BINARY_FOR_GPU = 209,
	CU_INVALID_PTX = 218,
	CU_UNSUPPORTED_PTX_VERSION = 222,
	CU_ILLEGAL_ADDRESS = 700,
	CU_LAUNCH_OUT_OF_RESOURCES = 701,
	CU_LAUNCH_TIMEOUT = 702,
	CU_ASSERT = 710,
	CU_HARDWARE_STACK_ERROR = 714,
	CU_ILLEGAL_INSTRUCTION = 715,
	CU_MISALIGNED_ADDRESS = 716,
	CU_INVALID_ADDRESS_SPACE = 717,
	CU_INVALID_PC = 718,
	CU_LAUNCH_FAILED = 719,

	CU_DEV_SM_KHZ = 13,
	CU_DEV_N_SM = 16,
	CU_DEV_COMPUTE_MODE = 20,
	CU_DEV_MEMORY_KHZ = 36,
	CU_DEV_MEMORY_BUS_BITS = 37,
	CU_DEV_L2 = 38,
	CU_DEV_SM_THREADS = 39,
	CU_DEV_CC_MAJOR = 75,
	CU_DEV_CC_MINOR = 76,
	CU_DEV_SM_SMEM = 81,
	CU_DEV_SM_REGISTERS = 82,
	CU_DEV_MAX_SMEM = 97, /* per block, opt-in */
	CU_DEV_HAS_VMM = 102,
	CU_DEV_SM_BLOCKS = 106,

	CU_MODE_EXCLUSIVE = 3, /* one process at a time */

	CU_FN_MAX_THREADS = 0,
	CU_FN_STATIC_SMEM = 1,
	CU_FN_MAX_DYNAMIC_SMEM = 8,

	CU_STREAM_NON_BLOCKING = 1,
	CU_CAPTURE_RELAXED = 2,
	CU_MIN_DRIVER = 12000,

	CU_PLAIN_SMEM = 48 * 1024 /* bytes of shared memory of a block that need no opting in */
};

/* Opens libcuda.so.1 and initialises it, once in this process: never call this in a process that forks device
 * workers later. *out is borrowed. PM_E_ENV says what is missing. */
PmStatus pm__cuda_open(const PmCuda **out, PmErr *err);

/* "cuMemAlloc: out of memory (CUDA_ERROR_OUT_OF_MEMORY)" as an error of the given status. */
PmStatus pm__cuda_fail(const PmCuda *cu, PmStatus st, const char *what, int error, PmErr *err);

#endif
