/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_conv.c - convolutions through cuDNN's graph interface: its heuristics, sums in float, the bias in a
 * call of its own (float and double; lib_algo.c has half types put it into y first).
 *
 * An operation graph of one convolution becomes an execution plan once; a call then costs what enqueueing its
 * kernels costs. (The older interface makes its plan again at every call, which takes the host 60 to 130 us.)
 * Signatures and numbers are those of the cuDNN documentation. One spatial dimension becomes two, of which
 * the first is 1, as frameworks do.
 */
#include "runtime/cuda/library/cuda_calls.h"

#include "base/core/arena.h"
#include "ir/core/type.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct Dnn Dnn; /* the library's handles */
typedef void *Desc;
typedef struct DnnTensor DnnTensor;

/* XX(member, symbol, parameters). All return int. */
#define DNN_FUNCTIONS(XX)                                                                                    \
	XX(create, cudnnCreate, (Dnn * *h))                                                                  \
	XX(set_stream, cudnnSetStream, (Dnn * h, CuStream * s))                                              \
	XX(desc_create, cudnnBackendCreateDescriptor, (int type, Desc *d))                                   \
	XX(desc_destroy, cudnnBackendDestroyDescriptor, (Desc d))                                            \
	XX(desc_set, cudnnBackendSetAttribute, (Desc d, int attr, int type, int64_t n, const void *v))       \
	XX(desc_get, cudnnBackendGetAttribute,                                                               \
	   (Desc d, int attr, int type, int64_t wanted, int64_t *n, void *v))                                \
	XX(desc_finalize, cudnnBackendFinalize, (Desc d))                                                    \
	XX(execute, cudnnBackendExecute, (Dnn * h, Desc plan, Desc pack))                                    \
	XX(tensor_create, cudnnCreateTensorDescriptor, (DnnTensor * *t))                                     \
	XX(tensor_set, cudnnSetTensorNdDescriptor,                                                           \
	   (DnnTensor * t, int type, int n, const int *dim, const int *stride))                              \
	XX(tensor_destroy, cudnnDestroyTensorDescriptor, (DnnTensor * t))                                    \
	XX(add, cudnnAddTensor,                                                                              \
	   (Dnn * h, const void *alpha, DnnTensor *a, CuPtr pa, const void *beta, DnnTensor *c, CuPtr pc))

enum {
	TYPE_FLOAT = 0, /* of elements */
	TYPE_DOUBLE = 1,
	CROSS_CORRELATION = 1,

	A_HANDLE = 0, /* of attributes */
	A_DATA_TYPE = 1,
	A_INT64 = 3,
	A_FLOAT = 4,
	A_DOUBLE = 5,
	A_POINTER = 6,
	A_CONV_MODE = 7,
	A_HEUR_MODE = 8,
	A_NOTE = 11,
	A_DESC = 15,
	A_BEHAVIOR = 19,

	CONVOLUTION = 1, /* descriptors, and under each its attributes */
	CONV_COMPUTE = 100,
	CONV_MODE = 101,
	CONV_DILATION = 102,
	CONV_STRIDE = 103,
	CONV_PAD_END = 104,
	CONV_PAD = 105,
	CONV_SPATIAL = 106,
	ENGINE = 2,
	ENGINE_NOTES = 1303,
	ENGINE_BEHAVIOR = 1305,
	CONFIG = 3,
	CONFIG_ENGINE = 300,
	HEURISTIC = 4,
	HEURISTIC_MODE = 200,
	HEURISTIC_GRAPH = 201,
	HEURISTIC_RESULTS = 202,
	PLAN = 5,
	PLAN_HANDLE = 400,
	PLAN_CONFIG = 401,
	PLAN_WORKSPACE = 402,
	BACKWARD = 12, /* of the input: the transposed convolution */
	BACKWARD_ALPHA = 706,
	BACKWARD_BETA = 707,
	BACKWARD_CONV = 708,
	BACKWARD_W = 709,
	BACKWARD_DX = 710,
	BACKWARD_DY = 711,
	FORWARD = 10,
	FORWARD_ALPHA = 700,
	FORWARD_BETA = 701,
	FORWARD_CONV = 702,
	FORWARD_W = 703,
	FORWARD_X = 704,
	FORWARD_Y = 705,
	GRAPH = 15,
	GRAPH_HANDLE = 800,
	GRAPH_OPS = 801,
	PACK = 16,
	PACK_IDS = 1000,
	PACK_POINTERS = 1001,
	PACK_WORKSPACE = 1003,
	TENSOR = 17,
	TENSOR_ALIGNMENT = 900,
	TENSOR_TYPE = 901,
	TENSOR_DIMS = 902,
	TENSOR_STRIDES = 903,
	TENSOR_ID = 906,

	MODE_INSTANT = 0,
	MODE_FALLBACK = 2,
	NOTE_TENSOR_CORE = 0,
	NOTE_DOWN_CONVERT = 1,
	NOTE_REDUCED_SUMS = 2,
	NOTE_UNDETERMINED = 4,
	BEHAVIOR_COMPILES = 0, /* when the plan is made: seconds */
	MAX_NOTES = 16,
	MAX_CONFIGS = 32,
	ALIGNMENT = 64 /* more is never asked about */
};

static struct {
	Dnn *handle[CU_LIB_DEVICES];
	char dead[CU_LIB_DEVICES];        /* it did not start: not tried again */
	CuStream *stream[CU_LIB_DEVICES]; /* that the handle works on */
#define XX(member, symbol, parameters) int(*member) parameters;
	DNN_FUNCTIONS(XX)
#undef XX
} dnn;

typedef struct Conv {
	int dev;
	Desc plan, config;
	DnnTensor *y, *bias; /* for the addition; NULL without */
	int is_double;
} Conv;

/* What describes the convolution; not needed once there is a plan. */
typedef struct Description {
	Desc x, w, y, conv, op, graph;
} Description;

static PmStatus open_dnn(int dev, PmErr *err)
{
	const PmLibrary *l = pm_library_cudnn();
	void *p;

	if (dev >= 0 && dev < CU_LIB_DEVICES && dnn.handle[dev])
		return PM_OK;
	if (!l->so || dev < 0 || dev >= CU_LIB_DEVICES)
		return PM_DECLINED;
#define XX(member, symbol, parameters)                                                                       \
	p = pm_library_symbol(l, #symbol);                                                                   \
	memcpy(&dnn.member, &p, sizeof p);                                                                   \
	if (!p)                                                                                              \
		return PM_DECLINED;
	DNN_FUNCTIONS(XX)
#undef XX
	dnn.dead[dev] = dnn.dead[dev] || dnn.create(&dnn.handle[dev]) != 0;
	if (dnn.dead[dev]) {
		dnn.handle[dev] = NULL;
		return pm_err(err, PM_E_ENV, "%s does not start; set PASSMITH_LIBRARIES=off to go without.",
			      l->text);
	}
	return PM_OK;
}

static void drop(Desc d)
{
	if (d)
		dnn.desc_destroy(d);
}

void pm__conv_drop(void *call)
{
	Conv *c = call;

	if (!c)
		return;
	drop(c->plan);
	drop(c->config);
	if (c->y)
		dnn.tensor_destroy(c->y);
	if (c->bias)
		dnn.tensor_destroy(c->bias);
	free(c);
}

static int set(Desc d, int attr, int type, int64_t n, const void *v)
{
	return dnn.desc_set(d, attr, type, n, v) == 0;
}

/* --- describing ------------------------------------------------------------------------------------------
 */

/* [N, C, spatial...] with at least two spatial dimensions, contiguous in that order or with C last. Returns
 * the rank, 0 when too large. */
static int widen(const int64_t *dim, int spatial, int last, int64_t out[5], int64_t stride[5])
{
	int n = 0;
	int64_t size = 1;

	for (int d = 0; d < spatial + 2; d++) {
		if (d == 2 && spatial == 1)
			out[n++] = 1;
		out[n++] = dim[d];
	}
	if (last) {
		stride[1] = 1;
		size = out[1];
	}
	for (int d = n - 1; d >= 0; d--) {
		if (last && d == 1)
			continue;
		stride[d] = size;
		size *= out[d];
	}
	return size <= INT_MAX ? n : 0;
}

static int describe_tensor(Desc *t, int64_t id, int type, const int64_t *dim, const PmLibConv *v,
			   int64_t align)
{
	int64_t d[5], stride[5];
	int n = widen(dim, v->spatial, v->channels_last, d, stride);

	if (align > ALIGNMENT)
		align = ALIGNMENT;
	return n && dnn.desc_create(TENSOR, t) == 0 && set(*t, TENSOR_ID, A_INT64, 1, &id) &&
	       set(*t, TENSOR_TYPE, A_DATA_TYPE, 1, &type) && set(*t, TENSOR_DIMS, A_INT64, n, d) &&
	       set(*t, TENSOR_STRIDES, A_INT64, n, stride) && set(*t, TENSOR_ALIGNMENT, A_INT64, 1, &align) &&
	       dnn.desc_finalize(*t) == 0;
}

static int describe_window(Desc *c, const PmLibConv *v, int compute)
{
	int64_t pad[3] = { 0, 0, 0 }, stride[3] = { 1, 1, 1 }, dilation[3] = { 1, 1, 1 };
	int64_t n = v->spatial < 2 ? 2 : v->spatial;
	int mode = CROSS_CORRELATION, skip = (int)n - v->spatial;

	for (int d = 0; d < v->spatial; d++) {
		pad[d + skip] = v->pad[d];
		stride[d + skip] = v->stride[d];
		dilation[d + skip] = v->dilation[d];
	}
	return dnn.desc_create(CONVOLUTION, c) == 0 && set(*c, CONV_COMPUTE, A_DATA_TYPE, 1, &compute) &&
	       set(*c, CONV_MODE, A_CONV_MODE, 1, &mode) && set(*c, CONV_SPATIAL, A_INT64, 1, &n) &&
	       set(*c, CONV_PAD, A_INT64, n, pad) && set(*c, CONV_PAD_END, A_INT64, n, pad) &&
	       set(*c, CONV_STRIDE, A_INT64, n, stride) && set(*c, CONV_DILATION, A_INT64, n, dilation) &&
	       dnn.desc_finalize(*c) == 0;
}

/* What the attributes of an operation are called, forward and transposed. */
typedef struct OpNames {
	int kind, alpha, beta, conv, w, x, y;
} OpNames;
static const OpNames op_names[2] = {
	{ FORWARD, FORWARD_ALPHA, FORWARD_BETA, FORWARD_CONV, FORWARD_W, FORWARD_X, FORWARD_Y },
	{ BACKWARD, BACKWARD_ALPHA, BACKWARD_BETA, BACKWARD_CONV, BACKWARD_W, BACKWARD_DY, BACKWARD_DX },
};

static int describe_op(Description *s, int dev, int is_double, const PmLibConv *v)
{
	static const double one = 1, zero = 0;
	static const float onef = 1, zerof = 0;
	const OpNames *op = &op_names[v->transposed];
	const void *alpha = is_double ? (const void *)&one : &onef;
	const void *beta = v->onto ? alpha : (is_double ? (const void *)&zero : &zerof);
	int type = is_double ? A_DOUBLE : A_FLOAT;

	return dnn.desc_create(op->kind, &s->op) == 0 && set(s->op, op->alpha, type, 1, alpha) &&
	       set(s->op, op->beta, type, 1, beta) && set(s->op, op->conv, A_DESC, 1, &s->conv) &&
	       set(s->op, op->x, A_DESC, 1, &s->x) && set(s->op, op->w, A_DESC, 1, &s->w) &&
	       set(s->op, op->y, A_DESC, 1, &s->y) && dnn.desc_finalize(s->op) == 0 &&
	       dnn.desc_create(GRAPH, &s->graph) == 0 && set(s->graph, GRAPH_OPS, A_DESC, 1, &s->op) &&
	       set(s->graph, GRAPH_HANDLE, A_HANDLE, 1, &dnn.handle[dev]) && dnn.desc_finalize(s->graph) == 0;
}

static int set_plain(DnnTensor **t, int type, const int64_t *dim, int n)
{
	int d[5], stride[5], size = 1;

	for (int i = n - 1; i >= 0; i--) {
		d[i] = (int)dim[i];
		stride[i] = size;
		size *= d[i];
	}
	return dnn.tensor_create(t) == 0 && dnn.tensor_set(*t, type, n, d, stride) == 0;
}

/* For the bias: result and bias as the library's additions want them. */
static int describe_bias(Conv *c, const PmLibConv *v, int type)
{
	int64_t y[5], stride[5], bias[5] = { 1, 1, 1, 1, 1 };
	int n = widen(v->y, v->spatial, 0, y, stride);

	bias[1] = v->y[1];
	return n && set_plain(&c->y, type, y, n) && set_plain(&c->bias, type, bias, n);
}

/* 0 when the library cannot express the call. */
static int describe(Conv *c, Description *s, const PmLibCall *call)
{
	const PmLibConv *v = &call->conv;
	int type = pm_float_type(call->dtype)->cudnn;

	return describe_tensor(&s->y, 0, type, v->y, v, call->align[0]) &&
	       describe_tensor(&s->x, 1, type, v->x, v, call->align[1]) &&
	       describe_tensor(&s->w, 2, type, v->w, v, call->align[2]) &&
	       describe_window(&s->conv, v, c->is_double ? TYPE_DOUBLE : TYPE_FLOAT) &&
	       describe_op(s, c->dev, c->is_double, v) && (!v->has_bias || describe_bias(c, v, type));
}

/* --- choosing --------------------------------------------------------------------------------------------
 */

/* The notes on an engine as bits, `unknown` when the library does not tell. */
static uint32_t notes_of(Desc engine, int attr, int type, uint32_t unknown)
{
	int notes[MAX_NOTES];
	int64_t n = 0;
	uint32_t set_of = 0;

	if (dnn.desc_get(engine, attr, type, MAX_NOTES, &n, notes))
		return unknown;
	for (int64_t i = 0; i < n && i < MAX_NOTES; i++)
		set_of |= 1u << (notes[i] & 31);
	return set_of;
}

/* 1 when the engine behind a configuration rounds factors or sums further than their type does, adds in an
 * order that changes, or is one that is compiled first. */
static int unwanted(Desc config, int dtype)
{
	uint32_t bad = 1u << NOTE_DOWN_CONVERT | 1u << NOTE_REDUCED_SUMS | 1u << NOTE_UNDETERMINED,
		 found = ~0u;
	Desc engine = NULL;
	int64_t n = 0;

	if (dtype == PM_F32 && !pm_library_tf32())
		bad |= 1u << NOTE_TENSOR_CORE;
	if (dnn.desc_create(ENGINE, &engine) == 0 &&
	    dnn.desc_get(config, CONFIG_ENGINE, A_DESC, 1, &n, &engine) == 0)
		found = (notes_of(engine, ENGINE_NOTES, A_NOTE, ~0u) & bad) |
			(notes_of(engine, ENGINE_BEHAVIOR, A_BEHAVIOR, 0) & 1u << BEHAVIOR_COMPILES);
	drop(engine);
	return found != 0;
}

/* A plan for the configuration within the limit; 0 when the library has none. */
static int make_plan(Conv *c, Desc config, int64_t limit, int64_t *workspace)
{
	int64_t n = 0;

	if (dnn.desc_create(PLAN, &c->plan) == 0 &&
	    set(c->plan, PLAN_HANDLE, A_HANDLE, 1, &dnn.handle[c->dev]) &&
	    set(c->plan, PLAN_CONFIG, A_DESC, 1, &config) && dnn.desc_finalize(c->plan) == 0 &&
	    dnn.desc_get(c->plan, PLAN_WORKSPACE, A_INT64, 1, &n, workspace) == 0 && *workspace <= limit)
		return 1;
	drop(c->plan);
	c->plan = NULL;
	return 0;
}

/* Of one list of the library's candidates, which are numbered from `first` on, the one that *pick says or
 * the next whose arithmetic is allowed. */
static int choose_by(Conv *c, Desc graph, int mode, int dtype, int64_t limit, int first, int *pick,
		     int64_t *workspace)
{
	Desc heuristic = NULL, config[MAX_CONFIGS] = { 0 };
	int64_t n = 0;
	int ok = dnn.desc_create(HEURISTIC, &heuristic) == 0 &&
		 set(heuristic, HEURISTIC_GRAPH, A_DESC, 1, &graph) &&
		 set(heuristic, HEURISTIC_MODE, A_HEUR_MODE, 1, &mode) && dnn.desc_finalize(heuristic) == 0;

	for (int i = 0; i < MAX_CONFIGS && ok; i++)
		ok = dnn.desc_create(CONFIG, &config[i]) == 0;
	ok = ok && dnn.desc_get(heuristic, HEURISTIC_RESULTS, A_DESC, MAX_CONFIGS, &n, config) == 0;
	for (int i = *pick > first ? *pick - first : 0; i < n && i < MAX_CONFIGS && ok && !c->plan; i++)
		if (!unwanted(config[i], dtype) && make_plan(c, config[i], limit, workspace)) {
			*pick = first + i;
			c->config = config[i];
			config[i] = NULL;
		}
	for (int i = 0; i < MAX_CONFIGS; i++)
		drop(config[i]);
	drop(heuristic);
	return c->plan != NULL;
}

PmStatus pm__conv_prepare(int dev, const PmLibCall *call, int64_t limit, int *pick, void **out,
			  int64_t *workspace, PmErr *err)
{
	Description s = { 0 };
	Conv *c;
	PmStatus st = open_dnn(dev, err);
	int ok;

	if (st)
		return st;
	c = pm_xcalloc(1, sizeof *c);
	c->dev = dev;
	c->is_double = call->dtype == PM_F64;
	ok = describe(c, &s, call) &&
	     (choose_by(c, s.graph, MODE_INSTANT, call->dtype, limit, 0, pick, workspace) ||
	      choose_by(c, s.graph, MODE_FALLBACK, call->dtype, limit, MAX_CONFIGS, pick, workspace));
	drop(s.graph);
	drop(s.op);
	drop(s.conv);
	drop(s.x);
	drop(s.w);
	drop(s.y);
	if (!ok) {
		pm__conv_drop(c);
		return PM_DECLINED;
	}
	*out = c;
	return PM_OK;
}

/* --- running ---------------------------------------------------------------------------------------------
 */

static PmStatus refused(int rc, PmErr *err)
{
	return pm_err(err, PM_E_DEVICE,
		      "cuDNN fails with status %d on a convolution it had accepted; set "
		      "PASSMITH_LIBRARIES=off to go without.",
		      rc);
}

PmStatus pm__conv_place(void *call, const CuPtr p[4], CuPtr workspace, void **placed, PmErr *err)
{
	static const int64_t ids[3] = { 0, 1, 2 };
	Desc pack = NULL;
	int rc = dnn.desc_create(PACK, &pack);

	(void)call;
	if (!rc)
		rc = dnn.desc_set(pack, PACK_IDS, A_INT64, 3, ids);
	if (!rc)
		rc = dnn.desc_set(pack, PACK_POINTERS, A_POINTER, 3, p);
	if (!rc)
		rc = dnn.desc_set(pack, PACK_WORKSPACE, A_POINTER, 1, &workspace);
	if (!rc)
		rc = dnn.desc_finalize(pack);
	if (rc) {
		drop(pack);
		return refused(rc, err);
	}
	*placed = pack;
	return PM_OK;
}

void pm__conv_unplace(void *placed)
{
	drop(placed);
}

PmStatus pm__conv_run(void *call, void *placed, const CuPtr p[4], CuStream *s, PmErr *err)
{
	static const double one = 1;
	static const float onef = 1;
	Conv *c = call;
	const void *a = c->is_double ? (const void *)&one : &onef;
	int rc = dnn.stream[c->dev] == s ? 0 : dnn.set_stream(dnn.handle[c->dev], s);

	if (!rc) {
		dnn.stream[c->dev] = s;
		rc = dnn.execute(dnn.handle[c->dev], c->plan, placed);
	}
	if (!rc && c->bias)
		rc = dnn.add(dnn.handle[c->dev], a, c->bias, p[3], a, c->y, p[0]);
	return rc ? refused(rc, err) : PM_OK;
}

void pm__conv_forget_stream(int dev)
{
	if (dev >= 0 && dev < CU_LIB_DEVICES)
		dnn.stream[dev] = NULL;
}
