/* SPDX-License-Identifier: Apache-2.0 */
/* ort_cuda.c - what libpassmith_ort calls of the driver of emu_cuda.c beyond that file: a stream's context,
 * and the device of the current one. */

#define XX(name, parameters)                                                                                 \
	__attribute__((visibility("default"))) int name parameters;                                          \
	int name parameters

enum { INVALID_CONTEXT = 201 };

int cuCtxGetCurrent(void **ctx);
int cuDevicePrimaryCtxRetain(void **ctx, int dev);
int cuDevicePrimaryCtxRelease_v2(int dev);

/* There is one context. */
XX(cuStreamGetCtx, (void *stream, void **ctx))
{
	int rc = cuDevicePrimaryCtxRetain(ctx, 0);

	(void)stream;
	return rc ? rc : cuDevicePrimaryCtxRelease_v2(0);
}

XX(cuCtxGetDevice, (int *dev))
{
	void *ctx = 0;

	*dev = 0;
	cuCtxGetCurrent(&ctx);
	return ctx ? 0 : INVALID_CONTEXT;
}
