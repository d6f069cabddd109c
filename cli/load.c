/* load.c - what commands share: reading models, writing JSON. */
#include "cli/cmds.h"

#include "base/io.h"
#include "ir/text.h"
#include "runtime/library.h"

#include <stdio.h>
#include <string.h>

enum { MAX_TEXT = 1 << 30 };

PmStatus pm_cli_load(const char *path, PmGraph **out, PmOnnxReport *report, PmErr *err)
{
	PmStr text = PM_STR_INIT;
	PmStatus st;

	if (report)
		memset(report, 0, sizeof *report);
	if (pm_str_ends(path, ".onnx"))
		return pm_onnx_import(path, NULL, out, report, err);
	st = pm_read_file(path, MAX_TEXT, &text, err);
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

void pm_cli_put_json(cJSON *j)
{
	PmStr s = PM_STR_INIT;

	pm_json_print(j, 1, &s);
	fwrite(s.s, 1, s.len, stdout);
	pm_str_release(&s);
	cJSON_Delete(j);
}

void pm_cli_libraries(const char *device, int tf32)
{
	const PmLibrary *l[2];

	pm_library_allow_tf32(tf32);
	if (strcmp(device, "cuda") != 0 || pm_cli_quiet)
		return;
	l[0] = pm_library_cublaslt();
	l[1] = pm_library_cudnn();
	for (int i = 0; i < 2; i++)
		if (!l[i]->so && pm_library_allowed())
			fprintf(stderr, "%s runs on our own kernels: %s\n",
				i ? "Convolution" : "MatMul and Gemm", l[i]->text);
	if (!pm_library_allowed())
		fprintf(stderr, "PASSMITH_LIBRARIES is off: the baseline runs on our own kernels.\n");
}
