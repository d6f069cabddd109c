/* loader.h - opening a plugin's shared object. Only for the pass host's child process: opening one runs its
 * code. */
#ifndef MATCHER_LOADER_H
#define MATCHER_LOADER_H

#include "base/err.h"
#include "passmith/pass.h"

enum { PM_MAX_PLUGIN_BYTES = 64 << 20 };

typedef struct PmLoaded {
	void *handle;
	PmPlugin plugin; /* as far as the plugin's structure went */
} PmLoaded;

/* Loads `path`, calls its entry with pm_host_v1() and checks versions. PM_E_ABI when it is no plugin of this
 * interface (the sentence has both versions), PM_E_INVALID when it cannot be loaded at all. */
PmStatus pm_plugin_load(const char *path, PmLoaded *out, PmErr *err);
/* For tests: the plugin stays mapped when a callback may still run; call it last. */
void pm_plugin_unload(PmLoaded *l);

#endif
