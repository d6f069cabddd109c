/* SPDX-License-Identifier: Apache-2.0 */
/* test_validate.c - checking many models: what is found is counted, told and stored once, and a model that
 * cannot be read takes nothing from the others. */
#include "app/validate/validate.h"

#include "base/core/str.h"
#include "base/sys/io.h"
#include "dataset/store/checks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char silu[] = "g (float[3,67] x) => (float[3,67] y) { s = Sigmoid(x)\n y = Mul(x, s) }";
/* log of what is not positive: its outputs are not finite. */
static const char infinite[] = "g (float[3,67] x) => (float[3,67] y) { z = Sub(x, x)\n y = Log(z) }";

enum { N_FILES = 3 };

typedef struct Files {
	PmStr dir, path[N_FILES];
	const char *names[N_FILES];
} Files;

static void begin(Files *f)
{
	static const char *const names[] = { "good.gpt", "broken.gpt", "infinite.gpt" };
	const char *texts[] = { silu, "no graph", infinite };

	memset(f, 0, sizeof *f);
	pm_str_init(&f->dir);
	assert_int_equal(pm_temp_dir("validate", &f->dir, NULL), PM_OK);
	for (int i = 0; i < N_FILES; i++) {
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
	for (int i = 0; i < N_FILES; i++)
		pm_str_release(&f->path[i]);
}

typedef struct Heard {
	PmStr models, complaints;
	int steps;
} Heard;

static void heard_step(void *arg, const char *item)
{
	assert_non_null(strstr(item, ".gpt"));
	((Heard *)arg)->steps++;
}

static void heard_complaint(void *arg, const char *sentence)
{
	pm_str_addf(&((Heard *)arg)->complaints, "%s\n", sentence);
}

static void took(void *arg, const char *path, const PmConstraints *c)
{
	pm_str_addf(&((Heard *)arg)->models, "%s %d\n", pm_path_base(path), pm_constraints_hold(c));
}

static void release(Heard *h)
{
	pm_str_release(&h->models);
	pm_str_release(&h->complaints);
}

static void models_are_counted_and_one_that_cannot_be_read_is_told(void **state)
{
	Heard h = { PM_STR_INIT, PM_STR_INIT, 0 };
	const PmWatch watch = { .step = heard_step, .complain = heard_complaint, .arg = &h };
	PmValidateOpts o = { .n_files = N_FILES, .jobs = 2, .watch = &watch };
	PmValidated v;
	Files f;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	begin(&f);
	o.files = f.names;
	if (pm_validate(&o, took, &h, &v, &err))
		fail_msg("%s", err.text);
	assert_int_equal(v.n, 3);
	assert_int_equal(v.n_unread, 1);
	assert_int_equal(v.n_broken, 1);
	assert_int_equal(v.n_before, 0);
	assert_int_equal(v.count.of[PM_CONSTRAINT_RUNNABLE][PM_HOLDS], 1);
	assert_int_equal(v.count.of[PM_CONSTRAINT_RUNNABLE][PM_BROKEN], 1);
	assert_int_equal(h.steps, 3);
	assert_string_equal(h.models.s, "good.gpt 1\ninfinite.gpt 0\n");
	assert_non_null(strstr(h.complaints.s, "broken.gpt"));
	assert_null(strstr(h.complaints.s, "good.gpt"));
	release(&h);
	end(&f);
}

/* The first takes long, the last is there at once. */
static void models_are_told_in_the_order_of_the_files(void **state)
{
	static const char slow[] =
		"g (float[500,500] x) => (float[500,500] y) { a = MatMul(x, x)\n b = MatMul(a, x)\n "
		"y = MatMul(b, x) }";
	Heard h = { PM_STR_INIT, PM_STR_INIT, 0 };
	PmValidateOpts o = { .n_files = N_FILES, .jobs = 3, .check.max_flops = (int64_t)1 << 32 };
	PmValidated v;
	Files f;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	begin(&f);
	assert_int_equal(pm_write_file(f.path[0].s, slow, strlen(slow), NULL), PM_OK);
	o.files = f.names;
	if (pm_validate(&o, took, &h, &v, &err))
		fail_msg("%s", err.text);
	assert_string_equal(h.models.s, "good.gpt 1\ninfinite.gpt 0\n");
	release(&h);
	end(&f);
}

static PmStatus count_stored(void *arg, const PmConstraintRow *row, PmErr *err)
{
	(void)err;
	pm_constraint_count(arg, row->name, row->verdict);
	return PM_OK;
}

/* A second run with the same options checks only what could not be stored; with others it checks all. */
static void verdicts_are_stored_once(void **state)
{
	PmValidateOpts o = { .n_files = N_FILES, .jobs = 1 };
	PmConstraintCounts stored = { 0 };
	PmStr path = PM_STR_INIT;
	PmValidated v;
	Files f;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	begin(&f);
	o.files = f.names;
	pm_path_join(f.dir.s, "set.db", &path);
	assert_int_equal(pm_db_open(path.s, 0, &o.db, &err), PM_OK);
	assert_int_equal(pm_validate(&o, NULL, NULL, &v, &err), PM_OK);
	assert_int_equal(v.n, 3);
	assert_int_equal(pm_constraints_each(o.db, count_stored, &stored, &err), PM_OK);
	assert_memory_equal(&stored, &v.count, sizeof stored);
	assert_int_equal(pm_validate(&o, NULL, NULL, &v, &err), PM_OK);
	assert_int_equal(v.n, 1);
	assert_int_equal(v.n_unread, 1);
	assert_int_equal(v.n_before, 2);
	assert_int_equal(v.n_broken_before, 1);
	assert_int_equal(v.count.of[PM_CONSTRAINT_RUNNABLE][PM_HOLDS], 0);
	o.check.seeds = 2;
	assert_int_equal(pm_validate(&o, NULL, NULL, &v, &err), PM_OK);
	assert_int_equal(v.n, 3);
	pm_db_close(o.db);
	pm_str_release(&path);
	end(&f);
}

static void a_verdict_that_is_none_counts_nothing(void **state)
{
	PmConstraintCounts c = { 0 };
	const PmConstraintCounts none = { 0 };

	(void)state;
	pm_constraint_count(&c, "runnable", "perhaps");
	pm_constraint_count(&c, "edible", "holds");
	assert_memory_equal(&c, &none, sizeof c);
	pm_constraint_count(&c, pm_constraint_name(PM_CONSTRAINT_RUNNABLE), "holds");
	assert_int_equal(c.of[PM_CONSTRAINT_RUNNABLE][PM_HOLDS], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(models_are_counted_and_one_that_cannot_be_read_is_told),
		cmocka_unit_test(models_are_told_in_the_order_of_the_files),
		cmocka_unit_test(verdicts_are_stored_once),
		cmocka_unit_test(a_verdict_that_is_none_counts_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
