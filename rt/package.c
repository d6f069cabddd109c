/* SPDX-License-Identifier: Apache-2.0 */
/* package.c - maps a package and checks every number in it that names a place. */
#include "rt/package.h"

#include "rt/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_BYTES ((uint64_t)1 << 46) /* of an arena, a tensor or a file */

static const char *const section_names[PM_RTF_N_SECTIONS] = {
#define XX(name, member, record, what) [PM_RTF_##name] = #name,
	PM_RTF_SECTIONS(XX)
#undef XX
};

/* What is being checked, for sentences. */
typedef struct Check {
	PmRtPackage *p;
	const char *name;
	PmErr *err;
} Check;

static PmStatus bad(const Check *c, int section, size_t record, const char *what)
{
	return pm_err(c->err, PM_E_INVALID,
		      "%s: record %zu of section %s %s; the package is damaged, so compile it again.",
		      c->name, record, section_names[section], what);
}

const char *pm_package_text(const PmRtPackage *p, uint32_t text)
{
	return p->text + text;
}

size_t pm_package_type_size(uint32_t type)
{
	static const unsigned char size[17] = {
		[1] = 4, [2] = 1,  [3] = 1,  [4] = 2,  [5] = 2,  [6] = 4, [7] = 8,
		[9] = 1, [10] = 2, [11] = 8, [12] = 4, [13] = 8, [16] = 2
	};

	return type < sizeof size ? size[type] : 0;
}

static size_t n_values(const PmRtPackage *p)
{
	return (size_t)p->header->n_inputs + p->header->n_outputs;
}

const PmRtfExtent *pm_package_extent(const PmRtPackage *p, size_t shape, size_t value)
{
	return &p->extent[shape * n_values(p) + value];
}

/* UINT64_MAX when it is more than MOST_BYTES. */
static uint64_t bytes_of(const PmRtfValue *v, const PmRtfExtent *e)
{
	uint64_t n = pm_package_type_size(v->type);

	for (uint32_t k = 0; k < v->rank; k++) {
		if (e->dim[k] < 0 || (e->dim[k] && n > MOST_BYTES / (uint64_t)e->dim[k]))
			return UINT64_MAX;
		n *= (uint64_t)e->dim[k];
	}
	return n;
}

uint64_t pm_package_value_bytes(const PmRtPackage *p, size_t shape, size_t value)
{
	return bytes_of(&p->value[value], pm_package_extent(p, shape, value));
}

void pm_package_digest(const PmRtfHeader *h, unsigned char digest[PM_RTF_DIGEST])
{
	PmRtfHeader plain = *h;

	memset(plain.sha256, 0, sizeof plain.sha256);
	pm_sha256_of(&plain, sizeof plain, digest);
}

/* ---- the frame ---- */

static PmStatus check_header(Check *c, int digests)
{
	const PmRtPackage *p = c->p;
	const PmRtfHeader *h = p->header;
	unsigned char digest[PM_RTF_DIGEST];

	if (p->n_bytes < sizeof h->magic || memcmp(h->magic, PM_RTF_MAGIC, sizeof h->magic) != 0)
		return pm_err(
			c->err, PM_E_INVALID,
			"%s is not a package of Passmith; `passmith compile MODEL -o NAME.pmz` makes one.",
			c->name);
	if (p->n_bytes < sizeof *h)
		return pm_err(c->err, PM_E_INVALID,
			      "%s ends after %zu bytes, within its header; copy the package again.", c->name,
			      p->n_bytes);
	if (h->version != PM_RTF_VERSION)
		return pm_err(c->err, PM_E_INVALID,
			      "%s has version %u of the format, and this library reads version %d; compile "
			      "the model "
			      "again with the Passmith of this library.",
			      c->name, h->version, PM_RTF_VERSION);
	if (h->file_bytes != p->n_bytes)
		return pm_err(c->err, PM_E_INVALID,
			      "%s has %zu bytes and should have %llu; copy the package again.", c->name,
			      p->n_bytes, (unsigned long long)h->file_bytes);
	pm_package_digest(h, digest);
	if (digests && memcmp(digest, h->sha256, sizeof digest) != 0)
		return pm_err(c->err, PM_E_INVALID,
			      "%s: the header does not have the digest that it says; the package is damaged, "
			      "so copy "
			      "or compile it again.",
			      c->name);
	return PM_OK;
}

static PmStatus bad_section(const Check *c, int i, const char *what)
{
	return pm_err(c->err, PM_E_INVALID,
		      "%s: section %s %s; the package is damaged, so copy or compile it again.", c->name,
		      section_names[i], what);
}

static PmStatus check_digest(const Check *c, int i)
{
	const PmRtfSection *s = &c->p->header->section[i];
	unsigned char digest[PM_RTF_DIGEST];

	pm_sha256_of(c->p->bytes + s->offset, s->bytes, digest);
	return memcmp(digest, s->sha256, sizeof digest) ? bad_section(c, i, "does not have its digest")
							: PM_OK;
}

static PmStatus check_sections(Check *c, int digests)
{
	static const size_t size[] = {
#define XX(name, member, record, what) sizeof(record),
		PM_RTF_SECTIONS(XX)
#undef XX
	};
	uint64_t from = sizeof(PmRtfHeader);
	PmStatus st = PM_OK;

	if (c->p->header->n_sections != PM_RTF_N_SECTIONS)
		return pm_err(c->err, PM_E_INVALID,
			      "%s has %u sections and should have %d; compile it again.", c->name,
			      c->p->header->n_sections, PM_RTF_N_SECTIONS);
	for (int i = 0; i < PM_RTF_N_SECTIONS && !st; i++) {
		const PmRtfSection *s = &c->p->header->section[i];
		uint64_t align = i == PM_RTF_WEIGHTS ? PM_RTF_PAGE : PM_RTF_ALIGN;

		if (s->kind != (uint32_t)i || s->record != size[i])
			return bad_section(c, i, "is of another kind than its place says");
		if (s->offset < from || s->offset % align || s->offset > c->p->n_bytes ||
		    s->bytes > c->p->n_bytes - s->offset)
			return bad_section(c, i, "lies outside of the file");
		if (s->bytes % size[i] || s->bytes / size[i] >= PM_RTF_NONE)
			if (size[i] > 1)
				return bad_section(c, i, "does not hold whole records");
		from = s->offset + s->bytes;
		if (digests && i != PM_RTF_WEIGHTS)
			st = check_digest(c, i);
	}
	return st;
}

/* ---- the tables ---- */

static int is_text(const PmRtPackage *p, uint32_t t)
{
	return t < p->n_text;
}

static PmStatus check_texts(Check *c)
{
	const PmRtPackage *p = c->p;

	if (!p->n_text || p->n_text >= PM_RTF_NONE || p->text[p->n_text - 1] || p->text[0])
		return bad_section(c, PM_RTF_TEXTS, "does not end, or does not begin, with a zero");
	if (!p->n_about || p->about[p->n_about - 1] || strlen(p->about) + 1 != p->n_about)
		return bad_section(c, PM_RTF_ABOUT, "is not one text");
	if (p->header->pieces != PM_RTF_NONE && !is_text(p, p->header->pieces))
		return bad_section(c, PM_RTF_TEXTS, "lacks the symbol of pieces");
	return PM_OK;
}

static PmStatus check_values(Check *c)
{
	const PmRtPackage *p = c->p;

	if (p->n_value != n_values(p))
		return bad_section(c, PM_RTF_VALUES, "does not have as many records as there are values");
	for (size_t i = 0; i < p->n_value; i++) {
		const PmRtfValue *v = &p->value[i];

		if (!is_text(p, v->name) || !pm_package_type_size(v->type) || v->rank > PM_RTF_RANK)
			return bad(c, PM_RTF_VALUES, i, "has no known type");
		for (uint32_t k = 0; k < PM_RTF_RANK; k++)
			if (v->dim[k] < -1 || (v->symbol[k] != PM_RTF_NONE && !is_text(p, v->symbol[k])))
				return bad(c, PM_RTF_VALUES, i, "has a size that is none");
	}
	return PM_OK;
}

static PmStatus check_extents(Check *c)
{
	const PmRtPackage *p = c->p;

	if (!p->n_shape || (p->n_value ? p->n_extent / p->n_value : p->n_shape) != p->n_shape ||
	    p->n_extent != p->n_shape * p->n_value)
		return bad_section(c, PM_RTF_EXTENTS,
				   "does not have the sizes of every value in every shape");
	for (size_t i = 0; i < p->n_extent; i++) {
		const PmRtfValue *v = &p->value[i % p->n_value];
		const PmRtfExtent *e = &p->extent[i];

		if (bytes_of(v, e) > MOST_BYTES)
			return bad(c, PM_RTF_EXTENTS, i, "has a size that is none");
		for (uint32_t k = 0; k < v->rank; k++)
			if (v->dim[k] >= 0 && v->dim[k] != e->dim[k])
				return bad(c, PM_RTF_EXTENTS, i, "is not a size of its value");
	}
	return PM_OK;
}

static PmStatus check_buffer(Check *c, size_t shape, size_t i)
{
	const PmRtPackage *p = c->p;
	const PmRtfBuffer *b = &p->buffer[i];
	size_t n_in = p->header->n_inputs;

	switch (b->place) {
	case PM_RTF_INPUT:
		if (b->index >= n_in || b->bytes != pm_package_value_bytes(p, shape, b->index))
			return bad(c, PM_RTF_BUFFERS, i, "is not as large as its input");
		return PM_OK;
	case PM_RTF_OUTPUT:
		if (b->index >= p->header->n_outputs ||
		    b->bytes != pm_package_value_bytes(p, shape, n_in + b->index))
			return bad(c, PM_RTF_BUFFERS, i, "is not as large as its output");
		return PM_OK;
	case PM_RTF_CONST:
		if (b->index >= p->n_constant || b->bytes != p->constant[b->index].bytes)
			return bad(c, PM_RTF_BUFFERS, i, "is not as large as its constant");
		return PM_OK;
	case PM_RTF_ARENA:
		if (b->offset % PM_RTF_CONST_ALIGN || b->offset > p->shape[shape].arena ||
		    b->bytes > p->shape[shape].arena - b->offset)
			return bad(c, PM_RTF_BUFFERS, i, "lies outside of the arena");
		return PM_OK;
	default:
		return bad(c, PM_RTF_BUFFERS, i, "lies nowhere");
	}
}

static PmStatus check_args(Check *c, const PmRtfShape *s, const PmRtfStep *step)
{
	const PmRtPackage *p = c->p;

	for (uint32_t i = 0; i < step->n_args; i++) {
		const PmRtfArg *a = &p->arg[step->first_arg + i];

		if (a->kind >= PM_RTF_N_KINDS)
			return bad(c, PM_RTF_ARGS, step->first_arg + i, "is of no known kind");
		if (a->kind == PM_RTF_BUF &&
		    (a->buffer >= s->n_buffers || a->v.offset > p->buffer[s->first_buffer + a->buffer].bytes))
			return bad(c, PM_RTF_ARGS, step->first_arg + i, "lies outside of its buffer");
	}
	return PM_OK;
}

static int is_constant(const PmRtPackage *p, const PmRtfShape *shape, const PmRtfArg *a)
{
	return p->buffer[shape->first_buffer + a->buffer].place == PM_RTF_CONST;
}

/* A call works on the first arguments of its launch, which are buffers; on a constant where it says so. */
static int call_fits(const PmRtPackage *p, const PmRtfShape *shape, const PmRtfStep *s)
{
	const PmRtfCall *call;
	uint32_t wanted;

	if (s->call == PM_RTF_NONE)
		return 1;
	if (s->call >= p->n_call)
		return 0;
	call = &p->call[s->call];
	wanted = call->kind == PM_RTF_GEMM ? 3 + (call->v[13] != 0) : 3 + (call->v[3] != 0);
	for (uint32_t i = 0; i < wanted; i++)
		if (i >= s->n_args || p->arg[s->first_arg + i].kind != PM_RTF_BUF)
			return 0;
	return call->kind == PM_RTF_GEMM || !call->v[28] || is_constant(p, shape, &p->arg[s->first_arg + 2]);
}

/* *arg: where the arguments of the step before end; those of this one follow. */
static PmStatus check_step(Check *c, const PmRtfShape *shape, size_t i, size_t *arg)
{
	const PmRtPackage *p = c->p;
	const PmRtfStep *s = &p->step[i];
	uint64_t threads = 1;
	PmStatus st;

	if (!is_text(p, s->label) || !is_text(p, s->entry) || s->unit >= p->n_unit || p->unit[s->unit].around)
		return bad(c, PM_RTF_STEPS, i, "launches no kernel");
	if (s->n_args > PM_RTF_MAX_ARGS || s->first_arg != *arg || s->n_args > p->n_arg - *arg)
		return bad(c, PM_RTF_STEPS, i, "has arguments that are not there");
	*arg += s->n_args;
	for (int k = 0; k < 3; k++) {
		threads = s->block[k] && s->block[k] <= 1024 ? threads * s->block[k] : 1 << 20;
		if (!s->grid[k] || s->grid[k] > (k ? 65535u : 0x7fffffffu))
			return bad(c, PM_RTF_STEPS, i, "has a grid that no device takes");
	}
	if (threads > 1024 || s->smem > 1 << 20)
		return bad(c, PM_RTF_STEPS, i, "has a block that no device takes");
	st = check_args(c, shape, s);
	if (!st && !call_fits(p, shape, s))
		st = bad(c, PM_RTF_STEPS, i, "calls a library with other arguments than it takes");
	return st;
}

static PmStatus check_shapes(Check *c)
{
	const PmRtPackage *p = c->p;
	size_t buffer = 0, step = 0, arg = 0;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < p->n_shape && !st; i++) {
		const PmRtfShape *s = &p->shape[i];

		if (s->arena > MOST_BYTES || s->first_buffer != buffer ||
		    s->n_buffers > p->n_buffer - buffer || s->first_step != step ||
		    s->n_steps > p->n_step - step)
			return bad(c, PM_RTF_SHAPES, i, "has buffers or steps that are not there");
		for (uint32_t k = 0; k < s->n_buffers && !st; k++)
			st = check_buffer(c, i, buffer++);
		for (uint32_t k = 0; k < s->n_steps && !st; k++)
			st = check_step(c, s, step++, &arg);
	}
	/* Devices go over all steps when they load kernels. */
	if (!st && (buffer != p->n_buffer || step != p->n_step || arg != p->n_arg))
		return bad_section(c, PM_RTF_SHAPES, "leaves out buffers, steps or arguments");
	return st;
}

static PmStatus check_constants(Check *c)
{
	const PmRtPackage *p = c->p;

	for (size_t i = 0; i < p->n_file; i++)
		if (!is_text(p, p->file[i].path) || p->file[i].bytes > MOST_BYTES)
			return bad(c, PM_RTF_FILES, i, "names no file");
	for (size_t i = 0; i < p->n_constant; i++) {
		const PmRtfConst *k = &p->constant[i];
		uint64_t all = k->file == PM_RTF_NONE ? p->n_weights
			       : k->file < p->n_file  ? p->file[k->file].bytes
						      : 0;

		if (!is_text(p, k->name) || k->offset > all || k->bytes > all - k->offset ||
		    (k->file != PM_RTF_NONE && k->file >= p->n_file) ||
		    (k->file == PM_RTF_NONE && k->offset % PM_RTF_CONST_ALIGN))
			return bad(c, PM_RTF_CONSTS, i, "lies outside of the weights");
	}
	return PM_OK;
}

static PmStatus check_images(Check *c)
{
	const PmRtPackage *p = c->p;

	for (size_t i = 0; i < p->n_unit; i++)
		if (!is_text(p, p->unit[i].label) || !pm_package_type_size(p->unit[i].type))
			return bad(c, PM_RTF_UNITS, i, "has no name or type");
	for (size_t i = 0; i < p->n_image; i++) {
		const PmRtfImage *m = &p->image[i];

		if (m->unit >= p->n_unit || m->form >= PM_RTF_N_FORMS || m->offset % PM_RTF_ALIGN ||
		    !m->bytes || m->offset > p->n_code || m->bytes > p->n_code - m->offset)
			return bad(c, PM_RTF_IMAGES, i, "lies outside of the code");
		if (m->form == PM_RTF_PTX && p->code[m->offset + m->bytes - 1])
			return bad(c, PM_RTF_IMAGES, i, "is a text without an end");
	}
	return PM_OK;
}

/* All of v[from .. from + n) are at least `least`, and small enough to be multiplied. */
static int in_range(const int64_t *v, int from, int n, int64_t least)
{
	for (int i = from; i < from + n; i++)
		if (v[i] < least || v[i] > (int64_t)MOST_BYTES)
			return 0;
	return 1;
}

/* Sizes as library.h says of them (the places in v stand in format.h). */
static int is_call(const PmRtfCall *k)
{
	const int64_t *v = k->v;
	int spatial = v[0] >= 1 && v[0] <= 3 ? (int)v[0] : 0;

	if (k->type != 1 && k->type != 10 && k->type != 11 && k->type != 16)
		return 0;
	for (int i = 0; i < 4; i++)
		if (k->align[i] < 0 || k->align[i] > 256 || k->step[i] < -(int64_t)MOST_BYTES ||
		    k->step[i] > (int64_t)MOST_BYTES)
			return 0;
	if (k->kind == PM_RTF_GEMM)
		return in_range(v, 0, 4, 1) && in_range(v, 4, 6, -(int64_t)MOST_BYTES) &&
		       in_range(v, 10, 1, 1) && v[10] <= 64 && in_range(v, 11, 2, -(int64_t)MOST_BYTES) &&
		       v[13] >= 0 && v[13] <= 2;
	return k->kind == PM_RTF_CONV && spatial && in_range(v, 2, 1, 1) && in_range(v, 4, spatial + 2, 1) &&
	       in_range(v, 9, spatial + 2, 1) && in_range(v, 14, spatial + 2, 1) &&
	       in_range(v, 19, spatial, 0) && in_range(v, 22, spatial, 1) && in_range(v, 25, spatial, 1) &&
	       v[28] >= 0 && v[28] <= 1;
}

static PmStatus check_calls(Check *c)
{
	const PmRtPackage *p = c->p;

	for (size_t i = 0; i < p->n_call; i++)
		if (!is_call(&p->call[i]))
			return bad(c, PM_RTF_CALLS, i, "is no call that libraries take");
	for (size_t i = 0; i < p->n_choice; i++)
		if (p->choice[i].call >= p->n_call || !is_text(p, p->choice[i].gpu))
			return bad(c, PM_RTF_CHOICES, i, "is for no call");
	return PM_OK;
}

PmStatus pm_package_read(const void *bytes, size_t n, const char *name, int digests, PmRtPackage *out,
			 PmErr *err)
{
	Check c = { out, name, err };
	PmStatus st;

	memset(out, 0, sizeof *out);
	out->bytes = bytes;
	out->n_bytes = n;
	out->header = bytes;
	st = check_header(&c, digests);
	if (!st)
		st = check_sections(&c, digests);
	if (st)
		return st;
#define XX(name, member, record, what)                                                                       \
	out->member = (const record *)(const void *)(out->bytes +                                            \
						     out->header->section[PM_RTF_##name].offset);            \
	out->n_##member = out->header->section[PM_RTF_##name].bytes / sizeof(record);
	PM_RTF_SECTIONS(XX)
#undef XX
	st = check_texts(&c);
	if (!st)
		st = check_values(&c);
	if (!st)
		st = check_extents(&c);
	if (!st)
		st = check_constants(&c);
	if (!st)
		st = check_images(&c);
	if (!st)
		st = check_calls(&c);
	return st ? st : check_shapes(&c);
}

/* ---- files ---- */

static PmStatus no_file(const char *path, PmErr *err)
{
	return pm_err(err, errno == ENOENT ? PM_E_NOT_FOUND : PM_E_IO,
		      "Cannot open \"%s\": %s; check the path.", path, strerror(errno));
}

PmStatus pm_package_open(const char *path, PmRtPackage *out, PmErr *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *p = MAP_FAILED;
	struct stat sb;
	PmStatus st;

	memset(out, 0, sizeof *out);
	if (fd < 0)
		return no_file(path, err);
	if (fstat(fd, &sb) || !S_ISREG(sb.st_mode) || sb.st_size <= 0) {
		close(fd);
		return pm_err(err, PM_E_INVALID,
			      "%s is not a package of Passmith: it is no file, or empty; `passmith compile "
			      "MODEL -o "
			      "NAME.pmz` makes one.",
			      path);
	}
	p = mmap(NULL, (size_t)sb.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return no_file(path, err);
	st = pm_package_read(p, (size_t)sb.st_size, path, 1, out, err);
	out->mapped = 1;
	if (st)
		pm_package_close(out);
	return st;
}

void pm_package_close(PmRtPackage *p)
{
	if (p->mapped)
		munmap((void *)(uintptr_t)p->bytes, p->n_bytes);
	memset(p, 0, sizeof *p);
}

PmStatus pm_package_check_weights(const PmRtPackage *p, const char *name, PmErr *err)
{
	PmRtPackage own = *p;
	Check c = { &own, name, err };

	return check_digest(&c, PM_RTF_WEIGHTS);
}
