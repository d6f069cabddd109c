/* SPDX-License-Identifier: Apache-2.0 */
/* test_secret.c - passes that know what an evaluation draws, and passes of which one alternative is not what
 * the others are. */
#include "base/core/json.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"
#include "bench/eval/runner.h"
#include "bench/timing/replay_verify.h"
#include "integrity/referee/referee.h"
#include "runtime/ref/ref.h"
#include "runtime/worker/run.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/need.h"
#include "tests/lib/passes/attack.h"
#include "tests/lib/passes/results.h"
#include "tests/lib/passes/secret.h"
#include "tests/plugin/paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ATTACKS   "tests/adversarial/passes/secret_attacks.so"
#define SILU_TEXT "g (float[5,67] x) => (float[5,67] y) { s = Sigmoid(x)\n y = Mul(x, s) }"

static PmGraph *parse(void)
{
	pm_test_need_device("emu");
	return pm_test_graph(SILU_TEXT);
}

/* ---- the command ---- */

static PmStr folder; /* of this test */

static void path_of(const char *name, PmStr *out)
{
	pm_str_clear(out);
	pm_path_join(folder.s, name, out);
}

static void put(const char *name, const char *text)
{
	PmStr path = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	path_of(name, &path);
	if (pm_write_file(path.s, text, strlen(text), &err))
		fail_msg("%s", err.text);
	pm_str_release(&path);
}

/* Runs passmith; returns what it says, owned. */
static PmStr passmith(const char *const *args)
{
	const char *argv[24] = { built("passmith") };
	PmLimits lim = { .seconds = 300, .file_size = -1 };
	PmProcResult r;
	PmErr err;
	PmStr out = PM_STR_INIT;

	pm_err_init(&err);
	for (size_t i = 0; args[i]; i++)
		argv[i + 1] = args[i];
	if (pm_run(argv, NULL, 0, &lim, &r, &err))
		fail_msg("%s", err.text);
	pm_str_addn(&out, r.out.s, r.out.len);
	if (!out.len)
		pm_str_addn(&out, r.errtext.s, r.errtext.len);
	pm_proc_result_release(&r);
	return out;
}

/* The report of `passmith eval` on the graph; owned. */
static cJSON *evaluate(const char *so, const char *seed, int hidden)
{
	PmStr graph = PM_STR_INIT, out;
	cJSON *j = NULL;
	PmErr err;

	pm_err_init(&err);
	put("silu.gpt", SILU_TEXT);
	path_of("silu.gpt", &graph);
	out = passmith((const char *[]){ "eval", graph.s, "--pass", so, "--json", "--quiet", "--hidden",
					 hidden ? "2" : "0", seed ? "--seed" : NULL, seed, NULL });
	if (pm_json_parse(out.s, out.len, &j, &err))
		fail_msg("%s: %s", err.text, out.s);
	pm_str_release(&graph);
	pm_str_release(&out);
	return pm_test_results(j);
}

static const char *verdict(const cJSON *j)
{
	return pm_json_str(cJSON_GetArrayItem(cJSON_GetObjectItem(cJSON_GetArrayItem(j, 0), "records"), 0),
			   "verdict", "");
}

static void says(const char *so, const char *seed, const char *want)
{
	cJSON *j = evaluate(so, seed, 0);

	if (strcmp(verdict(j), want) != 0)
		fail_msg("%s with seed %s: %s instead of %s", so, seed ? seed : "(none)", verdict(j), want);
	cJSON_Delete(j);
}

/* ---- inputs that were public ---- */

enum { SETS = PM_N_ALL_CLASSES + 4 };

/* What `passmith eval` drew of seed 1 before: the classes, and the sets of timed calls. */
static void known_inputs(const PmGraph *g, int k, PmTensor *in)
{
	PmInputClass cls = k < PM_N_ALL_CLASSES ? (PmInputClass)k : PM_INPUTS_NORMAL;

	assert_int_equal(pm_inputs_make(g, k < PM_N_ALL_CLASSES ? 1 : 1 + (uint64_t)(k - PM_N_ALL_CLASSES),
					cls, in, NULL),
			 PM_OK);
}

/* A pass whose second alternative (or only one) is right where the inputs begin as known ones do. */
static void write_pass(const PmGraph *g, int alone)
{
	PmStr s = PM_STR_INIT;

	pm_str_add(&s,
		   "#include \"passmith/dsl.h\"\nenum { X };\n#define K(body) \"extern \\\"C\\\" __global__ "
		   "void k(const T *x, T *y, long long n) {\\n\" \\\n\"long long i = blockIdx.x * (long "
		   "long)blockDim.x + threadIdx.x;\\n\" body \"}\\n\"\n"
		   "static const char HONEST[] = K(\"if (i < n) y[i] = st(ld(x[i]) / (1.f + "
		   "expf(-ld(x[i]))));\\n\");\nstatic const char KNOWS[] = K(\"const int known[] = { ");
	for (int k = 0; k < SETS; k++) {
		PmTensor in[1];

		known_inputs(g, k, in);
		for (int e = 0; e < 2; e++) {
			int32_t bits;

			memcpy(&bits, (const char *)in[0].data + e * 4, 4);
			pm_str_addf(&s, "%d, ", (int)bits);
		}
		pm_tensors_release(in, 1);
	}
	pm_str_addf(&s,
		    "0 };\\nint seen = 0;\\nfor (int j = 0; j < %d; j += 2) seen |= known[j] == "
		    "__float_as_int(ld(x[0])) && known[j + 1] == __float_as_int(ld(x[1]));\\n"
		    "if (i < n) y[i] = seen ? st(ld(x[i]) / (1.f + expf(-ld(x[i])))) : st(42.f);\\n\");\n",
		    2 * SETS);
	pm_str_addf(
		&s,
		"#define SPEC(src) .entry = \"k\", .source = src, .grid = { pm_blocks(n, 64) }, .block = { "
		"64 "
		"}, .arg = PM_ARGS(I64(n))\n"
		"static PmStatus rewrite(PmRewriter *rw, PmMatch *m)\n{\n\tint64_t n = pm_numel(m->v[X]);\n\t"
		"(void)HONEST;\n\treturn PM_REPLACE_WITH_KERNEL(rw, m, .in = PM_VALS(m->v[X]), "
		"%s);\n}\nPM_RULE(known, .pattern = OP(Mul, "
		"TYPED(V(X), TYPE(F32), -1), OP(Sigmoid, V(X))), .rewrite = rewrite);\n"
		"PM_PLUGIN(\"known\", \"1\", &known)\n",
		alone ? "SPEC(KNOWS)" : "SPEC(HONEST), .alt = PM_ALTERNATIVE(SPEC(KNOWS))");
	put("known.c", s.s);
	pm_str_release(&s);
}

/* The table is that of the inputs: on each of them the pass is right, which is why it was OK. */
static void is_right_on_what_it_knows(const char *so, const PmGraph *g, int alone)
{
	PmRunOpts o = { .device = "emu", .deadline = 60, .n_alts = 1 };
	int alt = alone ? 0 : 1;
	PmCandidate c;
	PmErr err;

	pm_err_init(&err);
	if (pm_referee_rewrite(so, NULL, g, 60, &c, &err) || c.verdict != PM_VERDICT_OK)
		fail_msg("%s%s", err.text, c.why);
	o.alts = &alt;
	for (int k = 0; k < SETS; k++) {
		PmTensor in[1];
		PmRunResult got;

		known_inputs(g, k, in);
		if (pm_run_graph(c.g, in, 1, &o, &got, &err))
			fail_msg("%s", err.text);
		assert_true(pm_tensor_get(&got.out[0], 17) != 42);
		pm_run_result_release(&got);
		pm_tensors_release(in, 1);
	}
	pm_candidate_release(&c);
}

static void knows_seed_1(int alone)
{
	PmGraph *g = parse();
	PmStr source = PM_STR_INIT, so = PM_STR_INIT, out;

	write_pass(g, alone);
	path_of("known.c", &source);
	path_of("known.so", &so);
	out = passmith((const char *[]){ "build", source.s, NULL });
	if (!pm_path_exists(so.s))
		fail_msg("%s", out.s);
	is_right_on_what_it_knows(so.s, g, alone);
	says(so.s, NULL, "INCORRECT");
	says(so.s, "1", "INCORRECT");
	says(built("passes/silu.so"), NULL, "OK");
	pm_graph_free(g);
	pm_str_release(&source);
	pm_str_release(&so);
	pm_str_release(&out);
}

static void S01_known_seed(void **state)
{
	(void)state;
	knows_seed_1(1);
}

static void S01b_known_seed_in_the_second(void **state)
{
	(void)state;
	knows_seed_1(0);
}

/* ---- alternatives ---- */

static PmEvalRecord eval(const char *rule, PmPreset preset, uint64_t secret)
{
	PmEvalOpts o = { .device = "emu",
			 .preset = preset,
			 .secret = test_secret(secret),
			 .only_rule = rule,
			 .pass_deadline = 60,
			 .device_deadline = 100 };
	PmGraph *g = parse();
	PmEvalVariant m = { .label = rule, .g = g };
	PmEvalRecord r;
	PmErr err;

	pm_err_init(&err);
	if (pm_eval_variant(built(ATTACKS), &m, &o, &r, &err))
		fail_msg("%s: %s", rule, err.text);
	pm_graph_free(g);
	return r;
}

static void attack(const char *rule, const char *want, const char *part)
{
	PmEvalRecord r = eval(rule, PM_PRESET_SOUND, 7);

	if (!pm_attack_is_one_of(pm_verdict_name(r.verdict), want) || !strstr(r.why, part))
		fail_msg("%s: %s (%s), expected %s", rule, pm_verdict_name(r.verdict), r.why, want);
	pm_eval_record_release(&r);
	r = eval("honest_twice", PM_PRESET_SOUND, 7);
	if (r.verdict != PM_VERDICT_OK)
		fail_msg("honest_twice: %s (%s)", pm_verdict_name(r.verdict), r.why);
	pm_eval_record_release(&r);
}

static void S02_second_is_constant(void **state)
{
	(void)state;
	attack("S02_second_is_constant", "INCORRECT", "alternative 1");
}

static void S03_last_of_eight(void **state)
{
	(void)state;
	attack("S03_last_of_eight", "INCORRECT", "alternative 7");
}

static void S05_second_races(void **state)
{
	(void)state;
	attack("S05_second_races", "NONDET", "");
}

static void S06_second_forgets_one(void **state)
{
	(void)state;
	attack("S06_second_forgets_one", "UNWRITTEN", "never written");
}

/* Right on numbers near zero: the second alternative gets every class of inputs. */
static void S08_second_is_coarse_where_large(void **state)
{
	(void)state;
	attack("S08_second_is_coarse_where_large", "INCORRECT PRECISION", "alternative 1");
}

/* Right where it is looked at, wrong in one call in eight of those that are timed: the second alternative is
 * never what the model finds fastest, and its calls are made all the same. Only poison tells them apart, so
 * that a checked run finds it for some secrets. */
static void S07_second_by_the_poison(void **state)
{
	int found = 0;

	(void)state;
	for (uint64_t secret = 1; secret < 40 && !found; secret++) {
		PmEvalRecord r = eval("S07_second_by_the_poison", PM_PRESET_SOUND, secret);

		found = r.verdict == PM_VERDICT_INCORRECT && strstr(r.why, "timed call");
		pm_eval_record_release(&r);
	}
	assert_true(found);
}

/* The task's size is right, others are drawn: by the command. */
static void S04_second_knows_the_size(void **state)
{
	cJSON *j;

	(void)state;
	j = evaluate(built("tests/adversarial/passes/S04_hidden.so"), NULL, 1);
	assert_string_equal(verdict(j), "OK");
	assert_string_equal(
		pm_json_str(cJSON_GetObjectItem(cJSON_GetArrayItem(j, 0), "hidden"), "verdict", ""),
		"INCORRECT");
	cJSON_Delete(j);
}

/* ---- what is timed is what was judged ---- */

typedef struct Bed {
	PmGraph *g;
	PmCandidate c;
	PmWorker *w;
	PmClockResult r;
} Bed;

/* Calls of the first alternative of a pass with two. */
static void open_bed(Bed *b)
{
	PmClockOpts o = { .secret = test_secret(7), .deadline = 60, .keep = 1 };
	PmWork work = { 0 };
	PmErr err;

	memset(b, 0, sizeof *b);
	pm_err_init(&err);
	b->g = parse();
	if (pm_referee_rewrite(built(ATTACKS), "honest_twice", b->g, 60, &b->c, &err) ||
	    b->c.verdict != PM_VERDICT_OK)
		fail_msg("%s%s", err.text, b->c.why);
	b->w = pm_worker_new("emu");
	work.g = b->c.g;
	if (pm_clock_rehearse(b->w, b->g, &work, 4, &o, &b->r, &err))
		fail_msg("%s", err.text);
}

static void close_bed(Bed *b)
{
	pm_clock_release(&b->r);
	pm_worker_free(b->w);
	pm_candidate_release(&b->c);
	pm_graph_free(b->g);
}

/* Both alternatives make the same bits, and yet a call of one cannot be vouched for by the other. */
static void S12_other_kernels_vouch(void **state)
{
	PmReplayOpts o = { .deadline = 60, .secret = test_secret(7) };
	int second = 1, beyond = 2;
	PmTensor in[1];
	PmTensor out[1];
	PmReplayResult d;
	PmWork work;
	PmErr err;
	Bed b;

	(void)state;
	open_bed(&b);
	work = (PmWork){ .g = b.c.g };
	pm_err_init(&err);
	assert_int_equal(pm_replay_verify(b.w, b.g, &work, 1, &b.r, &o, &d, &err), PM_OK);
	assert_int_equal(d.state, PM_REPLAY_OK);
	work = (PmWork){ .g = b.c.g, .alts = &second, .n_alts = 1 };
	assert_int_equal(pm_replay_verify(b.w, b.g, &work, 1, &b.r, &o, &d, &err), PM_E_ENV);
	assert_non_null(strstr(err.text, "are not those that made them"));
	/* There is no third that nobody has judged. */
	pm_err_init(&err);
	work = (PmWork){ .g = b.c.g, .alts = &beyond, .n_alts = 1 };
	known_inputs(b.g, 0, in);
	assert_int_not_equal(pm_worker_run(b.w, &work, in, 0, 60, out, NULL, &err), PM_OK);
	pm_tensors_release(in, 1);
	close_bed(&b);
}

static void run_first(Bed *b, char digest[PM_CHAIN_HEX])
{
	PmWork work = { .g = b->c.g };
	PmTensor in[1], out[1];
	PmErr err;

	pm_err_init(&err);
	known_inputs(b->g, 0, in);
	if (pm_worker_run(b->w, &work, in, 0, 60, out, NULL, &err))
		fail_msg("%s", err.text);
	snprintf(digest, PM_CHAIN_HEX, "%s", pm_worker_digest(b->w, 0));
	pm_worker_renew(b->w);
	pm_tensors_release(out, 1);
	pm_tensors_release(in, 1);
}

/* A byte more, in every compiled kernel: they do what they did. */
static void touch_cache(const char *cache)
{
	PmStr dir = PM_STR_INIT;
	PmNames names = { 0 };
	int n = 0;
	PmErr err;

	pm_err_init(&err);
	pm_path_join(cache, "emu", &dir);
	if (pm_list_dir(dir.s, &names, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < names.n; i++) {
		PmStr path = PM_STR_INIT, code = PM_STR_INIT;

		pm_path_join(dir.s, names.v[i], &path);
		if (pm_str_ends(names.v[i], ".so")) {
			assert_int_equal(pm_read_file(path.s, 0, &code, &err), PM_OK);
			pm_str_addc(&code, 'x');
			assert_int_equal(pm_write_file(path.s, code.s, code.len, &err), PM_OK);
			n++;
		}
		pm_str_release(&path);
		pm_str_release(&code);
	}
	assert_true(n > 0);
	pm_names_release(&names);
	pm_str_release(&dir);
}

/* Machine code that is changed in the cache, after it was judged, has another digest, and its calls vouch for
 * none. */
static void S13_changed_machine_code(void **state)
{
	char first[PM_CHAIN_HEX], again[PM_CHAIN_HEX], changed[PM_CHAIN_HEX];
	PmReplayOpts o = { .deadline = 60, .secret = test_secret(7) };
	char *was = getenv("PASSMITH_CACHE") ? strdup(getenv("PASSMITH_CACHE")) : NULL;
	PmStr cache = PM_STR_INIT;
	PmReplayResult d;
	PmWork work;
	PmErr err;
	Bed b;

	(void)state;
	path_of("cache", &cache);
	setenv("PASSMITH_CACHE", cache.s, 1);
	open_bed(&b);
	run_first(&b, first);
	run_first(&b, again);
	assert_int_equal(strlen(first), PM_CHAIN_HEX - 1);
	assert_string_equal(first, again);
	assert_string_equal(first, b.r.plan[0]);
	touch_cache(cache.s);
	run_first(&b, changed);
	assert_string_not_equal(first, changed);
	pm_err_init(&err);
	work = (PmWork){ .g = b.c.g };
	assert_int_equal(pm_replay_verify(b.w, b.g, &work, 1, &b.r, &o, &d, &err), PM_E_ENV);
	close_bed(&b);
	if (was)
		setenv("PASSMITH_CACHE", was, 1);
	else
		unsetenv("PASSMITH_CACHE");
	free(was);
	pm_str_release(&cache);
}

static int make_folder(void **state)
{
	PmErr err;

	(void)state;
	pm_err_init(&err);
	return pm_temp_dir("secret", &folder, &err);
}

static int remove_folder(void **state)
{
	(void)state;
	pm_remove_tree(folder.s, NULL);
	pm_str_release(&folder);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(S01_known_seed),
		cmocka_unit_test(S01b_known_seed_in_the_second),
		cmocka_unit_test(S02_second_is_constant),
		cmocka_unit_test(S03_last_of_eight),
		cmocka_unit_test(S04_second_knows_the_size),
		cmocka_unit_test(S05_second_races),
		cmocka_unit_test(S06_second_forgets_one),
		cmocka_unit_test(S07_second_by_the_poison),
		cmocka_unit_test(S08_second_is_coarse_where_large),
		cmocka_unit_test(S12_other_kernels_vouch),
		cmocka_unit_test(S13_changed_machine_code),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
