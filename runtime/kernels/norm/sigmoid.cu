/* sigmoid.cu - 1 / (1 + e^-x) for results of 16 bits, by the GPU's own power of 2 and reciprocal: 2 instructions of the special
 * function unit and 2 others, where exp and a division in float take 15. The product with log2(e) is rounded once, which
 * moves the result by |x| * 2^-24 of itself at most, where rounding it to 16 bits moves it by 2^-12 or 2^-9. */
static __device__ inline float pm_sigmoid(float x)
{
	float e = x * -1.4426950408889634f;

#ifdef PASSMITH_EMU
	return 1.f / (1.f + exp2f(e));
#else
	asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(e));
	e += 1.f;
	asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(e));
	return e;
#endif
}
/* SPDX-License-Identifier: Apache-2.0 */
