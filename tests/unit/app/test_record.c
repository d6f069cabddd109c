/* SPDX-License-Identifier: Apache-2.0 */
/* test_record.c - a record gives back what was written, and is refused when a graph was exchanged. */
#include "app/eval/record.h"

#include "base/sys/io.h"
#include "ir/canon/canon.h"
#include "tests/lib/graphs/graph_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A record names the libraries that are there, for which they are opened. What they take then is not ours. */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#else
#define __lsan_disable()
#define __lsan_enable()
#endif

static const char silu[] = "g (float[3,67] x) => (float[3,67] y) { s = Sigmoid(x)\n y = Mul(x, s) }";
static const char report[] =
	"[{\"pass\": \"p.so\", \"records\": [{\"variant\": \"s4\", \"verdict\": \"OK\", \"inputs\": \"i1\","
	"\"kernels\": 1, \"code\": {\"sources\": \"a\", \"ptx\": \"b\", \"cubin\": \"c\"}}]}]";

typedef struct Files {
	PmStr dir, path, key;
	char public[PM_SEAL_KEY_HEX];
} Files;

static int begin(void **state)
{
	static Files f = { PM_STR_INIT, PM_STR_INIT, PM_STR_INIT, "" };

	if (pm_temp_dir("record", &f.dir, NULL))
		return -1;
	pm_path_join(f.dir.s, "record.json", &f.path);
	pm_path_join(f.dir.s, "one.key", &f.key);
	*state = &f;
	return (int)pm_seal_make_key(f.key.s, f.public, NULL);
}

static int end(void **state)
{
	Files *f = *state;

	pm_remove_tree(f->dir.s, NULL);
	pm_str_release(&f->dir);
	pm_str_release(&f->path);
	pm_str_release(&f->key);
	return 0;
}

static cJSON *json(const char *text)
{
	cJSON *j = NULL;

	if (pm_json_parse(text, strlen(text), &j, NULL))
		fail_msg("no JSON: %s", text);
	return j;
}

static void write_record(const Files *f, const char *key)
{
	PmTaskVariant m = { .label = (char *)(uintptr_t) "s4", .ordinal = 12, .dtype = PM_F32 };
	PmVariantList variants = { .list = { .v = &m, .n = 1 } };
	PmRecordOpts opts = { .hidden = 2, .graphs = 1 };
	cJSON *j = json(report);
	PmStatus st;
	PmErr err;

	pm_err_init(&err);
	m.g = pm_test_graph(silu);
	__lsan_disable();
	st = pm_record_write(f->path.s, key, j, &variants, &opts, &err);
	__lsan_enable();
	if (st)
		fail_msg("%s", err.text);
	pm_graph_free(m.g);
	cJSON_Delete(j);
}

static void what_was_written_is_read(void **state)
{
	char is[PM_SHA256_HEX], was[PM_SHA256_HEX];
	const Files *f = *state;
	PmGraph *g = NULL;
	PmRecord r;
	PmErr err;

	pm_err_init(&err);
	write_record(f, f->key.s);
	if (pm_record_read(f->path.s, &r, &err))
		fail_msg("%s", err.text);
	assert_true(r.seal.is_signed && r.seal.is_valid);
	assert_string_equal(r.seal.key, f->public);
	assert_int_equal(r.opts.hidden, 2);
	assert_int_equal(r.opts.graphs, 1);
	assert_int_equal(r.opts.tf32, 0);
	assert_int_equal(r.opts.confirm, 0);
	assert_int_equal(r.variants.list.n, 1);
	assert_string_equal(r.variants.list.v[0].label, "s4");
	assert_int_equal(r.variants.list.v[0].ordinal, 12);
	g = pm_test_graph(silu);
	assert_int_equal(pm_canon_hash(g, PM_CANON_FULL, was, NULL), PM_OK);
	assert_int_equal(pm_canon_hash(r.variants.list.v[0].g, PM_CANON_FULL, is, NULL), PM_OK);
	assert_string_equal(is, was);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(r.payload, "reports")), 1);
	pm_graph_free(g);
	pm_record_release(&r);
}

/* Replaces a word of the file by one of the same length, and reads it. */
static PmStatus read_changed(const Files *f, const char *word, const char *by, PmRecord *r, PmErr *err)
{
	PmStr text = PM_STR_INIT;
	char *at;

	pm_err_init(err);
	assert_int_equal(pm_read_file(f->path.s, 1 << 20, &text, NULL), PM_OK);
	at = strstr(text.s, word);
	assert_non_null(at);
	assert_int_equal(strlen(word), strlen(by));
	memcpy(at, by, strlen(by));
	assert_int_equal(pm_write_file(f->path.s, text.s, text.len, NULL), PM_OK);
	pm_str_release(&text);
	return pm_record_read(f->path.s, r, err);
}

static void a_graph_that_was_exchanged_is_seen_without_a_signature(void **state)
{
	const Files *f = *state;
	PmRecord r;
	PmErr err;

	write_record(f, NULL);
	assert_int_equal(read_changed(f, "Sigmoid (x)", "Softsign(x)", &r, &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, "hash"));
	assert_non_null(strstr(err.text, "'s4'"));
	pm_record_release(&r);
}

/* What a signature is for: the verdict has no hash beside it. */
static void a_verdict_that_was_changed_breaks_the_signature(void **state)
{
	const Files *f = *state;
	PmRecord r;
	PmErr err;

	write_record(f, f->key.s);
	assert_int_equal(read_changed(f, "\"OK\"", "\"KO\"", &r, &err), PM_OK);
	assert_true(r.seal.is_signed);
	assert_false(r.seal.is_valid);
	pm_record_release(&r);
}

static void a_record_of_another_format_is_refused(void **state)
{
	const Files *f = *state;
	PmRecord r;
	PmErr err;

	write_record(f, NULL);
	assert_int_equal(read_changed(f, "passmith record 1", "passmith record 2", &r, &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, "--record"));
	pm_record_release(&r);
}

/* Other machine code is a difference where the compiler is the same, and only there. */
static void differences_are_lines(void **state)
{
	cJSON *was = json(report), *is = json(report), *rec;
	PmStr out = PM_STR_INIT;
	int n;

	(void)state;
	n = pm_record_compare(cJSON_GetArrayItem(was, 0), cJSON_GetArrayItem(is, 0), 1, &out);
	assert_string_equal(out.s, "");
	rec = cJSON_GetArrayItem(cJSON_GetObjectItem(cJSON_GetArrayItem(is, 0), "records"), 0);
	cJSON_SetValuestring(cJSON_GetObjectItem(cJSON_GetObjectItem(rec, "code"), "cubin"), "d");
	assert_int_equal(pm_record_compare(cJSON_GetArrayItem(was, 0), cJSON_GetArrayItem(is, 0), 0, &out),
			 n - 2);
	assert_string_equal(out.s, "");
	cJSON_SetNumberValue(cJSON_GetObjectItem(rec, "kernels"), 2);
	assert_int_equal(pm_record_compare(cJSON_GetArrayItem(was, 0), cJSON_GetArrayItem(is, 0), 1, &out),
			 n);
	assert_string_equal(out.s, "  s4: kernels is 2, the record says 1\n"
				   "  s4: cubin is d, the record says c\n");
	pm_str_release(&out);
	cJSON_Delete(was);
	cJSON_Delete(is);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_written_is_read, begin, end),
		cmocka_unit_test_setup_teardown(a_graph_that_was_exchanged_is_seen_without_a_signature, begin,
						end),
		cmocka_unit_test_setup_teardown(a_verdict_that_was_changed_breaks_the_signature, begin, end),
		cmocka_unit_test_setup_teardown(a_record_of_another_format_is_refused, begin, end),
		cmocka_unit_test(differences_are_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
