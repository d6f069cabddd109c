/* acc.cu - accumulators of reductions: Acc with start, step, join and end; and joining them across threads.
 *
 * ACC chooses: 0 one number (INIT, STEP, JOIN, FIN), 1 the logarithm of a sum of exponentials, 2 the place of the
 * extreme (BETTER, LAST). Joining is commutative up to rounding, so any order of threads will do.
 */

#if ACC == 0
struct Acc {
	A a;
};

static __device__ __forceinline__ void acc_start(Acc &c)
{
	c.a = INIT;
}

static __device__ __forceinline__ void acc_step(Acc &c, A v, I)
{
	c.a = STEP(c.a, v);
}

static __device__ __forceinline__ void acc_join(Acc &c, const Acc &o)
{
	c.a = JOIN(c.a, o.a);
}

#define ACC_END(c) FIN((c).a)

#elif ACC == 1
struct Acc {
	A top, sum; /* the sum of exp(v - top) */
};

static __device__ __forceinline__ A acc_exp(A v, A top)
{
	return v == top ? (A)1 : exp(v - top);
}

static __device__ __forceinline__ void acc_start(Acc &c)
{
	c.top = -(A)INFINITY;
	c.sum = 0;
}

static __device__ __forceinline__ void acc_join(Acc &c, const Acc &o)
{
	const A top = pm_max(c.top, o.top);

	c.sum = c.sum * acc_exp(c.top, top) + o.sum * acc_exp(o.top, top);
	c.top = top;
}

static __device__ __forceinline__ void acc_step(Acc &c, A v, I)
{
	const Acc o = { v, 1 };

	acc_join(c, o);
}

#define ACC_END(c) ((c).top + log((c).sum))

#else
struct Acc {
	A top;
	long long at; /* -1: nothing yet */
};

static __device__ __forceinline__ void acc_start(Acc &c)
{
	c.top = 0;
	c.at = -1;
}

/* A NaN wins; of equals the first, or the last if LAST. */
static __device__ __forceinline__ void acc_join(Acc &c, const Acc &o)
{
	const bool later = LAST ? o.at > c.at : o.at < c.at;
	const bool nan = o.top != o.top, was_nan = c.top != c.top;

	if (o.at >= 0 && (c.at < 0 || (nan || was_nan ? nan && (!was_nan || later) :
	                                                o.top == c.top ? later : BETTER(o.top, c.top))))
		c = o;
}

static __device__ __forceinline__ void acc_step(Acc &c, A v, I r)
{
	const Acc o = { v, r };

	acc_join(c, o);
}

#define ACC_END(c) ((c).at)
#endif

/* Over groups of n threads of a warp (a power of two); every thread of the warp must call, every one gets it. */
template <class C> static __device__ __forceinline__ void acc_join_lanes(C &c, int n)
{
#pragma unroll
	for (int d = n / 2; d > 0; d >>= 1) {
		C o = c;
		int *w = reinterpret_cast<int *>(&o);

#pragma unroll
		for (int i = 0; i < (int)(sizeof(C) / sizeof(int)); i++)
			w[i] = __shfl_xor_sync(0xffffffffu, w[i], d);
		acc_join(c, o);
	}
}
/* SPDX-License-Identifier: Apache-2.0 */
