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

/* The same, and every byte is made so again. Blocks of one zone, gridDim.y of them, share it: words of 8 bytes, and
 * what is left at either end byte by byte. */
extern "C" __global__ void mend(const U *table, U *first)
{
	const U at = table[2 * blockIdx.x], n = table[2 * blockIdx.x + 1];
	const U head = (8 - at % 8) % 8 < n ? (8 - at % 8) % 8 : n, words = (n - head) / 8;
	const U step = (U)gridDim.y * blockDim.x, id = (U)blockIdx.y * blockDim.x + threadIdx.x;
	unsigned char *p = reinterpret_cast<unsigned char *>(at);
	U *word = reinterpret_cast<U *>(at + head);
	const U want = 0xffc5ffc5ffc5ffc5ull;

	for (U i = id; i < words; i += step)
		if (word[i] != want) {
			const U k = head + 8 * i + (U)(__ffsll((long long)(word[i] ^ want)) - 1) / 8;

			atomicMin(first, U(blockIdx.x) << 32 | k);
			word[i] = want;
		}
	for (U i = id; i < n - 8 * words; i += step) {
		const U k = i < head ? i : i + 8 * words;
		const unsigned char one = (at + k) & 1 ? 0xff : 0xc5;

		if (p[k] != one) {
			atomicMin(first, U(blockIdx.x) << 32 | k);
			p[k] = one;
		}
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
/* SPDX-License-Identifier: Apache-2.0 */
