/* SPDX-License-Identifier: Apache-2.0 */
/* import_check.c - round trips of a model, and its stated types against inference. */
#include "app/model/import_check.h"

#include "base/core/str.h"
#include "ir/text/text.h"

#include <string.h>

/* Larger constants are printed by reference: their bytes are compared as ONNX. */
enum { MAX_INLINE = 4096 };

static PmStatus print(const PmGraph *g, PmStr *out, PmErr *err)
{
	PmPrintOpts opts = { .max_inline = MAX_INLINE };

	return pm_graph_print(g, &opts, out, err);
}

static PmStatus through_text(const PmStr *text, int *same, PmErr *err)
{
	PmStr again = PM_STR_INIT;
	PmGraph *g = NULL;
	PmStatus st = pm_graph_parse(text->s, text->len, &g, err);

	if (!st)
		st = print(g, &again, err);
	*same = !st && strcmp(text->s, again.s) == 0;
	pm_graph_free(g);
	pm_str_release(&again);
	return st;
}

static PmStatus through_onnx(const PmGraph *g, const PmStr *text, const char *path, int *same, PmErr *err)
{
	PmStr bytes = PM_STR_INIT, twice = PM_STR_INIT, again = PM_STR_INIT;
	PmGraph *h = NULL;
	PmStatus st = pm_onnx_export_mem(g, &bytes, err);

	if (!st)
		st = pm_onnx_import_mem(bytes.s, bytes.len, path, NULL, &h, NULL, err);
	if (!st)
		st = print(h, &again, err);
	if (!st)
		st = pm_onnx_export_mem(h, &twice, err);
	*same = !st && strcmp(text->s, again.s) == 0 && bytes.len == twice.len &&
		memcmp(bytes.s, twice.s, bytes.len) == 0;
	pm_graph_free(h);
	pm_str_release(&bytes);
	pm_str_release(&twice);
	pm_str_release(&again);
	return st;
}

static void add_stated(PmOnnxStated *sum, const PmOnnxStated *one)
{
	sum->n_equal += one->n_equal;
	sum->n_renamed += one->n_renamed;
	sum->n_less += one->n_less;
	sum->n_differ += one->n_differ;
	sum->n_opaque += one->n_opaque;
}

static PmStatus stated(const char *path, PmImportCheck *sum, PmErr *err)
{
	static PmOnnxReport r; /* large */
	PmOnnxOpts opts = { .compare_stated = 1 };
	PmGraph *g = NULL;
	PmStatus st;

	if (!pm_str_ends(path, ".onnx"))
		return PM_OK;
	st = pm_onnx_import(path, &opts, &g, &r, err);
	pm_graph_free(g);
	if (st)
		return st;
	add_stated(&sum->stated, &r.stated);
	if (r.stated.n_less + r.stated.n_differ)
		return pm_err(
			err, PM_DECLINED,
			"%s: %zu stated types differ from inference and %zu are not inferred as a whole; "
			"the first: %s.",
			path, r.stated.n_differ, r.stated.n_less, r.stated.example);
	return PM_OK;
}

void pm_import_check_add(PmImportCheck *sum, const PmImportCheck *one)
{
	sum->n_models += one->n_models;
	sum->n_text += one->n_text;
	sum->n_onnx += one->n_onnx;
	add_stated(&sum->stated, &one->stated);
}

PmStatus pm_import_check(const char *path, const PmGraph *g, PmImportCheck *sum, PmErr *err)
{
	PmStr text = PM_STR_INIT;
	int as_text = 0, as_onnx = 0;
	PmStatus st = print(g, &text, err);

	sum->n_models++;
	if (!st)
		st = through_text(&text, &as_text, err);
	if (!st)
		st = through_onnx(g, &text, path, &as_onnx, err);
	pm_str_release(&text);
	sum->n_text += (size_t)as_text;
	sum->n_onnx += (size_t)as_onnx;
	if (!st && (!as_text || !as_onnx))
		st = pm_err(err, PM_DECLINED, "%s: it does not survive the way through %s unchanged.", path,
			    !as_text ? "its text form" : "an ONNX file");
	return st ? st : stated(path, sum, err);
}
