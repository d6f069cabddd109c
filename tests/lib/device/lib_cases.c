/* SPDX-License-Identifier: Apache-2.0 */
/* lib_cases.c - convolutions and products on awkward shapes, and the ways there are for them. */
#include "tests/lib/device/lib_cases.h"

#include <stdio.h>
#include <string.h>

enum {
	PLAIN = 1 << PM_ALGO_PLAIN,
	PRODUCT = 1 << PM_ALGO_PRODUCT,
	GATHERED = 1 << PM_ALGO_GATHERED,
	LAST = 1 << PM_ALGO_LAST, /* of half types */
	LAST_PRODUCT = 1 << PM_ALGO_LAST_PRODUCT,
	INTERLEAVED = 1 << PM_ALGO_INTERLEAVED,
	FOLDED = 1 << PM_ALGO_FOLDED,
	DOT = 1 << PM_ALGO_DOT,
	PHASES_4 = 1 << PM_ALGO_PHASES_4,            /* at most four channels of y in a group, */
	PHASES_8 = 1 << PM_ALGO_PHASES_8 | PHASES_4, /* eight, */
	PHASES = 1 << PM_ALGO_PHASES_16 | PHASES_8   /* more */
};

#define ONE  "dilations = [1, 1], group = 1, pads = [0, 0, 0, 0], strides = [1, 1]"
#define BACK "dilations = [1, 1], group = 1, output_padding = [0, 0], "

static const LibCase cases[] = {
	{ "Conv", "2,5,7,7", "6,5,1,1", "2,6,7,7", "6", ONE,
	  PLAIN | PRODUCT | GATHERED | LAST | LAST_PRODUCT },
	{ "Conv", "1,67,3,8", "70,67,1,1", "1,70,3,8", "", ONE, PLAIN | PRODUCT | LAST | LAST_PRODUCT },
	{ "Conv", "3,9,1,1", "5,9,1,1", "3,5,1,1", "5", ONE, PLAIN | GATHERED | LAST | LAST_PRODUCT | DOT },
	{ "Conv", "2,72,1,1", "11,72,1,1", "2,11,1,1", "", ONE,
	  PLAIN | GATHERED | LAST | LAST_PRODUCT | DOT },
	{ "Conv", "2,3,9,10", "4,3,3,2", "2,4,5,10", "4",
	  "dilations = [1, 2], group = 1, pads = [1, 1, 1, 1], strides = [2, 1]",
	  PLAIN | GATHERED | LAST | PHASES_4 },
	{ "Conv", "1,4,6,6", "6,2,3,3", "1,6,6,6", "6",
	  "dilations = [1, 1], group = 2, pads = [1, 1, 1, 1], strides = [1, 1]",
	  PLAIN | GATHERED | LAST | PHASES_4 },
	{ "Conv", "2,4,6,6", "6,2,3,3", "2,6,6,6", "",
	  "dilations = [1, 1], group = 2, pads = [1, 1, 1, 1], strides = [1, 1]", PLAIN | LAST | PHASES_4 },
	{ "Conv", "1,6,5,5", "4,3,1,1", "1,4,5,5", "4",
	  "dilations = [1, 1], group = 2, pads = [0, 0, 0, 0], strides = [1, 1]",
	  PLAIN | PRODUCT | GATHERED | LAST },
	{ "Conv", "1,3,40", "2,3,5", "1,2,18", "", "dilations = [1], group = 1, pads = [0, 0], strides = [2]",
	  PLAIN | GATHERED | LAST | PHASES_4 },
	{ "Conv", "1,2,4,5,6", "3,2,2,2,2", "1,3,3,4,5", "3",
	  "dilations = [1, 1, 1], group = 1, pads = [0, 0, 0, 0, 0, 0], strides = [1, 1, 1]",
	  PLAIN | GATHERED | LAST | PHASES_4 },
	{ "ConvTranspose", "2,4,3,5", "4,3,2,2", "2,3,6,10", "3",
	  BACK "pads = [0, 0, 0, 0], strides = [2, 2]", PLAIN | LAST | INTERLEAVED | PHASES_4 },
	{ "ConvTranspose", "1,3,2,3", "3,2,3,4", "1,2,6,12", "", BACK "pads = [0, 0, 0, 0], strides = [3, 4]",
	  PLAIN | LAST | INTERLEAVED | PHASES_4 },
	{ "ConvTranspose", "1,3,33", "3,2,3", "1,2,99", "",
	  "dilations = [1], group = 1, output_padding = [0], pads = [0, 0], strides = [3]",
	  PLAIN | LAST | INTERLEAVED | PHASES_4 },
	{ "ConvTranspose", "2,4,5,6", "4,3,3,4", "2,3,9,12", "3",
	  BACK "pads = [1, 1, 1, 1], strides = [2, 2]", PLAIN | LAST | FOLDED | PHASES_4 },
	{ "ConvTranspose", "1,4,5", "4,3,3", "1,6,10", "6",
	  "dilations = [1], group = 2, output_padding = [1], pads = [1, 1], strides = [2]",
	  PLAIN | LAST | FOLDED | PHASES_4 },
	{ "ConvTranspose", "1,6,3,2", "6,2,2,3", "1,4,6,6", "4",
	  "dilations = [1, 1], group = 2, output_padding = [0, 0], pads = [0, 0, 0, 0], strides = [2, 3]",
	  PLAIN | LAST | INTERLEAVED | PHASES_4 },
	{ "ConvTranspose", "1,2,2,3,2", "2,3,3,2,3", "1,3,4,4,5", "3",
	  "dilations = [1, 1, 1], group = 1, output_padding = [0, 0, 0], pads = [0, 0, 0, 0, 0, 0], strides "
	  "= [1, 1, 2]",
	  PLAIN | LAST | FOLDED | PHASES_4 },
	{ "Conv", "2,3,7,8", "4,3,3,2", "2,4,6,8", "4",
	  "dilations = [1, 1], group = 1, pads = [1, 0, 0, 1], strides = [1, 1]", GATHERED | PHASES_4 },
	{ "Conv", "1,2,5,6,7", "3,2,2,3,2", "1,3,3,6,2", "3",
	  "dilations = [1, 2, 2], group = 1, pads = [1, 2, 0, 1, 2, 0], strides = [2, 1, 3]",
	  PLAIN | GATHERED | LAST | PHASES_4 },
	/* Windows smaller than the stride, of one element too; dilated; groups of several images; pads that
	 * differ; two images of odd size. */
	{ "ConvTranspose", "2,3,5,4", "3,5,2,2", "2,5,14,11", "5",
	  BACK "pads = [0, 0, 0, 0], strides = [3, 3]", PLAIN | LAST | FOLDED | PHASES_8 },
	{ "ConvTranspose", "2,3,2,2", "3,5,1,1", "2,5,3,3", "5", BACK "pads = [0, 0, 0, 0], strides = [2, 2]",
	  PLAIN | LAST | FOLDED | PHASES_8 },
	{ "ConvTranspose", "1,4,4,5", "4,3,3,2", "1,3,9,10", "",
	  "dilations = [2, 3], group = 1, output_padding = [0, 0], pads = [1, 1, 1, 1], strides = [2, 2]",
	  PLAIN | LAST | PHASES_4 },
	{ "ConvTranspose", "3,6,4", "6,2,5", "3,6,7", "6",
	  "dilations = [1], group = 3, output_padding = [0], pads = [2, 2], strides = [2]",
	  PLAIN | LAST | PHASES_4 },
	{ "ConvTranspose", "1,4,5", "4,3,3", "1,6,10", "6",
	  "dilations = [1], group = 2, output_padding = [0], pads = [1, 0], strides = [2]",
	  FOLDED | PHASES_4 },
	{ "ConvTranspose", "1,2,4", "2,3,2", "1,3,12", "3",
	  "dilations = [3], group = 1, output_padding = [2], pads = [0, 0], strides = [2]", PHASES_4 },
	{ "ConvTranspose", "2,3,5,4,3", "3,13,3,5,3", "2,13,9,7,5", "13",
	  "dilations = [1, 1, 1], group = 1, output_padding = [0, 0, 0], pads = [1, 2, 1, 1, 2, 1], strides "
	  "= [2, 2, 2]",
	  PLAIN | LAST | FOLDED | PHASES },
	/* More taps than the kernel of phases has bits for. */
	{ "ConvTranspose", "1,2,40", "2,3,33", "1,3,72", "",
	  "dilations = [1], group = 1, output_padding = [0], pads = [0, 0], strides = [1]",
	  PLAIN | LAST | FOLDED },
	/* Many phases; several rows of tiles, several warps on different rows, several pieces of the depth.
	 */
	{ "ConvTranspose", "2,1,2,3", "1,7,20,5", "2,7,37,37", "7",
	  BACK "pads = [0, 0, 0, 0], strides = [17, 16]", PLAIN | LAST | FOLDED | PHASES_8 },
	{ "ConvTranspose", "1,29,9", "29,35,4", "1,35,18", "35",
	  "dilations = [1], group = 1, output_padding = [0], pads = [1, 1], strides = [2]",
	  PLAIN | LAST | FOLDED | PHASES },
	{ "ConvTranspose", "2,29,3,3", "29,64,3,2", "2,64,5,4", "",
	  BACK "pads = [0, 0, 0, 0], strides = [1, 1]", PLAIN | LAST | FOLDED | PHASES },
	{ "Conv", "1,7,300", "16,7,3", "1,16,300", "16",
	  "dilations = [1], group = 1, pads = [1, 1], strides = [1]", PLAIN | GATHERED | LAST | PHASES },
	{ "MatMul", "1,300", "300,48", "1,48", "", "", PLAIN | DOT },
	{ "MatMul", "3,70", "70,40", "3,40", "", "", PLAIN | DOT },
	{ "MatMul", "8,33", "33,16", "8,16", "", "", PLAIN | DOT },
	{ "MatMul", "2,7", "7,5", "2,5", "", "", PLAIN }, /* rows that are not aligned */
	{ "MatMul", "9,33", "33,16", "9,16", "", "", PLAIN },
	{ "MatMul", "5,3,16", "5,16,8", "5,3,8", "", "", PLAIN },
	{ "Gemm", "8,70", "9,70", "8,9", "9", "transB = 1", PLAIN | DOT },
	{ "Gemm", "1,520", "9,520", "1,9", "9", "transB = 1", PLAIN | DOT },
	{ "Gemm", "4,24", "24,32", "4,32", "32", "transB = 0", PLAIN | DOT },
	{ "Gemm", "5,64", "3,64", "5,3", "", "transB = 1", PLAIN | DOT },
	{ "Gemm", "5,64", "3,64", "5,3", "5,3", "transB = 1", PLAIN },
};

const LibCase *lib_case(size_t i)
{
	return i < sizeof cases / sizeof *cases ? &cases[i] : NULL;
}

const char *lib_case_text(const LibCase *c, const char *type, char *out)
{
	char third[64] = "";

	if (*c->bias)
		snprintf(third, sizeof third, ", %s[%s] b", type, c->bias);
	snprintf(out, LIB_CASE_TEXT, "g (%s[%s] x, %s[%s] w%s) => (%s[%s] y) { y = %s%s%s%s (x, w%s) }", type,
		 c->x, type, c->w, third, type, c->y, c->op, *c->attrs ? " <" : "", c->attrs,
		 *c->attrs ? ">" : "", *c->bias ? ", b" : "");
	return out;
}

int lib_case_has(const LibCase *c, PmAlgoKind way, const char *type)
{
	int half = !strcmp(type, "float16") || !strcmp(type, "bfloat16");

	return (c->ways >> way & 1) && (way != PM_ALGO_LAST || half);
}
