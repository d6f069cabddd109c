/* load.c - what commands share: reading and writing models. */
#include "cli/cmds.h"

#include "base/sys/io.h"
#include "ir/text/text.h"
#include "runtime/device/device.h"
#include "runtime/device/library.h"
#include "runtime/worker/worker.h"

#include <stdio.h>
#include <string.h>

enum { MAX_TEXT = 1 << 30 };

/* Text has no bytes below tab. */
static PmStatus check_text(const char *path, const char *text, size_t n, PmErr *err)
{
	for (size_t i = 0; i < n && i < 256; i++)
		if ((unsigned char)text[i] < '\t')
			return pm_err(
				err, PM_E_INVALID,
				"%s: The file is not text; ONNX models are read when their name ends in "
				"\".onnx\".",
				path);
	return PM_OK;
}

static PmStatus parse_text(const char *path, const char *text, size_t n, PmGraph **out, PmOnnxReport *report,
			   PmErr *err)
{
	PmStatus st = check_text(path, text, n, err);

	if (!st) {
		st = pm_graph_parse(text, n, out, err);
		if (st)
			pm_err_ctx(err, "%s", path);
	}
	if (!st && report)
		report->n_nodes = pm_graph_n_nodes(*out);
	return st;
}

/* Reads a model as it is written. */
static PmStatus read_model(const char *path, PmGraph **out, PmOnnxReport *report, PmErr *err)
{
	PmStr text = PM_STR_INIT;
	PmStatus st;

	if (report)
		memset(report, 0, sizeof *report);
	if (pm_str_ends(path, ".onnx"))
		return pm_onnx_import(path, NULL, out, report, err);
	st = pm_read_file(path, MAX_TEXT, &text, err);
	if (!st)
		st = parse_text(path, text.s, text.len, out, report, err);
	pm_str_release(&text);
	return st;
}

PmStatus pm_cli_save(const PmGraph *g, const char *out, PmErr *err)
{
	PmStr text = PM_STR_INIT;
	PmStatus st;

	pm_cli_stage("writing");
	if (pm_str_ends(out, ".onnx"))
		return pm_onnx_export(g, out, err);
	st = pm_graph_print(g, NULL, &text, err);
	if (!st)
		st = pm_write_file(out, text.s, text.len, err);
	pm_str_release(&text);
	return st;
}

PmStatus pm_cli_load(const char *path, PmGraph **out, PmOnnxReport *report, PmErr *err)
{
	PmStatus st;

	pm_cli_stage("reading");
	st = read_model(path, out, report, err);
	if (st)
		return st;
	pm_weights_attach(*out, report ? &report->weights : NULL);
	pm_cli_stage("working");
	return PM_OK;
}

PmStatus pm_cli_load_read(const char *path, const PmMap *file, PmGraph **out, PmOnnxReport *report,
			  PmErr *err)
{
	const char *text = file->n ? file->p : "";
	PmStatus st;

	memset(report, 0, sizeof *report);
	if (pm_str_ends(path, ".onnx"))
		st = pm_onnx_import_read(file->p, file->n, path, NULL, out, report, err);
	else if (file->n > MAX_TEXT)
		st = pm_err(err, PM_E_LIMIT, "\"%s\" is larger than the limit of %zu bytes.", path,
			    (size_t)MAX_TEXT);
	else
		st = parse_text(path, text, file->n, out, report, err);
	if (!st)
		pm_weights_attach(*out, &report->weights);
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

/* Tried in a process of its own. When it cannot be opened the command says so, and nothing else matters. */
static int can_open(const char *device)
{
	PmWorker *w = pm_worker_new(device);
	PmDeviceInfo info;
	PmErr err;
	int can;

	pm_err_init(&err);
	can = pm_worker_info(w, &info, &err) == PM_OK;
	pm_worker_free(w);
	return can;
}

void pm_cli_libraries(const char *device, int tf32)
{
	const PmLibrary *l[2];

	pm_library_allow_tf32(tf32);
	if (pm_device_kind(device) != PM_DEVICE_CUDA || pm_cli_quiet)
		return;
	l[0] = pm_library_cublaslt();
	l[1] = pm_library_cudnn();
	if ((l[0]->so && l[1]->so && pm_library_allowed()) || !can_open(device))
		return;
	for (int i = 0; i < 2; i++)
		if (!l[i]->so && pm_library_allowed())
			fprintf(stderr, "%s runs on our own kernels: %s\n",
				i ? "Convolution" : "MatMul and Gemm", l[i]->text);
	if (!pm_library_allowed())
		fprintf(stderr, "PASSMITH_LIBRARIES is off: the baseline runs on our own kernels.\n");
}
