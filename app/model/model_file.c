/* SPDX-License-Identifier: Apache-2.0 */
/* model_file.c - models as files: read and written by the ending of their names. */
#include "app/model/model_file.h"

#include "ir/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int pm_model_types_infer;

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

void pm_model_say_overruled(const char *path, const PmOnnxReport *r)
{
	size_t n = r->n_overruled < PM_ONNX_MAX_OVERRULED ? r->n_overruled : PM_ONNX_MAX_OVERRULED;

	for (size_t i = 0; i < n; i++)
		fprintf(stderr, "%s: %s\n", path, r->overruled[i]);
	if (n < r->n_overruled)
		fprintf(stderr, "%s: %zu more values are read likewise.\n", path, r->n_overruled - n);
}

/* A kernel whose sources cannot be trusted any more is what its function says. */
static void say_lost(const char *path, const PmOnnxReport *r)
{
	if (r->n_kernels_lost)
		fprintf(stderr, "%s: %s It is read as the standard operators in it%s.\n", path,
			r->kernel_lost, r->n_kernels_lost > 1 ? ", and so are others" : "");
}

/* Reads ONNX from the file, or from the bytes at hand. */
static PmStatus read_onnx(const char *path, const PmMap *file, PmGraph **out, PmOnnxReport *report,
			  PmErr *err)
{
	const PmOnnxOpts opts = { .types_infer = pm_model_types_infer };
	PmOnnxReport *own = report ? NULL : pm_xcalloc(1, sizeof *own);
	PmStatus st;

	report = report ? report : own;
	st = file ? pm_onnx_import_read(file->p, file->n, path, &opts, out, report, err)
		  : pm_onnx_import(path, &opts, out, report, err);
	if (!st)
		pm_model_say_overruled(path, report);
	if (!st)
		say_lost(path, report);
	free(own);
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
		return read_onnx(path, NULL, out, report, err);
	st = pm_read_file(path, MAX_TEXT, &text, err);
	if (!st)
		st = parse_text(path, text.s, text.len, out, report, err);
	pm_str_release(&text);
	return st;
}

PmStatus pm_model_save(const PmGraph *g, const char *path, PmErr *err)
{
	PmStr text = PM_STR_INIT;
	PmStatus st;

	if (pm_str_ends(path, ".onnx"))
		return pm_onnx_export(g, path, err);
	st = pm_graph_print(g, NULL, &text, err);
	if (!st)
		st = pm_write_file(path, text.s, text.len, err);
	pm_str_release(&text);
	return st;
}

PmStatus pm_model_load(const char *path, PmGraph **out, PmOnnxReport *report, PmErr *err)
{
	PmStatus st = read_model(path, out, report, err);

	if (!st)
		pm_weights_attach(*out, report ? &report->weights : NULL);
	return st;
}

PmStatus pm_model_load_read(const char *path, const PmMap *file, PmGraph **out, PmOnnxReport *report,
			    PmErr *err)
{
	const char *text = file->n ? file->p : "";
	PmStatus st;

	memset(report, 0, sizeof *report);
	if (pm_str_ends(path, ".onnx"))
		st = read_onnx(path, file, out, report, err);
	else if (file->n > MAX_TEXT)
		st = pm_err(err, PM_E_LIMIT, "\"%s\" is larger than the limit of %zu bytes.", path,
			    (size_t)MAX_TEXT);
	else
		st = parse_text(path, text, file->n, out, report, err);
	if (!st)
		pm_weights_attach(*out, &report->weights);
	return st;
}
