/* guard.cu - the device's own kernels: whether anything changed around the buffers, or in an input. */

typedef unsigned long long U;

/* One block per zone; table holds address and size of each. Every byte must be 0xc5 at even and 0xff at odd
 * addresses; *first becomes the least (zone << 32 | byte) that is not. */
extern "C" __global__ void zones(const U *table, U *first)
{
	const unsigned char *p = reinterpret_cast<const unsigned char *>(table[2 * blockIdx.x]);
	const U n = table[2 * blockIdx.x + 1];

	for (U i = threadIdx.x; i < n; i += blockDim.x)
		if (p[i] != ((table[2 * blockIdx.x] + i) & 1 ? 0xff : 0xc5)) {
			atomicMin(first, U(blockIdx.x) << 32 | i);
			return;
		}
}

/* Fills a block's whole shared memory, n words, and as many registers as its threads have, with a pattern. One
 * block takes a multiprocessor. */
extern "C" __global__ void __launch_bounds__(1024, 1) scrub(int n, unsigned pattern)
{
	extern __shared__ unsigned words[];
	unsigned r[48];

	for (int i = threadIdx.x; i < n; i += blockDim.x)
		*(volatile unsigned *)&words[i] = pattern;
#ifndef PASSMITH_EMU
#pragma unroll
	for (int i = 0; i < 48; i++)
		asm volatile("mov.b32 %0, %1;" : "=r"(r[i]) : "r"(pattern));
#pragma unroll
	for (int i = 0; i < 48; i++)
		asm volatile("" ::"r"(r[i]));
#endif
}

static __device__ U mix(U x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ull;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* Adds to *sum a hash of n bytes that depends on where each word is, not on the order of the threads. */
extern "C" __global__ void hash(const unsigned char *p, long long n, U *sum)
{
	const long long step = (long long)gridDim.x * blockDim.x;
	const long long first = blockIdx.x * (long long)blockDim.x + threadIdx.x;
	const U *word = reinterpret_cast<const U *>(p);
	U h = 0;

	for (long long i = first; i < n / 8; i += step)
		h += mix(word[i] + 0x9e3779b97f4a7c15ull * U(i + 1));
	for (long long i = n / 8 * 8 + first; i < n; i += step)
		h += mix(p[i] + 0x9e3779b97f4a7c15ull * U(i + 1) + 0x100);
	h = pm_warp_sum(h);
	if (threadIdx.x % 32 == 0)
		atomicAdd(sum, h);
}
