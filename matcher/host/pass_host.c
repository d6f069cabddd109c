/* SPDX-License-Identifier: Apache-2.0 */
/* pass_host.c - starting the child, and judging how it ended and what it answered. */
#include "matcher/host/pass_host.h"

#include "base/sandbox/sandbox.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"
#include "ir/infer/infer.h"
#include "ir/text/text.h"
#include "matcher/host/pass_job.h"
#include "matcher/rewrite/same.h"
#include "matcher/rewrite/session.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_OUTPUT = 64 << 10,  /* bytes kept of what a plugin wrote */
	MAX_FILES = 64,         /* descriptors of the child, until its sandbox closes all but two */
	OVERHEAD = 256 << 20,   /* bytes that the program itself and the place for the plugin map */
	MAX_PROBLEMS = 64 << 10 /* bytes kept of lint's lines */
};

static const double default_seconds = 10;
static const int64_t default_memory = (int64_t)1 << 30;

static void verdict(PmPassOutcome *out, PmVerdict v, const char *fmt, ...) PM_PRINTF(3, 4);
static void verdict(PmPassOutcome *out, PmVerdict v, const char *fmt, ...)
{
	char raw[PM_ERR_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(raw, sizeof raw, fmt, ap);
	va_end(ap);
	out->verdict = v;
	pm_clean(raw, out->message, sizeof out->message, 0);
}

/* ---- how the child ended ---- */

/* 1 when it came back by itself, so that there may be an answer. It had so many `seconds`. */
static int came_back(const PmProcResult *r, double seconds, PmPassOutcome *out)
{
	PmStr how = PM_STR_INIT;
	int ok = 0;

	pm_proc_describe(r, &how);
	if (r->end == PM_PROC_TIMEOUT)
		verdict(out, PM_VERDICT_PASS_TIMEOUT, "The pass did not come back within %.3g seconds.",
			seconds);
	else if (r->end == PM_PROC_TOO_MUCH)
		verdict(out, PM_VERDICT_REJECT_API, "The pass wrote more output than is accepted.");
	else if (r->end == PM_PROC_SIGNALED && r->code == SIGSYS)
		verdict(out, PM_VERDICT_SANDBOX_KILL,
			"The pass %s: it made a system call that its sandbox forbids.", how.s);
	else if (r->end == PM_PROC_SIGNALED)
		verdict(out, PM_VERDICT_PASS_CRASH, "The pass %s.", how.s);
	else if (r->code == PM__CHILD_SANDBOX)
		verdict(out, PM_VERDICT_SANDBOX_KILL, "The pass %s",
			r->errtext.len ? r->errtext.s : "was stopped.");
	else if (r->code != 0 || !r->out.len)
		verdict(out, PM_VERDICT_PASS_CRASH,
			"The pass ended its process (status %d) before it answered.", r->code);
	else
		ok = 1;
	pm_str_release(&how);
	return ok;
}

/* Removes what the child writes first, when its sandbox holds; 1 when it was there. */
static int take_boxed(PmStr *s)
{
	size_t n = strlen(PM__CHILD_BOXED);

	if (s->len < n || memcmp(s->s, PM__CHILD_BOXED, n) != 0)
		return 0;
	memmove(s->s, s->s + n, s->len - n + 1);
	s->len -= n;
	return 1;
}

/* ---- what it answered ---- */

typedef struct Reply {
	cJSON *json;
	const char *graph;
	size_t graph_len;
	size_t original; /* bytes of text that was sent */
	int apart;       /* the graph names its sources, which are `sources` */
	PmTextSources sources;
} Reply;

/* Bytes of graph text and sources that an answer about a graph of so many may have. */
static int64_t max_graph(size_t original)
{
	return PM_LIMIT_REPLY_GRAPH + PM_LIMIT_REPLY_TIMES * (int64_t)original;
}

/* "<bytes>\n" and the bytes, again and again. */
static PmStatus split_sources(const char *s, size_t n, PmTextSources *out, PmErr *err)
{
	while (n) {
		const char *nl = memchr(s, '\n', n < 20 ? n : 20);
		size_t digits = nl ? (size_t)(nl - s) : 0, len = 0;

		for (size_t i = 0; i < digits; i++)
			len = s[i] < '0' || s[i] > '9' ? SIZE_MAX
			      : len < SIZE_MAX / 16    ? len * 10 + (size_t)(s[i] - '0')
						       : len;
		if (!digits || len > n - digits - 1)
			return pm_err(err, PM_E_INVALID,
				      "Source %zu of the answer of the pass process has another length than "
				      "it says.",
				      out->s.n);
		PM_VEC_PUSH(&out->s, nl + 1);
		PM_VEC_PUSH(&out->n, len);
		s = nl + 1 + len;
		n -= digits + 1 + len;
	}
	return PM_OK;
}

static PmStatus split_reply(const PmStr *s, Reply *r, PmErr *err)
{
	size_t head = strlen(PM__ANSWER_MAGIC), json_len = 0, at;
	int64_t most = max_graph(r->original);
	const char *nl = memchr(s->s, '\n', s->len < 80 ? s->len : 80);
	unsigned long long a, b, c = 0;
	char line[96], tail;
	int end = 0;
	PmStatus st;

	if (!nl || s->len < head || memcmp(s->s, PM__ANSWER_MAGIC, head))
		return pm_err(err, PM_E_INVALID,
			      "The answer of the pass process does not begin as it should.");
	snprintf(line, sizeof line, "%.*s", (int)(nl - s->s), s->s);
	if (sscanf(line + head, " %llu %llu%n", &a, &b, &end) != 2 ||
	    (line[head + (size_t)end] && sscanf(line + head + end, " %llu%c", &c, &tail) != 1))
		return pm_err(err, PM_E_INVALID,
			      "The answer of the pass process has a malformed first line.");
	at = (size_t)(nl - s->s) + 1;
	if (a > s->len - at || b > s->len - at - a || c != s->len - at - a - b)
		return pm_err(err, PM_E_INVALID,
			      "The answer of the pass process has another length than it says.");
	if (a > PM_LIMIT_REPLY_JSON)
		return pm_err(
			err, PM_E_LIMIT,
			"The answer of the pass process has %llu bytes beside the graph; at most %d are "
			"read.",
			a, (int)PM_LIMIT_REPLY_JSON);
	if (b + c > (unsigned long long)most)
		return pm_err(
			err, PM_E_LIMIT,
			"The answer of the pass process has %llu bytes of graph; at most %lld are read.",
			b + c, (long long)most);
	json_len = (size_t)a;
	r->graph = s->s + at + json_len;
	r->graph_len = (size_t)b;
	r->apart = line[head + (size_t)end] != 0;
	st = split_sources(r->graph + b, (size_t)c, &r->sources, err);
	return st ? st : pm_json_parse(s->s + at, json_len, &r->json, err);
}

/* The header was left out of the text: metadata are the original's, as they were. */
static PmStatus copy_meta(const PmGraph *from, PmGraph *to, PmErr *err)
{
	PmStatus st = pm_graph_set_name(to, pm_graph_name(from), err);

	for (size_t i = 0; i < pm_graph_n_meta(from) && !st; i++) {
		const char *key, *value;

		pm_graph_meta_at(from, i, &key, &value);
		st = pm_graph_set_meta(to, key, value, err);
	}
	return st;
}

static int64_t count_kernels(const PmGraph *g)
{
	int64_t n = 0;

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++)
		n += pm_node_op(g, pm_graph_node_at(g, i)) == PM_OP_Kernel;
	return n;
}

/* What the graph of an answer may take when it is read. */
static size_t max_memory(size_t original)
{
	return PM_LIMIT_REPLY_MEMORY + PM_LIMIT_REPLY_SHARE * original;
}

/* Kernels and their launches, before anything of them is copied. */
static PmStatus check_kernels(const PmGraph *g, PmErr *err)
{
	int64_t kernels = 0, launches = 0;

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode n = pm_graph_node_at(g, i);

		if (pm_node_op(g, n) != PM_OP_Kernel)
			continue;
		kernels++;
		for (size_t k = 0; k < pm_node_n_attrs(g, n); k++) {
			const PmAttr *a = pm_node_attr_at(g, n, k);

			launches += a->kind == PM_ATTR_STRINGS ? (int64_t)a->n : 0;
		}
	}
	if (kernels <= PM_LIMIT_KERNELS && launches <= PM_LIMIT_LAUNCHES)
		return PM_OK;
	return pm_err(err, PM_E_LIMIT,
		      "It has %lld kernels with %lld launches, those of all alternatives together; at most "
		      "%d and %d are "
		      "read. Fuse more into one kernel, or offer fewer alternatives.",
		      (long long)kernels, (long long)launches, (int)PM_LIMIT_KERNELS, (int)PM_LIMIT_LAUNCHES);
}

/* Each time a rule applies, one fused node is made: what applied is counted here, not believed. */
static void accept_graph(const Reply *r, const PmGraph *in, PmPassOutcome *out)
{
	PmGraph *g = NULL;
	int64_t fused;
	PmErr err;

	pm_err_init(&err);
	if (pm_graph_parse_within(r->graph, r->graph_len, max_memory(r->original), &g, &err) ||
	    check_kernels(g, &err) || (r->apart && pm_graph_bind_sources(g, &r->sources, &err))) {
		verdict(out, PM_VERDICT_REJECT_API, "The pass returned a graph that cannot be read. %s",
			err.text);
	} else if (pm_graph_bind_consts(g, in, &err) || copy_meta(in, g, &err) ||
		   pm_rewrite_check(in, g, &err)) {
		verdict(out, PM_VERDICT_REJECT_MATCH, "%s", err.text);
	} else if ((fused = count_kernels(g) - count_kernels(in)) <= 0) {
		verdict(out, PM_VERDICT_NO_MATCH, "The pass returned the graph without a new fused node.");
	} else if (out->applied != fused) {
		verdict(out, PM_VERDICT_REJECT_API,
			"The answer of the pass process says that rules applied %lld times, and its graph "
			"has %lld new "
			"fused nodes.",
			(long long)out->applied, (long long)fused);
	} else {
		verdict(out, PM_VERDICT_OK, "%s", "");
		out->graph = g;
		return;
	}
	pm_graph_free(g);
	out->applied = 0;
}

/* A rule that matched and declined has said what is missing. */
static void none_applied(PmPassOutcome *out)
{
	static const char none[] = "No rule of the pass applied to the graph.";
	const char *rule = "", *why = "", *node = "";
	int64_t n = pm_pass_outcome_declined(out, &rule, &why, &node);

	if (n)
		verdict(out, PM_VERDICT_NO_MATCH, "%s Rule '%s' declined %s%s: %s%s", none, rule, node,
			n > 1 ? " and others" : "", why, why[strlen(why) - 1] == '.' ? "" : ".");
	else
		verdict(out, PM_VERDICT_NO_MATCH, "%s", none);
}

static void judge(const Reply *r, const PmGraph *in, PmPassOutcome *out)
{
	const char *end = pm_json_str(r->json, "end", ""), *message = pm_json_str(r->json, "message", "");
	const char *problems = pm_json_str(r->json, "problems", "");
	PmErr why;

	pm_err_init(&why);
	pm_clean(pm_json_str(r->json, "plugin", ""), out->plugin, sizeof out->plugin, 0);
	pm_clean(pm_json_str(r->json, "version", ""), out->version, sizeof out->version, 0);
	out->applied = pm_json_i64(r->json, "applied", 0);
	if (out->applied < 0)
		out->applied = 0;
	out->sweeps = (int)(pm_json_i64(r->json, "sweeps", 0) & 0xff);
	free(out->problems);
	out->problems = pm_xcalloc(MAX_PROBLEMS, 1);
	pm_clean(problems, out->problems, MAX_PROBLEMS, 1);
	out->expected = pm__expected_from_json(cJSON_GetObjectItemCaseSensitive(r->json, "expected"));
	if (pm__rules_from_json(cJSON_GetObjectItemCaseSensitive(r->json, "rules"), out, &why) ||
	    pm__reports_from_json(cJSON_GetObjectItemCaseSensitive(r->json, "reports"), out, &why))
		verdict(out, PM_VERDICT_REJECT_API, "%s", why.text);
	else if (!strcmp(end, "applied") && in)
		accept_graph(r, in, out);
	else if (!strcmp(end, "loaded") && !in)
		verdict(out, PM_VERDICT_OK, "%s", "");
	else if (!strcmp(end, "none"))
		none_applied(out);
	else if (!strcmp(end, "REJECT_ABI"))
		verdict(out, PM_VERDICT_REJECT_ABI, "%s",
			*message ? message : pm_verdict_meaning(PM_VERDICT_REJECT_ABI));
	else if (!strcmp(end, "REJECT_ELF"))
		verdict(out, PM_VERDICT_REJECT_ELF, "%s",
			*message ? message : pm_verdict_meaning(PM_VERDICT_REJECT_ELF));
	else if (!strcmp(end, "REJECT_LINT"))
		verdict(out, PM_VERDICT_REJECT_LINT, "%s",
			*message ? message : pm_verdict_meaning(PM_VERDICT_REJECT_LINT));
	else
		verdict(out, PM_VERDICT_REJECT_API, "%s",
			*message ? message : "The answer of the pass process has no end.");
}

void pm__judge_answer(const PmStr *answer, const PmGraph *in, size_t in_len, PmPassOutcome *out)
{
	Reply reply = { .original = in_len };
	PmErr why;

	pm_err_init(&why);
	if (split_reply(answer, &reply, &why))
		verdict(out, PM_VERDICT_REJECT_API, "%s", why.text);
	else
		judge(&reply, in, out);
	pm_text_sources_release(&reply.sources);
	cJSON_Delete(reply.json);
}

/* The program that runs passes: beside this one, or above it (tests lie in folders below), or in
 * $PASSMITH_BUILD. */
static PmStatus find_program(PmStr *out, PmErr *err)
{
	static const char name[] = "passmith-host";
	const char *build = getenv("PASSMITH_BUILD");
	PmStr dir = PM_STR_INIT, up = PM_STR_INIT;
	PmStatus st = PM_OK;
	char *whole;

	if (build && *build)
		pm_path_join(build, name, out);
	if (!out->len || !pm_path_exists(out->s))
		st = pm_self_dir(&dir, err);
	for (int level = 0; level < 3 && !st && dir.len && !(out->len && pm_path_exists(out->s)); level++) {
		pm_str_clear(out);
		pm_path_join(dir.s, name, out);
		pm_str_clear(&up);
		pm_path_dir(dir.s, &up);
		pm_str_clear(&dir);
		pm_str_add(&dir, up.s);
	}
	if (!st && !pm_path_exists(out->s))
		st = pm_err(err, PM_E_ENV,
			    "The program %s, which runs passes, was not found beside this one; run make.",
			    name);
	/* It is started in another folder. */
	whole = st ? NULL : realpath(out->s, NULL);
	if (whole) {
		pm_str_clear(out);
		pm_str_add(out, whole);
	}
	free(whole);
	pm_str_release(&dir);
	pm_str_release(&up);
	return st;
}

static PmStatus run_program(const PmPassJob *job, const PmPassOpts *opts, PmProcResult *r, PmErr *err)
{
	PmLimits lim = { .file_size = 0, .max_files = MAX_FILES, .bare = 1, .tries = 3 };
	PmStr program = PM_STR_INIT, bytes = PM_STR_INIT;
	PmStatus st = find_program(&program, err);
	const char *argv[] = { program.s, NULL };

	pm__job_write(job, &bytes);
	lim.seconds = opts->seconds > 0 ? opts->seconds : default_seconds;
	lim.cpu_seconds = (int)lim.seconds + 1;
	lim.memory = (opts->memory > 0 ? opts->memory : default_memory) + OVERHEAD + 4 * (int64_t)bytes.len;
	lim.max_output = PM_LIMIT_REPLY_JSON + max_graph(job->text_len);
	if (!st)
		st = pm_run(argv, bytes.s, bytes.len, &lim, r, err);
	pm_str_release(&program);
	pm_str_release(&bytes);
	return st;
}

/* `lost`: what the child wrote, in which nothing of the pass has run. */
static PmStatus unboxed(const char *lost, PmErr *err)
{
	return pm_err(
		err, PM_E_ENV,
		"The process of a pass could not enter the sandbox that this machine offered before, so "
		"that the pass was not run: it lacks %s. Run passmith doctor.",
		*lost ? lost : "a layer that it cannot name");
}

static PmStatus run_object(const PmObject *object, const PmGraph *in, const PmPassOpts *opts,
			   PmPassOutcome *out, PmErr *err)
{
	static const PmPrintOpts print = { .max_inline = PM_MAX_INLINE_CONST, .no_header = 1 };
	PmStr text = PM_STR_INIT;
	PmPassJob job = { .name = pm_path_base(object->path) };
	PmProcResult r;
	PmStatus st = in ? pm_graph_print(in, &print, &text, err) : PM_OK;

	job.object = object->bytes.s;
	job.object_len = object->bytes.len;
	job.text = in ? text.s : NULL;
	job.text_len = text.len;
	job.rule = opts->only_rule;
	job.misses = opts->misses;
	job.variant = opts->variant;
	job.trial = opts->trial;
	job.n_trials = opts->n_trials;
	job.target = opts->target ? opts->target : pm_target_now();
	job.require = pm_sandbox_required();
	if (!st)
		st = run_program(&job, opts, &r, err);
	pm_str_release(&text);
	if (st)
		return st;
	out->seconds = r.seconds;
	if (!take_boxed(&r.out) && r.end == PM_PROC_EXITED && r.code == PM__CHILD_UNBOXED)
		st = unboxed(r.errtext.s, err);
	if (st) {
		pm_proc_result_release(&r);
		return st;
	}
	free(out->output);
	out->output = pm_xcalloc(MAX_OUTPUT, 1);
	pm_clean(r.errtext.s, out->output, MAX_OUTPUT, 1);
	if (came_back(&r, opts->seconds > 0 ? opts->seconds : default_seconds, out))
		pm__judge_answer(&r.out, in, job.text_len, out);
	pm_proc_result_release(&r);
	return PM_OK;
}

static PmStatus run_job(const char *so_path, const PmGraph *in, const PmPassOpts *opts, PmPassOutcome *out,
			PmErr *err)
{
	static const PmPassOpts no_opts;
	const PmObject *object = opts ? opts->object : NULL;
	PmObject own = { .bytes = PM_STR_INIT };
	PmStatus st = PM_OK;
	PmErr why;

	memset(out, 0, sizeof *out);
	out->problems = pm_xstrdup("");
	out->output = pm_xstrdup("");
	pm_err_init(&why);
	if (!object && pm_object_read(so_path, &own, &why))
		verdict(out, PM_VERDICT_REJECT_ELF, "%s", why.text);
	else if (*(object = object ? object : &own)->refused)
		verdict(out, PM_VERDICT_REJECT_ELF, "%s", object->refused);
	else
		st = run_object(object, in, opts ? opts : &no_opts, out, err);
	pm_object_release(&own);
	return st;
}

PmStatus pm_pass_apply(const char *so_path, const PmGraph *in, const PmPassOpts *opts, PmPassOutcome *out,
		       PmErr *err)
{
	return run_job(so_path, in, opts, out, err);
}

PmStatus pm_pass_lint(const char *so_path, const PmPassOpts *opts, PmPassOutcome *out, PmErr *err)
{
	return run_job(so_path, NULL, opts, out, err);
}

PmStatus pm_pass_explain(const char *so_path, const PmGraph *in, const PmPassOpts *opts, PmPassOutcome *out,
			 PmStr *text, PmErr *err)
{
	PmPassOpts with = opts ? *opts : (PmPassOpts){ 0 };
	PmStatus st;

	with.misses = PM_MISSES_AND_REPORTS;
	st = run_job(so_path, in, &with, out, err);
	if (!st)
		pm_pass_outcome_print(out, text);
	return st;
}
