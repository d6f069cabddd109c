/* transpose.cu - a copy whose result varies fastest along one dimension and whose source along another.
 *
 * A block moves one square of TILE x TILE blocks of W x W elements of the two dimensions through shared memory, so
 * that both sides are read and written in rows of W elements at a time. `rows` and `cols`: extents of the source's
 * and the result's fast dimension over W; xc and yr: strides of the other side; the space b holds all other dimensions
 * (0 = the source, 1 = the result). OTHERS: sources and results x1, y1 and so on that are laid out alike, one for each
 * blockIdx.y.
 */

KERNEL
{
	typedef pm_vec<X, W> Some;
	/* One word more in each row keeps the columns of a tile in different banks. */
	__shared__ Some tile[TILE * W][TILE + (sizeof(Some) < 4 ? 4 / sizeof(Some) : 1)];
	const int fast = threadIdx.x % TILE, slow = threadIdx.x / TILE;
	const I across = Q_tiles_r((I)blockIdx.x), r0 = ((I)blockIdx.x - across * tiles_r) * TILE;
	const I batch = Q_tiles_c(across), c0 = (across - batch * tiles_c) * TILE;

#ifdef OTHERS
	OTHERS
#endif
	x += OFF_b_0(batch);
	y += OFF_b_1(batch);
#pragma unroll
	for (int i = 0; i < TILE; i += B / TILE)
		if (r0 + fast < rows && c0 + slow + i < cols) {
			Some in[W], out[W];

#pragma unroll
			for (int a = 0; a < W; a++)
				in[a] = pm_get<W>(x + ((c0 + slow + i) * W + a) * xc + (r0 + fast) * W);
#pragma unroll
			for (int a = 0; a < W * W; a++)
				out[a / W].v[a % W] = in[a % W].v[a / W];
#pragma unroll
			for (int a = 0; a < W; a++)
				tile[a * TILE + fast][slow + i] = out[a];
		}
	__syncthreads();
#pragma unroll
	for (int i = 0; i < TILE; i += B / TILE)
		if (c0 + fast < cols && r0 + slow + i < rows)
#pragma unroll
			for (int a = 0; a < W; a++)
				pm_put(y + ((r0 + slow + i) * W + a) * yr + (c0 + fast) * W,
				       tile[a * TILE + slow + i][fast]);
}
/* SPDX-License-Identifier: Apache-2.0 */
