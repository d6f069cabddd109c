/* SPDX-License-Identifier: Apache-2.0 */
/* testdata.c - inputs and outputs of a run as serialised tensors in a folder. */
#include "bench/inputs/testdata.h"

#include "base/sys/io.h"
#include "bench/inputs/inputs.h"
#include "ir/onnx/onnx.h"

#include <stdlib.h>
#include <string.h>

#define SET "test_data_set_0"

static PmStatus write_one(const char *set, const char *kind, size_t k, const char *name, const PmTensor *t,
			  PmErr *err)
{
	PmBlob blob = { .refs = 1, .data = t->data ? t->data : "", .size = t->bytes };
	PmStr path = PM_STR_INIT, bytes = PM_STR_INIT;
	PmStatus st = pm_onnx_tensor_write(name, &t->type, &blob, &bytes, err);

	pm_str_addf(&path, "%s/%s_%zu.pb", set, kind, k);
	if (!st)
		st = pm_write_file(path.s, bytes.s, bytes.len, err);
	pm_str_release(&path);
	pm_str_release(&bytes);
	return st;
}

PmStatus pm_testdata_write(const char *folder, const PmGraph *g, const PmTensor *in, const PmTensor *out,
			   PmErr *err)
{
	PmStr set = PM_STR_INIT;
	PmStatus st;

	pm_path_join(folder, SET, &set);
	st = pm_remove_tree(set.s, err);
	if (!st)
		st = pm_mkdirs(set.s, err);
	for (size_t k = 0; k < pm_graph_n_inputs(g) && !st; k++)
		st = write_one(set.s, "input", k, pm_value_name(g, pm_graph_input(g, k)), &in[k], err);
	for (size_t k = 0; k < pm_graph_n_outputs(g) && !st; k++)
		st = write_one(set.s, "output", k, pm_value_name(g, pm_graph_output(g, k)), &out[k], err);
	pm_str_release(&set);
	return st;
}

/* Reads one file; *v is {0} when the graph has no input of its name. */
static PmStatus read_one(const char *path, const PmGraph *g, PmValue *v, PmTensor *t, PmErr *err)
{
	PmStr bytes = PM_STR_INIT;
	PmBlob *blob = NULL;
	char *name = pm_xcalloc(PM_MAX_NAME + 1, 1);
	PmType type;
	PmStatus st = pm_read_file(path, 0, &bytes, err);

	if (!st) {
		st = pm_onnx_tensor_read(bytes.s, bytes.len, name, PM_MAX_NAME + 1, &type, &blob, err);
		if (st)
			pm_err_ctx(err, "%s", path);
	}
	*v = st ? (PmValue){ 0 } : pm_graph_find_value(g, name);
	if (v->id && !pm_value_is_input(g, *v))
		v->id = 0;
	if (v->id && !pm_type_equal(&type, pm_value_type(g, *v))) {
		PmStr want = PM_STR_INIT, got = PM_STR_INIT;

		pm_type_describe(pm_value_type(g, *v), &want);
		pm_type_describe(&type, &got);
		st = pm_err(err, PM_E_TYPE, "%s holds a %s for input '%.120s', which is %s.", path, got.s,
			    name, want.s);
		pm_str_release(&want);
		pm_str_release(&got);
	}
	if (v->id && !st)
		st = pm_tensor_init(t, &type, err);
	if (v->id && !st)
		pm_blob_read(blob, 0, t->bytes, t->data);
	pm_blob_unref(blob);
	pm_str_release(&bytes);
	free(name);
	return st;
}

static PmStatus read_all(const char *set, const PmGraph *g, const uint32_t *place, PmTensor *in, PmErr *err)
{
	PmStr path = PM_STR_INIT;
	PmStatus st = PM_OK;

	for (size_t k = 0; !st; k++) {
		PmTensor t = { 0 };
		PmValue v;

		pm_str_clear(&path);
		pm_str_addf(&path, "%s/input_%zu.pb", set, k);
		if (!pm_path_exists(path.s))
			break;
		st = read_one(path.s, g, &v, &t, err);
		if (st || !v.id)
			continue;
		pm_tensor_release(&in[place[v.id] - 1]); /* the last of two of one name counts */
		in[place[v.id] - 1] = t;
	}
	pm_str_release(&path);
	return st;
}

PmStatus pm_testdata_read_inputs(const char *folder, const PmGraph *g, PmTensor *in, PmErr *err)
{
	size_t n = pm_graph_n_inputs(g);
	uint32_t *place = pm_xcalloc(pm_graph_value_limit(g), sizeof *place);
	PmStr set = PM_STR_INIT;
	PmStatus st;

	for (size_t k = 0; k < n; k++) {
		memset(&in[k], 0, sizeof in[k]);
		in[k].type = pm_type_unknown();
		place[pm_graph_input(g, k).id] = (uint32_t)k + 1;
	}
	pm_path_join(folder, SET, &set);
	st = read_all(pm_path_is_dir(set.s) ? set.s : folder, g, place, in, err);
	for (size_t k = 0; k < n && !st; k++)
		if (in[k].type.dtype < 0)
			st = pm_err(err, PM_E_NOT_FOUND,
				    "%s has no data for input '%.120s'; add an input_K.pb with that name.",
				    set.s, pm_value_name(g, pm_graph_input(g, k)));
	if (st)
		pm_tensors_release(in, n);
	pm_str_release(&set);
	free(place);
	return st;
}
