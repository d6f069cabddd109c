/* product.cu - a tile of a matrix product, by the warps of one block, without shared memory on the way.
 *
 * a is [m, K] with elements of a row side by side, b is [K, n] or, with ROWS, [n, K]. Each warp makes the whole tile, or one of WN
 * ranges of its columns, for every W-th piece of K, straight from global memory into registers, D pieces ahead; the W parts
 * of the tile are left side by side in shared memory, and joined<>() adds them up in one order. Since a sum has no order in K that matters
 * but both factors' being the same, lanes take neighbouring elements of K (and of n), so that each reads 16 bytes at once.
 * `m` and `n` are what is left of the matrix from the tile on; what lies behind is not read, and counts as 0. VA, VB:
 * elements of one access, along K, or along n for b without ROWS; K (n) is a multiple.
 */

/* Elements of the tile, from the parts of the warps. */
template<int W, int SIZE> __device__ __forceinline__ float joined(const float *part)
{
	float sum = part[0];
#pragma unroll
	for (int w = 1; w < W; w++)
		sum += part[w * SIZE];
	return sum;
}

/* V neighbours of a row of the tile. */
template<int W, int SIZE, int V> __device__ __forceinline__ void joined(float (&v)[V], const float *part)
{
	const int N = V % 4 == 0 ? 4 : V % 2 == 0 ? 2 : 1;

#pragma unroll
	for (int i = 0; i < V; i += N) {
		pm_vec<float, N> sum = pm_load<N>(part + i);
#pragma unroll
		for (int w = 1; w < W; w++) {
			const pm_vec<float, N> x = pm_load<N>(part + w * SIZE + i);
#pragma unroll
			for (int j = 0; j < N; j++)
				sum[j] += x[j];
		}
#pragma unroll
		for (int j = 0; j < N; j++)
			v[i + j] = sum[j];
	}
}

/* ---- half types: tensor cores ---- */

/* Eight elements of a row, of which `left` exist. */
template<int V, class E> __device__ __forceinline__ void eight(unsigned (&r)[4], const E *p, int left)
{
	r[0] = r[1] = r[2] = r[3] = 0;
	if (V == 8) {
		if (left > 0) {
			const uint4 v = *reinterpret_cast<const uint4 *>(p);
			r[0] = v.x, r[1] = v.y, r[2] = v.z, r[3] = v.w;
		}
	} else if (V == 4) {
#pragma unroll
		for (int i = 0; i < 2; i++)
			if (left > 4 * i) {
				const uint2 v = *reinterpret_cast<const uint2 *>(p + 4 * i);
				r[2 * i] = v.x, r[2 * i + 1] = v.y;
			}
	} else if (V == 2) {
#pragma unroll
		for (int i = 0; i < 4; i++)
			if (left > 2 * i)
				r[i] = *reinterpret_cast<const unsigned *>(p + 2 * i);
	} else {
#pragma unroll
		for (int i = 0; i < 8; i++)
			if (left > i)
				r[i / 2] |= (unsigned)*reinterpret_cast<const unsigned short *>(p + i) << i % 2 * 16;
	}
}

/* V neighbouring elements, two in a word. */
template<int V, class E> __device__ __forceinline__ void beside(unsigned (&r)[(V + 1) / 2], const E *p, bool there)
{
#pragma unroll
	for (int i = 0; i < (V + 1) / 2; i++)
		r[i] = 0;
	if (!there)
		return;
	if (V == 8) {
		const uint4 v = *reinterpret_cast<const uint4 *>(p);
		r[0] = v.x, r[1 % ((V + 1) / 2)] = v.y, r[2 % ((V + 1) / 2)] = v.z, r[3 % ((V + 1) / 2)] = v.w;
	} else if (V == 4) {
		const uint2 v = *reinterpret_cast<const uint2 *>(p);
		r[0] = v.x, r[1 % ((V + 1) / 2)] = v.y;
	} else if (V == 2) {
		r[0] = *reinterpret_cast<const unsigned *>(p);
	} else {
		r[0] = *reinterpret_cast<const unsigned short *>(p);
	}
}

/* What a lane holds of 32 elements of K: those from 8 * (lane % 4) on, for rows lane / 4 and 8 below of each 16 rows of
 * a, and for the columns of b that it has in each eight. */
template<class E, int MI, int NI, int VA, int VB, bool ROWS, int K, int LDA, int LDB> struct Halves {
	enum { V = ROWS ? 1 : VB, Q = NI / V, WORDS = (V + 1) / 2 };
	unsigned a[MI][2][4], b[ROWS ? NI : 1][4], c[ROWS ? 1 : 8][Q][WORDS];

	__device__ __forceinline__ void load(const E *pa, const E *pb, int m, int n, int k)
	{
		const int g = threadIdx.x % 32 / 4;

		k += threadIdx.x % 4 * 8;
#pragma unroll
		for (int i = 0; i < 2 * MI; i++) {
			const int row = i * 8 + g;
			eight<VA>(a[i / 2][i % 2], pa + (long long)row * LDA + k, row < m ? K - k : 0);
		}
		if (ROWS) {
#pragma unroll
			for (int j = 0; j < NI; j++) {
				const int col = j * 8 + g;
				eight<VB>(b[j % (ROWS ? NI : 1)], pb + (long long)col * LDB + k,
					  col < n ? K - k : 0);
			}
			return;
		}
#pragma unroll
		for (int i = 0; i < 8; i++)
#pragma unroll
			for (int q = 0; q < Q; q++) {
				const int col = (q * 8 + g) * V;
				beside<V>(c[i % (ROWS ? 1 : 8)][q], pb + (long long)(k + i) * LDB + col,
					  k + i < K && col < n);
			}
	}

	__device__ __forceinline__ void multiply(float (&sum)[MI][NI][4]) const
	{
#pragma unroll
		for (int s = 0; s < 2; s++)
#pragma unroll
			for (int j = 0; j < NI; j++) {
				unsigned y[2];
				if (ROWS) {
					y[0] = b[j % (ROWS ? NI : 1)][2 * s];
					y[1] = b[j % (ROWS ? NI : 1)][2 * s + 1];
				} else {
					const int q = j / V, v = j % V;
#pragma unroll
					for (int h = 0; h < 2; h++)
						y[h] = __byte_perm(c[(4 * s + 2 * h) % (ROWS ? 1 : 8)][q % Q][v / 2],
								   c[(4 * s + 2 * h + 1) % (ROWS ? 1 : 8)][q % Q][v / 2],
								   v % 2 ? 0x7632 : 0x5410);
				}
#pragma unroll
				for (int i = 0; i < MI; i++) {
					const unsigned x[4] = { a[i][0][2 * s], a[i][1][2 * s], a[i][0][2 * s + 1],
								a[i][1][2 * s + 1] };
					pm_mma_16816<E>(sum[i][j], x, y);
				}
			}
	}
};

template<class E, int W, int WN, int MI, int NI, int D, int VA, int VB, bool ROWS, int K, int LDA, int LDB>
__device__ __forceinline__ void product_half(const E *a, const E *b, int m, int n, float *part)
{
	typedef Halves<E, MI, NI, VA, VB, ROWS, K, LDA, LDB> Piece;
	const int w = threadIdx.x / (32 * WN), n0 = threadIdx.x / 32 % WN * (NI * 8), g = threadIdx.x % 32 / 4,
		  t = threadIdx.x % 4;
	const int STEPS = (K + 32 * W - 1) / (32 * W), LD = WN * NI * 8 + 4, V = Piece::V,
		  N = V == 1 ? 2 : 4;
	float sum[MI][NI][4];
	Piece piece[D];

	b += (long long)n0 * (ROWS ? LDB : 1);
	n -= n0;
#pragma unroll
	for (int i = 0; i < MI * NI * 4; i++)
		sum[i / (NI * 4)][i / 4 % NI][i % 4] = 0;
#pragma unroll
	for (int d = 0; d < D; d++)
		piece[d].load(a, b, m, n, (w + d * W) * 32);
#pragma unroll 1
	for (int s = 0; s < STEPS; s += D)
#pragma unroll
		for (int d = 0; d < D; d++) {
			piece[d].multiply(sum);
			piece[d].load(a, b, m, n, (w + (s + d + D) * W) * 32);
		}
	/* Of each V tiles of 8 columns a lane has 2 * V neighbours. */
	part += w * (MI * 16 * LD) + n0 + 2 * t * V;
#pragma unroll
	for (int i = 0; i < 2 * MI; i++)
#pragma unroll
		for (int j = 0; j < 2 * NI; j += N) {
			pm_vec<float, N> v;
#pragma unroll
			for (int x = 0; x < N; x++) {
				const int at = j % (2 * V) + x;
				v[x] = sum[i / 2][j / (2 * V) * V + at % V][i % 2 * 2 + at / V];
			}
			pm_store<N>(part + (i * 8 + g) * LD + j / (2 * V) * 8 * V + j % (2 * V), v);
		}
}

/* ---- float ---- */

/* KC elements of a row along K, of which `left` exist. */
template<int V, int KC> __device__ __forceinline__ void several(float (&r)[KC], const float *p, int left)
{
#pragma unroll
	for (int i = 0; i < KC; i += V) {
		pm_vec<float, V> v;
#pragma unroll
		for (int j = 0; j < V; j++)
			v[j] = 0;
		if (left > i)
			v = pm_load<V>(p + i);
#pragma unroll
		for (int j = 0; j < V; j++)
			r[i + j] = v[j];
	}
}

/* A lane has TM rows, LM apart, and TN columns. */
template<int TM, int TN, int LM, int KC, int VA, int VB, bool ROWS, int K, int LDA, int LDB> struct Floats {
	enum { LN = 32 / LM, V = ROWS ? 1 : VB, Q = TN / V };
	float a[TM][KC], b[TN][KC];

	__device__ __forceinline__ void load(const float *pa, const float *pb, int m, int n, int k)
	{
		const int lm = threadIdx.x % 32 / LN, ln = threadIdx.x % LN;

#pragma unroll
		for (int i = 0; i < TM; i++) {
			const int row = i * LM + lm;
			several<VA>(a[i], pa + (long long)row * LDA + k, row < m ? K - k : 0);
		}
		if (ROWS) {
#pragma unroll
			for (int j = 0; j < TN; j++) {
				const int col = j * LN + ln;
				several<VB>(b[j], pb + (long long)col * LDB + k, col < n ? K - k : 0);
			}
			return;
		}
#pragma unroll
		for (int i = 0; i < KC; i++)
#pragma unroll
			for (int q = 0; q < Q; q++) {
				const int col = (q * LN + ln) * V;
				float v[V];
				several<V>(v, pb + (long long)(k + i) * LDB + col, k + i < K && col < n ? V : 0);
#pragma unroll
				for (int j = 0; j < V; j++)
					b[q * V + j][i] = v[j];
			}
	}

	__device__ __forceinline__ void multiply(float (&sum)[TM][TN]) const
	{
#pragma unroll
		for (int k = 0; k < KC; k++)
#pragma unroll
			for (int i = 0; i < TM; i++)
#pragma unroll
				for (int j = 0; j < TN; j++)
					sum[i][j] += a[i][k] * b[j][k];
	}
};

template<int W, int WN, int TM, int TN, int LM, int KC, int D, int VA, int VB, bool ROWS, int K, int LDA, int LDB>
__device__ __forceinline__ void product_float(const float *a, const float *b, int m, int n, float *part)
{
	typedef Floats<TM, TN, LM, KC, VA, VB, ROWS, K, LDA, LDB> Piece;
	const int LN = 32 / LM, w = threadIdx.x / (32 * WN), n0 = threadIdx.x / 32 % WN * (TN * LN),
		  lm = threadIdx.x % 32 / LN, ln = threadIdx.x % LN;
	const int STEPS = (K + KC * W - 1) / (KC * W), LD = WN * TN * LN + 4, V = Piece::V;
	float sum[TM][TN];
	Piece piece[D];

	b += (long long)n0 * (ROWS ? LDB : 1);
	n -= n0;
#pragma unroll
	for (int i = 0; i < TM * TN; i++)
		sum[i / TN][i % TN] = 0;
#pragma unroll
	for (int d = 0; d < D; d++)
		piece[d].load(a, b, m, n, (w + d * W) * KC);
#pragma unroll 1
	for (int s = 0; s < STEPS; s += D)
#pragma unroll
		for (int d = 0; d < D; d++) {
			piece[d].multiply(sum);
			piece[d].load(a, b, m, n, (w + (s + d + D) * W) * KC);
		}
	part += w * (TM * LM * LD) + n0;
#pragma unroll
	for (int i = 0; i < TM; i++)
#pragma unroll
		for (int j = 0; j < TN; j += V) {
			pm_vec<float, V> v;
#pragma unroll
			for (int x = 0; x < V; x++)
				v[x] = sum[i][j + x];
			pm_store<V>(part + (i * LM + lm) * LD + (j * LN + ln * V), v);
		}
}
/* SPDX-License-Identifier: Apache-2.0 */
