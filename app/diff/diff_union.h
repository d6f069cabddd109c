/* SPDX-License-Identifier: Apache-2.0 */
/* diff_union.h - both graphs as one, whose items are those of a and, behind them, those of b without a pair.
 */
#ifndef APP_DIFF_DIFF_UNION_H
#define APP_DIFF_DIFF_UNION_H

#include "app/diff/diff_priv.h"

/* All items of both graphs have numbers below this; numbers of items of b with a pair are not in use. */
static inline uint32_t pm__union_n(const Diffing *d)
{
	return d->a.n + d->b.n;
}

/* The item of the union that an item of b is. */
static inline uint32_t pm__union_of_b(const Diffing *d, uint32_t y)
{
	return d->b.match[y] != PM_DIFF_NONE ? d->b.match[y] : d->a.n + y;
}

/* Which item of a an item of the union is; PM_DIFF_NONE when it is none. */
static inline uint32_t pm__union_in_a(const Diffing *d, uint32_t u)
{
	return u < d->a.n ? u : PM_DIFF_NONE;
}

/* The same for b. */
static inline uint32_t pm__union_in_b(const Diffing *d, uint32_t u)
{
	return u < d->a.n ? d->a.match[u] : u - d->a.n;
}

/* The item that operand k of u comes from, of both graphs one after the other; PM_DIFF_NONE for none.
 * *more is 0 behind the last one. */
static inline uint32_t pm__union_source(const Diffing *d, uint32_t u, size_t k, int *more)
{
	uint32_t x = pm__union_in_a(d, u), y = pm__union_in_b(d, u);
	size_t na = x == PM_DIFF_NONE ? 0 : d->a.first_operand[x + 1] - d->a.first_operand[x];
	size_t nb = y == PM_DIFF_NONE ? 0 : d->b.first_operand[y + 1] - d->b.first_operand[y];
	uint32_t from;

	*more = k < na + nb;
	if (k < na)
		return d->a.operand[d->a.first_operand[x] + k].item;
	if (k >= na + nb)
		return PM_DIFF_NONE;
	from = d->b.operand[d->b.first_operand[y] + k - na].item;
	return from == PM_DIFF_NONE ? from : pm__union_of_b(d, from);
}

#endif
