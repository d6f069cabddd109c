/* front_half.cu - tiles of half types by tensor cores: pieces of 64 elements of K. */

/* V elements of 2 bytes from words, where nothing need be aligned beyond that. */
template<int V> __device__ __forceinline__ void lay(unsigned short *p, const unsigned (&r)[(V + 1) / 2])
{
	if (V == 8)
		*reinterpret_cast<uint4 *>(p) =
			make_uint4(r[0], r[1 % ((V + 1) / 2)], r[2 % ((V + 1) / 2)], r[3 % ((V + 1) / 2)]);
	else if (V == 4)
		*reinterpret_cast<uint2 *>(p) = make_uint2(r[0], r[1 % ((V + 1) / 2)]);
	else if (V == 2)
		*reinterpret_cast<unsigned *>(p) = r[0];
	else
		*p = (unsigned short)r[0];
}

/* Rows of a factor along K on their way: R rows of 64 elements, by T threads. In shared memory the halves of every second row (BY 2:
 * of every second pair) change places, so that the rows that a warp reads at once lie in different banks. */
template<int R, int T, int V, int LD, int BY> struct AlongK {
	enum { PER = 64 / V, N = (R * PER + T - 1) / T, SIZE = R * 32 };
	unsigned r[N][(V + 1) / 2];

	template<class E> __device__ __forceinline__ void load(const E *p, int, int rows, int k, int end)
	{
		const int row = threadIdx.x / PER, x = k + threadIdx.x % PER * V;
		const bool there = x < end;
		p += (long long)row * LD + x;
		rows = (rows < R ? rows : R) - row;
#pragma unroll
		for (int i = 0; i < N; i++)
			beside<V>(r[i], p + (long long)(i * (T / PER)) * LD, there && i * (T / PER) < rows);
	}

	__device__ __forceinline__ void store(unsigned *s) const
	{
		const int first = threadIdx.x / PER, x = threadIdx.x % PER * V;
		unsigned short *const to = reinterpret_cast<unsigned short *>(s) + first * 64 + x % 8;
#pragma unroll
		for (int i = 0; i < N; i++) {
			const int below = i * (T / PER), row = first + (T / PER % (2 * BY) ? below : 0);
			if (R % (T / PER) == 0 || first + below < R)
				lay<V>(to + below * 64 + (x / 8 ^ row / BY % 2 * 4) * 8, r[i]);
		}
	}

	/* Chunk number `at` of a row. */
	static __device__ __forceinline__ uint4 chunk(const unsigned *s, int row, int at)
	{
		return *reinterpret_cast<const uint4 *>(s + row * 32 + (at ^ row / BY % 2 * 4) * 4);
	}
};

/* b of a warp from rows of words: two tiles of eight columns, which lie in turn, and 32 elements of K. */
template<int C> struct Words {
	enum { STEP = C + 2, SIZE = 32 * STEP };
	static __device__ __forceinline__ void words(unsigned (&y)[2][4], const unsigned *s, int col, int half)
	{
#pragma unroll
		for (int i = 0; i < 4; i++) {
			const uint2 v = *reinterpret_cast<const uint2 *>(
				s + (half * 16 + threadIdx.x % 4 * 4 + i) * STEP + col);
			y[0][i] = v.x, y[1][i] = v.y;
		}
	}
};

/* Rows of a factor across K: 64 of them, C columns. In shared memory two of them make a row of words. */
template<int C, int T, int V, int LD> struct AcrossK : Words<C> {
	enum { PER = C / V, N = (32 * PER + T - 1) / T };
	unsigned r[N][2][(V + 1) / 2];

	template<class E> __device__ __forceinline__ void load(const E *p, int, int cols, int k, int end)
	{
		const int x = threadIdx.x % PER * V, row = threadIdx.x / PER * 2, left = x < cols ? end - k - row : 0;
		p += (long long)(k + row) * LD + x;
#pragma unroll
		for (int i = 0; i < N; i++) {
			const int below = i * (T / PER) * 2;
			beside<V>(r[i][0], p + (long long)below * LD, below < left && (32 % (T / PER) == 0 || below < 64 - row));
			beside<V>(r[i][1], p + (long long)(below + 1) * LD, below + 1 < left && (32 % (T / PER) == 0 || below < 64 - row));
		}
	}

	__device__ __forceinline__ void store(unsigned *s) const
	{
		const int row = threadIdx.x / PER;
		unsigned *const first = s + row * (C + 2) + threadIdx.x % PER * V;
#pragma unroll
		for (int i = 0; i < N; i++) {
			unsigned *const to = first + i * (T / PER) * (C + 2);
			if (32 % (T / PER) && row + i * (T / PER) >= 32)
				continue;
#pragma unroll
			for (int j = 0; j < V; j++)
				to[j] = __byte_perm(r[i][0][j / 2], r[i][1][j / 2], j % 2 ? 0x7632 : 0x5410);
		}
	}
};

template<int C, int T, class G> struct Patches : Words<C> {
	enum { N = 32 * C / T };
	unsigned short r[N][2];

	template<class E> __device__ __forceinline__ void load(const E *p, int first, int cols, int k, int end)
	{
		const int col = threadIdx.x % C, row = k + threadIdx.x / C * 2, left = col < cols ? end - row : 0;
		const G window(first + col);
#pragma unroll
		for (int i = 0; i < N * 2; i++) {
			const int below = i / 2 * (T / C) * 2 + i % 2, at = window.at(row + below);
			r[i / 2][i % 2] = 0;
			if (at >= 0 && below < left)
				r[i / 2][i % 2] = *reinterpret_cast<const unsigned short *>(p + at);
		}
	}

	__device__ __forceinline__ void store(unsigned *s) const
	{
		s += threadIdx.x / C * (C + 2) + threadIdx.x % C;
#pragma unroll
		for (int i = 0; i < N; i++)
			s[i * (T / C) * (C + 2)] = r[i][0] | (unsigned)r[i][1] << 16;
	}
};

template<int C, int T, int V, bool ROWS, int LD> struct Across : AcrossK<C, T, V, LD> {
};
template<int C, int T, int V, int LD> struct Across<C, T, V, true, LD> : AlongK<C, T, V, LD, 2> {
	static __device__ __forceinline__ void words(unsigned (&y)[2][4], const unsigned *s, int col, int half)
	{
#pragma unroll
		for (int v = 0; v < 2; v++) {
			const uint4 w = AlongK<C, T, V, LD, 2>::chunk(s, col + v, half * 4 + threadIdx.x % 4);
			y[v][0] = w.x, y[v][1] = w.y, y[v][2] = w.z, y[v][3] = w.w;
		}
	}
};

template<class E, int D, int WM, int WN, int MI, int NI, int VA, int LDA, class B, int LDO, bool TURNED>
__device__ __forceinline__ void front_half(const E *a, const E *b, int first, int m, int n, int k, int end, float *out,
					   unsigned *shared)
{
	typedef AlongK<WM * MI * 16, 32 * WM * WN, VA, LDA, 1> A;
	const int w = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, m0 = w / WN * (MI * 16),
		  n0 = w % WN * (NI * 8);
	A pa[D];
	B pb[D];
	float sum[MI][NI][4];
	int turn = 0;

#pragma unroll
	for (int i = 0; i < MI * NI * 4; i++)
		sum[i / (NI * 4)][i / 4 % NI][i % 4] = 0;
#pragma unroll
	for (int d = 0; d < D; d++) {
		pa[d].load(a, 0, m, k + d * 64, end);
		pb[d].load(b, first, n, k + d * 64, end);
	}
#pragma unroll 1
	for (; k < end; k += D * 64)
#pragma unroll
		for (int d = 0; d < D; d++, turn ^= 1) {
			unsigned *const sa = shared + turn * (A::SIZE + B::SIZE), *const sb = sa + A::SIZE;

			if (k + d * 64 >= end)
				break;
			pa[d].store(sa);
			pb[d].store(sb);
			__syncthreads();
			pa[d].load(a, 0, m, k + (d + D) * 64, end);
			pb[d].load(b, first, n, k + (d + D) * 64, end);
#pragma unroll
			for (int h = 0; h < 2; h++) {
				uint4 x[MI][2];
#pragma unroll
				for (int i = 0; i < MI * 2; i++)
					x[i / 2][i % 2] = A::chunk(sa, m0 + i * 8 + g, h * 4 + t);
#pragma unroll
				for (int q = 0; q < NI / 2; q++) {
					unsigned y[2][4];
					B::words(y, sb, n0 + q * 16 + 2 * g, h);
#pragma unroll
					for (int i = 0; i < MI; i++)
#pragma unroll
						for (int v = 0; v < 2; v++) {
							const uint4 u = x[i][0], l = x[i][1];
							const unsigned a0[4] = { u.x, l.x, u.y, l.y },
								       a1[4] = { u.z, l.z, u.w, l.w };
							const unsigned b0[2] = { y[v][0], y[v][1] },
								       b1[2] = { y[v][2], y[v][3] };
							pm_mma_16816<E>(sum[i][2 * q + v], a0, b0);
							pm_mma_16816<E>(sum[i][2 * q + v], a1, b1);
						}
				}
			}
		}
#pragma unroll
	for (int i = 0; i < MI * 2; i++)
#pragma unroll
		for (int q = 0; q < NI / 2; q++) {
			const int row = m0 + i * 8 + g, col = n0 + q * 16 + 4 * t, e = i % 2 * 2;
			const float v[4] = { sum[i / 2][2 * q][e], sum[i / 2][2 * q + 1][e],
					     sum[i / 2][2 * q][e + 1], sum[i / 2][2 * q + 1][e + 1] };
			if (row < m)
				leave<LDO, TURNED>(out + (TURNED ? row + (long long)col * LDO
								 : (long long)row * LDO + col),
						   n - col, v);
		}
}
/* SPDX-License-Identifier: Apache-2.0 */
