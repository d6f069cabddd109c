/* SPDX-License-Identifier: Apache-2.0 */
/* test_cupti.c - a session of CUPTI, with functions that answer from a script, and metrics that the real
 * library knows. */
#include "runtime/cuda/cupti/cupti_priv.h"

#include "base/core/arena.h"
#include "base/sys/io.h"
#include "tests/lib/need.h"
#include "tests/lib/sanitizer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Needs what stands above. */
#include <cmocka.h>

enum { PASSES = 3, LAUNCHES = 2, VERSION = 130001, CONFIG = 24, DATA = 40 };

/* What the library's functions were asked, and which of them fails with what. */
static struct {
	const char *fails;
	int error;
	int hosts, ranges;    /* objects that are open */
	int pass, launch;     /* passes of this launch so far; launches */
	int started, decoded; /* a pass is open; the launch was decoded */
	int configured;       /* this object was */
	int once;             /* an object takes one configuration */
	int never_done;       /* it always wants another pass */
	size_t dropped, kernels;
} f;

static CuptiHost *const host = (CuptiHost *)&f;
static CuptiRange *const range = (CuptiRange *)&f.ranges;

/* Each function checks the size that its structure says, and fails when the script says so. */
#define XX(member, symbol, structure, last)                                                                  \
	static int do_##member(structure *s);                                                                \
	static int fake_##member(structure *s)                                                               \
	{                                                                                                    \
		assert_int_equal(s->size, CUPTI_SIZE(structure, last));                                      \
		assert_null(s->unused);                                                                      \
		if (f.fails && !strcmp(f.fails, #symbol))                                                    \
			return f.error;                                                                      \
		return do_##member(s);                                                                       \
	}
PM__CUPTI_FUNCTIONS(XX)
#undef XX

static int fake_version(uint32_t *v)
{
	*v = VERSION;
	return 0;
}

static int fake_string(int error, const char **text)
{
	*text = error == CUPTI_NO_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" : "CUPTI_ERROR_X";
	return error == 99;
}

static const PmCuptiApi fake = { .version = VERSION,
				 .get_version = fake_version,
				 .result_string = fake_string,
#define XX(member, symbol, structure, last) .member = fake_##member,
				 PM__CUPTI_FUNCTIONS(XX)
#undef XX
};

static int do_init(CuptiInit *s)
{
	(void)s;
	return 0;
}

static int do_chip(CuptiChip *s)
{
	assert_int_equal(s->device, 1);
	s->chip = "GX100";
	return 0;
}

static int do_available(CuptiAvailable *s)
{
	assert_ptr_equal(s->ctx, &f);
	if (s->image)
		memset(s->image, 7, s->image_size);
	else
		s->image_size = 5;
	return 0;
}

static int do_host_init(CuptiHostInit *s)
{
	assert_string_equal(s->chip, "GX100");
	assert_int_equal(s->available[4], 7);
	f.hosts++;
	s->host = host;
	return 0;
}

static int do_host_end(CuptiHostEnd *s)
{
	assert_ptr_equal(s->host, host);
	f.hosts--;
	return 0;
}

/* This chip has no L1 hit rate, and bytes of DRAM under their other name. */
static int do_host_properties(CuptiHostProperties *s)
{
	return !strcmp(s->metric, pm_hw_metric_name(PM_HW_L1_HIT)) ||
			       !strcmp(s->metric, pm_hw_metric_name(PM_HW_DRAM_READ))
		       ? CUPTI_NO_SUCH_METRIC
		       : 0;
}

static int do_host_add(CuptiHostAdd *s)
{
	assert_int_equal(s->n, PM_N_HW_METRICS - 1);
	return 0;
}

static int do_host_config_size(CuptiHostConfigSize *s)
{
	s->config_size = CONFIG;
	return 0;
}

static int do_host_config(CuptiHostConfig *s)
{
	assert_int_equal(s->config_size, CONFIG);
	memset(s->config, 9, CONFIG);
	return 0;
}

static int do_host_passes(CuptiHostPasses *s)
{
	assert_int_equal(s->config[CONFIG - 1], 9);
	s->passes = PASSES;
	return 0;
}

/* A value that says which launch and which metric it is of; the last metric divides by nothing. */
static int do_host_evaluate(CuptiHostEvaluate *s)
{
	assert_true(s->data_size == DATA && s->range == 0 && f.decoded);
	for (size_t i = 0; i < s->n; i++) {
		int m = 0;

		while (strcmp(s->metrics[i], pm_hw_metric_name((PmHwMetric)m)) != 0 &&
		       (m != PM_HW_DRAM_READ || strcmp(s->metrics[i], "dram__bytes_op_read.sum") != 0))
			m++;
		s->values[i] = m == PM_N_HW_METRICS - 1 ? (double)NAN : (double)(1000 * f.launch + m);
	}
	return 0;
}

static int do_enable(CuptiEnable *s)
{
	assert_ptr_equal(s->ctx, &f);
	f.ranges++;
	f.configured = 0;
	s->range = range;
	return 0;
}

static int do_disable(CuptiOfRange *s)
{
	assert_ptr_equal(s->range, range);
	f.ranges--;
	return 0;
}

static int do_data_size(CuptiDataSize *s)
{
	assert_true(s->n == PM_N_HW_METRICS - 1 && s->max_ranges > 1 && s->max_nodes == s->max_ranges);
	s->data_size = DATA;
	return 0;
}

static int do_data_init(CuptiDataInit *s)
{
	memset(s->data, 3, s->data_size);
	return 0;
}

static int do_set_config(CuptiSetConfig *s)
{
	assert_true(s->config_size == CONFIG && s->data_size == DATA && s->max_ranges > 1);
	assert_true(s->mode == CUPTI_AUTO_RANGE && s->replay == CUPTI_USER_REPLAY && s->levels == 1);
	assert_true(s->config[0] == 9 && s->data[0] == 3);
	if (f.once && f.configured)
		return 7;
	f.configured = 1;
	f.pass = f.decoded = 0;
	f.launch++;
	return 0;
}

static int do_start(CuptiOfRange *s)
{
	(void)s;
	assert_true(f.configured && !f.started && !f.decoded);
	f.started = 1;
	return 0;
}

static int do_stop(CuptiStop *s)
{
	assert_true(f.started);
	f.started = 0;
	s->all = ++f.pass == PASSES && !f.never_done;
	return 0;
}

static int do_decode(CuptiDecode *s)
{
	assert_int_equal(f.pass, PASSES);
	f.decoded = 1;
	s->dropped = f.dropped;
	return 0;
}

static int do_data_info(CuptiDataInfo *s)
{
	assert_int_equal(s->data_size, DATA);
	s->ranges = f.kernels;
	return 0;
}

static void fresh(void)
{
	memset(&f, 0, sizeof f);
	f.kernels = 1;
}

/* All passes of a launch. */
static PmStatus count_one(PmCupti *c, PmHwLaunch *out, PmErr *err)
{
	PmStatus st = pm_cupti_launch_begin(c, err);
	int done = 0;

	while (!st && !done) {
		st = pm_cupti_pass_begin(c, err);
		if (!st)
			st = pm_cupti_pass_end(c, &done, err);
	}
	return st ? st : pm_cupti_launch_end(c, out, err);
}

/* All of a session; the first error ends it. */
static PmStatus count(PmHwCounters *out, PmErr *err)
{
	PmCupti *c = NULL;
	PmStatus st = pm__cupti_session(&fake, &f, 1, &c, err);

	memset(out, 0, sizeof *out);
	out->n = LAUNCHES;
	for (size_t i = 0; i < LAUNCHES && !st; i++)
		st = count_one(c, &out->of[i], err);
	if (!st)
		pm_cupti_about(c, out);
	if (c)
		pm_cupti_free(c);
	return st;
}

static void check_values(const PmHwCounters *c)
{
	assert_true(c->version == VERSION && c->passes == PASSES);
	assert_true(f.hosts == 0 && f.ranges == 0 && f.launch == LAUNCHES);
	for (int i = 0; i < LAUNCHES; i++) {
		assert_true(c->of[i].measured);
		assert_true(c->of[i].v[PM_HW_NANOSECONDS] == 1000 * (i + 1));
		assert_true(c->of[i].v[PM_HW_DRAM_READ] == 1000 * (i + 1) + PM_HW_DRAM_READ);
		assert_true(c->of[i].v[PM_HW_STALL_WAIT] == 1000 * (i + 1) + PM_HW_STALL_WAIT);
		assert_true(isnan(c->of[i].v[PM_HW_L1_HIT]) && isnan(c->of[i].v[PM_N_HW_METRICS - 1]));
	}
	for (int m = 0; m < PM_N_HW_METRICS; m++)
		assert_int_equal(c->lacks[m], m == PM_HW_L1_HIT);
}

static void values_by_launch_and_metric(void **state)
{
	PmHwCounters c;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	fresh();
	assert_int_equal(count(&c, &err), PM_OK);
	check_values(&c);
	fresh();
	f.once = 1; /* a new object for each launch */
	assert_int_equal(count(&c, &err), PM_OK);
	check_values(&c);
}

/* Whatever function fails is named with its error, and nothing stays open. */
static void each_function_fails(void **state)
{
	static const char *const symbol[] = {
#define XX(member, symbol, structure, last) #symbol,
		PM__CUPTI_FUNCTIONS(XX)
#undef XX
	};
	PmHwCounters c;
	PmErr err;

	(void)state;
	for (size_t i = 0; i < sizeof symbol / sizeof *symbol; i++) {
		fresh();
		pm_err_init(&err);
		f.fails = symbol[i];
		f.error = 7;
		if (strstr(symbol[i], "Deinitialize") || strstr(symbol[i], "Disable")) {
			assert_int_equal(count(&c, &err), PM_OK); /* the end of a session has no error */
			continue;
		}
		assert_int_equal(count(&c, &err), PM_E_ENV);
		if (strstr(symbol[i], "GetMetricProperties")) {
			assert_non_null(strstr(err.text, "knows no metric of this GPU"));
		} else if (!strstr(err.text, symbol[i]) || !strstr(err.text, "error 7 (CUPTI_ERROR_X)")) {
			fail_msg("of %s: %s", symbol[i], err.text);
		}
		assert_true(f.hosts == 0 && f.ranges == 0);
	}
	fresh();
	f.fails = "cuptiRangeProfilerEnable";
	f.error = 99;
	assert_int_equal(count(&c, &err), PM_E_ENV);
	assert_non_null(strstr(err.text, "error 99 (it has no name)"));
}

static void without_permission_it_says_how(void **state)
{
	PmHwCounters c;
	PmErr err;

	(void)state;
	for (int error = CUPTI_NO_PRIVILEGES; error; error = error == 35 ? CUPTI_NO_PRIVILEGES_VIRTUAL : 0) {
		fresh();
		pm_err_init(&err);
		f.fails = "cuptiRangeProfilerEnable";
		f.error = error;
		assert_int_equal(count(&c, &err), PM_E_ENV);
		assert_non_null(strstr(err.text, "cuptiRangeProfilerEnable fails with error"));
		assert_non_null(strstr(err.text, "RmProfilingAdminOnly"));
	}
}

static void what_a_library_may_do_wrong(void **state)
{
	PmHwCounters c;
	PmErr err;

	(void)state;
	fresh();
	pm_err_init(&err);
	f.never_done = 1;
	assert_int_equal(count(&c, &err), PM_E_ENV);
	assert_non_null(strstr(err.text, "planned 3 passes, and after 77 asks for more"));
	fresh();
	f.dropped = 1;
	assert_int_equal(count(&c, &err), PM_E_ENV);
	assert_non_null(strstr(err.text, "of one launch CUPTI has 1 kernels and dropped 1"));
	fresh();
	f.kernels = 2;
	assert_int_equal(count(&c, &err), PM_E_ENV);
	assert_non_null(strstr(err.text, "of one launch CUPTI has 2 kernels and dropped 0"));
	fresh();
	f.kernels = 0;
	assert_int_equal(count(&c, &err), PM_E_ENV);
	assert_non_null(strstr(err.text, "of one launch CUPTI has 0 kernels"));
}

static void permission(const char *params, const char *says)
{
	PmStr dir = PM_STR_INIT, path = PM_STR_INIT, out = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	assert_int_equal(pm_temp_dir("params", &dir, &err), PM_OK);
	pm_path_join(dir.s, "params", &path);
	if (params)
		assert_int_equal(pm_write_file(path.s, params, strlen(params), &err), PM_OK);
	pm_cupti_permission(path.s, &out);
	if (!strstr(out.s, says))
		fail_msg("\"%s\" is not: %s", says, out.s);
	assert_int_equal(pm_remove_tree(dir.s, &err), PM_OK);
	pm_str_release(&dir);
	pm_str_release(&path);
	pm_str_release(&out);
}

static void the_drivers_parameters(void **state)
{
	(void)state;
	permission("EnableMSI: 1\nRmProfilingAdminOnly: 1\nTemp: 0\n",
		   "NVreg_RestrictProfilingToAdminUsers=0");
	permission("RmProfilingAdminOnly: 0\n", "lets all users read counters");
	permission("RmProfilingAdminOnlyToo: 1\nX: 1\n", "does not say");
	permission("", "does not say");
	permission(NULL, "does not say");
}

static void what_another_process_sends(void **state)
{
	static PmHwCounters asked, sent;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	memset(&sent, 0, sizeof sent);
	asked.n = sent.n = 2;
	asked.of[1].launch = sent.of[1].launch = 4;
	sent.of[1].v[PM_HW_L2_HIT] = 50;
	assert_int_equal(pm_hw_take(&asked, &sent, sizeof sent, &err), PM_OK);
	assert_true(asked.of[1].v[PM_HW_L2_HIT] == 50);
	assert_int_equal(pm_hw_take(&asked, &sent, sizeof sent - 1, &err), PM_E_CRASH);
	sent.of[1].launch = 5;
	assert_int_equal(pm_hw_take(&asked, &sent, sizeof sent, &err), PM_E_CRASH);
	sent.n = 200;
	assert_int_equal(pm_hw_take(&asked, &sent, sizeof sent, &err), PM_E_CRASH);
}

static int knows(const PmCuptiApi *a, CuptiHost *h, const char *metric)
{
	CuptiHostProperties s = { .size = CUPTI_SIZE(CuptiHostProperties, type),
				  .host = h,
				  .metric = metric };

	return metric && !a->host_properties(&s);
}

/* The real library plans metrics for a chip that is not there. */
static PmStatus plan(const PmCuptiApi *a, const char *chip, PmStr *lacks, size_t *passes)
{
	CuptiHostInit init = { .size = CUPTI_SIZE(CuptiHostInit, host), .chip = chip };
	CuptiHostConfigSize size = { .size = CUPTI_SIZE(CuptiHostConfigSize, config_size) };
	CuptiHostConfig config = { .size = CUPTI_SIZE(CuptiHostConfig, config) };
	CuptiHostPasses p = { .size = CUPTI_SIZE(CuptiHostPasses, passes) };
	const char *name[PM_N_HW_METRICS];
	size_t n = 0;
	int rc = a->host_init(&init);

	for (int m = 0; m < PM_N_HW_METRICS && !rc; m++) {
		if (knows(a, init.host, pm_hw_metric_name((PmHwMetric)m)))
			name[n++] = pm_hw_metric_name((PmHwMetric)m);
		else if (knows(a, init.host, pm_hw_metric_other((PmHwMetric)m)))
			name[n++] = pm_hw_metric_other((PmHwMetric)m);
		else
			pm_str_addf(lacks, "%s ", pm_hw_metric_name((PmHwMetric)m));
	}
	if (!rc)
		rc = a->host_add(&(CuptiHostAdd){
			.size = CUPTI_SIZE(CuptiHostAdd, n), .host = init.host, .metrics = name, .n = n });
	size.host = config.host = init.host;
	rc = rc ? rc : a->host_config_size(&size);
	config.config_size = p.config_size = size.config_size;
	config.config = p.config = pm_xcalloc(size.config_size + 1, 1);
	rc = rc ? rc : a->host_config(&config);
	rc = rc ? rc : a->host_passes(&p);
	*passes = p.passes;
	free(config.config);
	a->host_end(&(CuptiHostEnd){ .size = CUPTI_SIZE(CuptiHostEnd, host), .host = init.host });
	return rc ? PM_E_ENV : PM_OK;
}

static void metrics_of_real_chips(void **state)
{
	static const struct {
		uint32_t since;           /* version of CUPTI */
		const char *chip, *lacks; /* all that it does */
	} chips[] = {
		{ 0, "GH100", "" },
		{ 0, "GA100", "smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio " },
		{ 0, "AD102", "smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio " },
		{ 130000, "GB202",
		  "smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio "
		  "smsp__average_warps_issue_stalled_imc_miss_per_issue_active.ratio " },
	};
	PmCuptiApi a;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	if (SANITIZER)
		pm_test_skip("CUPTI opens its helper with RTLD_DEEPBIND, which a sanitizer refuses");
	if (pm__cupti_api(&a, &err))
		pm_test_skip("%s", err.text);
	for (size_t i = 0; i < sizeof chips / sizeof *chips; i++) {
		PmStr lacks = PM_STR_INIT;
		size_t passes = 0;

		if (a.version < chips[i].since)
			continue;
		assert_int_equal(plan(&a, chips[i].chip, &lacks, &passes), PM_OK);
		assert_string_equal(lacks.s ? lacks.s : "", chips[i].lacks);
		assert_in_range(passes, 1, 100);
		pm_str_release(&lacks);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_by_launch_and_metric),
		cmocka_unit_test(each_function_fails),
		cmocka_unit_test(without_permission_it_says_how),
		cmocka_unit_test(what_a_library_may_do_wrong),
		cmocka_unit_test(the_drivers_parameters),
		cmocka_unit_test(what_another_process_sends),
		cmocka_unit_test(metrics_of_real_chips),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
