/* SPDX-License-Identifier: Apache-2.0 */
/* simplify_priv.h - what the passes share. */
#ifndef SIMPLIFY_SIMPLIFY_PRIV_H
#define SIMPLIFY_SIMPLIFY_PRIV_H

#include "simplify/simplify.h"

/* One pass over the whole graph: adds what it changed to *changes. */
typedef PmStatus (*PmSimplifyFn)(PmGraph *g, size_t *changes, PmErr *err);
#define XX(fn, name, what) PmStatus pm__simplify_##fn(PmGraph *g, size_t *changes, PmErr *err);
#include "simplify/passes.def"
#undef XX

/* Every use of result 0 of `n` becomes a use of `v`, which must be of the same type and have the same
 * elements; the node goes. An output keeps its name: when v cannot take it (it is an input, a constant, or an
 * output itself) nothing happens and 0 is returned. */
int pm__simplify_replace(PmGraph *g, PmNode n, PmValue v);

#endif
