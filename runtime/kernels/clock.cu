/* clock.cu - trusted work around timed launches: waiting, emptying the caches, warming up. */

typedef unsigned long long U;

static __device__ U nanoseconds()
{
	U t;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
	return t;
}

/* Returns after that many nanoseconds. One thread. */
extern "C" __global__ void spin(long long ns)
{
	const U begin = nanoseconds();

	while (nanoseconds() - begin < (U)ns)
		;
}

/* Reads n quadruples; *never is written only to keep the reads. */
extern "C" __global__ void sweep(const uint4 *p, long long n, unsigned *never)
{
	const long long step = (long long)gridDim.x * blockDim.x;
	unsigned sum = 0;

	for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += step) {
		const uint4 v = p[i];

		sum ^= v.x ^ v.y ^ v.z ^ v.w;
	}
	if (sum == 0x5eed5eedu)
		*never = sum;
}

/* Arithmetic that keeps every unit busy for some milliseconds. */
extern "C" __global__ void work(int n, float *never)
{
	float a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;

	for (int i = 0; i < n; i++) {
		a = a * 0.999f + 0.5f;
		b = b * 0.998f + 0.5f;
		c = c * 0.997f + 0.5f;
		d = d * 0.996f + 0.5f;
	}
	if (a + b + c + d == -1)
		*never = a;
}
