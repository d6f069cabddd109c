/* SPDX-License-Identifier: Apache-2.0 */
/* cupti_open.c - finds the CUPTI library and its functions, and says who may read counters. */
#include "runtime/cuda/cupti/cupti_priv.h"

#include "base/sys/io.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARAMETERS "/proc/driver/nvidia/params"

/* CUPTI opens its two helpers by their names alone: those beside it are opened first. */
static void open_helpers(const char *library)
{
	static const char *const helper[] = { "libnvperf_host.so", "libnvperf_target.so" };
	PmStr dir = PM_STR_INIT, path = PM_STR_INIT;

	pm_path_dir(library, &dir);
	for (size_t i = 0; i < sizeof helper / sizeof *helper; i++) {
		pm_str_clear(&path);
		pm_path_join(dir.s, helper[i], &path);
		dlopen(path.s, RTLD_NOW | RTLD_LOCAL);
	}
	pm_str_release(&dir);
	pm_str_release(&path);
}

static void *open_library(void)
{
	static const char *const names[] = { "libcupti.so.13", "libcupti.so.12", "libcupti.so" };
	static const char *const folders[] = { "", "/extras/CUPTI/lib64/", "/lib64/", "/lib/",
					       "/targets/x86_64-linux/lib/" };
	PmStr path = PM_STR_INIT;
	void *so = NULL;

	for (size_t i = 0; !so && i < sizeof folders / sizeof *folders; i++)
		for (size_t k = 0; !so && k < sizeof names / sizeof *names; k++) {
			pm_str_clear(&path);
			/* The first folder is where the system's own search looks. */
			pm_str_addf(&path, "%s%s%s", *folders[i] ? pm_cuda_home() : "", folders[i], names[k]);
			if (*folders[i] && !pm_path_exists(path.s))
				continue;
			if (*folders[i])
				open_helpers(path.s);
			so = dlopen(path.s, RTLD_NOW | RTLD_LOCAL);
		}
	pm_str_release(&path);
	return so;
}

static void find(void *so, const char *name, void *fn)
{
	void *p = dlsym(so, name);

	memcpy(fn, &p, sizeof p); /* from an object pointer to one to a function */
}

/* The name of the first function that the library lacks, NULL when all are there. */
static const char *find_functions(PmCuptiApi *a)
{
	find(a->so, "cuptiGetVersion", &a->get_version);
	find(a->so, "cuptiGetResultString", &a->result_string);
	if (!a->get_version || !a->result_string)
		return "cuptiGetVersion or cuptiGetResultString";
#define XX(member, symbol, structure, last)                                                                  \
	find(a->so, #symbol, &a->member);                                                                    \
	if (!a->member)                                                                                      \
		return #symbol;
	PM__CUPTI_FUNCTIONS(XX)
#undef XX
	return NULL;
}

PmStatus pm__cupti_api(PmCuptiApi *out, PmErr *err)
{
	const char *missing;

	memset(out, 0, sizeof *out);
	out->so = open_library();
	if (!out->so)
		return pm_err(
			err, PM_E_ENV,
			"Hardware counters need CUPTI (libcupti.so, also looked for below %s), which is "
			"not here; install the CUDA toolkit's package cuda-cupti or set CUDA_HOME.",
			pm_cuda_home());
	missing = find_functions(out);
	if (missing) {
		dlclose(out->so);
		return pm_err(err, PM_E_ENV,
			      "The CUPTI library that was found lacks %s; install cuda-cupti of CUDA 12.6 or "
			      "newer.",
			      missing);
	}
	out->get_version(&out->version);
	return PM_OK;
}

/* --- who may read counters -------------------------------------------------------------------------------
 */

/* The value of a parameter in the driver's list of "Name: value" lines, -1 when it is not there. */
static int parameter(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = text; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL)
		if (!strncmp(p, name, n) && p[n] == ':')
			return atoi(p + n + 1);
	return -1;
}

/* 1 = only administrators may, 0 = all users, -1 = the file does not say. */
static int admin_only(const char *params)
{
	char text[8192];
	FILE *f = fopen(params, "r");
	size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
	int admin;

	if (f)
		fclose(f);
	text[n] = 0;
	admin = parameter(text, "RmProfilingAdminOnly");
	return admin > 0 ? 1 : admin;
}

void pm_cupti_permission(const char *params, PmStr *out)
{
	int admin = admin_only(params);

	if (admin > 0)
		pm_str_add(
			out,
			"The driver lets only administrators read counters (RmProfilingAdminOnly is 1): run "
			"as root or with CAP_SYS_ADMIN, or write \"options nvidia "
			"NVreg_RestrictProfilingToAdminUsers=0\" into a file of /etc/modprobe.d and load "
			"the driver anew.");
	else if (admin == 0)
		pm_str_add(
			out,
			"The driver lets all users read counters (RmProfilingAdminOnly is 0), so something "
			"else forbids "
			"it: give a container --cap-add=SYS_ADMIN, and on a virtual GPU have the host allow "
			"profiling.");
	else
		pm_str_addf(
			out,
			"%s does not say who may read counters (RmProfilingAdminOnly): run as root, or in a "
			"container with --cap-add=SYS_ADMIN.",
			params);
}

PmStatus pm__cupti_fail(const PmCuptiApi *a, const char *function, int error, PmErr *err)
{
	const char *name = NULL;
	PmStr how = PM_STR_INIT;
	PmStatus st;

	if (a->result_string(error, &name) != 0 || !name)
		name = "it has no name";
	if (error == CUPTI_NO_PRIVILEGES || error == CUPTI_NO_PRIVILEGES_VIRTUAL) {
		pm_str_add(&how, " ");
		pm_cupti_permission(PARAMETERS, &how);
	}
	st = pm_err(err, PM_E_ENV, "Hardware counters cannot be read: CUPTI's %s fails with error %d (%s).%s",
		    function, error, name, how.len ? how.s : "");
	pm_str_release(&how);
	return st;
}

int pm_cupti_probe(PmStr *detail)
{
	PmCuptiApi a;
	Dl_info info;
	void *p;
	PmErr err;

	pm_err_init(&err);
	if (pm__cupti_api(&a, &err)) {
		pm_str_add(detail, err.text);
		return 0;
	}
	memcpy(&p, &a.get_version, sizeof p);
	pm_str_addf(detail, "CUPTI %u", a.version);
	if (dladdr(p, &info) && info.dli_fname)
		pm_str_addf(detail, ", %s", info.dli_fname);
	if (admin_only(PARAMETERS) == 0)
		pm_str_add(detail, ", counters for all users");
	else if (admin_only(PARAMETERS) == 1)
		pm_str_add(detail,
			   ", counters for administrators: NVreg_RestrictProfilingToAdminUsers=0 lets all "
			   "users read them");
	return 1;
}
