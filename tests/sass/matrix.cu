/* matrix.cu - half types and matrix instructions (see scalar.cu). */
#include <mma.h>

#define K(name) extern "C" __global__ void name

K(half16)(const __half *p, __half *q, int n)
{
	__half a = p[threadIdx.x], b = p[n], c = p[n + 1];

	q[0] = __hadd(a, b);
	q[1] = __hmul(a, b);
	q[2] = __hfma(a, b, c);
	q[3] = __hdiv(a, b);
	q[4] = __hmax(a, b);
	q[5] = __hmin(__habs(a), __hneg(c));
	q[6] = hexp(a);
	q[7] = hlog(b);
	q[8] = hsqrt(c);
	q[9] = hrsqrt(a);
	q[10] = hsin(b);
	q[11] = htrunc(c);
	q[12] = __float2half((float)n);
	q[13] = __int2half_rn(n);
	q[14] = __hgt(a, b) ? c : a;
	q[15] = hrcp(a);
	q[16] = hexp2(b);
	q[17] = __hadd_sat(a, b);
	q[18] = __hfma_relu(a, b, c);
	q[19] = (__half)(short)__half2int_rn(a);
	q[20] = __hmax_nan(a, b);
	q[21] = htanh_approx(a);
	q[22] = hfloor(b);
	q[23] = hceil(a);
	q[24] = hrint(c);
	q[25] = (__half)(double)__half2float(a);
}
K(half16x2)(const __half2 *p, __half2 *q, int n)
{
	__half2 a = p[threadIdx.x], b = p[n], c = p[n + 1];

	q[0] = __hadd2(a, b);
	q[1] = __hmul2(a, b);
	q[2] = __hfma2(a, b, c);
	q[3] = __h2div(a, b);
	q[4] = __hmax2(a, b);
	q[5] = __hmin2(__habs2(a), __hneg2(b));
	q[6] = h2exp(a);
	q[7] = __hgt2(a, b);
	q[8] = __halves2half2(__low2half(a), __high2half(b));
	q[9] = __floats2half2_rn(1.5f, (float)n);
	q[10] = __hsub2_sat(a, b);
	q[11] = __hfma2_relu(a, b, c);
	q[12] = __hbeq2(a, b) ? c : a;
	q[13] = __heq2(b, c);
	q[14] = __lowhigh2highlow(a);
}
K(bfloat16)(const __nv_bfloat16 *p, __nv_bfloat16 *q, int n)
{
	__nv_bfloat16 a = p[threadIdx.x], b = p[n], c = p[n + 1];

	q[0] = __hadd(a, b);
	q[1] = __hmul(a, b);
	q[2] = __hfma(a, b, c);
	q[3] = __hdiv(a, b);
	q[4] = __hmax(a, b);
	q[5] = __hmin(__habs(a), __hneg(c));
	q[6] = hexp(a);
	q[7] = hsqrt(b);
	q[8] = __hgt(a, b) ? c : a;
	q[9] = __float2bfloat16((float)n);
	q[10] = __int2bfloat16_rn(n);
	q[11] = __hsub(a, b);
	q[12] = (__nv_bfloat16)(double)__bfloat162float(a);
	q[13] = __hfma_relu(a, b, c);
	q[14] = __hadd_sat(a, c);
}
K(bfloat16x2)(const __nv_bfloat162 *p, __nv_bfloat162 *q, int n)
{
	__nv_bfloat162 a = p[threadIdx.x], b = p[n], c = p[n + 1];

	q[0] = __hadd2(a, b);
	q[1] = __hmul2(a, b);
	q[2] = __hfma2(a, b, c);
	q[3] = __hmax2(a, b);
	q[4] = __hmin2(__habs2(a), __hneg2(b));
	q[5] = __hgt2(a, b);
	q[6] = __floats2bfloat162_rn(1.5f, (float)n);
	q[7] = h2exp(a);
	q[8] = __hfma2_relu(a, b, c);
	q[9] = __hbne2(a, b) ? c : a;
}

template <class A, class C, int M, int N, int D> __device__ void tile(const A *a, const A *b, C *c)
{
	using namespace nvcuda::wmma;
	fragment<matrix_a, M, N, D, A, row_major> x;
	fragment<matrix_b, M, N, D, A, col_major> y;
	fragment<accumulator, M, N, D, C> z;

	fill_fragment(z, (C)0);
	for (int i = 0; i < 3; i++) {
		load_matrix_sync(x, a + i * D, 64);
		load_matrix_sync(y, b + i * D, 64);
		mma_sync(z, x, y, z);
	}
	store_matrix_sync(c, z, 64, mem_row_major);
}
K(mma_half)(const __half *a, const __half *b, __half *c, float *d)
{
	__shared__ __half s[16 * 64];

	tile<__half, float, 16, 16, 16>(a, b, d);
	tile<__half, __half, 16, 16, 16>(a, b, c);
	tile<__half, float, 32, 8, 16>(a, b, d);
	s[threadIdx.x] = a[threadIdx.x];
	__syncthreads();
	tile<__half, float, 8, 32, 16>(s, b, d);
}
K(mma_bfloat16)(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *d)
{
	tile<__nv_bfloat16, float, 16, 16, 16>(a, b, d);
}
K(mma_int8)(const signed char *a, const unsigned char *b, int *d)
{
	tile<signed char, int, 16, 16, 16>(a, a + 64, d);
	tile<unsigned char, int, 16, 16, 16>(b, b + 64, d);
}
K(mma_double)(const double *a, const double *b, double *d) { tile<double, double, 8, 8, 4>(a, b, d); }

K(mma_other)(const unsigned *p, float *q, int *w)
{
	unsigned a[4] = { p[0], p[1], p[2], p[3] }, b[2] = { p[4], p[5] };
	float c[4] = { q[0], q[1], q[2], q[3] };
	int d[4] = { w[0], w[1], w[2], w[3] };

	asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
	    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
	    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
	asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
	    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
	    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
	asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
	    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
	    : "r"(a[0]), "r"(a[1]), "r"(b[0]));
	asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
	    : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
	    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
	asm("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9,%8,%9},"
	    "{%0,%1,%2,%3}, %8, 0;"
	    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
	    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
	asm("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%0,%1},{%2},{%3},{%0,%1};"
	    : "+r"(d[0]), "+r"(d[1])
	    : "r"(a[0]), "r"(b[0]));
	q[0] = c[0] + c[1] + c[2] + c[3];
	w[0] = d[0] + d[1] + d[2] + d[3];
}

K(matrices_from_shared)(const unsigned *p, unsigned *q, const float *f)
{
	__shared__ __align__(16) unsigned s[1024];
	unsigned at = (unsigned)__cvta_generic_to_shared(s + threadIdx.x * 4), r[4];

	s[threadIdx.x] = p[threadIdx.x];
	__syncthreads();
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
		     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
		     : "r"(at));
	q[0] = r[0] + r[1] + r[2] + r[3];
	asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
		     : "=r"(r[0]), "=r"(r[1])
		     : "r"(at));
	q[1] = r[0] + r[1];
	asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(q[2]) : "f"(f[0]));
	asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(q[3]) : "r"(p[7]));
#if __CUDA_ARCH__ >= 900
	asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1,%2};" ::"r"(at), "r"(r[0]), "r"(r[1]));
	__syncthreads();
	q[4] = s[threadIdx.x + 1];
#endif
}
/* SPDX-License-Identifier: Apache-2.0 */
