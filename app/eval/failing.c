/* SPDX-License-Identifier: Apache-2.0 */
/* failing.c - writes the variants that a pass fails on as files, each with the line that runs it again. */
#include "app/eval/failing.h"

#include "base/sys/io.h"
#include "bench/report/report.h"
#include "ir/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A word of a shell, whatever it holds. */
static void add_word(PmStr *out, const char *s)
{
	pm_str_addc(out, '\'');
	for (; *s; s++)
		if (*s == '\'')
			pm_str_add(out, "'\\''");
		else
			pm_str_addc(out, *s);
	pm_str_addc(out, '\'');
}

/* A comment ends with its line: labels may come from a pack. */
static void add_comment(PmStr *out, const char *label, const char *verdict)
{
	pm_str_add(out, "# ");
	for (; *label; label++)
		pm_str_addc(out, *label >= ' ' && *label <= '~' ? *label : '?');
	pm_str_addf(out, ": %s\n", verdict);
}

static void add_option(PmStr *out, const char *name, const char *value)
{
	pm_str_addf(out, " %s ", name);
	add_word(out, value);
}

/* The same wherever the line is run; as given when it names nothing that is there. */
static void add_path(PmStr *out, const char *path)
{
	char *whole = realpath(path, NULL);

	add_word(out, whole ? whole : path);
	free(whole);
}

/* The line names this program, and not what PATH may find. Files of the stem are there. */
static PmStatus add_line(const PmFailing *f, const char *stem, const PmEvalReport *r, const PmEvalRecord *rec,
			 PmStr *out, PmErr *err)
{
	PmStr graph = PM_STR_INIT, report = PM_STR_INIT, dir = PM_STR_INIT, program = PM_STR_INIT;
	PmStatus st = pm_self_dir(&dir, err);

	pm_path_join(dir.s, "passmith", &program);
	pm_str_addf(&graph, "%s.gpt", stem);
	pm_str_addf(&report, "%s.json", stem);
	add_comment(out, rec->label, pm_verdict_name(rec->verdict));
	add_word(out, program.s);
	pm_str_add(out, " eval ");
	add_path(out, graph.s);
	pm_str_add(out, " --pass ");
	add_path(out, f->pass);
	add_option(out, "--device", r->opts.device);
	if (r->opts.profile || pm_target_now() != pm_target_at(0))
		add_option(out, "--target", pm_profile(r->opts.profile)->name);
	add_option(out, "--preset", f->preset);
	add_option(out, "--precision", pm_tier_name(r->opts.tier));
	pm_str_addf(out, "%s%s%s%s", f->tf32 ? " --tf32" : "", r->opts.graphs ? " --graphs" : "",
		    f->confirm ? " --confirm" : "", r->opts.check_only ? " --check-only" : "");
	pm_str_add(out, " --replay ");
	add_path(out, report.s);
	pm_str_addc(out, '\n');
	pm_str_release(&graph);
	pm_str_release(&report);
	pm_str_release(&dir);
	pm_str_release(&program);
	return st;
}

/* The graph is a model of one variant now, and the report one of that model. */
static void add_report(const PmEvalReport *r, const PmEvalRecord *rec, const char *graph, PmStr *out)
{
	static const char *const scores[] = { "fast_1", "AS", "ES", "S" };
	PmEvalReport one = *r;
	PmEvalRecord as_written = *rec;
	cJSON *list = cJSON_CreateArray(), *j;

	snprintf(as_written.label, sizeof as_written.label, "as written");
	one.n = 1;
	one.rec = &as_written;
	one.n_left_out += r->n - 1;
	memset(&one.hidden, 0, sizeof one.hidden);
	j = pm_eval_report_json(&one, graph);
	for (size_t i = 0; i < sizeof scores / sizeof *scores; i++)
		cJSON_DeleteItemFromObject(j, scores[i]);
	cJSON_AddStringToObject(j, "variant_of", rec->label);
	cJSON_AddItemToArray(list, j);
	pm_json_print(list, 1, out);
	cJSON_Delete(list);
}

static PmStatus put(const char *stem, const char *end, const PmStr *text, PmErr *err)
{
	PmStr path = PM_STR_INIT;
	PmStatus st;

	pm_str_addf(&path, "%s%s", stem, end);
	st = pm_write_file(path.s, text->s, text->len, err);
	pm_str_release(&path);
	return st;
}

/* The lines that are there, when an earlier file of this run has one, and the new one. */
static PmStatus put_line(const PmFailing *f, const PmStr *line, PmErr *err)
{
	PmStr path = PM_STR_INIT, text = PM_STR_INIT;
	PmStatus st = PM_OK;

	pm_path_join(f->dir, "replay.sh", &path);
	if (f->n)
		st = pm_read_file(path.s, (int64_t)16 << 20, &text, err);
	pm_str_addn(&text, line->s, line->len);
	if (!st)
		st = pm_write_file(path.s, text.s, text.len, err);
	pm_str_release(&path);
	pm_str_release(&text);
	return st;
}

PmStatus pm_failing_save(PmFailing *f, const PmGraph *g, const PmEvalReport *r, const PmEvalRecord *rec,
			 PmErr *err)
{
	static const PmPrintOpts whole = { 0 };
	PmStr name = PM_STR_INIT, stem = PM_STR_INIT, graph = PM_STR_INIT, report = PM_STR_INIT,
	      line = PM_STR_INIT;
	const char *base = pm_path_base(r->pass);
	PmStatus st;

	if (!f || !pm_is_failing(rec->verdict))
		return PM_OK;
	pm_str_addf(&name, "%.*s-%zu", (int)strcspn(base, "."), base, f->n);
	pm_path_join(f->dir, name.s, &stem);
	add_report(r, rec, stem.s, &report);
	st = pm_mkdirs(f->dir, err);
	if (!st)
		st = pm_graph_print(g, &whole, &graph, err);
	if (!st)
		st = put(stem.s, ".gpt", &graph, err);
	if (!st)
		st = put(stem.s, ".json", &report, err);
	if (!st)
		st = add_line(f, stem.s, r, rec, &line, err);
	if (!st)
		st = put_line(f, &line, err);
	f->n += !st;
	pm_str_release(&name);
	pm_str_release(&stem);
	pm_str_release(&graph);
	pm_str_release(&report);
	pm_str_release(&line);
	return st;
}
