/* det.cu - determinants of contiguous SIZE x SIZE matrices by elimination with pivoting; one thread each. */

KERNEL
{
	I t = TID;
	A m[SIZE * SIZE + 1], det = 1;

	if (t >= total)
		return;
	for (int i = 0; i < SIZE * SIZE; i++)
		m[i] = pm_ld(x[t * (SIZE * SIZE) + i]);
	for (int c = 0; c < SIZE && det != 0; c++) {
		int best = c;

		for (int r = c + 1; r < SIZE; r++)
			if (fabs(m[r * SIZE + c]) > fabs(m[best * SIZE + c]))
				best = r;
		for (int j = 0; j < SIZE && best != c; j++) {
			A other = m[c * SIZE + j];

			m[c * SIZE + j] = m[best * SIZE + j];
			m[best * SIZE + j] = other;
		}
		det *= best == c ? m[c * SIZE + c] : -m[c * SIZE + c];
		for (int r = c + 1; r < SIZE && m[c * SIZE + c] != 0; r++) {
			A f = m[r * SIZE + c] / m[c * SIZE + c];

			for (int j = c; j < SIZE; j++)
				m[r * SIZE + j] -= f * m[c * SIZE + j];
		}
	}
	pm_st(&y[t], det);
}
/* SPDX-License-Identifier: Apache-2.0 */
