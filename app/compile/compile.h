/* SPDX-License-Identifier: Apache-2.0 */
/* compile.h - a rewritten model as a package that libpassmith_rt runs: planned for each specialised shape,
 * its kernels compiled ahead for each architecture, its weights packed.
 */
#ifndef APP_COMPILE_COMPILE_H
#define APP_COMPILE_COMPILE_H

#include "app/watch/watch.h"
#include "base/core/err.h"
#include "base/core/json.h"
#include "base/core/vec.h"
#include "ir/infer/dim_expr.h"

#include <stddef.h>
#include <stdint.h>

/* One size for each open size of the model's inputs. */
typedef struct PmCompileShape {
	PmDimSize *dim; /* borrowed */
	size_t n;
} PmCompileShape;

typedef struct PmCompileAsk {
	const char *model;
	const char *const *pass; /* applied in this order to each shape */
	size_t n_pass;
	double deadline;             /* seconds that each pass may take */
	const PmCompileShape *shape; /* none: the model's inputs have no open sizes */
	size_t n_shapes;
	int emu;       /* kernels for the device emu of this machine */
	const int *cc; /* compute capabilities, 90 for sm_90 */
	size_t n_cc;
	int external;       /* constants that lie in files of the model stay there */
	int made_up;        /* weights that are not at hand are made up; else that is an error */
	int tune;           /* try algorithms of libraries on the GPU of this machine */
	const char *pieces; /* symbol by which other sizes are made of the shapes; NULL = none */
	int jobs;           /* processes that compile kernels */
	PmWatch watch;
} PmCompileAsk;

/* What came of it, of each shape. */
typedef struct PmCompiledShape {
	size_t launches;
	int64_t applied, arena;
} PmCompiledShape;

typedef struct PmCompiled {
	PM_VEC(PmCompiledShape) shape;
	size_t n_units, n_constants, n_made_up, n_tuned;
	int64_t bytes, weight_bytes, external_bytes;
	char digest[65];
} PmCompiled;

/* Compiles and writes to a temporary file beside `out`, which takes the name at the end. PM_E_NOT_FOUND for
 * weights that are missing; PM_E_UNSUPPORTED where a shape cannot be planned or pieces cannot be; PM_E_ENV
 * for a compiler that is missing. Release *result in every case. */
PmStatus pm_compile(const PmCompileAsk *ask, const char *out, PmCompiled *result, PmErr *err);
void pm_compiled_release(PmCompiled *c);

#endif
