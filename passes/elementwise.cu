/* elementwise.cu - y = f(x, a, b, c) element by element, where the operands may repeat or lie in longer rows.
 *
 * Element i of the n results reads element `at` of an operand: i / inner % n when it repeats (n > 0), and
 * i / inner * ld + i % inner + off when it is a part of rows of ld elements (n = 0).
 *
 * FORM  1 act(x + a)   2 act(x) * a   3 x * act(a)   4 b + a * x   5 b + a * (x + c)   6 act(x)
 * ACT   0 none  1 relu  2 x * sigmoid(p0 x)  3 x * clip(p0 x + p1, 0, 1)  4 GELU: .5 x (1 + erf(p0 x))
 *       5 GELU: .5 x (1 + tanh(p0 (x + p1 x^3)))  6 sigmoid  7 clip(p0 x + p1, 0, 1)
 * LONG  1: there are more than 2^31 elements
 */
#if LONG
typedef unsigned long long Index;
#else
typedef unsigned Index;
#endif

enum { USES_A = FORM <= 5, USES_B = FORM == 4 || FORM == 5, USES_C = FORM == 5 };

struct Walk {
	Index inner, n, ld, off;
};

__device__ __forceinline__ float act(float v, float p0, float p1)
{
#if ACT == 1
	return v > 0.f ? v : (v != v ? v : 0.f);
#elif ACT == 2
	return v / (1.f + expf(-p0 * v));
#elif ACT == 3
	return v * fmaxf(0.f, fminf(1.f, p0 * v + p1));
#elif ACT == 4
	return .5f * v * (1.f + erff(p0 * v));
#elif ACT == 5
	return .5f * v * (1.f + tanhf(p0 * (v + p1 * v * v * v)));
#elif ACT == 6
	return 1.f / (1.f + expf(-v));
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

__device__ __forceinline__ Index place(const Walk &w, Index i)
{
	const Index q = i / w.inner;

	return w.n ? q % w.n : q * w.ld + (i - q * w.inner) + w.off;
}

/* Elements i .. i + m of an operand: one load where they are neighbours, one element where it is the same for
 * all, and one by one where a row ends among them. */
template<int V> __device__ __forceinline__ void fetch(float (&v)[V], const T *p, const Walk &w, Index i, int m)
{
	const Index q = w.inner == 1 ? i : i / w.inner, k = i - q * w.inner;
	const Index at = w.n ? (q < w.n ? q : q % w.n) : q * w.ld + k + w.off;
	const bool repeats = w.n && w.inner > 1;
	const Index room = w.n && w.inner == 1 ? w.n - at : w.inner - k;

	if (room >= (Index)m && repeats) {
		const float one = ld(p[at]);

		for (int j = 0; j < V; j++)
			v[j] = one;
	} else if (room >= V && m == V && pm_aligned(p + at, V * (int)sizeof(T))) {
		const pm_vec<T, V> a = pm_load<V>(p + at);

		for (int j = 0; j < V; j++)
			v[j] = ld(a[j]);
	} else {
		for (int j = 0; j < V; j++)
			v[j] = j < m ? (float)ld(p[place(w, i + j)]) : 0.f;
	}
}

template<int V>
__device__ __forceinline__ void apply(const T *x, const T *a, const T *b, const T *c, T *y, long long n,
				      const Walk &wx, const Walk &wa, const Walk &wb, const Walk &wc, float p0,
				      float p1)
{
	const long long first = (blockIdx.x * (long long)blockDim.x + threadIdx.x) * V;
	float vx[V], va[V] = {}, vb[V] = {}, vc[V] = {};

	if (first >= n)
		return;
	const int m = n - first < V ? (int)(n - first) : V;
	const Index i = (Index)first;

	fetch<V>(vx, x, wx, i, m);
	if (USES_A)
		fetch<V>(va, a, wa, i, m);
	if (USES_B)
		fetch<V>(vb, b, wb, i, m);
	if (USES_C)
		fetch<V>(vc, c, wc, i, m);
	for (int j = 0; j < V; j++)
		vx[j] = form(vx[j], va[j], vb[j], vc[j], p0, p1);
	if (m == V && pm_aligned(y, V * (int)sizeof(T))) {
		pm_vec<T, V> out;

		for (int j = 0; j < V; j++)
			out[j] = st(vx[j]);
		pm_store<V>(y + first, out);
	} else {
		for (int j = 0; j < V; j++)
			if (j < m)
				y[first + j] = st(vx[j]);
	}
}

#define WALKS                                                                                                      \
	Walk{ (Index)xi, (Index)xn, (Index)xl, (Index)xo }, Walk{ (Index)ai, (Index)an, (Index)al, (Index)ao },    \
		Walk{ (Index)bi, (Index)bn, (Index)bl, (Index)bo },                                                \
		Walk{ (Index)ci, (Index)cn, (Index)cl, (Index)co }

/* 16 bytes per thread. */
extern "C" __global__ void ew_vec(const T *x, const T *a, const T *b, const T *c, T *y, long long n,
				  long long xi, long long xn, long long xl, long long xo, long long ai,
				  long long an, long long al, long long ao, long long bi, long long bn,
				  long long bl, long long bo, long long ci, long long cn, long long cl,
				  long long co, float p0, float p1)
{
	apply<16 / (int)sizeof(T)>(x, a, b, c, y, n, WALKS, p0, p1);
}

/* One element per thread, for tensors that would not fill the device otherwise. */
extern "C" __global__ void ew_one(const T *x, const T *a, const T *b, const T *c, T *y, long long n,
				  long long xi, long long xn, long long xl, long long xo, long long ai,
				  long long an, long long al, long long ao, long long bi, long long bn,
				  long long bl, long long bo, long long ci, long long cn, long long cl,
				  long long co, float p0, float p1)
{
	apply<1>(x, a, b, c, y, n, WALKS, p0, p1);
}
