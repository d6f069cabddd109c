/* pass_kernels.c - the kernels that the first-party passes make of the bundled models. */
#include "tests/lib/pass_kernels.h"

#include "base/io.h"
#include "extract/variants.h"
#include "ir/kernel.h"
#include "ir/text.h"
#include "matcher/pass_host.h"

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
_Static_assert((int)N_PASSES <= (int)PASS_KERNELS_MAX, "callers make room for that many");

typedef struct Call {
	PassKernelFn fn;
	void *arg;
} Call;

const char *pass_kernels_name(size_t pass)
{
	return passes[pass];
}

static void hand_over(const Call *c, size_t pass, const PmGraph *g, int dtype)
{
	PmArena *arena = pm_arena_new(0);
	size_t i;
	int k;

	for (i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode n = pm_graph_node_at(g, i);
		PmKernelDesc d;
		PmErr err;

		pm_err_init(&err);
		if (pm_node_op(g, n) != PM_OP_Kernel)
			continue;
		if (pm_kernel_decode(g, n, arena, &d, &err))
			fail_msg("%s", err.text);
		for (k = 0; k < d.n_alts; k++)
			c->fn(c->arg, pass, dtype, d.name, d.alts[k].source, d.alts[k].type);
	}
	pm_arena_free(arena);
}

static PmStatus take_variant(void *arg, const PmGraph *g, const char *label, int shape, int dtype, PmErr *err)
{
	const char *build = getenv("PASSMITH_BUILD");
	PmPassOpts opts = { .seconds = 60 };
	PmPassOutcome out;
	char path[1024];
	size_t i;

	(void)shape;
	for (i = 0; i < N_PASSES; i++) {
		snprintf(path, sizeof path, "%s/passes/%s.so", build ? build : "build", passes[i]);
		if (pm_pass_apply(path, g, &opts, &out, err))
			fail_msg("%s", err->text);
		if (out.verdict == PM_VERDICT_OK)
			hand_over(arg, i, out.graph, dtype);
		else if (out.verdict != PM_VERDICT_NO_MATCH)
			fail_msg("%s on %s: %s", passes[i], label, out.message);
		pm_pass_outcome_release(&out);
	}
	return PM_OK;
}

size_t pass_kernels(PassKernelFn fn, void *arg)
{
	PmVariantOpts opts = { .n_shapes = 1 };
	Call c = { fn, arg };
	size_t i;

	for (i = 0; i < N_MODELS; i++) {
		PmStr text = PM_STR_INIT;
		PmGraph *g = NULL;
		char path[1024];
		PmErr err;

		pm_err_init(&err);
		snprintf(path, sizeof path, "models/%s.gpt", models[i]);
		if (pm_read_file(path, 1 << 20, &text, &err) || pm_graph_parse(text.s, text.len, &g, &err) ||
		    pm_variants_make(g, &opts, take_variant, &c, NULL, &err))
			fail_msg("%s: %s", path, err.text);
		pm_graph_free(g);
		pm_str_release(&text);
	}
	return N_PASSES;
}
