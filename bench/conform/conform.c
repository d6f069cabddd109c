/* SPDX-License-Identifier: Apache-2.0 */
/* conform.c - runs one ONNX backend-test case on a device and compares. */
#include "bench/conform/conform.h"

#include "base/core/arena.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"
#include "bench/conform/conform_priv.h"
#include "ir/core/onnx_dtype.h"
#include "ir/infer/infer.h"
#include "ir/onnx/onnx.h"
#include "runtime/device/device.h"
#include "runtime/worker/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILES = 64, MAX_SETS = 64, NAME = 128, LEAST_OPSET = 7, POISON = 0x7fc1d00d };
static const double DEADLINE = 120; /* seconds a device may take for one data set */
static const double ATOL = 1e-7;

/* ---- comparison ---- */

/* rtol 0: of a narrow type, whose numbers agree or do not. */
static int close_enough(double a, double b, double rtol)
{
	if (a != a || b != b)
		return a != a && b != b;
	if (isinf(a) || isinf(b) || rtol == 0)
		return a == b;
	return fabs(a - b) <= ATOL + rtol * fabs(b);
}

PmStatus pm_conform_compare(const PmTensor *got, const PmTensor *want, PmErr *err)
{
	int is_float = pm_dtype_is_float(want->type.dtype);
	double rtol = pm_float_type(is_float ? want->type.dtype : PM_F32)->conform;
	int64_t i, n = pm_tensor_numel(want);

	if (!pm_type_equal(&got->type, &want->type)) {
		PmStr a = PM_STR_INIT, b = PM_STR_INIT;

		pm_type_describe(&got->type, &a);
		pm_type_describe(&want->type, &b);
		pm_err(err, PM_E_INVALID, "The type is %s instead of %s.", a.s, b.s);
		pm_str_release(&a);
		pm_str_release(&b);
		return PM_E_INVALID;
	}
	for (i = 0; i < n; i++) {
		if (is_float && !close_enough(pm_tensor_get(got, i), pm_tensor_get(want, i), rtol))
			return pm_err(err, PM_E_INVALID, "Element %lld is %.9g instead of %.9g.",
				      (long long)i, pm_tensor_get(got, i), pm_tensor_get(want, i));
		if (!is_float && pm_tensor_get_i(got, i) != pm_tensor_get_i(want, i))
			return pm_err(err, PM_E_INVALID, "Element %lld is %lld instead of %lld.",
				      (long long)i, (long long)pm_tensor_get_i(got, i),
				      (long long)pm_tensor_get_i(want, i));
	}
	return PM_OK;
}

/* ---- the tensors of a case ---- */

typedef struct Data {
	size_t n;
	char name[MAX_FILES][NAME];
	PmType type[MAX_FILES];
	PmBlob *blob[MAX_FILES];
} Data;

static void data_release(Data *d)
{
	while (d->n)
		pm_blob_unref(d->blob[--d->n]);
}

static PmStatus read_tensor(const char *path, int bfloat16, char *name, PmType *type, PmBlob **blob,
			    PmErr *err)
{
	PmStr bytes = PM_STR_INIT;
	PmStatus st = pm_read_file(path, 0, &bytes, err);

	if (!st && bfloat16)
		pm__tensor_uint16_is_bfloat16(bytes.s, bytes.len);
	if (!st)
		st = pm_onnx_tensor_read(bytes.s, bytes.len, name, NAME, type, blob, err);
	pm_str_release(&bytes);
	return st ? pm_err_ctx(err, "%s", path) : PM_OK;
}

/* Reads SET/KIND_0.pb, KIND_1.pb, ... as far as they exist. */
static PmStatus data_read(const char *set, const char *kind, int bfloat16, Data *d, PmErr *err)
{
	PmStr path = PM_STR_INIT;
	PmStatus st = PM_OK;

	while (!st && d->n < MAX_FILES) {
		pm_str_clear(&path);
		pm_str_addf(&path, "%s/%s_%zu.pb", set, kind, d->n);
		if (!pm_path_exists(path.s))
			break;
		st = read_tensor(path.s, bfloat16, d->name[d->n], &d->type[d->n], &d->blob[d->n], err);
		d->n += !st;
	}
	pm_str_release(&path);
	return st;
}

static PmStatus blob_tensor(const PmType *type, const PmBlob *blob, PmTensor *out, PmErr *err)
{
	PmStatus st = pm_tensor_init(out, type, err);

	if (st)
		return st;
	if (out->bytes != blob->size || (out->bytes && !blob->data)) {
		pm_tensor_release(out);
		return pm_err(err, PM_E_INVALID, "The tensor's data does not have the size of its type.");
	}
	if (out->bytes)
		memcpy(out->data, blob->data, out->bytes);
	return PM_OK;
}

/* ---- running ---- */

/* Imports with the inputs that must be known bound to their data. */
static PmStatus import(const PmStr *model, const char *label, const Data *in, PmGraph **g,
		       PmOnnxReport *report, PmErr *err)
{
	char names[MAX_FILES][NAME];
	PmOnnxBind bind[MAX_FILES];
	PmOnnxOpts opts;
	size_t n = 0, k, i;
	PmStatus st = pm_onnx_inputs_to_bind(model->s, model->len, names, MAX_FILES, &n, err);

	if (st)
		return st;
	memset(&opts, 0, sizeof opts);
	opts.bind = bind;
	for (k = 0; k < n; k++)
		for (i = 0; i < in->n; i++)
			if (strcmp(names[k], in->name[i]) == 0) {
				bind[opts.n_bind].name = in->name[i];
				bind[opts.n_bind].type = in->type[i];
				bind[opts.n_bind++].blob = in->blob[i];
			}
	return pm_onnx_import_mem(model->s, model->len, label, &opts, g, report, err);
}

/* The inputs the graph still has, by name (by position when the data has no names). The
 * data's dimensions hold where the model leaves some open or (castlike_*BFLOAT16*) states others. */
static PmStatus feed(PmGraph *g, const Data *in, PmTensor *to, PmErr *err)
{
	size_t n = pm_graph_n_inputs(g), k, i;
	int opened = 0;

	for (k = 0; k < n; k++) {
		PmValue v = pm_graph_input(g, k);
		PmStatus st;

		for (i = 0; i < in->n; i++)
			if (strcmp(in->name[i], pm_value_name(g, v)) == 0)
				break;
		if (i == in->n && n == in->n && !in->name[k][0])
			i = k;
		if (i == in->n)
			return pm_err(err, PM_E_NOT_FOUND, "There is no data for input '%s'.",
				      pm_value_name(g, v));
		st = blob_tensor(&in->type[i], in->blob[i], &to[k], err);
		if (st)
			return st;
		if (in->type[i].dtype == pm_value_type(g, v)->dtype &&
		    !pm_type_equal(&in->type[i], pm_value_type(g, v))) {
			pm_value_set_type(g, v, &in->type[i]);
			opened = 1;
		}
	}
	return opened ? pm_infer_graph(g, 1, err) : PM_OK;
}

/* Random numbers have their type and shape in common with the expected ones, and no more. */
static int draws(const PmGraph *g)
{
	for (size_t k = 0; k < pm_graph_n_nodes(g); k++)
		if (pm_op_desc(pm_node_op(g, pm_graph_node_at(g, k)))->flags & PM_OPF_RANDOM)
			return 1;
	return 0;
}

static PmStatus compare_outputs(const PmTensor *got, size_t n, const Data *want, int types_only, PmErr *err)
{
	size_t k;

	if (n != want->n)
		return pm_err(err, PM_E_INVALID, "There are %zu outputs instead of %zu.", n, want->n);
	for (k = 0; k < n; k++) {
		PmTensor t;
		PmStatus st = blob_tensor(&want->type[k], want->blob[k], &t, err);

		if (st)
			return st;
		if (types_only && pm_type_equal(&got[k].type, &t.type))
			memcpy(t.data, got[k].data, t.bytes);
		st = pm_conform_compare(&got[k], &t, err);
		pm_tensor_release(&t);
		if (st)
			return pm_err_ctx(err, "Output %zu", k);
	}
	return PM_OK;
}

/* What is to be done with a data set: run it on a device, or collect the sources it needs. */
typedef struct Aim {
	const char *device;
	PmSourceSet *sources; /* NULL = run */
	int first_only;       /* compare the first output alone */
	double seconds;       /* out: of the run, without import and compilation */
	int random;           /* out: the results are random numbers */
} Aim;

static PmStatus collect(const PmGraph *g, PmSourceSet *to, PmErr *err)
{
	const PmSource *src;
	PmPlan *plan = NULL;
	PmStatus st = pm_plan_new(g, NULL, 0, &plan, err);
	size_t n = st ? 0 : pm_plan_sources(plan, &src), k;

	for (k = 0; k < n; k++)
		pm__source_set_add(to, &src[k]);
	pm_plan_free(plan);
	return st;
}

static PmStatus run_on_device(const PmGraph *g, const PmTensor *from, const Data *want, Aim *aim, PmErr *err)
{
	PmRunOpts o = { .device = aim->device, .deadline = DEADLINE, .poison = POISON };
	PmRunResult r;
	PmStatus st = pm_run_graph(g, from, pm_graph_n_inputs(g), &o, &r, err);

	if (st)
		return st;
	aim->seconds = r.wall_seconds;
	aim->random = draws(g);
	st = compare_outputs(r.out, aim->first_only && r.n_out ? 1 : r.n_out, want, aim->random, err);
	pm_run_result_release(&r);
	return st;
}

static PmStatus run_set(PmGraph *g, const Data *in, const Data *want, Aim *aim, PmErr *err)
{
	size_t n_in = pm_graph_n_inputs(g), k;
	PmTensor *from = pm_xcalloc(n_in ? n_in : 1, sizeof *from);
	PmStatus st = feed(g, in, from, err);

	if (!st)
		st = aim->sources ? collect(g, aim->sources, err) : run_on_device(g, from, want, aim, err);
	for (k = 0; k < n_in; k++)
		pm_tensor_release(&from[k]);
	free(from);
	return st;
}

/* PM_DECLINED with the reason in `why` when the case cannot be run here. */
static PmStatus one_set(const PmStr *model, const char *set, const PmCase *c, int bfloat16, Aim *aim,
			char *why, PmErr *err)
{
	Data *in = pm_xcalloc(1, sizeof *in), *want = pm_xcalloc(1, sizeof *want);
	PmOnnxReport *report = pm_xcalloc(1, sizeof *report);
	PmGraph *g = NULL;
	PmStatus st = data_read(set, "input", bfloat16, in, err);

	if (!st)
		st = data_read(set, "output", bfloat16, want, err);
	if (!st)
		st = import(model, c->name, in, &g, report, err);
	if (!st && report->n_opaque_nodes) {
		snprintf(why, PM_ERR_MAX, "%s: %s", report->opaque[0].name, report->opaque[0].why);
		st = PM_DECLINED;
	}
	if (!st)
		st = run_set(g, in, want, aim, err);
	if (!st && aim->random) {
		snprintf(why, PM_ERR_MAX, "random: the types and shapes of the results agree");
		st = PM_DECLINED;
	}
	pm_graph_free(g);
	data_release(in);
	data_release(want);
	free(in);
	free(want);
	free(report);
	return st;
}

static void run_sets(const char *folder, const PmStr *model, int bfloat16, Aim *aim, PmCase *c)
{
	PmStr set = PM_STR_INIT;
	PmStatus st = PM_OK;
	PmErr err;
	int k;

	pm_err_init(&err);
	for (k = 0; !st && k < MAX_SETS; k++) {
		pm_str_clear(&set);
		pm_str_addf(&set, "%s/test_data_set_%d", folder, k);
		if (!pm_path_is_dir(set.s))
			break;
		st = one_set(model, set.s, c, bfloat16, aim, c->why, &err);
	}
	pm_str_release(&set);
	if (!k) {
		st = PM_DECLINED;
		snprintf(c->why, sizeof c->why, "there is no test_data_set_0");
	}
	c->verdict = st == PM_OK ? PM_CASE_PASSED : PM_CASE_FAILED;
	if (st == PM_DECLINED ||
	    (st == PM_E_UNSUPPORTED && (!c->in_table || pm_device_kind(aim->device) != PM_DEVICE_REF)))
		c->verdict = PM_CASE_UNSUPPORTED;
	if (st < 0)
		snprintf(c->why, sizeof c->why, "%s", err.text);
}

static PmStatus one_case(const char *folder, Aim *aim, PmCase *out, PmErr *err)
{
	PmStr path = PM_STR_INIT, model = PM_STR_INIT;
	PmModelPeek peek;
	PmStatus st;

	memset(out, 0, sizeof *out);
	pm_path_join(folder, "model.onnx", &path);
	st = pm_read_file(path.s, 0, &model, err);
	if (!st) {
		out->name = pm_xstrdup(pm_path_base(folder));
		pm__model_raise_opset(model.s, model.len, LEAST_OPSET);
		pm__model_peek(model.s, model.len, &peek);
		snprintf(out->op, sizeof out->op, "%s", peek.op);
		out->in_table = pm_op_from_name(peek.op) != PM_OP_NONE;
		if (peek.outside) {
			out->verdict = PM_CASE_EXCLUDED;
			snprintf(out->why, sizeof out->why, "%s", peek.outside);
		} else if (peek.bad_type) {
			out->verdict = PM_CASE_UNSUPPORTED;
			snprintf(out->why, sizeof out->why, "element type %s is not held",
				 pm__onnx_dtype_name(peek.bad_type));
		} else {
			run_sets(folder, &model, peek.has_bfloat16, aim, out);
		}
	}
	pm_str_release(&path);
	pm_str_release(&model);
	return st;
}

PmStatus pm_conform_case(const char *folder, const char *device, PmCase *out, PmErr *err)
{
	Aim aim = { .device = device ? device : "ref" };

	return one_case(folder, &aim, out, err);
}

void pm__conform_sources(const char *folder, PmSourceSet *to)
{
	Aim aim = { .device = "emu", .sources = to };
	PmCase c;

	/* What is wrong with a case is told when it is run. */
	one_case(folder, &aim, &c, NULL);
	free(c.name);
}

/* ---- whole models with the dummy input ---- */

static PmStatus dummy_input(const PmGraph *g, Data *in, PmErr *err)
{
	PmTensor t;
	int64_t i, n;
	PmStatus st;

	if (pm_graph_n_inputs(g) != 1)
		return pm_err(err, PM_E_INVALID, "The model has %zu inputs; the dummy data is for one.",
			      pm_graph_n_inputs(g));
	st = pm_tensor_init(&t, pm_value_type(g, pm_graph_input(g, 0)), err);
	if (st)
		return st;
	n = pm_tensor_numel(&t);
	for (i = 0; i < n; i++)
		pm_tensor_set(&t, i, (double)((float)i / (float)n));
	snprintf(in->name[0], NAME, "%s", pm_value_name(g, pm_graph_input(g, 0)));
	in->type[0] = t.type;
	in->blob[0] = pm_blob_copy(t.data, t.bytes);
	in->n = 1;
	pm_tensor_release(&t);
	return PM_OK;
}

PmStatus pm_conform_model(const char *model, const char *expected, double *seconds, PmErr *err)
{
	Data *in = pm_xcalloc(1, sizeof *in), *want = pm_xcalloc(1, sizeof *want);
	PmOnnxReport *report = pm_xcalloc(1, sizeof *report);
	Aim aim = { .device = "ref", .first_only = 1 };
	PmGraph *g = NULL;
	PmStatus st = pm_onnx_import(model, NULL, &g, report, err);

	*seconds = 0;
	if (!st && report->n_opaque_nodes)
		st = pm_err(err, PM_E_UNSUPPORTED,
			    "The model has operators outside the table, first %s (%s).",
			    report->opaque[0].name, report->opaque[0].why);
	if (!st)
		st = dummy_input(g, in, err);
	if (!st)
		st = read_tensor(expected, 0, want->name[0], &want->type[0], &want->blob[0], err);
	if (!st) {
		want->n = 1;
		st = run_set(g, in, want, &aim, err);
		*seconds = aim.seconds;
	}
	pm_graph_free(g);
	data_release(in);
	data_release(want);
	free(in);
	free(want);
	free(report);
	return st;
}
