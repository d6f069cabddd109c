/* tiles.cu - a batched transposition with an epilogue: y[b, skip + q, r] = (x[b, r, q] + bias) * scale + pos[skip + q, r].
 *
 * x is [B, R, Q], y [B, skip + Q, R]; rows before `skip` are head[t, r] + pos[t, r]. `bias` has one element per r
 * (BIAS 1) or per q (BIAS 2). Tiles of DOWN rows of y and ACROSS of its columns go through shared memory, so that reads
 * and writes are both along rows. What the epilogue reads is asked for together with the tile: a small kernel is one
 * wait for memory. Grid: tiles of Q, then of the rows before `skip`; tiles of R; B.
 *
 * BIAS  0: none  1: bias[r]  2: bias[q]
 * POS   1: add pos   SKIP 1: there is a head
 * DOWN, ACROSS, THREADS  powers of two
 * IN_N, OUT_N            elements of a load of x, of a store of y: they divide Q and R
 */
enum {
	PITCH = ACROSS + 16 / (int)sizeof(T),
	INS = DOWN * ACROSS / IN_N,
	OUTS = DOWN * ACROSS / OUT_N,
	IN_EACH = (INS + THREADS - 1) / THREADS,
	OUT_EACH = (OUTS + THREADS - 1) / THREADS,
	IN_ROW = DOWN / IN_N,
	OUT_ROW = ACROSS / OUT_N
};

template<bool ALIGNED>
__device__ __forceinline__ void run(const T *x, const T *bias, const T *pos, const T *head, T *y, int R, int Q, int skip,
				    float scale)
{
	__shared__ __align__(16) T tile[DOWN * PITCH];
	const int t = threadIdx.x, q0 = blockIdx.x * DOWN, r0 = blockIdx.y * ACROSS;
	const int tiles = (Q + DOWN - 1) / DOWN, head0 = ((int)blockIdx.x - tiles) * DOWN;
	const bool in_head = SKIP && head0 >= 0; /* a block of the rows in front */
	pm_vec<T, IN_N> in[IN_EACH];
	pm_vec<T, OUT_N> more[OUT_EACH], by[OUT_EACH];

	x += blockIdx.z * (long long)R * Q;
	y += blockIdx.z * (long long)(skip + Q) * R;
#pragma unroll
	for (int j = 0; j < IN_EACH; j++) {
		const int k = t + j * THREADS, r = r0 + k / IN_ROW, q = q0 + k % IN_ROW * IN_N;

		if (k < INS && r < R && q < Q)
			in[j] = pm_load<IN_N, ALIGNED>(x + (long long)r * Q + q);
	}
#pragma unroll
	for (int j = 0; j < OUT_EACH; j++) {
		const int k = t + j * THREADS, q = k / OUT_ROW, r = r0 + k % OUT_ROW * OUT_N;
		const int row = in_head ? head0 + q : skip + q0 + q;

		if (k < OUTS && r < R && row < (in_head ? skip : skip + Q)) {
			if (POS)
				more[j] = pm_load<OUT_N, ALIGNED>(pos + (long long)row * R + r);
			if (BIAS == 1)
				by[j] = pm_load<OUT_N, ALIGNED>(bias + r);
			if (BIAS == 2)
				by[j][0] = bias[in_head ? 0 : q0 + q];
			if (in_head)
				by[j] = pm_load<OUT_N, ALIGNED>(head + (long long)row * R + r);
		}
	}
#pragma unroll
	for (int j = 0; j < IN_EACH; j++) {
		const int k = t + j * THREADS;

		if (k < INS)
			for (int i = 0; i < IN_N; i++)
				tile[(k % IN_ROW * IN_N + i) * PITCH + k / IN_ROW] = in[j][i];
	}
	__syncthreads();
#pragma unroll
	for (int j = 0; j < OUT_EACH; j++) {
		const int k = t + j * THREADS, q = k / OUT_ROW, c = k % OUT_ROW * OUT_N, r = r0 + c;
		const int row = in_head ? head0 + q : skip + q0 + q;

		if (k >= OUTS || r >= R || row >= (in_head ? skip : skip + Q))
			continue;
		const pm_vec<T, OUT_N> v = pm_load<OUT_N>(tile + q * PITCH + c);
		pm_vec<T, OUT_N> out;

		for (int i = 0; i < OUT_N; i++) {
			float u = in_head ? 0.f : ld(v[i]);

			if (BIAS && !in_head)
				u += ld(by[j][BIAS == 1 ? i : 0]);
			u *= scale;
			if (in_head)
				u = ld(by[j][i]);
			if (POS)
				u += ld(more[j][i]);
			out[i] = st(u);
		}
		pm_store<OUT_N, ALIGNED>(y + (long long)row * R + r, out);
	}
}

extern "C" __global__ void __launch_bounds__(THREADS)
transpose_tiles(const T *__restrict__ x, const T *__restrict__ bias, const T *__restrict__ pos, const T *__restrict__ head,
		T *__restrict__ y, int R, int Q, int skip, float scale)
{
	const int in = IN_N * (int)sizeof(T), out = OUT_N * (int)sizeof(T);

	if (pm_aligned(x, in) && pm_aligned(y, out) && (!POS || pm_aligned(pos, out)) && (BIAS != 1 || pm_aligned(bias, out)) &&
	    (!SKIP || pm_aligned(head, out)))
		run<true>(x, bias, pos, head, y, R, Q, skip, scale);
	else
		run<false>(x, bias, pos, head, y, R, Q, skip, scale);
}
/* SPDX-License-Identifier: Apache-2.0 */
