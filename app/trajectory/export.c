/* SPDX-License-Identifier: Apache-2.0 */
/* export.c - which trajectories are exported, and in which order. */
#include "app/trajectory/export.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Pick {
	int64_t id, n_steps;
	double best;
	char key[PM_SHA256_HEX];
	char files[2 * PM_SHA256_HEX]; /* task and digest of the last files; "" = not asked, or none */
	int out;                       /* another one is as good */
} Pick;
typedef struct Picks {
	PM_VEC(Pick) list;
	const PmExportOpts *o;
	PmExported *n;
} Picks;

static PmStatus pick(void *arg, const PmTrajectoryRow *r, PmErr *err)
{
	Picks *p = arg;
	Pick one = { .id = r->id, .n_steps = r->n_steps, .best = r->best };

	(void)err;
	snprintf(one.key, sizeof one.key, "%s", r->key);
	if (!r->n_steps)
		p->n->empty++;
	else if (p->o->first_success && r->first_ok < 0)
		p->n->no_success++;
	else
		PM_VEC_PUSH(&p->list, one);
	return PM_OK;
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const Pick *)a)->key, ((const Pick *)b)->key);
}

/* Whether a is to stay of two with the same files. */
static int better(const Pick *a, const Pick *b)
{
	double x = isnan(a->best) ? -1 : a->best, y = isnan(b->best) ? -1 : b->best;

	if (x != y)
		return x > y;
	return a->n_steps != b->n_steps ? a->n_steps < b->n_steps : strcmp(a->key, b->key) < 0;
}

/* As it is exported: cut where that is asked for. */
static PmStatus load(PmDb *db, const PmExportOpts *o, int64_t id, const PmRedact *redact, PmSession *s,
		     PmErr *err)
{
	PmStatus st = pm_session_load(db, id, redact, s, err);

	if (!st && o->first_success)
		pm_session_cut(s);
	return st;
}

static PmStatus drop_same(PmDb *db, Picks *p, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < p->list.n && !st; i++) {
		PmSession s;
		char digest[PM_SHA256_HEX];

		st = load(db, p->o, p->list.v[i].id, NULL, &s, err);
		if (!st)
			pm_session_digest(&s, digest);
		if (!st && *digest)
			snprintf(p->list.v[i].files, sizeof p->list.v[i].files, "%.64s %s", s.row.task,
				 digest);
		pm_session_release(&s);
		for (size_t k = 0; k < i && !st && *p->list.v[i].files; k++) {
			Pick *a = &p->list.v[k], *b = &p->list.v[i];

			if (a->out || strcmp(a->files, b->files) != 0)
				continue;
			*(better(a, b) ? &b->out : &a->out) = 1;
			p->n->same++;
			break;
		}
	}
	return st;
}

static PmStatus put(PmDb *db, const PmExportOpts *o, int64_t id, const PmRedact *redact, PmOutFile *f,
		    PmErr *err)
{
	PmSession s;
	PmStr line = PM_STR_INIT;
	PmStatus st = load(db, o, id, redact, &s, err);

	if (!st) {
		cJSON *j = o->format == PM_EXPORT_ATIF ? pm_export_atif(&s) : pm_export_chat(&s);

		pm_json_print(j, 0, &line);
		cJSON_Delete(j);
		if (f)
			st = pm_out_write(f, line.s, line.len, err);
		else if (fwrite(line.s, 1, line.len, stdout) != line.len)
			st = pm_err(err, PM_E_IO, "The export cannot be written: %s.", strerror(errno));
	}
	pm_str_release(&line);
	pm_session_release(&s);
	return st;
}

static PmStatus put_all(PmDb *db, const Picks *p, PmOutFile *f, PmErr *err)
{
	PmRedact *redact = pm_redact_new();
	PmStatus st = PM_OK;

	for (size_t i = 0; i < p->list.n && !st; i++) {
		if (p->list.v[i].out)
			continue;
		st = put(db, p->o, p->list.v[i].id, redact, f, err);
		p->n->n += !st;
	}
	pm_redact_free(redact);
	return st;
}

PmStatus pm_export(PmDb *db, const PmExportOpts *o, PmOutFile *f, PmExported *out, PmErr *err)
{
	Picks p = { { NULL, 0, 0 }, o, out };
	PmStatus st;

	memset(out, 0, sizeof *out);
	st = o->id ? pm_trajectory_get(db, o->id, pick, &p, err)
		   : pm_trajectories_each(db, &o->filter, pick, &p, err);
	if (p.list.n)
		qsort(p.list.v, p.list.n, sizeof *p.list.v, by_key);
	if (!st && o->unique)
		st = drop_same(db, &p, err);
	if (!st)
		st = put_all(db, &p, f, err);
	PM_VEC_RELEASE(&p.list);
	return st;
}
