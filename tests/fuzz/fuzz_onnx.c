/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_onnx.c - any bytes as an ONNX model: refused with one sentence, or read, written and read back alike.
 */
#include "base/core/str.h"
#include "ir/infer/infer.h"
#include "ir/onnx/onnx.h"
#include "ir/onnx/onnx_priv.h"
#include "ir/text/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void need(int ok, const char *what, const PmErr *err)
{
	if (!ok)
		PM_BUG("%s: %s", what, err->text);
}

static void is_sentence(PmStatus st, const PmErr *err)
{
	size_t n = strlen(err->text);

	need(st < 0 && err->code == st, "a refusal without a status", err);
	need(n && (err->text[n - 1] == '.' || n >= PM_ERR_MAX - 1), "a refusal that is no sentence", err);
	need(strchr(err->text, '\n') == NULL, "a refusal of several lines", err);
}

/* A model that was read can be written, unless an opaque node has no meaning in the opset written. */
static void round_trip(const PmGraph *g, const PmOnnxOpts *opts)
{
	PmStr bytes = PM_STR_INIT, before = PM_STR_INIT, after = PM_STR_INIT;
	PmGraph *again = NULL;
	PmStatus st;
	PmErr err;

	pm_err_init(&err);
	need(pm_verify(g, &err) == PM_OK, "an imported graph does not verify", &err);
	need(pm_graph_print(g, NULL, &before, &err) == PM_OK, "an imported graph does not print", &err);
	st = pm_onnx_export_mem(g, &bytes, &err);
	need(st == PM_OK || st == PM_E_UNSUPPORTED, "an imported graph is not written", &err);
	if (st == PM_OK) {
		st = pm_onnx_import_mem(bytes.s, bytes.len, "again", opts, &again, NULL, &err);
		need(st == PM_OK, "an exported model is not read", &err);
		need(pm_graph_print(again, NULL, &after, &err) == PM_OK, "it does not print", &err);
		need(strcmp(before.s, after.s) == 0, "the round trip changed the graph", &err);
	}
	pm_graph_free(again);
	pm_str_release(&bytes);
	pm_str_release(&before);
	pm_str_release(&after);
}

/* The scan stands for protobuf-c where messages are never unpacked: it lets nothing through that would fail.
 */
static void scan_agrees(const uint8_t *data, size_t n, PmErr *err)
{
	PmOnnxAlloc alloc;

	if (pm__onnx_scan(&onnx__model_proto__descriptor, data, n, NULL))
		return;
	pm__onnx_alloc_init(&alloc, n);
	need(pm__onnx_unpack_scanned(&onnx__model_proto__descriptor, data, n, &alloc, err) || alloc.over,
	     "protobuf-c refuses what the scan lets through", err);
	pm__onnx_alloc_release(&alloc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const PmOnnxOpts opts = { .max_file = 1 << 22, .max_nodes = 1000 };
	static PmOnnxReport report;
	PmGraph *g = NULL;
	PmStatus st;
	PmErr err;

	pm_err_init(&err);
	scan_agrees(data, n, &err);
	pm_err_init(&err);
	st = pm_onnx_import_mem(data, n, "input", &opts, &g, &report, &err);
	if (st)
		is_sentence(st, &err);
	else
		round_trip(g, &opts);
	pm_graph_free(g);
	return 0;
}
