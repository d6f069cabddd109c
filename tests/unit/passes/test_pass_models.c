/* SPDX-License-Identifier: Apache-2.0 */
/* test_pass_models.c - every first-party pass finds something in real models: the bundled ones, and those of
 * ../shared where it is present. */
#include "base/sys/io.h"
#include "ir/onnx/onnx.h"
#include "ir/text/text.h"
#include "matcher/host/pass_host.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* How often each pass applies. Numbers of `shared` are lower bounds: better patterns may find more. */
static const struct Row {
	const char *pass, *model;
	int times;
} bundled[] = {
	{ "silu", "llama_block", 1 },
	{ "bias_gelu", "bert_encoder_layer", 1 },
	{ "bias_gelu", "swin_block", 1 },
	{ "add_layer_norm", "bert_encoder_layer", 2 },
	{ "scaled_masked_softmax", "bert_encoder_layer", 1 },
	{ "scaled_masked_softmax", "llama_block", 1 },
	{ "scaled_masked_softmax", "swin_block", 1 },
	{ "bn_relu", "resnet_bottleneck", 3 },
	{ "bn_relu", "mobilenetv3_se_block", 2 },
	{ "masked_mean_pool", "bge_pooling_head", 1 },
	{ "roll_slice_add_layer_norm", "swin_block", 1 },
	{ "window_reverse_add_layer_norm", "swin_block", 1 },
	{ "add_rms_norm", "llama_block", 2 },
	{ "rotary", "llama_block", 2 },
	{ "swiglu", "llama_block", 1 },
	{ "se_gate", "mobilenetv3_se_block", 1 },
	{ "bn_residual", "mobilenetv3_se_block", 1 },
	{ "l2_normalize", "bge_pooling_head", 1 },
	{ "bias_act", "resnet_bottleneck", 1 },
},
  shared[] = {
	  { "silu", "ultralytics__yolov8n-pose", 50 },
	  { "bias_gelu", "transformers-auto-model__noamr_bert-finetuned-ner", 12 },
	  { "bias_gelu", "mmseg__Swin-t", 12 },
	  { "add_layer_norm", "transformers-auto-model__noamr_bert-finetuned-ner", 24 },
	  { "scaled_masked_softmax", "mmseg__Swin-t", 12 },
	  { "bn_relu", "mmseg__DANet_R50", 40 },
	  { "bn_relu", "timm__lcnet_050.ra2_in1k", 20 },
	  { "masked_mean_pool", "transformers-auto-model__ibm-research_MoLFormer-XL-both-10pct", 1 },
	  { "roll_slice_add_layer_norm", "mmseg__Swin-t", 6 },
	  { "window_reverse_add_layer_norm", "mmseg__Swin-t", 12 },
	  { "rel_pos_softmax", "mmseg__Swin-t", 6 },
	  { "split_heads", "transformers-auto-model__noamr_bert-finetuned-ner", 24 },
	  { "layer_norm_2d", "timm__convnext_large_mlp.clip_laion2b_augreg", 41 },
	  { "layer_scale_add", "torchaudio__convtasnet_base_libri2mix", 49 },
	  { "layer_scale_add_layer_norm", "timm__vit_base_patch16_rope_mixed_224.naver_in1k", 24 },
	  { "quick_gelu", "timm__vit_base_patch32_clip_quickgelu_224.laion400m_e32", 12 },
	  { "patch_embed", "timm__vit_base_patch32_clip_quickgelu_224.laion400m_e32", 1 },
	  { "add_rms_norm", "transformers-auto-model__google__gemma-3-270m", 100 },
	  { "rotary", "transformers-auto-model__google__gemma-3-270m", 36 },
	  { "geglu", "transformers-auto-model__google__gemma-3-270m", 18 },
	  { "safe_softmax", "transformers-auto-model__google__gemma-3-270m", 18 },
	  { "se_gate", "timm__seresnet50.a1_in1k", 16 },
	  { "bias_act", "timm__seresnet50.a1_in1k", 16 },
  };

#define N_ROWS(t) (sizeof(t) / sizeof *(t))

static void applies(const struct Row *r, const PmGraph *g, int exact)
{
	const char *build = getenv("PASSMITH_BUILD");
	PmPassOpts opts = { .seconds = 60 };
	PmPassOutcome out;
	char path[1024];
	PmErr err;

	pm_err_init(&err);
	snprintf(path, sizeof path, "%s/passes/%s.so", build ? build : "build", r->pass);
	if (pm_pass_apply(path, g, &opts, &out, &err))
		fail_msg("%s", err.text);
	if (out.verdict != PM_VERDICT_OK)
		fail_msg("%s on %s: %s: %s", r->pass, r->model, pm_verdict_name(out.verdict), out.message);
	if (exact ? out.applied != r->times : out.applied < r->times)
		fail_msg("%s applies %lld times to %s instead of %d", r->pass, (long long)out.applied,
			 r->model, r->times);
	pm_pass_outcome_release(&out);
}

static void passes_apply_to_the_bundled_models(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS(bundled); i++) {
		PmStr text = PM_STR_INIT;
		PmGraph *g = NULL;
		char path[1024];
		PmErr err;

		pm_err_init(&err);
		snprintf(path, sizeof path, "models/%s.gpt", bundled[i].model);
		if (pm_read_file(path, 1 << 20, &text, &err) || pm_graph_parse(text.s, text.len, &g, &err))
			fail_msg("%s: %s", path, err.text);
		applies(&bundled[i], g, 1);
		pm_graph_free(g);
		pm_str_release(&text);
	}
}

static void passes_apply_to_the_shared_models(void **state)
{
	(void)state;
	pm_test_need_path("../shared/models/core");
	for (size_t i = 0; i < N_ROWS(shared); i++) {
		PmGraph *g = NULL;
		char path[1024];
		PmErr err;

		pm_err_init(&err);
		snprintf(path, sizeof path, "../shared/models/core/%s.onnx", shared[i].model);
		if (pm_onnx_import(path, NULL, &g, NULL, &err))
			fail_msg("%s: %s", path, err.text);
		applies(&shared[i], g, 0);
		pm_graph_free(g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passes_apply_to_the_bundled_models),
		cmocka_unit_test(passes_apply_to_the_shared_models),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
