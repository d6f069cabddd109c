/* SPDX-License-Identifier: Apache-2.0 */
/* load.c - what commands share: models read and written with the stage said. */
#include "cli/cmds.h"

#include "app/model/model_file.h"
#include "runtime/device/device.h"
#include "runtime/device/library.h"
#include "runtime/worker/worker.h"

#include <stdio.h>
#include <string.h>

PmStatus pm_cli_load(const char *path, PmGraph **out, PmOnnxReport *report, PmErr *err)
{
	PmStatus st;

	pm_cli_stage("reading");
	st = pm_model_load(path, out, report, err);
	if (!st)
		pm_cli_stage("working");
	return st;
}

PmStatus pm_cli_save(const PmGraph *g, const char *path, PmErr *err)
{
	pm_cli_stage("writing");
	return pm_model_save(g, path, err);
}

PmStatus pm_cli_variants(const char *path, int variants, uint64_t seed, PmVariantList *out, PmErr *err)
{
	PmGraph *g = NULL;
	PmStatus st = pm_cli_load(path, &g, NULL, err);

	if (!st)
		st = pm_variant_list_of_graph(g, variants, seed, out, err);
	pm_graph_free(g);
	return st;
}

void pm_cli_say_weights(const char *path, const PmWeightsReport *r)
{
	PmStr s = PM_STR_INIT;

	if (!r->n || pm_cli_quiet)
		return;
	pm_weights_describe(r, &s);
	fprintf(stderr, "%s: %zu weights (%.3g MB) are not at hand and are synthesised (%s)\n", path, r->n,
		(double)r->bytes / 1e6, s.s);
	pm_str_release(&s);
}

cJSON *pm_cli_weights_json(const PmWeightsReport *r)
{
	cJSON *j = cJSON_CreateObject(), *from, *as;

	pm_json_add_i64(j, "synthesised", (int64_t)r->n);
	pm_json_add_i64(j, "bytes", r->bytes);
	from = cJSON_AddObjectToObject(j, "how");
	for (int k = 0; k < PM_N_LAW_FROM; k++)
		pm_json_add_i64(from, pm_law_from_name((PmLawFrom)k), (int64_t)r->from[k]);
	as = cJSON_AddObjectToObject(j, "as");
	for (int k = 0; k < PM_N_ROLES; k++)
		if (r->role[k])
			pm_json_add_i64(as, pm_input_role_name((PmInputRole)k), (int64_t)r->role[k]);
	return j;
}

/* Looked at, and not opened: with --gpus it may be another command's now. When it is not there the command
 * says so, and nothing else matters. */
static int is_there(const char *device)
{
	return pm_worker_look(device, NULL, NULL) == PM_OK;
}

void pm_cli_libraries(const char *device, int tf32)
{
	const PmLibrary *l[2];

	pm_library_allow_tf32(tf32);
	if (pm_device_kind(device) != PM_DEVICE_CUDA || pm_cli_quiet)
		return;
	l[0] = pm_library_cublaslt();
	l[1] = pm_library_cudnn();
	if ((l[0]->so && l[1]->so && pm_library_allowed()) || !is_there(device))
		return;
	for (int i = 0; i < 2; i++)
		if (!l[i]->so && pm_library_allowed())
			fprintf(stderr, "%s runs on our own kernels: %s\n",
				i ? "Convolution" : "MatMul and Gemm", l[i]->text);
	if (!pm_library_allowed())
		fprintf(stderr, "PASSMITH_LIBRARIES is off: the baseline runs on our own kernels.\n");
}
