/* softmax.cu - softmax (or its logarithm) of rows; the row stays in registers, see row.cu.
 *
 * ITEMS 0: rows too long for that. A block walks the row twice; the first time it keeps the largest element so far
 * and the sum relative to it (ACC 1 of acc.cu).
 *
 * The largest element need not be looked for among NaNs: any of them makes the sum NaN.
 */

#ifdef LOG_SOFTMAX
#define SOFTMAX(v) ((v) - top - scale)
#define SCALE(sum) log(sum)
#else
#define SOFTMAX(v) (exp((v) - top) * scale)
#define SCALE(sum) (1 / (sum))
#endif

#if ITEMS > 0
KERNEL
{
	const I t = ROW, end = t < N_o ? len : 0;
	A v[ITEMS][V], top = -(A)INFINITY, sum = 0, scale;

	if (end) {
		x += OFF_o_0(t);
		y += OFF_o_1(t);
	}
#pragma unroll
	for (int n = 0; n < ITEMS; n++) {
		const I i = (n * G + ROW_LANE) * V;

#pragma unroll
		for (int j = 0; j < V; j++)
			v[n][j] = -(A)INFINITY;
		if (i < end) {
			const pm_vec<X, V> e = pm_get<V>(x + i * xs);

#pragma unroll
			for (int j = 0; j < V; j++)
				v[n][j] = (A)pm_ld(e.v[j]);
		}
	}
#pragma unroll
	for (int n = 0; n < ITEMS; n++)
#pragma unroll
		for (int j = 0; j < V; j++)
			top = fmax(top, v[n][j]);
	top = row_max(top);
#pragma unroll
	for (int n = 0; n < ITEMS; n++)
#pragma unroll
		for (int j = 0; j < V; j++) {
#ifdef LOG_SOFTMAX
			sum += exp(v[n][j] - top);
#else
			v[n][j] = exp(v[n][j] - top);
			sum += v[n][j];
#endif
		}
	scale = SCALE(row_sum(sum));
#pragma unroll
	for (int n = 0; n < ITEMS; n++) {
		const I i = (n * G + ROW_LANE) * V;

		if (i < end) {
			pm_vec<X, V> e;

#pragma unroll
			for (int j = 0; j < V; j++)
#ifdef LOG_SOFTMAX
				pm_st(&e.v[j], SOFTMAX(v[n][j]));
#else
				pm_st(&e.v[j], v[n][j] * scale);
#endif
			pm_put(y + i, e);
		}
	}
}
#else
/* Joins V elements at once: one look for the largest, one change of the sum. */
static __device__ __forceinline__ void join_some(Acc &c, const A (&v)[V])
{
	A top = c.top, sum = 0;

#pragma unroll
	for (int j = 0; j < V; j++)
		top = fmax(top, v[j]);
#pragma unroll
	for (int j = 0; j < V; j++)
		sum += acc_exp(v[j], top);
	c.sum = c.sum * acc_exp(c.top, top) + sum;
	c.top = top;
}

/* Rows need not begin at a vector: what stands before the first whole one (`head` elements, the same in x and y) and
 * behind the last is taken singly. */
KERNEL
{
	__shared__ Acc warps[B / 32];
	Acc c;
	A top, scale;
	I head = 0, i;

	x += OFF_o_0((I)blockIdx.x);
	y += OFF_o_1((I)blockIdx.x);
#if V > 1
	head = (I)((16 - (reinterpret_cast<unsigned long long>(x) & 15)) % 16 / sizeof(X));
#endif
	acc_start(c);
	for (i = threadIdx.x; i < head; i += B)
		acc_step(c, (A)pm_ld(x[i]), 0);
#pragma unroll 4
	for (i = head + (I)threadIdx.x * V; i + V <= len; i += B * V) {
		const pm_vec<X, V> e = pm_get<V>(x + i * xs);
		A v[V];

#pragma unroll
		for (int j = 0; j < V; j++)
			v[j] = (A)pm_ld(e.v[j]);
		join_some(c, v);
	}
	for (; i < len; i++)
		acc_step(c, (A)pm_ld(x[i * xs]), 0);
	acc_join_lanes(c, 32);
	if (threadIdx.x % 32 == 0)
		warps[threadIdx.x / 32] = c;
	__syncthreads();
	acc_start(c);
	if (threadIdx.x % 32 < B / 32)
		c = warps[threadIdx.x % 32];
	acc_join_lanes(c, 32);
	top = c.top;
	/* The definition: what is relative to an infinite top is not a number. */
	scale = SCALE(c.sum + (top - top));
	for (i = threadIdx.x; i < head; i += B)
		pm_st(&y[i], SOFTMAX((A)pm_ld(x[i])));
#pragma unroll 4
	for (i = head + (I)threadIdx.x * V; i + V <= len; i += B * V) {
		pm_vec<X, V> e = pm_get<V>(x + i * xs);

#pragma unroll
		for (int j = 0; j < V; j++)
			pm_st(&e.v[j], SOFTMAX((A)pm_ld(e.v[j])));
		pm_put(y + i, e);
	}
	for (; i < len; i++)
		pm_st(&y[i], SOFTMAX((A)pm_ld(x[i * xs])));
}
#endif
/* SPDX-License-Identifier: Apache-2.0 */
