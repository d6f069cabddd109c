/* SPDX-License-Identifier: Apache-2.0 */
/* slice_range.c - the elements that a slice takes from an axis. */
#include "ir/infer/infer_priv.h"

int64_t pm__slice_range(int64_t d, int64_t *start, int64_t end, int64_t step)
{
	int64_t lo = step > 0 ? 0 : -1, hi = step > 0 ? d : d - 1, from = *start;

	if (d == 0) {
		*start = 0;
		return 0;
	}
	if (from < 0)
		from = from < -d ? 0 : from + d;
	if (end < 0)
		end = end < -d ? -1 : end + d;
	from = from > hi ? hi : from;
	end = end < lo ? lo : end > hi ? hi : end;
	*start = from;
	if (step > 0)
		return end > from ? (end - from - 1) / step + 1 : 0;
	/* The size of the step as unsigned: -INT64_MIN has no int64. */
	return from > end ? (int64_t)((uint64_t)(from - end - 1) / (0 - (uint64_t)step)) + 1 : 0;
}
