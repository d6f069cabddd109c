/* SPDX-License-Identifier: Apache-2.0 */
/* vec.h - a growable array as a macro: struct { T *v; size_t n, cap; } with PM_VEC_* operations. */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include "base/core/arena.h"

#include <stdlib.h>

#define PM_VEC(T)                                                                                            \
	struct {                                                                                             \
		T *v;                                                                                        \
		size_t n;                                                                                    \
		size_t cap;                                                                                  \
	}

/* Makes room for at least `need` elements. */
#define PM_VEC_RESERVE(vec, need)                                                                            \
	do {                                                                                                 \
		size_t pm_need_ = (need);                                                                    \
		if (pm_need_ > (vec)->cap) {                                                                 \
			size_t pm_cap_ = (vec)->cap ? (vec)->cap * 2 : 8;                                    \
			if (pm_cap_ < pm_need_)                                                              \
				pm_cap_ = pm_need_;                                                          \
			(vec)->v = pm_xrealloc((vec)->v, pm_cap_, sizeof *(vec)->v);                         \
			(vec)->cap = pm_cap_;                                                                \
		}                                                                                            \
	} while (0)

#define PM_VEC_PUSH(vec, x)                                                                                  \
	do {                                                                                                 \
		PM_VEC_RESERVE(vec, (vec)->n + 1);                                                           \
		(vec)->v[(vec)->n++] = (x);                                                                  \
	} while (0)

/* Stores x in the first place that is not in use, or at the end: for tables whose elements come and go.
 * `used` is what follows an element to say that its place is in use, such as .path; `at` becomes the index.
 */
#define PM_VEC_PUT(vec, used, x, at)                                                                         \
	do {                                                                                                 \
		for ((at) = 0; (at) < (vec)->n && (vec)->v[at] used; (at)++)                                 \
			;                                                                                    \
		if ((at) < (vec)->n)                                                                         \
			(vec)->v[at] = (x);                                                                  \
		else                                                                                         \
			PM_VEC_PUSH(vec, x);                                                                 \
	} while (0)

/* Frees the elements' storage and leaves the vector empty and reusable. */
#define PM_VEC_RELEASE(vec)                                                                                  \
	do {                                                                                                 \
		free((vec)->v);                                                                              \
		(vec)->v = NULL;                                                                             \
		(vec)->n = (vec)->cap = 0;                                                                   \
	} while (0)

#endif
