/* matmul.cu - y[o, m, n] = alpha * sum over k of a[o, m, k] * b[o, k, n] (+ beta * c[m, n]); any strides. */

KERNEL
{
	I t = TID, col, row, batch;
	A sum = 0;

	if (t >= total)
		return;
	col = t % cols;
	row = t / cols % rows;
	batch = t / cols / rows;
	a += OFF_o_0(batch) + row * am;
	b += OFF_o_1(batch) + col * bn;
	for (I i = 0; i < depth; i++)
		sum += (A)pm_ld(a[i * ak]) * (A)pm_ld(b[i * bk]);
#ifdef GEMM
	sum *= (A)alpha;
#endif
#ifdef HAS_C
	sum += (A)beta * (A)pm_ld(c[row * cm + col * cn]);
#endif
	pm_st(&y[t], sum);
}
/* SPDX-License-Identifier: Apache-2.0 */
