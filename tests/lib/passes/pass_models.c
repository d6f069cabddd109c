/* SPDX-License-Identifier: Apache-2.0 */
/* pass_models.c - the bundled models, and what the first-party passes make of them. */
#include "tests/lib/passes/pass_models.h"

#include "base/sys/io.h"
#include "extract/variants/variants.h"
#include "ir/text/text.h"
#include "matcher/host/pass_host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const passes[] = {
	"silu",    "bias_gelu",        "add_layer_norm",           "scaled_masked_softmax",
	"bn_relu", "masked_mean_pool", "roll_slice_add_layer_norm"
};
static const char *const models[] = { "bert_encoder_layer",   "bge_pooling_head",  "llama_block",
				      "mobilenetv3_se_block", "resnet_bottleneck", "swin_block" };
enum { N_PASSES = sizeof passes / sizeof passes[0], N_MODELS = sizeof models / sizeof models[0] };
_Static_assert((int)N_PASSES <= (int)PASS_MODELS_MAX, "callers make room for that many");

typedef struct Call {
	PassModelFn fn;
	void *arg;
	const char *model;
} Call;

const char *pass_models_name(size_t pass)
{
	return passes[pass];
}

static PmStatus take_variant(void *arg, const PmGraph *g, const char *label, int shape, int dtype, PmErr *err)
{
	const char *build = getenv("PASSMITH_BUILD");
	PmPassOpts opts = { .seconds = 60 };
	const Call *c = arg;
	PmPassOutcome out;
	char path[1024];
	size_t i;

	(void)shape;
	(void)label;
	c->fn(c->arg, -1, c->model, dtype, g, g);
	for (i = 0; i < N_PASSES; i++) {
		snprintf(path, sizeof path, "%s/passes/%s.so", build ? build : "build", passes[i]);
		if (pm_pass_apply(path, g, &opts, &out, err))
			fail_msg("%s", err->text);
		if (out.verdict == PM_VERDICT_OK)
			c->fn(c->arg, (int)i, c->model, dtype, g, out.graph);
		else if (out.verdict != PM_VERDICT_NO_MATCH)
			fail_msg("%s on %s: %s", passes[i], c->model, out.message);
		pm_pass_outcome_release(&out);
	}
	return PM_OK;
}

size_t pass_models(PassModelFn fn, void *arg)
{
	PmVariantOpts opts = { .n_shapes = 1 };
	Call c = { fn, arg, NULL };
	size_t i;

	for (i = 0; i < N_MODELS; i++) {
		PmStr text = PM_STR_INIT;
		PmGraph *g = NULL;
		char path[1024];
		PmErr err;

		pm_err_init(&err);
		c.model = models[i];
		snprintf(path, sizeof path, "models/%s.gpt", models[i]);
		if (pm_read_file(path, 1 << 20, &text, &err) || pm_graph_parse(text.s, text.len, &g, &err) ||
		    pm_variants_make(g, &opts, take_variant, &c, NULL, &err))
			fail_msg("%s: %s", path, err.text);
		pm_graph_free(g);
		pm_str_release(&text);
	}
	return N_PASSES;
}
