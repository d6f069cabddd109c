/* SPDX-License-Identifier: Apache-2.0 */
/* package_bytes.c - a package put together record by record. */
#include "tests/lib/device/package_bytes.h"

#include "rt/package.h"
#include "rt/sha256.h"

#include <string.h>

/* TEXTS: places of the words in it. */
static const char texts[] = "\0x\0y\0batch\0k\0w\0label\0gpu\0more.bin";
enum { X = 1, Y = 3, BATCH = 5, ENTRY = 11, W = 13, LABEL = 15, GPU = 21, FILE_NAME = 25 };

/* y = w x for batches of 1 and 4, [batch, 8] times [8, 8]; then a copy of it in place of the result. */
static const PmRtfValue values[] = {
	{ X,
	  1,
	  2,
	  0,
	  { -1, 8 },
	  { BATCH, PM_RTF_NONE, PM_RTF_NONE, PM_RTF_NONE, PM_RTF_NONE, PM_RTF_NONE, PM_RTF_NONE,
	    PM_RTF_NONE } },
	{ Y,
	  1,
	  2,
	  0,
	  { -1, 8 },
	  { BATCH, PM_RTF_NONE, PM_RTF_NONE, PM_RTF_NONE, PM_RTF_NONE, PM_RTF_NONE, PM_RTF_NONE,
	    PM_RTF_NONE } },
};
static const PmRtfShape shapes[] = { { 0, 4, 0, 2, 256 }, { 4, 4, 2, 2, 256 } };
static const PmRtfExtent extents[] = { { { 1, 8 } }, { { 1, 8 } }, { { 4, 8 } }, { { 4, 8 } } };
static const PmRtfBuffer buffers[] = {
	{ PM_RTF_INPUT, 0, 0, 32 },  { PM_RTF_CONST, 0, 0, 256 },  { PM_RTF_ARENA, 0, 0, 32 },
	{ PM_RTF_OUTPUT, 0, 0, 32 }, { PM_RTF_INPUT, 0, 0, 128 },  { PM_RTF_CONST, 1, 0, 256 },
	{ PM_RTF_ARENA, 0, 0, 128 }, { PM_RTF_OUTPUT, 0, 0, 128 },
};
#define STEP(call, first, n)                                                                                 \
	{                                                                                                    \
		LABEL, ENTRY, 0, call, first, n, { 1, 1, 1 }, { 32, 1, 1 }, 0, 0                             \
	}
static const PmRtfStep steps[] = { STEP(0, 0, 3), STEP(PM_RTF_NONE, 3, 4), STEP(0, 7, 3),
				   STEP(PM_RTF_NONE, 10, 4) };
static const PmRtfArg args[] = {
	{ PM_RTF_BUF, 2, { 0 } }, { PM_RTF_BUF, 0, { 0 } }, { PM_RTF_BUF, 1, { 0 } },
	{ PM_RTF_BUF, 3, { 0 } }, { PM_RTF_BUF, 2, { 0 } }, { PM_RTF_I32, 0, { 8 } },
	{ PM_RTF_F64, 0, { 0 } }, { PM_RTF_BUF, 2, { 0 } }, { PM_RTF_BUF, 0, { 0 } },
	{ PM_RTF_BUF, 1, { 0 } }, { PM_RTF_BUF, 3, { 0 } }, { PM_RTF_BUF, 2, { 0 } },
	{ PM_RTF_I64, 0, { 8 } }, { PM_RTF_F32, 0, { 0 } },
};
static const PmRtfConst constants[] = { { W, PM_RTF_NONE, 0, 256 }, { W, 0, 64, 256 } };
static const PmRtfFile files[] = { { FILE_NAME, 0, 1024, { 0 } } };
static const PmRtfUnit units[] = { { LABEL, 0, 1, 0 }, { LABEL, 1, 1, 0 } };
static const PmRtfImage images[] = { { 0, PM_RTF_EMU, 0, 62, 0, 8 },
				     { 0, PM_RTF_CUBIN, 90, 0, 64, 8 },
				     { 1, PM_RTF_PTX, 80, 0, 128, 8 } };
static const PmRtfCall calls[] = {
	{ PM_RTF_GEMM, 1, { 256, 256, 256, 0 }, { 0 }, 1, 0, { 1, 8, 8, 1, 8, 1, 0, 8, 1, 0, 1, 0, 0, 0 } },
	{ PM_RTF_CONV, 10, { 256, 256, 256, 0 }, { 0 }, 0, 0, { 2, 0, 1, 0, 1, 3, 8, 8, 0, 4, 3, 3, 3, 0,
								1, 4, 6, 6, 0, 0, 0, 0, 1, 1, 0, 1, 1, 0 } },
};
static const PmRtfChoice choices[] = { { 0, GPU, 130000, 91300, 0, 2 } };
static const char about[] = "{\"passmith\":\"0\"}", code[192], weights[256];

static void pad(PmStr *out, size_t from, size_t align)
{
	while ((out->len - from) % align)
		pm_str_addc(out, '\0');
}

void test_package_bytes(PmStr *out)
{
	const struct {
		const void *p;
		size_t record, bytes;
	} part[PM_RTF_N_SECTIONS] = {
#define PART(kind, array) [PM_RTF_##kind] = { array, sizeof *array, sizeof array }
		PART(TEXTS, texts),      PART(ABOUT, about),     PART(VALUES, values), PART(SHAPES, shapes),
		PART(EXTENTS, extents),  PART(BUFFERS, buffers), PART(STEPS, steps),   PART(ARGS, args),
		PART(CONSTS, constants), PART(FILES, files),     PART(UNITS, units),   PART(IMAGES, images),
		PART(CALLS, calls),      PART(CHOICES, choices), PART(CODE, code),     PART(WEIGHTS, weights),
	};
	PmRtfHeader h = { .version = PM_RTF_VERSION,
			  .n_sections = PM_RTF_N_SECTIONS,
			  .n_inputs = 1,
			  .n_outputs = 1,
			  .pieces = BATCH };
	size_t from = out->len;

	memcpy(h.magic, PM_RTF_MAGIC, sizeof h.magic);
	pm_str_addn(out, &h, sizeof h);
	for (int i = 0; i < PM_RTF_N_SECTIONS; i++) {
		pad(out, from, i == PM_RTF_WEIGHTS ? PM_RTF_PAGE : PM_RTF_ALIGN);
		h.section[i].kind = (uint32_t)i;
		h.section[i].record = (uint32_t)part[i].record;
		h.section[i].offset = out->len - from;
		h.section[i].bytes = part[i].bytes;
		pm_str_addn(out, part[i].p, part[i].bytes);
	}
	h.file_bytes = out->len - from;
	memcpy(out->s + from, &h, sizeof h);
	test_package_seal(out);
}

void test_package_seal(PmStr *bytes)
{
	PmRtfHeader h;

	memcpy(&h, bytes->s, sizeof h);
	for (int i = 0; i < PM_RTF_N_SECTIONS; i++) {
		PmRtfSection *s = &h.section[i];

		if (s->offset <= bytes->len && s->bytes <= bytes->len - s->offset)
			pm_sha256_of(bytes->s + s->offset, s->bytes, s->sha256);
	}
	pm_package_digest(&h, h.sha256);
	memcpy(bytes->s, &h, sizeof h);
}

PmRtfSection test_package_section(const PmStr *bytes, int kind)
{
	PmRtfHeader h;

	memcpy(&h, bytes->s, sizeof h);
	return h.section[kind];
}
