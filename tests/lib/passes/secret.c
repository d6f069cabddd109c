/* SPDX-License-Identifier: Apache-2.0 */
/* secret.c - known secrets for tests. */
#include "tests/lib/passes/secret.h"

enum { HELD = 16 };

const PmSecret *test_secret(uint64_t number)
{
	static PmSecret *held[HELD];
	static uint64_t which[HELD];
	static unsigned next;
	unsigned at = next++ % HELD;

	for (unsigned i = 0; i < HELD; i++)
		if (held[i] && which[i] == number)
			return held[i];
	pm_secret_free(held[at]);
	held[at] = pm_secret_of(number);
	which[at] = number;
	return held[at];
}
