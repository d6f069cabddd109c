/* SPDX-License-Identifier: Apache-2.0 */
/* args.c - command lines. */
#include "cli/args.h"

#include "app/model/model_file.h"
#include "base/core/renamed.h"
#include "base/core/str.h"
#include "base/sys/io.h"
#include "runtime/device/device.h"
#include "runtime/gpus/target.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int pm_cli_quiet;

static const PmOpt common[] = {
	{ "--json", PM_OPT_FLAG, &pm_cli_json, "results as JSON on stdout" },
	{ "--quiet", PM_OPT_FLAG, &pm_cli_quiet, "no progress, only errors on stderr" },
	{ "--types", PM_OPT_TYPES, &pm_model_types_infer,
	  "of values whose stated type an ONNX model contradicts: stated refuses (default), infer drops it" },
	{ 0 },
};

static void help_options(const PmOpt *o, PmStr *out)
{
	for (; o && o->name; o++) {
		static const char *const value[] = {
			[PM_OPT_FLAG] = "",
			[PM_OPT_INT] = " N",
			[PM_OPT_COUNT] = " N",
			[PM_OPT_NUM] = " X",
		};
		const char *v = o->kind < sizeof value / sizeof *value ? value[o->kind] : NULL;
		char left[64];

		snprintf(left, sizeof left, "%s%s", o->name, v ? v : " TEXT");
		pm_str_addf(out, "  %-22s %s\n", left, o->help);
	}
}

static void help_old_names(const PmCmd *cmd, PmStr *out)
{
	const char *sep = "\n";

	for (size_t k = 0; pm_renamed(k); k++)
		if (pm_renamed(k)->command && !strcmp(pm_renamed(k)->command, cmd->name)) {
			pm_str_addf(out, "%sold name: %s is %s, and works until version %s\n", sep,
				    pm_renamed(k)->old, pm_renamed(k)->now, pm_renamed(k)->version);
			sep = "";
		}
}

static void print_help(const PmCmd *cmd, const PmOpt *opts)
{
	PmStr text = PM_STR_INIT;

	pm_str_addf(&text, "passmith %s %s\n\n%s.\n\noptions:\n", cmd->name, cmd->args, cmd->summary);
	help_options(opts, &text);
	help_options(common, &text);
	help_old_names(cmd, &text);
	pm_str_addf(&text, "\nexample:\n  %s\n", cmd->example);
	if (!pm_cli_json)
		fputs(text.s, stdout);
	pm_cli_put_text("help", text.s);
	pm_str_release(&text);
}

PmStatus pm_cli_pass_is_there(const char *so, PmErr *err)
{
	size_t n = strlen(so);

	if (!pm_path_exists(so))
		return pm_err(err, PM_E_NOT_FOUND,
			      "There is no pass '%s'; build one with passmith build PASS.c.", so);
	if (pm_str_ends(so, ".c"))
		return pm_err(
			err, PM_E_INVALID,
			"'%s' is the source of a pass; run passmith build %s, and give the file %.*s.so "
			"that it makes.",
			so, so, (int)(n - 2), so);
	return PM_OK;
}

int pm_cli_usage(const PmCmd *cmd, const char *fmt, ...)
{
	char text[PM_ERR_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	pm_cli_stage("arguments");
	pm_cli_complain("%s See passmith %s --help.", text, cmd->name);
	return 2;
}

static const PmOpt *find(const PmOpt *opts, const char *arg, size_t n)
{
	for (; opts && opts->name; opts++)
		if (strlen(opts->name) == n && !strncmp(opts->name, arg, n))
			return opts;
	return NULL;
}

/* The option that an old name of it stands for, with a sentence about that; NULL for no such name. */
static const PmOpt *find_old(const PmCmd *cmd, const PmOpt *opts, const char *arg, size_t n)
{
	const PmRenamed *r = pm_renamed_option(cmd->name, arg, n);

	if (!r)
		return NULL;
	fprintf(stderr, "passmith: Option '%s' is called '%s' now; version %s drops the old name.\n", r->old,
		r->now, r->version);
	return find(opts, r->now, strlen(r->now));
}

/* Stores one value; 0 when it is not of the option's kind. */
static int store(const PmOpt *o, const char *value)
{
	PmStrList *list = o->to;

	switch (o->kind) {
	case PM_OPT_FLAG:
		*(int *)o->to = 1;
		return 1;
	case PM_OPT_STR:
		*(const char **)o->to = value;
		return 1;
	case PM_OPT_INT:
		return pm_parse_i64(value, o->to);
	case PM_OPT_COUNT:
		return pm_parse_i64(value, o->to) && *(int64_t *)o->to >= 0;
	case PM_OPT_NUM:
		return pm_parse_f64(value, o->to) && *(double *)o->to >= 0;
	case PM_OPT_LIST:
		PM_VEC_PUSH(&list->list, value);
		return 1;
	case PM_OPT_DEVICE:
	case PM_OPT_ANY_DEVICE:
		*(const char **)o->to = value;
		return pm_device_is_known(value) ||
		       (o->kind == PM_OPT_ANY_DEVICE && pm_device_kind(value) == PM_DEVICE_REF);
	case PM_OPT_TARGET:
		if (pm_target_choose(value, NULL, NULL))
			return 0;
		if (o->to)
			*(const char **)o->to = pm_target_now()->name;
		return 1;
	case PM_OPT_TYPES:
		*(int *)o->to = !strcmp(value, "infer");
		return *(int *)o->to || !strcmp(value, "stated");
	}
	return 0;
}

static int wrong_value(const PmCmd *cmd, const PmOpt *o, const char *value)
{
	PmErr err;

	switch (o->kind) {
	case PM_OPT_DEVICE:
		return pm_cli_usage(cmd, "There is no device '%.60s' that runs kernels; name emu or cuda.",
				    value);
	case PM_OPT_ANY_DEVICE:
		return pm_cli_usage(cmd, "There is no device '%.60s'; name ref, emu or cuda.", value);
	case PM_OPT_TARGET:
		pm_err_init(&err);
		if (pm_target_choose(value, NULL, &err) == PM_E_ENV)
			return pm_cli_fail(&err);
		return pm_cli_usage(cmd, "%s", err.text);
	case PM_OPT_TYPES:
		return pm_cli_usage(cmd, "Option '%s' takes stated or infer, not '%.60s'.", o->name, value);
	case PM_OPT_COUNT:
		return pm_cli_usage(cmd, "Option '%s' needs a whole number from 0, not '%.60s'.", o->name,
				    value);
	case PM_OPT_NUM:
		return pm_cli_usage(cmd, "Option '%s' needs a number from 0, not '%.60s'.", o->name, value);
	default:
		return pm_cli_usage(cmd, "Option '%s' needs a number, not '%.60s'.", o->name, value);
	}
}

/* Of a command that rewrites without a named target, on a device: the target is what that device is, and with
 * --gpus what those are. */
static void settle_target(const PmOpt *opts, int targeted)
{
	static const char target[] = "--target", device[] = "--device", gpus[] = "--gpus";
	const PmOpt *d = find(opts, device, sizeof device - 1), *g = find(opts, gpus, sizeof gpus - 1);

	if (targeted || !d || !find(opts, target, sizeof target - 1))
		return;
	if (g && *(const char **)g->to)
		pm_target_choose_gpus(*(const char **)g->to);
	else
		pm_target_choose(NULL, *(const char **)d->to, NULL);
}

int pm_args_parse(const PmCmd *cmd, const PmOpt *opts, int argc, char **argv, PmStrList *positional,
		  int *exit_code)
{
	int only_positional = 0, targeted = 0;

	for (int i = 0; i < argc; i++) {
		const char *a = argv[i], *eq = strchr(a, '='), *value;
		size_t n = eq && a[1] == '-' ? (size_t)(eq - a) : strlen(a);
		const PmOpt *o;

		if (only_positional || a[0] != '-' || !a[1]) {
			PM_VEC_PUSH(&positional->list, a);
			continue;
		}
		if (!strcmp(a, "--")) {
			only_positional = 1;
			continue;
		}
		if (!strcmp(a, "--help") || !strcmp(a, "-h")) {
			print_help(cmd, opts);
			*exit_code = 0;
			return 0;
		}
		o = find(opts, a, n);
		if (!o)
			o = find(common, a, n);
		if (!o)
			o = find_old(cmd, opts, a, n);
		if (!o) {
			*exit_code = pm_cli_usage(cmd, "There is no option '%.60s'.", a);
			return 0;
		}
		value = n < strlen(a) ? eq + 1 : NULL;
		if (o->kind == PM_OPT_FLAG && value) {
			*exit_code = pm_cli_usage(cmd, "Option '%s' takes no value, so '%.60s' says nothing.",
						  o->name, a);
			return 0;
		}
		if (o->kind != PM_OPT_FLAG && !value) {
			/* A value that begins like an option is written with an equals sign. */
			if (i + 1 == argc || (!strncmp(argv[i + 1], "--", 2) && argv[i + 1][2])) {
				*exit_code = pm_cli_usage(cmd, "Option '%s' needs a value.", o->name);
				return 0;
			}
			value = argv[++i];
		}
		targeted |= o->kind == PM_OPT_TARGET;
		if (!store(o, value)) {
			*exit_code = wrong_value(cmd, o, value);
			return 0;
		}
	}
	settle_target(opts, targeted);
	pm_cli_stage("reading");
	return 1;
}

char *pm_args_words(const char *text, PmStrList *out)
{
	char *own = pm_xstrdup(text ? text : ""), *save = NULL;

	for (char *w = strtok_r(own, ",", &save); w; w = strtok_r(NULL, ",", &save))
		PM_VEC_PUSH(&out->list, w);
	return own;
}
