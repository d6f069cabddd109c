/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_expand.c - operators that become several nodes: what they become, what is refused, and that a
 * refusal leaves nothing behind. Numbers are the business of tests/conform. */
#include "ir/infer/infer.h"
#include "ir/onnx/onnx.h"
#include "ir/text/text.h"
#include "tests/lib/graphs/one_node.h"
#include "tests/lib/graphs/onnx_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static PmOnnxReport report;

/* Imports, verifies, and checks that export and import give the same text; the text goes to `out`. */
static PmGraph *import(int64_t opset, const char *spec, PmStr *out)
{
	PmStr m = pm_ob_spec(opset, spec), again = PM_STR_INIT, bytes = PM_STR_INIT;
	PmPrintOpts opts = { .no_header = 1 };
	PmGraph *g = NULL, *h = NULL;
	PmErr err;

	pm_err_init(&err);
	if (pm_onnx_import_mem(m.s, m.len, "m", NULL, &g, &report, &err) || pm_verify(g, &err) ||
	    pm_graph_print(g, &opts, out, &err) || pm_onnx_export_mem(g, &bytes, &err) ||
	    pm_onnx_import_mem(bytes.s, bytes.len, "again", NULL, &h, NULL, &err) ||
	    pm_graph_print(h, &opts, &again, &err))
		fail_msg("%s: %s", spec, err.text);
	assert_string_equal(out->s, again.s);
	pm_graph_free(h);
	pm_str_release(&m);
	pm_str_release(&again);
	pm_str_release(&bytes);
	return g;
}

/* The model's only result is of this type, and nothing is opaque. */
static void gives(int64_t opset, const char *spec, const char *type)
{
	PmStr text = PM_STR_INIT, got = PM_STR_INIT;
	PmGraph *g = import(opset, spec, &text);

	if (report.n_opaque_nodes)
		fail_msg("%s: %s: %s", spec, report.opaque[0].name, report.opaque[0].why);
	one_node_print_type(g, pm_value_type(g, pm_graph_output(g, 0)), &got);
	if (strcmp(got.s, type) != 0)
		fail_msg("%s gives %s instead of %s", spec, got.s, type);
	pm_graph_free(g);
	pm_str_release(&text);
	pm_str_release(&got);
}

/* The node stays as it is, alone, for this reason. */
static void declines(int64_t opset, const char *spec, const char *why)
{
	PmStr text = PM_STR_INIT;
	PmGraph *g = import(opset, spec, &text);
	uint32_t id, n_const = 0;

	assert_int_equal(report.n_opaque, 1);
	assert_string_equal(report.opaque[0].why, why);
	assert_int_equal(pm_graph_n_nodes(g), 1);
	for (id = 1; id < pm_graph_value_limit(g); id++)
		n_const += (uint32_t)(pm_value_is_const(g, (PmValue){ id }) &&
				      !pm_value_n_uses(g, (PmValue){ id }));
	assert_int_equal(n_const, 0);
	pm_graph_free(g);
	pm_str_release(&text);
}

static void refuses(int64_t opset, const char *spec, PmStatus want, const char *sentence)
{
	PmStr m = pm_ob_spec(opset, spec);
	PmGraph *g = NULL;
	PmErr err;
	PmStatus st;

	pm_err_init(&err);
	st = pm_onnx_import_mem(m.s, m.len, "m", NULL, &g, NULL, &err);
	if (st != want || !strstr(err.text, sentence))
		fail_msg("%s: %s (%d)", spec, err.text, (int)st);
	pm_str_release(&m);
}

#define ATTENTION "i q float B,2,S,4\ni k float B,2,S,4\ni v float B,2,S,6\no y\n"
#define FLEX                                                                                                 \
	"i q float16 1,4,3,4\ni k float16 1,2,3,4\ni v float16 1,2,3,6\ni h float -\no y\n"                  \
	"n ai.onnx.preview:FlexAttention q,k,v -> y "
#define LSTM "i x float 3,B,2\ni w float 1,8,2\ni r float 1,8,2\no y\n"

static void symbols_stay(void **state)
{
	(void)state;
	gives(13, "i x float N,5,M\ni t int64 N,M\no y\nn SoftmaxCrossEntropyLoss x,t -> y reduction='none'",
	      "float[N,M]");
	gives(13, "i x float N,5\ni t int64 N\no y\nn NegativeLogLikelihoodLoss x,t -> y ignore_index=-1",
	      "float");
	gives(14, LSTM "n LSTM x,w,r -> y hidden_size=2", "float[3,1,B,2]");
	gives(14, LSTM "i l int32 B\nn LSTM x,w,r,,l -> y hidden_size=2", "float[3,1,B,2]");
	gives(14,
	      "i x float B,3,2\ni w float 2,6,2\ni r float 2,6,2\no y\nn GRU x,w,r -> y layout=1 "
	      "direction='bidirectional'",
	      "float[B,3,2,2]");
	gives(23, ATTENTION "n Attention q,k,v -> y", "float[B,2,S,6]");
	gives(23,
	      "i q float B,S,8\ni k float B,S,4\ni v float B,S,4\no y\nn Attention q,k,v -> y q_num_heads=4 "
	      "kv_num_heads=2",
	      "float[B,S,8]");
	gives(23,
	      "i x float B,S,8\ni c float B,S,2\ni s float B,S,2\no y\nn RotaryEmbedding x,c,s -> y "
	      "num_heads=2",
	      "float[B,S,8]");
	gives(26, FLEX "scale=0.5f", "float16[1,4,3,6]");
	gives(26, FLEX "score_mod={i~s~float~1,4,3,3;o~t;n~Mul~s,h~->~t} prob_mod={i~s~float~1,4,3,3;o~s}",
	      "float16[1,4,3,6]");
	gives(15,
	      "i x float16 N,C,4\ni s float C\ni m float C\no y\nn BatchNormalization x,s,s,m,m -> y "
	      "training_mode=1",
	      "float16[N,C,4]");
	gives(26, "i x float N\no y\nn BitCast x -> y to=6", "int32[N]");
	gives(13, "i x float N,3\no y\nn MeanVarianceNormalization x -> y axes=[0]", "float[N,3]");
	gives(11, "i x float N\no y\nn DynamicQuantizeLinear x -> y,s,z", "uint8[N]");
	gives(24, "i x float16 N\no y\nn Swish x -> y alpha=2f", "float16[N]");
	gives(28, "i x float16 N\ni z float16 N\no y\nn SwiGLU x,z -> y", "float16[N]");
	gives(27,
	      "i q float B,3,8\ni k float B,3,4\ni v float B,3,6\no y\nn LinearAttention q,k,v -> y "
	      "q_num_heads=4 kv_num_heads=2 update_rule='linear'",
	      "float[B,3,12]");
	gives(27, "i x float16 B,2,5\ni w float16 2,1,3\no y\nn CausalConvWithState x,w -> y",
	      "float16[B,2,5]");
	gives(22,
	      "i x bfloat16 N,3,6\no y\nn LpPool x -> y kernel_shape=[3] strides=[2] auto_pad='SAME_UPPER'",
	      "bfloat16[N,3,3]");
	gives(22, "i x float N,3,6\no y\nn LpPool x -> y kernel_shape=[3] strides=[2] ceil_mode=1",
	      "float[N,3,3]");
	gives(26, "i x float N,5\nw a int64 - -1\no y\nn CumProd x,a -> y", "float[N,5]");
	gives(18, "i x float N,5\nw s int64 1 7\no y\nn CenterCropPad x,s -> y axes=[1]", "float[N,7]");
	gives(28, "i x float N,2,4,6\no y\nn SpaceToDepth x -> y blocksize=2 mode='CRD'", "float[N,8,2,3]");
	gives(20, "i x float N,4,2\nw a int64 - 1\no y\nn DFT x,,a -> y inverse=1 onesided=1",
	      "float[N,6,1]");
}

static void what_is_not_known_is_declined(void **state)
{
	(void)state;
	declines(14, "i x float T,1,2\ni w float 1,8,2\ni r float 1,8,2\no y\nn LSTM x,w,r -> y",
		 "the number of steps is not known");
	declines(14, "i x float 2000,1,2\ni w float 1,2,2\ni r float 1,2,2\no y\nn RNN x,w,r -> y",
		 "2000 steps are outside 1 to 1024, to which it is unrolled");
	declines(14, LSTM "n LSTM x,w,r -> y activations=['Sigmoid','Tanh','Cosh']",
		 "the activation 'Cosh' is not known");
	declines(14, LSTM "n LSTM x,w,r -> y direction='sideways'", "its direction 'sideways' is not known");
	declines(23, ATTENTION "n Attention q,k,v -> y is_causal=1", "the number of queries is not known");
	declines(23, ATTENTION "n Attention q,k,v -> y softmax_precision=7",
		 "its softmax_precision is no floating-point type we hold");
	declines(13, "i x float N,5\ni t int64 N\no y\nn SoftmaxCrossEntropyLoss x,t -> y reduction='median'",
		 "its reduction 'median' is not none, sum or mean");
	declines(11, "i x float 1,1,N\ni k int64 1,1,N\no y\nn MaxUnpool x,k -> y kernel_shape=[2]",
		 "the shape of the input is not known");
	declines(24, "i p float 2,N,3\ni u float 2,1,3\no y\nn TensorScatter p,u -> y",
		 "the length of the cache is not known");
	declines(10, "i a int32 2,3\ni b int8 3,2\no y\nn MatMulInteger a,b -> y",
		 "operand 0 is int32, not int8 or uint8");
	declines(19, "i x float N\no y\nw p int64 2 1 1\nn Pad x,p -> y mode='wrap'",
		 "the size of a padded dimension is not known");
	declines(25, ATTENTION "n Attention q,k,v -> y left_window_size=1",
		 "the number of queries is not known");
	declines(27,
		 "i q float 1,600,2\ni k float 1,600,2\ni v float 1,600,2\no y\nn LinearAttention q,k,v -> y "
		 "q_num_heads=1 kv_num_heads=1 update_rule='linear'",
		 "it has 600 steps instead of 1 to 512");
	declines(27, "i x float 1,2,N\ni w float 2,1,3\no y\nn CausalConvWithState x,w -> y",
		 "the length is not known");
	declines(26, FLEX "score_mod={i~s~float~1,4,3,3;o~t;n~Zork~s~->~t}",
		 "the type of what 'score_mod' gives is not known");
	declines(26, FLEX "softmax_precision=7", "its softmax_precision is no floating-point type we hold");
	declines(26, "i x float N\nw a int64 - 0\no y\nn CumProd x,a -> y",
		 "the length of its axis is not known");
	declines(22, "i x float 1,N,6\no y\nn LpPool x -> y kernel_shape=[2]",
		 "the number of channels is not known");
	declines(22,
		 "i x double 1,1,3,3\ni w double 1,1,2,2\ni f double 1,8,2,2\no y\nn DeformConv x,w,f -> y",
		 "it is of doubles, which are sampled as float");
	declines(18, "i x float 1,4,6,6\no y\nn SpaceToDepth x -> y blocksize=2 mode='CRD'",
		 "the attribute 'mode' is not known before opset 28");
	declines(18, "i x float 2,3\no y\nn ReduceMean x -> y axes=[0]",
		 "'axes' is an attribute, which opset 18 lacks");
}

static void wrong_models_are_refused(void **state)
{
	(void)state;
	refuses(25,
		"i q float 1,2,3,4\ni k float 1,2,3,4\ni v float 1,2,3,4\no y\nn Attention q,k,v -> y "
		"left_window_size=-2",
		PM_E_INVALID, "is below -1");
	refuses(27,
		"i q float 1,3,4\ni k float 1,3,4\ni v float 1,3,4\no y\nn LinearAttention q,k,v -> y "
		"q_num_heads=2 kv_num_heads=2",
		PM_E_INVALID, "must have a decay exactly when its rule is gated");
	refuses(27,
		"i q float 1,3,4\ni k float 1,3,4\ni v float 1,3,4\no y\nn LinearAttention q,k,v -> y "
		"q_num_heads=3 kv_num_heads=2 update_rule='linear'",
		PM_E_SHAPE, "3 and 2 heads do not divide");
	refuses(26, FLEX "score_mod={i~s~float~1,4,3,3;w~a~int64~1~3;o~t;n~ReduceSum~s,a~->~t}", PM_E_TYPE,
		"The graph 'score_mod' of node 0 (FlexAttention -> 'y') changes the shape");
	refuses(26, FLEX "prob_mod={i~s~float~1,4,3,3;i~u~float~-;o~s}", PM_E_INVALID,
		"has to be a graph of 1 input(s) and one output");
	refuses(26, FLEX "prob_mod={i~s~float~1,4,3,3;o~t;n~Neg~nothing~->~t}", PM_E_INVALID,
		"is 'nothing', which no input");
	refuses(27, "i x float16 -\no y\nn Range x,x,x -> y stash_type=7", PM_E_TYPE,
		"is neither float (1) nor double (11)");
	refuses(22, "i x float 1,1,3,3\ni w float 1,1,2,2\ni f float 1,6,2,2\no y\nn DeformConv x,w,f -> y",
		PM_E_SHAPE, "do not fit");
	refuses(26, "i x int32 4\no y\nn BitCast x -> y to=3", PM_E_TYPE, "which has another width");
	refuses(22, "i x float 1,1,2\no y\nn LpPool x -> y kernel_shape=[3]", PM_E_SHAPE,
		"is larger than its input");
	refuses(18, "i x float 2,5\nw s int64 1 7\no y\nn CenterCropPad x,s -> y", PM_E_SHAPE,
		"has 1 numbers for 2 axes");
	refuses(28, "i x float 1,2,3,4\no y\nn SpaceToDepth x -> y blocksize=2 mode='CRD'", PM_E_SHAPE,
		"Blocks of 2 do not divide");
	refuses(13, "i x float 4,5\ni t float 4\no y\nn SoftmaxCrossEntropyLoss x,t -> y", PM_E_TYPE,
		"they must be int32 or int64");
	refuses(13, "i x float 4,5\ni t int64 4,1\no y\nn NegativeLogLikelihoodLoss x,t -> y", PM_E_SHAPE,
		"the targets need one less");
	refuses(13, "i x float 4,5\no y\nn NegativeLogLikelihoodLoss x -> y", PM_E_INVALID,
		"There are 1 operands");
	refuses(14, LSTM "n LSTM x,w -> y", PM_E_INVALID, "There are 2 operands");
	refuses(14, LSTM "n LSTM x,w,r -> y direction='bidirectional'", PM_E_SHAPE,
		"for 1 directions instead of 2");
	refuses(14, LSTM "n LSTM x,w,r -> y activations=['Tanh']", PM_E_INVALID, "There are 1 activations");
	refuses(14, "i x float 3,1,2\ni w float 1,8,3\ni r float 1,8,2\no y\nn LSTM x,w,r -> y", PM_E_SHAPE,
		"The expansion of");
	refuses(14, "i x float 3,2\ni w float 1,8,2\ni r float 1,8,2\no y\nn LSTM x,w,r -> y", PM_E_SHAPE,
		"must have 3 dimensions");
	refuses(23, "i q float 1,2,3,4\ni k float 1,2,3\ni v float 1,2,3,4\no y\nn Attention q,k,v -> y",
		PM_E_SHAPE, "must all have 3 or 4 dimensions");
	refuses(23,
		"i q float 1,3,7\ni k float 1,3,4\ni v float 1,3,4\no y\nn Attention q,k,v -> y "
		"q_num_heads=2 "
		"kv_num_heads=2",
		PM_E_SHAPE, "2 heads do not divide the hidden size 7");
	refuses(23, ATTENTION "n Attention q,k,v,,k -> y", PM_E_INVALID,
		"needs past_key and past_value together");
	refuses(23,
		"i x float 1,2,2,4\ni c float 1,2,1\no y\nn RotaryEmbedding x,c,c -> y "
		"rotary_embedding_dim=3",
		PM_E_INVALID, "is odd or not below 4");
	refuses(24, "i p float 2,4,3\ni u float 2,5,3\no y\nn TensorScatter p,u -> y", PM_E_SHAPE,
		"longer than its cache");
	refuses(17, "i x float 1,4,1\nw f int64 - 2\nw l int64 - 9\no y\nn STFT x,f,,l -> y", PM_E_INVALID,
		"do not fit");
	refuses(20, "i t float 1,2,3\nw s int64 3 1 1 4\no y\nn AffineGrid t,s -> y", PM_E_SHAPE,
		"needs a size of 4 or 5 numbers");
	refuses(14, LSTM "n LSTM x,w,r -> y,h,c,d", PM_E_INVALID, "results at");
}

/* A result that is an operand, or another result, has a name and a node of its own. */
static void results_have_their_names(void **state)
{
	static const char spec[] = ATTENTION "o present\nn Attention q,k,v -> y,present";
	PmStr text = PM_STR_INIT;
	PmGraph *g = import(23, spec, &text);

	(void)state;
	assert_non_null(strstr(text.s, "present = Identity (k)"));
	pm_graph_free(g);
	pm_str_release(&text);
}

/* Only what the model names is made. */
static void results_that_nobody_names_are_not_made(void **state)
{
	PmStr text = PM_STR_INIT;
	PmGraph *g = import(14, "i x float 3,1,2\ni w float 1,2,2\ni r float 1,2,2\no h\nn RNN x,w,r -> ,h",
			    &text);

	(void)state;
	assert_null(strstr(text.s, "Concat"));
	pm_graph_free(g);
	pm_str_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols_stay),
		cmocka_unit_test(what_is_not_known_is_declined),
		cmocka_unit_test(wrong_models_are_refused),
		cmocka_unit_test(results_have_their_names),
		cmocka_unit_test(results_that_nobody_names_are_not_made),
	};

	return cmocka_run_group_tests_name("onnx_expand", tests, NULL, NULL);
}
