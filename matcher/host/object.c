/* SPDX-License-Identifier: Apache-2.0 */
/* object.c - reading a pass's shared object once. */
#include "matcher/host/object.h"

#include "base/core/arena.h"
#include "base/sys/io.h"
#include "ir/core/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file over the limit is refused by its length; the digest only says which file that was. */
static PmStatus hash_long(PmObject *o, PmErr *err)
{
	PmMap map;
	PmStatus st = pm_map_file(o->path, &map, err);

	if (!st) {
		pm_sha256_hex(map.p, map.n, o->sha256);
		pm_unmap(&map);
	}
	return st;
}

PmStatus pm_object_read(const char *path, PmObject *out, PmErr *err)
{
	PmErr why;
	PmStatus st;

	memset(out, 0, sizeof *out);
	pm_err_init(&why);
	out->path = pm_xstrdup(path);
	pm_str_init(&out->bytes);
	st = pm_read_file(path, PM_LIMIT_OBJECT, &out->bytes, &why);
	if (st == PM_E_LIMIT) {
		snprintf(out->refused, sizeof out->refused, "%s", why.text);
		return hash_long(out, err);
	}
	if (st)
		return pm_err(err, st, "%s", why.text);
	pm_sha256_hex(out->bytes.s, out->bytes.len, out->sha256);
	return PM_OK;
}

void pm_object_release(PmObject *o)
{
	free(o->path);
	pm_str_release(&o->bytes);
	memset(o, 0, sizeof *o);
	pm_str_init(&o->bytes);
}
