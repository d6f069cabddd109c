/* ptx_params.h - the parameters of a PTX kernel, and what instructions do with them (private to integrity/).
 *
 * Parameters lie in a constant bank beside what the driver has written there. An instruction may read a
 * parameter by its name and a number, within its size; nothing else may name it, since with its address all
 * of the bank can be read.
 */
#ifndef INTEGRITY_PTX_PARAMS_H
#define INTEGRITY_PTX_PARAMS_H

#include "base/vec.h"
#include "integrity/ptx_lex.h"

#include <stdint.h>

typedef struct PmPtxParam {
	PmPtxToken name;
	int64_t bytes;
} PmPtxParam;

typedef PM_VEC(PmPtxParam) PmPtxParams;

/* Reads `.param .u64 .ptr .align 4 a, .param .b8 b[12])` up to and with the ')'; *l stands behind the '('. */
void pm__ptx_params_read(PmPtxLexer *l, PmPtxParams *out);
/* 1 when the name `t`, behind which `l` stands and before which `before` stood, is no parameter, or is read
 * within its size by `opcode`. */
int pm__ptx_param_is_read(const PmPtxParams *p, PmPtxToken opcode, PmPtxToken before, PmPtxToken t,
			  PmPtxLexer l);
/* A decimal number; anything else, and one over eight digits, is taken for a large one. The text does not end
 * with a zero byte. */
int64_t pm__ptx_number(PmPtxToken t);

#endif
