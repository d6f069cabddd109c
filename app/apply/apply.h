/* SPDX-License-Identifier: Apache-2.0 */
/* apply.h - rewriting a whole model with passes: what became of each pass, what was rewritten and what that
 * saves, and what stayed outside.
 */
#ifndef APP_APPLY_APPLY_H
#define APP_APPLY_APPLY_H

#include "app/apply/outside.h"
#include "app/apply/regions.h"
#include "base/core/hash.h"
#include "base/core/json.h"
#include "matcher/host/pass_host.h"
#include "runtime/exec/exec.h"

enum { PM_APPLY_NAMES = 8 /* names of nodes that the JSON of a region has; it has all places */ };

/* What became of a pass. */
typedef struct PmApplied {
	char *path, *why;           /* owned; why "" when it applied */
	char sha256[PM_SHA256_HEX]; /* of its bytes; "" when they cannot be read */
	PmVerdict verdict;
	int64_t n;      /* fused nodes that it made */
	double seconds; /* that it took */
} PmApplied;

/* What a plan of a graph costs. */
typedef struct PmApplyCost {
	PmPlanStats plan;
	PmPlanMemory memory;
} PmApplyCost;

typedef struct PmApply {
	PmGraph *before, *after; /* owned */
	PM_VEC(PmApplied) pass;  /* in the order in which they ran */
	int64_t applied;         /* fused nodes that all of them made */
	int planned;             /* both graphs can be planned: costs are known, here and in the regions */
	char why_not[PM_ERR_MAX];
	PmApplyCost cost_before, cost_after;
	PmRegions regions;
	PmOutside outside;
} PmApply;

/* Applies passes in the order given to `g`, which it takes over; a pass that fails leaves the graph as it
 * was, and the others still apply. `seconds`: what each may take. Errors are of this machine, or of the
 * graph. Time is linear in nodes. Release *out in every case. */
PmStatus pm_apply(PmGraph *g, const char *const *pass, size_t n, double seconds, PmApply *out, PmErr *err);
void pm_apply_release(PmApply *a);

/* Reads the model that was written to `path` again: PM_E_INTERNAL or PM_E_INVALID when it does not say what
 * `written` says (a->after, or that with its kernels replaced by their bodies), or does not mean what
 * a->before means. */
PmStatus pm_apply_check_written(const PmApply *a, const PmGraph *written, const char *path, PmErr *err);

/* All of it but the graphs, as `apply --json` prints it; seconds of passes are left out, so that it is the
 * same for the same model and passes. `model` is what to call the model. Owned by the caller. */
cJSON *pm_apply_json(const PmApply *a, const char *model);
/* The numbers of the regions by modelled time saved, the most first; of equals in their order. Without a plan
 * in their order. Owned by the caller. */
size_t *pm_apply_by_saved(const PmApply *a);
/* The entry of the first launch of a kernel of `g`, "" when it has none; appended. */
void pm_apply_entry(const PmGraph *g, PmNode kernel, PmStr *out);

#endif
