/* front_float.cu - tiles of floats: pieces of 32 elements of K, by 256 threads; 64 columns. */

/* R rows along K, 32 elements of each, in shared memory 36 apart. */
template<int R, int T, int V, int LD> struct FloatsAlong {
	enum { PER = 32 / V, N = R * PER / T, STEP = 36, SIZE = R * 36 };
	pm_vec<float, V> r[N];

	__device__ __forceinline__ void load(const float *p, int, int rows, int k, int end)
	{
		const int row = threadIdx.x / PER, x = k + threadIdx.x % PER * V, left = x < end ? rows - row : 0;
		p += (long long)row * LD + x;
#pragma unroll
		for (int i = 0; i < N; i++) {
#pragma unroll
			for (int j = 0; j < V; j++)
				r[i][j] = 0;
			if (i * (T / PER) < left)
				r[i] = pm_load<V>(p + (long long)(i * (T / PER)) * LD);
		}
	}

	__device__ __forceinline__ void store(float *s) const
	{
#pragma unroll
		for (int i = 0; i < N; i++) {
			const int at = i * T + threadIdx.x;
			pm_store(s + at / PER * 36 + at % PER * V, r[i]);
		}
	}
};

/* b of a thread from 32 rows of 64 columns: four columns by four elements of K. */
struct FloatWords {
	enum { STEP = 68, SIZE = 32 * STEP };
	static __device__ __forceinline__ void four(float (&y)[4][4], const float *s, int col, int k)
	{
#pragma unroll
		for (int i = 0; i < 4; i++) {
			const pm_vec<float, 4> v = pm_load<4>(s + (k + i) * STEP + col * 4);
#pragma unroll
			for (int j = 0; j < 4; j++)
				y[j][i] = v[j];
		}
	}
	/* To row p of the result, whose columns are n. */
	template<int LDO, bool TURNED>
	static __device__ __forceinline__ void leave_four(float *p, int n, int col, const float (&v)[4])
	{
		leave<LDO, TURNED>(p + (long long)(col * 4) * (TURNED ? LDO : 1), n - col * 4, v);
	}
};

template<class G> struct FloatPatches : FloatWords {
	float r[8];

	__device__ __forceinline__ void load(const float *p, int first, int cols, int k, int end)
	{
		const int col = threadIdx.x % 64;
		const G window(first + col);
#pragma unroll
		for (int i = 0; i < 8; i++) {
			const int row = k + i * 4 + threadIdx.x / 64, at = window.at(row);
			r[i] = at >= 0 && col < cols && row < end ? p[at] : 0;
		}
	}

	__device__ __forceinline__ void store(float *s) const
	{
#pragma unroll
		for (int i = 0; i < 8; i++)
			s[(i * 4 + threadIdx.x / 64) * STEP + threadIdx.x % 64] = r[i];
	}
};

template<int V, bool ROWS, int LD> struct FloatsB : FloatWords {
	enum { PER = 64 / V, N = 32 * PER / 256 };
	pm_vec<float, V> r[N];

	__device__ __forceinline__ void load(const float *p, int, int cols, int k, int end)
	{
		const int row = k + threadIdx.x / PER, x = threadIdx.x % PER * V, left = x < cols ? end - row : 0;
		p += (long long)row * LD + x;
#pragma unroll
		for (int i = 0; i < N; i++) {
#pragma unroll
			for (int j = 0; j < V; j++)
				r[i][j] = 0;
			if (i * (256 / PER) < left)
				r[i] = pm_load<V>(p + (long long)(i * (256 / PER)) * LD);
		}
	}

	__device__ __forceinline__ void store(float *s) const
	{
#pragma unroll
		for (int i = 0; i < N; i++) {
			const int at = i * 256 + threadIdx.x;
			pm_store(s + at / PER * STEP + at % PER * V, r[i]);
		}
	}
};
template<int V, int LD> struct FloatsB<V, true, LD> : FloatsAlong<64, 256, V, LD> {
	static __device__ __forceinline__ void four(float (&y)[4][4], const float *s, int col, int k)
	{
#pragma unroll
		for (int j = 0; j < 4; j++) {
			const pm_vec<float, 4> v = pm_load<4>(s + column(col, j) * 36 + k);
#pragma unroll
			for (int i = 0; i < 4; i++)
				y[j][i] = v[i];
		}
	}
	template<int LDO, bool TURNED>
	static __device__ __forceinline__ void leave_four(float *p, int n, int col, const float (&v)[4])
	{
#pragma unroll
		for (int j = 0; j < 4; j++)
			if (column(col, j) < n)
				p[(long long)column(col, j) * (TURNED ? LDO : 1)] = v[j];
	}
	static __device__ __forceinline__ int column(int col, int j)
	{
		return j * 16 + col;
	}
};

/* 256 threads have TM rows, 16 apart, and four columns each. */
template<int D, int TM, int VA, int LDA, class B, int LDO, bool TURNED>
__device__ __forceinline__ void front_float(const float *a, const float *b, int first, int m, int n, int k, int end,
					    float *out, float *shared)
{
	typedef FloatsAlong<TM * 16, 256, VA, LDA> A;
	/* A warp has 4 rows by 8 columns. Neighbouring lanes have the same column, the next but one the same row: what they
	 * ask of shared memory is packed, from either side. */
	const int w = threadIdx.x / 32, t = threadIdx.x % 32, row = w / 2 * 4 + t / 8 % 2 * 2 + t % 2,
		  col = w % 2 * 8 + t / 16 * 4 + t / 2 % 4;
	A pa[D];
	B pb[D];
	float sum[TM][4];
	int turn = 0;

#pragma unroll
	for (int i = 0; i < TM * 4; i++)
		sum[i / 4][i % 4] = 0;
#pragma unroll
	for (int d = 0; d < D; d++) {
		pa[d].load(a, 0, m, k + d * 32, end);
		pb[d].load(b, first, n, k + d * 32, end);
	}
#pragma unroll 1
	for (; k < end; k += D * 32)
#pragma unroll
		for (int d = 0; d < D; d++, turn ^= 1) {
			float *const sa = shared + turn * (A::SIZE + B::SIZE), *const sb = sa + A::SIZE;

			if (k + d * 32 >= end)
				break;
			pa[d].store(sa);
			pb[d].store(sb);
			__syncthreads();
			pa[d].load(a, 0, m, k + (d + D) * 32, end);
			pb[d].load(b, first, n, k + (d + D) * 32, end);
#pragma unroll
			for (int h = 0; h < 32; h += 4) {
				float y[4][4];
				B::four(y, sb, col, h);
#pragma unroll
				for (int i = 0; i < TM; i++) {
					const pm_vec<float, 4> x = pm_load<4>(sa + (row + i * 16) * 36 + h);
#pragma unroll
					for (int j = 0; j < 4; j++)
#pragma unroll
						for (int e = 0; e < 4; e++)
							sum[i][j] += x[e] * y[j][e];
				}
			}
		}
#pragma unroll
	for (int i = 0; i < TM; i++) {
		const int r = row + i * 16;
		if (r < m)
			B::template leave_four<LDO, TURNED>(out + (TURNED ? r : (long long)r * LDO), n, col, sum[i]);
	}
}
/* SPDX-License-Identifier: Apache-2.0 */
