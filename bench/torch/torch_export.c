/* SPDX-License-Identifier: Apache-2.0 */
/* torch_export.c - the folder of a graph for PyTorch: module, description of its arguments, data to check it.
 */
#include "bench/torch/torch_export.h"

#include "base/core/json.h"
#include "base/sys/io.h"
#include "bench/compare/tolerance.h"
#include "bench/inputs/inputs.h"
#include "bench/torch/torch_priv.h"
#include "runtime/ref/ref.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LITERAL = 64 }; /* elements below which data are written out */

/* Above so many elements of all inputs together, each is described by its first SAMPLE. */
enum { WHOLE = 1 << 26, SAMPLE = 1 << 20 };

typedef struct Export {
	const PmGraph *g;
	const PmTorchOpts *o;
	PmTensor *in;        /* by input */
	PmStr meta, data;    /* weight_meta.py, data.bin */
	PmStr args, results; /* entries of case.json */
	int check;           /* data.bin holds inputs and outputs */
} Export;

static void shape(const PmType *t, PmStr *out)
{
	pm_str_addc(out, '[');
	for (int d = 0; d < t->rank; d++)
		pm_str_addf(out, "%s%lld", d ? ", " : "", (long long)t->dim[d]);
	pm_str_addc(out, ']');
}

static void statistics(const PmTensor *t, double *mean, double *std, double *lo, double *hi)
{
	int64_t n = pm_tensor_numel(t);
	double sum = 0, square = 0;

	*lo = *hi = n ? pm_tensor_get(t, 0) : 0;
	for (int64_t i = 0; i < n; i++) {
		double v = pm_tensor_get(t, i);

		sum += v;
		*lo = fmin(*lo, v);
		*hi = fmax(*hi, v);
	}
	*mean = n ? sum / (double)n : 0;
	for (int64_t i = 0; i < n; i++)
		square += (pm_tensor_get(t, i) - *mean) * (pm_tensor_get(t, i) - *mean);
	*std = n > 1 ? sqrt(square / (double)(n - 1)) : 0;
}

/* The class of one argument of that type in weight_meta.py; `t` holds its elements, or the first of them.
 * `law` is what the graph says that it is drawn from, NULL when it says nothing. */
static void describe(Export *e, const char *name, const PmType *type, const PmTensor *t, const char *law)
{
	double mean, std, lo, hi;
	int is_float = pm_dtype_is_float(type->dtype);
	int64_t n = pm_tensor_numel(t);

	statistics(t, &mean, &std, &lo, &hi);
	pm_str_addf(&e->meta, "class Program_weight_tensor_meta_%s:\n    name = \"%s\"\n    shape = ", name,
		    name);
	shape(type, &e->meta);
	pm_str_addf(&e->meta, "\n    dtype = \"%s\"\n    device = \"cuda:0\"\n",
		    pm_dtype_torch(t->type.dtype));
	if (is_float && isfinite(mean) && isfinite(std))
		pm_str_addf(&e->meta, "    mean = %.6g\n    std = %.6g\n", mean, std);
	else
		pm_str_add(&e->meta, "    mean = None\n    std = None\n");
	if (!is_float && n >= LITERAL)
		pm_str_addf(&e->meta, "    min_val = %.0f\n    max_val = %.0f\n", lo, hi);
	if (is_float && lo >= 0 && isfinite(lo) && n)
		pm_str_addf(&e->meta, "    min_val = %.6g\n", lo > 0 ? lo : 0);
	pm_str_add(&e->meta, "    law = ");
	pm_str_add_quoted(&e->meta, law ? law : "", law ? strlen(law) : 0);
	pm_str_add(&e->meta, "\n    data = ");
	if (n >= LITERAL) {
		pm_str_add(&e->meta, "None\n\n\n");
		return;
	}
	pm_str_addc(&e->meta, '[');
	for (int64_t i = 0; i < n; i++) {
		pm_str_add(&e->meta, i ? ", " : "");
		pm__torch_number(&e->meta, t->type.dtype, pm_tensor_get(t, i), pm_tensor_get_i(t, i));
	}
	pm_str_add(&e->meta, "]\n\n\n");
}

/* An entry of case.json; with `stored` the bytes go to data.bin. */
static void entry(Export *e, PmStr *list, const char *name, const char *kind, const PmType *type,
		  const PmTensor *t, int stored)
{
	pm_str_addf(list, "%s    {\"name\": \"%s\", \"kind\": \"%s\", \"dtype\": \"%s\", \"shape\": ",
		    list->len ? ",\n" : "", name, kind, pm_dtype_torch(type->dtype));
	shape(type, list);
	if (stored) {
		pm_str_addf(list, ", \"offset\": %zu, \"bytes\": %zu", e->data.len, t->bytes);
		pm_str_addn(&e->data, t->data ? t->data : "", t->bytes);
		while (e->data.len % 16)
			pm_str_addc(&e->data, '\0');
	}
	pm_str_addc(list, '}');
}

static PmStatus arguments(Export *e, PmErr *err)
{
	int constants = 0;
	char name[32];
	PmStatus st = PM_OK;

	for (size_t i = 0; i < pm_graph_n_inputs(e->g); i++) {
		PmValue v = pm_graph_input(e->g, i);
		const PmType *type = pm_value_type(e->g, v);

		snprintf(name, sizeof name, "in_%zu", i);
		describe(e, name, type, &e->in[i], pm_graph_input_law(e->g, v));
		entry(e, &e->args, name, "input", type, &e->in[i], e->check);
	}
	for (uint32_t id = 1; id < pm_graph_value_limit(e->g) && !st; id++) {
		PmValue v = { id };
		PmTensor t;

		if (pm_value_is_input(e->g, v) || !pm__torch_is_argument(e->g, v))
			continue;
		st = pm_tensor_from_const(&t, e->g, v, err);
		if (st)
			break;
		snprintf(name, sizeof name, "w_%d", constants++);
		describe(e, name, &t.type, &t, NULL);
		entry(e, &e->args, name, "constant", &t.type, &t, 1);
		pm_tensor_release(&t);
	}
	return st;
}

static PmStatus results(Export *e, PmErr *err)
{
	size_t n = pm_graph_n_outputs(e->g);
	PmTensor *out = pm_xcalloc(n + 1, sizeof *out);
	char name[32];
	PmStatus st = e->check ? pm_ref_run(e->g, e->in, pm_graph_n_inputs(e->g), out, n, err) : PM_OK;

	for (size_t i = 0; i < n && !st && e->check; i++) {
		snprintf(name, sizeof name, "out_%zu", i);
		entry(e, &e->results, name, "output", &out[i].type, &out[i], 1);
		pm_tensor_release(&out[i]);
	}
	free(out);
	return st;
}

/* Whether running the reference and storing what it gave is within the limit. */
static int small_enough(const PmGraph *g, int64_t limit)
{
	int64_t bytes = 0, flops = 0, b = 0;

	for (uint32_t id = 1; id < pm_graph_value_limit(g); id++) {
		PmValue v = { id };

		if ((pm_value_is_input(g, v) || pm_value_is_const(g, v) || pm_value_def(g, v, NULL).id) &&
		    !pm_type_bytes(pm_value_type(g, v), &b, NULL))
			bytes += b;
	}
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++)
		flops += pm_op_flops(g, pm_graph_node_at(g, i));
	return bytes <= limit && flops <= limit;
}

static PmStatus put(const char *dir, const char *name, const char *p, size_t n, PmErr *err)
{
	PmStr path = PM_STR_INIT;
	PmStatus st;

	pm_path_join(dir, name, &path);
	st = pm_write_file(path.s, p, n, err);
	pm_str_release(&path);
	return st;
}

/* The ladder of tolerances by element type, so that who compares elsewhere has no list of its own. */
static void tolerances(PmStr *out)
{
	const char *sep = "";

	for (int k = 0; k < PM_N_DTYPES; k++) {
		if (!pm_dtype_is_float(k) || pm_dtype_is_narrow(k))
			continue;
		pm_str_addf(out, "%s\"%s\": [", sep, pm_dtype_torch(k));
		sep = ", ";
		for (int t = PM_T_MIN; t <= PM_T_MAX; t++) {
			PmTol tol;

			pm_tol(k, t, &tol);
			pm_str_addf(out, "%s[%d, %.3g, %.3g]", t > PM_T_MIN ? ", " : "", t, tol.atol,
				    tol.rtol);
		}
		pm_str_addc(out, ']');
	}
}

static PmStatus put_all(Export *e, const char *dir, const PmStr *module, PmErr *err)
{
	PmStr text = PM_STR_INIT, name = PM_STR_INIT;
	PmStatus st = pm_mkdirs(dir, err);

	pm_str_add_quoted(&name, e->o->name, strlen(e->o->name));
	if (!st)
		st = put(dir, "model.py", module->s, module->len, err);
	if (!st)
		st = put(dir, "weight_meta.py", e->meta.s, e->meta.len, err);
	if (!st)
		st = put(dir, "input_meta.py", "", 0, err);
	if (!st)
		st = put(dir, "data.bin", e->data.s, e->data.len, err);
	pm_str_addf(&text,
		    "{\"name\": %s,\n \"graph\": \"%s\",\n \"arguments\": [\n%s],\n \"results\": [\n%s],\n"
		    " \"tolerance\": {",
		    name.s, e->o->graph ? e->o->graph : "", e->args.s, e->results.s);
	tolerances(&text);
	pm_str_add(&text, "}}\n");
	if (!st)
		st = put(dir, "case.json", text.s, text.len, err);
	pm_str_clear(&text);
	pm_str_addf(&text,
		    "{\"framework\": \"torch\", \"model_name\": %s, \"num_devices_required\": 1, "
		    "\"num_nodes_required\": 1, \"dynamic\": false, \"source\": \"passmith\"}\n",
		    name.s);
	if (!st) /* last: where it is, the folder is complete */
		st = put(dir, "graph_net.json", text.s, text.len, err);
	pm_str_release(&text);
	pm_str_release(&name);
	return st;
}

/* What a sample can stand for: inputs of many elements, none of which is tied to another. */
static int is_sampled(const PmGraph *g)
{
	int64_t all = 0, n = 0;

	for (size_t i = 0; i < pm_graph_n_inputs(g); i++) {
		if (!pm_inputs_are_free(g, i) ||
		    pm_type_numel(pm_value_type(g, pm_graph_input(g, i)), &n, NULL))
			return 0;
		all += n;
	}
	return all > WHOLE;
}

/* The inputs, or of large ones so much as describes them. */
static PmStatus draw_inputs(Export *e, PmErr *err)
{
	PmStatus st = PM_OK;

	if (e->check || !is_sampled(e->g))
		return pm_inputs_make(e->g, e->o->seed, PM_INPUTS_NORMAL, e->in, err);
	for (size_t i = 0; i < pm_graph_n_inputs(e->g) && !st; i++) {
		int64_t n = 0;

		st = pm_type_numel(pm_value_type(e->g, pm_graph_input(e->g, i)), &n, err);
		if (!st)
			st = pm_inputs_draw(e->g, i, e->o->seed, PM_INPUTS_NORMAL, n < SAMPLE ? n : SAMPLE,
					    &e->in[i], err);
	}
	return st;
}

PmStatus pm_torch_export(const PmGraph *g, const char *dir, const PmTorchOpts *opts, PmErr *err)
{
	Export e = { .g = g, .o = opts };
	PmStr module = PM_STR_INIT;
	size_t n = pm_graph_n_inputs(g);
	PmStatus st = pm_torch_module(g, &module, err);

	pm_str_init(&e.meta);
	pm_str_init(&e.data);
	pm_str_init(&e.args);
	pm_str_init(&e.results);
	e.in = pm_xcalloc(n + 1, sizeof *e.in);
	e.check = small_enough(g, opts->max_check);
	if (!st)
		st = draw_inputs(&e, err);
	if (!st)
		st = arguments(&e, err);
	if (!st)
		st = results(&e, err);
	if (!st)
		st = put_all(&e, dir, &module, err);
	pm_tensors_release(e.in, n);
	free(e.in);
	pm_str_release(&module);
	pm_str_release(&e.meta);
	pm_str_release(&e.data);
	pm_str_release(&e.args);
	pm_str_release(&e.results);
	return st;
}
