/* SPDX-License-Identifier: Apache-2.0 */
/* made.c - what passes made of a task, system by system. */
#include "app/report/made.h"

#include "base/sys/io.h"
#include "dataset/store/results.h"
#include "dataset/store/tasks.h"
#include "draw/html/code.h"
#include "ir/text/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const size_t most_memory = (size_t)64 << 20; /* of a graph that is drawn */

/* One system: its last run that made something, and the first graph that it made. */
typedef struct Made {
	const PmBoardRun *run;
	int64_t rewrite, ordinal;
	char *text;                     /* owned: the rewritten graph */
	size_t n_same, n_other, n_none; /* results that have this graph, another, and none */
	int launches[2], alternative;   /* of the result that has it; launches 0 = not known */
} Made;

typedef struct Source {
	char *sha256, *text; /* owned */
} Source;

typedef PM_VEC(Source) Sources;

/* ---- reading ---- */

static PmStatus take_first(void *arg, const PmRewriteRow *row, PmErr *err)
{
	Made *m = arg;

	(void)err;
	if (!m->text) {
		m->rewrite = row->id;
		m->ordinal = row->ordinal;
		m->text = pm_xstrdup(row->text);
	}
	return PM_OK;
}

static PmStatus take_result(void *arg, const PmResultRow *row, PmErr *err)
{
	Made *m = arg;
	cJSON *j = NULL;

	(void)err;
	m->n_same += row->rewrite == m->rewrite;
	m->n_none += !row->rewrite;
	m->n_other += row->rewrite && row->rewrite != m->rewrite;
	if (row->ordinal != m->ordinal || pm_json_parse(row->json, strlen(row->json), &j, NULL))
		return PM_OK;
	m->launches[0] = (int)pm_json_i64(j, "baseline_launches", 0);
	m->launches[1] = (int)pm_json_i64(j, "candidate_launches", 0);
	m->alternative = (int)pm_json_i64(j, "alternative", 0);
	m->alternative = m->alternative < 0 || m->alternative > 63 ? 0 : m->alternative;
	cJSON_Delete(j);
	return PM_OK;
}

typedef PM_VEC(Made) MadeList;

/* Those whose speedups are largest first; where they are equal, by their paths. */
static int by_speedup(const void *a, const void *b)
{
	const Made *x = a, *y = b;
	double s = isfinite(x->run->gmean) ? x->run->gmean : 0,
	       t = isfinite(y->run->gmean) ? y->run->gmean : 0;

	return s != t ? (s < t ? 1 : -1) : strcmp(x->run->path, y->run->path);
}

static int has_path(const MadeList *list, const char *path)
{
	for (size_t i = 0; i < list->n; i++)
		if (!strcmp(list->v[i].run->path, path))
			return 1;
	return 0;
}

static PmStatus find_made(const PmReportInput *in, int64_t task, MadeList *list, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = in->boards->runs.n; i-- > 0 && !st;) {
		Made m = { .run = &in->boards->runs.v[i] };

		if (m.run->task != task || has_path(list, m.run->path))
			continue;
		st = pm_rewrites_each(in->db, m.run->id, take_first, &m, err);
		if (!st && m.text)
			st = pm_results_each(in->db, m.run->id, take_result, &m, err);
		if (m.text)
			PM_VEC_PUSH(list, m);
	}
	if (list->n)
		qsort(list->v, list->n, sizeof *list->v, by_speedup);
	return st;
}

typedef struct Wanted {
	int64_t ordinal;
	char *text; /* owned */
} Wanted;

static PmStatus take_variant(void *arg, const PmVariantRow *row, PmErr *err)
{
	Wanted *w = arg;

	(void)err;
	if (row->ordinal == w->ordinal)
		w->text = pm_xstrdup(row->text);
	return PM_OK;
}

/* The graph of a variant; NULL where it cannot be drawn. */
static PmStatus read_variant(const PmReportInput *in, int64_t task, int64_t ordinal, PmGraph **g, PmErr *err)
{
	Wanted w = { ordinal, NULL };
	PmStatus st = pm_task_variants_each(in->db, task, take_variant, &w, err);

	*g = NULL;
	if (w.text && pm_graph_parse_within(w.text, strlen(w.text), most_memory, g, NULL))
		*g = NULL;
	free(w.text);
	return st;
}

static PmStatus take_source(void *arg, const char *sha256, const char *text, PmErr *err)
{
	Sources *s = arg;

	(void)err;
	PM_VEC_PUSH(s, ((Source){ pm_xstrdup(sha256), pm_xstrdup(text) }));
	return PM_OK;
}

/* ---- writing ---- */

/* The kernel that names a source first; kernel.n where none does. */
static size_t kernel_of(const PmGraph *made, const PmRegions *f, const Made *m, const char *sha256)
{
	size_t k;

	for (k = 0; k < f->list.n; k++) {
		const PmAttr *a = pm__made_attr(made, f->list.v[k].kernel, "source", m->alternative);

		if (a && a->kind == PM_ATTR_STRING && a->n > 7 && !strcmp(a->s + 7, sha256))
			break;
	}
	return k;
}

static void put_source(const PmGraph *made, const PmRegions *f, const Made *m, const Source *s, PmHtml *h)
{
	size_t k = kernel_of(made, f, m, s->sha256), left;

	pm_html_el(h, PM_EL_details);
	pm_html_el(h, PM_EL_summary);
	pm_html_text(h, "Source of ");
	if (k < f->list.n) {
		pm_html_textf(h, "kernel %zu (", k + 1);
		pm_html_text_cut(h, pm_node_s(made, f->list.v[k].kernel, "name", ""), 60);
		pm_html_text(h, ")");
	} else {
		pm_html_text(h, "a kernel");
	}
	pm_html_textf(h, ", %zu bytes, SHA-256 %.12s", strlen(s->text), s->sha256);
	pm_html_end(h, PM_EL_summary);
	left = pm_code_put(h, s->text, PM_MADE_SOURCE);
	if (left)
		pm_html_putf(h, PM_EL_p, "soft",
			     "%zu more bytes are left out; the table kernel_sources has all.", left);
	pm_html_end(h, PM_EL_details);
}

static PmStatus put_sources(const PmReportInput *in, const PmGraph *made, const PmRegions *f, const Made *m,
			    PmHtml *h, PmErr *err)
{
	Sources list = { 0 };
	PmStatus st = pm_rewrite_sources_each(in->db, m->rewrite, take_source, &list, err);

	for (size_t i = 0; i < list.n && !st; i++)
		if (i < PM_MADE_SOURCES)
			put_source(made, f, m, &list.v[i], h);
	if (list.n > PM_MADE_SOURCES)
		pm_html_putf(h, PM_EL_p, "soft", "%zu more sources are left out.", list.n - PM_MADE_SOURCES);
	for (size_t i = 0; i < list.n; i++) {
		free(list.v[i].sha256);
		free(list.v[i].text);
	}
	PM_VEC_RELEASE(&list);
	return st;
}

typedef struct Profiles {
	const Made *m;
	PmHtml *h;
} Profiles;

static PmStatus put_profile(void *arg, const PmProfileRow *row, PmErr *err)
{
	const Profiles *p = arg;

	(void)err;
	if (!strcmp(row->pass_sha256, p->m->run->sha256))
		pm__put_made_profile(row, p->h);
	return PM_OK;
}

/* "silu" of "passes/silu.so". */
static void put_name(const Made *m, PmHtml *h)
{
	const char *base = pm_path_base(m->run->path);
	PmStr name = PM_STR_INIT;

	pm_str_addn(&name, base, strlen(base) - (pm_str_ends(base, ".so") ? 3 : 0));
	pm_html_text_cut(h, name.s, 80);
	pm_str_release(&name);
}

static void put_summary(const Made *m, const PmRegions *f, PmHtml *h)
{
	size_t n = 0;

	for (size_t k = 0; k < f->list.n; k++)
		n += f->list.v[k].n;
	pm_html_el(h, PM_EL_summary);
	put_name(m, h);
	pm_html_textf(h, ": %zu of %zu nodes became %zu kernel%s", n, f->n_before, f->list.n,
		      f->list.n == 1 ? "" : "s");
	if (m->launches[0] > 0 && m->launches[1] > 0)
		pm_html_textf(h, "; launches %d \xe2\x86\x92 %d", m->launches[0], m->launches[1]);
	pm_html_end(h, PM_EL_summary);
}

static void put_variants(const Made *m, PmHtml *h)
{
	pm_html_el(h, PM_EL_p);
	pm_html_at(h, PM_AT_class, "soft");
	pm_html_textf(h, "This is variant %lld. ", (long long)m->ordinal);
	pm_html_textf(h, "%zu of %zu variants have kernels like these", m->n_same,
		      m->n_same + m->n_other + m->n_none);
	if (m->n_other)
		pm_html_textf(h, ", %zu others, which the table rewrites has", m->n_other);
	if (m->n_none)
		pm_html_textf(h, ", %zu none", m->n_none);
	pm_html_text(h, ".");
	pm_html_end(h, PM_EL_p);
}

static PmStatus put_graphs(const PmReportInput *in, int64_t task, const Made *m, int open, const PmGraph *g,
			   const PmGraph *made, const PmRegions *f, PmHtml *h, PmErr *err)
{
	Profiles p = { m, h };
	PmStatus st;

	pm_html_el(h, PM_EL_details);
	pm_html_at(h, PM_AT_class, "made");
	if (open)
		pm_html_at(h, PM_AT_open, "");
	put_summary(m, f, h);
	st = pm__put_made_drawing(g, made, f, h, err);
	pm__put_made_kernels(g, made, f, m->alternative, h);
	put_variants(m, h);
	if (!st)
		st = put_sources(in, made, f, m, h, err);
	if (!st)
		st = pm_profiles_each(in->db, task, put_profile, &p, err);
	pm_html_end(h, PM_EL_details);
	return st;
}

static PmStatus put_system(const PmReportInput *in, int64_t task, const Made *m, int open, PmHtml *h,
			   PmErr *err)
{
	PmGraph *g = NULL, *made = NULL;
	PmRegions f = { 0 };
	PmStatus st = read_variant(in, task, m->ordinal, &g, err);
	int ok = !st && g && !pm_graph_parse_within(m->text, strlen(m->text), most_memory, &made, NULL) &&
		 !pm_regions_find(g, made, &f, NULL);

	if (ok) {
		st = put_graphs(in, task, m, open, g, made, &f, h, err);
	} else if (!st) {
		pm_html_el(h, PM_EL_p);
		put_name(m, h);
		pm_html_text(h, ": what it made cannot be drawn.");
		pm_html_end(h, PM_EL_p);
	}
	pm_regions_release(&f);
	pm_graph_free(g);
	pm_graph_free(made);
	return st;
}

/* The graph alone, where no pass made anything of it. */
static PmStatus put_plain(const PmReportInput *in, int64_t task, PmHtml *h, PmErr *err)
{
	PmGraph *g;
	PmStatus st = read_variant(in, task, 0, &g, err);

	if (!st && g) {
		pm_html_el(h, PM_EL_details);
		pm_html_at(h, PM_AT_class, "made");
		pm_html_put(h, PM_EL_summary, NULL, "Graph of the first variant, as a drawing");
		st = pm__put_made_drawing(g, NULL, NULL, h, err);
		pm_html_end(h, PM_EL_details);
	}
	pm_graph_free(g);
	return st;
}

static void put_left_out(const PmReportInput *in, size_t full, size_t more, PmHtml *h)
{
	if (full && in->index)
		pm_html_putf(h, PM_EL_p, "soft",
			     "Drawings and sources of %zu systems are left out: this page is full.", full);
	else if (full)
		pm_html_putf(h, PM_EL_p, "soft",
			     "Drawings and sources of %zu systems are left out: this page is full. passmith "
			     "report --pages "
			     "has them.",
			     full);
	if (more)
		pm_html_putf(h, PM_EL_p, "soft",
			     "%zu more systems made something; those with the largest speedups are shown.",
			     more);
}

PmStatus pm_report_put_made(const PmReportInput *in, const PmBoardTask *task, PmHtml *h, PmErr *err)
{
	MadeList list = { 0 };
	size_t full = 0, shown, before;
	PmStatus st = find_made(in, task->id, &list, err);

	shown = list.n < PM_MADE_SYSTEMS ? list.n : PM_MADE_SYSTEMS;
	if (!st && list.n)
		pm_html_put(h, PM_EL_h4, NULL, "What passes made of it");
	for (size_t i = 0; i < (shown ? shown : 1) && !st; i++) {
		before = h->out->len;
		if (!*in->room)
			full += shown > 0;
		else if (shown)
			st = put_system(in, task->id, &list.v[i], !i && in->details, h, err);
		else
			st = put_plain(in, task->id, h, err);
		*in->room -= h->out->len - before < *in->room ? h->out->len - before : *in->room;
	}
	if (!st)
		put_left_out(in, full, list.n - shown, h);
	for (size_t i = 0; i < list.n; i++)
		free(list.v[i].text);
	PM_VEC_RELEASE(&list);
	return st;
}
