/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.c - writing and reading a file of kernels (kernels.h). */
#include "ort/kernels.h"

#include "rt/sha256.h"

#include <string.h>

/* --- writing ---------------------------------------------------------------------------------------------
 */

static void put(PmStr *out, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		pm_str_addc(out, (char)(unsigned char)(v >> 8 * i));
}

static void put_text(PmStr *out, const char *s)
{
	size_t n = strlen(s);

	put(out, n, 4);
	pm_str_addn(out, s, n + 1);
}

static void put_values(PmStr *out, const PmOrtValue *v, uint32_t n)
{
	put(out, n, 4);
	for (uint32_t i = 0; i < n; i++) {
		put(out, v[i].type, 4);
		put(out, v[i].rank, 4);
		for (uint32_t k = 0; k < v[i].rank; k++)
			put(out, (uint64_t)v[i].dim[k], 8);
	}
}

static void put_launch(PmStr *out, const PmOrtLaunch *l)
{
	put_text(out, l->entry);
	for (int i = 0; i < 3; i++)
		put(out, l->grid[i], 4);
	for (int i = 0; i < 3; i++)
		put(out, l->block[i], 4);
	put(out, l->smem, 4);
	put(out, l->n_args, 4);
	for (uint32_t i = 0; i < l->n_args; i++) {
		put(out, l->args[i].kind, 4);
		put(out, l->args[i].index, 4);
		put(out, l->args[i].bits, 8);
	}
}

static void put_kernel(PmStr *out, const PmOrtKernel *k)
{
	put_text(out, k->name);
	put_text(out, k->label);
	put_values(out, k->in, k->n_in);
	put_values(out, k->out, k->n_out);
	put(out, k->n_scratch, 4);
	for (uint32_t i = 0; i < k->n_scratch; i++)
		put(out, k->scratch[i], 8);
	put(out, k->n_launches, 4);
	for (uint32_t i = 0; i < k->n_launches; i++)
		put_launch(out, &k->launches[i]);
	put(out, k->n_images, 4);
	for (uint32_t i = 0; i < k->n_images; i++)
		put(out, k->images[i], 4);
}

void pm_ort_kernels_write(const PmOrtKernels *k, PmStr *out)
{
	PmStr rest = PM_STR_INIT;
	unsigned char digest[PM_ORT_DIGEST];

	put(&rest, k->n_images, 4);
	for (uint32_t i = 0; i < k->n_images; i++) {
		put(&rest, k->image[i].kind, 4);
		put(&rest, k->image[i].arch, 4);
		put(&rest, k->image[i].n, 8);
		pm_str_addn(&rest, k->image[i].p, k->image[i].n);
	}
	put(&rest, k->n_kernels, 4);
	for (uint32_t i = 0; i < k->n_kernels; i++)
		put_kernel(&rest, &k->kernel[i]);
	pm_sha256_of(rest.s, rest.len, digest);
	pm_str_addn(out, PM_ORT_MAGIC, 8);
	put(out, PM_ORT_VERSION, 4);
	put(out, 0, 4);
	put(out, PM_ORT_HEADER + rest.len, 8);
	pm_str_addn(out, (const char *)digest, sizeof digest);
	pm_str_addn(out, rest.s, rest.len);
	pm_str_release(&rest);
}

/* --- reading ---------------------------------------------------------------------------------------------
 */

typedef struct Reader {
	const unsigned char *p;
	size_t n, at;
	const char *bad; /* the first thing that is wrong, NULL = nothing yet; then everything reads as 0 */
	PmArena *arena;
} Reader;

static uint64_t get(Reader *r, int bytes)
{
	uint64_t v = 0;

	if (r->n - r->at < (size_t)bytes)
		r->bad = r->bad ? r->bad : "it ends in the middle";
	if (r->bad)
		return 0;
	for (int i = 0; i < bytes; i++)
		v |= (uint64_t)r->p[r->at++] << 8 * i;
	return v;
}

static uint32_t get_u32(Reader *r)
{
	return (uint32_t)get(r, 4);
}

/* Bytes of the file; NULL after an error. */
static const void *get_bytes(Reader *r, uint64_t n)
{
	const void *p = r->p + r->at;

	if (n > r->n - r->at)
		r->bad = r->bad ? r->bad : "it ends in the middle";
	if (r->bad)
		return NULL;
	r->at += (size_t)n;
	return p;
}

/* How many elements follow, of which each takes at least `least` bytes in the file: what is allocated for
 * them is in proportion to the file. */
static uint32_t get_count(Reader *r, uint32_t most, size_t least, const char *what)
{
	uint32_t n = get_u32(r);

	if (!r->bad && (n > most || n > (r->n - r->at) / least))
		r->bad = what;
	return r->bad ? 0 : n;
}

static void *room(Reader *r, uint32_t n, size_t size)
{
	return pm_arena_alloc(r->arena, n ? n * size : 1);
}

/* Texts are names in messages, and names of entries that a loader looks up: printable ASCII. */
static const char *get_text(Reader *r)
{
	uint32_t n = get_count(r, PM_ORT_MAX_TEXT, 1, "a name is too long");
	const char *s = get_bytes(r, (uint64_t)n + 1);

	for (uint32_t i = 0; s && i < n; i++)
		if (s[i] <= ' ' || s[i] > '~')
			r->bad = "a name has other characters than names have";
	if (s && (s[n] != 0 || !n))
		r->bad = "a name is empty or has no end";
	return r->bad ? "" : s;
}

static uint64_t type_bytes(uint32_t type)
{
	switch (type) {
#define XX(name, number, text, bytes, class, word, cuda, sums, peak, onnx, field, torch, bits)               \
	case onnx:                                                                                           \
		return bits == 8 * bytes ? bytes : 0;
#include "passmith/dtypes.def"
#undef XX
	default:
		return 0;
	}
}

/* 0 where it does not fit. */
static uint64_t checked_bytes(const PmOrtValue *v, int *fits)
{
	uint64_t n = type_bytes(v->type);

	*fits = n != 0;
	for (uint32_t i = 0; i < v->rank; i++) {
		uint64_t d = (uint64_t)v->dim[i];

		if (v->dim[i] < 0 || (d && n > (uint64_t)INT64_MAX / d))
			*fits = 0;
		n *= d;
	}
	return *fits ? n : 0;
}

uint64_t pm_ort_value_bytes(const PmOrtValue *v)
{
	int fits;

	return checked_bytes(v, &fits);
}

static uint32_t get_values(Reader *r, PmOrtValue **out)
{
	uint32_t n = get_count(r, PM_ORT_MAX_VALUES, 8, "a kernel has too many operands or results");
	PmOrtValue *v = room(r, n, sizeof *v);

	for (uint32_t i = 0; i < n; i++) {
		int fits;

		memset(&v[i], 0, sizeof v[i]);
		v[i].type = get_u32(r);
		v[i].rank = get_count(r, PM_ORT_MAX_RANK, 8, "a tensor has too many dimensions");
		for (uint32_t k = 0; k < v[i].rank; k++)
			v[i].dim[k] = (int64_t)get(r, 8);
		checked_bytes(&v[i], &fits);
		if (!r->bad && !fits)
			r->bad = "a tensor has a type or a size that no kernel has";
	}
	*out = v;
	return r->bad ? 0 : n;
}

static void get_arg(Reader *r, const PmOrtKernel *k, PmOrtArg *a)
{
	const uint32_t among[] = { k->n_in, k->n_out, k->n_scratch };

	a->kind = get_u32(r);
	a->index = get_u32(r);
	a->bits = get(r, 8);
	if (!r->bad && a->kind >= PM_ORT_N_ARGS)
		r->bad = "an argument is of an unknown kind";
	if (!r->bad && a->kind <= PM_ORT_SCRATCH && a->index >= among[a->kind])
		r->bad = "an argument is a buffer that the kernel does not have";
}

static void get_launch(Reader *r, const PmOrtKernel *k, PmOrtLaunch *l)
{
	memset(l, 0, sizeof *l);
	l->entry = get_text(r);
	for (int i = 0; i < 3; i++)
		l->grid[i] = get_u32(r);
	for (int i = 0; i < 3; i++)
		l->block[i] = get_u32(r);
	l->smem = get_u32(r);
	l->n_args = get_count(r, PM_ORT_MAX_ARGS, 16, "a launch has too many arguments");
	l->args = room(r, l->n_args, sizeof *l->args);
	for (uint32_t i = 0; i < l->n_args; i++)
		get_arg(r, k, &l->args[i]);
}

static void get_kernel(Reader *r, uint32_t n_images, PmOrtKernel *k)
{
	memset(k, 0, sizeof *k);
	k->name = get_text(r);
	k->label = get_text(r);
	k->n_in = get_values(r, &k->in);
	k->n_out = get_values(r, &k->out);
	k->n_scratch = get_count(r, PM_ORT_MAX_SCRATCH, 8, "a kernel has too many scratch buffers");
	k->scratch = room(r, k->n_scratch, sizeof *k->scratch);
	for (uint32_t i = 0; i < k->n_scratch; i++) {
		k->scratch[i] = get(r, 8);
		if (!r->bad && k->scratch[i] > (uint64_t)INT64_MAX)
			r->bad = "a scratch buffer is too large";
	}
	k->n_launches = get_count(r, PM_ORT_MAX_LAUNCHES, 36, "a kernel has too many launches");
	k->launches = room(r, k->n_launches, sizeof *k->launches);
	for (uint32_t i = 0; i < k->n_launches; i++)
		get_launch(r, k, &k->launches[i]);
	k->n_images = get_count(r, PM_ORT_MAX_IMAGES, 4, "a kernel has too many images");
	k->images = room(r, k->n_images, sizeof *k->images);
	for (uint32_t i = 0; i < k->n_images; i++) {
		k->images[i] = get_u32(r);
		if (!r->bad && k->images[i] >= n_images)
			r->bad = "a kernel names an image that is not there";
	}
}

static void get_all(Reader *r, PmOrtKernels *out)
{
	out->n_images = get_count(r, PM_ORT_MAX_IMAGES, 16, "it has too many images");
	out->image = room(r, out->n_images, sizeof *out->image);
	for (uint32_t i = 0; i < out->n_images && !r->bad; i++) {
		out->image[i].kind = get_u32(r);
		out->image[i].arch = get_u32(r);
		out->image[i].n = (size_t)get(r, 8);
		out->image[i].p = get_bytes(r, out->image[i].n);
		if (!r->bad && out->image[i].kind >= PM_ORT_N_IMAGES)
			r->bad = "an image is of an unknown kind";
		if (!r->bad && out->image[i].kind == PM_ORT_PTX &&
		    (!out->image[i].n || ((const char *)out->image[i].p)[out->image[i].n - 1] != 0))
			r->bad = "a text for GPUs has no end";
	}
	out->n_kernels = get_count(r, PM_ORT_MAX_KERNELS, 28, "it has too many kernels");
	out->kernel = room(r, out->n_kernels, sizeof *out->kernel);
	for (uint32_t i = 0; i < out->n_kernels && !r->bad; i++) {
		get_kernel(r, out->n_images, &out->kernel[i]);
		if (!r->bad && i && strcmp(out->kernel[i - 1].name, out->kernel[i].name) >= 0)
			r->bad = "its kernels are not in the order of their names";
	}
	if (!r->bad && r->at != r->n)
		r->bad = "something follows its end";
}

static const char *check_header(Reader *r, unsigned char digest[PM_ORT_DIGEST])
{
	unsigned char really[PM_ORT_DIGEST];
	uint32_t version, unused;
	uint64_t bytes;

	if (r->n < PM_ORT_HEADER || memcmp(r->p, PM_ORT_MAGIC, 8) != 0)
		return "it is no file of kernels";
	r->at = 8;
	version = get_u32(r);
	unused = get_u32(r);
	bytes = get(r, 8);
	if (version != PM_ORT_VERSION || unused)
		return "it is of another version of passmith";
	if (bytes != r->n)
		return bytes > r->n ? "it ends in the middle" : "something follows its end";
	memcpy(digest, get_bytes(r, PM_ORT_DIGEST), PM_ORT_DIGEST);
	pm_sha256_of(r->p + r->at, r->n - r->at, really);
	return memcmp(digest, really, sizeof really) == 0 ? NULL : "its digest is another, so it was changed";
}

PmStatus pm_ort_kernels_read(const void *p, size_t n, const char *path, PmArena *arena, PmOrtKernels *out,
			     PmErr *err)
{
	Reader r = { .p = p, .n = n, .arena = arena };

	memset(out, 0, sizeof *out);
	r.bad = check_header(&r, out->digest);
	if (!r.bad)
		get_all(&r, out);
	if (!r.bad)
		return PM_OK;
	memset(out, 0, sizeof *out);
	return pm_err(err, PM_E_INVALID,
		      "%s cannot be used as a file of kernels: %s; write it again with passmith apply "
		      "--ort-kernels.",
		      path, r.bad);
}

const PmOrtKernel *pm_ort_kernel_find(const PmOrtKernels *k, const char *name)
{
	size_t low = 0, high = k->n_kernels;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int order = strcmp(k->kernel[mid].name, name);

		if (!order)
			return &k->kernel[mid];
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}
