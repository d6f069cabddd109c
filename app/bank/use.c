/* SPDX-License-Identifier: Apache-2.0 */
/* use.c - rewriting a model with the passes of a bank. */
#include "app/bank/use.h"

#include "app/bank/evidence.h"
#include "base/core/version.h"
#include "base/sys/io.h"
#include "ir/canon/canon.h"
#include "matcher/host/object.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is offered ---- */

static void changed(PmBankUse *u, const char *fmt, ...) PM_PRINTF(2, 3);

static void changed(PmBankUse *u, const char *fmt, ...)
{
	char text[PM_ERR_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	cJSON_AddItemToArray(u->changed, cJSON_CreateString(text));
}

/* Kernels of other targets are other kernels. What has no profile is of a version that knew one. */
static int is_of_target(const cJSON *e)
{
	return !strcmp(pm_json_str(e, "profile", pm_profile_of(pm_target_at(0))->name),
		       pm_profile(NULL)->name);
}

/* By what was measured on this architecture: the share of the time that was saved, over what is modelled.
 * Where nothing is modelled there is nothing to scale. */
static void weigh(const PmBankUse *u, PmBankOffer *o)
{
	const cJSON *e;
	double found = 0, modelled = 0;
	int n = 0;

	cJSON_ArrayForEach(e, pm_bank_evidence(o->e))
	{
		double f, m;

		if (!pm_bank_is_measured(e))
			continue;
		if (!u->opts.any_arch && (!u->opts.cc || pm_bank_cc(e) != u->opts.cc || !is_of_target(e))) {
			o->n_other++;
			continue;
		}
		n += pm_bank_savings(e, &f, &m);
		found += f;
		modelled += m;
	}
	if (n && modelled > 0) {
		o->n_measured = n;
		o->factor = found / modelled;
	}
}

static PmStatus check_object(const PmBankOffer *o, PmErr *err)
{
	PmObject object = { .bytes = PM_STR_INIT };
	PmStatus st = pm_object_read(o->path, &object, err);

	if (!st && strcmp(object.sha256, pm_bank_sha256(o->e)) != 0)
		st = pm_err(err, PM_E_INVALID,
			    "%s is not the object of its entry: its SHA-256 is %.16s..., entry.json says "
			    "%.16s...; "
			    "passmith bank verify says what was changed.",
			    o->path, object.sha256, pm_bank_sha256(o->e));
	pm_object_release(&object);
	return st;
}

static PmStatus add_offer(PmBankUse *u, const PmBankEntry *e, PmErr *err)
{
	PmBankOffer o = { .e = e, .factor = 1 };
	PmStr path = PM_STR_INIT;

	pm_bank_object(&u->bank, e, &path);
	o.path = pm_str_detach(&path, NULL);
	weigh(u, &o);
	PM_VEC_PUSH(&u->offer, o);
	return check_object(&o, err);
}

static PmStatus offer_all(PmBankUse *u, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < u->bank.entry.n && !st; i++)
		st = add_offer(u, &u->bank.entry.v[i], err);
	if (!st && !u->offer.n)
		st = pm_err(err, PM_E_NOT_FOUND, "The bank %s has no pass; add one with passmith bank add.",
			    u->bank.dir);
	return st;
}

/* Those that the lock names, weighed as then. */
static PmStatus offer_locked(PmBankUse *u, PmErr *err)
{
	const cJSON *p;
	PmStatus st = PM_OK;

	cJSON_ArrayForEach(p, cJSON_GetObjectItem(u->opts.lock, "passes"))
	{
		const PmBankEntry *e = pm_bank_find(&u->bank, pm_json_str(p, "sha256", ""));

		if (!e) {
			changed(u, "Pass %.64s (SHA-256 %.16s...) is not in the bank %s.",
				pm_json_str(p, "name", ""), pm_json_str(p, "sha256", ""), u->bank.dir);
			continue;
		}
		st = st ? st : add_offer(u, e, err);
		if (!st)
			u->offer.v[u->offer.n - 1].factor = pm_json_num(p, "factor", 1);
	}
	return st;
}

/* ---- the lock ---- */

PmStatus pm_bank_lock_read(const char *path, cJSON **out, PmErr *err)
{
	PmStr text = PM_STR_INIT;
	PmStatus st = pm_read_file(path, (size_t)1 << 28, &text, err);

	*out = NULL;
	if (!st)
		st = pm_json_parse(text.s, text.len, out, err);
	if (!st && (strcmp(pm_json_str(*out, "format", ""), PM_BANK_LOCK_FORMAT) != 0 ||
		    !cJSON_IsArray(cJSON_GetObjectItem(*out, "passes")) ||
		    !cJSON_IsArray(cJSON_GetObjectItem(*out, "regions"))))
		st = pm_err(err, PM_E_INVALID,
			    "It is no \"" PM_BANK_LOCK_FORMAT
			    "\"; give the file that passmith apply --bank wrote beside its model.");
	if (st) {
		cJSON_Delete(*out);
		*out = NULL;
		pm_err_ctx(err, "%s", path);
	}
	pm_str_release(&text);
	return st;
}

static const PmCandidate *taken(const PmBankUse *u, size_t i)
{
	return &u->choice.all.list.v[u->choice.taken.v.v[i]];
}

static const char *rule_of(const PmCandidate *x)
{
	return pm_node_s(x->g, x->kernel, "name", "");
}

/* A node without a name is known by its first result. */
static const char *first_node(const PmBankUse *u, const PmCandidate *x)
{
	const PmGraph *g = u->a.before;
	PmNode n = pm_graph_node_at(g, x->n ? x->node[0] : 0);

	return *pm_node_name(g, n) ? pm_node_name(g, n) : pm_value_name(g, pm_node_out(g, n, 0));
}

static void compare_regions(PmBankUse *u)
{
	const cJSON *r, *list = cJSON_GetObjectItem(u->opts.lock, "regions");

	cJSON_ArrayForEach(r, list)
	{
		const char *digest = pm_json_str(r, "digest", "");
		size_t i = 0;

		while (i < u->choice.taken.v.n && strcmp(taken(u, i)->digest, digest) != 0)
			i++;
		if (i == u->choice.taken.v.n)
			changed(u, "The region of rule '%.64s' at '%.120s' is not chosen any more.",
				pm_json_str(r, "rule", ""), pm_json_str(r, "node", ""));
	}
	for (size_t i = 0; i < u->choice.taken.v.n; i++) {
		int is = 0;

		cJSON_ArrayForEach(r, list) is |= !strcmp(pm_json_str(r, "digest", ""), taken(u, i)->digest);
		if (!is)
			changed(u, "The region of rule '%.64s' at '%.120s' is not in the lock.",
				rule_of(taken(u, i)), first_node(u, taken(u, i)));
	}
}

static void compare_version(PmBankUse *u)
{
	const char *was = pm_json_str(u->opts.lock, "passmith", "");

	if (strcmp(was, PM_VERSION) != 0)
		changed(u, "The lock is of version %.32s of passmith, this is %s.", was, PM_VERSION);
}

void pm_bank_lock_compare(PmBankUse *u, const char *out_sha256)
{
	const char *was = pm_json_str(cJSON_GetObjectItem(u->opts.lock, "out"), "sha256", "");

	if (!strcmp(was, out_sha256))
		return;
	changed(u, "The rewritten model has the SHA-256 %.16s..., the lock says %.16s...", out_sha256, was);
	compare_version(u);
}

static void add_region(const PmBankUse *u, const PmCandidate *x, cJSON *list)
{
	cJSON *o = cJSON_CreateObject(), *nodes;

	cJSON_AddNumberToObject(o, "pass", x->pass);
	cJSON_AddStringToObject(o, "rule", rule_of(x));
	cJSON_AddStringToObject(o, "node", first_node(u, x));
	nodes = cJSON_AddArrayToObject(o, "nodes");
	for (size_t k = 0; k < x->n; k++)
		cJSON_AddItemToArray(nodes, cJSON_CreateNumber(x->node[k]));
	cJSON_AddStringToObject(o, "digest", x->digest);
	cJSON_AddItemToArray(list, o);
}

static void add_pass(const PmBankOffer *p, cJSON *list)
{
	cJSON *o = cJSON_CreateObject();

	cJSON_AddStringToObject(o, "name", pm_bank_name(p->e));
	cJSON_AddStringToObject(o, "sha256", pm_bank_sha256(p->e));
	cJSON_AddStringToObject(o, "gain", p->n_measured ? "measured" : "modelled");
	cJSON_AddNumberToObject(o, "factor", p->factor);
	cJSON_AddItemToArray(list, o);
}

static void add_arch(const PmBankUse *u, cJSON *o)
{
	char arch[32] = "";

	if (u->opts.cc)
		snprintf(arch, sizeof arch, "sm_%d", u->opts.cc);
	cJSON_AddStringToObject(o, "arch", arch);
	cJSON_AddStringToObject(o, "target", pm_profile(NULL)->name);
	cJSON_AddBoolToObject(o, "any_arch", u->opts.any_arch);
}

cJSON *pm_bank_lock(const PmBankUse *u, const char *model, const char *out, const char *out_sha256, int plain)
{
	cJSON *j = cJSON_CreateObject(), *o;

	cJSON_AddStringToObject(j, "format", PM_BANK_LOCK_FORMAT);
	cJSON_AddStringToObject(j, "passmith", PM_VERSION);
	o = cJSON_AddObjectToObject(j, "model");
	cJSON_AddStringToObject(o, "file", pm_path_base(model));
	cJSON_AddStringToObject(o, "key", u->model_key);
	add_arch(u, j);
	cJSON_AddBoolToObject(j, "plain", plain);
	o = cJSON_AddArrayToObject(j, "passes");
	for (size_t i = 0; i < u->offer.n; i++)
		add_pass(&u->offer.v[i], o);
	o = cJSON_AddArrayToObject(j, "regions");
	for (size_t i = 0; i < u->choice.taken.v.n; i++)
		add_region(u, taken(u, i), o);
	o = cJSON_AddObjectToObject(j, "out");
	cJSON_AddStringToObject(o, "file", pm_path_base(out));
	cJSON_AddStringToObject(o, "sha256", out_sha256);
	return j;
}

/* ---- the whole ---- */

static PmStatus choose(PmBankUse *u, PmGraph *g, PmErr *err)
{
	PmChoosePass *pass = pm_xcalloc(u->offer.n + 1, sizeof *pass);
	PmStatus st;

	for (size_t i = 0; i < u->offer.n; i++)
		pass[i] = (PmChoosePass){ u->offer.v[i].path, u->offer.v[i].factor };
	st = pm_choose(g, pass, u->offer.n, u->opts.seconds, &u->a, &u->choice, err);
	free(pass);
	return st;
}

PmStatus pm_bank_use(const char *dir, PmGraph *g, const PmBankOpts *opts, PmBankUse *u, PmErr *err)
{
	PmStatus st;
	const char *key;

	*u = (PmBankUse){ .opts = *opts, .changed = cJSON_CreateArray() };
	st = pm_bank_open(dir, &u->bank, err);
	if (!st)
		st = pm_canon_hash(g, PM_CANON_FULL, u->model_key, err);
	if (!st)
		st = opts->lock ? offer_locked(u, err) : offer_all(u, err);
	key = pm_json_str(cJSON_GetObjectItem(opts->lock, "model"), "key", "");
	if (!st && opts->lock && strcmp(key, u->model_key) != 0)
		changed(u, "The model is another one: its key is %.16s..., the lock says %.16s...",
			u->model_key, key);
	if (!st && !cJSON_GetArraySize(u->changed)) {
		st = choose(u, g, err);
		g = NULL;
		if (!st && opts->lock)
			compare_regions(u);
		if (!st && cJSON_GetArraySize(u->changed))
			compare_version(u);
	}
	pm_graph_free(g);
	return st;
}

void pm_bank_use_release(PmBankUse *u)
{
	for (size_t i = 0; i < u->offer.n; i++)
		free(u->offer.v[i].path);
	PM_VEC_RELEASE(&u->offer);
	pm_choice_release(&u->choice);
	pm_apply_release(&u->a);
	pm_bank_release(&u->bank);
	cJSON_Delete(u->changed);
	*u = (PmBankUse){ 0 };
}

/* ---- as JSON ---- */

static void add_loss(const PmBankUse *u, const PmLoss *l, cJSON *list)
{
	const PmCandidate *x = &u->choice.all.list.v[l->loser], *w = &u->choice.all.list.v[l->winner];
	cJSON *o = cJSON_CreateObject(), *nodes;

	cJSON_AddNumberToObject(o, "loser", x->pass);
	cJSON_AddStringToObject(o, "loser_rule", rule_of(x));
	cJSON_AddNumberToObject(o, "winner", w->pass);
	cJSON_AddStringToObject(o, "winner_rule", rule_of(w));
	cJSON_AddStringToObject(o, "node", first_node(u, x));
	nodes = cJSON_AddArrayToObject(o, "nodes");
	for (size_t k = 0; k < x->n; k++)
		cJSON_AddItemToArray(nodes, cJSON_CreateNumber(x->node[k]));
	pm_json_add_num(o, "loser_saves", u->choice.gain[l->loser]);
	pm_json_add_num(o, "winner_saves", u->choice.gain[l->winner]);
	cJSON_AddItemToArray(list, o);
}

cJSON *pm_bank_use_json(const PmBankUse *u)
{
	cJSON *j = cJSON_CreateObject(), *list, *o;

	cJSON_AddStringToObject(j, "dir", u->bank.dir);
	add_arch(u, j);
	list = cJSON_AddArrayToObject(j, "passes");
	for (size_t i = 0; i < u->offer.n; i++) {
		add_pass(&u->offer.v[i], list);
		o = cJSON_GetArrayItem(list, (int)i);
		cJSON_AddNumberToObject(o, "measured_variants", u->offer.v[i].n_measured);
		cJSON_AddNumberToObject(o, "other_architectures", u->offer.v[i].n_other);
	}
	list = cJSON_AddArrayToObject(j, "conflicts");
	for (size_t i = 0; i < u->choice.loss.n; i++)
		add_loss(u, &u->choice.loss.v[i], list);
	pm_json_add_i64(j, "candidates", (int64_t)u->choice.all.list.n);
	pm_json_add_i64(j, "save_nothing", (int64_t)u->choice.n_useless);
	pm_json_add_i64(j, "circles", (int64_t)u->choice.n_circles);
	pm_json_add_i64(j, "orders", (int64_t)u->choice.n_orders);
	pm_json_add_i64(j, "greedy_components", (int64_t)u->choice.n_greedy);
	pm_json_add_i64(j, "largest_component", (int64_t)u->choice.largest);
	cJSON_AddStringToObject(j, "kept", u->choice.by_selection ? "selection" : "order");
	pm_json_add_num(j, "predicted_seconds", u->choice.predicted);
	pm_json_add_num(j, "best_order_seconds", u->choice.best_order);
	cJSON_AddItemToObject(j, "changed", cJSON_Duplicate(u->changed, 1));
	return j;
}
