/* trilu.cu - keeps one side of a diagonal of each matrix, zeros elsewhere. */

KERNEL
{
	I t = TID, row, off;

	if (t >= N_o)
		return;
	row = Q_cols(t);
	off = (t - row * cols) - (row - Q_rows(row) * rows);
	y[t] = (UPPER ? off < shift : off > shift) ? (X)0.f : x[OFF_o_0(t)];
}
/* SPDX-License-Identifier: Apache-2.0 */
