/* SPDX-License-Identifier: Apache-2.0 */
/* chain.c - digests of much data, by all processors. */
#include "base/sys/chain.h"

#include "base/core/arena.h"
#include "base/sys/threads.h"

#include <stdlib.h>
#include <string.h>

enum { DIGITS = PM_CHAIN_HEX - 1 };

typedef struct Pieces {
	const char *p;
	size_t n;
	char *digits; /* of each piece */
} Pieces;

static void of_pieces(void *arg, int64_t from, int64_t to)
{
	const Pieces *all = arg;

	for (int64_t k = from; k < to; k++) {
		size_t at = (size_t)k * PM_CHAIN_PIECE;
		char hex[PM_CHAIN_HEX] = "";

		pm_chain_hex(hex, all->p + at, all->n - at < PM_CHAIN_PIECE ? all->n - at : PM_CHAIN_PIECE);
		memcpy(all->digits + k * DIGITS, hex, DIGITS);
	}
}

void pm_chain_pieces(char hex[PM_CHAIN_HEX], const void *p, size_t n)
{
	size_t pieces = (n + PM_CHAIN_PIECE - 1) / PM_CHAIN_PIECE;
	Pieces all = { p, n, NULL };

	if (pieces < 2) {
		pm_chain_hex(hex, p, n);
		return;
	}
	all.digits = pm_xcalloc(pieces, DIGITS);
	pm_threads_run((int64_t)pieces, 1, of_pieces, &all);
	pm_chain_hex(hex, all.digits, pieces * DIGITS);
	free(all.digits);
}
