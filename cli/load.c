/* load.c - what commands share: reading models, writing JSON. */
#include "cli/cmds.h"

#include "base/io.h"
#include "ir/text.h"

#include <stdio.h>
#include <string.h>

enum { MAX_TEXT = 1 << 30 };

/* Text has no bytes below tab. */
static PmStatus check_text(const char *path, const PmStr *text, PmErr *err)
{
	for (size_t i = 0; i < text->len && i < 256; i++)
		if ((unsigned char)text->s[i] < '\t')
			return pm_err(
				err, PM_E_INVALID,
				"%s: The file is not text; ONNX models are read when their name ends in "
				"\".onnx\".",
				path);
	return PM_OK;
}

PmStatus pm_cli_load(const char *path, PmGraph **out, PmOnnxReport *report, PmErr *err)
{
	PmStr text = PM_STR_INIT;
	PmStatus st;

	if (report)
		memset(report, 0, sizeof *report);
	if (pm_str_ends(path, ".onnx"))
		return pm_onnx_import(path, NULL, out, report, err);
	st = pm_read_file(path, MAX_TEXT, &text, err);
	if (!st)
		st = check_text(path, &text, err);
	if (!st) {
		st = pm_graph_parse(text.s, text.len, out, err);
		if (st)
			pm_err_ctx(err, "%s", path);
	}
	pm_str_release(&text);
	if (!st && report)
		report->n_nodes = pm_graph_n_nodes(*out);
	return st;
}

PmStatus pm_cli_save(const PmGraph *g, const char *out, PmErr *err)
{
	PmStr text = PM_STR_INIT;
	PmStatus st;

	if (pm_str_ends(out, ".onnx"))
		return pm_onnx_export(g, out, err);
	st = pm_graph_print(g, NULL, &text, err);
	if (!st)
		st = pm_write_file(out, text.s, text.len, err);
	pm_str_release(&text);
	return st;
}

void pm_cli_put_json(cJSON *j)
{
	PmStr s = PM_STR_INIT;

	pm_json_print(j, 1, &s);
	fwrite(s.s, 1, s.len, stdout);
	pm_str_release(&s);
	cJSON_Delete(j);
}
