/* SPDX-License-Identifier: Apache-2.0 */
/* test_hwcount.c - launches of a plan one by one, and counters where a device has none; on a GPU what they
 * say.
 */
#include "bench/inputs/inputs.h"
#include "ir/text/text.h"
#include "runtime/worker/hwcount.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Three launches and a view among them. */
static const char GRAPH[] =
	"g (float[64,32] x) => (float[32,64] y)\n{ a = Tanh(x)\n b = Transpose<perm=[1,0]>(a)\n c "
	"= Exp(b)\n y = Sqrt(c)\n}\n";

typedef struct Case {
	PmGraph *g;
	PmPlan *plan;
	PmTensor in[1];
} Case;

static void set_up(Case *c, const char *text)
{
	PmErr err;

	pm_err_init(&err);
	memset(c, 0, sizeof *c);
	if (pm_graph_parse(text, strlen(text), &c->g, &err) || pm_plan_new(c->g, NULL, 0, &c->plan, &err) ||
	    pm_inputs_make(c->g, 3, PM_INPUTS_NORMAL, c->in, &err))
		fail_msg("%s", err.text);
}

static void tear_down(Case *c)
{
	pm_tensor_release(&c->in[0]);
	pm_plan_free(c->plan);
	pm_graph_free(c->g);
}

typedef struct Seen {
	char text[64];
	size_t stop; /* `before` of this launch fails */
} Seen;

static PmStatus before(void *arg, size_t i, PmErr *err)
{
	Seen *s = arg;
	size_t n = strlen(s->text);

	s->text[n] = '(';
	s->text[n + 1] = (char)('0' + i);
	return i == s->stop ? pm_err(err, PM_E_ENV, "enough") : PM_OK;
}

static PmStatus after(void *arg, size_t i, PmErr *err)
{
	Seen *s = arg;

	(void)i;
	(void)err;
	s->text[strlen(s->text)] = ')';
	return PM_OK;
}

/* The outputs of a run that is watched, and of one that is not. */
static void watched(const char *device)
{
	PmDevice *d = NULL;
	PmExec *x = NULL;
	PmBind *b = NULL;
	PmTensor plain = { 0 }, seen_out = { 0 };
	Seen s = { .stop = 99 };
	const PmLaunchWatch w = { before, after, &s };
	Case c;
	PmErr err;

	set_up(&c, GRAPH);
	pm_err_init(&err);
	if (pm_device_open(device, &d, &err) || pm_exec_new(c.plan, d, &x, &err) ||
	    pm_exec_run(x, c.in, 1, 0, &plain, 1, &err) || pm_bind_new(x, 1, &b, &err) ||
	    d->ops->upload(d, pm_bind_input(b, 0), 0, c.in[0].data, (int64_t)c.in[0].bytes, &err) ||
	    pm_bind_launch_watched(b, SIZE_MAX, &w, &err) || pm_bind_outputs(b, &seen_out, 1, &err))
		fail_msg("%s", err.text);
	assert_int_equal(pm_plan_n_launches(c.plan), 3);
	assert_string_equal(s.text, "(0)(1)(2)");
	assert_memory_equal(plain.data, seen_out.data, plain.bytes);
	memset(&s, 0, sizeof s);
	s.stop = 1;
	assert_int_equal(pm_bind_launch_watched(b, SIZE_MAX, &w, &err), PM_E_ENV);
	assert_string_equal(s.text, "(0)(1");
	assert_string_equal(err.text, "enough");
	memset(&s, 0, sizeof s);
	s.stop = 99;
	assert_int_equal(pm_bind_launch_watched(b, 2, &w, &err), PM_OK);
	assert_string_equal(s.text, "(0)(1)");
	pm_tensor_release(&plain);
	pm_tensor_release(&seen_out);
	pm_exec_free(x);
	d->ops->close(d);
	tear_down(&c);
}

static void launches_one_by_one(void **state)
{
	(void)state;
	watched("emu");
}

static void a_device_without_counters(void **state)
{
	PmHwCounters *counters = calloc(1, sizeof *counters);
	Case c;
	PmErr err;

	(void)state;
	set_up(&c, GRAPH);
	pm_err_init(&err);
	counters->n = 1;
	assert_int_equal(pm_hw_count_run(c.plan, "emu", c.in, 1, 60, counters, &err), PM_E_ENV);
	assert_non_null(strstr(err.text, "Device \"emu\" has no hardware counters"));
	free(counters);
	tear_down(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(launches_one_by_one),
		cmocka_unit_test(a_device_without_counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
