/* SPDX-License-Identifier: Apache-2.0 */
/* test_extract_job.c - many models to stored subgraphs: what is done, done before and failed is counted and
 * told, and nothing else is. */
#include "app/extract/extract_job.h"

#include "app/model/import_check.h"
#include "base/sys/io.h"
#include "tests/lib/graphs/graph_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char silu[] = "g (float[3,67] x) => (float[3,67] y) { s = Sigmoid(x)\n y = Mul(x, s) }";
static const char gelu[] =
	"g (float[8,16] x) => (float[8,16] y) { t = Tanh(x)\n u = Mul(t, x)\n y = Add(u, x) }";

typedef struct Files {
	PmStr dir, db, path[4];
	const char *names[4];
} Files;

static void begin(Files *f)
{
	static const char *const names[] = { "a.gpt", "b.gpt", "broken.gpt", "copy.gpt" };
	const char *texts[] = { silu, gelu, "no graph", silu };

	memset(f, 0, sizeof *f);
	pm_str_init(&f->dir);
	pm_str_init(&f->db);
	assert_int_equal(pm_temp_dir("extract", &f->dir, NULL), PM_OK);
	pm_path_join(f->dir.s, "set.db", &f->db);
	for (int i = 0; i < 4; i++) {
		pm_str_init(&f->path[i]);
		pm_path_join(f->dir.s, names[i], &f->path[i]);
		assert_int_equal(pm_write_file(f->path[i].s, texts[i], strlen(texts[i]), NULL), PM_OK);
		f->names[i] = f->path[i].s;
	}
}

static void end(Files *f)
{
	pm_remove_tree(f->dir.s, NULL);
	pm_str_release(&f->dir);
	pm_str_release(&f->db);
	for (int i = 0; i < 4; i++)
		pm_str_release(&f->path[i]);
}

/* What was said, in order: a letter for each call, b and the first letter of what begins. */
typedef struct Heard {
	char calls[64], complaint[512];
	int64_t total[2];
	int begun;
} Heard;

static void hear(Heard *h, char c)
{
	size_t n = strlen(h->calls);

	if (n + 1 < sizeof h->calls)
		h->calls[n] = c;
}

static void heard_begin(void *arg, const char *what, int64_t total)
{
	Heard *h = arg;

	hear(h, what[0]);
	if (h->begun < 2)
		h->total[h->begun++] = total;
}

static void heard_step(void *arg, const char *item)
{
	assert_non_null(strstr(item, ".gpt"));
	hear(arg, '.');
}

static void heard_end(void *arg)
{
	hear(arg, '|');
}

static void heard_complaint(void *arg, const char *sentence)
{
	Heard *h = arg;

	hear(h, '!');
	snprintf(h->complaint, sizeof h->complaint, "%s", sentence);
}

static void models_are_stored_once_and_a_broken_one_is_told(void **state)
{
	Heard h = { 0 };
	const PmWatch watch = { heard_begin, heard_step, heard_end, heard_complaint, &h };
	PmExtractJob j = { .n_files = 4, .jobs = 1, .watch = &watch }, again;
	Files f;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	begin(&f);
	j.db = f.db.s;
	j.files = f.names;
	again = j;
	again.watch = NULL;
	if (pm_extract_job(&j, &err))
		fail_msg("%s", err.text);
	assert_int_equal(j.done, 2);
	assert_int_equal(j.failed, 1);
	assert_int_equal(j.skipped, 1); /* the copy */
	assert_true(j.sum.kind[PM_KIND_FUSIBLE].n_found >= 2);
	/* Four are read, and the three that are no copies are stored, of which one as broken. */
	assert_string_equal(h.calls, "r....|e...!|");
	assert_int_equal(h.total[0], 4);
	assert_int_equal(h.total[1], 3);
	assert_non_null(strstr(h.complaint, "broken.gpt"));
	/* Nobody watches, and what failed is tried again. */
	if (pm_extract_job(&again, &err))
		fail_msg("%s", err.text);
	assert_int_equal(again.done, 0);
	assert_int_equal(again.failed, 1);
	assert_int_equal(again.skipped, 3);
	end(&f);
}

static void a_missing_model_leaves_no_database(void **state)
{
	PmExtractJob j = { .n_files = 4, .jobs = 1 };
	Files f;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	begin(&f);
	j.db = f.db.s;
	j.files = f.names;
	f.names[3] = "no/such/model.gpt";
	assert_int_not_equal(pm_extract_job(&j, &err), PM_OK);
	assert_non_null(strstr(err.text, "no/such/model.gpt"));
	assert_false(pm_path_exists(f.db.s));
	end(&f);
}

/* Each model counts, and sums are those of the parts. */
static void round_trips_are_counted(void **state)
{
	PmImportCheck one = { 0 }, sum = { 0 };
	PmGraph *g = NULL;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	g = pm_test_graph(gelu);
	assert_int_equal(pm_import_check("gelu.gpt", g, &one, &err), PM_OK);
	assert_int_equal(one.n_models, 1);
	assert_int_equal(one.n_text, 1);
	assert_int_equal(one.n_onnx, 1);
	pm_import_check_add(&sum, &one);
	pm_import_check_add(&sum, &one);
	assert_int_equal(sum.n_models, 2);
	assert_int_equal(sum.n_text, 2);
	assert_int_equal(sum.n_onnx, 2);
	pm_graph_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(models_are_stored_once_and_a_broken_one_is_told),
		cmocka_unit_test(a_missing_model_leaves_no_database),
		cmocka_unit_test(round_trips_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
