/* transpose.cu - a copy whose result varies fastest along one dimension and whose source along another.
 *
 * A block moves one square of TILE x TILE elements of the two dimensions through shared memory, so that both sides
 * are read and written in rows. `rows` and `cols`: extents of the source's and the result's fast dimension; xc and
 * yr: strides of the other side; the space b holds all other dimensions (0 = the source, 1 = the result).
 */

KERNEL
{
	/* One word more in each row keeps the columns of a tile in different banks. */
	__shared__ X tile[TILE][TILE + (sizeof(X) < 4 ? 4 / sizeof(X) : 1)];
	const int fast = threadIdx.x % TILE, slow = threadIdx.x / TILE;
	const I across = Q_tiles_r((I)blockIdx.x), r0 = ((I)blockIdx.x - across * tiles_r) * TILE;
	const I batch = Q_tiles_c(across), c0 = (across - batch * tiles_c) * TILE;

	x += OFF_b_0(batch);
	y += OFF_b_1(batch);
#pragma unroll
	for (int i = 0; i < TILE; i += B / TILE)
		if (r0 + fast < rows && c0 + slow + i < cols)
			tile[slow + i][fast] = x[(c0 + slow + i) * xc + r0 + fast];
	__syncthreads();
#pragma unroll
	for (int i = 0; i < TILE; i += B / TILE)
		if (c0 + fast < cols && r0 + slow + i < rows)
			y[(r0 + slow + i) * yr + c0 + fast] = tile[fast][slow + i];
}
