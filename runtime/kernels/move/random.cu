/* random.cu - random numbers as a function of seed and position, as runtime/ref/ref_random.c makes them. */

static __device__ inline double unit(unsigned long long seed, unsigned long long n)
{
	unsigned long long z = seed + (n + 1) * 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return (double)((z ^ (z >> 31)) >> 40) / 16777216.;
}

KERNEL
{
	unsigned long long bits = (unsigned long long)__double_as_longlong(seed);
	I t = TID;
	double v;

	if (t >= total)
		return;
#ifdef NORMAL
	v = sqrt(-2 * log(1 - unit(bits, 2 * (unsigned long long)t))) *
	    cos(6.283185307179586476925286766559 * unit(bits, 2 * (unsigned long long)t + 1));
	v = a + b * v;
#else
	v = a + (b - a) * unit(bits, (unsigned long long)t);
#endif
	pm_st(&y[t], v);
}
/* SPDX-License-Identifier: Apache-2.0 */
