/* SPDX-License-Identifier: Apache-2.0 */
/* blob.c - reference-counted constant data. */
#include "ir/core/graph.h"

#include <stdlib.h>
#include <string.h>

/* With n bytes of its own behind it. */
static PmBlob *blob_new(const void *data, size_t size, size_t n)
{
	PmBlob *b = pm_xcalloc(1, sizeof *b + n);

	b->refs = 1;
	b->data = data;
	b->size = size;
	return b;
}

static void drop_owned(PmBlob *b)
{
	free(b->owner);
}

PmBlob *pm_blob_take(void *p, size_t n)
{
	PmBlob *b = blob_new(p, n, 0);

	b->owner = p;
	b->drop = drop_owned;
	return b;
}

PmBlob *pm_blob_copy(const void *p, size_t n)
{
	PmBlob *b = blob_new(NULL, n, n ? n : 1);

	b->data = b + 1;
	if (n)
		memcpy(b + 1, p, n);
	return b;
}

PmBlob *pm_blob_located(const void *data, const char *location, int64_t offset, size_t size)
{
	size_t n = strlen(location) + 1;
	PmBlob *b = blob_new(data, size, n);

	b->location = memcpy(b + 1, location, n);
	b->offset = offset;
	return b;
}

PmBlob *pm_blob_absent(const char *location, int64_t offset, size_t size)
{
	return pm_blob_located(NULL, location, offset, size);
}

int pm_blob_readable(const PmBlob *b)
{
	return b && (b->data || !b->size || b->make);
}

void pm_blob_read(const PmBlob *b, size_t offset, size_t n, void *out)
{
	if (b->data && n)
		memcpy(out, (const char *)b->data + offset, n);
	else if (n && b->make)
		b->make(b, offset, n, out);
}

PmBlob *pm_blob_ref(PmBlob *b)
{
	if (b)
		b->refs++;
	return b;
}

void pm_blob_unref(PmBlob *b)
{
	if (!b || --b->refs > 0)
		return;
	if (b->drop)
		b->drop(b);
	free(b);
}
