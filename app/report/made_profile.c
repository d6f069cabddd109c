/* SPDX-License-Identifier: Apache-2.0 */
/* made_profile.c - what `passmith profile` stored of the kernels of a pass, as a table. */
#include "app/report/made.h"
#include "app/report/put.h"
#include "draw/html/frame.h"

#include <math.h>
#include <string.h>

enum { ROWS = 24, LIMITS = 3 };

static void put_kernel(const cJSON *k, PmHtml *h)
{
	const cJSON *code = cJSON_GetObjectItem(k, "machine_code"), *o = cJSON_GetObjectItem(k, "occupancy");
	const cJSON *model = cJSON_GetObjectItem(k, "modelled");

	pm_html_el(h, PM_EL_tr);
	pm_html_el(h, PM_EL_th);
	pm_html_at(h, PM_AT_scope, "row");
	pm_html_text_cut(h, pm_json_str(k, "entry", ""), 60);
	pm_html_end(h, PM_EL_th);
	pm_put_num(h, "", 0, pm_json_num(k, "launches", NAN));
	pm_put_num(h, "", 0, pm_json_num(code, "registers", NAN));
	pm_put_num(h, "", 0, 100 * pm_json_num(o, "share", NAN));
	pm_html_el(h, PM_EL_td);
	pm_html_text_cut(h, pm_json_str(o, "limiter", "-"), 40);
	pm_html_end(h, PM_EL_td);
	pm_put_num(h, "", 0, pm_json_num(model, "bytes", NAN));
	pm_html_el(h, PM_EL_td);
	pm_html_text_cut(h, pm_json_str(model, "bound", "-"), 40);
	pm_html_end(h, PM_EL_td);
	pm_html_end(h, PM_EL_tr);
}

/* The sentences of the profile on what holds each kernel up. */
static void put_limits(const cJSON *kernels, PmHtml *h)
{
	const cJSON *k, *s;
	int n = 0;

	cJSON_ArrayForEach(k, kernels)
	{
		int of = 0;

		if (n++ >= ROWS)
			break;
		cJSON_ArrayForEach(s, cJSON_GetObjectItem(k, "limits"))
		{
			if (!cJSON_IsString(s) || of++ >= LIMITS)
				continue;
			pm_html_el(h, PM_EL_p);
			pm_html_text_cut(h, pm_json_str(k, "entry", ""), 60);
			pm_html_text(h, ": ");
			pm_html_text_cut(h, s->valuestring, 300);
			pm_html_end(h, PM_EL_p);
		}
	}
}

static void put_table(const PmProfileRow *row, const cJSON *j, const cJSON *kernels, PmHtml *h)
{
	static const char *const heads[] = { "Entry",      "Launches", "Registers",   "Occupancy %",
					     "Limited by", "Bytes",    "Most time is" };
	const cJSON *k;
	int n = 0;

	pm_html_el(h, PM_EL_p);
	pm_html_textf(h, "Profile of variant %lld for ", (long long)row->ordinal);
	pm_html_text_cut(h, pm_json_str(cJSON_GetObjectItem(j, "target"), "name", "a GPU"), 60);
	pm_html_text(h, ", ");
	pm_html_text_cut(h, row->options, 120);
	pm_html_text(h, ":");
	pm_html_end(h, PM_EL_p);
	pm_frame_table(h, "wide", "Profile of the kernels");
	pm_frame_heads(h, heads, sizeof heads / sizeof *heads);
	cJSON_ArrayForEach(k, kernels)
	{
		if (n++ < ROWS)
			put_kernel(k, h);
	}
	pm_frame_table_end(h);
	if (n > ROWS)
		pm_html_putf(h, PM_EL_p, "soft", "%d more kernels are left out.", n - ROWS);
}

void pm__put_made_profile(const PmProfileRow *row, PmHtml *h)
{
	cJSON *j = NULL;
	const cJSON *kernels;

	if (pm_json_parse(row->json, strlen(row->json), &j, NULL))
		return;
	kernels = cJSON_GetObjectItem(j, "kernels");
	if (cJSON_GetArraySize(kernels) > 0) {
		put_table(row, j, kernels, h);
		put_limits(kernels, h);
	}
	cJSON_Delete(j);
}
