/* SPDX-License-Identifier: Apache-2.0 */
/* compile_write.c - the tables of a package as a file. */
#include "app/compile/compile_priv.h"

#include "base/core/arena.h"
#include "base/sys/outfile.h"
#include "rt/package.h"
#include "rt/sha256.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 20 };

/* Zeros up to a multiple. */
static PmStatus pad(PmOutFile *f, int64_t align, PmSha256 *sum, PmErr *err)
{
	static const char zeros[PM_RTF_PAGE];
	size_t n = (size_t)((align - pm_out_size(f) % align) % align);

	if (sum && n)
		pm_sha256_add(sum, zeros, n);
	return pm_out_write(f, zeros, n, err);
}

static PmStatus write_section(PmOutFile *f, PmRtfHeader *h, int kind, size_t record, const void *p, size_t n,
			      PmErr *err)
{
	PmRtfSection *s = &h->section[kind];
	PmStatus st = pad(f, PM_RTF_ALIGN, NULL, err);

	s->kind = (uint32_t)kind;
	s->record = (uint32_t)record;
	s->offset = (uint64_t)pm_out_size(f);
	s->bytes = (uint64_t)record * n;
	pm_sha256_of(p, s->bytes, s->sha256);
	return st ? st : pm_out_write(f, p, s->bytes, err);
}

/* Constants where their records say, with zeros between them. */
static PmStatus write_weights(const PmPackage *p, PmOutFile *f, PmRtfHeader *h, PmErr *err)
{
	PmRtfSection *s = &h->section[PM_RTF_WEIGHTS];
	PmStatus st = pad(f, PM_RTF_PAGE, NULL, err);
	char *buf = pm_xmalloc(PIECE);
	PmSha256 sum;

	pm_sha256_begin(&sum);
	*s = (PmRtfSection){
		.kind = PM_RTF_WEIGHTS, .record = 1, .offset = (uint64_t)pm_out_size(f), .bytes = p->weights
	};
	pm_watch_begin(&p->ask->watch, "packing", (int64_t)p->packed.n);
	for (size_t i = 0; i < p->packed.n && !st; i++) {
		const PmBlob *b = p->packed.v[i].blob;

		for (size_t at = 0; at < b->size && !st && p->packed.v[i].file < 0; at += PIECE) {
			size_t n = b->size - at < PIECE ? b->size - at : PIECE;

			pm_blob_read(b, at, n, buf);
			pm_sha256_add(&sum, buf, n);
			st = pm_out_write(f, buf, n, err);
		}
		if (!st && p->packed.v[i].file < 0)
			st = pad(f, PM_RTF_CONST_ALIGN, &sum, err);
		pm_watch_step(&p->ask->watch, NULL);
	}
	pm_watch_end(&p->ask->watch);
	pm_sha256_end(&sum, s->sha256);
	free(buf);
	return st;
}

static PmStatus write_all(const PmPackage *p, PmOutFile *f, PmRtfHeader *h, PmErr *err)
{
	struct {
		int kind;
		size_t record, n;
		const void *v;
	} part[] = {
		{ PM_RTF_TEXTS, 1, p->text.len, p->text.s },
		{ PM_RTF_ABOUT, 1, p->about.len + 1, p->about.s },
		{ PM_RTF_VALUES, sizeof *p->value.v, p->value.n, p->value.v },
		{ PM_RTF_SHAPES, sizeof *p->shapes.v, p->shapes.n, p->shapes.v },
		{ PM_RTF_EXTENTS, sizeof *p->extent.v, p->extent.n, p->extent.v },
		{ PM_RTF_BUFFERS, sizeof *p->buffer.v, p->buffer.n, p->buffer.v },
		{ PM_RTF_STEPS, sizeof *p->step.v, p->step.n, p->step.v },
		{ PM_RTF_ARGS, sizeof *p->arg.v, p->arg.n, p->arg.v },
		{ PM_RTF_CONSTS, sizeof *p->constant.v, p->constant.n, p->constant.v },
		{ PM_RTF_FILES, sizeof *p->file.v, p->file.n, p->file.v },
		{ PM_RTF_UNITS, sizeof *p->unit.v, p->unit.n, p->unit.v },
		{ PM_RTF_IMAGES, sizeof *p->image.v, p->image.n, p->image.v },
		{ PM_RTF_CALLS, sizeof *p->call.v, p->call.n, p->call.v },
		{ PM_RTF_CHOICES, sizeof *p->choice.v, p->choice.n, p->choice.v },
		{ PM_RTF_CODE, 1, p->code.len, p->code.s },
	};
	PmStatus st = pm_out_write(f, h, sizeof *h, err);

	for (size_t i = 0; i < sizeof part / sizeof *part && !st; i++)
		st = write_section(f, h, part[i].kind, part[i].record, part[i].v, part[i].n, err);
	if (!st)
		st = write_weights(p, f, h, err);
	h->file_bytes = (uint64_t)pm_out_size(f);
	pm_package_digest(h, h->sha256);
	if (!st)
		st = pm_out_patch(f, 0, h, sizeof *h, err);
	return st ? st : pm_out_sync(f, err);
}

PmStatus pm__package_write(PmPackage *p, const char *out, PmCompiled *result, PmErr *err)
{
	PmRtfHeader h = { .version = PM_RTF_VERSION, .n_sections = PM_RTF_N_SECTIONS, .pieces = PM_RTF_NONE };
	PmOutFile *f = NULL;
	PmStatus st;

	memcpy(h.magic, PM_RTF_MAGIC, sizeof h.magic);
	h.n_inputs = (uint32_t)pm_graph_n_inputs(p->open);
	h.n_outputs = (uint32_t)pm_graph_n_outputs(p->open);
	if (p->ask->pieces)
		h.pieces = pm__text(p, p->ask->pieces);
	st = pm_out_open(out, &f, err);
	if (!st)
		st = write_all(p, f, &h, err);
	if (st)
		pm_out_abort(f);
	else
		st = pm_out_commit(f, err);
	result->bytes = (int64_t)h.file_bytes;
	for (int i = 0; i < PM_RTF_DIGEST; i++)
		snprintf(result->digest + 2 * (size_t)i, 3, "%02x", h.sha256[i]);
	return st;
}
