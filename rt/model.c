/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - opened packages: which device, what is said of them, their weights. */
#include "rt/rt_priv.h"

#include "base/core/arena.h"
#include "base/core/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int pm_rt_version(void)
{
	return PM_RT_VERSION;
}

/* ---- what a package says ---- */

static void describe_values(PmRtModel *m)
{
	const PmRtPackage *p = &m->pk;

	m->value = pm_xcalloc(p->n_value + 1, sizeof *m->value);
	for (size_t i = 0; i < p->n_value; i++) {
		const PmRtfValue *from = &p->value[i];
		PmRtValue *to = &m->value[i];

		to->name = pm_package_text(p, from->name);
		to->type = (PmRtType)from->type;
		to->rank = (int)from->rank;
		for (int k = 0; k < to->rank; k++) {
			to->dim[k] = from->dim[k];
			if (from->dim[k] < 0 && from->symbol[k] != PM_RTF_NONE)
				to->symbol[k] = pm_package_text(p, from->symbol[k]);
		}
	}
}

/* Sizes of the memory of a session. */
static void measure(PmRtModel *m)
{
	const PmRtPackage *p = &m->pk;

	m->staged = pm_xcalloc(p->n_value + 1, sizeof *m->staged);
	for (size_t k = 0; k < p->n_shape; k++)
		if (p->shape[k].arena > m->arena)
			m->arena = p->shape[k].arena;
	for (size_t i = 0; i < p->n_value; i++) {
		uint64_t most = 0;

		for (size_t k = 0; k < p->n_shape; k++) {
			uint64_t n = pm_package_value_bytes(p, k, i);

			most = n > most ? n : most;
		}
		m->staged[i] = m->staging;
		m->staging += (most + PM_RTF_CONST_ALIGN - 1) / PM_RTF_CONST_ALIGN * PM_RTF_CONST_ALIGN;
	}
}

/* What the package says of itself, and what this model is. */
static void write_about(PmRtModel *m)
{
	PmStr s = PM_STR_INIT;
	const char *rest = m->pk.about;

	pm_str_add(&s, "{\"device\":");
	pm_str_add_quoted(&s, m->device_name, strlen(m->device_name));
	pm_str_addf(&s, ",\"interface\":%d,\"digest\":\"", PM_RT_VERSION);
	for (int i = 0; i < PM_RTF_DIGEST; i++)
		pm_str_addf(&s, "%02x", m->pk.header->sha256[i]);
	pm_str_addf(
		&s,
		"\",\"weight_bytes\":%llu,\"kept_bytes\":%llu,\"arena_bytes\":%llu,\"staging_bytes\":%llu,"
		"\"workspace_bytes\":%llu",
		(unsigned long long)m->pk.n_weights, (unsigned long long)m->kept,
		(unsigned long long)m->arena, (unsigned long long)m->staging,
		(unsigned long long)m->workspace);
	pm_str_addf(&s, ",\"library_calls\":%zu,\"tuned_calls\":%zu,\"untuned\":", m->calls, m->calls_tuned);
	if (m->untuned)
		pm_str_add_quoted(&s, m->untuned, strlen(m->untuned));
	else
		pm_str_add(&s, "null");
	if (*rest == '{')
		rest++;
	pm_str_addf(&s, "%s%s", *rest == '}' ? "" : ",", rest);
	m->about = pm_str_detach(&s, NULL);
}

int pm_rt_verify(const PmRtModel *m, PmRtError *err)
{
	PmErr why;

	pm_err_init(&why);
	if (!m)
		return pm_rt_usage(err, "pm_rt_verify needs a model.");
	return pm_rt_weights_check(m, &why) ? pm_rt_fail(&why, err) : PM_RT_OK;
}

/* ---- opening ---- */

static int has_form(const PmRtPackage *p, uint32_t form)
{
	for (size_t i = 0; i < p->n_image; i++)
		if (p->image[i].form == form)
			return 1;
	return !p->n_unit; /* nothing is launched */
}

/* "cuda:1" and its like; *out stays NULL when the package decides. 0 when the text is no device. */
static int find_device(const char *name, const PmRtDevice **out, int *ordinal)
{
	char *end;
	long n;

	*ordinal = 0;
	if (!name)
		return 1;
	if (!strcmp(name, "emu")) {
		*out = &pm_rt_emu;
		return 1;
	}
	if (strncmp(name, "cuda", 4) != 0 || (name[4] && name[4] != ':'))
		return 0;
	*out = &pm_rt_cuda;
	if (!name[4])
		return 1;
	n = strtol(name + 5, &end, 10);
	*ordinal = (int)n;
	return end != name + 5 && !*end && n >= 0 && n < 1024;
}

static PmStatus open_model(PmRtModel *m, const char *device, PmErr *err)
{
	const PmRtDevice *d = NULL;
	int ordinal;
	PmStatus st;

	if (!find_device(device, &d, &ordinal))
		return pm_err(err, PM_E_ENV, "There is no device '%.60s'; give emu, cuda, cuda:N or none.",
			      device);
	st = pm_package_open(m->path, &m->pk, err);
	if (st)
		return st;
	m->n_in = m->pk.header->n_inputs;
	m->n_out = m->pk.header->n_outputs;
	if (!d)
		d = pm_rt_cuda_fits(&m->pk) ? &pm_rt_cuda : &pm_rt_emu;
	if (d == &pm_rt_emu && !has_form(&m->pk, PM_RTF_EMU))
		return pm_err(
			err, PM_E_ENV,
			"%s has no kernels for the device emu; compile it with --arch emu among others.",
			m->path);
	m->device = d;
	describe_values(m);
	measure(m);
	m->constant = pm_xcalloc(m->pk.n_constant + 1, sizeof *m->constant);
	st = pm_rt_weights_open(m, err);
	if (!st)
		st = m->device->open(m, ordinal, err);
	if (!st)
		write_about(m);
	return st;
}

int pm_rt_open(const char *path, const char *device, PmRtModel **out, PmRtError *err)
{
	PmRtModel *m;
	PmErr why;

	if (!path || !out)
		return pm_rt_usage(err, "pm_rt_open needs a path and a place for the model.");
	*out = NULL;
	pm_err_init(&why);
	m = pm_xcalloc(1, sizeof *m);
	m->path = pm_xstrdup(path);
	if (open_model(m, device, &why)) {
		pm_rt_close(m);
		return pm_rt_fail(&why, err);
	}
	*out = m;
	return PM_RT_OK;
}

void pm_rt_close(PmRtModel *m)
{
	if (!m)
		return;
	if (m->device)
		m->device->close(m);
	pm_rt_weights_close(m);
	pm_package_close(&m->pk);
	free(m->path);
	free(m->about);
	free(m->untuned);
	free(m->value);
	free(m->constant);
	free(m->staged);
	free(m);
}

/* ---- questions ---- */

const char *pm_rt_about(const PmRtModel *m)
{
	return m->about;
}

size_t pm_rt_n_inputs(const PmRtModel *m)
{
	return m->n_in;
}

size_t pm_rt_n_outputs(const PmRtModel *m)
{
	return m->n_out;
}

const PmRtValue *pm_rt_input(const PmRtModel *m, size_t i)
{
	return i < m->n_in ? &m->value[i] : NULL;
}

const PmRtValue *pm_rt_output(const PmRtModel *m, size_t i)
{
	return i < m->n_out ? &m->value[m->n_in + i] : NULL;
}

size_t pm_rt_n_shapes(const PmRtModel *m)
{
	return m->pk.n_shape;
}

int pm_rt_shape_input(const PmRtModel *m, size_t shape, size_t input, PmRtValue *out)
{
	if (!m || !out || shape >= m->pk.n_shape || input >= m->n_in)
		return PM_RT_USAGE;
	*out = m->value[input];
	for (int k = 0; k < out->rank; k++)
		out->dim[k] = pm_package_extent(&m->pk, shape, input)->dim[k];
	return PM_RT_OK;
}
