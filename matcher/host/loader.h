/* SPDX-License-Identifier: Apache-2.0 */
/* loader.h - a plugin's shared object in memory. Only for the pass host's process: opening one runs its code.
 *
 * There is no dlopen: the object is mapped from bytes that integrity/gates/elf_gate.h has accepted, its few
 * imports are bound to functions of the host's own, and nothing of it runs before pm_plugin_open.
 */
#ifndef MATCHER_LOADER_H
#define MATCHER_LOADER_H

#include "base/core/elf.h"
#include "base/core/err.h"
#include "passmith/pass.h"

typedef struct PmLoaded {
	uint8_t *base; /* where address 0 of the object is; NULL = not mapped */
	uint8_t *map;  /* the whole reservation */
	size_t map_len;
	PmPlugin plugin; /* as far as the plugin's structure went, then zeros */
} PmLoaded;

/* The host's function for an import that a plugin may have (memcpy, memmove, memset, memcmp, strlen, which
 * compilers call by themselves), as the bytes of a pointer; NULL for any other name. */
const void *pm_plugin_import(const char *name);

/* Maps an accepted object, applies its relocations and protects it as its
 * segments say. Two values of `variant` (0, 1) put it at addresses that differ in every
 * bit from 12 to 23, so that a pass that depends on its address gives two answers. PM_E_ENV without memory,
 * PM_E_INVALID for a relocation that cannot be applied, or for segments that share a page of this machine.
 * Unmap in every case. */
PmStatus pm_plugin_map(const PmElf *e, unsigned variant, PmLoaded *out, PmErr *err);
/* The same with pages of `page` bytes, a power of two from 4096 on and a multiple of the machine's. */
PmStatus pm__plugin_map_by(const PmElf *e, unsigned variant, size_t page, PmLoaded *out, PmErr *err);

/* Calls the entry with pm_host_v1() and checks versions. PM_E_ABI when the object is no plugin of this
 * interface; the sentence has both versions. `name` is the file's, for messages. */
PmStatus pm_plugin_open(const PmElf *e, const char *name, PmLoaded *l, PmErr *err);

/* Takes the object out of memory: nothing of the plugin may be used after it. */
void pm_plugin_unmap(PmLoaded *l);

#endif
