/* SPDX-License-Identifier: Apache-2.0 */
/* no_gpu.c - preloaded by tools/check/bare.sh: the libraries of GPUs cannot be opened, as where they are not
 * installed. */
#include <dlfcn.h>
#include <string.h>

typedef void *Open(const char *name, int flags);

void *dlopen(const char *name, int flags)
{
	static const char *const hidden[] = { "libcu", "libnv" };
	void *next = dlsym(RTLD_NEXT, "dlopen");
	const char *base = name ? strrchr(name, '/') : NULL;
	Open *open;

	base = base ? base + 1 : name;
	for (size_t i = 0; base && i < sizeof hidden / sizeof *hidden; i++)
		if (strncmp(base, hidden[i], strlen(hidden[i])) == 0 && strncmp(base, "libcurl", 7) != 0)
			name = "/nonexistent/library.so";
	memcpy(&open, &next, sizeof open); /* from an object pointer to one to a function */
	return open(name, flags);
}
