/* SPDX-License-Identifier: Apache-2.0 */
/* test_passnet_inputs.c - replayed input tensors against stored bits and digests. */
#include "bench/inputs/passnet_inputs.h"

#include "base/core/arena.h"
#include "base/core/hash.h"
#include "tests/lib/graphs/vectors.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TENSORS = 64 };

typedef struct Inputs {
	size_t n;
	PmPassnetMeta meta[MAX_TENSORS];
	const char *name[MAX_TENSORS];
	double *literal[MAX_TENSORS];
	void *data[MAX_TENSORS];
	int64_t bytes[MAX_TENSORS];
} Inputs;

static const cJSON *member(const cJSON *j, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(j, key);
}

static int dtype_of(const char *name)
{
	static const char *const names[] = { "torch.float32", "torch.float16", "torch.bfloat16",
					     "torch.float64", "torch.int64",   "torch.int32",
					     "torch.int8",    "torch.uint8",   "torch.bool" };
	static const int types[] = { PM_F32, PM_F16, PM_BF16, PM_F64, PM_I64, PM_I32, PM_I8, PM_U8, PM_BOOL };

	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if (strcmp(name, names[i]) == 0)
			return types[i];
	}
	fail_msg("unknown element type %s", name);
	return -1;
}

static int number(const cJSON *j, const char *key, double *out)
{
	const cJSON *v = member(j, key);

	*out = cJSON_IsNumber(v) ? v->valuedouble : 0;
	return cJSON_IsNumber(v) != 0;
}

static void read_meta(const cJSON *j, Inputs *in)
{
	PmPassnetMeta *m = &in->meta[in->n];
	const cJSON *v, *data = member(j, "data");
	int64_t numel;
	size_t k = 0;

	assert_true(in->n < MAX_TENSORS);
	m->cls = pm_json_str(j, "cls", NULL);
	m->type.dtype = dtype_of(pm_json_str(j, "dtype", ""));
	cJSON_ArrayForEach(v, member(j, "shape"))
	{
		assert_true(m->type.rank < PM_MAX_RANK);
		m->type.dim[m->type.rank++] = v->valueint;
	}
	m->has_mean = number(j, "mean", &m->mean);
	m->has_std = number(j, "std", &m->std);
	m->has_min = number(j, "min_val", &m->min);
	m->has_max = number(j, "max_val", &m->max);
	assert_int_equal(pm_type_numel(&m->type, &numel, NULL), PM_OK);
	assert_int_equal(pm_type_bytes(&m->type, &in->bytes[in->n], NULL), PM_OK);
	if (cJSON_IsArray(data)) {
		assert_int_equal(cJSON_GetArraySize(data), numel);
		m->has_data = 1;
		m->data = in->literal[in->n] = pm_xcalloc((size_t)numel + 1, sizeof *m->data);
		cJSON_ArrayForEach(v, data) in->literal[in->n][k++] = v->valuedouble;
	}
	in->name[in->n] = pm_json_str(j, "name", "?");
	in->data[in->n] = pm_xcalloc((size_t)in->bytes[in->n] + 8, 1);
	in->n++;
}

static void check_tensor(const cJSON *want, const Inputs *in, size_t i)
{
	size_t size = pm_dtype_size(in->meta[i].type.dtype);
	const char *data = in->data[i];
	char hex[PM_SHA256_HEX];
	const cJSON *v;

	assert_string_equal(pm_json_str(want, "name", "?"), in->name[i]);
	cJSON_ArrayForEach(v, member(want, "first_bits"))
	{
		uint64_t bits = 0;

		memcpy(&bits, data, size);
		if (bits != strtoull(v->valuestring, NULL, 16))
			fail_msg("%s: %llx is not %s", in->name[i], (unsigned long long)bits, v->valuestring);
		data += size;
	}
	pm_sha256_hex(in->data[i], (size_t)in->bytes[i], hex);
	assert_string_equal(hex, pm_json_str(want, "sha256_little_endian_bytes", ""));
}

static void check_file(VectorSet set, int want_tensors)
{
	cJSON *file = vectors_load(set, "inputs.json");
	Inputs *in = pm_xcalloc(1, sizeof *in);
	size_t order[MAX_TENSORS], k = 0;
	const cJSON *j;

	cJSON_ArrayForEach(j, member(file, "metas_in_file_order")) read_meta(j, in);
	assert_int_equal(in->n, want_tensors);
	assert_int_equal(pm_passnet_draw(in->meta, in->n, (uint32_t)pm_json_i64(file, "seed", -1), in->data,
					 order, NULL),
			 PM_OK);
	cJSON_ArrayForEach(j, member(file, "tensors_in_draw_order"))
	{
		assert_true(k < in->n);
		check_tensor(j, in, order[k++]);
	}
	assert_int_equal(k, want_tensors);
	for (size_t i = 0; i < in->n; i++) {
		free(in->data[i]);
		free(in->literal[i]);
	}
	free(in);
	cJSON_Delete(file);
}

static void own_inputs(void **state)
{
	(void)state;
	check_file(VECTORS_OWN, 11);
}

static void shared_inputs(void **state)
{
	(void)state;
	check_file(VECTORS_SHARED, 18);
}

/* The 10,000th output for seed 5489 is in the definition of mt19937 (C++ standard, [rand.predef]). */
static void generator_is_mt19937(void **state)
{
	PmMt m;
	uint32_t v = 0;

	(void)state;
	pm_mt_init(&m, 5489);
	for (int i = 0; i < 10000; i++)
		v = pm_mt_u32(&m);
	assert_true(v == 4123659995u);
}

static void ranges_stay_inside_and_single_values_draw_nothing(void **state)
{
	PmMt m, before;
	int seen_lo = 0, seen_hi = 0;

	(void)state;
	pm_mt_init(&m, 7);
	for (int i = 0; i < 1000; i++) {
		int64_t v = pm_mt_range(&m, -3, 3), wide = pm_mt_range(&m, INT64_MIN, INT64_MAX - 1);

		assert_in_range(v + 3, 0, 6);
		assert_true(wide < INT64_MAX);
		seen_lo |= v == -3;
		seen_hi |= v == 3;
	}
	assert_true(seen_lo && seen_hi);
	before = m;
	assert_int_equal(pm_mt_range(&m, 5, 5), 5);
	assert_int_equal(m.at, before.at);
}

static void bad_descriptions_are_refused_by_name(void **state)
{
	PmPassnetMeta m = { .cls = "Weight_x", .type = { .dtype = PM_I64, .rank = 1, .dim = { 2 } } };
	int64_t room[2];
	void *data[1] = { room };
	PmErr err;

	(void)state;
	m.has_min = m.has_max = 1;
	m.min = 4;
	m.max = 3;
	pm_err_init(&err);
	assert_int_equal(pm_passnet_draw(&m, 1, 123, data, NULL, &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, "Weight_x"));
	m.has_min = 0;
	m.has_data = 1;
	assert_int_equal(pm_passnet_draw(&m, 1, 123, data, NULL, &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, "literal"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_inputs),
		cmocka_unit_test(shared_inputs),
		cmocka_unit_test(generator_is_mt19937),
		cmocka_unit_test(ranges_stay_inside_and_single_values_draw_nothing),
		cmocka_unit_test(bad_descriptions_are_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
