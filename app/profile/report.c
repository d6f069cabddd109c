/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - the life of a report. */
#include "app/profile/report.h"

#include "runtime/device/device.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 90 };

/* Where the lines of a file begin to be counted: the source, or the part of it that a line says is that file
 * (runtime/device/kernel_unit.h). NULL: the file is not of the source. */
static const char *part_of(const PmSource *src, const char *file)
{
	size_t n = strlen(src->label);
	PmStr line = PM_STR_INIT;
	const char *p = src->source;

	if (strncmp(file, src->label, n) != 0 || (file[n] && file[n] != '|'))
		return NULL;
	if (file[n]) {
		pm_str_addf(&line, "/%s\"\n", file + n + 1);
		p = strstr(p, line.s);
		while (p && p > src->source && p[-1] != '\n')
			p--;
		p = p && !strncmp(p, "#line 1 ", 8) ? strchr(p, '\n') + 1 : NULL;
	}
	pm_str_release(&line);
	return p;
}

/* Of a long line, as PM_CUDA makes them, what stands between two semicolons or braces around the column. */
static void statement(const char **p, size_t *n, int column)
{
	size_t from = column > 0 && (size_t)column <= *n ? (size_t)column - 1 : 0, to = from;

	while (from && !strchr(";{}", (*p)[from - 1]))
		from--;
	while (to < *n && !strchr(";{}", (*p)[to]))
		to++;
	to += to < *n && (*p)[to] == ';';
	*p += from;
	*n = to - from;
}

void pm_profile_line(const PmProfileReport *r, const PmProfileKernel *k, const PmCountSite *s, PmStr *out)
{
	const PmSource *src;
	const char *p;
	size_t n;

	pm_plan_sources(r->plan, &src);
	p = part_of(&src[k->launch.source], s->file);
	for (int line = 1; p && line < s->line; line++) {
		p = strchr(p, '\n');
		p = p ? p + 1 : NULL;
	}
	if (!p || s->line < 1)
		return;
	n = strcspn(p, "\n");
	if (n > LINE)
		statement(&p, &n, s->column);
	while (n && (*p == ' ' || *p == '\t')) {
		p++;
		n--;
	}
	while (n && (p[n - 1] == ' ' || p[n - 1] == '\t' || p[n - 1] == '\r'))
		n--;
	for (size_t i = 0; i < n && i < LINE; i++)
		pm_str_addc(out, p[i] >= ' ' && p[i] <= '~' ? p[i] : ' ');
	pm_str_add(out, n > LINE ? "..." : "");
}

const char *pm_profile_bound(const PmProfileKernel *k)
{
	double bound = k->time.bound[k->time.largest];

	if (k->time.launch > bound && k->time.launch >= k->time.waits)
		return "launch";
	return k->time.waits > bound ? "waits" : pm_access_bound_name(k->time.largest);
}

const char *pm_profile_absent(const PmProfileReport *r, const PmProfileOpts *o, int i)
{
	switch (i) {
	case 0:
		return *r->why_not_counted ? r->why_not_counted : NULL;
	case 1:
		return *r->why_not_timed ? r->why_not_timed : NULL;
	case 2:
		for (size_t k = 0; k < r->code.n; k++)
			if (*r->code.v[k].why)
				return r->code.v[k].why;
		return NULL;
	case 3:
		return *r->why_no_hw ? r->why_no_hw : NULL;
	default:
		if (pm_device_kind(o->device) == PM_DEVICE_CUDA)
			return r->hw_version || *r->why_no_hw
				       ? NULL
				       : "Hardware counters are not there: they are read once the kernels "
					 "have been timed.";
		return "Times, hit rates of caches and stall reasons are not there: they need a GPU "
		       "(--device cuda measures them).";
	}
}

void pm_profile_release(PmProfileReport *r)
{
	for (size_t i = 0; i < r->code.n; i++) {
		pm_str_release(&r->code.v[i].ptx);
		pm_str_release(&r->code.v[i].cubin);
		pm_str_release(&r->code.v[i].sass);
	}
	PM_VEC_RELEASE(&r->code);
	PM_VEC_RELEASE(&r->kernel);
	free(r->alts);
	pm_plan_free(r->plan);
	pm_graph_free(r->g);
	memset(r, 0, sizeof *r);
}
