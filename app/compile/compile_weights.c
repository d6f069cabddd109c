/* SPDX-License-Identifier: Apache-2.0 */
/* compile_weights.c - the constants of all shapes, each once: packed, or left in the files of the model. */
#include "app/compile/compile_priv.h"

#include "base/core/arena.h"
#include "base/core/hash.h"
#include "base/sys/io.h"
#include "rt/sha256.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 20 };

static size_t piece_of(const PmBlob *b, size_t at)
{
	return b->size - at < PIECE ? b->size - at : PIECE;
}

static uint64_t hash_of(const PmBlob *b)
{
	char *buf = pm_xmalloc(PIECE);
	uint64_t h = b->size;

	for (size_t at = 0; at < b->size; at += PIECE) {
		size_t n = piece_of(b, at);

		pm_blob_read(b, at, n, buf);
		h = h * 0x9e3779b97f4a7c15ull + pm_hash_bytes(buf, n);
	}
	free(buf);
	return h;
}

static int same_bytes(const PmBlob *a, const PmBlob *b)
{
	char *buf = pm_xmalloc((size_t)2 * PIECE);
	int same = a->size == b->size;

	for (size_t at = 0; at < a->size && same; at += PIECE) {
		size_t n = piece_of(a, at);

		pm_blob_read(a, at, n, buf);
		pm_blob_read(b, at, n, buf + PIECE);
		same = memcmp(buf, buf + PIECE, n) == 0;
	}
	free(buf);
	return same;
}

static int same_place(const PmBlob *a, const PmBlob *b)
{
	return a == b || (a->location && b->location && a->data && b->data && a->offset == b->offset &&
			  a->size == b->size && !strcmp(a->location, b->location));
}

/* The number of the constant with these bytes; p->constant.n when there is none. */
static size_t find(const PmPackage *p, const PmBlob *b, uint64_t *hash)
{
	for (size_t i = 0; i < p->packed.n; i++)
		if (same_place(p->packed.v[i].blob, b))
			return i;
	*hash = hash_of(b);
	for (size_t i = 0; i < p->packed.n; i++)
		if (p->packed.v[i].hash == *hash && same_bytes(p->packed.v[i].blob, b))
			return i;
	return p->packed.n;
}

/* ---- files of the model ---- */

/* Whether the package will lie in the folder of the model is not known: what is named by a whole path is
 * found from everywhere. */
static PmStatus add_file(PmPackage *p, const char *location, uint32_t *out, PmErr *err)
{
	PmStr dir = PM_STR_INIT, path = PM_STR_INIT;
	PmRtfFile f = { 0 };
	PmExternal x;
	PmMap map;
	char *whole;
	PmStatus st;

	for (size_t i = 0; i < p->external.n; i++)
		if (!strcmp(p->external.v[i].location, location)) {
			*out = (uint32_t)i;
			return PM_OK;
		}
	pm_path_dir(p->ask->model, &dir);
	pm_path_join(dir.s, location, &path);
	whole = realpath(path.s, NULL);
	st = pm_map_file(path.s, &map, err);
	if (!st) {
		f.path = pm__text(p, whole ? whole : path.s);
		f.bytes = map.n;
		pm_sha256_of(map.p, map.n, f.sha256);
		pm_unmap(&map);
		x = (PmExternal){ pm_xstrdup(location), pm_xstrdup(path.s) };
		PM_VEC_PUSH(&p->external, x);
		PM_VEC_PUSH(&p->file, f);
		*out = (uint32_t)p->file.n - 1;
	}
	free(whole);
	pm_str_release(&dir);
	pm_str_release(&path);
	return st;
}

/* ---- constants ---- */

PmStatus pm__constant(PmPackage *p, size_t k, PmValue v, uint32_t *out, PmErr *err)
{
	const PmGraph *g = p->shape.v[k].apply.after;
	const PmBlob *b = pm_value_blob(g, v);
	PmRtfConst c = { .file = PM_RTF_NONE, .bytes = b->size };
	PmPacked packed = { .blob = b, .file = -1 };
	size_t i = find(p, b, &packed.hash);
	PmStatus st = PM_OK;

	*out = (uint32_t)i;
	if (i < p->packed.n)
		return PM_OK;
	c.name = pm__text(p, pm_value_name(g, v));
	if (p->ask->external && b->location && b->data && b->offset >= 0) {
		st = add_file(p, b->location, &c.file, err);
		packed.file = (int)c.file;
		c.offset = (uint64_t)b->offset;
	} else {
		c.offset = p->weights;
		p->weights += (c.bytes + PM_RTF_CONST_ALIGN - 1) / PM_RTF_CONST_ALIGN * PM_RTF_CONST_ALIGN;
	}
	PM_VEC_PUSH(&p->packed, packed);
	PM_VEC_PUSH(&p->constant, c);
	return st;
}
