/* SPDX-License-Identifier: Apache-2.0 */
/* curl_api.c - opening libcurl. */
#include "app/chat/curl_api.h"

#include <dlfcn.h>
#include <string.h>

/* ISO C has no conversion between pointers to objects and to functions: the bytes are copied. */
static int find(void *so, const char *name, void *function, size_t size)
{
	void *s = dlsym(so, name);

	memcpy(function, &s, size);
	return s != NULL;
}

#define FIND(member, name) find(so, name, &api.member, sizeof api.member)

const PmCurlApi *pm_curl_api(PmErr *err)
{
	/* The same interface under the names that distributions give it, by its library for TLS. */
	static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4", NULL };
	static PmCurlApi api;
	static int ready;
	void *so = NULL;

	if (ready)
		return &api;
	for (int i = 0; names[i] && !so; i++)
		so = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!so) {
		pm_err(err, PM_E_ENV,
		       "libcurl is not on this machine, and nothing else here talks to a model; "
		       "install it (Debian: apt-get install libcurl4).");
		return NULL;
	}
	if (!FIND(global_init, "curl_global_init") || !FIND(easy_new, "curl_easy_init") ||
	    !FIND(easy_free, "curl_easy_cleanup") || !FIND(set, "curl_easy_setopt") ||
	    !FIND(perform, "curl_easy_perform") || !FIND(info, "curl_easy_getinfo") ||
	    !FIND(text, "curl_easy_strerror") || !FIND(append, "curl_slist_append") ||
	    !FIND(free_list, "curl_slist_free_all") || api.global_init(CURL_GLOBAL_DEFAULT)) {
		dlclose(so);
		pm_err(err, PM_E_ENV,
		       "The libcurl of this machine cannot be used; install a newer one (libcurl4).");
		return NULL;
	}
	ready = 1;
	return &api;
}
