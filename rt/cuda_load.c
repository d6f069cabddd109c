/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_load.c - the driver, and the images of a package that a GPU can run. */
#include "rt/cuda_priv.h"

#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

PmStatus pm_rt_driver_open(const PmCuda **out, PmErr *err)
{
	PmStatus st;

	pthread_mutex_lock(&opening);
	st = pm__cuda_open(out, err);
	pthread_mutex_unlock(&opening);
	return st;
}

PmStatus pm_rt_cuda_fail(const PmRtCuda *c, const char *what, int error, PmErr *err)
{
	return pm__cuda_fail(c->cu, error == CU_OUT_OF_MEMORY ? PM_E_LIMIT : PM_E_DEVICE, what, error, err);
}

/* ---- images ---- */

const PmRtfImage *pm_rt_image_for(const PmRtPackage *p, size_t unit, int cc)
{
	const PmRtfImage *best = NULL;

	for (size_t i = 0; i < p->n_image; i++) {
		const PmRtfImage *m = &p->image[i];
		int fits = m->form == PM_RTF_CUBIN ? (int)m->cc / 10 == cc / 10 && (int)m->cc <= cc
						   : m->form == PM_RTF_PTX && (int)m->cc <= cc;

		if (m->unit != unit || !fits)
			continue;
		if (!best || (m->form == PM_RTF_CUBIN && best->form == PM_RTF_PTX) ||
		    (m->form == best->form && m->cc > best->cc))
			best = m;
	}
	return best;
}

int pm_rt_cuda_fits(const PmRtPackage *p)
{
	const PmCuda *cu;
	int dev, major = 0, minor = 0;

	if (!p->n_unit || pm_rt_driver_open(&cu, NULL) || cu->device_get(&dev, 0) ||
	    cu->device_attr(&major, CU_DEV_CC_MAJOR, dev) || cu->device_attr(&minor, CU_DEV_CC_MINOR, dev))
		return 0;
	for (size_t i = 0; i < p->n_unit; i++)
		if (!p->unit[i].around && !pm_rt_image_for(p, i, 10 * major + minor))
			return 0;
	return 1;
}

/* "sm_80, sm_90": machine code and texts that the package has. */
static void list_archs(const PmRtPackage *p, char *text, size_t room)
{
	size_t at = 0;

	for (size_t i = 0; i < p->n_image; i++) {
		int seen = p->image[i].form == PM_RTF_EMU;

		for (size_t k = 0; k < i && !seen; k++)
			seen = p->image[k].form != PM_RTF_EMU && p->image[k].cc == p->image[i].cc;
		if (!seen && at < room)
			at += (size_t)snprintf(text + at, room - at, "%ssm_%u", at ? ", " : "",
					       p->image[i].cc);
	}
	if (!at)
		snprintf(text, room, "no GPU at all");
}

PmStatus pm_rt_cuda_load(PmRtModel *m, PmRtCuda *c, size_t unit, CuMod **out, PmErr *err)
{
	const PmRtfImage *image = pm_rt_image_for(&m->pk, unit, c->cc);
	char archs[128];
	int rc;

	if (!c->module[unit] && !image) {
		list_archs(&m->pk, archs, sizeof archs);
		return pm_err(err, PM_E_ENV,
			      "%s has kernels for %s, and none for %s (sm_%d); compile it with --arch sm_%d "
			      "among others.",
			      m->path, archs, c->gpu, c->cc, c->cc);
	}
	if (!c->module[unit]) {
		rc = c->cu->module_load(&c->module[unit], m->pk.code + image->offset);
		if (rc) {
			c->module[unit] = NULL;
			return pm__cuda_fail(c->cu, rc == CU_OUT_OF_MEMORY ? PM_E_LIMIT : PM_E_ENV,
					     "load a kernel of the package", rc, err);
		}
	}
	*out = c->module[unit];
	return PM_OK;
}
