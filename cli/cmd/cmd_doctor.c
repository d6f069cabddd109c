/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_doctor.c - passmith doctor: what this machine has, and the table of operators as a page. */
#include "cli/cmds.h"
#include "cli/targets.h"

#include "app/profile/hardware.h"
#include "base/sandbox/sandbox.h"
#include "base/sys/io.h"
#include "matcher/host/verdict.h"
#include "runtime/device/probe.h"
#include "runtime/exec/exec.h"
#include "runtime/gpus/target.h"
#include "runtime/worker/worker.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void put_attr(const PmAttrDesc *a)
{
	printf(" `%s", a->name);
	if (!a->has_default)
		printf("`");
	else if (a->kind == PM_ATTR_INT)
		printf(" = %lld`", (long long)a->i);
	else if (a->kind == PM_ATTR_FLOAT)
		printf(" = %g`", a->f);
	else if (a->kind == PM_ATTR_STRING)
		printf(" = \"%s\"`", a->s);
	else
		printf(" = []`");
}

static void put_count(int lo, int hi)
{
	if (hi < 0)
		printf("%d..", lo);
	else if (lo == hi)
		printf("%d", lo);
	else
		printf("%d..%d", lo, hi);
}

static void put_kind(uint32_t f)
{
	static const struct {
		uint32_t flag;
		const char *name;
	} kinds[] = { { PM_OPF_EW, "element-wise" },     { PM_OPF_COMM, "commutative" },
		      { PM_OPF_FOLD, "variadic" },       { PM_OPF_RED, "reduction" },
		      { PM_OPF_VIEW, "view" },           { PM_OPF_MOVE, "moves" },
		      { PM_OPF_DOT, "contraction" },     { PM_OPF_NORM, "normalisation" },
		      { PM_OPF_POOL, "pooling" },        { PM_OPF_SHAPE, "shape only" },
		      { PM_OPF_DATA, "data-dependent" }, { PM_OPF_RANDOM, "random" },
		      { PM_OPF_OPAQUE, "opaque" },       { PM_OPF_KERNEL, "fused kernel" } };
	const char *sep = "";

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (f & kinds[i].flag) {
			printf("%s%s", sep, kinds[i].name);
			sep = ", ";
		}
}

static int ops_markdown(void)
{
	static const char *const classes[] = { "float", "float, int", "bool", "any", "int" };

	printf("# Operators\n\nGenerated from `ir/core/ops.def` by `make gen`; the normal form is described "
	       "there. Attributes "
	       "without a value must be\npresent. \"ref\" is the reference function, \"expression\" what "
	       "element-wise "
	       "kernels are made from.\n\n"
	       "| operator | operands | results | kind | element types | attributes | ref | kernel | "
	       "expression |\n"
	       "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
	for (int op = PM_OP_NONE + 1; op < PM_N_OPS; op++) {
		const PmOpDesc *d = pm_op_desc((PmOp)op);

		printf("| %s | ", d->name);
		put_count(d->in_min, d->in_max);
		printf(" | ");
		put_count(d->out_min, d->out_max);
		printf(" | ");
		put_kind(d->flags);
		printf(" | %s |", classes[d->types]);
		for (int k = 0; k < d->n_attrs; k++)
			put_attr(&d->attrs[k]);
		printf(" | %s | %s | ", d->ref, pm_plan_has_kernel((PmOp)op) ? "yes" : "no");
		for (const char *e = d->expr ? d->expr : d->iexpr; e && *e; e++)
			printf(*e == '|' ? "\\|" : "%c", *e);
		printf(" |\n");
	}
	printf("\n## What else to know\n\n"
	       "Operands beyond the least number may be left out. [Writing passes]"
	       "(../guide/writing-passes.md#operands-that-are-left-out) says how a pattern asks for that.\n\n"
	       "| operator | notes |\n| --- | --- |\n");
	for (int op = PM_OP_NONE + 1; op < PM_N_OPS; op++)
		if (pm_op_note((PmOp)op))
			printf("| %s | %s |\n", pm_op_desc((PmOp)op)->name, pm_op_note((PmOp)op));
	return 0;
}

/* One row for each verdict: tools/gen/gen-verdicts.sh puts them into docs/reference/verdicts.md. */
static int verdicts_markdown(void)
{
	for (int v = 0; v < PM_N_VERDICTS; v++)
		printf("| `%s` | %s | %s | `%s` |\n", pm_verdict_name((PmVerdict)v),
		       pm_verdict_meaning((PmVerdict)v), pm_verdict_advice((PmVerdict)v),
		       pm_verdict_score_status((PmVerdict)v));
	return 0;
}

/* The layers of a sandbox; a machine without all of them still works, and says so. */
static void put_sandbox(cJSON *j, const char *name, PmStatus (*probe)(unsigned *, PmErr *))
{
	PmStr have = PM_STR_INIT, lack = PM_STR_INIT, key = PM_STR_INIT;
	unsigned layers = 0;

	if (probe(&layers, NULL))
		layers = 0;
	pm_sandbox_names(layers, &have);
	pm_sandbox_names(PM_BOX_ALL & ~layers, &lack);
	if (j) {
		cJSON_AddStringToObject(j, name, have.s);
		pm_str_addf(&key, "%s_lacks", name);
		cJSON_AddStringToObject(j, key.s, layers == PM_BOX_ALL ? "" : lack.s);
	} else {
		printf("%-3s %-13s %s%s%s\n", layers == PM_BOX_ALL ? "yes" : "no", name, have.s,
		       layers == PM_BOX_ALL ? "" : "; this kernel lacks: ",
		       layers == PM_BOX_ALL ? "" : lack.s);
	}
	pm_str_release(&have);
	pm_str_release(&lack);
	pm_str_release(&key);
}

/* For passes, and for kernels on the emulated device. */
static void put_sandboxes(cJSON *j)
{
	put_sandbox(j, "sandbox", pm_sandbox_probe);
	put_sandbox(j, "emu_sandbox", pm_sandbox_probe_kernels);
}

/* Where compiled kernels are kept; it has to take new ones. */
static int cache_usable(PmStr *cache)
{
	return !pm_cache_dir(cache, NULL) && access(cache->s, W_OK | X_OK) == 0;
}

/* The numbers of a target that a table has; NULL: most of them would be guesses. */
static const PmProfile *described(const PmTarget *t)
{
	const PmTarget *row = NULL;

	for (size_t i = 0; t && (row = pm_target_at(i)) && row != t;)
		i++;
	return row ? pm_profile_of(row) : NULL;
}

/* The GPU that is there, or the one that times are modelled for. */
static void put_hardware(cJSON *j)
{
	const PmProfile *p = pm_profile(NULL);
	PmDeviceInfo info;
	int there = !pm_worker_look("cuda", &info, NULL);
	PmStr words = PM_STR_INIT;
	cJSON *of = j ? cJSON_AddObjectToObject(j, "hardware") : NULL;

	if (there)
		p = described(pm_target_here());
	pm_profile_hardware(there ? &info : NULL, p, &words, of);
	if (j) {
		cJSON_AddBoolToObject(of, "present", there);
		cJSON_AddStringToObject(of, "words", words.s);
	} else {
		printf("\n%s %s\n", there ? "Times are measured on:" : "Times are modelled for:", words.s);
	}
	pm_str_release(&words);
}

static int doctor(void)
{
	PmFound p[PM_MAX_PROBES];
	int n = pm_probe_all(p), usable = 1;
	PmStr root = PM_STR_INIT, cache = PM_STR_INIT;
	cJSON *j = pm_cli_json ? cJSON_CreateObject() : NULL,
	      *list = j ? cJSON_AddArrayToObject(j, "found") : NULL;
	int has_root = !pm_root_dir(&root, NULL), has_cache = cache_usable(&cache);

	for (int i = 0; i < n; i++) {
		if (j) {
			cJSON *e = cJSON_CreateObject();

			cJSON_AddStringToObject(e, "what", p[i].what);
			cJSON_AddStringToObject(e, "needed_for", p[i].needed_for);
			cJSON_AddBoolToObject(e, "found", p[i].found);
			cJSON_AddStringToObject(e, "detail", p[i].detail);
			cJSON_AddItemToArray(list, e);
		} else {
			printf("%-3s %-13s %s%s%s%s\n", p[i].found ? "yes" : "no", p[i].what, p[i].detail,
			       p[i].found ? "" : " (for ", p[i].found ? "" : p[i].needed_for,
			       p[i].found ? "" : ")");
		}
		usable = usable && (p[i].found || i > 1);
	}
	if (j) {
		put_sandboxes(j);
		put_hardware(j);
		cJSON_AddStringToObject(j, "root", root.s);
		cJSON_AddStringToObject(j, "cache", cache.s);
		cJSON_AddBoolToObject(j, "usable", usable && has_root && has_cache);
		pm_cli_put_json(j);
	} else {
		printf("%-3s %-13s %s\n", has_root ? "yes" : "no", "SDK",
		       has_root ? root.s : "set PASSMITH_ROOT");
		printf("%-3s %-13s %s\n", has_cache ? "yes" : "no", "cache",
		       has_cache ? cache.s : "set PASSMITH_CACHE to a folder that you may write to");
		put_sandboxes(NULL);
		put_hardware(NULL);
		printf("\n%s\n",
		       !usable ? "Install the compilers named above, then run passmith doctor again."
		       : has_root && has_cache
			       ? "Everything without a GPU works here."
			       : "Set the variables named above, then run passmith doctor again.");
	}
	pm_str_release(&root);
	pm_str_release(&cache);
	return usable && has_root && has_cache ? 0 : 3;
}

int pm_cmd_doctor(const PmCmd *cmd, int argc, char **argv)
{
	int ops = 0, verdicts = 0, targets = 0, page = 0;
	const PmOpt opts[] = {
		{ "--ops-markdown", PM_OPT_FLAG, &ops, "print the operator table as Markdown instead" },
		{ "--verdicts-markdown", PM_OPT_FLAG, &verdicts,
		  "print the rows of verdicts as Markdown instead" },
		{ "--targets", PM_OPT_FLAG, &targets,
		  "print the GPUs that rewrites can be made for instead; with --json all that is known of "
		  "them" },
		{ "--targets-markdown", PM_OPT_FLAG, &page, "print docs/reference/targets.md instead" },
		{ 0 },
	};
	PmStrList files = { 0 };
	int code = 0;

	if (pm_args_parse(cmd, opts, argc, argv, &files, &code)) {
		if (files.list.n)
			code = pm_cli_usage(cmd, "doctor takes no arguments.");
		else if (ops + verdicts + targets + page > 1)
			code = pm_cli_usage(cmd, "One table at a time: --ops-markdown, --verdicts-markdown, "
						 "--targets or --targets-markdown.");
		else if ((ops || verdicts || page) && pm_cli_json)
			code = pm_cli_usage(cmd, "The %s is Markdown; leave out --json.",
					    ops        ? "operator table"
					    : verdicts ? "table of verdicts"
						       : "page of targets");
		else if (page)
			pm_cli_targets_markdown();
		else if (targets && pm_cli_json)
			pm_cli_put_json(pm_cli_targets_json());
		else if (targets)
			pm_cli_targets_text();
		else
			code = ops ? ops_markdown() : verdicts ? verdicts_markdown() : doctor();
	}
	PM_VEC_RELEASE(&files.list);
	return code;
}
