/* cuda_conv.c - convolutions through cuDNN: its heuristics, sums in float, the bias in a call of its own.
 *
 * Signatures and numbers are those of the cuDNN documentation. One spatial dimension becomes two, of which
 * the first is 1, as frameworks do.
 */
#include "runtime/cuda_lib_priv.h"

#include "ir/type.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct Dnn Dnn; /* the library's handles */
typedef struct DnnTensor DnnTensor;
typedef struct DnnFilter DnnFilter;
typedef struct DnnConv DnnConv;

typedef struct DnnFound {
	int algo, status;
	float time;
	size_t memory;
	int determinism, math;
	int reserved[3];
} DnnFound;

/* XX(member, symbol, parameters). All return int. */
#define DNN_FUNCTIONS(XX)                                                                                    \
	XX(create, cudnnCreate, (Dnn * *h))                                                                  \
	XX(set_stream, cudnnSetStream, (Dnn * h, CuStream * s))                                              \
	XX(tensor_create, cudnnCreateTensorDescriptor, (DnnTensor * *t))                                     \
	XX(tensor_set, cudnnSetTensorNdDescriptor,                                                           \
	   (DnnTensor * t, int type, int n, const int *dim, const int *stride))                              \
	XX(tensor_destroy, cudnnDestroyTensorDescriptor, (DnnTensor * t))                                    \
	XX(filter_create, cudnnCreateFilterDescriptor, (DnnFilter * *f))                                     \
	XX(filter_set, cudnnSetFilterNdDescriptor,                                                           \
	   (DnnFilter * f, int type, int format, int n, const int *dim))                                     \
	XX(filter_destroy, cudnnDestroyFilterDescriptor, (DnnFilter * f))                                    \
	XX(conv_create, cudnnCreateConvolutionDescriptor, (DnnConv * *c))                                    \
	XX(conv_set, cudnnSetConvolutionNdDescriptor,                                                        \
	   (DnnConv * c, int n, const int *pad, const int *stride, const int *dilation, int mode,            \
	    int compute))                                                                                    \
	XX(conv_groups, cudnnSetConvolutionGroupCount, (DnnConv * c, int groups))                            \
	XX(conv_math, cudnnSetConvolutionMathType, (DnnConv * c, int math))                                  \
	XX(conv_destroy, cudnnDestroyConvolutionDescriptor, (DnnConv * c))                                   \
	XX(find, cudnnGetConvolutionForwardAlgorithm_v7,                                                     \
	   (Dnn * h, DnnTensor * x, DnnFilter * w, DnnConv * c, DnnTensor * y, int wanted, int *n,           \
	    DnnFound *found))                                                                                \
	XX(workspace, cudnnGetConvolutionForwardWorkspaceSize,                                               \
	   (Dnn * h, DnnTensor * x, DnnFilter * w, DnnConv * c, DnnTensor * y, int algo, size_t *bytes))     \
	XX(forward, cudnnConvolutionForward,                                                                 \
	   (Dnn * h, const void *alpha, DnnTensor *x, CuPtr px, DnnFilter *w, CuPtr pw, DnnConv *c,          \
	    int algo, CuPtr ws, size_t bytes, const void *beta, DnnTensor *y, CuPtr py))                     \
	XX(add, cudnnAddTensor,                                                                              \
	   (Dnn * h, const void *alpha, DnnTensor *a, CuPtr pa, const void *beta, DnnTensor *c, CuPtr pc))

enum {
	TYPE_FLOAT = 0,
	TYPE_DOUBLE = 1,
	TYPE_HALF = 2,
	TYPE_BF16 = 9,
	NCHW = 0,
	CROSS_CORRELATION = 1,
	MATH_DEFAULT = 0,
	MATH_TENSOR = 1,
	MATH_FMA = 3,
	N_CANDIDATES = 8
};

static struct {
	Dnn *handle;
#define XX(member, symbol, parameters) int(*member) parameters;
	DNN_FUNCTIONS(XX)
#undef XX
} dnn;

typedef struct Conv {
	DnnTensor *x, *y, *bias;
	DnnFilter *w;
	DnnConv *conv;
	int algo, is_double;
} Conv;

static PmStatus open_dnn(PmErr *err)
{
	const PmLibrary *l = pm_library_cudnn();
	void *p;

	if (dnn.handle)
		return PM_OK;
	if (!l->so)
		return PM_DECLINED;
#define XX(member, symbol, parameters)                                                                       \
	p = pm_library_symbol(l, #symbol);                                                                   \
	memcpy(&dnn.member, &p, sizeof p);                                                                   \
	if (!p)                                                                                              \
		return PM_DECLINED;
	DNN_FUNCTIONS(XX)
#undef XX
	if (dnn.create(&dnn.handle))
		return pm_err(err, PM_E_ENV, "%s does not start; set PASSMITH_LIBRARIES=off to go without.",
			      l->text);
	return PM_OK;
}

void pm__conv_drop(void *call)
{
	Conv *c = call;

	if (!c)
		return;
	if (c->x)
		dnn.tensor_destroy(c->x);
	if (c->y)
		dnn.tensor_destroy(c->y);
	if (c->bias)
		dnn.tensor_destroy(c->bias);
	if (c->w)
		dnn.filter_destroy(c->w);
	if (c->conv)
		dnn.conv_destroy(c->conv);
	free(c);
}

/* [N, C, spatial...] with at least two spatial dimensions, as the library counts them: int. 0 when too large.
 */
static int widen(const int64_t *dim, int spatial, int64_t unit, int out[5])
{
	int n = 0, skip = spatial == 1;

	for (int d = 0; d < spatial + 2; d++) {
		if (d == 2 && skip)
			out[n++] = (int)unit;
		if (dim[d] > INT_MAX)
			return 0;
		out[n++] = (int)dim[d];
	}
	return n;
}

static int window(const int64_t *v, int spatial, int unit, int out[3])
{
	int n = 0;

	if (spatial == 1)
		out[n++] = unit;
	for (int d = 0; d < spatial; d++)
		out[n++] = (int)v[d];
	return n;
}

static int set_tensor(DnnTensor **t, int type, const int *dim, int n)
{
	int stride[5], s = 1;

	for (int d = n - 1; d >= 0; d--) {
		stride[d] = s;
		s *= dim[d];
	}
	return dnn.tensor_create(t) == 0 && dnn.tensor_set(*t, type, n, dim, stride) == 0;
}

/* Descriptors of all operands. 0 when the library cannot express them. */
static int describe(Conv *c, const PmLibCall *call)
{
	const PmLibConv *v = &call->conv;
	int type = call->dtype == PM_F64   ? TYPE_DOUBLE
		   : call->dtype == PM_F32 ? TYPE_FLOAT
		   : call->dtype == PM_F16 ? TYPE_HALF
					   : TYPE_BF16;
	int math = call->dtype == PM_F64   ? MATH_DEFAULT
		   : call->dtype == PM_F32 ? (pm_library_tf32() ? MATH_DEFAULT : MATH_FMA)
					   : MATH_TENSOR;
	int x[5], w[5], y[5], bias[5] = { 1, 0, 1, 1, 1 }, pad[3], stride[3], dilation[3];
	int n = widen(v->x, v->spatial, 1, x), spatial = window(v->pad, v->spatial, 0, pad);

	if (!n || !widen(v->w, v->spatial, 1, w) || !widen(v->y, v->spatial, 1, y))
		return 0;
	window(v->stride, v->spatial, 1, stride);
	window(v->dilation, v->spatial, 1, dilation);
	bias[1] = y[1];
	return set_tensor(&c->x, type, x, n) && set_tensor(&c->y, type, y, n) &&
	       (!v->has_bias || set_tensor(&c->bias, type, bias, n)) && dnn.filter_create(&c->w) == 0 &&
	       dnn.filter_set(c->w, type, NCHW, n, w) == 0 && dnn.conv_create(&c->conv) == 0 &&
	       dnn.conv_set(c->conv, spatial, pad, stride, dilation, CROSS_CORRELATION,
			    c->is_double ? TYPE_DOUBLE : TYPE_FLOAT) == 0 &&
	       dnn.conv_groups(c->conv, (int)v->groups) == 0 && dnn.conv_math(c->conv, math) == 0;
}

/* The library's first choice within the limit whose arithmetic is allowed. 0 when it has none. */
static int choose(Conv *c, const PmLibCall *call, int64_t limit, int64_t *workspace)
{
	DnnFound found[N_CANDIDATES];
	int n = 0;

	memset(found, 0, sizeof found);
	if (dnn.find(dnn.handle, c->x, c->w, c->conv, c->y, N_CANDIDATES, &n, found))
		return 0;
	for (int i = 0; i < n; i++) {
		size_t bytes = 0;
		int math = found[i].math;

		if (found[i].status)
			continue;
		if (call->dtype == PM_F32 && !pm_library_tf32())
			math = MATH_FMA;
		if (dnn.conv_math(c->conv, math) ||
		    dnn.workspace(dnn.handle, c->x, c->w, c->conv, c->y, found[i].algo, &bytes) ||
		    bytes > (size_t)limit)
			continue;
		c->algo = found[i].algo;
		*workspace = (int64_t)bytes;
		return 1;
	}
	return 0;
}

PmStatus pm__conv_prepare(const PmLibCall *call, int64_t limit, void **out, int64_t *workspace, PmErr *err)
{
	Conv *c;
	PmStatus st = open_dnn(err);

	if (st)
		return st;
	c = pm_xcalloc(1, sizeof *c);
	c->is_double = call->dtype == PM_F64;
	if (!describe(c, call) || !choose(c, call, limit, workspace)) {
		pm__conv_drop(c);
		return PM_DECLINED;
	}
	*out = c;
	return PM_OK;
}

PmStatus pm__conv_run(void *call, const CuPtr p[4], CuPtr workspace, int64_t bytes, CuStream *s, PmErr *err)
{
	static const double one = 1, zero = 0;
	static const float onef = 1, zerof = 0;
	Conv *c = call;
	const void *a = c->is_double ? (const void *)&one : &onef,
		   *b = c->is_double ? (const void *)&zero : &zerof;
	int rc = dnn.set_stream(dnn.handle, s);

	if (!rc)
		rc = dnn.forward(dnn.handle, a, c->x, p[1], c->w, p[2], c->conv, c->algo, workspace,
				 (size_t)bytes, b, c->y, p[0]);
	if (!rc && c->bias)
		rc = dnn.add(dnn.handle, a, c->bias, p[3], a, c->y, p[0]);
	return rc ? pm_err(err, PM_E_DEVICE,
			   "cuDNN fails with status %d on a convolution it had accepted; set "
			   "PASSMITH_LIBRARIES=off "
			   "to go without.",
			   rc)
		  : PM_OK;
}
