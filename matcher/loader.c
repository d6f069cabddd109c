/* loader.c - opening a plugin's shared object and checking what it was built for. */
#include "matcher/loader.h"

#include "base/io.h"
#include "matcher/session.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAST_MAJOR_TRIED = 9 };

typedef const PmPlugin *(*EntryFn)(const PmHost *);

/* ISO C has no conversion from object to function pointers; POSIX makes this one work. */
static EntryFn find_entry(void *handle, const char *symbol)
{
	void *p = dlsym(handle, symbol);
	EntryFn fn = NULL;

	if (p)
		memcpy(&fn, &p, sizeof fn);
	return fn;
}

static PmStatus no_entry(void *handle, const char *path, PmErr *err)
{
	for (int major = 1; major <= LAST_MAJOR_TRIED; major++) {
		char symbol[40];

		snprintf(symbol, sizeof symbol, "passmith_plugin_v%d", major);
		if (major != PM_ABI_MAJOR && dlsym(handle, symbol))
			return pm_err(err, PM_E_ABI,
				      "'%s' was built for plugin interface %d, this program offers %d.%d; "
				      "rebuild it with "
				      "the headers of this program.",
				      pm_path_base(path), major, PM_ABI_MAJOR, PM_ABI_MINOR);
	}
	return pm_err(
		err, PM_E_ABI,
		"'%s' exports no passmith_plugin_v%d; end the pass with PM_PLUGIN(...) and build it with the "
		"published compiler line.",
		pm_path_base(path), PM_ABI_MAJOR);
}

static PmStatus check_version(const char *path, const PmPlugin *p, PmPlugin *out, PmErr *err)
{
	if (!p)
		return pm_err(err, PM_E_ABI, "The plugin '%s' says that it cannot work with interface %d.%d.",
			      pm_path_base(path), PM_ABI_MAJOR, PM_ABI_MINOR);
	if (p->struct_size < offsetof(PmPlugin, n_rules))
		return pm_err(
			err, PM_E_ABI,
			"The plugin structure of '%s' has %u bytes where version 1.0 has %zu; define it with "
			"PM_PLUGIN.",
			pm_path_base(path), p->struct_size, sizeof *p);
	if (p->abi_major != PM_ABI_MAJOR || p->abi_minor > PM_ABI_MINOR)
		return pm_err(err, PM_E_ABI,
			      "'%s' was built for plugin interface %u.%u, this program offers %d.%d; rebuild "
			      "it with "
			      "the headers of this program, or update the program.",
			      pm_path_base(path), p->abi_major, p->abi_minor, PM_ABI_MAJOR, PM_ABI_MINOR);
	if (p->struct_size < sizeof *p)
		return pm_err(
			err, PM_E_ABI,
			"The plugin structure of '%s' has %u bytes where version 1.0 has %zu; define it with "
			"PM_PLUGIN.",
			pm_path_base(path), p->struct_size, sizeof *p);
	memcpy(out, p, sizeof *out);
	return PM_OK;
}

PmStatus pm_plugin_load(const char *path, PmLoaded *out, PmErr *err)
{
	int64_t size = pm_file_size(path);
	char *full;
	const char *why;
	EntryFn entry;
	PmStatus st;

	memset(out, 0, sizeof *out);
	if (size < 0)
		return pm_err(err, PM_E_INVALID, "There is no file '%s'; build the pass first.", path);
	if (size > PM_MAX_PLUGIN_BYTES)
		return pm_err(err, PM_E_INVALID, "'%s' has %lld bytes; a plugin has at most %d.", path,
			      (long long)size, PM_MAX_PLUGIN_BYTES);
	full = realpath(path, NULL); /* a name without a slash would be searched for elsewhere */
	out->handle = full ? dlopen(full, RTLD_NOW | RTLD_LOCAL) : NULL;
	free(full);
	if (!out->handle) {
		why = dlerror();
		return pm_err(err, PM_E_INVALID, "'%s' cannot be loaded: %s.", pm_path_base(path),
			      why ? why : "its path cannot be resolved");
	}
	entry = find_entry(out->handle, "passmith_plugin_v1");
	st = entry ? check_version(path, entry(pm_host_v1()), &out->plugin, err)
		   : no_entry(out->handle, path, err);
	if (st)
		pm_plugin_unload(out);
	return st;
}

void pm_plugin_unload(PmLoaded *l)
{
	if (l->handle)
		dlclose(l->handle);
	l->handle = NULL;
}
