/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_import_ext.c - weights in files beside the model: found only below the model's folder, mapped once.
 *
 * A location is relative. Absolute paths, ".." and links that lead out of the folder are refused; a missing
 * file gives a constant without data. Each file is mapped once; its blobs share the map and unmap it last.
 */
#include "ir/onnx/onnx_priv.h"

#include "base/sys/io.h"

#include <stdlib.h>
#include <string.h>

typedef struct Mapped {
	int refs;
	char *location;
	PmMap map; /* p NULL and missing 0: an empty file */
	int missing;
} Mapped;

struct PmOnnxFiles {
	char *dir; /* real path of the model's folder; NULL when there is none */
	PM_VEC(Mapped *) v;
};

static void unref(Mapped *m)
{
	if (--m->refs > 0)
		return;
	pm_unmap(&m->map);
	free(m->location);
	free(m);
}

static void drop_part(PmBlob *b)
{
	unref(b->owner);
}

PmOnnxFiles *pm__onnx_files_new(const char *model_path)
{
	PmOnnxFiles *f = pm_xcalloc(1, sizeof *f);
	PmStr dir = PM_STR_INIT;

	if (model_path) {
		pm_path_dir(model_path, &dir);
		f->dir = realpath(dir.s, NULL);
		pm_str_release(&dir);
	}
	return f;
}

void pm__onnx_files_free(PmOnnxFiles *f)
{
	size_t i;

	if (!f)
		return;
	for (i = 0; i < f->v.n; i++)
		unref(f->v.v[i]);
	PM_VEC_RELEASE(&f->v);
	free(f->dir);
	free(f);
}

/* Whether a path is relative and has no ".." part. */
static int stays_below(const char *s)
{
	if (!*s || *s == '/' || strchr(s, '\\'))
		return 0;
	while (*s) {
		size_t n = strcspn(s, "/");

		if (n == 2 && s[0] == '.' && s[1] == '.')
			return 0;
		s += n;
		s += *s == '/';
	}
	return 1;
}

static PmStatus map_below(const PmOnnxFiles *f, Mapped *m, const char *tensor, PmErr *err)
{
	PmStr path = PM_STR_INIT;
	size_t n = f->dir ? strlen(f->dir) : 0;
	char *real = NULL;
	PmStatus st = PM_OK;

	if (f->dir) {
		pm_path_join(f->dir, m->location, &path);
		real = realpath(path.s, NULL);
	}
	if (!real)
		m->missing = 1;
	else if (strncmp(real, f->dir, n) != 0 || (real[n] != '/' && strcmp(f->dir, "/") != 0))
		st = pm_err(err, PM_E_INVALID,
			    "Tensor '%.200s' names the data file '%.200s', a link that leaves the model's "
			    "folder; "
			    "put the file itself beside the model.",
			    tensor, m->location);
	else
		st = pm_map_file(real, &m->map, err);
	free(real);
	pm_str_release(&path);
	return st;
}

static PmStatus open_file(PmOnnxFiles *f, const char *location, const char *tensor, Mapped **out, PmErr *err)
{
	Mapped *m;
	PmStatus st;
	size_t i;

	for (i = f->v.n; i-- > 0;) {
		if (strcmp(f->v.v[i]->location, location) == 0) {
			*out = f->v.v[i];
			return PM_OK;
		}
	}
	if (!stays_below(location))
		return pm_err(
			err, PM_E_INVALID,
			"Tensor '%.200s' names the data file '%.200s'; only files below the model's folder "
			"are read, so give a relative path without '..'.",
			tensor, location);
	m = pm_xcalloc(1, sizeof *m);
	m->refs = 1;
	m->location = pm_xstrdup(location);
	st = map_below(f, m, tensor, err);
	if (st) {
		unref(m);
		return st;
	}
	PM_VEC_PUSH(&f->v, m);
	*out = m;
	return PM_OK;
}

static PmStatus entry_i64(const char *key, const char *value, const char *tensor, int64_t *out, PmErr *err)
{
	if (!pm_parse_i64(value, out) || *out < 0)
		return pm_err(
			err, PM_E_INVALID,
			"Tensor '%.200s' has the external_data %s '%.60s', which is no number of bytes; fix "
			"the model.",
			tensor, key, value);
	return PM_OK;
}

/* Elements that share bytes in the file are read at once: there is nothing to map. */
static PmBlob *unpacked(int dtype, const unsigned char *from, int64_t numel)
{
	unsigned char *p = pm_xmalloc((size_t)numel + 1);

	pm__onnx_unpack_bits(dtype, from, numel, p);
	return pm_blob_take(p, (size_t)numel);
}

PmStatus pm__onnx_external(PmOnnxFiles *f, const Onnx__TensorProto *t, const PmType *type, PmBlob **out,
			   int *absent, PmErr *err)
{
	const char *location = "", *name = t->name ? t->name : "";
	int64_t offset = 0, length = -1, bytes = 0, whole = 0, numel = 0, end;
	Mapped *m = NULL;
	PmStatus st = pm_type_bytes(type, &whole, err);
	PmBlob *b;
	size_t i;

	if (!st)
		st = pm_type_numel(type, &numel, err);
	bytes = st ? 0 : pm__onnx_packed_bytes(type->dtype, numel);
	for (i = 0; i < t->n_external_data && !st; i++) {
		const char *key = t->external_data[i]->key, *value = t->external_data[i]->value;

		if (!key || !value)
			continue;
		if (strcmp(key, "location") == 0)
			location = value;
		else if (strcmp(key, "offset") == 0)
			st = entry_i64(key, value, name, &offset, err);
		else if (strcmp(key, "length") == 0)
			st = entry_i64(key, value, name, &length, err);
	}
	if (!st && length >= 0 && length != bytes)
		st = pm_err(err, PM_E_INVALID,
			    "Tensor '%.200s' has the external_data length %lld but its type needs %lld "
			    "bytes; fix "
			    "the model.",
			    name, (long long)length, (long long)bytes);
	if (!st && !pm_add_i64(offset, bytes, &end))
		st = pm_err(err, PM_E_LIMIT,
			    "Tensor '%.200s' ends past 63 bits of its data file; fix the model.", name);
	if (!st)
		st = open_file(f, location, name, &m, err);
	if (st)
		return st;
	if (m->missing) {
		*absent = 1;
		*out = pm_blob_absent(location, offset, (size_t)whole);
		return PM_OK;
	}
	if ((uint64_t)end > m->map.n)
		return pm_err(
			err, PM_E_INVALID,
			"Tensor '%.200s' ends at byte %lld of '%.200s', which has only %zu; the data file is "
			"truncated, fetch it again.",
			name, (long long)end, location, m->map.n);
	if (pm_dtype_bits(type->dtype) < 8) {
		*out = unpacked(type->dtype, (const unsigned char *)m->map.p + offset, numel);
		return PM_OK;
	}
	b = pm_blob_located(bytes ? (const char *)m->map.p + offset : (const void *)"", location, offset,
			    (size_t)bytes);
	b->drop = drop_part;
	b->owner = m;
	m->refs++;
	*out = b;
	return PM_OK;
}
