/* elementwise.cu - y = f(x, a, b, c) element by element, where the operands may repeat or lie in longer rows.
 *
 * A thread makes N neighbours. It asks for all of its operands before it uses any: a small kernel is one wait for memory.
 *
 * FORM  1 act(x + a)   2 act(x) * a   3 x * act(a)   4 b + a * x   5 b + a * (x + c)   6 act(x)
 * ACT   0 none  1 relu  2 x * sigmoid(p0 x)  3 x * clip(p0 x + p1, 0, 1)  4 GELU: .5 x (1 + erf(p0 x))
 *       5 GELU: .5 x (1 + tanh(p0 (x + p1 x^3)))  6 sigmoid  7 clip(p0 x + p1, 0, 1)
 * WALK_X, _A, _B, _C  the element of an operand that belongs to element i of the result:
 *       0 i   1 i % n   2 i / inner % n, the same for N neighbours   3 i / inner * ld + i % inner + off
 * N     elements of a thread; what divides an index in walks 1 to 3 is a multiple of it, and so are ld and off
 */
enum { USES_A = FORM <= 5, USES_B = FORM == 4 || FORM == 5, USES_C = FORM == 5 };
enum { SAME, COLUMN, BAND, PART };

typedef pm_vec<T, N> Piece;

struct Walk {
	pm_divisor inner, n;
	unsigned ld, off;
};

__device__ __forceinline__ float act(float v, float p0, float p1)
{
#if ACT == 1
	return v > 0.f ? v : (v != v ? v : 0.f);
#elif ACT == 2
	return __fdividef(v, 1.f + expf(-p0 * v));
#elif ACT == 3
	return v * fmaxf(0.f, fminf(1.f, p0 * v + p1));
#elif ACT == 4
	return .5f * v * (1.f + erff(p0 * v));
#elif ACT == 5
	return .5f * v * (1.f + tanhf(p0 * (v + p1 * v * v * v)));
#elif ACT == 6
	return __fdividef(1.f, 1.f + expf(-v));
#elif ACT == 7
	return fmaxf(0.f, fminf(1.f, p0 * v + p1));
#else
	return v;
#endif
}

__device__ __forceinline__ float form(float x, float a, float b, float c, float p0, float p1)
{
#if FORM == 1
	return act(x + a, p0, p1);
#elif FORM == 2
	return act(x, p0, p1) * a;
#elif FORM == 3
	return x * act(a, p0, p1);
#elif FORM == 4
	return b + a * x;
#elif FORM == 5
	return b + a * (x + c);
#else
	return act(x, p0, p1);
#endif
}

/* Elements i .. i + m of an operand, m at most N; WHOLE: all N, by one access. */
template<int WALK, bool WHOLE> __device__ __forceinline__ Piece fetch(const T *p, const Walk &w, unsigned i, int m)
{
	Piece v;

	if (WALK == COLUMN)
		p += w.n.rest(i);
	if (WALK == BAND) {
		const T one = p[w.n.rest(w.inner.quotient(i))];

		for (int j = 0; j < N; j++)
			v[j] = one;
		return v;
	}
	if (WALK == PART) {
		const unsigned q = w.inner.quotient(i);

		p += (long long)q * w.ld + (i - q * w.inner.d) + w.off;
	}
	if (WALK == SAME)
		p += i;
	if (WHOLE)
		return pm_load<N>(p);
	for (int j = 0; j < N; j++)
		v[j] = p[j < m ? j : 0];
	return v;
}

template<bool WHOLE>
__device__ __forceinline__ void apply(const T *x, const T *a, const T *b, const T *c, T *y, unsigned i, int m, const Walk &wx,
				      const Walk &wa, const Walk &wb, const Walk &wc, float p0, float p1)
{
	const Piece vx = fetch<WALK_X, WHOLE>(x, wx, i, m);
	Piece va = vx, vb = vx, vc = vx;

	if (USES_A)
		va = fetch<WALK_A, WHOLE>(a, wa, i, m);
	if (USES_B)
		vb = fetch<WALK_B, WHOLE>(b, wb, i, m);
	if (USES_C)
		vc = fetch<WALK_C, WHOLE>(c, wc, i, m);
	Piece out;

	for (int j = 0; j < N; j++)
		out[j] = st(form(ld(vx[j]), ld(va[j]), ld(vb[j]), ld(vc[j]), p0, p1));
	if (WHOLE)
		pm_store<N>(y + i, out);
	for (int j = 0; j < N && !WHOLE; j++)
		if (j < m)
			y[i + j] = out[j];
}

__device__ __forceinline__ Walk walk(int inner, int im, int is, int n, int nm, int ns, int ld, int off)
{
	typedef unsigned U;
	return Walk{ { (U)inner, (U)im, (U)is }, { (U)n, (U)nm, (U)ns }, (U)ld, (U)off };
}

extern "C" __global__ void elementwise(const T *__restrict__ x, const T *__restrict__ a, const T *__restrict__ b,
				       const T *__restrict__ c, T *__restrict__ y, int n, int xi, int xim, int xis, int xn,
				       int xnm, int xns, int xl, int xo, int ai, int aim, int ais, int an, int anm, int ans,
				       int al, int ao, int bi, int bim, int bis, int bn, int bnm, int bns, int bl, int bo,
				       int ci, int cim, int cis, int cn, int cnm, int cns, int cl, int co, float p0, float p1)
{
	const unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) * N;
	const Walk wx = walk(xi, xim, xis, xn, xnm, xns, xl, xo), wa = walk(ai, aim, ais, an, anm, ans, al, ao),
		   wb = walk(bi, bim, bis, bn, bnm, bns, bl, bo), wc = walk(ci, cim, cis, cn, cnm, cns, cl, co);
	const int bytes = N * (int)sizeof(T);

	if (i >= (unsigned)n)
		return;
	if (i + N <= (unsigned)n && pm_aligned(x, bytes) && pm_aligned(a, bytes) && pm_aligned(b, bytes) &&
	    pm_aligned(c, bytes) && pm_aligned(y, bytes))
		apply<true>(x, a, b, c, y, i, N, wx, wa, wb, wc, p0, p1);
	else
		apply<false>(x, a, b, c, y, i, n - (int)i < N ? n - (int)i : N, wx, wa, wb, wc, p0, p1);
}
/* SPDX-License-Identifier: Apache-2.0 */
