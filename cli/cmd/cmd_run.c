/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_run.c - passmith run: a model on seeded inputs, on one device, compared with another. */
#include "cli/cmds.h"

#include "app/model/feasible.h"
#include "base/core/clean.h"
#include "base/core/hash.h"
#include "base/sys/io.h"
#include "bench/compare/agree.h"
#include "bench/inputs/inputs.h"
#include "bench/inputs/testdata.h"
#include "ir/data/stats.h"
#include "runtime/device/device.h"
#include "runtime/worker/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MFLOP = 1000000000 };

typedef struct Run {
	const char *device, *against, *profile, *from, *save;
	int64_t seed, cut; /* cut: megaflops; 0 = the whole model */
	double deadline;
	int plan, roles, tf32;
} Run;

static cJSON *agreement_json(const PmAgreement *a)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddBoolToObject(j, "agrees", a->agrees);
	cJSON_AddBoolToObject(j, "by_conditioning", a->by_conditioning);
	cJSON_AddBoolToObject(j, "ill_conditioned", a->ill_conditioned);
	cJSON_AddBoolToObject(j, "equal", a->c.equal);
	cJSON_AddNumberToObject(j, "smallest_t", a->c.smallest_t);
	cJSON_AddNumberToObject(j, "nrms", a->nrms);
	cJSON_AddNumberToObject(j, "one_ulp_nrms", a->one_ulp);
	if (a->c.worst.index >= 0) {
		pm_json_add_i64(j, "worst_index", a->c.worst.index);
		pm_json_add_element(j, "expected", a->c.worst.expected);
		pm_json_add_element(j, "got", a->c.worst.got);
		cJSON_AddNumberToObject(j, "ulp", a->c.worst.ulp);
	}
	return j;
}

static void print_agreement(const PmAgreement *a, const Run *run)
{
	if (a->c.equal) {
		printf("  equal to %s", run->against);
		return;
	}
	if (a->ill_conditioned)
		printf("  ILL-CONDITIONED: the inputs' last digits decide it, so it says nothing about %s",
		       run->against);
	else if (!a->agrees)
		printf("  DIFFERS from %s", run->against);
	else if (a->by_conditioning)
		printf("  agrees with %s as well as one ulp of the inputs lets it", run->against);
	else
		printf("  agrees with %s at t=%d", run->against, a->c.smallest_t);
	printf(": nrms %.2g", a->nrms);
	if (a->one_ulp >= 0)
		printf(" (one ulp: %.2g)", a->one_ulp);
	if (a->c.worst.index >= 0)
		printf(", worst [%lld] %.9g, should be %.9g", (long long)a->c.worst.index, a->c.worst.got,
		       a->c.worst.expected);
}

/* One line (or JSON object) per output; returns 1 when every output agrees (or nothing was compared). */
static int report_outputs(const PmGraph *g, const PmRunResult *r, const PmAgreement *agree, const Run *run,
			  cJSON *list)
{
	int ok = 1;

	for (size_t i = 0; i < r->n_out; i++) {
		const char *name = pm_value_name(g, pm_graph_output(g, i));
		char hex[PM_SHA256_HEX];
		PmStr type = PM_STR_INIT;
		cJSON *j = list ? cJSON_CreateObject() : NULL;

		pm_type_describe(&r->out[i].type, &type);
		pm_sha256_hex(r->out[i].data, r->out[i].bytes, hex);
		ok = ok && (!agree || agree[i].agrees);
		if (j) {
			cJSON_AddStringToObject(j, "name", name);
			cJSON_AddStringToObject(j, "type", type.s);
			cJSON_AddStringToObject(j, "sha256", hex);
			if (agree)
				cJSON_AddItemToObject(j, "compared", agreement_json(&agree[i]));
			cJSON_AddItemToArray(list, j);
		} else {
			printf("%s %s sha256:%.16s", name, type.s, hex);
			if (agree)
				print_agreement(&agree[i], run);
			printf("\n");
		}
		pm_str_release(&type);
	}
	return ok;
}

static void print_roles(const PmGraph *g)
{
	for (size_t i = 0; i < pm_graph_n_inputs(g); i++) {
		PmValue v = pm_graph_input(g, i);
		PmStr type = PM_STR_INIT;
		char name[PM_CLEAN_QUOTED];
		int64_t limit;
		PmInputRole role = pm_input_role(g, v, &limit);

		pm_clean(pm_value_name(g, v), name, sizeof name, 0);
		pm_type_describe(pm_value_type(g, v), &type);
		fprintf(stderr, "%s %s: %s", name, type.s, pm_input_role_name(role));
		if (role == PM_ROLE_INDEX)
			fprintf(stderr, " below %lld", (long long)limit);
		fputc('\n', stderr);
		pm_str_release(&type);
	}
}

static PmStatus print_plan(const PmGraph *g, PmErr *err)
{
	PmPlan *p = NULL;
	PmStr s = PM_STR_INIT;
	PmStatus st = pm_plan_new(g, NULL, 0, &p, err);

	if (!st)
		st = pm_plan_print(p, &s, err);
	if (!st)
		fputs(s.s, stderr);
	pm_plan_free(p);
	pm_str_release(&s);
	return st;
}

static void print_stats(const PmRunResult *r, const Run *run, cJSON *j)
{
	if (j) {
		cJSON *s = cJSON_AddObjectToObject(j, "stats");

		cJSON_AddNumberToObject(s, "wall_seconds", r->wall_seconds);
		cJSON_AddNumberToObject(s, "launches", r->stats.n_launches);
		cJSON_AddNumberToObject(s, "views", r->stats.n_views);
		pm_json_add_i64(s, "bytes", r->stats.bytes);
		pm_json_add_i64(s, "flops", r->stats.flops);
		cJSON_AddNumberToObject(s, "modelled_seconds", r->stats.modelled_seconds);
	} else if (pm_device_kind(run->device) != PM_DEVICE_REF) {
		printf("%d launches, %d views, %.3g MB moved, %.3g Mflop; modelled %s time %.3g us (not a "
		       "measurement)\n",
		       r->stats.n_launches, r->stats.n_views, (double)r->stats.bytes / 1e6,
		       (double)r->stats.flops / 1e6, run->profile ? run->profile : pm_profile(NULL)->name,
		       r->stats.modelled_seconds * 1e6);
	}
}

/* Replaces a model by its largest feasible part and says so. */
static PmStatus cut_model(PmGraph **g, int64_t megaflops, const char *path, PmErr *err)
{
	PmGraph *part = NULL;
	const char *meta;
	PmStatus st = pm_feasible_cut(*g, megaflops * 1000000, &part, err);

	if (st)
		return st;
	if (!pm_cli_quiet)
		fprintf(stderr, "%s: cut to %zu of %zu nodes\n", path, pm_graph_n_nodes(part),
			pm_graph_n_nodes(*g));
	meta = pm_graph_meta(*g, PM_STATS_KEY);
	if (meta) /* what was a weight is an input now, and still has statistics */
		st = pm_graph_set_meta(part, PM_STATS_KEY, meta, err);
	pm_graph_free(*g);
	*g = part;
	return st;
}

/* The run as a case of ONNX's backend tests. */
static PmStatus save(const char *path, const PmGraph *g, const Run *run, const PmTensor *in,
		     const PmTensor *out, PmErr *err)
{
	PmStr model = PM_STR_INIT;
	PmStatus st = pm_testdata_write(run->save, g, in, out, err);

	pm_path_join(run->save, "model.onnx", &model);
	if (!st)
		st = pm_onnx_materialize(run->cut || !pm_str_ends(path, ".onnx") ? NULL : path, g, model.s,
					 NULL, NULL, err);
	pm_str_release(&model);
	return st;
}

static PmStatus run_model(const char *path, const Run *run, int *agrees, PmErr *err)
{
	PmRunOpts o = { .device = run->device,
			.deadline = run->deadline,
			.poison = 0x7fc1d00d,
			.profile = run->profile };
	PmRunResult r = { 0 }, ref = { 0 };
	PmAgreement *agree = NULL;
	PmTensor *in = NULL;
	PmGraph *g = NULL;
	size_t n = 0;
	static PmOnnxReport report; /* large */
	PmStatus st = pm_cli_load(path, &g, &report, err);

	if (!st)
		pm_cli_libraries(run->device, run->tf32);
	if (!st && run->cut)
		st = cut_model(&g, run->cut, path, err);
	if (!st && run->plan)
		st = print_plan(g, err);
	if (!st && run->roles)
		print_roles(g);
	if (!st) {
		pm_cli_say_weights(path, &report.weights);
		n = pm_graph_n_inputs(g);
		in = pm_xcalloc(n + 1, sizeof *in);
		st = run->from ? pm_testdata_read_inputs(run->from, g, in, err)
			       : pm_inputs_of_model(g, (uint64_t)run->seed, in, err);
	}
	if (!st)
		st = pm_run_graph(g, in, n, &o, &r, err);
	if (!st && run->save)
		st = save(path, g, run, in, r.out, err);
	if (!st && run->against) {
		o.device = run->against;
		st = pm_run_graph(g, in, n, &o, &ref, err);
		agree = pm_xcalloc(r.n_out + 1, sizeof *agree);
		if (!st)
			st = pm_agree(g, in, r.out, ref.out, r.n_out, (uint64_t)run->seed, agree, err);
	}
	if (!st) {
		cJSON *j = pm_cli_json ? cJSON_CreateObject() : NULL;

		if (j) {
			cJSON_AddStringToObject(j, "file", path);
			cJSON_AddStringToObject(j, "device", run->device);
			pm_json_add_i64(j, "seed", run->seed);
			cJSON_AddItemToObject(j, "weights", pm_cli_weights_json(&report.weights));
		}
		*agrees = report_outputs(g, &r, agree, run, j ? cJSON_AddArrayToObject(j, "outputs") : NULL);
		print_stats(&r, run, j);
		if (j)
			pm_cli_put_json(j);
	}
	pm_tensors_release(in, n);
	free(in);
	free(agree);
	pm_run_result_release(&r);
	pm_run_result_release(&ref);
	pm_graph_free(g);
	return st;
}

int pm_cmd_run(const PmCmd *cmd, int argc, char **argv)
{
	Run run = { .device = "emu", .seed = 1, .deadline = 600 };
	const PmOpt opts[] = {
		{ "--device", PM_OPT_ANY_DEVICE, &run.device,
		  "ref (double precision), emu (kernels on this CPU) or cuda" },
		{ "--compare", PM_OPT_ANY_DEVICE, &run.against,
		  "run on this device too (ref, emu or cuda) and compare the outputs" },
		{ "--seed", PM_OPT_INT, &run.seed, "seed of the inputs (default 1)" },
		{ "--deadline", PM_OPT_NUM, &run.deadline, "seconds a device worker may take (default 600)" },
		PM_OPT_TARGET_ROW(&run.profile),
		{ "--cut", PM_OPT_COUNT, &run.cut,
		  "run only the largest connected part of at most N megaflops" },
		{ "--inputs", PM_OPT_STR, &run.from,
		  "read the inputs from this folder's input_K.pb (serialised tensors) instead" },
		{ "--save", PM_OPT_STR, &run.save,
		  "write inputs and outputs to DIR/test_data_set_0, the (cut) model to DIR/model.onnx" },
		{ "--roles", PM_OPT_FLAG, &run.roles,
		  "print each input's type and what it is drawn as to stderr" },
		{ "--tf32", PM_OPT_FLAG, &run.tf32, "cuda: let libraries use TF32 for float" },
		{ "--plan", PM_OPT_FLAG, &run.plan, "print the launches to stderr first" },
		{ 0 },
	};
	PmStrList files = { 0 };
	PmErr err;
	int code = 0, agrees = 1;

	pm_err_init(&err);
	if (pm_args_parse(cmd, opts, argc, argv, &files, &code)) {
		if (files.list.n != 1)
			code = pm_cli_usage(cmd, "run takes one model.");
		else if (run.cut > MOST_MFLOP)
			code = pm_cli_usage(cmd, "--cut takes a number up to %d.", MOST_MFLOP);
		else if (run_model(files.list.v[0], &run, &agrees, &err))
			code = pm_cli_fail(&err);
		else
			code = agrees ? 0 : 1;
	}
	PM_VEC_RELEASE(&files.list);
	return code;
}
