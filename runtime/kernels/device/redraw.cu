/* redraw.cu - inputs of timed calls, drawn on the device: the bits of pm_input_pool_draw (runtime/device/input_pool.h). */

typedef unsigned long long U;

static __device__ U mix(U x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ull;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* Each thread makes what one step of the generator serves. `noise`: pm_input_pool_noise. */
template <class E, int PER>
static __device__ void redraw(E *to, long long n, const E *table, U base, U noise)
{
	const long long step = (long long)gridDim.x * blockDim.x;

	for (long long g = blockIdx.x * (long long)blockDim.x + threadIdx.x; g * PER < n; g += step) {
		U h = mix(base + 0x9e3779b97f4a7c15ull * g);
		E out[PER];

#pragma unroll
		for (int k = 0; k < PER; k++) {
			const U bits = h >> k * (64 / PER);
			const U v = table[bits & 4095];

			out[k] = (E)(v & noise ? v ^ (bits >> 12 & noise) : v);
		}
#pragma unroll
		for (int k = 0; k < PER; k++)
			if (g * PER + k < n)
				to[g * PER + k] = out[k];
	}
}

extern "C" __global__ void redraw1(unsigned char *to, long long n, const unsigned char *table, U base, U noise)
{
	redraw<unsigned char, 4>(to, n, table, base, noise);
}

extern "C" __global__ void redraw2(unsigned short *to, long long n, const unsigned short *table, U base, U noise)
{
	redraw<unsigned short, 4>(to, n, table, base, noise);
}

extern "C" __global__ void redraw4(unsigned *to, long long n, const unsigned *table, U base, U noise)
{
	redraw<unsigned, 2>(to, n, table, base, noise);
}

extern "C" __global__ void redraw8(U *to, long long n, const U *table, U base, U noise)
{
	redraw<U, 1>(to, n, table, base, noise);
}
/* SPDX-License-Identifier: Apache-2.0 */
