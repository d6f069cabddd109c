/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_norm.c - what each difference between opsets becomes, as the text of the imported graph. */
#include "ir/onnx/onnx.h"
#include "ir/text/text.h"
#include "tests/lib/graphs/onnx_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static PmOnnxReport report;

/* The text of the model after import; it must survive export and import unchanged. */
static void text_of(int64_t opset, const char *spec, PmStr *out)
{
	PmStr m = pm_ob_spec(opset, spec), again = PM_STR_INIT, bytes = PM_STR_INIT;
	PmPrintOpts opts = { .no_header = 1 };
	PmGraph *g = NULL, *h = NULL;
	PmErr err;

	pm_err_init(&err);
	if (pm_onnx_import_mem(m.s, m.len, "m", NULL, &g, &report, &err) ||
	    pm_graph_print(g, &opts, out, &err) || pm_onnx_export_mem(g, &bytes, &err) ||
	    pm_onnx_import_mem(bytes.s, bytes.len, "again", NULL, &h, NULL, &err) ||
	    pm_graph_print(h, &opts, &again, &err))
		fail_msg("opset %d: %s", (int)opset, err.text);
	assert_string_equal(out->s, again.s);
	pm_graph_free(g);
	pm_graph_free(h);
	pm_str_release(&m);
	pm_str_release(&bytes);
	pm_str_release(&again);
}

/* The body of the text holds `want`, and nothing is opaque. */
static void becomes(int64_t opset, const char *spec, const char *want)
{
	PmStr s = PM_STR_INIT;

	text_of(opset, spec, &s);
	if (!strstr(s.s, want))
		fail_msg("opset %d gives\n%s\nwithout\n%s", (int)opset, s.s, want);
	assert_int_equal(report.n_opaque_nodes, 0);
	pm_str_release(&s);
}

static void stays_opaque(int64_t opset, const char *spec, const char *why)
{
	PmStr s = PM_STR_INIT;

	text_of(opset, spec, &s);
	assert_int_equal(report.n_opaque, 1);
	assert_string_equal(report.opaque[0].why, why);
	assert_non_null(strstr(s.s, "raw ="));
	pm_str_release(&s);
}

static void axes_are_attributes(void **state)
{
	(void)state;
	becomes(11, "i x float 1,3,1\no y\nn Squeeze x -> y axes=[0]", "y = Squeeze <axes = [0]> (x)");
	becomes(11, "i x float 1,3,1\no y\nn Squeeze x -> y", "y = Squeeze <axes = [0, 2]> (x)");
	becomes(13, "i x float 1,3,1\no y\nw a int64 1 -1\nn Squeeze x,a -> y",
		"y = Squeeze <axes = [2]> (x)");
	becomes(9, "i x float 3\no y\nn Unsqueeze x -> y axes=[2,0]", "y = Unsqueeze <axes = [0, 2]> (x)");
	becomes(13, "i x float 3\no y\nw a int64 1 -1\nn Unsqueeze x,a -> y",
		"y = Unsqueeze <axes = [1]> (x)");
	becomes(9, "i x float 2,3\no y\nn Slice x -> y starts=[1] ends=[9]",
		"y = Slice <starts = [1], ends = [9], axes = [0], steps = [1]> (x)");
	becomes(10,
		"i x float 2,3\no y\nw s int64 1 0\nw e int64 1 2\nw a int64 1 -1\nw t int64 1 2\nn Slice "
		"x,s,e,a,t -> y",
		"y = Slice <starts = [0], ends = [2], axes = [1], steps = [2]> (x)");
	becomes(9, "i x float 2,3\no y\nn Flatten x -> y", "y = Flatten <axis = 1> (x)");
	becomes(11, "i x float 2,3,4\no y\nn Flatten x -> y axis=-1", "y = Flatten <axis = 2> (x)");
	becomes(11, "i x float 2,3\no y\nn Concat x,x -> y axis=-1", "y = Concat <axis = 1> (x, x)");
	becomes(9, "i x float 2,3\no y\nn Transpose x -> y", "y = Transpose <perm = [1, 0]> (x)");
}

static void reductions_find_their_axes(void **state)
{
	(void)state;
	becomes(11, "i x float 2,3\no y\nn ReduceMean x -> y axes=[-1] keepdims=0",
		"y = ReduceMean <axes = [1], keepdims = 0> (x)");
	becomes(13, "i x float 2,3\no y\nn ReduceMean x -> y", "y = ReduceMean <axes = [0, 1]> (x)");
	becomes(13, "i x float 2,3\no y\nw a int64 1 0\nn ReduceSum x,a -> y",
		"y = ReduceSum <axes = [0]> (x)");
	becomes(18, "i x float 2,3\no y\nw a int64 1 1\nn ReduceMax x,a -> y",
		"y = ReduceMax <axes = [1]> (x)");
	becomes(18, "i x float 2,3\no y\nn ReduceMax x -> y noop_with_empty_axes=1", "y = Identity (x)");
	becomes(18, "i x float 2,3\no y\nn ReduceL2 x -> y noop_with_empty_axes=1", "y = Abs (x)");
	becomes(18, "i x float 2,3\no y\nn ReduceLogSum x -> y noop_with_empty_axes=1", "y = Log (x)");
	becomes(18, "i x float 2,3\no y\nn ReduceSumSquare x -> y noop_with_empty_axes=1", "y = Mul (x, x)");
	becomes(18, "i x float -\no y\nn ReduceMax x -> y", "y = ReduceMax <axes: ints = []> (x)");
}

static void old_resizes_scale_from_the_corner(void **state)
{
	static const char corner[] =
		"coordinate_transformation_mode = \"asymmetric\", nearest_mode = \"floor\"";

	(void)state;
	becomes(9, "i x float 2,3\no y\nw s float 2 2 1\nn Upsample x,s -> y", corner);
	becomes(10, "i x float 2,3\no y\nw s float 2 2 1\nn Resize x,s -> y mode='linear'", corner);
	becomes(11, "i x float 2,3\no y\nw r float 0\nw s float 2 2 1\nn Resize x,r,s -> y", "Resize");
}

static void scatters_transforms_and_extremes(void **state)
{
	(void)state;
	becomes(9, "i x float 4\ni u float 1\no y\nw k int64 1 2\nn Scatter x,k,u -> y",
		"y = ScatterElements <axis = 0> (x, k, u)");
	becomes(13, "i x float 2,3\no y\nn ArgMax x -> y axis=-1", "y = ArgMax <axis = 1> (x)");
	becomes(17, "i x float 2,3,2\no y\nn DFT x -> y", "y = DFT <axis = 1> (x)");
	becomes(20, "i x float 2,3,2\no y\nw a int64 - 0\nn DFT x,,a -> y", "y = DFT <axis = 0> (x)");
	/* GroupNormalization needs opset 21, where the axis of DFT is an operand. */
	becomes(21,
		"i x float 1,2,2\no y\nw s float 2 1 2\nn DFT x -> t onesided=1\n"
		"n GroupNormalization t,s,s -> y num_groups=1",
		"t = DFT <axis = 1, onesided = 1> (x)");
}

static void transposed_windows_are_numbers(void **state)
{
	(void)state;
	becomes(11, "i x float 1,1,3\no y\nw k float 1,1,2 1 2\nn ConvTranspose x,k -> y strides=[2]",
		"strides = [2], pads = [0, 0], dilations = [1], output_padding = [0]");
	becomes(11,
		"i x float 1,1,3\no y\nw k float 1,1,4 1 2 3 4\nn ConvTranspose x,k -> y strides=[1] "
		"auto_pad='SAME_UPPER'",
		"pads = [1, 2]");
	becomes(11,
		"i x float 1,1,3\no y\nw k float 1,1,4 1 2 3 4\nn ConvTranspose x,k -> y strides=[1] "
		"output_shape=[3]",
		"pads = [2, 1]");
	becomes(11,
		"i x float 1,1,3\no y\nw k float 1,1,2 1 2\nn ConvTranspose x,k -> y strides=[2] "
		"output_shape=[7]",
		"pads = [0, 0], dilations = [1], output_padding = [1]");
}

static void weights_of_groups_become_those_of_channels(void **state)
{
	(void)state;
	becomes(18,
		"i x float 1,4,2\no y\ni s float 2\nw b float 2 0 1\nn GroupNormalization x,s,b -> y "
		"num_groups=2",
		"= Gather <axis = 0> (s, ");
	becomes(21, "i x float 1,4,2\no y\ni s float 4\nn GroupNormalization x,s,s -> y num_groups=2",
		"y = GroupNormalization <num_groups = 2> (x, s, s)");
}

static void parts_and_pads_are_spelt_out(void **state)
{
	(void)state;
	becomes(11, "i x float 4\no a\no b\nn Split x -> a,b axis=-1",
		"a, b = Split <axis = 0, split = [2, 2]> (x)");
	becomes(13, "i x float 4\no a\no b\nw s int64 2 1 3\nn Split x,s -> a,b",
		"a, b = Split <axis = 0, split = [1, 3]> (x)");
	becomes(18, "i x float 5\no a\no b\nn Split x -> a,b num_outputs=2", "split = [3, 2]");
	becomes(9, "i x float 2\no y\nn Pad x -> y pads=[1,1]", "y = Pad <pads = [1, 1]> (x)");
	becomes(9, "i x float 2\no y\nn Pad x -> y pads=[1,1] value=0.5f", "<float v2 = {0.5}>");
	becomes(11, "i x float 2\no y\nw p int64 2 0 1\nw c float - 3\nn Pad x,p,c -> y mode='constant'",
		"y = Pad <pads = [0, 1]> (x, c)");
	becomes(18, "i x float 2,2\no y\nw p int64 2 3 1\nw a int64 1 -1\nn Pad x,p,,a -> y mode='edge'",
		"y = Pad <pads = [0, 3, 0, 1], mode = \"edge\"> (x)");
}

static void windows_are_numbers(void **state)
{
	(void)state;
	becomes(9, "i x float 1,1,5\ni w float 1,1,3\no y\nn Conv x,w -> y kernel_shape=[3]",
		"y = Conv <strides = [1], pads = [0, 0], dilations = [1]> (x, w)");
	becomes(11, "i x float 1,1,5\ni w float 1,1,2\no y\nn Conv x,w -> y auto_pad='SAME_UPPER'",
		"pads = [0, 1]");
	becomes(11, "i x float 1,1,5\ni w float 1,1,2\no y\nn Conv x,w -> y auto_pad='SAME_LOWER'",
		"pads = [1, 0]");
	becomes(11, "i x float 1,1,N\ni w float 1,1,3\no y\nn Conv x,w -> y auto_pad='SAME_LOWER'",
		"pads = [1, 1]");
	becomes(11,
		"i x float 1,1,6\no y\nn MaxPool x -> y kernel_shape=[3] strides=[2] auto_pad='SAME_UPPER'",
		"kernel_shape = [3], strides = [2], pads = [0, 1], dilations = [1]");
	becomes(7, "i x float 1,1,6\no y\nn AveragePool x -> y kernel_shape=[3] auto_pad='VALID'",
		"pads = [0, 0]");
	stays_opaque(11,
		     "i x float 1,1,N\ni w float 1,1,3\no y float 1,1,M\nn Conv x,w -> y strides=[2] "
		     "auto_pad='SAME_UPPER'",
		     "auto_pad needs the sizes of the input");
}

static void old_softmax_is_a_matrix(void **state)
{
	(void)state;
	becomes(13, "i x float 2,3,4\no y\nn Softmax x -> y", "y = Softmax <axis = 2> (x)");
	becomes(11, "i x float 2,3\no y\nn Softmax x -> y", "y = Softmax <axis = 1> (x)");
	becomes(11, "i x float 2,3,1,1\no y\nn Softmax x -> y axis=1", "y = Softmax <axis = 1> (x)");
	becomes(11, "i x float 2,3,4\no y\nn Softmax x -> y axis=1", "Flatten <axis = 1> (x)");
	becomes(11, "i x float 2,3,4\no y\nn LogSoftmax x -> y axis=1", "int64[3] v4 = {2, 3, 4}");
	becomes(11, "i x float 2,N,4\no y\nn LogSoftmax x -> y axis=1",
		"Shape <end = 9223372036854775807> (x)");
}

static void the_rest_has_its_defaults(void **state)
{
	(void)state;
	becomes(6 + 1, "i x float 2\no y\nn Clip x -> y min=0.0f max=6.0f", "y = Clip (x, v");
	becomes(7, "i x float 2\no y\nn Clip x -> y max=6.0f", "y = Clip (x, , v");
	becomes(11, "i x float 2\no y\nw m float - 6\nn Clip x,,m -> y", "y = Clip (x, , m)");
	becomes(7, "i x float 2\no y\nn Dropout x -> y ratio=0.5f", "y = Identity (x)");
	becomes(13, "i x float 2\no y\nw r float - 0.5\nn Dropout x,r -> y,m", "y = Identity (x)");
	becomes(9, "i x float 2\no y\nn Cast x -> y to=7", "y = Cast <to = 7> (x)");
	becomes(15, "i x float 2\ni z int32 1\no y\nn CastLike x,z -> y", "y = Cast <to = 6> (x)");
	becomes(9, "w s int64 1 3\no y\nn ConstantOfShape s -> y",
		"ConstantOfShape <value = float[1] {0}> (s)");
	becomes(17, "i x float 2,3\ni s float 3\no y\nn LayerNormalization x,s -> y",
		"LayerNormalization <axis = 1> (x, s)");
	becomes(8, "i x float 2,3,4\ni a float 3\no y\nn BatchNormalization x,a,a,a,a -> y spatial=1",
		"y = BatchNormalization (x, a, a, a, a)");
	becomes(20, "i x float 2\no y\nn Gelu x -> y approximate='tanh'",
		"y = Gelu <approximate = \"tanh\"> (x)");
	becomes(19, "i x float 1,1,9\no y\nn AveragePool x -> y kernel_shape=[2] dilations=[2]",
		"dilations = [2]");
}

static void choosing_is_one_form(void **state)
{
	(void)state;
	becomes(9, "i x float 2,9\no y\nn TopK x -> y k=3", "<int64[1] v2 = {3}>");
	becomes(11, "i x float 2,9\nw k int64 1 3\no y\nn TopK x,k -> y,i axis=1 largest=0",
		"y, i = TopK <axis = 1, largest = 0> (x, k)");
	becomes(11, "i x int64 2\nw d float - 5\ni v float 2\no y\nn OneHot x,d,v -> y",
		"OneHot <axis = 1> (x, v");
	becomes(11, "i x int64 2\nw d int64 - 5\ni v float 2\no y\nn OneHot x,d,v -> y axis=-2",
		"OneHot <axis = 0> (x, d, v)");
	becomes(9, "i x int32 2,3\no y\nn EyeLike x -> y k=1", "EyeLike <dtype = 6, k = 1> (x)");
	becomes(11, "i x float 2,3\no y\nn Unique x -> y axis=-1 sorted=0",
		"y = Unique <axis = 1, sorted = 0> (x)");
	becomes(11, "i x float 2,3\no y\nn Unique x -> y", "y = Unique <axis = 0> (v");
	becomes(11, "i x float 2,3,4\no y\nn Hardmax x -> y", "Hardmax <axis = 1> (v");
	becomes(13, "i x float 2,3,4\no y\nn Hardmax x -> y", "y = Hardmax <axis = 2> (x)");
	becomes(10, "i x float 4,2\nw n int64 2 1 2\no y\nn ReverseSequence x,n -> y",
		"y = ReverseSequence (x, n)");
	becomes(11, "i x float 3,2\nw c bool 3 1 0 1\no y\nn Compress x,c -> y axis=0", "NonZero (c)");
	becomes(11, "i x float 3,2\ni c bool 4\no y\nn Compress x,c -> y", "y = Gather <axis = 0> (v");
	becomes(8, "i x float 3\ni z float 1\no y\nn Mean x,z -> y", "y = Div (v");
	becomes(8, "i x float 3\no y\nn Mean x -> y", "y = Sum (x)");
	becomes(11, "i x uint8 3\no y\nn BitShift x,x -> y direction='LEFT'", "y = BitShift (x, x)");
	becomes(11,
		"i x float 1,1,2,2\nw e float 0\nw s int64 4 1 1 3 3\no y\nn Resize x,e,e,s -> y "
		"coordinate_transformation_mode='tf_half_pixel_for_nn' nearest_mode='floor'",
		"nearest_mode = \"round_prefer_ceil\"");
}

static void dropout_is_what_it_does(void **state)
{
	(void)state;
	becomes(7, "i x float 2\no y\nn Dropout x -> y,m\no m float 2",
		"m = ConstantOfShape <value = float[1] {1}>");
	becomes(13, "i x float 2\no y\nn Dropout x -> y,m\no m bool 2",
		"m = ConstantOfShape <value = bool[1] {1}>");
	becomes(13, "i x float 2\nw r float - 0\nw t bool - 1\no y\nn Dropout x,r,t -> y",
		"y = Identity (x)");
	becomes(13, "i x float 2\nw r float - 0.5\nw t bool - 1\no y\nn Dropout x,r,t -> y",
		"RandomUniformLike <dtype = 1, seed = 1");
}

static void random_numbers_get_a_seed(void **state)
{
	(void)state;
	becomes(7, "i x float 2\no y\nn Abs x -> a\nn RandomUniformLike a -> y",
		"y = RandomUniformLike <dtype = 1, seed = 2.0> (a)");
	becomes(7, "i x float 2\no y\nn RandomNormalLike x -> y seed=0.0f dtype=11",
		"y = RandomNormalLike <dtype = 11> (x)");
	becomes(7, "o y\nn RandomNormal - -> y shape=[2,3] mean=1.5f", "mean = 1.5");
	becomes(7, "o y\nn RandomUniform - -> y shape=[] dtype=10", "dtype = 10");
	becomes(15, "i x float 2\no y\nn Bernoulli x -> y dtype=11", "Less (v");
}

static void windows_are_cosines(void **state)
{
	(void)state;
	becomes(17, "w n int64 - 9\no y\nn HannWindow n -> y", "Cos (v");
	becomes(17, "w n int64 - 9\no y float 9\nn HammingWindow n -> y periodic=0", "Cos (v");
	becomes(17, "w n int32 - 9\no y double 9\nn BlackmanWindow n -> y output_datatype=11", "double v");
	becomes(17, "i n int64 -\no y float ?\nn HannWindow n -> y", "Range (v");
}

static void constants_of_every_form(void **state)
{
	(void)state;
	becomes(13, "o y\nn Constant - -> c value=float:1.5\nn Neg c -> y", "float[1] c = {1.5}");
	becomes(13, "o y\nn Constant - -> c value_int=3\nn Neg c -> y", "int64 c = {3}");
	becomes(13, "o y\nn Constant - -> c value_ints=[3,4]\nn Neg c -> y", "int64[2] c = {3, 4}");
	becomes(13, "o y\nn Constant - -> c value_float=0.5f\nn Neg c -> y", "float c = {0.5}");
	stays_opaque(13, "o y float ?\nn Constant - -> y value_string='a'",
		     "a Constant of the form 'value_string'");
}

static void shape_arithmetic_is_folded(void **state)
{
	(void)state;
	becomes(13, "i x float 2,3\no y\nn Shape x -> s\nn Reshape x,s -> y", "int64[2] v4 = {2, 3}");
	becomes(13,
		"i x float 2,3\no y\nw z int64 1 0\nw k int64 1 1\nn Shape x -> s\nn Gather s,k -> n\nn "
		"Slice x,z,n,k -> y",
		"y = Slice <starts = [0], ends = [3], axes = [1], steps = [1]> (x)");
}

static void what_is_unknown_stays_opaque(void **state)
{
	(void)state;
	stays_opaque(13, "i x float 2,1\ni a int64 1\no y float ?\nn Squeeze x,a -> y",
		     "axes are not constant");
	stays_opaque(18, "i x float 2\no y float 2\nn Frobnicate x -> y a=1", "not in the operator table");
	stays_opaque(18, "i x float 2\no y float 2\nn com.acme:Add x,x -> y", "not in the operator table");
	stays_opaque(18, "i x float 2\no y float 2\nn Relu x -> y slope=2",
		     "the attribute 'slope' is not known");
	stays_opaque(13, "i x float 2\ni t bool -\no y float 2\nn Dropout x,,t -> y",
		     "whether it is in training mode is not known");
	stays_opaque(13, "i x float 2\no y float ?\nn Cast x -> y to=14",
		     "element type complex64 is not supported");
	stays_opaque(13, "i x float 1,12\no y float 1,12\nw a int64 1 -1\nn Squeeze x,a -> y",
		     "axis 1 to be squeezed has size 12");
}

/* An opaque node that the opset we write would read otherwise is refused, not changed in meaning. */
static void an_old_meaning_is_not_written(void **state)
{
	PmStr m = pm_ob_spec(
		8, "i x float 2,3\ni a float 2,3\no y\nn BatchNormalization x,a,a,a,a -> y spatial=0");
	PmStr out = PM_STR_INIT;
	PmGraph *g = NULL;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_onnx_import_mem(m.s, m.len, "m", NULL, &g, &report, &err), PM_OK);
	assert_string_equal(report.opaque[0].why, "statistics per element (spatial = 0) are not supported");
	assert_int_equal(pm_onnx_export_mem(g, &out, &err), PM_E_UNSUPPORTED);
	assert_string_equal(err.text, "The opaque node 1 (BatchNormalization -> 'y') cannot be written: it "
				      "holds BatchNormalization of "
				      "opset 8, which opset 18 defines otherwise; convert the model to opset "
				      "18 before importing it.");
	pm_graph_free(g);
	pm_str_release(&m);
	pm_str_release(&out);
}

static void half_ranges_say_what_they_are_counted_in(void **state)
{
	(void)state;
	becomes(27, "i a float16 -\ni b float16 -\no y\nn Range a,b,a -> y stash_type=1",
		"y = Range (a, b, a)");
	becomes(27, "i a bfloat16 -\ni b bfloat16 -\no y\nn Range a,b,a -> y stash_type=11",
		"y = Range (a, b, a)");
}

static void nodes_are_put_in_order(void **state)
{
	(void)state;
	becomes(18, "i x float 2\no y\nn Neg b -> y\nn Abs a -> b\nn Relu x -> a",
		"   a = Relu (x)\n   b = Abs (a)\n   y = Neg (b)\n");
}

static void inputs_to_bind_are_found(void **state)
{
	PmStr m = pm_ob_spec(
		13,
		"i x float 2,1\ni a int64 1\ni s int64 2\no y\no z\nn Squeeze x,a -> y\nn Reshape x,s -> z");
	char names[4][128];
	int64_t axis = 1, shape[2] = { 1, 2 }, one = 1, two = 2;
	PmOnnxBind bind[2] = { { "a", pm_type(PM_I64, 1, &one), pm_blob_copy(&axis, 8) },
			       { "s", pm_type(PM_I64, 1, &two), pm_blob_copy(shape, 16) } };
	PmOnnxOpts opts = { .bind = bind, .n_bind = 2 };
	PmGraph *g = NULL;
	size_t n = 0;

	(void)state;
	assert_int_equal(pm_onnx_inputs_to_bind(m.s, m.len, names, 4, &n, NULL), PM_OK);
	assert_int_equal(n, 2);
	assert_string_equal(names[0], "a");
	assert_string_equal(names[1], "s");
	assert_int_equal(pm_onnx_inputs_to_bind(m.s, m.len, names, 1, &n, NULL), PM_E_LIMIT);
	assert_int_equal(pm_onnx_import_mem(m.s, m.len, "m", &opts, &g, &report, NULL), PM_OK);
	assert_int_equal(report.n_opaque_nodes, 0);
	assert_int_equal(pm_graph_n_inputs(g), 1);
	pm_graph_free(g);
	pm_blob_unref(bind[0].blob);
	pm_blob_unref(bind[1].blob);
	pm_str_release(&m);
}

/* What pads are computed from is bound too: not x, of which the shape is enough, nor floating point. */
static void makers_of_constants_are_bound(void **state)
{
	PmStr m = pm_ob_spec(18, "i x float 1,4\ni s int64 2\ni f float 2\no y\no z\nw t int64 1 2\n"
				 "n Shape x -> h\nn Sub s,h -> a\nn Div a,t -> l\nn Sub a,l -> r\n"
				 "n Concat l,r -> p axis=0\nn Pad x,p -> y\n"
				 "n Cast f -> q to=7\nn Reshape x,q -> z");
	int64_t shape[2] = { 3, 5 }, two = 2;
	PmOnnxBind bind = { "s", pm_type(PM_I64, 1, &two), pm_blob_copy(shape, 16) };
	PmOnnxOpts opts = { .bind = &bind, .n_bind = 1 };
	char names[4][128];
	PmGraph *g = NULL;
	size_t n = 0;

	(void)state;
	assert_int_equal(pm_onnx_inputs_to_bind(m.s, m.len, names, 4, &n, NULL), PM_OK);
	assert_int_equal(n, 1);
	assert_string_equal(names[0], "s");
	assert_int_equal(pm_onnx_import_mem(m.s, m.len, "m", &opts, &g, &report, NULL), PM_OK);
	assert_int_equal(report.n_opaque_nodes, 0);
	assert_int_equal(pm_value_type(g, pm_graph_output(g, 0))->dim[1], 5);
	pm_graph_free(g);
	pm_blob_unref(bind.blob);
	pm_str_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(axes_are_attributes),
		cmocka_unit_test(reductions_find_their_axes),
		cmocka_unit_test(old_resizes_scale_from_the_corner),
		cmocka_unit_test(scatters_transforms_and_extremes),
		cmocka_unit_test(transposed_windows_are_numbers),
		cmocka_unit_test(weights_of_groups_become_those_of_channels),
		cmocka_unit_test(parts_and_pads_are_spelt_out),
		cmocka_unit_test(windows_are_numbers),
		cmocka_unit_test(old_softmax_is_a_matrix),
		cmocka_unit_test(the_rest_has_its_defaults),
		cmocka_unit_test(choosing_is_one_form),
		cmocka_unit_test(dropout_is_what_it_does),
		cmocka_unit_test(random_numbers_get_a_seed),
		cmocka_unit_test(windows_are_cosines),
		cmocka_unit_test(constants_of_every_form),
		cmocka_unit_test(shape_arithmetic_is_folded),
		cmocka_unit_test(what_is_unknown_stays_opaque),
		cmocka_unit_test(an_old_meaning_is_not_written),
		cmocka_unit_test(half_ranges_say_what_they_are_counted_in),
		cmocka_unit_test(nodes_are_put_in_order),
		cmocka_unit_test(inputs_to_bind_are_found),
		cmocka_unit_test(makers_of_constants_are_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
