/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_kernel.c - kernels in files: as functions of standard operators with metadata, and as they were
 * written before. */
#include "ir/core/kernel.h"
#include "ir/onnx/onnx.h"
#include "ir/onnx/onnx_kernel.h"
#include "ir/text/text.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/graphs/onnx_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SOURCE                                                                                               \
	"alts = 1, launch_0 = [\"k grid=1,1,1 block=32,1,1 smem=0 args=i0,o0\"], name = \"rule\", source_0 " \
	"= "                                                                                                 \
	"\"k \\\"q\\\"\", type_0 = \"float\""

/* Two places with the same kernel, one with another source. */
static const char three_places[] =
	"g (float[4,N] x) => (float[4,N] y) {"
	" a = Kernel <body = b (float[4,N] p) => (float[4,N] q) <float one = {1}> { t = Add (p, one) q = Exp "
	"(t) "
	"}, " SOURCE "> (x)"
	" c = Kernel <body = b (float[4,N] p) => (float[4,N] q) <float one = {1}> { t = Add (p, one) q = Exp "
	"(t) "
	"}, " SOURCE "> (a)"
	" y = Kernel <body = b (float[4,N] p) => (float[4,N] q) <float one = {1}> { t = Add (p, one) q = Exp "
	"(t) "
	"}, alts = 1, launch_0 = [\"k grid=1,1,1 block=32,1,1 smem=0 args=i0,o0\"], name = \"rule\", "
	"source_0 = \"other\", type_0 = \"float\"> (c) }";

static PmOnnxReport report;

static PmStr written(const PmGraph *g)
{
	PmStr out = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	if (pm_onnx_export_mem(g, &out, &err))
		fail_msg("%s", err.text);
	return out;
}

static PmGraph *read_back(const PmStr *m)
{
	PmGraph *g = NULL;
	PmErr err;

	pm_err_init(&err);
	if (pm_onnx_import_mem(m->s, m->len, "m", NULL, &g, &report, &err))
		fail_msg("%s", err.text);
	return g;
}

static PmStr printed(const PmGraph *g)
{
	PmStr out = PM_STR_INIT;

	assert_int_equal(pm_graph_print(g, NULL, &out, NULL), PM_OK);
	return out;
}

static Onnx__ModelProto *unpacked(const PmStr *m)
{
	return onnx__model_proto__unpack(NULL, m->len, (const uint8_t *)m->s);
}

static PmStr packed(const Onnx__ModelProto *m)
{
	size_t n = onnx__model_proto__get_packed_size(m);
	uint8_t *buf = malloc(n);
	PmStr out = PM_STR_INIT;

	onnx__model_proto__pack(m, buf);
	pm_str_addn(&out, (const char *)buf, n);
	free(buf);
	return out;
}

/* Written and read again, the text is the same and nothing was given up. */
static void survives(const char *text)
{
	PmGraph *g = pm_test_graph(text), *h;
	PmStr m = written(g), a = printed(g), b, again;

	h = read_back(&m);
	b = printed(h);
	again = written(h);
	assert_string_equal(a.s, b.s);
	assert_int_equal(report.n_kernels_lost, 0);
	assert_int_equal(report.n_inlined, 0);
	assert_int_equal(m.len, again.len);
	assert_memory_equal(m.s, again.s, m.len);
	pm_graph_free(g);
	pm_graph_free(h);
	pm_str_release(&m);
	pm_str_release(&a);
	pm_str_release(&b);
	pm_str_release(&again);
}

/* ---- the form ---- */

static void a_kernel_is_a_function(void **state)
{
	PmGraph *g = pm_test_graph(three_places);
	PmStr bytes = written(g);
	Onnx__ModelProto *m = unpacked(&bytes);
	const Onnx__FunctionProto *f;

	(void)state;
	assert_int_equal(m->ir_version, 8);
	assert_int_equal(m->n_functions, 2);
	assert_int_equal(m->n_opset_import, 2);
	assert_string_equal(m->opset_import[1]->domain, "passmith");
	assert_int_equal(m->opset_import[1]->version, 1);
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(m->graph->node[i]->domain, "passmith");
		assert_string_equal(m->graph->node[i]->op_type, m->functions[i == 2]->name);
		assert_int_equal(m->graph->node[i]->n_attribute, 0);
	}
	f = m->functions[0];
	assert_int_equal(strncmp(f->name, "Kernel_", 7), 0);
	assert_int_equal(strspn(f->name + 7, "0123456789abcdef"), 16);
	assert_int_equal(strlen(f->name), 23);
	assert_string_equal(f->domain, "passmith");
	assert_int_equal(f->n_input, 1);
	assert_string_equal(f->input[0], "p");
	assert_string_equal(f->output[0], "q");
	assert_int_equal(f->n_node, 3);
	assert_string_equal(f->node[0]->op_type, "Constant");
	assert_string_equal(f->node[0]->output[0], "one");
	assert_string_equal(f->node[1]->op_type, "Add");
	assert_string_equal(f->node[2]->op_type, "Exp");
	assert_int_equal(f->n_opset_import, 1);
	assert_int_equal(f->opset_import[0]->version, 18);
	assert_int_equal(m->n_metadata_props, 2);
	assert_int_equal(strncmp(m->metadata_props[0]->key, "passmith.kernel.Kernel_", 23), 0);
	assert_string_equal(m->metadata_props[0]->key + 16, f->name);
	assert_string_equal(m->metadata_props[0]->value,
			    "{\"name\":\"b\",\"constants\":1,\"copies\":0,"
			    "\"inputs\":[{\"name\":\"p\",\"type\":\"float\",\"shape\":[4,\"N\"]}],"
			    "\"outputs\":[{\"name\":\"q\",\"type\":\"float\",\"shape\":[4,\"N\"]}],"
			    "\"values\":[{\"name\":\"t\",\"type\":\"float\",\"shape\":[4,\"N\"]}],"
			    "\"attributes\":{\"body\":null,\"alts\":1,"
			    "\"launch_0\":[\"k grid=1,1,1 block=32,1,1 smem=0 args=i0,o0\"],"
			    "\"name\":\"rule\",\"source_0\":\"k \\\"q\\\"\",\"type_0\":\"float\"}}");
	onnx__model_proto__free_unpacked(m, NULL);
	pm_graph_free(g);
	pm_str_release(&bytes);
}

static void round_trips_keep_the_text(void **state)
{
	static const char *const texts[] = {
		three_places,
		/* Operands that become constants; several results; scratch; bytes that are no UTF-8. */
		"g (float[2,6] x) => (float[2,3] y, float[2,3] z) { y, z = Kernel <body = b (float[2,6] p) "
		"=> "
		"(float[2,3] q, float[2,3] r) { q, r = Split <axis = 1, split = [3, 3]> (p) }, alts = 1, "
		"launch_0 = [\"k grid=1,1,1 block=32,1,1 smem=0 args=i0,o0,o1,s0\"], name = \"r\", "
		"scratch_0 = [64, 1099511627776], source_0 = \"\\xff tail\", type_0 = \"float\"> (x) "
		"}",
		/* Outputs that no node of the body gives, or that are listed twice. */
		"g (float[2] x) => (float[2] y, float[2] z, float[2] v, float[2] w) { y, z, v, w = Kernel "
		"<body = b "
		"(float[2] p) => (float[2] p, float[2] q, float[2] q, float[2] c) <float[2] c = {1, 2}> { q "
		"= Exp (p) "
		"}, scratch_0: ints = [], " SOURCE "> (x) }",
		/* A kernel in a kernel, and a constant that is in both. */
		"g (float[2] x) => (float[2] y) { y = Kernel <body = b (float[2] p) => (float[2] q) { q = "
		"Kernel "
		"<body = c (float[2] p) => (float[2] q) <float[2] k = {3, 4}> { q = Mul (p, k) }, " SOURCE
		"> (p) "
		"}, " SOURCE "> (x) }",
		/* An operator of another domain, which the function has to import. */
		"g (float[2] x) => (float[2] y) { y = Kernel <body = b (float[2] p) => (float[2] q) { q = "
		"\"com.microsoft:BiasGelu\" <opset = 1, raw = \"\\\"\\x08BiasGelu:\\rcom.microsoft\"> (p) "
		"}, " SOURCE "> (x) }",
		/* What the body needs raises the opset of all. */
		"g (float[2] x) => (float[2] y) { y = Kernel <body = b (float[2] p) => (float[2] q) { q = "
		"Gelu "
		"<approximate = \"none\"> (p) }, " SOURCE "> (x) }",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		survives(texts[i]);
}

static void a_function_imports_what_its_body_needs(void **state)
{
	PmGraph *g = pm_test_graph(
		"g (float[2] x) => (float[2] y) { y = Kernel <body = b (float[2] p) => (float[2] q) { q = "
		"\"com.microsoft:BiasGelu\" <opset = 1> (p) }, " SOURCE "> (x) }");
	PmStr bytes = written(g);
	Onnx__ModelProto *m = unpacked(&bytes);

	(void)state;
	assert_int_equal(m->n_opset_import, 3);
	assert_int_equal(m->functions[0]->n_opset_import, 2);
	assert_string_equal(m->functions[0]->opset_import[1]->domain, "com.microsoft");
	assert_int_equal(m->functions[0]->opset_import[1]->version, 1);
	onnx__model_proto__free_unpacked(m, NULL);
	pm_graph_free(g);
	pm_str_release(&bytes);
}

static void outputs_are_results_of_nodes(void **state)
{
	PmGraph *g = pm_test_graph("g (float[2] x) => (float[2] y, float[2] z) { y, z = Kernel <body = b "
				   "(float[2] p) => (float[2] p, "
				   "float[2] \"p.copy.1\") { \"p.copy.1\" = Exp (p) }, " SOURCE "> (x) }");
	PmStr bytes = written(g);
	Onnx__ModelProto *m = unpacked(&bytes);

	(void)state;
	assert_int_equal(m->functions[0]->n_node, 2);
	assert_string_equal(m->functions[0]->node[1]->op_type, "Identity");
	assert_string_equal(m->functions[0]->output[0], "p.copy.2");
	assert_string_equal(m->functions[0]->output[1], "p.copy.1");
	onnx__model_proto__free_unpacked(m, NULL);
	pm_graph_free(g);
	pm_str_release(&bytes);
}

static void what_is_no_kernel_is_not_written(void **state)
{
	PmGraph *g = pm_test_graph("g (float[2] x) => (float[2] y) { y = Kernel <body = b (float[2] p) => "
				   "(float[2] q) { q = Exp (p) }, " SOURCE "> (x) }");
	PmStr out = PM_STR_INIT;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_node_set_f(g, pm_graph_node_at(g, 0), "slope", 0.5, &err), PM_OK);
	assert_int_equal(pm_onnx_export_mem(g, &out, &err), PM_E_UNSUPPORTED);
	assert_string_equal(err.text, "A Kernel node has the attribute 'slope', which kernels lack, so it "
				      "cannot be written; remove it.");
	pm_graph_free(g);
	pm_str_release(&out);
}

/* ---- what others did to a file ---- */

/* Reads what `change` left of the model: operators alone, and a sentence that says why. */
static void becomes_operators(void (*change)(Onnx__ModelProto *), const char *why)
{
	PmGraph *g = pm_test_graph(three_places), *h;
	PmStr bytes = written(g), changed, text;
	Onnx__ModelProto *m = unpacked(&bytes);

	change(m);
	changed = packed(m);
	h = read_back(&changed);
	text = printed(h);
	assert_null(strstr(text.s, "Kernel <"));
	assert_null(strstr(text.s, "passmith.kernel"));
	assert_non_null(strstr(text.s, "y = Exp ("));
	assert_int_equal(pm_graph_n_nodes(h), 6);
	assert_int_equal(report.n_kernels_lost, 2);
	assert_non_null(strstr(report.kernel_lost, why));
	onnx__model_proto__free_unpacked(m, NULL);
	pm_graph_free(g);
	pm_graph_free(h);
	pm_str_release(&bytes);
	pm_str_release(&changed);
	pm_str_release(&text);
}

static void drop_metadata(Onnx__ModelProto *m)
{
	for (size_t i = 0; i < m->n_metadata_props; i++)
		m->metadata_props[i]->key[0] = 'x';
}

static void change_sources(Onnx__ModelProto *m)
{
	for (size_t i = 0; i < m->n_metadata_props; i++)
		*strstr(m->metadata_props[i]->value, "block=32") = 'c';
}

static void cut_metadata(Onnx__ModelProto *m)
{
	for (size_t i = 0; i < m->n_metadata_props; i++)
		m->metadata_props[i]->value[20] = '\0';
}

static void change_functions(Onnx__ModelProto *m)
{
	for (size_t i = 0; i < m->n_functions; i++)
		memcpy(m->functions[i]->node[1]->op_type, "Sub", 3);
}

static void raise_opset(Onnx__ModelProto *m)
{
	m->opset_import[0]->version = 19;
}

static void what_was_changed_is_operators(void **state)
{
	(void)state;
	becomes_operators(cut_metadata, "is not JSON.");
	becomes_operators(change_sources, "or its metadata was changed after it was written.");
	becomes_operators(change_functions, "or its metadata was changed after it was written.");
	becomes_operators(raise_opset, "is of another opset than the model.");
}

/* The sources go, the entries that nobody knows stay. */
static void without_metadata_it_is_operators(void **state)
{
	PmGraph *g = pm_test_graph(three_places), *h;
	PmStr bytes = written(g), changed;
	Onnx__ModelProto *m = unpacked(&bytes);

	(void)state;
	drop_metadata(m);
	changed = packed(m);
	h = read_back(&changed);
	assert_int_equal(pm_graph_n_nodes(h), 6);
	assert_int_equal(pm_graph_n_meta(h), 2);
	assert_int_equal(report.n_kernels_lost, 2);
	assert_non_null(strstr(report.kernel_lost, "has no metadata with its sources."));
	onnx__model_proto__free_unpacked(m, NULL);
	pm_graph_free(g);
	pm_graph_free(h);
	pm_str_release(&bytes);
	pm_str_release(&changed);
}

/* With the name that the changed metadata asks for, so that what is wrong in it is seen. */
static void says(const char *meta, const char *why)
{
	PmGraph *g = pm_test_graph(
			"g (float[2] x) => (float[2] y) { y = Kernel <body = b (float[2] p) => (float[2] "
			"q) { q = Exp (p) }, " SOURCE "> (x) }"),
		*h;
	PmStr bytes = written(g), changed;
	Onnx__ModelProto *m = unpacked(&bytes);
	char *value = m->metadata_props[0]->value, name[PM_ONNX_KERNEL_NAME];

	m->metadata_props[0]->value = (char *)(uintptr_t)meta;
	pm__kernel_name(m->functions[0], meta, strlen(meta), name);
	memcpy(m->functions[0]->name, name, sizeof name);
	memcpy(m->graph->node[0]->op_type, name, sizeof name);
	memcpy(m->metadata_props[0]->key + strlen(PM_ONNX_KERNEL_META), name, sizeof name);
	changed = packed(m);
	m->metadata_props[0]->value = value;
	h = read_back(&changed);
	assert_int_equal(report.n_kernels_lost, 1);
	assert_int_equal(pm_graph_n_nodes(h), 1);
	if (!strstr(report.kernel_lost, why))
		fail_msg("%s: %s", why, report.kernel_lost);
	onnx__model_proto__free_unpacked(m, NULL);
	pm_graph_free(g);
	pm_graph_free(h);
	pm_str_release(&bytes);
	pm_str_release(&changed);
}

#define LISTS(in, out) "{\"name\":\"b\",\"inputs\":[" in "],\"outputs\":[" out "],\"values\":[],"
#define TYPED(t)       LISTS("{\"name\":\"p\"," t "}", "{\"name\":\"q\"}")
#define PLAIN          LISTS("{\"name\":\"p\",\"type\":\"float\",\"shape\":[2]}", "{\"name\":\"q\"}")
#define COUNTS         "\"constants\":0,\"copies\":0,"

static void wrong_metadata_has_a_sentence(void **state)
{
	(void)state;
	says("[]", "is not a JSON object.");
	says("{}", "lacks one of the lists of types.");
	says(PLAIN "\"constants\":2,\"copies\":0}", "speaks of nodes that the function lacks.");
	says(PLAIN "\"constants\":0,\"copies\":2}", "speaks of nodes that the function lacks.");
	says(PLAIN "\"constants\":-1,\"copies\":0}", "speaks of nodes that the function lacks.");
	says(PLAIN "\"constants\":1,\"copies\":0}", "speaks of constants that the function lacks.");
	says(LISTS("", "{\"name\":\"q\"}") COUNTS "\"attributes\":{}}", "lists other operands or results");
	says(PLAIN COUNTS "\"attributes\":[]}", "lacks the attributes.");
	says(PLAIN COUNTS "\"attributes\":{}}", "does not say which attribute is the body.");
	says(PLAIN COUNTS "\"attributes\":{\"body\":null,\"again\":null}}",
	     "does not say which attribute is the body.");
	says(PLAIN COUNTS "\"attributes\":{\"body\":null,\"a\":true}}", "lacks a text.");
	says(PLAIN COUNTS "\"attributes\":{\"body\":null,\"a\":1.5}}", "has a number that is no integer.");
	says(PLAIN COUNTS "\"attributes\":{\"body\":null,\"a\":[1,\"b\"]}}",
	     "has a list of integers with something");
	says(PLAIN COUNTS "\"attributes\":{\"body\":null,\"a\":[\"b\",1]}}", "lacks a text.");
	says(PLAIN COUNTS "\"attributes\":{\"body\":null,\"a\":{\"bytes\":[256]}}}",
	     "has a list of bytes with something");
	says(TYPED("\"type\":\"complex\"") COUNTS "\"attributes\":{}}", "has an element type that is none.");
	says(TYPED("\"type\":[255]") COUNTS "\"attributes\":{}}", "has a type whose bytes are none.");
	says(TYPED("\"type\":\"float\",\"shape\":[true]") COUNTS "\"attributes\":{}}",
	     "has a size that is neither a number nor a name.");
	says(TYPED("\"type\":\"float\",\"shape\":[0.5]") COUNTS "\"attributes\":{}}",
	     "has a size that is no integer.");
}

/* ---- the old form ---- */

/* A text, or a list of one, as `field` of an attribute of that type. */
static void add_text(PmStr *node, const char *name, int field, const char *text, int type)
{
	PmStr a = PM_STR_INIT;

	pm_ob_str(&a, 1, name);
	pm_ob_str(&a, field, text);
	pm_ob_int(&a, 20, type);
	pm_ob_msg(node, 5, &a);
}

static void the_old_form_is_read(void **state)
{
	PmStr g = PM_STR_INIT, node = PM_STR_INIT, body = PM_STR_INIT, a = PM_STR_INIT, m, text;
	PmGraph *h;

	(void)state;
	pm_ob_graph(&g, "i x float 2\no y float 2");
	pm_ob_graph(&body, "i p float 2\no q float 2\nn Exp p -> q");
	pm_ob_str(&node, 1, "x");
	pm_ob_str(&node, 2, "y");
	pm_ob_str(&node, 4, "Kernel");
	pm_ob_str(&node, 7, "passmith");
	pm_ob_str(&a, 1, "body");
	pm_ob_msg(&a, 6, &body);
	pm_ob_int(&a, 20, 5);
	pm_ob_msg(&node, 5, &a);
	pm_ob_str(&a, 1, "alts");
	pm_ob_int(&a, 3, 1);
	pm_ob_int(&a, 20, 2);
	pm_ob_msg(&node, 5, &a);
	add_text(&node, "name", 4, "rule", 3);
	add_text(&node, "source_0", 4, "code", 3);
	add_text(&node, "type_0", 4, "float", 3);
	add_text(&node, "launch_0", 9, "k grid=1,1,1 block=32,1,1 smem=0 args=i0,o0", 8);
	pm_ob_msg(&g, 1, &node);
	m = pm_ob_model(18, &g);
	h = read_back(&m);
	text = printed(h);
	assert_non_null(strstr(text.s, "y = Kernel <"));
	assert_non_null(strstr(text.s, "q = Exp (p)"));
	pm_graph_free(h);
	survives(text.s);
	pm_str_release(&m);
	pm_str_release(&text);
}

/* A function of another program in the domain is a function like any other. */
static void other_functions_are_inlined(void **state)
{
	PmStr m = pm_ob_spec(18, "i x float 2\no y\nn passmith:Twice x -> y"), f = PM_STR_INIT,
	      node = PM_STR_INIT, set = PM_STR_INIT;
	PmGraph *h;

	(void)state;
	pm_ob_str(&f, 1, "Twice");
	pm_ob_str(&f, 4, "a");
	pm_ob_str(&f, 5, "b");
	pm_ob_str(&node, 1, "a");
	pm_ob_str(&node, 1, "a");
	pm_ob_str(&node, 2, "b");
	pm_ob_str(&node, 4, "Add");
	pm_ob_msg(&f, 7, &node);
	pm_ob_int(&set, 2, 18);
	pm_ob_msg(&f, 9, &set);
	pm_ob_str(&f, 10, "passmith");
	pm_ob_msg(&m, 25, &f);
	h = read_back(&m);
	assert_int_equal(report.n_inlined, 1);
	assert_int_equal(report.n_kernels_lost, 0);
	assert_int_equal(pm_node_op(h, pm_graph_node_at(h, 0)), PM_OP_Add);
	pm_graph_free(h);
	pm_str_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_is_a_function),
		cmocka_unit_test(round_trips_keep_the_text),
		cmocka_unit_test(a_function_imports_what_its_body_needs),
		cmocka_unit_test(outputs_are_results_of_nodes),
		cmocka_unit_test(what_is_no_kernel_is_not_written),
		cmocka_unit_test(what_was_changed_is_operators),
		cmocka_unit_test(without_metadata_it_is_operators),
		cmocka_unit_test(wrong_metadata_has_a_sentence),
		cmocka_unit_test(the_old_form_is_read),
		cmocka_unit_test(other_functions_are_inlined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
