/* product.cu - c[m x n] = a[m x k] * b[k x n] in double precision, for the reference (runtime/worker/products.h).
 *
 * Terms are added in the order of k, each product rounded before it is added: the bits are those of
 * runtime/ref/ref_product.c. A block makes ROWS x COLUMNS results, a thread EACH x EACH of them, which lie apart, so
 * that neighbouring threads have neighbouring elements.
 */

enum { ROWS = 128, COLUMNS = 64, DEPTH = 8, EACH = 8, THREADS = 128, ACROSS = COLUMNS / EACH, DOWN = ROWS / EACH };

extern "C" __global__ void __launch_bounds__(128)
product(const double *a, const double *b, double *c, long long m, long long n, long long k)
{
	enum { MINE_A = ROWS * DEPTH / THREADS, MINE_B = COLUMNS * DEPTH / THREADS };
	__shared__ double as[DEPTH][ROWS + 1], bs[DEPTH][COLUMNS];
	const int t = threadIdx.x, tx = t % ACROSS, ty = t / ACROSS;
	const long long m0 = (long long)blockIdx.y * ROWS, n0 = (long long)blockIdx.x * COLUMNS;
	double sum[EACH][EACH], next_a[MINE_A], next_b[MINE_B];

#pragma unroll
	for (int i = 0; i < EACH * EACH; i++)
		sum[i / EACH][i % EACH] = 0;
	/* What the next turn needs is under way while this one multiplies. */
	for (long long k0 = -DEPTH; k0 < k; k0 += DEPTH) {
		if (k0 >= 0) {
#pragma unroll
			for (int i = 0; i < MINE_A; i++)
				as[(t + i * THREADS) % DEPTH][(t + i * THREADS) / DEPTH] = next_a[i];
#pragma unroll
			for (int i = 0; i < MINE_B; i++)
				bs[(t + i * THREADS) / COLUMNS][(t + i * THREADS) % COLUMNS] = next_b[i];
			__syncthreads();
		}
		if (k0 + DEPTH < k) {
#pragma unroll
			for (int i = 0; i < MINE_A; i++) {
				const long long row = m0 + (t + i * THREADS) / DEPTH;
				const long long at = k0 + DEPTH + (t + i * THREADS) % DEPTH;

				next_a[i] = row < m && at < k ? a[row * k + at] : 0;
			}
#pragma unroll
			for (int i = 0; i < MINE_B; i++) {
				const long long at = k0 + DEPTH + (t + i * THREADS) / COLUMNS;
				const long long column = n0 + (t + i * THREADS) % COLUMNS;

				next_b[i] = at < k && column < n ? b[at * n + column] : 0;
			}
		}
		if (k0 < 0)
			continue;
#pragma unroll
		for (int d = 0; d < DEPTH; d++) {
			double u[EACH], v[EACH];

#pragma unroll
			for (int i = 0; i < EACH; i++) {
				u[i] = as[d][ty + i * DOWN];
				v[i] = bs[d][tx + i * ACROSS];
			}
#pragma unroll
			for (int i = 0; i < EACH * EACH; i++)
				sum[i / EACH][i % EACH] = __dadd_rn(sum[i / EACH][i % EACH],
								    __dmul_rn(u[i / EACH], v[i % EACH]));
		}
		__syncthreads();
	}
#pragma unroll
	for (int i = 0; i < EACH; i++)
#pragma unroll
		for (int j = 0; j < EACH; j++) {
			const long long row = m0 + ty + i * DOWN, column = n0 + tx + j * ACROSS;

			if (row < m && column < n)
				c[row * n + column] = sum[i][j];
		}
}
/* SPDX-License-Identifier: Apache-2.0 */
