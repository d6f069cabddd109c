/* scatter_sort.cu - the updates of each line of indices, sorted by the range of 2^SHIFT places that they go to and, in
 * a range, in their own order: a number of the update and its place each. Range r of line l begins at
 * first[l * (RANGES + 1) + r].
 *
 * A block has a line, and each of its warps a part of the updates, which are neighbours. All parts are counted by range
 * first, so that each knows where its updates of a range begin. Then a warp takes 32 at once, in order: those of one
 * range find each other. So nothing depends on which warp is faster. Indices that name no place are left out.
 */

enum { WARPS = B / 32, OWN = (RANGES + B - 1) / B, ROW = RANGES + RANGES / 32 };

/* Where range r is in a row: OWN ranges each of neighbouring threads are in different banks. */
#define AT(r) ((r) + (r) / 32)

/* The place that a tuple names; -1: none. */
template <class J> static __device__ __forceinline__ I place_of(const J *tuple, const I *extent, I places)
{
	I to = 0;

#pragma unroll
	for (int d = 0; d < LEN; d++) {
		const I j = (I)tuple[d];

		to = to * extent[d] + (j < 0 ? j + extent[d] : j);
	}
	return to >= 0 && to < places ? to : -1;
}

/* Those of updates i0 + lane, 32 apart, up to `end`. Where there is none the last one is read, without a branch. */
template <class J>
static __device__ __forceinline__ void places_of(I (&to)[EACH], const J *idx, I step, I i0, I end, const I *extent, I n)
{
#pragma unroll
	for (int k = 0; k < EACH; k++) {
		const I i = i0 + k * 32 + threadIdx.x % 32;

		to[k] = place_of(idx + (i < end ? i : end - 1) * step, extent, n);
		to[k] = i < end ? to[k] : -1;
	}
}

KERNEL
{
	__shared__ int count[WARPS * ROW], before[WARPS];
	const I extent[] = { V_extent };
	const I line = (I)blockIdx.x, part = (len + WARPS - 1) / WARPS;
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	const I begin = warp * part, end = begin + part < len ? begin + part : len;
	int *const mine = count + warp * ROW;
	int sum = 0, at;

	for (int q = threadIdx.x; q < WARPS * ROW; q += B)
		count[q] = 0;
	__syncthreads();
	idx += OFF_o_0(line);
	first += line * (RANGES + 1);
	order += line * len;
	for (I i0 = begin; i0 < end; i0 += 32 * EACH) {
		I to[EACH];

		places_of(to, idx, is, i0, end, extent, places);
#pragma unroll
		for (int k = 0; k < EACH; k++)
			if (to[k] >= 0)
				atomicAdd(&mine[AT((int)(to[k] >> SHIFT))], 1);
	}
	__syncthreads();
	/* A thread has OWN ranges. */
	for (int k = 0; k < OWN; k++)
		for (int w = 0, r = threadIdx.x * OWN + k; w < WARPS && r < RANGES; w++)
			sum += count[w * ROW + AT(r)];
	at = sum;
	for (int d = 1; d < 32; d *= 2) {
		const int lower = __shfl_up_sync(0xffffffffu, at, d);

		at += lane >= d ? lower : 0;
	}
	if (lane == 31)
		before[warp] = at;
	__syncthreads();
	at -= sum;
	for (int w = 0; w < warp; w++)
		at += before[w];
	for (int k = 0; k < OWN; k++) {
		const int r = threadIdx.x * OWN + k;

		if (r < RANGES)
			first[r] = at;
		for (int w = 0; w < WARPS && r < RANGES; w++) {
			const int n = count[w * ROW + AT(r)];

			count[w * ROW + AT(r)] = at;
			at += n;
		}
	}
	if (threadIdx.x == B - 1)
		first[RANGES] = at;
	__syncthreads();
	for (I i0 = begin; i0 < end; i0 += 32 * EACH) {
		I to[EACH];

		places_of(to, idx, is, i0, end, extent, places);
#pragma unroll
		for (int k = 0; k < EACH; k++) {
			const int r = to[k] < 0 ? RANGES : (int)(to[k] >> SHIFT);
			const unsigned same = __match_any_sync(0xffffffffu, r);
			const int earlier = __popc(same & ((1u << lane) - 1));
			const int slot = r < RANGES ? mine[AT(r)] + earlier : 0;

			__syncwarp();
			if (r < RANGES) {
				if (!earlier)
					mine[AT(r)] += __popc(same);
				order[slot] = make_uint2((unsigned)(i0 + k * 32 + lane), (unsigned)to[k]);
			}
			__syncwarp();
		}
	}
}
/* SPDX-License-Identifier: Apache-2.0 */
