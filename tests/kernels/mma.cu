/* mma.cu - one product of a warp by pm_mma_16816: c [16, 8] += a [16, 16] b [16, 8], row by row. */
extern "C" __global__ void mma(const T *a, const T *b, float *c)
{
	const int g = threadIdx.x / 4, t = threadIdx.x % 4;
	const unsigned short *x = reinterpret_cast<const unsigned short *>(a);
	const unsigned short *y = reinterpret_cast<const unsigned short *>(b);
	unsigned ra[4], rb[2];
	float sum[4];

	for (int i = 0; i < 4; i++) {
		const int row = g + i % 2 * 8, k = 2 * t + i / 2 * 8;
		ra[i] = x[row * 16 + k] | (unsigned)x[row * 16 + k + 1] << 16;
		sum[i] = c[(g + i / 2 * 8) * 8 + 2 * t + i % 2];
	}
	for (int i = 0; i < 2; i++) {
		const int k = 2 * t + i * 8;
		rb[i] = y[k * 8 + g] | (unsigned)y[(k + 1) * 8 + g] << 16;
	}
	pm_mma_16816<T>(sum, ra, rb);
	for (int i = 0; i < 4; i++)
		c[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = sum[i];
}
/* SPDX-License-Identifier: Apache-2.0 */
