/* members.h - the graphs an evaluation runs on: the members of a stored task or a pack, or a model's
 * variants. */
#ifndef APP_MEMBERS_H
#define APP_MEMBERS_H

#include "base/core/vec.h"
#include "dataset/store/db.h"
#include "ir/core/graph.h"

typedef struct PmMember {
	char *label;     /* owned */
	PmGraph *g;      /* owned */
	int64_t ordinal; /* in its task */
	int shape;       /* number of its shapes; 0 = as extracted */
	int dtype;       /* PmDType of the variant; PM_F32 when nobody said */
} PmMember;

typedef struct PmMembers {
	PM_VEC(PmMember) list;
	int64_t task; /* 0: not of a stored task */
} PmMembers;

/* The members of a task of `db` (by id, name or hash). */
PmStatus pm_members_of_task(PmDb *db, const char *target, PmMembers *out, PmErr *err);
/* The members of a pack (dataset/pack/pack.h). */
PmStatus pm_members_of_pack(const char *dir, PmMembers *out, PmErr *err);
/* A model (borrowed) as one member, or with `variants` as the shapes, by `seed`, and dtypes it generalises
 * to. */
PmStatus pm_members_of_graph(const PmGraph *g, int variants, uint64_t seed, PmMembers *out, PmErr *err);
/* A part of the members. */
typedef struct PmSelect {
	int dtype;           /* PmDType; -1 = all */
	int64_t shape;       /* number of the shapes; -1 = all */
	const int64_t *only; /* ordinals */
	size_t n_only;       /* 0 = all */
} PmSelect;
/* Drops what is not selected, and says how many that are. */
size_t pm_members_select(PmMembers *m, const PmSelect *s);
/* Drops members of shapes n and above; n <= 0 keeps all. */
void pm_members_keep_shapes(PmMembers *m, int64_t n);
void pm_members_release(PmMembers *m);

#endif
