/* conform_priv.h - a glance at a serialised model, before import. */
#ifndef BENCH_CONFORM_PRIV_H
#define BENCH_CONFORM_PRIV_H

#include <stddef.h>

typedef struct PmModelPeek {
	char op[64];  /* operator of the only node that is no Constant; "(several)", or "(none)" */
	int bad_type; /* ONNX number of an element type of an input or output that we do not hold, or 0 */
	const char *container; /* "sequence", "optional" or "map" when an input or output is one, else NULL */
} PmModelPeek;

/* Reads what can be read; a malformed model leaves the importer to say so. */
void pm__model_peek(const void *p, size_t n, PmModelPeek *out);
/* "uint16" for an ONNX element type number. */
const char *pm__onnx_type_name(int type);

#endif
