/* SPDX-License-Identifier: Apache-2.0 */
/* compile_priv.h - what the files of app/compile share. */
#ifndef APP_COMPILE_COMPILE_PRIV_H
#define APP_COMPILE_COMPILE_PRIV_H

#include "app/apply/apply.h"
#include "app/compile/compile.h"
#include "base/core/str.h"
#include "rt/format.h"
#include "runtime/exec/plan_export.h"

/* A shape, planned: the rewritten graph and its plan. */
typedef struct PmShapePlan {
	PmApply apply; /* apply.after is the graph */
	PmPlan *plan;
	PmPlanExport ex;
} PmShapePlan;

/* A compiled source. */
typedef struct PmUnit {
	PmSource source; /* of a plan, or of lib_algo.h */
	int around;      /* the latter */
} PmUnit;

/* A constant that is in the package once. */
typedef struct PmPacked {
	const PmBlob *blob; /* of a shape's graph */
	uint64_t hash;
	int file; /* of PmPackage.file; -1 = packed */
} PmPacked;

typedef struct PmExternal {
	char *location; /* owned, as the model names it */
	char *path;     /* owned: where it is */
} PmExternal;

/* All tables of a package while it is made. */
typedef struct PmPackage {
	const PmCompileAsk *ask;
	PmGraph *open; /* owned: the model as it was read, its sizes open */
	PM_VEC(PmShapePlan) shape;
	PmStr text, about, code;
	PmIntern *texts; /* text -> its place in `place` */
	PM_VEC(uint32_t) place;
	PM_VEC(PmUnit) units;
	PM_VEC(PmPacked) packed;
	PM_VEC(PmExternal) external;
	PM_VEC(PmRtfValue) value;
	PM_VEC(PmRtfShape) shapes;
	PM_VEC(PmRtfExtent) extent;
	PM_VEC(PmRtfBuffer) buffer;
	PM_VEC(PmRtfStep) step;
	PM_VEC(PmRtfArg) arg;
	PM_VEC(PmRtfConst) constant;
	PM_VEC(PmRtfFile) file;
	PM_VEC(PmRtfUnit) unit;
	PM_VEC(PmRtfImage) image;
	PM_VEC(PmRtfCall) call;
	PM_VEC(PmRtfChoice) choice;
	PM_VEC(PmLibCall) lib; /* by call */
	uint64_t weights;      /* bytes */
} PmPackage;

/* Loads the model with a shape's sizes, applies the passes and plans what came of it (compile_shape.c). */
PmStatus pm__shape_plan(const PmCompileAsk *ask, size_t shape, PmShapePlan *out, PmErr *err);
void pm__shape_plan_release(PmShapePlan *s);

/* compile_words.c. */
/* The place of a text in the section of texts; added when it is new. */
uint32_t pm__text(PmPackage *p, const char *s);
/* ONNX's number of an element type; 0 where packages have no such. */
uint32_t pm__onnx_type(int dtype);

/* Fills values, shapes, extents, buffers, steps, arguments and calls (compile_tables.c). */
PmStatus pm__tables_fill(PmPackage *p, PmErr *err);
/* The number of the constant that a buffer of shape k holds; made when there is none of the same bytes
 * (compile_weights.c). */
PmStatus pm__constant(PmPackage *p, size_t k, PmValue v, uint32_t *out, PmErr *err);

/* Compiles all units for all architectures (compile_units.c). */
PmStatus pm__units_compile(PmPackage *p, PmErr *err);
uint32_t pm__unit(PmPackage *p, const PmSource *s, int around);

/* Tries the calls on the GPU of this machine and notes what was the fastest (compile_tune.c). No process may
 * be forked that uses a GPU afterwards. */
PmStatus pm__calls_tune(PmPackage *p, PmErr *err);

/* Writes the package (compile_write.c). */
PmStatus pm__package_write(PmPackage *p, const char *out, PmCompiled *result, PmErr *err);

/* Whether a run of another size of ask->pieces may be made of runs of the shapes: PM_E_UNSUPPORTED with the
 * reason (compile_pieces.c). */
PmStatus pm__pieces_check(const PmPackage *p, PmErr *err);

#endif
