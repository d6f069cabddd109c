/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_source.c - models read one message at a time: the wire walker against known bytes, its verdicts
 * against protobuf-c's over damaged models, and fields in any order. */
#include "base/core/str.h"
#include "ir/canon/canon.h"
#include "ir/core/graph.h"
#include "ir/onnx/onnx.h"
#include "ir/onnx/onnx_source.h"
#include "ir/onnx/onnx_wire.h"
#include "tests/lib/graphs/onnx_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BYTES(text) text, sizeof text - 1

/* ---- the walker ---- */

static int first(const char *p, size_t n, PmWireField *f)
{
	PmWire w = { (const uint8_t *)p, (const uint8_t *)p + n };
	int got = pm__wire_next(&w, f);

	assert_ptr_equal(w.at, got < 0 ? (const uint8_t *)p : w.at);
	assert_true(w.at <= w.end);
	return got;
}

static void fields_that_are_read(void **state)
{
	PmWireField f;

	(void)state;
	assert_int_equal(first("", 0, &f), 0);
	assert_int_equal(first(BYTES("\x08\x96\x01"), &f), 1); /* the example of protobuf's documentation */
	assert_true(f.id == 1 && f.type == PM_WIRE_VARINT && f.number == 150);
	assert_int_equal(first(BYTES("\x12\x07testing"), &f), 1);
	assert_true(f.id == 2 && f.type == PM_WIRE_BYTES && f.n == 7 && !memcmp(f.p, "testing", 7));
	assert_int_equal(first(BYTES("\x12\x80\x80\x80\x80\x00"), &f), 1); /* a length in 5 bytes */
	assert_int_equal(f.n, 0);
	assert_int_equal(first(BYTES("\x09\1\2\3\4\5\6\7\x08"), &f), 1);
	assert_true(f.type == PM_WIRE_64BIT && f.n == 8);
	assert_int_equal(first(BYTES("\x0d\1\2\3\4"), &f), 1);
	assert_true(f.type == PM_WIRE_32BIT && f.n == 4);
	assert_int_equal(first(BYTES("\xf8\xff\xff\xff\x0f\x01"), &f), 1); /* the largest field number */
	assert_int_equal(f.id, (1 << 29) - 1);
	assert_int_equal(first(BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), &f), 1);
	assert_true(f.number == UINT64_MAX);
}

static void fields_that_are_not(void **state)
{
	static const struct {
		const char *p;
		size_t n;
	} bad[] = {
		{ BYTES("\x08") },                                             /* no number */
		{ BYTES("\x08\x80") },                                         /* half of one */
		{ BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01") }, /* 11 bytes */
		{ BYTES("\x00\x01") },                                         /* field 0 */
		{ BYTES("\x02\x00") },                                         /* field 0 of bytes */
		{ BYTES("\x0b") },                                             /* groups */
		{ BYTES("\x0c") },
		{ BYTES("\x0e\x01") }, /* wire types without a meaning */
		{ BYTES("\x0f\x01") },
		{ BYTES("\x88\x80\x80\x80\x80\x00\x01") }, /* a key of 6 bytes */
		{ BYTES("\x88\x80\x80\x80\x10\x01") },     /* a key past 32 bits */
		{ BYTES("\x80\x80") },                     /* half a key */
		{ BYTES("\x12") },                         /* no length */
		{ BYTES("\x12\x02x") },                    /* a byte short */
		{ BYTES("\x12\x80\x80\x80\x80\x80\x00") }, /* a length of 6 bytes */
		{ BYTES("\x12\x80\x80\x80\x80\x08") },     /* a length past 31 bits */
		{ BYTES("\x09\1\2\3\4\5\6\7") },           /* 7 bytes of 8 */
		{ BYTES("\x0d\1\2\3") },                   /* 3 of 4 */
	};
	PmWireField f;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(first(bad[i].p, bad[i].n, &f), -1);
}

static void lists_of_numbers(void **state)
{
	(void)state;
	assert_true(pm__wire_is_numbers((const uint8_t *)"", 0));
	assert_true(pm__wire_is_numbers((const uint8_t *)"\x01\x80\x01", 3));
	assert_false(pm__wire_is_numbers((const uint8_t *)"\x01\x80", 2));
	assert_false(
		pm__wire_is_numbers((const uint8_t *)"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11));
}

/* ---- against protobuf-c ---- */

/* Every kind of part: functions, metadata, stated types, packed and single numbers, a nested graph. */
static PmStr full_model(void)
{
	PmStr m = pm_ob_spec(18, "i x float 2,N\no y float 2,N\nv h float 2,N\nw w float 2,1 1 2\n"
				 "n Add x,w -> h\nn Concat h,h -> c axis=0\nn Neg h -> y");
	PmStr f = PM_STR_INIT, set = PM_STR_INIT, e = PM_STR_INIT, body = PM_STR_INIT, a = PM_STR_INIT,
	      n = PM_STR_INIT, g = PM_STR_INIT;

	pm_ob_str(&e, 1, "key");
	pm_ob_str(&e, 2, "value");
	pm_ob_msg(&m, 14, &e);
	pm_ob_str(&f, 1, "F");
	pm_ob_str(&f, 4, "a");
	pm_ob_str(&f, 5, "b");
	pm_ob_int(&set, 2, 18);
	pm_ob_msg(&f, 9, &set);
	pm_ob_str(&f, 10, "my");
	pm_ob_msg(&m, 25, &f);
	pm_ob_graph(&body, "o z\nn Neg h -> z");
	pm_ob_str(&a, 1, "then");
	pm_ob_msg(&a, 6, &body);
	pm_ob_bytes(&a, 8, "\x01\x80\x01", 3); /* packed ints */
	pm_ob_bytes(&a, 7, "\0\0\0\0", 4);     /* packed floats */
	pm_ob_int(&a, 20, 5);
	pm_ob_str(&n, 1, "c");
	pm_ob_str(&n, 2, "i");
	pm_ob_str(&n, 4, "If");
	pm_ob_msg(&n, 5, &a);
	pm_ob_msg(&g, 1, &n);
	pm_ob_msg(&m, 7, &g); /* a second piece of the graph */
	return m;
}

static size_t n_refused;

/* What protobuf-c refuses is refused; what the scan lets through, protobuf-c unpacks. */
static void agree(const char *p, size_t n)
{
	PmOnnxAlloc alloc;
	ProtobufCMessage *whole;
	PmGraph *g = NULL;
	int scanned = !pm__onnx_scan(&onnx__model_proto__descriptor, p, n, NULL);
	PmStatus st = pm_onnx_import_mem(p, n, "m", NULL, &g, NULL, NULL);

	pm__onnx_alloc_init(&alloc, n);
	whole = protobuf_c_message_unpack(&onnx__model_proto__descriptor, &alloc.base, n, (const uint8_t *)p);
	pm__onnx_alloc_release(&alloc);
	if (scanned)
		assert_non_null(whole);
	if (!whole)
		assert_int_not_equal(st, PM_OK);
	n_refused += !whole;
	pm_graph_free(g);
}

static void damage_is_seen_as_protobuf_sees_it(void **state)
{
	static const unsigned char flips[] = { 0x01, 0x02, 0x04, 0x07, 0x08, 0x80, 0xff };
	PmStr m = full_model();

	(void)state;
	agree(m.s, m.len);
	assert_int_equal(n_refused, 0);
	for (size_t i = 0; i < m.len; i++) {
		agree(m.s, i);
		for (size_t k = 0; k < sizeof flips; k++) {
			m.s[i] = (char)(m.s[i] ^ flips[k]);
			agree(m.s, m.len);
			m.s[i] = (char)(m.s[i] ^ flips[k]);
		}
	}
	print_message("# protobuf-c refused %zu of %zu\n", n_refused, m.len * (1 + sizeof flips));
	assert_true(n_refused > m.len);
	pm_str_release(&m);
}

/* ---- order ---- */

static PmGraph *read_model(PmStr *model)
{
	PmGraph *g = NULL;
	PmErr err;

	pm_err_init(&err);
	if (pm_onnx_import_mem(model->s, model->len, "m", NULL, &g, NULL, &err))
		fail_msg("%s", err.text);
	pm_str_release(model);
	return g;
}

static const char *const lines[] = { "i x float 2,N", "w w float 2,1 1 2", "o y float 2,N",
				     "v h float 2,N", "n Add x,w -> h",    "n Foo h -> q",
				     "v q float 2,N", "n Neg h -> z",      "n Add z,q -> y" };
enum { N_LINES = sizeof lines / sizeof *lines };

/* The lines from `start` on in another order, in one graph or each in a piece of its own. */
static PmStr shuffled(size_t start, size_t step, int pieces)
{
	PmStr m = PM_STR_INIT, g = PM_STR_INIT, set = PM_STR_INIT;

	pm_ob_str(&g, 2, "first name");
	for (size_t i = 0; i < N_LINES; i++) {
		pm_ob_graph(&g, lines[(start + i * step) % N_LINES]);
		if (i == N_LINES - 1)
			pm_ob_str(&g, 2, "last name");
		if (pieces || i == N_LINES - 1)
			pm_ob_msg(&m, 7, &g);
	}
	pm_ob_int(&set, 2, 18);
	pm_ob_msg(&m, 8, &set);
	pm_ob_int(&m, 1, 8);
	return m;
}

/* Nodes before what they use, stated types before values, a graph given nine times: one graph. */
static void fields_in_any_order(void **state)
{
	static const size_t steps[] = { 1, 2, 4, 5, 7, 8 }; /* no divisors of N_LINES */
	char want[PM_SHA256_HEX], got[PM_SHA256_HEX];

	(void)state;
	for (size_t k = 0; k < 2 * N_LINES * sizeof steps / sizeof *steps; k++) {
		PmStr m = shuffled(k / 2 % N_LINES, steps[k / 2 / N_LINES], (int)(k & 1));
		PmGraph *g = read_model(&m);
		PmErr err;

		assert_string_equal(pm_graph_name(g), "last name");
		assert_int_equal(pm_graph_n_nodes(g), 4);
		assert_int_equal(pm_value_type(g, pm_graph_find_value(g, "q"))->rank, 2);
		pm_err_init(&err);
		assert_int_equal(pm_canon_hash(g, PM_CANON_FULL, k ? got : want, &err), PM_OK);
		if (k)
			assert_string_equal(got, want);
		pm_graph_free(g);
	}
}

/* The slot's next message takes the place of the one before; data moved out of it stays. */
static void slots_are_reused(void **state)
{
	static char data[5000];
	PmOnnxSlot slot = { .used = 0 };
	PmStr t = PM_STR_INIT, small = PM_STR_INIT;
	Onnx__TensorProto *m;
	PmBlob *kept;

	(void)state;
	memset(data, 'a', sizeof data);
	pm_ob_bytes(&t, 9, data, sizeof data);
	pm_ob_str(&small, 8, "next");
	for (int k = 0; k < 100; k++) {
		m = (Onnx__TensorProto *)pm__slot_unpack(&slot, &onnx__tensor_proto__descriptor, t.s, t.len,
							 NULL);
		assert_int_equal(m->raw_data.len, sizeof data);
	}
	kept = pm__onnx_alloc_take(m->raw_data.data, m->raw_data.len);
	m = (Onnx__TensorProto *)pm__slot_unpack(&slot, &onnx__tensor_proto__descriptor, small.s, small.len,
						 NULL);
	assert_string_equal(m->name, "next");
	assert_int_equal(m->raw_data.len, 0);
	assert_true(slot.alloc.used < 1000);
	pm__slot_release(&slot);
	assert_memory_equal(kept->data, data, sizeof data);
	pm_blob_unref(kept);
	pm_str_release(&t);
	pm_str_release(&small);
}

/* Found by fuzzing: an empty float tensor with int32_data was filled with that. */
static void empty_tensors_take_no_other_data(void **state)
{
	static const int types[] = {
		1, 7, 11, 12, 13, 10
	}; /* FLOAT, INT64, DOUBLE, UINT32, UINT64, FLOAT16 */

	(void)state;
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		PmStr t = PM_STR_INIT, m = pm_ob_spec(18, "i x float 2\no y\nn Neg x -> y"), g = PM_STR_INIT;
		PmGraph *read = NULL;

		pm_ob_int(&t, 1, 0);
		pm_ob_int(&t, 2, types[i]);
		for (int k = 0; k < 100 && types[i] != 10; k++)
			pm_ob_int(&t, 5, 1);
		pm_ob_str(&t, 8, "w");
		pm_ob_msg(&g, 5, &t);
		pm_ob_msg(&m, 7, &g);
		assert_int_equal(pm_onnx_import_mem(m.s, m.len, "m", NULL, &read, NULL, NULL), PM_OK);
		pm_graph_free(read);
		pm_str_release(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_that_are_read),
		cmocka_unit_test(fields_that_are_not),
		cmocka_unit_test(lists_of_numbers),
		cmocka_unit_test(damage_is_seen_as_protobuf_sees_it),
		cmocka_unit_test(fields_in_any_order),
		cmocka_unit_test(slots_are_reused),
		cmocka_unit_test(empty_tensors_take_no_other_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
